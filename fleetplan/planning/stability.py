"""Stability: stay close to an earlier plan.

Variables ``more[h, d]``, ``fewer[h, d]``: racks above or below the earlier plan's order.

::

    change   racks ordered[h,d] - earlier[h,d] = more[h,d] - fewer[h,d]      cost: price of change on both
    frozen   racks ordered[h,d] = earlier[h,d]       where the order is placed in a frozen quarter

A second pass takes the plan with the fewest changes among those that cost little more, and a fixed
order among equals: :func:`second_objective`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.costs import CostBook
from fleetplan.planning.form import Block, Entries, Floats, Form, lookup
from fleetplan.planning.indices import Indices
from fleetplan.planning.supply import Supply

ORDER_WEIGHT = 1e-5
"""Weight of the fixed order against one changed rack: all of them together stay below one rack."""


@dataclass(frozen=True)
class Stability:
    """Racks above and below the earlier plan; both empty without one."""

    more: Block
    fewer: Block


def add_stability(
    form: Form, book: CostBook, ix: Indices, supply: Supply, previous: pd.DataFrame | None
) -> Stability:
    """Compare orders with an earlier plan's table of orders, price changes and freeze quarters."""
    keys = supply.lots.keys
    if previous is None:
        return Stability(form.variables("more", keys.iloc[:0]), form.variables("fewer", keys.iloc[:0]))
    earlier = earlier_racks(keys, previous)
    stability = Stability(form.variables("more", keys), form.variables("fewer", keys))
    every = np.arange(len(keys))
    racks = supply.arrivals(every)
    change = Entries.of(every, stability.more.cols, -1.0) + Entries.of(every, stability.fewer.cols, 1.0)
    form.rows("change", keys, racks + change, lower=earlier, upper=earlier)
    _freeze(form, ix, supply, earlier)
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    pay = ix.deliveries.table["pay"].to_numpy(dtype=np.int64)[d]
    price = ix.scenario.rules.change_price_musd_per_rack
    for block in (stability.more, stability.fewer):
        amount = np.full(len(keys), price)
        book.add("change", block.cols, pay, amount, cause=keys["accelerator"].to_numpy(), detail=block.name)
    return stability


def earlier_racks(keys: pd.DataFrame, orders: pd.DataFrame) -> Floats:
    """Racks that an earlier plan's orders put on each hall, accelerator and delivery quarter."""
    bought = orders[orders["kind"].isin(["new", "committed", "option"])]
    on = ["hall", "accelerator", "delivery"]
    sums = bought.rename(columns={"delivery_quarter": "delivery"}).groupby(on)["racks"].sum().reset_index()
    row = lookup(sums[on], on, keys[on])
    values = np.append(sums["racks"].to_numpy(dtype=float), 0.0)
    return np.asarray(values[row])


def _freeze(form: Form, ix: Indices, supply: Supply, earlier: Floats) -> None:
    table = ix.deliveries.table
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    placed = (table["delivery"] - table["lead"]).to_numpy(dtype=np.int64)[d]
    until = int(ix.calendar.boundary[0]) + ix.scenario.rules.frozen_quarters
    frozen = np.flatnonzero((placed < until) & (ix.scenario.rules.frozen_quarters > 0))
    row = np.full(len(d), -1, dtype=np.int64)
    row[frozen] = np.arange(len(frozen))
    form.rows(
        "frozen",
        supply.lots.keys.iloc[frozen],
        supply.arrivals(row),
        lower=earlier[frozen],
        upper=earlier[frozen],
    )


def second_objective(ix: Indices, supply: Supply, fleet: Fleet, stability: Stability, count: int) -> Floats:
    """What a second pass minimises, by column: racks changed, then a fixed order of halls.

    Without an earlier plan a change is a rack that leaves before its natural end.
    """
    weights = np.zeros(count)
    if len(stability.more):
        weights[stability.more.cols] = 1.0
        weights[stability.fewer.cols] = 1.0
    else:
        changed = ix.cohorts.arcs["kind"].isin(["early", "upgrade", "moved", "role"]).to_numpy()
        weights[fleet.leave.cols[changed]] = 1.0
    rank = np.arange(len(supply.lots), dtype=float) / max(1, len(supply.lots))
    weights[supply.lots.cols] += ORDER_WEIGHT * rank * supply.lot
    return weights
