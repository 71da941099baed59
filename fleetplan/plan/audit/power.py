"""Power: racks by cap sum to the fleet, and what they draw stays within every hall's megawatts."""

from __future__ import annotations

from fleetplan.lifecycle import filled_kw, life_stage, power_factor
from fleetplan.periods import Quarter
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker


def check_modes(view: View) -> Check:
    """Racks by cap sum to the racks alive."""
    check = Checker("modes", "racks over all power caps are the racks alive", absolute=1e-4)
    keys = ("site", "hall", "accelerator", "period")
    fleet, modes = view.sums("fleet", keys, "racks"), view.sums("modes", keys, "racks")
    for key in sorted(fleet.keys() | modes.keys()):
        check.equal(say("modes", *key), modes.get(key, 0.0), fleet.get(key, 0.0))
    return check.result()


def check_rack_power(view: View) -> Check:
    """One rack counts its facility law at its cap, times its life stage, filled up to whole boards."""
    check = Checker("rack power", "kW per rack = (fixed + slope x cap) x devices x life-stage factor")
    for row in view.rows("modes"):
        start = view.periods[view.period_index[row.period]].start
        expected = rack_kw(view, row.hall, row.accelerator, row.cap_w, start)
        place = say("modes", row.hall, row.accelerator, row.period, f"{row.cap_w:g} W")
        check.equal(place, row.provisioned_facility_kw_per_rack, expected)
    return check.result()


def check_power(view: View) -> Check:
    """Used power is what the racks count, and no hall uses more than it has."""
    check = Checker("power", "used MW = racks x kW per rack, at most what is available", absolute=1e-5)
    used: dict[tuple[str, str, str], float] = {}
    for row in view.rows("modes"):
        key = (str(row.site), str(row.hall), str(row.period))
        used[key] = used.get(key, 0.0) + row.racks * row.provisioned_facility_kw_per_rack / 1000
    stated = {(row.site, row.hall, row.period): row for row in view.rows("power")}
    for key in sorted(used.keys() - stated.keys()):
        check.at_most(say("power", *key, "no row"), used[key], 0.0)
    for hall in view.scenario.halls.values():
        for period in view.periods:
            holds = (hall.site, hall.name, period.name) in stated
            check.true(say("power", hall.name, period.name), 0.0, "1 row", holds=holds)
    for key, row in stated.items():
        available = view.available_mw(row.hall, view.periods[view.period_index[row.period]])
        check.equal(say("power", *key, "available"), row.available_mw, available)
        check.equal(say("power", *key, "used"), row.used_mw, used.get(key, 0.0))
        check.equal(say("power", *key, "headroom"), row.headroom_mw, max(0.0, available - row.used_mw))
        check.at_most(say("power", *key), row.used_mw, available)
    return check.result()


def check_power_by_accelerator(view: View) -> Check:
    """Power by accelerator re-adds from the racks by cap."""
    check = Checker("power by accelerator", "used MW by accelerator = racks x kW per rack", absolute=1e-5)
    used: dict[tuple[str, ...], float] = {}
    for row in view.rows("modes"):
        key: tuple[str, ...] = (row.site, row.accelerator, row.period)
        used[key] = used.get(key, 0.0) + row.racks * row.provisioned_facility_kw_per_rack / 1000
    stated = view.sums("power_by_accelerator", ("site", "accelerator", "period"), "used_mw")
    for key in sorted({*used, *stated}):
        check.equal(say("power_by_accelerator", *key), stated.get(key, 0.0), used.get(key, 0.0))
    return check.result()


def rack_kw(view: View, hall: str, accelerator: str, cap_w: float, quarter: Quarter) -> float:
    """Facility kW that one rack takes of a hall: law x life stage, filled up to whole boards."""
    kw = law_kw(view, accelerator, cap_w) * stage_factor(view, accelerator, quarter)
    return filled_kw(kw, view.scenario.halls[hall].lot_kw)


def law_kw(view: View, accelerator: str, cap_w: float) -> float:
    """Facility kW of one rack at a cap by the accelerator's linear law."""
    spec = view.scenario.accelerators[accelerator]
    return spec.facility_kw_per_device(cap_w) * (spec.devices_per_rack or 1)


def stage_factor(view: View, accelerator: str, quarter: Quarter) -> float:
    """Share of the law that counts against the limit in the accelerator's stage of life."""
    lifecycle = view.scenario.lifecycle
    start = lifecycle.mass_production.get(accelerator)
    available = view.scenario.accelerators[accelerator].available_from
    if start is None and available:
        start = Quarter.parse(available)
    by_stage = {str(stage): factor for stage, factor in lifecycle.power_stage_factor.items()}
    return power_factor(life_stage(quarter, start), by_stage, lifecycle.diversity_factor)


def allowed_caps(view: View, accelerator: str) -> set[float]:
    """Caps that may be chosen: those with options, nearest the provisioned one first."""
    default = default_cap_w(view, accelerator)
    offered = {o.cap_w for o in view.options.values() if o.accelerator == accelerator} or {default}
    near = sorted(offered, key=lambda cap: (abs(cap - default), cap))
    return set(near[: view.scenario.rules.caps_per_accelerator])


def default_cap_w(view: View, accelerator: str) -> float:
    """The cap that power is planned with; racks in roles run at it."""
    spec = view.scenario.accelerators[accelerator]
    return spec.tdp_w if spec.provisioned_cap_w is None else spec.provisioned_cap_w
