"""Cohorts: how racks enter, age and leave. The arc form.

Sets: ``c`` cohorts (hall, accelerator, vintage, way of entry), arcs ``(c, e)`` to the period ``e`` at
whose start racks leave, cells ``(h, k, t)``. Variables: ``leave[c, e, kind]`` first racks of a cohort
that take an arc, ``racks[h, k, t]`` racks alive that train, ``in_role[h, k, r, t]`` racks alive that
were handed on to a role ``r`` outside training.

::

    cohort   sum_e leave[c, e] = present racks, or arrivals, or what upgrades, moves or roles take over
    fleet    racks[h,k,t] = s_t racks[h,k,t-1] + entries_t
                            + sum_{c, e} (alive_ct [t < e] - s_t alive_c,t-1 [t-1 < e]) leave[c, e]
    roles    the same for in_role[h,k,r,t] and the cohorts in role r

``alive_ct`` is the share of a cohort that attrition leaves, ``s_t`` the survival of racks of early age
over the period before ``t``: the last sum is over arcs that end in ``t``, and over racks old enough to
fail faster. Ages that are not allowed have no arc, so minimum and maximum life need no rows, and every
cost that depends on age is a cost of an arc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.planning.calendar import quarter_names
from fleetplan.planning.form import Block, Bools, Entries, Floats, Form, Ints, lookup
from fleetplan.planning.indices import Indices
from fleetplan.planning.supply import Supply


@dataclass(frozen=True)
class Fleet:
    """Columns: ``leave`` by arc (in the order of the arc table), ``racks`` and ``in_role`` by cell."""

    leave: Block
    racks: Block
    in_role: Block


def add_cohorts(form: Form, ix: Indices, supply: Supply) -> Fleet:
    """Add arcs, racks alive, and the two families of rows that join them."""
    leave = form.variables("leave", _arc_keys(ix), integer=_whole_arcs(ix))
    cells, others = ix.cells, ix.role_cells
    keys = cells[["hall", "accelerator"]].assign(period=ix.calendar.label(cells["t"]))
    racks = form.variables("racks", keys)
    keys = others[["hall", "accelerator", "role"]].assign(period=ix.calendar.label(others["t"]))
    fleet = Fleet(leave, racks, form.variables("in_role", keys))
    _conservation(form, ix, supply, fleet)
    entries, present = _balance(ix, supply, fleet, cells, racks)
    form.rows("fleet", racks.keys, entries, lower=present, upper=present)
    entries, present = _balance(ix, supply, fleet, others, fleet.in_role)
    form.rows("roles", fleet.in_role.keys, entries, lower=present, upper=present)
    return fleet


def _whole_arcs(ix: Indices) -> Bools:
    """Which arcs take whole racks: by rule, those of racks that were bought or stood there.

    What attrition leaves of racks that are upgraded or moved is no whole number.
    """
    kind = ix.cohorts.cohorts["kind"].to_numpy()[ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)]
    return np.isin(kind, ["present", "new"]) & ix.scenario.rules.integer_retirements


def swaps_by_delivery(ix: Indices, fleet: Fleet) -> Entries:
    """Racks whose modules are upgraded, with the delivery row of the new modules."""
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    chosen = np.flatnonzero((arcs["kind"] == "upgrade").to_numpy())
    target = arcs["target"].to_numpy(dtype=np.int64)[chosen]
    delivery = cohorts["landing"].to_numpy(dtype=np.int64)[target]
    return Entries.of(delivery, fleet.leave.cols[chosen], _alive_at_exit(ix)[chosen])


def _arc_keys(ix: Indices) -> pd.DataFrame:
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    c = arcs["cohort"].to_numpy(dtype=np.int64)
    target = arcs["target"].to_numpy(dtype=np.int64)
    return pd.DataFrame(
        {
            "hall": cohorts["hall"].to_numpy()[c],
            "accelerator": cohorts["accelerator"].to_numpy()[c],
            "vintage": quarter_names(cohorts["vintage"].to_numpy()[c]),
            "cohort": c,
            "exit": ix.calendar.label(arcs["exit"]),
            "kind": arcs["kind"].to_numpy(),
            "target": target,
        }
    )


def _conservation(form: Form, ix: Indices, supply: Supply, fleet: Fleet) -> None:
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    keys = pd.DataFrame(
        {
            "hall": cohorts["hall"],
            "accelerator": cohorts["accelerator"],
            "vintage": quarter_names(cohorts["vintage"]),
            "cohort": np.arange(len(cohorts)),
        }
    )
    out = Entries.of(arcs["cohort"], fleet.leave.cols, 1.0)
    inflow = _inflow(ix, supply, fleet, np.arange(len(cohorts)), -1.0)
    present = cohorts["racks"].to_numpy(dtype=float)
    form.rows("cohort", keys, out + inflow, lower=present, upper=present)


def _inflow(ix: Indices, supply: Supply, fleet: Fleet, row: Ints, sign: float) -> Entries:
    """What enters each cohort by deliveries and from others, in the row given for the cohort."""
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    new = np.flatnonzero((cohorts["kind"] == "new").to_numpy())
    row_of_landing = np.full(len(ix.deliveries.landings), -1)
    row_of_landing[cohorts["landing"].to_numpy(dtype=np.int64)[new]] = row[new]
    target = arcs["target"].to_numpy(dtype=np.int64)
    led = np.flatnonzero(target >= 0)
    handed_on = Entries.of(row[target[led]], fleet.leave.cols[led], sign * _alive_at_exit(ix)[led])
    return supply.arrivals(row_of_landing, sign) + handed_on


def _alive_at_exit(ix: Indices) -> Floats:
    arcs = ix.cohorts.arcs
    return ix.cohorts.alive[arcs["cohort"], arcs["exit"]]


def _balance(
    ix: Indices, supply: Supply, fleet: Fleet, cells: pd.DataFrame, racks: Block
) -> tuple[Entries, Floats]:
    """Entries and right side of the balance of some cells, whose racks alive are ``racks``."""
    count = len(cells)
    t = cells["t"].to_numpy(dtype=np.int64)
    step = _early_survival(ix)
    own = Entries.of(np.arange(count), racks.cols, 1.0)
    place = cells[["hall", "accelerator", "role"]]
    later = np.flatnonzero((place == place.shift()).all(axis=1).to_numpy(dtype=bool))
    before = Entries.of(later, racks.cols[later - 1], -step[t[later]])
    cohorts = ix.cohorts.cohorts
    entry = cohorts["entry"].to_numpy(dtype=np.int64)
    entry_row = _cell_rows(ix, cells, np.arange(len(cohorts)), entry)
    inflow = _inflow(ix, supply, fleet, entry_row, -1.0)
    known = entry_row >= 0
    stood = cohorts["racks"].to_numpy(dtype=float)
    present: Floats = np.bincount(entry_row[known], weights=stood[known], minlength=count).astype(float)
    entries = own + before + inflow + _arc_steps(ix, fleet, cells, step)
    kept = entries.row >= 0
    return Entries.of(entries.row[kept], entries.col[kept], entries.value[kept]), present


def _early_survival(ix: Indices) -> Floats:
    """Survival of racks of early age over the period before each period."""
    per_quarter = (1 - ix.scenario.lifecycle.attrition_per_year) ** 0.25
    return np.concatenate([[1.0], per_quarter ** ix.calendar.quarters.astype(float)])


def _arc_steps(ix: Indices, fleet: Fleet, cells: pd.DataFrame, step: Floats) -> Entries:
    """What each arc changes in the balance, apart from its entry, with the sign of the left side."""
    arcs, cohorts, alive = ix.cohorts.arcs, ix.cohorts.cohorts, ix.cohorts.alive
    total = len(ix.calendar)
    c = arcs["cohort"].to_numpy(dtype=np.int64)
    leaves = arcs["exit"].to_numpy(dtype=np.int64)
    entry = cohorts["entry"].to_numpy(dtype=np.int64)[c]
    t = np.arange(total)
    stands = alive[c, :total] * (t[None, :] < leaves[:, None])
    stood = np.hstack([np.zeros((len(c), 1)), stands[:, :-1]])
    change = stands - step[None, :total] * stood
    change[np.arange(len(c))[entry < total], entry[entry < total]] -= 1.0
    arc, period = np.nonzero(np.abs(change) > 1e-12)
    row = _cell_rows(ix, cells, c[arc], period)
    return Entries.of(row, fleet.leave.cols[arc], -change[arc, period])


def _cell_rows(ix: Indices, cells: pd.DataFrame, cohort: Ints, t: Ints) -> Ints:
    """Row of the cell of each cohort in each period; -1 outside."""
    cohorts = ix.cohorts.cohorts
    wanted = pd.DataFrame(
        {
            "hall": cohorts["hall"].to_numpy()[cohort],
            "accelerator": cohorts["accelerator"].to_numpy()[cohort],
            "role": np.asarray(ix.cohorts.role, dtype=object)[cohort],
            "t": t,
        }
    )
    return lookup(cells, ["hall", "accelerator", "role", "t"], wanted)
