"""Linear solves: the relaxation, prices with the whole numbers held, and fast re-solves.

A search with integers has no prices. There are two honest ones, and they answer different
questions: :func:`relaxation` prices a limit when the whole plan may change, :func:`fixed_lp` prices
it with the whole numbers of one plan held (there the limits on whole purchases are worth 0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fleetplan.errors import InfeasibleError, Interrupted, LimitError, SolverError, UnboundedError
from fleetplan.solving.arrays import Bools, Compiled, Floats
from fleetplan.solving.highs import Outcome, Session
from fleetplan.solving.options import OptionValue, SolveOptions
from fleetplan.solving.status import Status

INTERIOR_FROM_COLUMNS = 5_000
"""From this size on the interior-point method beats the simplex method by far."""


@dataclass(frozen=True)
class LinearSolution:
    """A solved linear model.

    Duals are the change of the (minimised) objective per unit of a row's side or of a column.
    """

    x: Floats
    objective: float
    row_dual: Floats
    col_dual: Floats
    seconds: float
    basis: Any = None
    """Where a re-solve can start from; ``None`` after an interior-point run without crossover."""
    iterations: int = 0
    """Simplex iterations: a re-solve that used its basis needs few."""


def linear_options(compiled: Compiled, *, basis: bool) -> dict[str, OptionValue]:
    """HiGHS options for a linear solve of this size."""
    if compiled.shape[1] < INTERIOR_FROM_COLUMNS:
        return {}
    return {"solver": "ipm", "run_crossover": "on" if basis else "off"}


def run_relaxation(
    compiled: Compiled,
    options: SolveOptions,
    time_limit_s: float | None = None,
    *,
    basis: bool = False,
    listener: Callable[[float, float], None] | None = None,
) -> Outcome:
    """One linear run without judging how it ended."""
    relaxed = compiled.relaxed()
    asked = {**linear_options(relaxed, basis=basis), **options.asked_of_highs()}
    session = Session(relaxed, asked, threads=options.threads, seed=options.seed)
    return session.run(time_limit_s, listener, options.grace_s)


def relaxation(
    compiled: Compiled, options: SolveOptions | None = None, *, basis: bool = False
) -> LinearSolution:
    """Solve without integers; with ``basis`` the solution can start a :class:`Sweep`."""
    options = options or SolveOptions()
    relaxed = compiled.relaxed()
    asked = {**linear_options(relaxed, basis=basis), **options.asked_of_highs()}
    session = Session(relaxed, asked, threads=options.threads, seed=options.seed)
    outcome = session.run(options.time_limit_s, grace_s=options.grace_s)
    return _solution(outcome, session.basis if outcome.status is Status.OPTIMAL else None)


def fixed_lp(compiled: Compiled, x: Floats, options: SolveOptions | None = None) -> LinearSolution:
    """Prices with the whole numbers of ``x`` held: a fresh linear model, solved on its own."""
    whole = np.flatnonzero(compiled.integer)
    return relaxation(compiled.fixed(whole, np.round(x[whole])), options)


class Sweep:
    """Re-solves of a linear model with changed sides, bounds and costs, each from the same basis.

    Starting each case from the base case's basis (not from the case before) is faster, and makes a
    case's result independent of the others and of their order.
    """

    def __init__(self, base: Compiled, options: SolveOptions | None = None) -> None:
        """Solve the base case, with its integers relaxed."""
        self._options = options or SolveOptions()
        self._held = base.relaxed()
        self.base = relaxation(base, self._options, basis=True)
        self._session = Session(
            self._held, {"solver": "simplex"}, threads=self._options.threads, seed=self._options.seed
        )

    def solve(self, changed: Compiled) -> LinearSolution:
        """Solve one case: a changed copy of the base with the same matrix."""
        if changed.value is not self._held.value:
            raise SolverError("a sweep keeps its matrix; this model has another one")
        self._update(changed)
        self._session.use_basis(self.base.basis)
        outcome = self._session.run(self._options.time_limit_s, grace_s=self._options.grace_s)
        return _solution(outcome, self._session.basis)

    def _update(self, changed: Compiled) -> None:
        held, session = self._held, self._session
        rows = _differs(held.row_lower, changed.row_lower) | _differs(held.row_upper, changed.row_upper)
        cols = _differs(held.col_lower, changed.col_lower) | _differs(held.col_upper, changed.col_upper)
        costs = _differs(held.cost, changed.cost)
        for positions, change, arrays in (
            (np.flatnonzero(rows), session.change_rows, (changed.row_lower, changed.row_upper)),
            (np.flatnonzero(cols), session.change_bounds, (changed.col_lower, changed.col_upper)),
            (np.flatnonzero(costs), session.change_cost, (changed.cost,)),
        ):
            if len(positions):
                change(positions, *(array[positions] for array in arrays))
        session.change_offset(changed.offset)
        self._held = replace(changed, integer=held.integer)


def resolve_lp(base: Compiled, solution: LinearSolution, changed: Compiled) -> LinearSolution:
    """One re-solve of a changed copy from the basis of a solved base case."""
    if solution.basis is None:
        raise SolverError("a re-solve needs a solution with a basis: relaxation(..., basis=True)")
    if changed.shape != base.shape:
        raise SolverError("a re-solve keeps the rows and columns of its base case")
    session = Session(changed.relaxed(), {"solver": "simplex"})
    session.use_basis(solution.basis)
    return _solution(session.run(), session.basis)


def _differs(one: Floats, other: Floats) -> Bools:
    return np.not_equal(one, other)


_ERRORS: dict[Status, tuple[type[Exception], str]] = {
    Status.INFEASIBLE: (InfeasibleError, "no values satisfy all limits, even without whole numbers"),
    Status.INFEASIBLE_OR_UNBOUNDED: (InfeasibleError, "the linear model is infeasible or unbounded"),
    Status.UNBOUNDED: (UnboundedError, "the cost has no lower bound, even without whole numbers"),
    Status.LIMIT: (LimitError, "the limit was reached before the linear model was solved"),
    Status.LIMIT_WITHOUT_PLAN: (LimitError, "the limit was reached before the linear model was solved"),
    Status.INTERRUPTED: (Interrupted, "stopped before the linear model was solved"),
}


def _solution(outcome: Outcome, basis: Any) -> LinearSolution:
    if outcome.status is not Status.OPTIMAL or outcome.x is None or outcome.objective is None:
        kind, message = _ERRORS.get(outcome.status, (SolverError, outcome.note or "the linear solve failed"))
        raise kind(message)
    return LinearSolution(
        x=outcome.x,
        objective=outcome.objective,
        row_dual=outcome.row_dual,
        col_dual=outcome.col_dual,
        seconds=outcome.seconds,
        basis=basis if basis is not None and basis.valid else None,
        iterations=outcome.iterations,
    )
