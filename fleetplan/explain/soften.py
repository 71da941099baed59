"""Elastic solves with whole lots: by how much some rows have to give so that a plan is possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.explain.case import Case
from fleetplan.solving.recipe import solve

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from fleetplan.solving.arrays import Compiled, Key
    from fleetplan.solving.options import SolveOptions

NOTICED = 1e-6
"""Relief below this is rounding of the solver."""


@dataclass(frozen=True)
class Relief:
    """By how much one row gives, in its own unit; ``upper`` where its limit rises."""

    family: str
    index: Hashable
    amount: float
    upper: bool
    limit: float
    """The side as it stands."""


def least_relief(case: Case, weights: Mapping[int, float], settings: SolveOptions) -> list[Relief] | None:
    """Least weighted relief of some rows with all others hard; ``None`` where even that is no plan.

    Whole lots stay whole, so that the relief is what a plan really needs.
    """
    if not weights:
        return None
    softened, rows, upper = _softened(case.compiled, weights)
    result = solve(softened, replace(settings, gap_rel=1e-6, gap_abs=1e-6))
    if result.x is None:
        return None
    slack = result.x[case.compiled.shape[1] :]
    found = []
    for position, is_upper, amount in zip(rows.tolist(), upper.tolist(), slack.tolist(), strict=True):
        if amount > NOTICED:
            family, index = case.compiled.rows.keys[position]
            sides = case.compiled.row_upper if is_upper else case.compiled.row_lower
            found.append(Relief(family, index, amount, is_upper, float(sides[position])))
    return found


def rows_of(case: Case, *families: str) -> dict[int, float]:
    """Every row of some families, with weight 1."""
    return {row: 1.0 for family in families for row in case.compiled.rows.positions(family).values()}


def has_plan(case: Case) -> bool:
    """Whether any plan exists: a solve without costs."""
    free = case.compiled.with_objective(np.zeros(case.compiled.shape[1]))
    return solve(free, replace(case.settings, gap_rel=1.0, gap_abs=1.0)).has_plan


def _softened(
    compiled: Compiled, weights: Mapping[int, float]
) -> tuple[Compiled, np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The arrays with a slack for each finite side of the given rows, and only the slacks' cost."""
    rows = np.array(sorted(weights), dtype=np.int64)
    above = rows[np.isfinite(compiled.row_upper[rows])]
    below = rows[np.isfinite(compiled.row_lower[rows])]
    soft = np.concatenate([above, below])
    upper = np.concatenate([np.ones(len(above), dtype=bool), np.zeros(len(below), dtype=bool)])
    sign = np.where(upper, -1.0, 1.0)
    matrix = sparse.csc_array((sign, (soft, np.arange(len(soft)))), shape=(compiled.shape[0], len(soft)))
    keys: list[Key] = [("relief", (int(row), bool(side))) for row, side in zip(soft, upper, strict=True)]
    weight = np.array([weights[int(row)] for row in soft], dtype=float)
    free = compiled.with_objective(np.zeros(compiled.shape[1]))
    return free.with_columns(keys, matrix, weight, np.full(len(soft), np.inf)), soft, upper
