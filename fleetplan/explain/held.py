"""A plan's orders held: solved again as they are, or put under another plan's inputs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import InfeasibleError
from fleetplan.explain.case import SIMPLEX, Case
from fleetplan.explain.compare import Held
from fleetplan.solving.linear import relaxation
from fleetplan.solving.result import Result
from fleetplan.solving.status import Status

if TYPE_CHECKING:
    from fleetplan.plan.plan import Plan
    from fleetplan.solving.arrays import Compiled, Floats, Ints
    from fleetplan.solving.linear import LinearSolution

BOUGHT = ("new", "option", "committed")
NEAR = 1e-6
"""Relative distance of two costs that are the same but for rounding."""


def solved_again(case: Case, plan: Plan) -> Result:
    """The plan's own whole lots, with everything else solved again: the plan that was stored.

    A linear solve instead of a search. Where the stored lots do not lead to the stored cost (another
    version made the plan), the search is made again.
    """
    wanted, columns = _lots(plan), case.compiled.columns
    whole = np.flatnonzero(case.compiled.integer)
    known = {key for family, key in columns.keys if family == "lots"}
    stored, bound = plan.manifest.objective_musd, plan.manifest.bound_musd
    if bound is None or any(key not in known for key, lots in wanted.items() if lots > 0):
        return case.solve()
    lots = np.array([float(round(wanted.get(columns.keys[at][1], 0.0))) for at in whole.tolist()])  # type: ignore[call-overload]
    try:
        solved = with_lots(case, whole, lots)
    except InfeasibleError:
        return case.solve()
    room = NEAR * max(1.0, abs(stored))
    if not bound - room <= solved.objective <= stored + room:
        return case.solve()
    x = solved.x.copy()
    x[whole] = lots
    return Result(Status.OPTIMAL, x, solved.objective, min(bound, solved.objective), "duals")


def with_lots(case: Case, whole: Ints, lots: Floats | list[float]) -> LinearSolution:
    """The best plan with some whole lots; raises ``InfeasibleError`` where there is none."""
    settings = replace(case.settings, highs={**case.settings.highs, **SIMPLEX})
    return relaxation(case.compiled.fixed(whole, lots), settings)


def relaxed_from(case: Case, other: Compiled) -> LinearSolution:
    """The relaxation of a variant, from the case's basis where only sides, bounds and costs differ."""
    one = case.compiled
    alike = one.shape == other.shape and np.array_equal(one.index, other.index)
    if not (alike and np.array_equal(one.start, other.start) and np.array_equal(one.value, other.value)):
        return relaxation(other, case.settings)
    return case.sweep.solve(replace(other, start=one.start, index=one.index, value=one.value))


def hold_decisions(before: Plan, after: Plan) -> Held:
    """Cost of the first plan's lots under the second plan's inputs; everything else is decided anew.

    Orders that the second scenario does not offer at all (no such delivery, or no place for it) make
    the plan impossible there.
    """
    case = Case.of_plan(after)
    lots = _lots(before)
    positions = case.compiled.columns.positions("lots")
    if any(key not in positions for key, count in lots.items() if count > 0):
        return Held(None, 0.0)
    places = list(positions.values())
    values = [float(round(lots.get(key, 0.0))) for key in positions]  # type: ignore[call-overload]
    try:
        result = case.with_arrays(case.compiled.fixed(places, values)).solve()
    except InfeasibleError:
        return Held(None, 0.0)
    return Held(result.objective, result.gap_abs)


def _lots(plan: Plan) -> dict[tuple[str, str, str], float]:
    """Whole lots by hall, accelerator and delivery; part lots of a commitment are decided anew."""
    racks: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in plan.orders.itertuples(index=False):
        if row.kind in BOUGHT:
            racks[str(row.hall), str(row.accelerator), str(row.delivery_quarter)] += float(row.racks)  # type: ignore[arg-type]
    size = plan.scenario.lifecycle.lot_racks
    return {key: count // size.get(key[1], 1) for key, count in racks.items()}
