"""Books: limits on depreciation and on write-offs by year. Neither is cash.

::

    write_off     sum_{c, e in year, early or upgrade} book_ce x alive_ce leave[c,e]           <= limit
    depreciation  sum_{c, t in year} depreciation_ct x alive_ct (racks of c that stand in t)   <= limit

Book values are straight line from the price paid, per cohort, so both are exact and linear.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan import money
from fleetplan.planning.arc_money import ArcMoney
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.form import Entries, Form
from fleetplan.planning.indices import Indices

DECIDED = ("early", "upgrade")
"""Exits that a planner decides: attrition and natural ends are not limited."""


def add_book_limits(form: Form, ix: Indices, fleet: Fleet, arc_money: ArcMoney) -> None:
    """Add the yearly limits that the scenario states."""
    _write_offs(form, ix, fleet, arc_money)
    _depreciation(form, ix, fleet, arc_money)


def _write_offs(form: Form, ix: Indices, fleet: Fleet, arc_money: ArcMoney) -> None:
    limits = ix.scenario.finance.write_off_limit_musd
    arcs = ix.cohorts.arcs
    chosen = np.flatnonzero(
        arcs["kind"].isin(DECIDED).to_numpy() & (arcs["exit"] < len(ix.calendar)).to_numpy()
    )
    c, leaves = (arcs[name].to_numpy(dtype=np.int64)[chosen] for name in ("cohort", "exit"))
    value = arc_money.book[c, leaves] * arc_money.leaving[chosen]
    year = ix.calendar.boundary[leaves] // 4
    entries, windows = Entries.none(), sorted(limits)
    for row, window in enumerate(windows):
        inside = year == int(window)
        entries = entries + Entries.of(
            np.full(inside.sum(), row), fleet.leave.cols[chosen[inside]], value[inside]
        )
    form.rows("write_off", pd.DataFrame({"year": windows}), entries, upper=[limits[w] for w in windows])


def _depreciation(form: Form, ix: Indices, fleet: Fleet, arc_money: ArcMoney) -> None:
    limits = ix.scenario.finance.depreciation_limit_musd
    c = ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)
    entries, windows = Entries.none(), sorted(limits)
    for row, window in enumerate(windows):
        share = np.zeros(len(ix.calendar))
        for t, part in money.window_shares(window, ix.calendar.horizon).items():
            share[t] = part
        total = (arc_money.depreciation[c] * arc_money.stands) @ share
        used = np.flatnonzero(total)
        entries = entries + Entries.of(np.full(len(used), row), fleet.leave.cols[used], total[used])
    form.rows("depreciation", pd.DataFrame({"year": windows}), entries, upper=[limits[w] for w in windows])
