"""The planning model written as arrays at once, without a Pyomo object for each variable and row.

The families of :mod:`fleetplan.planning` prepare triplets; :class:`~fleetplan.planning.form.Form`
turns them into Pyomo objects for whoever wants to read or extend the model, and those are compiled
into arrays. A study of many cases needs the arrays alone: :class:`ArrayForm` keeps the triplets and
hands out the same arrays (same rows, columns, coefficients, sides and bounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fleetplan.planning.form import (
    Block,
    Bools,
    Columns,
    Entries,
    Floats,
    Form,
    Ints,
    index_of,
    require_true,
    sides_of,
)
from fleetplan.solving.arrays import Compiled, Key, Labels


@dataclass(frozen=True)
class _Rows:
    name: str
    keys: pd.DataFrame
    entries: Entries
    lower: Floats
    upper: Floats

    def settled(self) -> _Rows:
        """Duplicates summed, empty rows left out; ``InfeasibleError`` names one that cannot hold."""
        merged = self.entries.merged()
        counts = np.bincount(merged.row, minlength=len(self.keys))
        require_true(self.name, self.keys, counts, self.lower, self.upper)
        filled = np.flatnonzero(counts)
        number = np.cumsum(counts > 0) - 1
        entries = Entries(number[merged.row], merged.col, merged.value) if len(filled) else Entries.none()
        keys = self.keys.iloc[filled].reset_index(drop=True)
        return _Rows(self.name, keys, entries, self.lower[filled], self.upper[filled])


class ArrayForm(Form):
    """A planning model under construction as triplets; :meth:`compiled` makes the arrays."""

    def __init__(self, name: str) -> None:
        """Start empty."""
        super().__init__(name)
        self.columns = self.names
        self.lower: list[Floats] = []
        self.upper: list[Floats] = []
        self.integer: list[Any] = []
        self.families: list[_Rows] = []
        self.cost: Floats = np.zeros(0)

    def variables(
        self,
        name: str,
        keys: pd.DataFrame,
        *,
        integer: bool | Bools = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> Block:
        """Add one family of variables, one for each row of ``keys``; bounds are 0 and none."""
        block = Block(name, len(self.columns), keys.reset_index(drop=True))
        self.blocks[name] = block
        if keys.empty:
            return block
        if np.any(integer):
            self.whole.add(name)
        low = sides_of(lower, len(keys), 0.0)
        self.lower.append(low)
        self.upper.append(sides_of(upper, len(keys), np.inf))
        self.integer.append(np.full(len(keys), integer))
        self.names.add(block, low)
        return block

    def rows(
        self,
        name: str,
        keys: pd.DataFrame,
        entries: Entries,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        """Add one family of rows, one for each row of ``keys``; see :meth:`compiled`."""
        low, high = sides_of(lower, len(keys), -np.inf), sides_of(upper, len(keys), np.inf)
        self.row_keys[name] = keys
        self.families.append(_Rows(name, keys, entries, low, high))

    def minimise(self, coefficients: Floats) -> None:
        """Set (or replace) the objective: coefficients by global column."""
        self.cost = coefficients

    def compiled(self) -> Compiled:
        """The arrays; variables in no row and without cost are left out, as Pyomo's compiler does.

        ``InfeasibleError`` names a row without variables that cannot hold.
        """
        families = [family.settled() for family in self.families]
        row, col, value = _triplets(families)
        used = self.cost != 0
        used[col] = True
        place = np.cumsum(used) - 1
        columns = _column_keys(self.names, used)
        made = self._arrays(
            families, (row, place[col], value), Labels(_row_keys(families)), Labels(columns), used
        )
        made.check()
        return made

    def bare(self) -> Compiled:
        """The arrays as they were given, with numbers for names and nothing left out: the least work."""
        triplets, every = _triplets(self.families), np.ones(len(self.columns), dtype=bool)
        rows = Labels([("row", i) for i in range(sum(len(family.lower) for family in self.families))])
        columns = Labels([("column", j) for j in range(len(every))])
        return self._arrays(self.families, triplets, rows, columns, every)

    def _arrays(
        self,
        families: list[_Rows],
        triplets: tuple[Ints, Ints, Floats],
        rows: Labels,
        columns: Labels,
        used: Bools,
    ) -> Compiled:
        row, col, value = triplets
        matrix = sparse.csc_array((value, (row, col)), shape=(len(rows.keys), int(used.sum())))
        matrix.sort_indices()
        whole = np.concatenate(self.integer) if self.integer else np.zeros(0, dtype=bool)
        return Compiled(
            start=matrix.indptr.astype(np.int32),
            index=matrix.indices.astype(np.int32),
            value=matrix.data.astype(float),
            row_lower=_joined([family.lower for family in families]),
            row_upper=_joined([family.upper for family in families]),
            col_lower=_joined(self.lower)[used],
            col_upper=_joined(self.upper)[used],
            cost=self.cost[used],
            offset=0.0,
            integer=whole[used],
            rows=rows,
            columns=columns,
        )


def _triplets(families: list[_Rows]) -> tuple[Ints, Ints, Floats]:
    starts = np.cumsum([0, *(len(family.lower) for family in families)])
    parts = [f.entries.row + start for f, start in zip(families, starts.tolist(), strict=False)]
    row = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    col = np.concatenate([f.entries.col for f in families]) if parts else row
    return row, col, _joined([f.entries.value for f in families])


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts).astype(float) if parts else np.zeros(0)


def _row_keys(families: list[_Rows]) -> list[Key]:
    return [(family.name, key) for family in families for key in index_of(family.keys)]


def _column_keys(columns: Columns, used: Any) -> list[Key]:
    keys = [(block.name, key) for block, _ in columns.blocks for key in index_of(block.keys)]
    return [key for key, stays in zip(keys, used.tolist(), strict=True) if stays]
