"""Money rules at their limits, against sums written out, and against published schedules."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan import money
from fleetplan.periods import Horizon, Quarter

START = Quarter(2026, 4)
RATES = st.just(0.0) | st.floats(1e-6, 0.3)
LENGTHS = st.lists(st.integers(1, 8), min_size=1, max_size=8).map(tuple)
TIMINGS = st.sampled_from(["mid_period", "start_of_period", "end_of_period"])


@given(LENGTHS, TIMINGS)
def test_without_a_rate_nothing_is_discounted(lengths, timing):
    horizon = Horizon(START, lengths)
    assert money.discount_factors(horizon, 0.0, timing) == pytest.approx([1.0] * len(lengths))
    assert money.end_factor(horizon, 0.0) == 1.0
    assert money.escalation(horizon, 0.0) == pytest.approx([1.0] * len(lengths))


@given(LENGTHS, RATES, TIMINGS)
def test_a_long_period_is_worth_its_quarters(lengths, rate, timing):
    long = Horizon(START, lengths)
    quarters = money.discount_factors(Horizon.of_quarters(START, sum(lengths)), rate, timing)
    first = 0
    for factor, length in zip(money.discount_factors(long, rate, timing), lengths, strict=True):
        assert factor * length == pytest.approx(sum(quarters[first : first + length]))
        first += length


def test_factors_of_each_timing():
    horizon = Horizon.of_quarters(START, 5)
    assert money.discount_factors(horizon, 0.1, "start_of_period")[4] == pytest.approx(1 / 1.1)
    assert money.discount_factors(horizon, 0.1, "end_of_period")[3] == pytest.approx(1 / 1.1)
    assert money.discount_factors(horizon, 0.1, "mid_period")[0] == pytest.approx(1.1**-0.125)
    assert money.end_factor(Horizon(START, (1, 3)), 0.1) == pytest.approx(1 / 1.1)


@given(LENGTHS, RATES, TIMINGS)
def test_later_money_is_never_worth_more(lengths, rate, timing):
    factors = money.discount_factors(Horizon(START, lengths), rate, timing)
    assert all(late <= early + 1e-12 for early, late in pairwise(factors))
    assert money.end_factor(Horizon(START, lengths), rate) <= factors[-1] + 1e-12


def test_prices_grow_from_the_first_quarter_on():
    assert money.escalation(Horizon.of_quarters(START, 5), 0.04)[::4] == pytest.approx([1.0, 1.04])
    grown = [1.04 ** (q / 4) for q in range(4)]
    assert money.escalation(Horizon(START, (4,)), 0.04) == pytest.approx([sum(grown) / 4])


def test_longer_book_life_cuts_the_yearly_charge():
    # 5 to 5.5 years: 1/5 to 1/5.5 of the price a year, that is 9.1 % less.
    charges = [1 - money.book_share(4, life) for life in (5.0, 5.5)]
    assert 1 - charges[1] / charges[0] == pytest.approx(0.091, abs=5e-4)


def test_write_off_of_a_three_year_old_rack():
    assert money.write_off(2.0, 12, 5.5) == pytest.approx(2.0 * 0.4545, abs=2e-4)


@given(st.floats(0.25, 40), st.integers(0, 200))
def test_book_value_falls_from_price_to_nothing(life, age):
    assert money.book_share(0, life) == 1.0
    assert 0.0 <= money.book_share(age + 1, life) <= money.book_share(age, life) <= 1.0
    assert money.book_share(life * 4, life) == pytest.approx(0.0)


@pytest.mark.parametrize("life", [0.25, 1.0, 3.0, 4.5, 5.1])
def test_straight_line_tax_deducts_the_price_once(life):
    schedule = money.tax_schedule("straight_line", life, 0.0)
    assert sum(schedule) == pytest.approx(1.0)
    assert schedule[0] == pytest.approx(min(1.0, 0.25 / life))


def test_macrs_by_year_is_the_published_table():
    schedule = money.tax_schedule("macrs5", 5.0, 0.0)
    years = [sum(schedule[4 * y : 4 * y + 4]) for y in range(6)]
    assert years == pytest.approx([0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576])


@given(st.floats(0, 1))
def test_bonus_deducts_its_share_at_once_and_the_price_once(share):
    schedule = money.tax_schedule("bonus", 5.0, share)
    assert sum(schedule) == pytest.approx(1.0)
    assert schedule[0] == pytest.approx(share + (1 - share) * 0.05)
    assert money.tax_share_left(schedule, 1) == pytest.approx(1 - schedule[0])


def test_no_tax_depreciation_leaves_nothing_to_deduct():
    assert money.tax_schedule("none", 5.0, 0.0) == []
    assert money.tax_share_left([], 0) == 0.0


def test_resale_is_linear_between_year_ends_and_constant_after_them():
    curve = (0.62, 0.43, 0.3)
    found = [money.resale_share(q, curve) for q in (0, 2, 4, 6, 12, 40)]
    assert found == pytest.approx([1.0, 0.81, 0.62, 0.525, 0.3, 0.3])
    assert money.resale_share(3, ()) == 0.0


def test_maintenance_takes_the_last_step_reached():
    steps = ((0.0, 0.02), (3.0, 0.04))
    assert [money.maintenance_share(q, steps) for q in (0, 11, 12, 60)] == [0.02, 0.02, 0.04, 0.04]


@given(RATES, st.floats(1, 10), st.floats(0, 0.5))
def test_annuity_and_salvage_repay_the_price(rate, life, salvage):
    payment = money.annuity_share(rate, life, salvage)
    paid = payment * life if rate == 0 else payment * (1 - (1 + rate) ** -life) / rate
    assert paid + salvage * (1 + rate) ** -life == pytest.approx(1.0, rel=1e-6)


@given(RATES, st.floats(1, 10), st.floats(0, 0.5))
def test_economic_value_falls_from_price_to_salvage(rate, life, salvage):
    values = [money.economic_value_share(q, rate, life, salvage) for q in range(45)]
    assert values[0] == pytest.approx(1.0, rel=1e-6)
    assert values[-1] == pytest.approx(salvage)
    assert all(late <= early + 1e-9 for early, late in pairwise(values))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("none", 0.0), ("resale", 0.43), ("book", 1 - 2 / 5.5), ("economic_annuity", None)],
)
def test_end_value_by_rule(rule, expected):
    share = money.end_value_share(
        rule, 8, rate=0.0, economic_life_years=4.0, book_life_years=5.5, resale_by_year=(0.62, 0.43, 0.3, 0.2)
    )
    # Annuity at rate 0: half of the way from the price to the salvage at the end of 4 years.
    assert share == pytest.approx(0.6 if expected is None else expected)


def test_end_value_is_never_below_what_a_sale_would_bring():
    share = money.end_value_share(
        "economic_annuity", 4, rate=0.0, economic_life_years=1.0, book_life_years=5, resale_by_year=(0.9, 0.8)
    )
    assert share == pytest.approx(0.9)


def test_windows_cover_years_and_quarters_and_share_long_periods():
    horizon = Horizon(START, (1, 2, 4))
    assert money.window_quarters("2027", horizon) == [1, 2, 3, 4]
    assert money.window_quarters("2026", horizon) == [0]
    assert money.window_quarters("2027Q3", horizon) == [3]
    assert money.window_shares("2027", horizon) == {1: 1.0, 2: 0.5}
    assert money.window_quarters("2040", horizon) == []


def test_present_value_weighs_each_period():
    assert money.present_value({0: 10.0, 2: 5.0}, [1.0, 0.9, 0.8]) == pytest.approx(14.0)


def test_own_silicon_is_known_by_its_vendor():
    assert (money.resale_kind("Meta"), money.resale_kind("NVIDIA")) == ("own", "merchant")
