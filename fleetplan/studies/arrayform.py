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


class ArrayForm(Form):
    """A planning model under construction as triplets; :meth:`compiled` makes the arrays."""

    def __init__(self, name: str) -> None:
        """Start empty."""
        super().__init__(name)
        self.columns = self.names
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []
        self._integer: list[Any] = []
        self._families: list[_Rows] = []
        self._cost: Floats = np.zeros(0)

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
        self._lower.append(low)
        self._upper.append(sides_of(upper, len(keys), np.inf))
        self._integer.append(np.full(len(keys), integer))
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
        """Add one family of rows; ``InfeasibleError`` names a row without variables that cannot hold."""
        low, high = sides_of(lower, len(keys), -np.inf), sides_of(upper, len(keys), np.inf)
        merged = entries.merged()
        counts = np.bincount(merged.row, minlength=len(keys))
        require_true(name, keys, counts, low, high)
        filled = np.flatnonzero(counts)
        self.row_keys[name] = keys.iloc[filled].reset_index(drop=True)
        number = np.cumsum(counts > 0) - 1
        moved = Entries(number[merged.row], merged.col, merged.value) if len(filled) else Entries.none()
        self._families.append(_Rows(name, self.row_keys[name], moved, low[filled], high[filled]))

    def minimise(self, coefficients: Floats) -> None:
        """Set (or replace) the objective: coefficients by global column."""
        self._cost = coefficients

    def compiled(self) -> Compiled:
        """The arrays; variables in no row and without cost are left out, as Pyomo's compiler does."""
        row, col, value = self._triplets()
        used = np.zeros(len(self.columns), dtype=bool)
        used[col] = True
        used |= self._cost != 0
        kept = np.flatnonzero(used)
        place = np.cumsum(used) - 1
        rows = sum(len(family.lower) for family in self._families)
        matrix = sparse.csc_array((value, (row, place[col])), shape=(rows, len(kept)))
        matrix.sort_indices()
        compiled = Compiled(
            start=matrix.indptr.astype(np.int32),
            index=matrix.indices.astype(np.int32),
            value=matrix.data.astype(float),
            row_lower=_joined([family.lower for family in self._families]),
            row_upper=_joined([family.upper for family in self._families]),
            col_lower=_joined(self._lower)[kept],
            col_upper=_joined(self._upper)[kept],
            cost=self._cost[kept],
            offset=0.0,
            integer=np.concatenate(self._integer)[kept] if self._integer else np.zeros(0, dtype=bool),
            rows=Labels(_row_keys(self._families)),
            columns=Labels(_column_keys(self.columns, used)),
        )
        compiled.check()
        return compiled

    def _triplets(self) -> tuple[Ints, Ints, Floats]:
        starts = np.cumsum([0, *(len(family.lower) for family in self._families)])
        parts = [f.entries.row + start for f, start in zip(self._families, starts.tolist(), strict=False)]
        row = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        col = np.concatenate([f.entries.col for f in self._families]) if parts else row
        return row, col, _joined([f.entries.value for f in self._families])


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts).astype(float) if parts else np.zeros(0)


def _row_keys(families: list[_Rows]) -> list[Key]:
    return [(family.name, key) for family in families for key in index_of(family.keys)]


def _column_keys(columns: Columns, used: Any) -> list[Key]:
    keys = [(block.name, key) for block, _ in columns.blocks for key in index_of(block.keys)]
    return [key for key, stays in zip(keys, used.tolist(), strict=True) if stays]
