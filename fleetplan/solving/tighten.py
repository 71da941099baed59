"""Rewriting a model without losing its best plan: whole limits, and columns that cannot pay off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fleetplan.solving.arrays import Bools, Compiled, Floats
from fleetplan.solving.bound import Box, DualBound

WHOLE = 1e-9
"""Distance to a whole number that still counts as whole."""


def with_whole_limits(compiled: Compiled) -> Compiled:
    """Round the sides of rows that add up whole units of one size to whole units.

    ``4 a + 4 b <= 10`` with whole ``a`` and ``b`` becomes ``<= 8``. That cuts off no plan, and the
    relaxation can be much tighter for it.
    """
    unit = _common_unit(compiled)
    rows = np.flatnonzero(unit > 0)
    if not len(rows):
        return compiled
    lower, upper = compiled.row_lower.copy(), compiled.row_upper.copy()
    size = unit[rows]
    upper[rows] = size * np.floor(upper[rows] / size + WHOLE)
    lower[rows] = size * np.ceil(lower[rows] / size - WHOLE)
    return replace(compiled, row_lower=lower, row_upper=upper)


def _common_unit(compiled: Compiled) -> Floats:
    """For each row the one size of all its coefficients, 0 where there is none or a column is not whole."""
    rows = compiled.shape[0]
    size = np.abs(compiled.value)
    least, most = np.full(rows, np.inf), np.zeros(rows)
    np.minimum.at(least, compiled.index, size)
    np.maximum.at(most, compiled.index, size)
    broken = np.bincount(compiled.index, weights=~compiled.integer[compiled.entry_column], minlength=rows)
    return np.where((broken == 0) & (least == most), most, 0.0)


def within_reach(compiled: Compiled, bound: DualBound, box: Box, best_known: float) -> Compiled:
    """Narrow the columns to what a plan better than ``best_known`` can use (reduced-cost fixing).

    A column with reduced cost ``r`` that leaves its bound by ``d`` costs at least ``r d`` more than
    the bound; so ``d <= (best_known - bound) / r``. Every better plan stays in the model, so a
    bound of the narrowed model, or ``best_known`` if that is lower, is a bound of the whole.
    """
    slack = best_known - bound.value
    if not np.isfinite(slack):
        return compiled
    slack += 1e-9 * max(1.0, abs(best_known))
    rate = bound.reduced_cost
    reach = np.full_like(rate, np.inf)
    np.divide(slack, np.abs(rate), out=reach, where=np.abs(rate) > 1e-12)
    reach = np.where(compiled.integer, np.floor(reach + 1e-6), reach * (1 + 1e-9) + 1e-9)
    upper = np.where(rate > 0, np.minimum(compiled.col_upper, box.lower + reach), compiled.col_upper)
    lower = np.where(rate < 0, np.maximum(compiled.col_lower, box.upper - reach), compiled.col_lower)
    return replace(compiled, col_lower=np.minimum(lower, upper), col_upper=np.maximum(lower, upper))


def around(compiled: Compiled, x: Floats, reduced: Floats, *, cheapest: int, tie: float = 0.0) -> Compiled:
    """Keep to the neighbourhood of a relaxed plan: no bound of this model holds for the whole.

    Integers may take the whole numbers next to ``x``, and one more where ``x`` is whole already and
    one more costs (by its reduced cost) less than ``tie``. Those that must reach a sum together (see
    :func:`must_be_met`) stay free: rounded one by one they often cannot. Other columns stay in if
    they are used, or among the ``cheapest`` unused ones of one of their rows, or the one of a row that
    costs most by itself: that is the way out (work left undone) when rounding leaves no other.
    """
    near = np.abs(x - np.round(x)) < 1e-6
    below = np.where(near, np.round(x), np.floor(x))
    above = np.where(near, np.round(x), np.ceil(x)) + (near & (np.abs(reduced) < tie))
    whole = compiled.integer & ~must_be_met(compiled)
    lower = np.where(whole, np.clip(below, compiled.col_lower, compiled.col_upper), compiled.col_lower)
    upper = np.where(whole, np.clip(above, compiled.col_lower, compiled.col_upper), compiled.col_upper)
    idle = ~compiled.integer & (x <= compiled.col_lower + _used_from(x)) & np.isfinite(compiled.col_lower)
    kept = _first_of_rows(compiled, reduced, idle, cheapest) | _first_of_rows(
        compiled, -compiled.cost, idle, 1
    )
    drop = idle & ~kept
    upper = np.where(drop, compiled.col_lower, upper)
    return replace(compiled, col_lower=lower, col_upper=upper)


def must_be_met(compiled: Compiled) -> Bools:
    """Integer columns of rows of integers alone with a lower side above zero: commitments to place."""
    rows = compiled.by_rows
    others = rows.astype(bool) @ (~compiled.integer).astype(np.int64)
    binding = (others == 0) & np.isfinite(compiled.row_lower) & (compiled.row_lower > 0)
    held: Bools = np.asarray(rows[binding].astype(bool).sum(axis=0) > 0) & compiled.integer
    return held


def _used_from(x: Floats) -> float:
    """Interior solutions leave dust on unused columns."""
    return 1e-7 * max(1.0, float(np.abs(x).max(initial=0.0)))


def _first_of_rows(compiled: Compiled, rank_by: Floats, idle: Bools, count: int) -> Bools:
    """Idle columns that are among the ``count`` first by ``rank_by`` of at least one row."""
    entries = np.flatnonzero(idle[compiled.entry_column])
    row, col = compiled.index[entries], compiled.entry_column[entries]
    order = np.lexsort((col, rank_by[col], row))
    ordered_row = row[order]
    first = np.searchsorted(ordered_row, ordered_row, side="left")
    rank = np.arange(len(order)) - first
    chosen = np.zeros(compiled.shape[1], dtype=bool)
    chosen[col[order[rank < count]]] = True
    return chosen
