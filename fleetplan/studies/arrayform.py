"""The planning model written as arrays at once, without a Pyomo object for each variable and row.

The families of :mod:`fleetplan.planning` prepare triplets; :class:`~fleetplan.planning.form.Form`
turns them into Pyomo objects for whoever wants to read or extend the model, and those are compiled
into arrays. A study of many cases needs the arrays alone: :class:`ArrayForm` keeps the triplets and
hands out the same arrays (same rows, columns, coefficients, sides and bounds).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from fleetplan.errors import InfeasibleError
from fleetplan.planning.form import Block, Bools, Entries, Floats, Form, Ints
from fleetplan.solving.arrays import Compiled, Key, Labels


@dataclass(frozen=True)
class _Rows:
    name: str
    keys: pd.DataFrame
    entries: Entries
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class _Column:
    """As much of a Pyomo variable as reading a solution needs."""

    name: str
    key: Any
    lb: float | None

    def parent_component(self) -> _Column:
        return self

    def index(self) -> Any:
        return self.key


class _Columns:
    """All columns in order; objects are made only when somebody walks over them."""

    def __init__(self) -> None:
        self.blocks: list[tuple[Block, Floats]] = []
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[_Column]:
        for block, lower in self.blocks:
            for key, low in zip(_index(block.keys), lower.tolist(), strict=True):
                yield _Column(block.name, key, None if low == -np.inf else low)


class ArrayForm(Form):
    """A planning model under construction as triplets; :meth:`compiled` makes the arrays."""

    def __init__(self, name: str) -> None:
        """Start empty."""
        super().__init__(name)
        self.columns: Any = _Columns()
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
        block = Block(name, self.columns.count, keys.reset_index(drop=True))
        self.blocks[name] = block
        if keys.empty:
            return block
        if np.any(integer):
            self.whole.add(name)
        low = np.broadcast_to(np.asarray(lower, dtype=float), len(keys))
        self._lower.append(low)
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=float), len(keys)))
        self._integer.append(np.full(len(keys), integer))
        self.columns.blocks.append((block, low))
        self.columns.count += len(keys)
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
        low, high = _sides(lower, len(keys), -np.inf), _sides(upper, len(keys), np.inf)
        merged = entries.merged()
        counts = np.bincount(merged.row, minlength=len(keys))
        _require_true(name, keys, counts, low, high)
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
        used = np.zeros(self.columns.count, dtype=bool)
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
    return [(family.name, key) for family in families for key in _index(family.keys)]


def _column_keys(columns: _Columns, used: Any) -> list[Key]:
    keys = [(block.name, key) for block, _ in columns.blocks for key in _index(block.keys)]
    return [key for key, stays in zip(keys, used.tolist(), strict=True) if stays]


def _index(keys: pd.DataFrame) -> list[Any]:
    """Keys as Pyomo would have them: tuples, or the bare value where there is one column."""
    if keys.shape[1] == 1:
        bare: list[Any] = keys.iloc[:, 0].tolist()
        return bare
    return list(keys.itertuples(index=False, name=None))


def _sides(side: ArrayLike | None, count: int, absent: float) -> Floats:
    return np.broadcast_to(np.asarray(absent if side is None else side, dtype=float), count)


def _require_true(name: str, keys: pd.DataFrame, counts: Ints, low: Floats, high: Floats) -> None:
    broken = np.flatnonzero((counts == 0) & ((low > 1e-9) | (high < -1e-9)))
    if len(broken):
        first = broken[0]
        key = ", ".join(str(part) for part in keys.iloc[first])
        needed = low[first] if low[first] > 0 else high[first]
        message = f"{name}[{key}] asks for {needed:g}, and nothing can provide it"
        raise InfeasibleError(message)
