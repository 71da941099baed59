"""Orders: what lands where, split into commitments, options, new orders, upgrades and rentals."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.periods import Quarter
from fleetplan.plan.solved import TRACE, Solved
from fleetplan.planning.calendar import quarter_name
from fleetplan.planning.form import records

if TYPE_CHECKING:
    from fleetplan.planning.form import Floats

COLUMNS = ["accelerator", "site", "hall", "service", "kind", "ordered", "delivery", "lots", "racks", "price"]


def orders(solved: Solved) -> pd.DataFrame:
    """Every order of the plan; see :data:`fleetplan.plan.schema.ORDERS`."""
    parts = [_bought(solved), _upgrades(solved), _rented(solved)]
    rows = pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)
    named = pd.DataFrame({"accelerator": rows["accelerator"], "site": rows["site"], "hall": rows["hall"]})
    for column, source in (
        ("service_quarter", "service"),
        ("order_quarter", "ordered"),
        ("delivery_quarter", "delivery"),
    ):
        named[column] = [quarter_name(q) for q in rows[source].tolist()]
    named["kind"] = rows["kind"]
    named["last_responsible_date"] = [last_day(q) for q in rows["ordered"].tolist()]
    named["lots"], named["racks"] = rows["lots"], rows["racks"]
    named["price_musd_per_rack"] = rows["price"]
    named["capex_musd"] = np.where(rows["kind"] == "rental", 0.0, rows["racks"] * rows["price"])
    return named


def last_day(ordinal: int) -> str:
    """ISO date of the last day of a quarter."""
    following = Quarter.from_ordinal(int(ordinal) + 1)
    return (date(following.year, 3 * following.number - 2, 1) - timedelta(days=1)).isoformat()


def committed_share(solved: Solved) -> Floats:
    """Share of the lots of each landing that were committed before the plan."""
    lots = solved.of(solved.model.supply.lots)
    split = _lots_by_kind(solved)["committed"]
    return np.divide(split, lots, out=np.zeros_like(lots), where=lots > 0)


def _lots_by_kind(solved: Solved) -> dict[str, Floats]:
    """Lots of each landing by kind: commitments first, then options, then new orders, hall by hall."""
    table, landings = solved.ix.deliveries.table, solved.ix.deliveries.landings
    d = landings["delivery"].to_numpy(dtype=np.int64)
    lots = solved.of(solved.model.supply.lots)
    split = {kind: np.zeros(len(lots)) for kind in ("committed", "option", "new")}
    for delivery, row in enumerate(records(table)):
        room = {"committed": float(row.least_lots), "option": float(row.options // row.lot), "new": np.inf}
        for i in np.flatnonzero(d == delivery).tolist():
            left = float(lots[i])
            for kind in ("committed", "option", "new"):
                taken = min(left, room[kind])
                split[kind][i] += taken
                room[kind] -= taken
                left -= taken
    return split


def _bought(solved: Solved) -> pd.DataFrame:
    supply, landings = solved.model.supply, solved.ix.deliveries.landings
    table = solved.ix.deliveries.table
    odd = solved.of(supply.odd)
    odd_by_landing = np.where(supply.odd_of >= 0, odd[supply.odd_of] if len(odd) else 0.0, 0.0)
    parts = []
    for kind, lots in _lots_by_kind(solved).items():
        d = landings["delivery"].to_numpy(dtype=np.int64)
        frame = table.iloc[d].reset_index(drop=True)[["accelerator", "service", "delivery", "lead", "price"]]
        racks = lots * supply.lot + (odd_by_landing if kind == "committed" else 0.0)
        frame["hall"], frame["kind"] = landings["hall"].to_numpy(), kind
        frame["site"] = [solved.model.scenario.halls[hall].site for hall in landings["hall"]]
        frame["ordered"] = _ordered(solved, frame, kind)
        frame["racks"], frame["lots"] = racks, racks / supply.lot
        parts.append(frame.loc[racks > TRACE, COLUMNS])
    return pd.concat(parts, ignore_index=True)


def _ordered(solved: Solved, frame: pd.DataFrame, kind: str) -> pd.Series:
    """Last quarter to order in; an option can be taken up now even where a new order is too late."""
    quarter = frame["delivery"] - frame["lead"]
    return quarter.clip(lower=int(solved.ix.calendar.boundary[0])) if kind == "option" else quarter


def _upgrades(solved: Solved) -> pd.DataFrame:
    """Module swaps, by hall and new part; the price is the mean over the parts swapped out."""
    arcs, cohorts = solved.ix.cohorts.arcs, solved.cohorts
    chosen = np.flatnonzero((arcs["kind"] == "upgrade").to_numpy())
    taken = solved.model.arc_money.leaving[chosen] * solved.leave[chosen]
    target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
    racks = np.bincount(target, weights=taken, minlength=len(cohorts))
    made = cohorts[racks > TRACE]
    delivery = solved.ix.deliveries.table.iloc[made["landing"].to_numpy(dtype=np.int64)]
    frame = made[["accelerator", "site", "hall", "price"]].copy()
    frame["service"], frame["kind"] = delivery["service"].to_numpy(), "upgrade"
    frame["delivery"] = delivery["delivery"].to_numpy()
    frame["ordered"] = (delivery["delivery"] - delivery["lead"]).to_numpy()
    frame["racks"] = racks[racks > TRACE]
    frame["lots"] = frame["racks"] / delivery["lot"].to_numpy()
    frame["spent"] = frame["racks"] * frame["price"]
    keys = ["accelerator", "site", "hall", "service", "kind", "ordered", "delivery"]
    sums = frame.groupby(keys)[["lots", "racks", "spent"]].sum().reset_index()
    return sums.assign(price=sums["spent"] / sums["racks"])[COLUMNS]


def _rented(solved: Solved) -> pd.DataFrame:
    """Rented racks by the quarter in which they start."""
    arcs = solved.model.rentals.arcs
    racks = solved.at(arcs["col"])
    begin = solved.ix.calendar.boundary[arcs["start"].to_numpy(dtype=np.int64)]
    rentals = {rental.name: rental for rental in solved.model.scenario.rentals}
    frame = pd.DataFrame({"site": arcs["rental"], "service": begin, "racks": racks, "price": arcs["price"]})
    frame = frame[frame["racks"] > TRACE].groupby(["site", "service", "price"])["racks"].sum().reset_index()
    frame["accelerator"] = [rentals[name].accelerator for name in frame["site"]]
    frame["hall"], frame["kind"] = "", "rental"
    frame["delivery"] = frame["service"]
    lead = np.array([rentals[name].lead_time_quarters for name in frame["site"]], dtype=np.int64)
    frame["ordered"] = frame["service"] - lead
    frame["lots"] = frame["racks"]
    return frame[COLUMNS]
