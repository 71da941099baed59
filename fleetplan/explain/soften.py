"""Elastic solves with whole lots: by how much some rows have to give so that a plan is possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.errors import FleetplanError, LimitError
from fleetplan.explain.case import SIMPLEX, Case
from fleetplan.solving.linear import INTERIOR_FROM_COLUMNS, relaxation
from fleetplan.solving.recipe import solve
from fleetplan.solving.status import Status

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from fleetplan.solving.arrays import Compiled, Floats, Key
    from fleetplan.solving.options import SolveOptions
    from fleetplan.solving.result import Result

NOTICED = 1e-6
"""Relief below this is rounding of the solver."""
EXACT_GAP = 1e-6
LARGE_GAP = 5e-3
"""Of a large model the least relief is known to half a hundredth: a mend claims no more than one."""
IN_THE_PROOF = 0.02
"""Rows with less than this share of the largest part of a proof are left out of what is said."""


@dataclass(frozen=True)
class Relief:
    """By how much one row gives, in its own unit; ``upper`` where its limit rises."""

    family: str
    index: Hashable
    amount: float
    upper: bool
    limit: float
    """The side as it stands."""


@dataclass(frozen=True)
class Relieved:
    """The reliefs of a model, and the plan that they make possible."""

    reliefs: tuple[Relief, ...]
    total: float
    """Weighted sum of the reliefs."""
    proven: float
    """No plan needs a smaller weighted sum."""
    whole: Mapping[Key, float]
    """Whole lots of the plan, by column."""

    def needs_more_than(self, total: float) -> bool:
        """Whether it is proven that no plan does with this weighted sum."""
        return total < self.proven - NOTICED * max(1.0, abs(self.proven))


def least_relief(case: Case, weights: Mapping[int, float], settings: SolveOptions) -> Relieved | None:
    """Least weighted relief of some rows with all others hard; ``None`` where even that is no plan.

    Whole lots stay whole, so that the relief is what a plan really needs. Raises ``LimitError`` where
    the time of the settings was too short.
    """
    if not weights:
        return None
    softened, rows, upper = _softened(case.compiled, weights)
    gap = LARGE_GAP if softened.shape[1] >= INTERIOR_FROM_COLUMNS else EXACT_GAP
    result = _in_time(solve(softened, replace(settings, gap_rel=gap, gap_abs=EXACT_GAP)))
    if result.x is None or result.objective is None:
        return None
    slack = result.x[case.compiled.shape[1] :]
    found = []
    for position, is_upper, amount in zip(rows.tolist(), upper.tolist(), slack.tolist(), strict=True):
        if amount > NOTICED:
            family, index = case.compiled.rows.keys[position]
            sides = case.compiled.row_upper if is_upper else case.compiled.row_lower
            found.append(Relief(family, index, amount, is_upper, float(sides[position])))
    whole = np.flatnonzero(case.compiled.integer).tolist()
    lots = {case.compiled.columns.keys[at]: float(round(result.x[at])) for at in whole}
    return Relieved(tuple(found), result.objective, result.bound, lots)


def _in_time(result: Result) -> Result:
    """A result that is an answer; raises ``LimitError`` where the clock ended it before any plan."""
    if result.x is None and result.status in (Status.LIMIT, Status.LIMIT_WITHOUT_PLAN):
        raise LimitError("the time was too short")
    return result


def rows_of(case: Case, *families: str) -> dict[int, float]:
    """Every row of some families, with weight 1."""
    return {row: 1.0 for family in families for row in case.compiled.rows.positions(family).values()}


def has_plan(case: Case, settings: SolveOptions, near: Mapping[Key, float] | None = None) -> bool:
    """Whether any plan exists: a solve without costs.

    ``near`` are whole lots that are tried first: where they make a plan, that is quick. Raises
    ``LimitError`` where the time of the settings was too short.
    """
    free = case.compiled.with_objective(np.zeros(case.compiled.shape[1]))
    if near and _possible_with(free, near, settings):
        return True
    return _in_time(solve(free, replace(settings, gap_rel=1.0, gap_abs=1.0))).has_plan


def _possible_with(free: Compiled, near: Mapping[Key, float], settings: SolveOptions) -> bool:
    whole = np.flatnonzero(free.integer)
    lots = np.array([near.get(free.columns.keys[at], 0.0) for at in whole.tolist()])
    held = free.fixed(whole, np.clip(lots, free.col_lower[whole], free.col_upper[whole]))
    try:
        relaxation(held, replace(settings, highs={**settings.highs, **SIMPLEX}))
    except LimitError:
        raise
    except FleetplanError:  # not with these lots: the search without them decides
        return False
    return True


def proof(case: Case, weights: Mapping[int, float], settings: SolveOptions) -> list[Key]:
    """Rows that cannot hold together, from the prices of the elastic relaxation; empty if it finds none.

    The rows are those with the largest parts in one proof; there may be other proofs.
    """
    softened, _, _ = _softened(case.compiled, weights)
    solved = relaxation(softened, replace(settings, highs={**settings.highs, **SIMPLEX}))
    if solved.objective <= NOTICED:
        return []
    part = np.abs(solved.row_dual) * np.maximum(1.0, _sizes(case.compiled))
    rows = np.flatnonzero(part > IN_THE_PROOF * part.max())
    return [case.compiled.rows.keys[row] for row in rows.tolist()]


def _sizes(compiled: Compiled) -> Floats:
    low, high = (np.where(np.isfinite(s), np.abs(s), 0.0) for s in (compiled.row_lower, compiled.row_upper))
    sizes: Floats = np.maximum(low, high)
    return sizes


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
