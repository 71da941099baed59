"""Own check of a plan against the arrays, and whole numbers made whole.

Solvers return 0.9999991 for 1, and now and then call a plan feasible that is not; neither is
passed on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleetplan.solving.arrays import Compiled, Floats
from fleetplan.solving.highs import Session
from fleetplan.solving.status import Status

FEASIBILITY = 1e-6
"""Largest violation of a row or bound, relative to the size of its terms (at least 1)."""
WIDE = 1e8
"""Ratio of the largest to the smallest coefficient from which a warning is due."""
EXACT = 1e-9
"""Up to this violation a plan is taken as it is; above, it is solved again around its whole numbers."""


@dataclass(frozen=True)
class Violation:
    """The worst broken limit of a plan."""

    size: float
    """0 for a plan that breaks nothing; relative to the size of the terms."""
    where: str

    @property
    def small(self) -> bool:
        """Within the tolerance."""
        return self.size <= FEASIBILITY


def worst_violation(compiled: Compiled, x: Floats) -> Violation:
    """The largest violation over all rows, bounds and whole numbers."""
    activity = compiled.matrix @ x
    scale = np.maximum(1.0, abs(compiled.matrix) @ np.abs(x))
    over_row = _outside(activity, compiled.row_lower, compiled.row_upper) / scale
    over_col = _outside(x, compiled.col_lower, compiled.col_upper) / np.maximum(1.0, np.abs(x))
    not_whole = np.where(compiled.integer, np.abs(x - np.round(x)), 0.0)
    over_col = np.maximum(over_col, not_whole)
    worst_row, worst_col = over_row.max(initial=0.0), over_col.max(initial=0.0)
    if max(worst_row, worst_col) == 0:
        return Violation(0.0, "")
    if worst_row >= worst_col:
        return Violation(float(worst_row), f"row {compiled.rows.name(int(over_row.argmax()))}")
    return Violation(float(worst_col), f"column {compiled.columns.name(int(over_col.argmax()))}")


def _outside(values: Floats, lower: Floats, upper: Floats) -> Floats:
    return np.maximum(np.maximum(lower - values, values - upper), 0.0)


def scale_note(compiled: Compiled) -> str:
    """A warning that names the rows of the extreme coefficients if these lie far apart, else nothing.

    Wide ranges make solvers err (https://github.com/ERGO-Code/HiGHS/issues/2271).
    """
    size = np.abs(compiled.value)
    if not len(size) or size.max() / size.min() <= WIDE:
        return ""
    least, most = int(size.argmin()), int(size.argmax())
    return (
        f"coefficients reach from {size[least]:.3g} in row {compiled.rows.name(int(compiled.index[least]))} "
        f"to {size[most]:.3g} in row {compiled.rows.name(int(compiled.index[most]))}: results may be inexact"
    )


@dataclass(frozen=True)
class Rounded:
    """A plan with whole numbers that are exactly whole."""

    x: Floats
    objective: float
    violation: Violation


def made_whole(compiled: Compiled, x: Floats, *, threads: int = 1, seed: int = 0) -> Rounded | None:
    """Round the integers and, unless all limits still hold exactly, solve the rest again around them.

    ``None`` where no feasible plan has these whole numbers.
    """
    whole = np.flatnonzero(compiled.integer)
    rounded = np.clip(x, compiled.col_lower, compiled.col_upper)
    rounded[whole] = np.round(rounded[whole])
    violation = worst_violation(compiled, rounded)
    as_it_is = Rounded(rounded, compiled.objective(rounded), violation)
    moved = np.abs(rounded[whole] - x[whole]).max(initial=0.0)
    if max(violation.size, moved) <= EXACT:
        return as_it_is
    polished = solved_around(compiled, rounded, threads=threads, seed=seed)
    return polished if polished is not None or not violation.small else as_it_is


def solved_around(compiled: Compiled, x: Floats, *, threads: int = 1, seed: int = 0) -> Rounded | None:
    """The best plan with the whole numbers of ``x``; ``None`` where there is none."""
    whole = np.flatnonzero(compiled.integer)
    held = compiled.relaxed().fixed(whole, np.round(x[whole]))
    outcome = Session(held, threads=threads, seed=seed).run()
    if outcome.status is not Status.OPTIMAL or outcome.x is None:
        return None
    exact = np.clip(outcome.x, held.col_lower, held.col_upper)
    violation = worst_violation(compiled, exact)
    return Rounded(exact, compiled.objective(exact), violation) if violation.small else None
