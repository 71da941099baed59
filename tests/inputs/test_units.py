from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.units import column_unit, parse_number, parse_quantity


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("912 W", "W", 912.0),
        ("6.1 TB/s", "TB/s", 6.1),
        ("6100 GB/s", "TB/s", 6.1),
        ("52 USD/MWh", "USD/MWh", 52.0),
        ("0.052 USD/kWh", "USD/MWh", 52.0),
        ("5.5 years", "year", 5.5),
        ("22 quarters", "year", 5.5),
        ("18 k USD", "MUSD", 0.018),
        ("3 M USD", "MUSD", 3.0),
        ("1.2 B USD", "MUSD", 1200.0),
        ("800 Gbit/s", "GB/s", 100.0),
        ("2.3e9 samples/s", "sample/s", 2.3e9),
        ("0.3 M USD per MW per year", "MUSD/MW/year", 0.3),
        ("12 %", "", 0.12),
        ("0.3", "fraction", 0.3),
        ("415 gCO2e/kWh", "gCO2e/kWh", 415.0),
        ("2 t CO2e", "kgCO2e", 2000.0),
        ("600 TFLOPS", "TFLOP/s", 600.0),
    ],
)
def test_quantities_are_read_and_converted(text: str, unit: str, expected: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("912", "W", "has no unit; write '912 W'"),
        ("1 TB", "TB/s", "expected 'TB/s'"),
        ("5 GB", "W", "expected 'W'"),
        ("3 USD", "EUR", "expected 'EUR'"),
        ("7 furlongs", "W", "expected 'W'"),
        ("1 fooW", "W", "not known"),
        ("1,5 W", "W", "write '1.5'"),
        ("1.234,5 W", "W", "write '1234.5'"),
        ("1,500 W", "W", "two ways"),
        ("nan W", "W", "not a finite number"),
        ("inf", "", "not a finite number"),
        ("1e999 W", "W", "too large"),
        ("", "W", "blank"),
        ("abc", "W", "not a number"),
        ("1 2 W", "W", "not a number"),
        ("1 __import__('os')", "W", "not known"),
        ("1 W**9999999", "W", "not known"),
    ],
)
def test_anything_else_is_refused_with_what_would_be_right(text: str, unit: str, says: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        parse_quantity(text, unit)
    assert says in str(caught.value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_survives_its_own_text(number: float) -> None:
    assert parse_number(repr(number)) == number


@given(st.text(max_size=40), st.sampled_from(["W", "USD/MWh", "", "MUSD/rack"]))
def test_no_text_does_anything_but_a_number_or_a_value_error(text: str, unit: str) -> None:
    try:
        number = parse_quantity(text, unit)
    except ValueError:
        return
    assert abs(number) < float("inf")


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("price_musd_per_rack", "MUSD/rack"),
        ("facility_mw", "MW"),
        ("energy_price_usd_per_mwh", "USD/MWh"),
        ("energy_price_escalation_per_year", "1/year"),
        ("stranded_share", "fraction"),
        ("hbm_tb_per_s", "TB/s"),
        ("peak_bf16_tflops", "TFLOP/s"),
        ("shortfall_price_usd_per_billion_samples", "USD/billion_samples"),
        ("facility_slope_w_per_cap_w", "W/W"),
        ("title", None),
    ],
)
def test_column_names_end_in_their_unit(column: str, unit: str | None) -> None:
    assert column_unit(column) == unit
