"""Which cases a study runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import triang

from fleetplan.errors import UsageError
from fleetplan.figures import Figure
from fleetplan.studies.cases import (
    Case,
    grid,
    group_of,
    low_mid_high,
    matching,
    one_at_a_time,
    parse_vary,
    sample,
)

BASE = {
    "finance.discount_rate": 0.09,
    "supply[mtia-400,2027Q1].price_musd_per_rack": 1.9,
    "supply[mtia-400,2027Q2].price_musd_per_rack": 2.0,
    "supply[gb300-nvl72,2027Q1].price_musd_per_rack": 4.0,
}


def figure(low: float, value: float, high: float) -> Figure:
    return Figure("x", value, "", "assumed", low, high)


def test_a_grid_is_every_combination() -> None:
    cases = grid(
        [
            parse_vary("finance.discount_rate=0.07,0.11"),
            parse_vary("supply[mtia-400,*].price_musd_per_rack*=0.5,1,2"),
        ],
        BASE,
    )
    assert len(cases) == 6
    assert cases[0].values == {
        "finance.discount_rate": 0.07,
        "supply[mtia-400,2027Q1].price_musd_per_rack": 0.95,
        "supply[mtia-400,2027Q2].price_musd_per_rack": 1.0,
    }
    assert len({case.key for case in cases}) == 6


def test_one_at_a_time_changes_one_pattern_in_each_case() -> None:
    cases = one_at_a_time(
        [
            parse_vary("finance.discount_rate=0.07,0.11"),
            parse_vary("supply[gb300-nvl72,*].price_musd_per_rack=3"),
        ],
        BASE,
    )
    assert [set(case.values) for case in cases] == [{"finance.discount_rate"}] * 2 + [
        {"supply[gb300-nvl72,2027Q1].price_musd_per_rack"}
    ]


def test_a_range_has_both_its_ends() -> None:
    assert parse_vary("finance.discount_rate=0.05..0.11:4").values == pytest.approx((0.05, 0.07, 0.09, 0.11))


@pytest.mark.parametrize("text", ["finance.discount_rate", "=3", "x=", "x=1..2:1"])
def test_a_malformed_variation_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_vary(text)


def test_an_unknown_path_proposes_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean finance\.discount_rate"):
        matching("finance.discont_rate", BASE)


def test_equal_changes_are_one_case_whatever_their_name_and_order() -> None:
    assert Case("a", {"x": 1.0, "y": 2.0}).key == Case("b", {"y": 2.0, "x": 1.0}).key
    assert Case("a", {"x": 1.0}).key != Case("a", {"x": 1.5}).key


def test_rows_of_one_price_path_move_together() -> None:
    assert group_of("supply[mtia-400,2027Q1].price_musd_per_rack") == "supply[mtia-400].price_musd_per_rack"
    assert group_of("power[hall-a,2027Q1].facility_mw") == "power[hall-a].facility_mw"
    figures = {path: figure(0.5 * v, v, 2 * v) for path, v in BASE.items()}
    for case in sample(figures, 20, seed=3):
        first, second = (case.values[f"supply[mtia-400,2027Q{n}].price_musd_per_rack"] for n in (1, 2))
        assert first / 1.9 == pytest.approx(second / 2.0)


def test_named_groups_share_a_quantile_across_accelerators() -> None:
    figures = {path: figure(0.5 * v, v, 2 * v) for path, v in BASE.items()}
    cases = sample(figures, 5, groups=["supply[*].price_musd_per_rack"])
    assert set(cases[0].quantiles) == {"finance.discount_rate", "supply[*].price_musd_per_rack"}


def test_a_latin_hypercube_fills_every_slice_once() -> None:
    cases = sample({"x": figure(0, 1, 3), "y": figure(1, 2, 3)}, 50, seed=1)
    for name in ("x", "y"):
        assert sorted(int(case.quantiles[name] * 50) for case in cases) == list(range(50))


def test_the_same_seed_gives_the_same_cases() -> None:
    figures = {"x": figure(0, 1, 3)}
    assert sample(figures, 9, seed=4) == sample(figures, 9, seed=4)
    assert sample(figures, 9, seed=4) != sample(figures, 9, seed=5)


@given(st.floats(-1e3, 1e3), st.floats(0.01, 1e3), st.floats(0, 1), st.integers(0, 10**6))
def test_draws_follow_the_triangular_law_of_the_interval(
    low: float, width: float, split: float, seed: int
) -> None:
    mode = low + split * width
    case = sample({"x": figure(low, mode, low + width)}, 1, seed=seed, latin_hypercube=False)[0]
    expected = triang.ppf(case.quantiles["x"], (mode - low) / width, loc=low, scale=width)
    assert case.values["x"] == pytest.approx(expected, abs=1e-6 * max(1, abs(low), width))


def test_a_tornado_takes_each_open_group_to_both_ends_and_skips_what_is_known() -> None:
    cases = low_mid_high({"x": figure(0, 1, 3), "known": figure(2, 2, 2)})
    assert [(case.name, dict(case.values)) for case in cases] == [
        ("base", {}),
        ("x low", {"x": 0}),
        ("x high", {"x": 3}),
    ]
