"""Money rules, each defined once: discounting, escalation, book, tax, resale and end value.

All functions are pure. Rates are per year, ages in quarters unless a name says years, shares are of
the price paid. A period's factor is the mean of the factors of its quarters, so that a period of
four quarters and four single quarters are worth the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import expm1, log1p
from typing import Literal

from fleetplan.periods import QUARTERS_PER_YEAR, Horizon, Period

Timing = Literal["mid_period", "start_of_period", "end_of_period"]
TaxMethod = Literal["straight_line", "macrs5", "bonus", "none"]
EndValueRule = Literal["resale", "economic_annuity", "book", "none"]

_TIMING_OFFSET: dict[str, float] = {"start_of_period": 0.0, "mid_period": 0.5, "end_of_period": 1.0}

MACRS5 = (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
"""Five-year property, half-year convention. Source: IRS Publication 946, table A-1."""

OWN_VENDOR = "Meta"
"""Own silicon has next to no resale market; everything else is merchant."""


def discount_factors(horizon: Horizon, rate: float, timing: Timing) -> list[float]:
    """Present value, at the start of the horizon, of one M USD spread over each period.

    Each quarter's cash falls at its start, middle or end: ``(1 + rate) ** -(years until then)``.
    """
    shift = _TIMING_OFFSET[timing]
    return [
        _mean([(1 + rate) ** -((offset + shift) / QUARTERS_PER_YEAR) for offset in _offsets(horizon, period)])
        for period in horizon
    ]


def end_factor(horizon: Horizon, rate: float) -> float:
    """Present value of one M USD at the end of the horizon, when end values are due."""
    return float((1 + rate) ** -((horizon.end - horizon.start) / QUARTERS_PER_YEAR))


def escalation(horizon: Horizon, rate: float) -> list[float]:
    """Mean price level of each period; the first quarter is 1, and each later one grows."""
    return [
        _mean([(1 + rate) ** (offset / QUARTERS_PER_YEAR) for offset in _offsets(horizon, period)])
        for period in horizon
    ]


def book_share(age_quarters: float, life_years: float) -> float:
    """Straight-line book value left: ``max(0, 1 - age / life)``."""
    return max(0.0, 1.0 - age_quarters / (life_years * QUARTERS_PER_YEAR))


def write_off(price: float, age_quarters: float, life_years: float) -> float:
    """Book value lost when one rack leaves early: an effect on income, not on cash."""
    return price * book_share(age_quarters, life_years)


def tax_schedule(method: TaxMethod, life_years: float, bonus_share: float) -> list[float]:
    """Share of the price deducted in each quarter of age; sums to 1 (to 0 for ``none``).

    ``bonus`` deducts its share in the first quarter and the rest by MACRS. MACRS years are spread
    evenly over their quarters.
    """
    macrs = [share / QUARTERS_PER_YEAR for share in MACRS5 for _ in range(QUARTERS_PER_YEAR)]
    if method == "none":
        return []
    if method == "macrs5":
        return macrs
    if method == "bonus":
        rest = [share * (1 - bonus_share) for share in macrs]
        return [rest[0] + bonus_share, *rest[1:]]
    quarters = life_years * QUARTERS_PER_YEAR
    whole = int(quarters)
    part = [1 - whole / quarters] if quarters > whole else []
    return [1 / quarters] * whole + part


def tax_share_left(schedule: Sequence[float], age_quarters: int) -> float:
    """Share of the price not yet deducted at an age; 0 without a schedule."""
    return max(0.0, sum(schedule[max(age_quarters, 0) :]))


def resale_kind(vendor: str) -> str:
    """Which resale curve an accelerator follows: ``own`` or ``merchant``."""
    return "own" if vendor == OWN_VENDOR else "merchant"


def resale_share(age_quarters: float, by_year: Sequence[float]) -> float:
    """Resale share of price: 1 when new, linear between the year ends given, then constant."""
    if not by_year:
        return 0.0
    points = (1.0, *by_year)
    years = max(age_quarters, 0) / QUARTERS_PER_YEAR
    whole = int(years)
    if whole >= len(points) - 1:
        return points[-1]
    return points[whole] + (years - whole) * (points[whole + 1] - points[whole])


def maintenance_share(age_quarters: float, steps: Sequence[tuple[float, float]]) -> float:
    """Maintenance per year as a share of price at an age: the last step reached."""
    years = age_quarters / QUARTERS_PER_YEAR
    reached = [share for from_year, share in steps if from_year <= years]
    return reached[-1] if reached else 0.0


def annuity_share(rate: float, life_years: float, salvage_share: float) -> float:
    """Level yearly payment (at year end) per price that repays price less salvage over a life."""
    discounted = float((1 + rate) ** -life_years)
    return (1 - salvage_share * discounted) / _years_discounted(rate, life_years)


def economic_value_share(age_quarters: float, rate: float, life_years: float, salvage_share: float) -> float:
    """Value left per price: present value of the annuity payments still due, and of the salvage.

    It falls from 1 when new to the salvage share at the end of the economic life.
    """
    left = life_years - age_quarters / QUARTERS_PER_YEAR
    if left <= 0:
        return salvage_share
    payment = annuity_share(rate, life_years, salvage_share)
    return payment * _years_discounted(rate, left) + salvage_share * float((1 + rate) ** -left)


def _years_discounted(rate: float, years: float) -> float:
    """Present value of 1 a year at year ends: ``(1 - (1 + rate) ** -years) / rate``; years at rate 0."""
    if rate * years < 1e-12:
        return years
    return -expm1(-years * log1p(rate)) / rate


def end_value_share(
    rule: EndValueRule,
    age_quarters: float,
    *,
    rate: float,
    economic_life_years: float,
    book_life_years: float,
    resale_by_year: Sequence[float],
) -> float:
    """What a rack alive at the end of the horizon counts for, per price paid.

    ``economic_annuity`` never falls below the resale share: an owner could still sell.
    """
    resale = resale_share(age_quarters, resale_by_year)
    if rule == "none":
        return 0.0
    if rule == "resale":
        return resale
    if rule == "book":
        return book_share(age_quarters, book_life_years)
    salvage = resale_share(economic_life_years * QUARTERS_PER_YEAR, resale_by_year)
    return max(resale, economic_value_share(age_quarters, rate, economic_life_years, salvage))


def window_quarters(key: str, horizon: Horizon) -> list[int]:
    """Quarter offsets from the horizon's start that a budget window (``2027`` or ``2027Q1``) covers."""
    wanted = [f"{key}Q{number}" for number in (1, 2, 3, 4)] if len(key) == len("2027") else [key]
    total = horizon.end - horizon.start
    return [offset for offset in range(total) if str(horizon.start + offset) in wanted]


def window_shares(key: str, horizon: Horizon) -> dict[int, float]:
    """Share of each period that lies in a window, by period index; absent where it is 0."""
    covered = set(window_quarters(key, horizon))
    shares = {
        period.index: sum(offset in covered for offset in _offsets(horizon, period)) / period.quarters
        for period in horizon
    }
    return {index: share for index, share in shares.items() if share}


def present_value(amounts: Mapping[int, float], factors: Sequence[float]) -> float:
    """Sum of amounts by period index, each times its period's factor."""
    return sum(amount * factors[index] for index, amount in amounts.items())


def _offsets(horizon: Horizon, period: Period) -> range:
    first = period.start - horizon.start
    return range(first, first + period.quarters)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
