"""Energy and carbon: facility MWh of racks in use and idle, their cost and their emissions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fleetplan import money
from fleetplan.plan.audit.power import allowed_caps, default_cap_w, law_kw
from fleetplan.plan.audit.roles import racks_in_roles
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker

SITE_PERIOD = tuple[str, str]


def check_energy(view: View) -> Check:
    """Energy re-adds from racks in use at their average power and idle racks at idle power."""
    check = Checker(
        "energy", "MWh = (in use x average kW + idle x idle kW) x hours x annual / peak PUE", absolute=1e-3
    )
    kw = average_kw(view)
    stated = {(row.site, row.period): row for row in view.rows("energy")}
    for name, site in view.scenario.sites.items():
        prices = money.escalation(view.scenario.horizon, site.energy_price_escalation_per_year)
        for period in view.periods:
            row = stated.get((name, period.name))
            place = say("energy", name, period.name)
            expected = (
                kw.get((name, period.name), 0.0) * period.hours / 1000 * site.pue_annual / site.pue_peak
            )
            if row is None:
                check.at_most(f"{place}, no row", expected, 0.0)
                continue
            check.equal(f"{place}, MWh", row.facility_mwh, expected)
            price = site.energy_price_usd_per_mwh * prices[period.index]
            check.equal(f"{place}, price", row.price_usd_per_mwh, price)
            check.equal(f"{place}, cost", row.energy_musd, row.facility_mwh * price / 1e6)
    return check.result()


def check_carbon(view: View) -> Check:
    """Emissions are energy x intensity; embodied emissions are racks into service x their making."""
    check = Checker(
        "carbon", "tCO2e = MWh x intensity; embodied = racks into service x t per rack", absolute=1e-3
    )
    carbon = view.scenario.carbon
    built: dict[SITE_PERIOD, float] = defaultdict(float)
    for row in view.rows("orders"):
        entry = view.entry(row.service_quarter)
        if row.kind in ("new", "option", "committed", "upgrade") and entry is not None:
            built[row.site, entry.name] += row.racks * _embodied_t(view, row)
    for row in view.rows("energy"):
        place = say("energy", row.site, row.period)
        trend = carbon.intensity_trend_per_year.get(row.site, 0.0)
        levels = money.escalation(view.scenario.horizon, trend)
        intensity = carbon.intensity_g_per_kwh.get(row.site, 0.0) * levels[view.period_index[row.period]]
        check.equal(f"{place}, operation", row.operational_t, row.facility_mwh * intensity / 1000)
        check.equal(f"{place}, embodied", row.embodied_t, built.get((row.site, row.period), 0.0))
    return check.result()


def _embodied_t(view: View, order: Any) -> float:
    """Tonnes per rack: as stated, else of its devices; swapped modules count by their price share."""
    stated = view.scenario.carbon.embodied_t_per_rack.get(order.accelerator)
    part = view.scenario.accelerators[order.accelerator]
    devices_t = (part.embodied_kgco2e_per_device or 0.0) * (part.devices_per_rack or 1) / 1000
    whole = devices_t if stated is None else stated
    if order.kind != "upgrade":
        return whole
    full = {(s.accelerator, str(s.delivery)): s.price_musd_per_rack for s in view.scenario.supply}
    price = full.get((order.accelerator, order.delivery_quarter), 0.0)
    return whole * float(order.price_musd_per_rack) / price if price else 0.0


def average_kw(view: View) -> dict[SITE_PERIOD, float]:
    """Facility kW (at peak PUE) drawn on average by site and period."""
    idle = idle_kw(view)
    drawn: dict[SITE_PERIOD, float] = defaultdict(float)
    for row in view.rows("modes"):
        drawn[row.site, row.period] += row.racks * idle[row.accelerator]
    for (name, accelerator, period), racks in racks_in_roles(view).items():
        drawn[name, period] += racks * (_role_kw(view, accelerator) - idle[accelerator])
    for row in view.rows("assignment"):
        option = view.options.get(row.option)
        if option is not None and row.site in view.scenario.sites:
            extra = option.average_facility_kw_per_rack - idle[row.accelerator]
            drawn[row.site, row.period] += row.racks * extra
    return dict(drawn)


def _role_kw(view: View, accelerator: str) -> float:
    """Facility kW that a rack in a role draws: the law at the planned cap x mean over provisioned power."""
    ratio = view.scenario.accelerators[accelerator].average_to_provisioned_power
    return law_kw(view, accelerator, default_cap_w(view, accelerator)) * (1.0 if ratio is None else ratio)


def idle_kw(view: View) -> dict[str, float]:
    """Facility kW of an idle rack: the law at idle watts, never above the least hungry use."""
    found = {}
    for name, spec in view.scenario.accelerators.items():
        caps = allowed_caps(view, name)
        uses = [
            o.average_facility_kw_per_rack
            for o in view.options.values()
            if o.accelerator == name
            and o.cap_w in caps
            and o.fits
            and o.meets_deadline
            and o.net_samples_per_s_per_rack > 0
            and o.workload in view.scenario.workloads
        ]
        ratio = 1.0 if spec.average_to_provisioned_power is None else spec.average_to_provisioned_power
        least = min(uses) if uses else law_kw(view, name, min(caps)) * ratio
        found[name] = least if spec.idle_w is None else min(least, law_kw(view, name, spec.idle_w))
    return found
