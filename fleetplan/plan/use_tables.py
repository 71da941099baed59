"""Racks by cap, assignment, work, power and energy: what the fleet does in each period."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan.plan.solved import TRACE, Solved
from fleetplan.planning.carbon import embodied_t_per_rack, intensity
from fleetplan.planning.cash import by_site, energy_entries, energy_mwh_per_kw, energy_price
from fleetplan.planning.form import mapped, numbered, records


def modes(solved: Solved) -> pd.DataFrame:
    """Racks by power cap, in training or in a role, with what each counts against its hall."""
    keys = ["site", "hall", "accelerator", "cap_w", "period"]
    parts = []
    for table in (solved.model.power.modes, solved.model.power.roles):
        racks = solved.at(table["col"])
        frame = table[["site", "hall", "accelerator", "cap_w"]].copy()
        frame["period"], frame["racks"] = solved.period(table["t"]), racks
        frame["provisioned_facility_kw_per_rack"] = table["kw"]
        parts.append(frame[racks > TRACE])
    if parts[1].empty:
        return parts[0]
    sums = pd.concat(parts).groupby(keys, as_index=False)
    return sums.agg({"racks": "sum", "provisioned_facility_kw_per_rack": "first"})


def assignment(solved: Solved) -> pd.DataFrame:
    """Racks in use and useful rate by site (or rental), option and period."""
    parts = []
    for table, place in ((solved.model.work.uses, "site"), (solved.model.rentals.uses, "rental")):
        racks = solved.at(table["col"])
        frame = pd.DataFrame(
            {
                "site": table[place],
                "accelerator": table["accelerator"],
                "workload": table["workload"],
                "option": table["option"],
                "period": solved.period(table["t"]),
                "racks": racks,
            }
        )
        scale = mapped(table["workload"], solved.ix.choices.scale)
        frame["samples_per_s"] = racks * table["rate"].to_numpy(dtype=float) * scale
        parts.append(frame[racks > 0])
    return pd.concat(parts, ignore_index=True)


def work(solved: Solved, assigned: pd.DataFrame) -> pd.DataFrame:
    """Demand and what becomes of it; the backlog is what one quarter at that rate would serve."""
    choices, calendar = solved.ix.choices, solved.ix.calendar
    names = choices.workloads
    scale = np.repeat([choices.scale[name] for name in names], len(calendar))
    frame = pd.DataFrame({"workload": np.repeat(names, len(calendar)), "period": calendar.names * len(names)})
    frame["demand_samples_per_s"] = np.concatenate([choices.demand[name] for name in names]) * scale
    served = assigned.groupby(["workload", "period"])["samples_per_s"].sum()
    keys = pd.MultiIndex.from_frame(frame[["workload", "period"]])
    frame["served_samples_per_s"] = served.reindex(keys, fill_value=0.0).to_numpy()
    frame["backlog_samples_per_s"] = solved.of(solved.model.work.backlog) * scale
    short = solved.of(solved.model.work.short) * scale
    frame["shortfall_samples_per_s"] = short
    workloads = solved.model.scenario.workloads
    price = np.repeat(
        [workloads[name].shortfall_price_usd_per_billion_samples for name in names], len(calendar)
    )
    frame["shortfall_musd"] = short * np.tile(calendar.seconds, len(names)) * price / 1e15
    return frame


def power(solved: Solved) -> pd.DataFrame:
    """Facility power by hall and period."""
    halls, calendar = solved.ix.places.halls, solved.ix.calendar
    total = len(calendar)
    table = solved.model.power.standing
    row = numbered(table["hall"], halls["hall"]) * total + table["t"].to_numpy(dtype=np.int64)
    mw = solved.at(table["col"]) * table["kw"].to_numpy(dtype=float) / 1000
    used = np.bincount(row, weights=mw, minlength=len(halls) * total)
    available = solved.ix.places.usable_mw.reshape(-1)
    frame = pd.DataFrame(
        {
            "site": np.repeat(halls["site"].to_numpy(), total),
            "hall": np.repeat(halls["hall"].to_numpy(), total),
            "period": calendar.names * len(halls),
        }
    )
    frame["available_mw"], frame["used_mw"] = available, used
    frame["headroom_mw"] = np.maximum(0.0, available - used)
    return frame


def power_by_accelerator(modes: pd.DataFrame) -> pd.DataFrame:
    """Facility power by site, accelerator and period."""
    mw = modes["racks"] * modes["provisioned_facility_kw_per_rack"] / 1000
    keys = ["site", "accelerator", "period"]
    return modes[keys].assign(used_mw=mw).groupby(keys)["used_mw"].sum().reset_index()


def energy(solved: Solved) -> pd.DataFrame:
    """Facility energy, its cost and emissions, and what making the new racks emitted."""
    ix = solved.ix
    drawn = energy_entries(ix, solved.model.power, solved.model.work)
    mwh = drawn["kw"].to_numpy(dtype=float) * by_site(energy_mwh_per_kw(ix), drawn["site"], drawn["t"])
    drawn["mwh"] = mwh * solved.at(drawn["col"])
    sums = drawn.groupby(["site", "t"])["mwh"].sum()
    sites = sorted(solved.model.scenario.sites)
    every = pd.MultiIndex.from_product([sites, range(len(ix.calendar))], names=["site", "t"])
    frame = sums.reindex(every, fill_value=0.0).rename("facility_mwh").reset_index()
    frame["period"] = solved.period(frame["t"])
    frame["price_usd_per_mwh"] = by_site(energy_price(ix), frame["site"], frame["t"])
    frame["energy_musd"] = frame["facility_mwh"] * frame["price_usd_per_mwh"] / 1e6
    grams = by_site(intensity(ix), frame["site"], frame["t"])
    frame["operational_t"] = frame["facility_mwh"] * grams / 1000
    made = _embodied(solved)
    keys = zip(frame["site"], frame["t"], strict=True)
    frame["embodied_t"] = [made.get((site, int(t)), 0.0) for site, t in keys]
    return frame.drop(columns="t")


def _embodied(solved: Solved) -> dict[tuple[str, int], float]:
    """Tonnes of making the racks that enter, by site and period; modules by their price share."""
    cohorts, deliveries = solved.cohorts, solved.ix.deliveries
    arcs = solved.ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)
    entered = np.bincount(arcs, weights=solved.leave, minlength=len(cohorts))
    made: dict[tuple[str, int], float] = {}
    for row, racks in zip(records(cohorts), entered.tolist(), strict=True):
        if row.kind not in ("new", "upgrade") or racks <= 0:
            continue
        share = 1.0
        if row.kind == "upgrade":
            share = row.price / float(deliveries.table["price"].iloc[row.landing])
        tonnes = racks * share * embodied_t_per_rack(solved.model.scenario, row.accelerator)
        made[row.site, row.entry] = made.get((row.site, row.entry), 0.0) + tonnes
    return made
