"""One plan's orders under another plan's inputs: what they would cost, if they are possible at all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError
from fleetplan.explain.case import Case
from fleetplan.explain.compare import Held

if TYPE_CHECKING:
    from fleetplan.plan.plan import Plan

BOUGHT = ("new", "option", "committed")


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
