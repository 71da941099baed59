"""A second objective on models so large that a search finds no plan within the limit on cost.

The relaxed plan that goes furthest within the limit is made whole, which costs a little, and moved back
under the limit: by the same guess and the same small moves as a first plan (:mod:`.recipe`), which now
lower the cost. Each move changes a lot or two, so that what comes back is nearly as far.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from fleetplan.solving.arrays import Compiled, Floats, exact_dot
from fleetplan.solving.bound import dual_bound, implied_box
from fleetplan.solving.check import made_whole, worst_violation
from fleetplan.solving.linear import run_relaxation
from fleetplan.solving.moves import Rounder, improve
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import CHEAPEST, MOST_MOVES
from fleetplan.solving.result import Result
from fleetplan.solving.spent import Spent
from fleetplan.solving.status import Status
from fleetplan.solving.tighten import around, with_whole_limits

SHARES = (1.0, 0.5)
"""Parts of the room for cost that the relaxed plan may use, tried in this order: the less it uses, the
more is left for whole numbers."""


def far_plan(
    compiled: Compiled,
    second_cost: Floats,
    room: float,
    first: Result,
    rounder: Rounder,
    options: SolveOptions,
) -> Result | None:
    """A plan low in ``second_cost @ x`` that costs at most ``room`` more than the first one.

    Objective and bound are those of the second cost. ``None`` where no way led under the limit or the
    first result has no prices; a result without a plan where the user or the clock ended it.
    """
    if first.row_dual is None or first.objective is None:
        return None
    way = _Way(
        compiled, second_cost, first.objective, first.row_dual, rounder, options, Spent(options.time_limit_s)
    )
    for share in SHARES:
        found = way.go(share * room, room)
        if found is not None:
            return found
    return None


@dataclass
class _Way:
    """From the relaxed plan to a whole one: what both shares have in common, and the clock."""

    compiled: Compiled
    second_cost: Floats
    least_cost: float
    price: Floats
    rounder: Rounder
    options: SolveOptions
    spent: Spent

    def go(self, room: float, most_room: float) -> Result | None:
        """One try: the relaxed plan within ``room``, made whole, and moved under ``most_room``."""
        bent = limited(self.compiled, self.second_cost, self.least_cost + room)
        relaxed = self.spent.on("relaxation", lambda: run_relaxation(bent, self.options, self.spent.left()))
        if relaxed.stopped_by:
            return self._ended(relaxed.stopped_by)
        if relaxed.status is not Status.OPTIMAL or relaxed.x is None:
            return None
        x, stopped_by = self._whole(relaxed.x[: self.compiled.shape[1]], self.least_cost + most_room)
        if x is None:
            return self._ended(stopped_by) if stopped_by else None
        bound = dual_bound(bent, relaxed.row_dual, implied_box(bent)).value if room == most_room else -np.inf
        return self._result(x, bound)

    def _whole(self, x: Floats, limit: float) -> tuple[Floats | None, str]:
        """Whole numbers near ``x`` whose plan costs at most ``limit``, and what stopped the moves."""
        model = with_whole_limits(self.compiled)
        prices = dual_bound(model, self.price, implied_box(model))
        guess = self.spent.on("guess", functools.partial(self.rounder, model, x, prices.price))
        if guess is None:
            return None, ""
        near = around(model, x, prices.reduced_cost, cheapest=CHEAPEST)
        moved = self.spent.on(
            "moves",
            lambda: improve(
                model, near, guess, prices.price, self.options,
                enough=limit, most_solves=MOST_MOVES, time_left_s=self.spent.left,
            ),
        )  # fmt: skip
        if moved.x is None or moved.cost > limit:
            return None, moved.stopped_by
        whole = made_whole(self.compiled, moved.x, threads=self.options.threads, seed=self.options.seed)
        return (None, "") if whole is None or whole.objective > limit else (whole.x, "")

    def _result(self, x: Floats, bound: float) -> Result:
        objective = exact_dot(self.second_cost, x)
        proven = objective - bound <= self.options.allowed_gap(objective)
        return Result(
            status=Status.OPTIMAL if proven else Status.LIMIT,
            x=x,
            objective=objective,
            bound=bound,
            bound_source="duals" if np.isfinite(bound) else "none",
            timings=self.spent.by_phase,
            violation=worst_violation(self.compiled, x),
        )

    def _ended(self, stopped_by: str) -> Result:
        status = Status.INTERRUPTED if stopped_by == "user" else Status.LIMIT_WITHOUT_PLAN
        return Result(status, None, None, -np.inf, "none", timings=self.spent.by_phase, reproducible=False)


def limited(compiled: Compiled, second_cost: Floats, most_cost: float) -> Compiled:
    """The model with the second cost as its objective and the first one as one more limit."""
    kept = compiled.with_row(("cost_limit", None), compiled.cost, -np.inf, most_cost - compiled.offset)
    return replace(kept.with_objective(second_cost), sign=1.0)
