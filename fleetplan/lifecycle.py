"""Rules of age and power that planning and the audit share: survival, life stage, usable power.

All functions are pure and free of input types, like those of :mod:`fleetplan.money`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleetplan.periods import QUARTERS_PER_YEAR, Horizon, Quarter


def survival_by_age(
    quarters: int, attrition_per_year: float, multiplier: float, multiplier_from_year: float
) -> list[float]:
    """Share of racks still there at each age from 0 to ``quarters``, in quarters.

    The yearly rate is spread evenly, ``(1 - rate) ** (1/4)`` a quarter, and multiplied from an age on.
    """
    alive = [1.0]
    for age in range(quarters):
        late = age / QUARTERS_PER_YEAR >= multiplier_from_year
        rate = min(1.0, attrition_per_year * (multiplier if late else 1.0))
        alive.append(alive[-1] * (1 - rate) ** (1 / QUARTERS_PER_YEAR))
    return alive


def survival(by_age: Sequence[float], age_then: int, age_now: int) -> float:
    """Share of the racks alive at one age that are alive at a later one."""
    return by_age[age_now] / by_age[age_then] if by_age[age_then] > 0 else 0.0


def life_stage(quarter: Quarter, mass_production: Quarter | None) -> str:
    """``forecast`` before mass production, ``initial`` for a year, then ``refined``.

    A part without a known start of production has long been measured: ``refined``.
    """
    if mass_production is None or quarter - mass_production >= QUARTERS_PER_YEAR:
        return "refined"
    return "forecast" if quarter < mass_production else "initial"


def power_factor(stage: str, by_stage: Mapping[str, float], diversity: float) -> float:
    """What a rack counts against a limit, over its facility law.

    A stage's factor may already hold the diversity of loads, so the two are not multiplied: the
    lower one counts.
    """
    return min(by_stage.get(stage, 1.0), diversity)


def usable_mw(facility_mw: float, reserve_share: float, stranded_share: float) -> float:
    """Built power less the reserve for a lost feed and less what cannot be filled."""
    return facility_mw * (1 - reserve_share) * (1 - stranded_share)


def filled_kw(rack_kw: float, lot_kw: float | None) -> float:
    """Kilowatts that one rack takes from a hall whose boards are filled with whole racks.

    Without a board size (or for a rack larger than one) it is the rack's own power.
    """
    if lot_kw is None or lot_kw < rack_kw:
        return rack_kw
    return lot_kw / (lot_kw // rack_kw)


def first_period_from(horizon: Horizon, quarter: Quarter) -> int:
    """Index of the first period that starts in or after a quarter; the number of periods if none."""
    for period in horizon:
        if period.start >= quarter:
            return period.index
    return len(horizon)


def last_boundary_until(horizon: Horizon, quarter: Quarter) -> int:
    """Index of the last period start (or the horizon's end) at or before a quarter; -1 if none."""
    boundaries = [period.start for period in horizon] + [horizon.end]
    return max((index for index, start in enumerate(boundaries) if start <= quarter), default=-1)


def minimum_take_share(years_of_contract: float, share: float, ramp_years: float, term_years: float) -> float:
    """Share of contracted power billed in any case: grows over the ramp, ends with the term.

    The year of the ramp counts whole: in year ``n`` of a ramp of ``m`` years it is ``share x n / m``.
    """
    if term_years and years_of_contract >= term_years:
        return 0.0
    if ramp_years <= 0:
        return share
    return share * min(1.0, (int(years_of_contract) + 1) / ramp_years)


def role_quarters(first: int, stop: int, ready: int, last: int) -> int:
    """Quarters of ``first`` to before ``stop`` in which a rack in a role works (all as ordinals).

    It works from ``ready``, the end of its down time, through ``last``, the role's last quarter.
    """
    return max(0, min(stop, last + 1) - max(first, ready))
