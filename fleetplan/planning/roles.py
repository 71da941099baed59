"""Roles outside training: racks handed on where they stand, once in their life.

Sets: roles ``r``, cohorts ``c`` in them (hall, type, vintage, period of the hand-over), their arcs ``(c, e)``.
The hand-over is an arc of the cohort that trained (:mod:`.cohort_table`).

::

    role_limit   sum_{h, k} in_role[h,k,r,t] <= racks that the role needs        while it needs them
    item role          - value x quarters at work in t x alive_ct leave[c,e]     for t < e
    item hand-over       cost share x price x racks handed on

A rack is at work from the end of its down time to the role's last quarter. All along it keeps its
hall's megawatts and draws power; ages, upkeep, books and resale go on as if it still trained.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan.inputs.scenario import Role
from fleetplan.lifecycle import role_quarters
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.costs import CostBook
from fleetplan.planning.form import Entries, Floats, Form, Ints, lookup, mapped
from fleetplan.planning.indices import Indices


def add_roles(form: Form, book: CostBook, ix: Indices, fleet: Fleet) -> None:
    """Limit each role to the racks that it needs, and note hand-overs and what they bring."""
    if ix.role_cells.empty:
        return
    _limits(form, ix, fleet, _roles(ix))
    _hand_overs(book, ix, fleet)
    _values(book, ix, fleet)


def _roles(ix: Indices) -> list[Role]:
    return sorted(ix.scenario.roles, key=lambda role: role.name)


def _limits(form: Form, ix: Indices, fleet: Fleet, roles: list[Role]) -> None:
    """One row for each role and period that starts while it needs racks."""
    starts = ix.calendar.boundary[:-1].tolist()
    needed = [(role, t) for role in roles for t, start in enumerate(starts) if start <= role.last.ordinal]
    rows = pd.DataFrame([(role.name, t) for role, t in needed], columns=["role", "t"])
    row = lookup(rows, ["role", "t"], ix.role_cells)
    entries = Entries.of(row[row >= 0], fleet.in_role.cols[row >= 0], 1.0)
    keys = rows[["role"]].assign(period=ix.calendar.label(rows["t"]))
    form.rows("role_limit", keys, entries, upper=[float(role.max_racks) for role, _ in needed])


def _hand_overs(book: CostBook, ix: Indices, fleet: Fleet) -> None:
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    chosen = np.flatnonzero((arcs["kind"] == "role").to_numpy())
    c, leaves, target = (arcs[n].to_numpy(dtype=np.int64)[chosen] for n in ("cohort", "exit", "target"))
    share = mapped(
        cohorts["source"].iloc[target], {role.name: role.cost_share_of_price for role in _roles(ix)}
    )
    price = cohorts["price"].to_numpy(dtype=float)[c]
    amount = share * price * ix.cohorts.alive[c, leaves]
    name, hall = cohorts["accelerator"].to_numpy()[c], cohorts["hall"].to_numpy()[c]
    book.add("hand-over", fleet.leave.cols[chosen], leaves, amount, cause=name, detail=hall)


def _values(book: CostBook, ix: Indices, fleet: Fleet) -> None:
    arcs, cohorts = ix.cohorts.arcs, ix.cohorts.cohorts
    c = arcs["cohort"].to_numpy(dtype=np.int64)
    chosen = np.flatnonzero((cohorts["kind"] == "role").to_numpy()[c])
    c, leaves = c[chosen], arcs["exit"].to_numpy(dtype=np.int64)[chosen]
    t = np.arange(len(ix.calendar))
    stands = ix.cohorts.alive[c, : len(t)] * (t[None, :] < leaves[:, None])
    arc, period = np.nonzero(income_per_rack(ix)[c] * stands)
    amount = -(income_per_rack(ix)[c] * stands)[arc, period]
    name, hall = cohorts["source"].to_numpy()[c[arc]], cohorts["hall"].to_numpy()[c[arc]]
    book.add("role", fleet.leave.cols[chosen[arc]], period, amount, cause=name, detail=hall)


def income_per_rack(ix: Indices) -> Floats:
    """M USD that a rack of each cohort saves in each period: (cohorts, periods); 0 outside roles."""
    cohorts, calendar = ix.cohorts.cohorts, ix.calendar
    income = np.zeros((len(cohorts), len(calendar)))
    for role in _roles(ix):
        mine = np.flatnonzero(((cohorts["kind"] == "role") & (cohorts["source"] == role.name)).to_numpy())
        entry: Ints = cohorts["entry"].to_numpy(dtype=np.int64)[mine]
        for since in np.unique(entry).tolist():
            ready = int(calendar.boundary[since]) + role.down_quarters
            quarters = [
                role_quarters(int(first), int(stop), ready, role.last.ordinal)
                for first, stop in zip(calendar.boundary[:-1], calendar.boundary[1:], strict=True)
            ]
            income[mine[entry == since]] = np.array(quarters) * role.value_musd_per_rack_quarter
    return income
