"""Shortfall first: what is kept least before cost is, one priority after another.

::

    for each priority p, 1 first:   minimise  sum_{w of p, t} price_w x samples short[w,t]

The prices weigh workloads of one priority against each other, without discount; between priorities they
play no part. Of all plans that reach these least values the cheapest is sought: its cost still holds
shortfall at its price, so that ledger and objective mean the same under either rule.
"""

from __future__ import annotations

import numpy as np

from fleetplan.planning.form import Floats
from fleetplan.planning.model import PlanningModel
from fleetplan.planning.work import short_price


def shortfall_by_priority(model: PlanningModel) -> list[tuple[int, Floats, float]]:
    """Priority, M USD of shortfall per unit of each column, and what all its demand is worth; 1 first."""
    ix, short = model.indices, model.work.short
    workloads, total = ix.choices.workloads, len(ix.calendar)
    found = []
    for priority in sorted({ix.scenario.workloads[name].priority for name in workloads}):
        cost, size = np.zeros(len(model.form.columns)), 0.0
        for w, name in enumerate(workloads):
            if ix.scenario.workloads[name].priority == priority:
                each = short_price(ix, name)
                cost[short.cols[w * total : (w + 1) * total]] = each
                size += float(each @ ix.choices.demand[name])
        if size > 0:
            found.append((priority, cost, size))
    return found
