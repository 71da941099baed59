"""Carbon: emissions of energy by the scenario's method, and of making racks; a cap, a price, or both.

::

    carbon[year]   sum facility MWh x intensity[s,t] / 1000 <= cap          (operational, in kt)
    item carbon    price x (operational tonnes + embodied tonnes of racks that go into service)
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan import money
from fleetplan.inputs.scenario import Scenario
from fleetplan.planning.cash import by_site, energy_entries, energy_mwh_per_kw
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.costs import CostBook
from fleetplan.planning.form import Entries, Floats, Form
from fleetplan.planning.indices import Indices
from fleetplan.planning.power import Power
from fleetplan.planning.supply import Supply
from fleetplan.planning.work import Work


def intensity(ix: Indices) -> dict[str, Floats]:
    """Grams of CO2 equivalent per kWh by site and period (numerically kg per MWh)."""
    carbon, horizon = ix.scenario.carbon, ix.calendar.horizon
    return {
        name: carbon.intensity_g_per_kwh.get(name, 0.0)
        * np.array(money.escalation(horizon, carbon.intensity_trend_per_year.get(name, 0.0)))
        for name in sorted(ix.scenario.sites)
    }


def embodied_t_per_rack(scenario: Scenario, accelerator: str) -> float:
    """Tonnes of making one rack: as stated for the rack, else for its devices; 0 where unknown."""
    stated = scenario.carbon.embodied_t_per_rack.get(accelerator)
    if stated is not None:
        return stated
    part = scenario.accelerators[accelerator]
    return (part.embodied_kgco2e_per_device or 0.0) * (part.devices_per_rack or 1) / 1000


def add_carbon(
    form: Form, book: CostBook, ix: Indices, *, power: Power, work: Work, supply: Supply, fleet: Fleet
) -> None:
    """Add the yearly caps and note the price, where the rules ask for them."""
    rules, carbon = ix.scenario.rules, ix.scenario.carbon
    if not (rules.limit_carbon or rules.price_carbon):
        return
    drawn = energy_entries(ix, power, work)
    per_kw = {name: mwh * intensity(ix)[name] / 1000 for name, mwh in energy_mwh_per_kw(ix).items()}
    drawn["t_co2"] = drawn["kw"].to_numpy() * by_site(per_kw, drawn["site"], drawn["t"])
    if rules.limit_carbon:
        _caps(form, ix, drawn)
    if rules.price_carbon:
        price = carbon.price_usd_per_t / 1e6
        cause, detail = drawn["site"].to_numpy(), drawn["accelerator"].to_numpy()
        book.add("carbon", drawn["col"], drawn["t"], drawn["t_co2"] * price, cause=cause, detail=detail)
        _embodied(book, ix, supply, fleet, price)


def _caps(form: Form, ix: Indices, drawn: pd.DataFrame) -> None:
    caps = ix.scenario.carbon.cap_mt_per_year
    entries, years = Entries.none(), sorted(caps)
    t = drawn["t"].to_numpy(dtype=np.int64)
    for row, year in enumerate(years):
        share = np.zeros(len(ix.calendar))
        for period, part in money.window_shares(year, ix.calendar.horizon).items():
            share[period] = part
        kt = drawn["t_co2"].to_numpy() * share[t] / 1000
        used = np.flatnonzero(kt)
        entries = entries + Entries.of(np.full(len(used), row), drawn["col"].to_numpy()[used], kt[used])
    form.rows("carbon", pd.DataFrame({"year": years}), entries, upper=[caps[year] * 1000 for year in years])


def _embodied(book: CostBook, ix: Indices, supply: Supply, fleet: Fleet, price: float) -> None:
    """Embodied tonnes count when racks go into service; swapped modules as the price share of a rack."""
    scenario, table = ix.scenario, ix.deliveries.table
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    name, entry = table["accelerator"].to_numpy()[d], table["entry"].to_numpy(dtype=np.int64)[d]
    tonnes = np.array([embodied_t_per_rack(scenario, one) for one in name], dtype=float) * price
    book.add("carbon", supply.lots.cols, entry, tonnes * supply.lot, cause=name, detail="embodied")
    odd = supply.odd_of >= 0
    book.add("carbon", supply.odd.cols, entry[odd], tonnes[odd], cause=name[odd], detail="embodied")
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    chosen = np.flatnonzero((arcs["kind"] == "upgrade").to_numpy())
    target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
    part = cohorts["accelerator"].to_numpy()[target]
    full = (
        table["price"].to_numpy(dtype=float)[cohorts["landing"].to_numpy(dtype=np.int64)[target]]
        if len(target)
        else np.zeros(0)
    )
    share = cohorts["price"].to_numpy(dtype=float)[target] / full
    leaves = arcs["exit"].to_numpy(dtype=np.int64)[chosen]
    alive = ix.cohorts.alive[arcs["cohort"].to_numpy(dtype=np.int64)[chosen], leaves]
    made = np.array([embodied_t_per_rack(scenario, one) for one in part], dtype=float) * price * share * alive
    book.add("carbon", fleet.leave.cols[chosen], leaves, made, cause=part, detail="embodied")
