"""Orders: whole lots, within what can be delivered, in time, and at the stated price."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from fleetplan.lifecycle import first_period_from
from fleetplan.periods import Quarter
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit.work import peak
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Supply

TAKING = ("new", "option", "committed", "upgrade")
"""Kinds that use up a delivery of the supply table."""
BOUGHT = ("new", "option", "committed")
"""Kinds that come as whole lots of racks."""


def check_lots(view: View) -> Check:
    """Racks are whole lots of the accelerator's size; commitments are whole racks."""
    check = Checker("lots", "racks = lots x racks per lot, lots whole", absolute=1e-5)
    for row in view.rows("orders"):
        if row.kind not in BOUGHT:
            continue
        size = view.scenario.lifecycle.lot_racks.get(row.accelerator, 1)
        place = _place(row)
        check.equal(place, row.racks, row.lots * size)
        if row.kind == "committed":
            check.equal(place + ", whole racks", row.racks, round(row.racks))
        else:
            check.equal(place + ", whole lots", row.lots, round(row.lots))
    return check.result()


def check_supply(view: View) -> Check:
    """Per accelerator and delivery: commitments are met, options and new orders stay within theirs."""
    check = Checker(
        "supply", "committed = stated; options and new orders within what can come", absolute=1e-4
    )
    bought: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in view.rows("orders"):
        if row.kind in TAKING:
            bought[row.accelerator, row.delivery_quarter, row.kind] += row.racks
    stated = {(row.accelerator, str(row.delivery)): row for row in view.scenario.supply}
    for accelerator, delivery, kind in bought:
        holds = (accelerator, delivery) in stated
        check.true(say("orders", accelerator, delivery, kind), 1.0, "a supply row", holds=holds)
    for (accelerator, delivery), row in stated.items():
        if view.scenario.horizon.index_of(row.delivery) is None:
            continue
        got = {kind: bought.get((accelerator, delivery, kind), 0.0) for kind in TAKING}
        place = say("orders", accelerator, delivery)
        due = row.committed_racks if is_used(view, row) else 0
        check.at_most(f"{place}, committed", got["committed"], due)
        if not view.scenario.rules.decline_committed:
            check.at_least(f"{place}, committed", got["committed"], due)
        check.at_most(f"{place}, option", got["option"], row.option_racks)
        check.at_most(f"{place}, all", sum(got.values()), max(row.max_racks, row.committed_racks))
        if not row.new_orders_can_arrive:
            check.at_most(f"{place}, new inside the lead time", got["new"], 0.0)
    return check.result()


def check_rentals(view: View) -> Check:
    """Rented racks are within the offer and its dates, and do no more than there are."""
    check = Checker("rentals", "rented racks within the offer; no more at work than rented", absolute=1e-4)
    offers = {rental.name: rental for rental in view.scenario.rentals}
    rented: dict[str, float] = defaultdict(float)
    for row in view.rows("orders"):
        if row.kind == "rental":
            offer = offers[row.site]
            begin = Quarter.parse(row.service_quarter)
            check.at_least(f"{_place(row)}, first", begin.ordinal, offer.first.ordinal)
            check.at_most(f"{_place(row)}, last", begin.ordinal, offer.last.ordinal)
            check.equal(f"{_place(row)}, price", row.price_musd_per_rack, offer.price_musd_per_rack_quarter)
            rented[row.site] += row.racks
    used: dict[tuple[str, str], float] = defaultdict(float)
    for row in view.rows("assignment"):
        if row.site in offers:
            used[row.site, row.period] += row.racks * peak(view, row.workload)
    for (name, period), racks in sorted(used.items()):
        check.at_most(say("assignment", name, period), racks, min(offers[name].max_racks, rented[name]))
    return check.result()


def check_dates(view: View) -> Check:
    """Lead and installation times are kept; the last date is the last day of the order quarter."""
    check = Checker("dates", "order + lead time = delivery; delivery + installation <= service")
    install = view.scenario.lifecycle.install_quarters
    supply = _supply(view)
    for row in view.rows("orders"):
        place = _place(row)
        ordered, delivered = Quarter.parse(row.order_quarter), Quarter.parse(row.delivery_quarter)
        if row.kind in BOUGHT:
            check.at_least(place, Quarter.parse(row.service_quarter) - delivered, install)
            source = supply.get((row.accelerator, row.delivery_quarter))
            if source is not None and row.kind == "new":
                check.equal(f"{place}, lead time", delivered - ordered, source.lead_time_quarters)
                check.at_least(f"{place}, order", ordered.ordinal, view.scenario.horizon.start.ordinal)
        check.true(place, 0.0, f"{last_day(ordered)}", holds=row.last_responsible_date == last_day(ordered))
    return check.result()


def check_purchases(view: View) -> Check:
    """Price is the supply table's, and capex is racks x price."""
    check = Checker("purchases", "capex = racks x price, at the price of the delivery")
    supply = _supply(view)
    for row in view.rows("orders"):
        place = _place(row)
        paid = 0.0 if row.kind == "rental" else row.racks * row.price_musd_per_rack
        check.equal(place, row.capex_musd, paid)
        source = supply.get((row.accelerator, row.delivery_quarter))
        if row.kind in BOUGHT and source is not None:
            check.equal(f"{place}, price", row.price_musd_per_rack, source.price_musd_per_rack)
    return check.result()


@cache
def last_day(quarter: Quarter) -> str:
    """ISO date of the last day of a quarter."""
    return f"{quarter.year}-{('03-31', '06-30', '09-30', '12-31')[quarter.number - 1]}"


def is_used(view: View, row: Supply) -> bool:
    """Whether racks of a delivery ever work: they are in service in time, and there is power at all."""
    service = row.delivery + view.scenario.lifecycle.install_quarters
    dark = all(view.available_mw(h, p) <= 0 for h in view.scenario.halls for p in view.periods)
    return not dark and first_period_from(view.scenario.horizon, service) < len(view.periods)


def _supply(view: View) -> dict[tuple[str, str], Supply]:
    return {(row.accelerator, str(row.delivery)): row for row in view.scenario.supply}


def _place(row: Any) -> str:
    return say("orders", row.hall, row.accelerator, row.service_quarter, row.kind)
