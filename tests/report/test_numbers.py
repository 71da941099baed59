"""How numbers and names are said."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from fleetplan.report.grammar import period_labels
from fleetplan.report.numbers import Number, listed, quantity, say, si, words_of
from fleetplan.report.palette import KNOWN, colour, in_order
from fleetplan.report.spark import sparkline


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (11594.0, "M USD", "11.59 B USD"),
        (340.4, "M USD", "340 M USD"),
        (436.2, "MW", "436 MW"),
        (2.613, "MW", "2.61 MW"),
        (2.258e9, "samples/s", "2.258 G samples/s"),
        (0.0009, "share", "0.09 %"),
        (1.0, "share", "100 %"),
        (96.0, "racks", "96 racks"),
        (float("nan"), "MW", "not known"),
    ],
)
def test_quantities_are_said_as_planners_say_them(value, unit, text):
    assert quantity(value, unit) == text


def test_a_share_below_one_is_never_said_to_be_all():
    assert quantity(0.9997, "share") == "99.97 %"


@given(st.floats(1, 9e14))
def test_prefixed_numbers_keep_four_digits(value):
    text = si(value)
    digits, _, prefix = text.partition(" ")
    factor = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[prefix]
    assert float(digits) * factor == pytest.approx(value, rel=5.1e-4)


def test_a_message_is_plain_in_text_and_escaped_in_html():
    number = Number(4.0, "MW", "power", "used_mw", where={"site": ["<b>"]})
    message = say("at <b>: ", number)
    assert str(message) == "at <b>: 4 MW"
    html = message.__html__()
    assert isinstance(html, Markup)
    assert html.startswith('at &lt;b&gt;: <data value="4.0"')
    assert "<b>" not in html


def test_lists_read_as_sentences():
    assert str(listed(["a"])) == "a"
    assert str(listed(["a", "b", "c"])) == "a, b and c"
    assert str(listed(["a", "b", "c", "d"], 2, "sites more")) == "a, b and 2 sites more"


def test_paths_become_words():
    assert words_of("accelerators[mtia-400].price_musd_per_rack") == "price per rack"
    assert words_of("sites[x].energy_price_usd_per_mwh") == "energy price per mwh"


def test_known_colours_differ_and_unknown_names_keep_theirs():
    assert colour("mtia-400") == KNOWN["mtia-400"]
    assert colour("some new chip") == colour("some new chip")
    names = [f"chip {n}" for n in range(200)]
    assert len({colour(n) for n in names}) > 190
    assert all(len(colour(n)) == 7 and colour(n).startswith("#") for n in names)


def test_accelerators_are_listed_by_family_and_generation():
    names = ["zz-new", "mtia-400", "gb300", "a100", "mtia-300", "mi300x", "h100", "aa-new"]
    assert in_order(names) == ["a100", "h100", "gb300", "mi300x", "mtia-300", "mtia-400", "aa-new", "zz-new"]


def test_periods_are_labelled_where_a_year_begins():
    quarters = ["2026Q4", "2027Q1", "2027Q2", "2027Q3", "2027Q4", "2028Q1"]
    assert period_labels(quarters) == {"2026Q4": "2026Q4", "2027Q1": "2027", "2028Q1": "2028"}
    years = ["2026Q4", "2027Q4", "2028Q4"]
    assert period_labels(years) == {name: name for name in years}


def _luminance(hex_colour):
    channels = [int(hex_colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "family",
    [
        ["mtia-300", "mtia-400", "mtia-450", "mtia-500"],
        ["a100", "h100-500w", "h100", "h200", "b200", "b300"],
        ["gb200", "gb300", "vr200"],
        ["mi300x", "mi325x", "mi355x", "mi455x"],
    ],
)
def test_within_a_family_lightness_alone_tells_generations_apart(family):
    """Lightness is what every reader sees, with any colour vision and in grey print."""
    values = [_luminance(KNOWN[name]) for name in family]
    assert values == sorted(values, reverse=True)
    ratios = [(a + 0.05) / (b + 0.05) for a, b in pairwise(values)]
    assert min(ratios) > 1.2


def test_a_trend_of_one_point_is_not_drawn():
    assert sparkline("cost", [("2026Q4", 1.0)]) == ""
    assert 'aria-label="a &lt;b&gt;: 1 MW in x, 2 MW in y"' in sparkline(
        "a <b>", [("x", 1.0), ("y", 2.0)], unit="MW"
    )
