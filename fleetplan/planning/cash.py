"""Cash: what every decision costs and brings, and when. All amounts are nominal M USD.

============  =========================================================  ==========================
item          amount per unit                                            paid in
============  =========================================================  ==========================
capex         price x lot (racks that are delivered), price share (swaps)  delivery, swap
deployment    deployment share x price                                   delivery
move          move share x price                                         move
energy        facility kW x hours x (annual / peak PUE) x price           period
contract      MW billed and not used x hours x price                      period
operation     facility MW x rate x years x inflation                      period
maintenance   share(age) x price x years x racks alive                    period
rental        price per rack-quarter x quarters                           period, and at the end
role          - value x quarters at work x racks in the role              period
hand-over     cost share x price x racks handed on to a role              hand-over
take-or-pay   share x price of what is declined                           delivery
shortfall     price x samples                                             period
change        price of change x racks changed                             delivery
resale        - resale share(age) x price x racks that leave              exit
decommission  share x price x racks that leave                            exit
end value     - value share(age) x price x racks alive                    end of the horizon
carbon        price x tonnes                                              period, service
tax           rate x (resale + end value - costs - tax depreciation)      with its cause
============  =========================================================  ==========================

Racks in use draw their option's average power; all others draw idle power. Book depreciation and
write-offs are not cash and appear here only through tax.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan import money
from fleetplan.planning.arc_money import Amounts, ArcMoney
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.costs import CostBook
from fleetplan.planning.form import Block, Bools, Entries, Floats, Form, mapped, numbered, records
from fleetplan.planning.indices import Indices
from fleetplan.planning.power import Power
from fleetplan.planning.rentals import Rentals, rented_periods
from fleetplan.planning.supply import Supply
from fleetplan.planning.work import Work, short_price


def add_cash(
    book: CostBook,
    ix: Indices,
    *,
    supply: Supply,
    fleet: Fleet,
    power: Power,
    work: Work,
    rentals: Rentals,
    arc_money: ArcMoney,
) -> None:
    """Note every cash item; roles, carbon, tax and change are noted by their own families."""
    _purchases(book, ix, supply)
    _swaps_and_moves(book, ix, fleet)
    _energy(book, ix, power, work)
    _contract(book, ix, power)
    _operation(book, ix, power)
    _rent(book, ix, rentals)
    _shortfall(book, ix, work)
    for item, amounts in arc_money.items.items():
        add_arc_item(book, ix, fleet, item, amounts)


def add_arc_item(book: CostBook, ix: Indices, fleet: Fleet, item: str, amounts: Amounts) -> None:
    """Note an amount of arcs, caused by the accelerator, in detail by hall."""
    cohorts = ix.cohorts.cohorts
    c = ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)[amounts.arc]
    name, hall = cohorts["accelerator"].to_numpy()[c], cohorts["hall"].to_numpy()[c]
    book.add(item, fleet.leave.cols[amounts.arc], amounts.period, amounts.amount, cause=name, detail=hall)


def _purchases(book: CostBook, ix: Indices, supply: Supply) -> None:
    landings, table = ix.deliveries.landings, ix.deliveries.table
    d = landings["delivery"].to_numpy(dtype=np.int64)
    name, price = table["accelerator"].to_numpy()[d], table["price"].to_numpy(dtype=float)[d]
    pay = table["pay"].to_numpy(dtype=np.int64)[d]
    hall = landings["hall"].to_numpy()
    share = ix.scenario.finance.deploy_cost_share
    with_odd = supply.odd_of >= 0
    for item, factor in (("capex", 1.0), ("deployment", share)):
        cost = price * factor
        book.add(item, supply.lots.cols, pay, cost * supply.lot, cause=name, detail=hall)
        book.add(
            item, supply.odd.cols, pay[with_odd], cost[with_odd], cause=name[with_odd], detail=hall[with_odd]
        )
    taken = supply.declined_of >= 0
    each = (table["take_or_pay"] * table["price"] * table["lot"]).to_numpy(dtype=float)[taken]
    names = table["accelerator"].to_numpy()[taken]
    book.add("take-or-pay", supply.declined.cols, table["pay"].to_numpy()[taken], each, cause=names)


def idle_commitments(book: CostBook, ix: Indices, column: int) -> None:
    """Commitments that never work in the horizon: paid, and worth their end value; nothing decides it."""
    finance = ix.scenario.finance
    for row in records(ix.deliveries.idle):
        paid = row.price * row.committed
        label = {"cause": row.accelerator, "detail": "not in service"}
        book.add("capex", [column], [row.pay], [paid], **label)
        worth = 0.0 if finance.end_value_rule == "none" else paid
        book.add("end value", [column], [len(ix.calendar)], [-worth], **label)


def _swaps_and_moves(book: CostBook, ix: Indices, fleet: Fleet) -> None:
    arcs, cohorts, finance = ix.cohorts.arcs, ix.cohorts.cohorts, ix.scenario.finance
    alive = ix.cohorts.alive[arcs["cohort"], arcs["exit"]]
    for kind, item in (("upgrade", "capex"), ("moved", "move")):
        chosen = np.flatnonzero((arcs["kind"] == kind).to_numpy())
        target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
        price = cohorts["price"].to_numpy(dtype=float)[target]
        share = finance.move_cost_share if kind == "moved" else 1.0
        exits = arcs["exit"].to_numpy(dtype=np.int64)[chosen]
        if kind == "upgrade":
            delivery = cohorts["landing"].to_numpy(dtype=np.int64)[target]
            exits = ix.deliveries.table["pay"].to_numpy(dtype=np.int64)[delivery]
        cause, hall = cohorts["accelerator"].to_numpy()[target], cohorts["hall"].to_numpy()[target]
        amount = price * share * alive[chosen]
        book.add(item, fleet.leave.cols[chosen], exits, amount, cause=cause, detail=hall)


def energy_mwh_per_kw(ix: Indices) -> dict[str, Floats]:
    """Facility MWh that one facility kW (at peak PUE) takes by site and period."""
    return {
        name: ix.calendar.hours / 1000 * site.pue_annual / site.pue_peak
        for name, site in sorted(ix.scenario.sites.items())
    }


def energy_price(ix: Indices) -> dict[str, Floats]:
    """USD per MWh by site and period."""
    horizon = ix.calendar.horizon
    return {
        name: site.energy_price_usd_per_mwh
        * np.array(money.escalation(horizon, site.energy_price_escalation_per_year))
        for name, site in sorted(ix.scenario.sites.items())
    }


def energy_entries(ix: Indices, power: Power, work: Work) -> pd.DataFrame:
    """Facility kW by column: idle power of racks that train, what use adds, and what racks in roles draw.

    Columns: site, accelerator, t, col, kw.
    """
    idle = power.modes[["site", "accelerator", "t", "col"]].copy()
    idle["kw"] = mapped(idle["accelerator"], ix.choices.idle_kw)
    use = work.uses[["site", "accelerator", "t", "col"]].copy()
    extra = work.uses["average_kw"] - mapped(work.uses["accelerator"], ix.choices.idle_kw)
    use["kw"] = extra.to_numpy(dtype=float)
    if power.roles.empty:
        return pd.concat([idle, use], ignore_index=True)
    roles = power.roles[["site", "accelerator", "t", "col"]].assign(kw=power.roles["average_kw"])
    return pd.concat([idle, use, roles], ignore_index=True)


def by_site(values: dict[str, Floats], sites: pd.Series, t: pd.Series) -> Floats:
    """Pick each row's value from arrays by site and period."""
    names = sorted(values)
    table = np.array([values[name] for name in names])
    return np.asarray(table[numbered(sites, names), t.to_numpy(dtype=np.int64)])


def _energy(book: CostBook, ix: Indices, power: Power, work: Work) -> None:
    drawn = energy_entries(ix, power, work)
    cost = {name: mwh * energy_price(ix)[name] / 1e6 for name, mwh in energy_mwh_per_kw(ix).items()}
    amount = drawn["kw"].to_numpy() * by_site(cost, drawn["site"], drawn["t"])
    book.add(
        "energy",
        drawn["col"],
        drawn["t"],
        amount,
        cause=drawn["site"].to_numpy(),
        detail=drawn["accelerator"].to_numpy(),
    )


def _contract(book: CostBook, ix: Indices, power: Power) -> None:
    keys = power.take_keys
    if keys.empty:
        return
    t = keys["t"].to_numpy(dtype=np.int64)
    price = by_site(energy_price(ix), keys["site"], keys["t"])
    book.add(
        "contract", power.take.cols, t, price * ix.calendar.hours[t] / 1e6, cause=keys["site"].to_numpy()
    )


def _operation(book: CostBook, ix: Indices, power: Power) -> None:
    modes, finance = power.standing, ix.scenario.finance
    t = modes["t"].to_numpy(dtype=np.int64)
    rate = finance.opex_musd_per_facility_mw_year * ix.calendar.years * ix.calendar.inflation
    amount = modes["kw"].to_numpy() / 1000 * rate[t]
    book.add(
        "operation",
        modes["col"],
        t,
        amount,
        cause=modes["site"].to_numpy(),
        detail=modes["accelerator"].to_numpy(),
    )


def _rent(book: CostBook, ix: Indices, rentals: Rentals) -> None:
    spans = rented_periods(rentals)
    t = spans["t"].to_numpy(dtype=np.int64)
    amount = spans["price"].to_numpy(dtype=float) * ix.calendar.quarters[t]
    book.add("rental", spans["col"], t, amount, cause=spans["rental"].to_numpy())
    rest = rentals.arcs[rentals.arcs["rest"] > 0]
    due = (rest["price"] * rest["rest"]).to_numpy(dtype=float)
    end = np.full(len(rest), len(ix.calendar))
    book.add("rental", rest["col"], end, due, cause=rest["rental"].to_numpy(), detail="commitment left")


def _shortfall(book: CostBook, ix: Indices, work: Work) -> None:
    total = len(ix.calendar)
    for w, name in enumerate(ix.choices.workloads):
        amount = short_price(ix, name)
        cols = work.short.cols[w * total : (w + 1) * total]
        book.add("shortfall", cols, np.arange(total), amount, cause=name)


def add_budgets(form: Form, ix: Indices, supply: Supply, fleet: Fleet) -> None:
    """Limit purchases (racks and modules, at delivery) in each window: ``sum price x racks <= budget``."""
    finance = ix.scenario.finance
    if not ix.scenario.rules.limit_capex:
        return
    windows = sorted(finance.capex_budget_musd)
    entries, kept = Entries.none(), list[str]()
    table, landings = ix.deliveries.table, ix.deliveries.landings
    d = landings["delivery"].to_numpy(dtype=np.int64)
    price = table["price"].to_numpy(dtype=float)
    start = int(ix.calendar.boundary[0])
    for window in windows:
        covered = np.array(money.window_quarters(window, ix.calendar.horizon), dtype=np.int64) + start
        if not len(covered):
            continue
        inside = np.isin(table["delivery"].to_numpy(dtype=np.int64), covered)
        entries = entries + supply.arrivals(np.where(inside[d], len(kept), -1), price[d])
        entries = entries + _modules(ix, fleet, inside, len(kept))
        kept.append(window)
    limits = [finance.capex_budget_musd[window] for window in kept]
    form.rows("budget", pd.DataFrame({"window": kept}), entries, upper=limits)


def _modules(ix: Indices, fleet: Fleet, inside: Bools, row: int) -> Entries:
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    chosen = np.flatnonzero((arcs["kind"] == "upgrade").to_numpy())
    target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
    chosen = chosen[inside[cohorts["landing"].to_numpy(dtype=np.int64)[target]]] if len(chosen) else chosen
    target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
    alive = ix.cohorts.alive[arcs["cohort"].to_numpy()[chosen], arcs["exit"].to_numpy()[chosen]]
    price = cohorts["price"].to_numpy(dtype=float)[target]
    return Entries.of(np.full(len(chosen), row), fleet.leave.cols[chosen], price * alive)


def constant_column(form: Form, ix: Indices) -> Block:
    """A column held at 1 that carries what no decision changes; none where there is no such cost."""
    keys = pd.DataFrame({"what": ["commitments not in service"]})
    return form.variables("sunk", keys if len(ix.deliveries.idle) else keys.iloc[:0], lower=1.0, upper=1.0)
