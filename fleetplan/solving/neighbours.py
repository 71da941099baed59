"""Which whole numbers lie next to given ones: one unit more or less, or from one column to another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fleetplan.solving.arrays import Bools, Compiled, Floats, Ints

ROOM = 1e-6
"""Tolerance on bounds and rows of whole numbers."""


@dataclass
class Moves:
    """All moves as the columns of a sparse matrix over the whole columns, each with entries +1 and -1."""

    change: sparse.csc_array
    rows: sparse.csr_array
    """Rows of whole numbers alone."""
    lower: Floats
    upper: Floats
    limits: sparse.csc_array
    """The sets that each whole column belongs to, by their numbers: sets x columns."""
    effect: sparse.csc_array = field(init=False)
    _touched: sparse.csc_array = field(init=False)

    def __post_init__(self) -> None:
        self.effect = sparse.csc_array(self.rows @ self.change)
        self._touched = sparse.csc_array(self.limits @ abs(self.change))

    def touches(self, move: int) -> list[int]:
        """Numbers of the sets whose limits the move takes from or gives to."""
        part = slice(self._touched.indptr[move], self._touched.indptr[move + 1])
        found: list[int] = self._touched.indices[part].tolist()
        return found

    def allowed(self, n: Floats, low: Floats, high: Floats) -> Bools:
        """Which moves keep all bounds and all rows of whole numbers alone."""
        change, effect = self.change, self.effect
        after = n[change.indices] + change.data
        bad = (after < low[change.indices] - ROOM) | (after > high[change.indices] + ROOM)
        now, where = (self.rows @ n)[effect.indices], effect.indices
        then = now + effect.data
        low, high = self.lower[where] - ROOM, self.upper[where] + ROOM
        worse = ((then < low) & (then < now)) | ((then > high) & (then > now))
        return ~(_any(bad, change) | _any(worse, effect))


def _any(flags: Bools, matrix: sparse.csc_array) -> Bools:
    """Whether any entry of each column has its flag set."""
    total = np.concatenate([[0], np.cumsum(flags)])
    found: Bools = total[matrix.indptr[1:]] > total[matrix.indptr[:-1]]
    return found


def all_moves(compiled: Compiled, alive: Bools, rivals: Sequence[Ints]) -> Moves:
    """One unit more or less, and one unit from a column to a rival; only columns ``alive`` may grow."""
    whole = np.flatnonzero(compiled.integer)
    place = np.full(compiled.shape[1], -1)
    place[whole] = np.arange(len(whole))
    alone = np.flatnonzero(_of_whole_alone(compiled))
    rows = sparse.csr_array(compiled.by_rows[alone][:, whole])
    sets = [place[group] for group in rivals]
    sets += [rows.indices[rows.indptr[i] : rows.indptr[i + 1]] for i in range(rows.shape[0])]
    pairs = _pairs(sets, alive)
    grow, fall = np.flatnonzero(alive), np.arange(len(whole))
    singles = len(grow) + len(fall)
    row = np.concatenate([grow, fall, pairs[:, 0], pairs[:, 1]])
    own = np.arange(singles + len(pairs))
    column = np.concatenate([own[:singles], own[singles:], own[singles:]])
    value = np.concatenate(
        [np.ones(len(grow)), -np.ones(len(fall)), np.ones(len(pairs)), -np.ones(len(pairs))]
    )
    change = sparse.csc_array((value, (row, column)), shape=(len(whole), len(own)))
    member = np.concatenate([np.full(len(each), number) for number, each in enumerate(sets)])
    of = np.concatenate(sets)
    limits = sparse.csc_array((np.ones(len(of)), (member, of)), shape=(len(sets), len(whole)))
    return Moves(change, rows, compiled.row_lower[alone], compiled.row_upper[alone], limits)


def _pairs(sets: Sequence[Ints], alive: Bools) -> Ints:
    """Ordered pairs (grows, falls) of different members of one set, each pair once."""
    found = []
    for members in sets:
        grow = members[alive[members]]
        pair = np.stack(np.meshgrid(grow, members, indexing="ij"), axis=-1).reshape(-1, 2)
        found.append(pair[pair[:, 0] != pair[:, 1]])
    if not found:
        return np.zeros((0, 2), dtype=np.int64)
    return np.unique(np.concatenate(found), axis=0)


def _of_whole_alone(compiled: Compiled) -> Bools:
    """Rows of whole columns and nothing else: they are kept by every move."""
    whole = np.bincount(
        compiled.index, weights=compiled.integer[compiled.entry_column], minlength=compiled.shape[0]
    )
    every = np.bincount(compiled.index, minlength=compiled.shape[0])
    alone: Bools = (whole > 0) & (whole == every)
    return alone
