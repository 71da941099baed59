"""Stock: what is alive re-adds from what stood there, what went into service and what left."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fleetplan.lifecycle import first_period_from, survival, survival_by_age
from fleetplan.periods import Quarter
from fleetplan.plan.audit.power import allowed_caps, rack_kw
from fleetplan.plan.audit.view import View, age, say
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Cohort

CohortKey = tuple[str, str, str, str]
"""Site, hall, accelerator, vintage."""
OUTSIDE_MEGAWATTS = frozenset({"rental"})
"""Kinds of orders that never enter the fleet."""


@dataclass
class _Stock:
    """Racks by cohort and period index: alive, arriving, leaving by kind, and before the horizon."""

    before: dict[CohortKey, float] = field(default_factory=lambda: defaultdict(float))
    alive: dict[tuple[CohortKey, int], float] = field(default_factory=lambda: defaultdict(float))
    arrive: dict[tuple[CohortKey, int], float] = field(default_factory=lambda: defaultdict(float))
    leave: dict[tuple[CohortKey, int, str], float] = field(default_factory=lambda: defaultdict(float))


def check_stock(view: View) -> Check:
    """Racks alive = racks alive before + into service - all that left."""
    check = Checker("stock", "racks alive = alive before + into service - left, by cohort", absolute=1e-4)
    stock = _stock(view)
    left: dict[tuple[CohortKey, int], float] = defaultdict(float)
    for (key, t, _), racks in stock.leave.items():
        left[key, t] += racks
    moments = {*stock.alive, *stock.arrive, *left}
    for key in sorted({key for key, _ in moments} | set(stock.before)):
        for period in view.periods:
            t = period.index
            previous = stock.alive.get((key, t - 1), 0.0) if t else stock.before.get(key, 0.0)
            expected = previous + stock.arrive.get((key, t), 0.0) - left.get((key, t), 0.0)
            check.equal(say("fleet", *key, period.name), stock.alive.get((key, t), 0.0), expected)
    return check.result()


def check_ages(view: View) -> Check:
    """Nothing leaves early below the minimum age; nothing is alive at the maximum age."""
    lifecycle = view.scenario.lifecycle
    check = Checker("ages", "early retirement from the minimum age on; none alive at the maximum age")
    released = released_halls(view)
    for row in view.rows("retirements"):
        if row.kind == "early" and row.racks > 0:
            quarters = age(row.vintage, view.periods[view.period_index[row.period]].start)
            place = say("retirements", row.hall, row.accelerator, row.vintage, row.period)
            if (row.hall, row.period) not in released:
                check.at_least(place, quarters, lifecycle.minimum_age_quarters)
                check.true(
                    place, row.racks, "no early retirement", holds=view.scenario.rules.allow_early_retirement
                )
    for row in view.rows("fleet"):
        if row.racks > 0:
            quarters = age(row.vintage, view.periods[view.period_index[row.period]].start)
            place = say("fleet", row.hall, row.accelerator, row.vintage, row.period)
            check.at_most(place, quarters, lifecycle.maximum_age_quarters - 1)
    return check.result()


def check_attrition(view: View) -> Check:
    """Racks lost by attrition follow the survival curve of their age."""
    lifecycle = view.scenario.lifecycle
    curve = survival_by_age(
        lifecycle.maximum_age_quarters + sum(view.scenario.horizon.lengths) + 200,
        lifecycle.attrition_per_year,
        lifecycle.attrition_multiplier,
        lifecycle.attrition_multiplier_from_year,
    )
    check = Checker("attrition", "racks lost = racks alive before x (1 - survival)", absolute=1e-4)
    stock = _stock(view)
    for (key, t), racks in sorted(stock.alive.items()):
        if t + 1 >= len(view.periods) or (key, t + 1) not in stock.alive:
            continue
        now, then = view.periods[t].start, view.periods[t + 1].start
        kept = survival(curve, age(key[3], now), age(key[3], then))
        lost = stock.leave.get((key, t + 1, "attrition"), 0.0)
        check.equal(say("retirements", *key, view.periods[t + 1].name), lost, racks * (1 - kept))
    return check.result()


def check_cooling(view: View) -> Check:
    """Every rack stands in a hall that cools it and whose rack limit it keeps."""
    check = Checker("cooling", "every rack stands in a hall of a cooling class that it accepts")
    for row in view.rows("fleet"):
        if row.racks <= 0:
            continue
        hall, spec = view.scenario.halls[row.hall], view.scenario.accelerators[row.accelerator]
        place = say("fleet", row.hall, row.accelerator, row.period)
        check.true(
            place, row.racks, f"none in {hall.cooling_class}", holds=hall.cooling_class in spec.cooling
        )
        if hall.max_rack_it_kw is not None and spec.rack_it_kw is not None:
            check.at_most(place, spec.rack_it_kw, hall.max_rack_it_kw)
    return check.result()


def released_halls(view: View) -> set[tuple[str, str]]:
    """Halls and periods whose power cannot carry the present racks that may not leave yet.

    There, and only there, present racks may leave below the minimum age: they cannot run anyway.
    """
    lifecycle, may_retire = view.scenario.lifecycle, view.scenario.rules.allow_early_retirement
    locked: dict[tuple[str, int], float] = defaultdict(float)
    for cohort in view.scenario.fleet:
        for period in view.periods:
            quarters = period.start - cohort.commissioned
            leaves = may_retire and period.index > 0 and quarters >= lifecycle.minimum_age_quarters
            if not leaves and quarters < lifecycle.maximum_age_quarters:
                least_w = min(allowed_caps(view, cohort.accelerator))
                mw = rack_kw(view, cohort.hall, cohort.accelerator, least_w, period.start) / 1000
                locked[cohort.hall, period.index] += cohort.racks * mw
    return {
        (hall, view.periods[t].name)
        for (hall, t), mw in locked.items()
        if mw > view.available_mw(hall, view.periods[t])
    }


def _stock(view: View) -> _Stock:
    """Read all movements. Where racks may move, halls are summed: only then is nothing lost on the way."""
    moves = view.scenario.rules.allow_moves
    stock = _Stock()
    for cohort in view.scenario.fleet:
        _place_cohort(view, stock, cohort)
    for row in view.rows("orders"):
        if row.kind in OUTSIDE_MEGAWATTS:
            continue
        period = first_period_from(view.scenario.horizon, Quarter.parse(row.service_quarter))
        key = (*_place_of(row.site, row.hall, moves=moves), row.accelerator, row.service_quarter)
        stock.arrive[key, period] += row.racks
    for row in view.rows("fleet"):
        key = (*_place_of(row.site, row.hall, moves=moves), row.accelerator, row.vintage)
        stock.alive[key, view.period_index[row.period]] += row.racks
    for row in view.rows("retirements"):
        if row.kind == "moved":
            continue
        key = (*_place_of(row.site, row.hall, moves=moves), row.accelerator, row.vintage)
        stock.leave[key, view.period_index[row.period], row.kind] += row.racks
    return stock


def _place_of(site: str, hall: str, *, moves: bool) -> tuple[str, str]:
    return ("", "") if moves else (site, hall)


def _place_cohort(view: View, stock: _Stock, cohort: Cohort) -> None:
    place = _place_of(cohort.site, cohort.hall, moves=view.scenario.rules.allow_moves)
    key = (*place, cohort.accelerator, str(cohort.commissioned))
    if cohort.commissioned <= view.scenario.horizon.start:
        stock.before[key] += cohort.racks
    else:
        stock.arrive[key, first_period_from(view.scenario.horizon, cohort.commissioned)] += cohort.racks
