"""Several objectives in order: each is held at its least while the next is minimised."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fleetplan.solving.arrays import Compiled, Floats
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import Listener, solve
from fleetplan.solving.result import require_plan
from fleetplan.solving.second import LEAST_ROOM

SIZE = 1000.0
"""Size that every goal is solved in: of that size, a solver's tolerances are far below what matters."""
TIGHTEST = 1e-8
"""Least share of a goal's size to which it is proven."""


@dataclass(frozen=True)
class Goal:
    """An objective that goes before the cost: ``cost @ x``, never negative, of at most ``size``."""

    name: str
    cost: Floats
    size: float


@dataclass(frozen=True)
class Reached:
    """What became of a goal: its value in the plan that was found, and the least that is proven possible."""

    goal: Goal
    value: float
    bound: float


@dataclass(frozen=True)
class Held:
    """The problem with every goal held at the value reached."""

    compiled: Compiled
    reached: tuple[Reached, ...]
    reproducible: bool

    def notes(self) -> list[str]:
        """One sentence for each goal."""
        return [
            f"{one.goal.name} comes before cost: {one.value:,.3f}, and {one.bound:,.3f} at the least"
            for one in self.reached
        ]


def hold_in_order(
    compiled: Compiled,
    goals: Sequence[Goal],
    options: SolveOptions | None = None,
    progress: Listener | None = None,
) -> Held:
    """Minimise goals one after another, and add a row for each that keeps it where it was found.

    A goal is proven to the relative gap asked for as a share of its size, whatever unit it is in. The time
    limit is that of all of them. Raises as :func:`.result.require_plan` where there is no plan.
    """
    asked, began = options or SolveOptions(), time.perf_counter()
    reached: list[Reached] = []
    reproducible = True
    for goal in goals:
        spent = time.perf_counter() - began
        limit = None if asked.time_limit_s is None else max(1.0, asked.time_limit_s - spent)
        settings = replace(
            asked, gap_abs=max(TIGHTEST, asked.gap_rel) * SIZE, gap_rel=0.0, time_limit_s=limit
        )
        cost = goal.cost * (SIZE / goal.size)
        alone = replace(compiled.with_objective(cost), sign=1.0)
        result = require_plan(solve(alone, settings, progress))
        assert result.objective is not None
        value = max(0.0, result.objective)
        compiled = compiled.with_row((goal.name, None), cost, -np.inf, value + LEAST_ROOM * SIZE)
        found, least = (share * goal.size / SIZE for share in (value, max(0.0, result.bound)))
        reached.append(Reached(goal, found, least))
        reproducible = reproducible and result.reproducible
    return Held(compiled, tuple(reached), reproducible)
