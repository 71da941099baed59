"""How many distinct rows a batch touches: from a Zipf law of row popularity, or from a given ratio.

A table of R rows is looked up n times. Row of rank r is chosen with p_r = r^-a / sum of r^-a, so the
expected number of distinct rows is the sum of 1 - (1 - p_r)^n over all ranks. The first ranks are
summed one by one; the tail is integrated in logarithmic pieces, which stays within 0.01 % of the sum
for tables of many millions of rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.performance.counts import EmbeddingCount

_HEAD = 256
"""Ranks that are summed one by one."""
_PIECES_PER_FACTOR = 4
"""Pieces of the tail per factor of e in rank."""


def unique_rows(group: EmbeddingCount, lookups: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distinct rows of all tables of ``group`` in one step of ``lookups`` lookups of the group.

    A stated ratio is taken at its word, but no access can touch more rows than uniform access does;
    without a ratio the group's Zipf law holds, and uniform access where there is none.
    """
    draws = lookups / group.tables
    uniform = distinct_rows(group.rows_per_table, 0.0, draws)
    if group.unique_ratio is not None:
        return group.tables * np.minimum(draws * group.unique_ratio, uniform)
    if not group.zipf_alpha:
        return group.tables * uniform
    return group.tables * distinct_rows(group.rows_per_table, group.zipf_alpha, draws)


def distinct_rows(rows: int, alpha: float, draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected distinct rows of one table of ``rows`` rows after ``draws`` lookups, any shape.

    ``alpha`` is the Zipf exponent; 0 is uniform access.
    """
    draws = np.asarray(draws, dtype=np.float64)
    if alpha == 0:
        return -rows * np.expm1(draws * np.log1p(-1 / rows)) if rows > 1 else np.minimum(draws, 1.0)
    share, weight = _law(rows, alpha)
    missed = draws[..., None] * np.log1p(-np.minimum(share, 1 - 1e-16))
    found: NDArray[np.float64] = -(np.expm1(missed) * weight).sum(axis=-1)
    return found


@lru_cache(maxsize=512)
def _law(rows: int, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Popularity at chosen ranks, and how many ranks each of them stands for."""
    rank, weight = _ranks(rows)
    raw = rank**-alpha
    return raw / (raw * weight).sum(), weight


@lru_cache(maxsize=512)
def _ranks(rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ranks 1 to the head one by one, then two Gauss points in each piece of equal ratio."""
    head = np.arange(1, min(rows, _HEAD) + 1, dtype=np.float64)
    if rows <= _HEAD:
        return head, np.ones_like(head)
    low, high = np.log(_HEAD + 0.5), np.log(rows + 0.5)
    edges = np.linspace(low, high, 2 + int((high - low) * _PIECES_PER_FACTOR))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    tail = np.exp(np.concatenate([middle - half / np.sqrt(3), middle + half / np.sqrt(3)]))
    # dr = r d(log r): each point stands for r times half its piece's width
    weight = tail * np.concatenate([half, half])
    return np.concatenate([head, tail]), np.concatenate([np.ones_like(head), weight])
