"""Stability: stay close to an earlier plan.

Compared are racks ordered by hall and delivery, modules ordered in the same way, and racks that leave
training because a planner wants it (early retirement, move, hand-over to a role) by hall, type, vintage
and period. Variables ``more``, ``fewer`` (orders), ``more_swaps``, ``fewer_swaps``, ``more_exits``,
``fewer_exits``: racks above and below the earlier plan.

::

    change, change_swaps, change_exits    racks - earlier = more - fewer      cost: price of change on both
    frozen, frozen_swaps                  racks ordered = earlier     where the order is placed in a frozen quarter
    frozen_exits                          racks that leave = earlier  where they leave in a frozen quarter

Present racks are held to leave only as far as they stand there. A second pass takes the plan with the
fewest changes among those that cost little more, and a fixed order among equals: :func:`second_objective`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fleetplan.planning.calendar import quarter_names
from fleetplan.planning.cohorts import Fleet, swaps_by_delivery
from fleetplan.planning.costs import CostBook
from fleetplan.planning.earlier import EXITS, Earlier
from fleetplan.planning.form import Bools, Entries, Floats, Form, Ints, lookup
from fleetplan.planning.indices import Indices
from fleetplan.planning.supply import Supply

ORDER_WEIGHT = 1e-5
"""Weight of the fixed order against one changed rack: all of them together stay below one rack."""


@dataclass(frozen=True)
class Stability:
    """Columns of racks above and below the earlier plan; ``exits`` says whether racks that leave count."""

    changes: Ints
    exits: bool


@dataclass(frozen=True)
class _Compared:
    """What is held against the earlier plan: one row for each key."""

    keys: pd.DataFrame
    racks: Entries
    earlier: Floats
    frozen: Bools
    period: Ints
    """In which a change is paid for."""


def add_stability(
    form: Form, book: CostBook, ix: Indices, *, supply: Supply, fleet: Fleet, earlier: Earlier | None
) -> Stability:
    """Compare with an earlier plan, price changes, and hold what is frozen."""
    if earlier is None:
        return Stability(np.zeros(0, dtype=np.int64), exits=False)
    orders, swaps = _orders(ix, supply, earlier), _swaps(ix, fleet, earlier)
    changed, cols = _changes(form, book, ix, orders, "")
    form.rows("change", **changed)
    form.rows("frozen", **_frozen(orders))
    changed, more = _changes(form, book, ix, swaps, "_swaps")
    form.rows("change_swaps", **changed)
    form.rows("frozen_swaps", **_frozen(swaps))
    cols = np.concatenate([cols, more])
    if earlier.exits is None:
        return Stability(cols, exits=False)
    exits = _exits(ix, fleet, earlier)
    form.rows("frozen_exits", **_frozen(exits))
    if ix.scenario.rules.change_price_musd_per_rack or ix.scenario.rules.tie_break_tolerance:
        changed, more = _changes(form, book, ix, exits, "_exits")
        form.rows("change_exits", **changed)
        cols = np.concatenate([cols, more])
    return Stability(cols, exits=True)


def _changes(
    form: Form, book: CostBook, ix: Indices, what: _Compared, suffix: str
) -> tuple[dict[str, Any], Ints]:
    """The rows that split racks into the earlier plan's and what is above and below, and these columns."""
    every = np.arange(len(what.keys))
    more, fewer = (form.variables(f"{name}{suffix}", what.keys) for name in ("more", "fewer"))
    amount = np.full(len(every), ix.scenario.rules.change_price_musd_per_rack)
    for block in (more, fewer):
        cause = what.keys["accelerator"].to_numpy()
        book.add("change", block.cols, what.period, amount, cause=cause, detail=block.name.replace("_", ", "))
    apart = Entries.of(every, more.cols, -1.0) + Entries.of(every, fewer.cols, 1.0)
    rows = {"keys": what.keys, "entries": what.racks + apart, "lower": what.earlier, "upper": what.earlier}
    return rows, np.concatenate([more.cols, fewer.cols])


def _frozen(what: _Compared) -> dict[str, Any]:
    """The rows that hold racks at the earlier plan's, where they are frozen."""
    held = np.flatnonzero(what.frozen)
    number = np.full(len(what.keys), -1, dtype=np.int64)
    number[held] = np.arange(len(held))
    row = number[what.racks.row]
    entries = Entries.of(row[row >= 0], what.racks.col[row >= 0], what.racks.value[row >= 0])
    racks = what.earlier[held]
    return {"keys": what.keys.iloc[held], "entries": entries, "lower": racks, "upper": racks}


def _frozen_until(ix: Indices) -> int:
    """First quarter that is not frozen."""
    return int(ix.calendar.boundary[0]) + ix.scenario.rules.frozen_quarters


def _placed_early(ix: Indices, delivery: Ints) -> Bools:
    """Whether the order of a delivery is placed in a frozen quarter."""
    table = ix.deliveries.table
    placed = (table["delivery"] - table["lead"]).to_numpy(dtype=np.int64)[delivery]
    return np.asarray((placed < _frozen_until(ix)) & (ix.scenario.rules.frozen_quarters > 0))


def _orders(ix: Indices, supply: Supply, earlier: Earlier) -> _Compared:
    keys = supply.lots.keys
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    pay = ix.deliveries.table["pay"].to_numpy(dtype=np.int64)[d]
    racks = supply.arrivals(np.arange(len(keys)))
    return _Compared(keys, racks, earlier.racks_bought(keys), _placed_early(ix, d), pay)


def _swaps(ix: Indices, fleet: Fleet, earlier: Earlier) -> _Compared:
    """Module swaps by hall, new part and delivery."""
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    swaps = swaps_by_delivery(ix, fleet)
    target = arcs["target"].to_numpy(dtype=np.int64)[(arcs["kind"] == "upgrade").to_numpy()]
    cells = pd.DataFrame({"hall": cohorts["hall"].to_numpy()[target], "d": swaps.row})
    keys = cells.drop_duplicates().sort_values(["hall", "d"], ignore_index=True)
    d, table = keys["d"].to_numpy(dtype=np.int64), ix.deliveries.table
    racks = Entries.of(lookup(keys, ["hall", "d"], cells), swaps.col, swaps.value)
    keys = keys[["hall"]].assign(
        accelerator=table["accelerator"].to_numpy()[d],
        delivery=quarter_names(table["delivery"].to_numpy()[d]),
    )
    pay = table["pay"].to_numpy(dtype=np.int64)[d]
    return _Compared(keys, racks, earlier.racks_swapped(keys), _placed_early(ix, d), pay)


def _exits(ix: Indices, fleet: Fleet, earlier: Earlier) -> _Compared:
    """Racks that leave training by will, by hall, type, vintage, way and period."""
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    number = np.flatnonzero(arcs["kind"].isin(EXITS).to_numpy())
    c, t = (arcs[name].to_numpy(dtype=np.int64)[number] for name in ("cohort", "exit"))
    taken = cohorts[["hall", "accelerator"]].iloc[c].reset_index(drop=True)
    taken["vintage"] = quarter_names(cohorts["vintage"].to_numpy()[c])
    taken["kind"], taken["t"] = arcs["kind"].to_numpy()[number], t
    on = [*taken.columns]
    groups = taken.drop_duplicates().sort_values(on, ignore_index=True)
    alive = ix.cohorts.alive[c, t]
    racks = Entries.of(lookup(groups, on, taken), fleet.leave.cols[number], alive)
    left = _standing(ix, groups, earlier.racks_left(groups, ix.calendar))
    period = groups["t"].to_numpy(dtype=np.int64)
    keys = groups.drop(columns="t").assign(period=ix.calendar.label(period))
    return _Compared(keys, racks, left, ix.calendar.boundary[period] < _frozen_until(ix), period)


def _standing(ix: Indices, groups: pd.DataFrame, left: Floats) -> Floats:
    """No more of the present racks than stand there: they may be fewer than when the plan was made."""
    alive = _present(ix)
    possible, t = left.copy(), groups["t"].to_numpy(dtype=np.int64)
    order = np.argsort(t, kind="stable")
    for i in order[left[order] > 0].tolist():
        key = tuple(groups[["hall", "accelerator", "vintage"]].iloc[i])
        if key in alive:
            stands = alive[key][t[i]]
            possible[i] = min(left[i], float(stands))
            alive[key] = alive[key] * (1 - possible[i] / stands) if stands > 0 else alive[key]
    return possible


def _present(ix: Indices) -> dict[tuple[str, ...], Floats]:
    """Present racks that attrition leaves, by hall, type and vintage, where no others are of that vintage."""
    cohorts, alive = ix.cohorts.cohorts, ix.cohorts.alive
    names = (cohorts["hall"], cohorts["accelerator"], quarter_names(cohorts["vintage"]))
    keys = list(zip(*names, strict=True))
    kinds, racks = cohorts["kind"].tolist(), cohorts["racks"].to_numpy(dtype=float)
    found: dict[tuple[str, ...], Floats] = {}
    for row in np.flatnonzero(racks).tolist():
        found[keys[row]] = found.get(keys[row], 0.0) + racks[row] * alive[row]
    for key, kind in zip(keys, kinds, strict=True):
        if kind == "new":
            found.pop(key, None)
    return found


def second_objective(ix: Indices, supply: Supply, fleet: Fleet, stability: Stability, count: int) -> Floats:
    """What a second pass minimises, by column: racks changed, then a fixed order of halls.

    Where no earlier plan says which racks leave, a change is a rack that leaves before its natural end.
    """
    weights = np.zeros(count)
    weights[stability.changes] = 1.0
    if not len(stability.changes):
        changed = ix.cohorts.arcs["kind"].isin([*EXITS, "upgrade"]).to_numpy()
        weights[fleet.leave.cols[changed]] = 1.0
    rank = np.arange(len(supply.lots), dtype=float) / max(1, len(supply.lots))
    weights[supply.lots.cols] += ORDER_WEIGHT * rank * supply.lot
    return weights
