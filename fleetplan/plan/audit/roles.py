"""Roles: racks handed on are of the fleet, in time, no more than needed, and bring what the role says."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from fleetplan.lifecycle import role_quarters, survival, survival_by_age
from fleetplan.plan.audit.books import within
from fleetplan.plan.audit.cohort_money import Prices, span
from fleetplan.plan.audit.view import View, age, say
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Role

COHORT = ("site", "hall", "accelerator", "vintage")
LEAVES = ("early", "end-of-life")


def check_roles(view: View) -> Check:
    """Hand-overs are of the right type, in time and old enough; a role has no more racks than it needs."""
    check = Checker("roles", "racks handed on in time and old enough, no more than needed", absolute=1e-4)
    roles = _roles(view)
    held: dict[tuple[str, str], float] = defaultdict(float)
    for row in view.rows("roles"):
        role, place = roles[row.role], _place(row)
        since = view.periods[view.period_index[row.since]].start
        check.true(place, row.racks, role.accelerator, holds=row.accelerator == role.accelerator)
        check.at_least(f"{place}, first", since.ordinal, role.first.ordinal)
        check.at_most(f"{place}, last", since.ordinal, role.last.ordinal)
        check.at_least(f"{place}, age", age(row.vintage, since), role.minimum_age_quarters)
        held[row.role, row.period] += row.racks
    for (name, period), racks in sorted(held.items()):
        if view.periods[view.period_index[period]].start <= roles[name].last:
            check.at_most(say("roles", name, period), racks, roles[name].max_racks)
    return check.result()


def check_role_stock(view: View) -> Check:
    """Racks in roles are of the fleet, stay there less attrition, and leave only with the fleet."""
    check = Checker("role stock", "racks in a role <= fleet; they stay, fail or retire", absolute=1e-4)
    fleet = view.sums("fleet", (*COHORT, "period"), "racks")
    for key, racks in sorted(view.sums("roles", (*COHORT, "period"), "racks").items()):
        check.at_most(say("roles", *key), racks, fleet.get(key, 0.0))
    retired: dict[tuple[str, ...], float] = defaultdict(float)
    for row in view.rows("retirements"):
        if row.kind in LEAVES:
            retired[(row.site, row.hall, row.accelerator, row.vintage, row.period)] += row.racks
    left: dict[tuple[str, ...], float] = defaultdict(float)
    now = {_hand_over(row, row.period): row.racks for row in view.rows("roles")}
    for group in sorted({key[:-1] for key in now}):
        for t in range(view.period_index[group[-1]], len(view.periods) - 1):
            one, two = view.periods[t], view.periods[t + 1]
            kept = now.get((*group, one.name), 0.0) * _survival(view, group[3], t)
            stays = now.get((*group, two.name), 0.0)
            check.at_most(say("roles", *group, two.name), stays, kept)
            left[(*group[:4], two.name)] += kept - stays
    for key, racks in sorted(left.items()):
        check.at_most(say("roles", *key, "left"), racks, retired.get(key, 0.0))
    return check.result()


def check_role_money(view: View) -> Check:
    """What racks in roles bring and cost is the role's, and is in the ledger."""
    check = Checker("role money", "value x quarters at work, cost share x price, as booked", absolute=1e-4)
    roles, prices = _roles(view), Prices(view)
    booked: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("roles"):
        role, period = roles[row.role], view.periods[view.period_index[row.period]]
        ready = view.periods[view.period_index[row.since]].start + role.down_quarters
        stop = period.start + period.quarters
        quarters = role_quarters(period.start.ordinal, stop.ordinal, ready.ordinal, role.last.ordinal)
        value = row.racks * quarters * role.value_musd_per_rack_quarter
        check.equal(f"{_place(row)}, value", row.value_musd, value)
        handed = row.racks * role.cost_share_of_price if row.since == row.period else 0.0
        paid = [handed * price.musd for price in prices.of(row.hall, row.accelerator, row.vintage)]
        within(check, f"{_place(row)}, hand-over", row.hand_over_musd, span(paid))
        booked["role", row.role, row.period] -= row.value_musd
        booked["hand-over", row.accelerator, row.period] += row.hand_over_musd
    stated: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("ledger"):
        if row.item in ("role", "hand-over"):
            stated[row.item, row.cause, row.period] += row.amount_musd
    for key in sorted({*booked, *stated}):
        check.equal(say("ledger", *key), stated.get(key, 0.0), booked.get(key, 0.0))
    return check.result()


def racks_in_roles(view: View) -> dict[tuple[str, str, str], float]:
    """Racks that do not train, by site, accelerator and period."""
    found: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("roles"):
        found[row.site, row.accelerator, row.period] += row.racks
    return dict(found)


def _roles(view: View) -> dict[str, Role]:
    return {role.name: role for role in view.scenario.roles}


def _survival(view: View, vintage: str, t: int) -> float:
    """Share of a vintage that attrition leaves from one period's start to the next."""
    lifecycle = view.scenario.lifecycle
    then, now = (age(vintage, view.periods[i].start) for i in (t, t + 1))
    curve = survival_by_age(
        now,
        lifecycle.attrition_per_year,
        lifecycle.attrition_multiplier,
        lifecycle.attrition_multiplier_from_year,
    )
    return survival(curve, then, now)


def _hand_over(row: Any, period: str) -> tuple[str, ...]:
    return (row.site, row.hall, row.accelerator, row.vintage, row.role, row.since, period)


def _place(row: Any) -> str:
    return say("roles", row.hall, row.accelerator, row.vintage, row.role, row.since, row.period)
