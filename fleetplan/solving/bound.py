"""A lower bound on the cost of every plan, computed here from row prices: never from a status word.

For any prices ``y`` (of the right sign), every feasible ``x`` satisfies

    cost @ x >= sum_i y_i * (row_lower_i if y_i > 0 else row_upper_i)
              + sum_j min over [lower_j, upper_j] of (cost - A'y)_j x_j

(Lagrangian duality; made safe against rounding as in Neumaier and Shcherbina, "Safe bounds in
linear and mixed-integer linear programming", 2004, https://doi.org/10.1007/s10107-003-0433-3).
The closer ``y`` is to the optimal duals, the closer the bound; a bad ``y`` gives a weak bound, not
a wrong one. Columns without a finite bound take one that the rows imply.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fleetplan.solving.arrays import Compiled, Floats, Ints

ROUNDS = 8
"""Passes of bound propagation; each carries bounds one row further."""
SLACK = 1e-9
"""Relative widening of implied bounds, so that rounding cannot make one too tight."""
REPAIRS = 6
"""Rounds of nudging prices for columns without a bound."""
UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Box:
    """Bounds that hold for all columns of every feasible (or every optimal) plan."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class DualBound:
    """A bound with the reduced costs it was computed from."""

    value: float
    reduced_cost: Floats
    price: Floats
    """The row prices, with those that had no finite side put to 0."""


def implied_box(compiled: Compiled, best_known: float = np.inf) -> Box:
    """Column bounds implied by the rows, where the model's own are infinite.

    With ``best_known``, the objective of a known plan, the objective counts as one more row: the
    bounds then hold for every plan that is not worse.
    """
    lower, upper = compiled.col_lower.copy(), compiled.col_upper.copy()
    if np.isfinite(best_known):
        compiled = _with_cutoff(compiled, best_known)
    row, col, value = compiled.index.astype(np.int64), compiled.entry_column, compiled.value
    for _ in range(ROUNDS):
        open_low, open_high = np.isinf(lower), np.isinf(upper)
        if not (open_low.any() or open_high.any()):
            break
        new_lower, new_upper = _implied(compiled, row, col, value, lower, upper)
        lower = np.where(open_low, np.maximum(lower, new_lower), lower)
        upper = np.where(open_high, np.minimum(upper, new_upper), upper)
        if np.array_equal(np.isinf(lower), open_low) and np.array_equal(np.isinf(upper), open_high):
            break
    return Box(lower, upper)


def _with_cutoff(compiled: Compiled, best_known: float) -> Compiled:
    room = SLACK * max(1.0, abs(best_known))
    limit = best_known - compiled.offset + room
    return compiled.with_row(("cutoff", None), compiled.cost, -np.inf, limit)


def _implied(
    compiled: Compiled, row: Ints, col: Ints, value: Floats, lower: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Bounds on each column from each row, given the others' bounds."""
    least = np.where(value > 0, value * _finite(lower[col]), value * _finite(upper[col]))
    most = np.where(value > 0, value * _finite(upper[col]), value * _finite(lower[col]))
    least_open = np.isinf(np.where(value > 0, lower[col], upper[col]))
    most_open = np.isinf(np.where(value > 0, upper[col], lower[col]))
    under = _room(compiled.row_upper, row, least, least_open, compiled.shape[0])
    over = _room(compiled.row_lower, row, most, most_open, compiled.shape[0])
    with np.errstate(invalid="ignore"):
        from_under, from_over = under / value, over / value
    above = np.where(value > 0, from_under, from_over)
    below = np.where(value > 0, from_over, from_under)
    new_upper, new_lower = np.full_like(upper, np.inf), np.full_like(lower, -np.inf)
    usable_above, usable_below = np.isfinite(above), np.isfinite(below)
    np.minimum.at(new_upper, col[usable_above], _outward(above[usable_above], 1.0))
    np.maximum.at(new_lower, col[usable_below], _outward(below[usable_below], -1.0))
    return new_lower, new_upper


def _finite(bounds: Floats) -> Floats:
    finite: Floats = np.where(np.isinf(bounds), 0.0, bounds)
    return finite


def _outward(bounds: Floats, direction: float) -> Floats:
    return bounds + direction * SLACK * np.maximum(1.0, np.abs(bounds))


def _room(side: Floats, row: Ints, part: Floats, is_open: np.ndarray, rows: int) -> Floats:
    """What a row's side leaves for each entry when all its other entries take their extreme."""
    total = np.bincount(row, weights=part, minlength=rows)
    opens = np.bincount(row, weights=is_open, minlength=rows)
    others_open = opens[row] - is_open > 0
    room = side[row] - (total[row] - np.where(is_open, 0.0, part))
    return np.where(others_open, np.nan, room)


def dual_bound(compiled: Compiled, row_dual: Floats, box: Box) -> DualBound:
    """The bound at the given prices; ``-inf`` where a column that pays off has no bound at all.

    Prices are first nudged so that columns without a bound do not pay off by a rounding error.
    """
    price = _right_signs(compiled, row_dual)
    for _ in range(REPAIRS):
        reduced, error = _reduced(compiled, price)
        need = np.where(np.isposinf(box.upper), np.maximum(error - reduced, 0.0), 0.0)
        need -= np.where(np.isneginf(box.lower), np.maximum(reduced + error, 0.0), 0.0)
        if not need.any():
            break
        price = _right_signs(compiled, _nudged(compiled, price, 2.0 * need))
    reduced, error = _reduced(compiled, price)
    rows = np.where(price > 0, _times(price, compiled.row_lower), _times(price, compiled.row_upper))
    return DualBound(_safe_sum(rows, _least(reduced, error, box), compiled.offset), reduced, price)


def _right_signs(compiled: Compiled, price: Floats) -> Floats:
    """The prices, 0 where their sign stands for a side that the row does not have."""
    price = np.where(price > 0, _side_or_zero(price, compiled.row_lower), price)
    return np.where(price < 0, _side_or_zero(price, compiled.row_upper), price)


def _reduced(compiled: Compiled, price: Floats) -> tuple[Floats, Floats]:
    """Reduced costs, and how far rounding may have moved each."""
    reduced = compiled.cost - compiled.matrix.T @ price
    magnitude = np.abs(compiled.cost) + abs(compiled.matrix).T @ np.abs(price)
    return reduced, 4 * UNIT * np.log2(2 + compiled.shape[0]) * magnitude


def _nudged(compiled: Compiled, price: Floats, need: Floats) -> Floats:
    """Prices that raise the reduced cost of each column by ``need``, each through its largest entry."""
    column = compiled.entry_column
    entries = np.flatnonzero(need[column] != 0)
    order = np.lexsort((-np.abs(compiled.value[entries]), column[entries]))
    entries = entries[order]
    first = entries[np.r_[True, np.diff(column[entries]) != 0]] if len(entries) else entries
    shift = -need[column[first]] / compiled.value[first]
    row = compiled.index[first]
    down, up = np.zeros_like(price), np.zeros_like(price)
    np.minimum.at(down, row, shift)
    np.maximum.at(up, row, shift)
    return price + np.where(-down > up, down, up)


def _side_or_zero(price: Floats, side: Floats) -> Floats:
    return np.where(np.isfinite(side), price, 0.0)


def _times(price: Floats, side: Floats) -> Floats:
    return np.where(price == 0, 0.0, price * _finite(side))


def _least(reduced: Floats, error: Floats, box: Box) -> Floats:
    """Least of ``r x`` over the column's bounds and over every ``r`` within the rounding error."""
    with np.errstate(invalid="ignore"):
        corners = [
            np.where((r == 0) | (x == 0), 0.0, r * x)
            for r in (reduced - error, reduced + error)
            for x in (box.lower, box.upper)
        ]
    least: Floats = np.minimum.reduce(corners)
    return least


def _safe_sum(rows: Floats, columns: Floats, offset: float) -> float:
    if np.isneginf(columns).any():
        return -math.inf
    total = math.fsum([*rows.tolist(), *columns.tolist(), offset])
    spread = math.fsum([*np.abs(rows).tolist(), *np.abs(columns).tolist(), abs(offset)])
    return total - 4 * UNIT * spread
