"""A second objective among the plans that cost about as little as the best one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fleetplan.errors import InfeasibleError, LimitError, SolverError
from fleetplan.solving.arrays import Compiled, Floats, exact_dot
from fleetplan.solving.check import worst_violation
from fleetplan.solving.far import far_plan, limited
from fleetplan.solving.linear import relaxation
from fleetplan.solving.moves import Rounder
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import Listener, solve
from fleetplan.solving.result import Result, require_plan

LEAST_ROOM = 1e-7
"""Relative room that the first objective always gets: a limit at the exact optimum is infeasible
by rounding."""


def minimize_then(
    compiled: Compiled,
    second_cost: Floats,
    tolerance: float,
    options: SolveOptions | None = None,
    *,
    first: Result | None = None,
    progress: Listener | None = None,
    rounder: Rounder | None = None,
) -> Result:
    """Minimise ``second_cost @ x`` while the first objective rises by at most ``tolerance``.

    ``tolerance`` is a share of the size of the first objective; ``first`` saves solving it again.
    With a ``rounder``, large models go the short way of :mod:`.far` before a search. Objective and bound
    of the result are those of the second cost. Raises as :func:`.result.require_plan` where the first
    objective has no plan.
    """
    if tolerance < 0:
        raise SolverError(f"the tolerance on cost cannot be negative, got {tolerance}")
    best = require_plan(first if first is not None else solve(compiled, options, progress))
    assert best.objective is not None
    room = max(tolerance * abs(best.objective), LEAST_ROOM * max(1.0, abs(best.objective)))
    options = options or SolveOptions()
    second = None
    if rounder is not None and compiled.shape[1] > options.small_columns and compiled.integer.any():
        second = far_plan(compiled, second_cost, room, best, rounder, options)
    if second is None:
        second = solve(limited(compiled, second_cost, best.objective + room), options, progress)
    if not second.has_plan:
        return _first_as_second(best, second, second_cost)
    return _at_least_cost(compiled, second, second_cost, options)


def _at_least_cost(
    compiled: Compiled, second: Result, second_cost: Floats, options: SolveOptions | None
) -> Result:
    """The second plan, with all that the second objective does not ask about at least cost again.

    Without this a plan would pay, within the tolerance, for what nobody takes. Whole numbers are held, so that
    it is one linear solve; a time limit that is over leaves the plan as it is.
    """
    assert second.x is not None
    assert second.objective is not None
    whole = np.flatnonzero(compiled.integer)
    room = LEAST_ROOM * max(1.0, abs(second.objective))
    held = compiled.fixed(whole, np.round(second.x[whole]))
    held = held.with_row(("second_limit", None), second_cost, -float("inf"), second.objective + room)
    try:
        x = relaxation(held, options, basis=True).x.copy()
    except (InfeasibleError, LimitError):  # by rounding, or out of time
        return second
    x[whole] = np.round(second.x[whole])
    return replace(second, x=x, objective=exact_dot(second_cost, x), violation=worst_violation(compiled, x))


def _first_as_second(best: Result, second: Result, second_cost: Floats) -> Result:
    """The first plan also satisfies the second problem: there is never less than it."""
    assert best.x is not None
    objective = exact_dot(second_cost, best.x)
    note = f"the second objective found no plan ({second.status}); the first plan is kept"
    return replace(
        second, x=best.x, objective=objective, violation=best.violation, notes=(*second.notes, note)
    )
