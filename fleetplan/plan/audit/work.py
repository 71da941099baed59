"""Work: racks in use are racks ready, rates are the options', and demand is served, deferred or short."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fleetplan.plan.audit.power import allowed_caps, default_cap_w
from fleetplan.plan.audit.roles import racks_in_roles
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker

SITE_CAP = tuple[str, str, float, str]
"""Site, accelerator, cap, period."""


def check_capacity(view: View) -> Check:
    """Racks that must be ready for the work (its peaks) are there, by site, accelerator and cap.

    Above an accelerator's lowest cap there are no others: racks out of use take no contract power by a
    cap that nobody needs.
    """
    meaning = "racks in use x peak <= racks at that cap x ready share, and = above the lowest cap"
    check = Checker("capacity", meaning, absolute=1e-4)
    needed: dict[SITE_CAP, float] = defaultdict(float)
    for row in view.rows("assignment"):
        option = view.options.get(row.option)
        if option is not None and row.site in view.scenario.sites:
            needed[row.site, row.accelerator, float(option.cap_w), row.period] += row.racks * peak(
                view, row.workload
            )
    there: dict[SITE_CAP, float] = defaultdict(float)
    for row in view.rows("modes"):
        there[row.site, row.accelerator, row.cap_w, row.period] += row.racks
    for (site, accelerator, period), racks in racks_in_roles(view).items():
        there[site, accelerator, default_cap_w(view, accelerator), period] -= racks
    lowest = {name: min(allowed_caps(view, name)) for name in view.scenario.accelerators}
    for key in sorted(needed.keys() | there.keys()):
        site, accelerator, cap_w, period = key
        place = say("assignment", site, accelerator, f"{cap_w:g} W", period)
        judge = check.equal if cap_w > lowest[accelerator] else check.at_most
        judge(place, needed.get(key, 0.0), there.get(key, 0.0) * ready_share(view))
    return check.result()


def check_burn_in(view: View) -> Check:
    """In the period in which racks enter, the share that fails in burn-in does no work."""
    check = Checker(
        "burn-in", "racks in use x peak <= ready racks less those that fail when new", absolute=1e-4
    )
    lost = view.scenario.lifecycle.burn_in_loss_share
    entered: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("orders"):
        entry = view.entry(row.service_quarter)
        if row.kind in ("new", "option", "committed") and entry is not None:
            entered[row.site, row.accelerator, entry.name] += row.racks / entry.quarters
    needed: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("assignment"):
        needed[row.site, row.accelerator, row.period] += row.racks * peak(view, row.workload)
    alive = view.sums("fleet", ("site", "accelerator", "period"), "racks")
    other = racks_in_roles(view)
    for key, racks in sorted(entered.items()):
        limit = (alive.get(key, 0.0) - other.get(key, 0.0) - lost * racks) * ready_share(view)
        check.at_most(say("assignment", *key), needed.get(key, 0.0), limit)
    return check.result()


def check_rates(view: View) -> Check:
    """Work is racks x the option's rate; only options that fit, meet the deadline and may run there."""
    check = Checker(
        "rates", "samples/s = racks in use x rate of the option, at an allowed site", absolute=1e-6
    )
    for row in view.rows("assignment"):
        place = say("assignment", row.site, row.option, row.period)
        option = view.options.get(row.option)
        if option is None:
            check.true(place, row.racks, "an option of the table", holds=False)
            continue
        check.equal(place, row.samples_per_s, row.racks * option.net_samples_per_s_per_rack)
        of_it = (option.workload, option.accelerator) == (row.workload, row.accelerator)
        check.true(place, row.racks, f"{option.workload} on {option.accelerator}", holds=of_it)
        if row.racks > 0:
            usable = bool(option.fits and option.meets_deadline)
            check.true(place, row.racks, "an option that fits and is in time", holds=usable)
            allowed = view.scenario.workloads[row.workload].allowed_sites
            check.true(place, row.racks, "an allowed site", holds=not allowed or row.site in allowed)
    return check.result()


def check_served(view: View) -> Check:
    """Served work re-adds from the assignment; every workload has a row in every period."""
    check = Checker("served", "served = sum of the assignment, by workload and period")
    assigned = view.sums("assignment", ("workload", "period"), "samples_per_s")
    stated = view.sums("work", ("workload", "period"), "served_samples_per_s")
    wanted = {(w, period.name) for w in view.scenario.workloads for period in view.periods}
    for key in sorted(assigned.keys() | stated.keys() | wanted):
        check.equal(say("work", *key), stated.get(key, -1.0), assigned.get(key, 0.0))
    return check.result()


def check_demand(view: View) -> Check:
    """Demand is the scenario's, and is served, deferred within its limit, or short at its price."""
    check = Checker("demand", "served + short + change of backlog = demand; shortfall at its price")
    backlog: dict[str, float] = defaultdict(float)
    for row in sorted(view.rows("work"), key=lambda row: view.period_index[row.period]):
        period = view.periods[view.period_index[row.period]]
        workload = view.scenario.workloads[row.workload]
        demand, place = (
            view.demand.get((row.workload, period.index), 0.0),
            say("work", row.workload, row.period),
        )
        check.equal(f"{place}, demand", row.demand_samples_per_s, demand)
        given = period.quarters * (row.served_samples_per_s + row.shortfall_samples_per_s)
        change = row.backlog_samples_per_s - backlog[row.workload]
        check.equal(f"{place}, balance", given + change, period.quarters * demand)
        last = period.index == len(view.periods) - 1
        limit = 0.0 if last else workload.deferrable_share * demand
        check.at_most(f"{place}, backlog", row.backlog_samples_per_s, limit + 1e-6 * demand)
        price = workload.shortfall_price_usd_per_billion_samples
        cost = row.shortfall_samples_per_s * period.seconds * price / 1e9 / 1e6
        check.equal(f"{place}, price", row.shortfall_musd, cost)
        backlog[row.workload] = row.backlog_samples_per_s
    return check.result()


def peak(view: View, workload: str) -> float:
    """Racks to hold per rack in use on average: a peak can wait as far as work is deferrable."""
    spec: Any = view.scenario.workloads[workload]
    return float(max(1.0, spec.peak_to_average * (1 - spec.deferrable_share)))


def ready_share(view: View) -> float:
    """Share of racks that are neither spare nor in maintenance."""
    lifecycle = view.scenario.lifecycle
    return (1 - lifecycle.spare_share) * (1 - lifecycle.maintenance_share)
