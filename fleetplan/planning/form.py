"""How every family writes its variables and rows: from arrays of positions to Pyomo, fast.

A family prepares (row, column, coefficient) triplets with numpy; a rule then only picks its slice
and returns a ``LinearExpression``. That keeps Pyomo's model readable and its building cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray
from pyomo.core.expr.numeric_expr import LinearExpression

from fleetplan.errors import InfeasibleError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Entries:
    """Coefficients of some rows: equally long arrays of row number, global column and value."""

    row: Ints
    col: Ints
    value: Floats

    @classmethod
    def of(cls, row: ArrayLike, col: ArrayLike, value: ArrayLike) -> Entries:
        """Make entries from anything array-like; a scalar value holds for all."""
        rows = np.asarray(row, dtype=np.int64)
        values = np.broadcast_to(np.asarray(value, dtype=float), rows.shape)
        return cls(rows, np.asarray(col, dtype=np.int64), values)

    @classmethod
    def none(cls) -> Entries:
        """No entries."""
        return cls.of([], [], [])

    def __add__(self, other: Entries) -> Entries:
        """Both, one after the other."""
        return Entries(
            np.concatenate([self.row, other.row]),
            np.concatenate([self.col, other.col]),
            np.concatenate([self.value, other.value]),
        )

    def merged(self) -> Entries:
        """Sorted by row and column, duplicates summed, zeros left out."""
        if not len(self.row):
            return self
        order = np.lexsort((self.col, self.row))
        row, col, value = self.row[order], self.col[order], self.value[order]
        first = np.r_[True, (np.diff(row) != 0) | (np.diff(col) != 0)]
        starts = np.flatnonzero(first)
        total = np.add.reduceat(value, starts)
        keep = total != 0
        return Entries(row[starts][keep], col[starts][keep], total[keep])


@dataclass(frozen=True)
class Block:
    """One variable family: its keys (one row each, in order) and its first global column."""

    name: str
    offset: int
    keys: pd.DataFrame

    def __len__(self) -> int:
        """Number of variables."""
        return len(self.keys)

    @property
    def cols(self) -> Ints:
        """Global columns of all its variables."""
        return np.arange(self.offset, self.offset + len(self.keys), dtype=np.int64)


class Form:
    """A Pyomo model under construction, with the global order of its columns."""

    def __init__(self, name: str) -> None:
        """Start empty."""
        self.pyomo = pyo.ConcreteModel(name=name)
        self.columns: list[Any] = []
        self.blocks: dict[str, Block] = {}
        self.row_keys: dict[str, pd.DataFrame] = {}
        self.whole: set[str] = set()
        """Families with whole numbers."""

    def variables(
        self,
        name: str,
        keys: pd.DataFrame,
        *,
        integer: bool | Bools = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> Block:
        """Add one family of variables, one for each row of ``keys``; bounds are 0 and none.

        ``integer`` says which are whole numbers: all, none, or one flag for each.
        """
        block = Block(name, len(self.columns), keys.reset_index(drop=True))
        self.blocks[name] = block
        if keys.empty:
            return block
        if np.any(integer):
            self.whole.add(name)
        variable = pyo.Var(_index_set(keys), domain=pyo.Integers if np.all(integer) else pyo.Reals)
        setattr(self.pyomo, name, variable)
        data = list(variable.values())
        if np.any(integer) and not np.all(integer):
            for i in np.flatnonzero(integer).tolist():
                data[i].domain = pyo.Integers
        lows = np.broadcast_to(np.asarray(lower, dtype=float), len(keys)).tolist()
        highs = np.broadcast_to(np.asarray(upper, dtype=float), len(keys)).tolist()
        for one, low, high in zip(data, lows, highs, strict=True):
            one.setlb(low)
            if high != np.inf:
                one.setub(high)
        self.columns.extend(data)
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
        """Add one family of rows, one for each row of ``keys``, with the sides given.

        A row without any variable is left out if it holds; ``InfeasibleError`` names it if not.
        """
        low, high = _sides(lower, len(keys), -np.inf), _sides(upper, len(keys), np.inf)
        merged = entries.merged()
        counts = np.bincount(merged.row, minlength=len(keys))
        filled = np.flatnonzero(counts)
        _require_true(name, keys, counts, low, high)
        self.row_keys[name] = keys.iloc[filled].reset_index(drop=True)
        if not len(filled):
            return
        ends = np.cumsum(counts)
        pick = _Picker(self.columns, merged, (ends - counts)[filled], ends[filled], low[filled], high[filled])
        tuples = _tuples(self.row_keys[name])
        number = dict(zip(tuples, range(len(tuples)), strict=True))
        rule = lambda _model, *key: pick(number[key])  # noqa: E731
        setattr(self.pyomo, name, pyo.Constraint(_index_set(self.row_keys[name]), rule=rule))

    def minimise(self, coefficients: Floats) -> None:
        """Set (or replace) the objective: coefficients by global column."""
        used = np.flatnonzero(coefficients)
        body = LinearExpression(
            constant=0.0,
            linear_coefs=coefficients[used].tolist(),
            linear_vars=[self.columns[j] for j in used.tolist()],
        )
        if hasattr(self.pyomo, "cost"):
            self.pyomo.del_component("cost")
        self.pyomo.cost = pyo.Objective(expr=body, sense=pyo.minimize)


class _Picker:
    """Gives the (lower, body, upper) of one row by number."""

    def __init__(
        self, columns: list[Any], entries: Entries, start: Ints, stop: Ints, low: Floats, high: Floats
    ) -> None:
        self.columns, self.cols, self.values = columns, entries.col.tolist(), entries.value.tolist()
        self.start, self.stop = start.tolist(), stop.tolist()
        self.low, self.high = low.tolist(), high.tolist()

    def __call__(self, i: int) -> tuple[Any, ...]:
        first, last = self.start[i], self.stop[i]
        columns = self.columns
        body = LinearExpression(
            constant=0.0,
            linear_coefs=self.values[first:last],
            linear_vars=[columns[j] for j in self.cols[first:last]],
        )
        low, high = self.low[i], self.high[i]
        if low == high:
            return (body, low)
        return (None if low == -np.inf else low, body, None if high == np.inf else high)


def _sides(side: ArrayLike | None, count: int, absent: float) -> Floats:
    return np.broadcast_to(np.asarray(absent if side is None else side, dtype=float), count)


def _require_true(name: str, keys: pd.DataFrame, counts: Ints, low: Floats, high: Floats) -> None:
    tolerance = 1e-9
    broken = np.flatnonzero((counts == 0) & ((low > tolerance) | (high < -tolerance)))
    if len(broken):
        key = ", ".join(str(part) for part in keys.iloc[broken[0]])
        needed = low[broken[0]] if low[broken[0]] > 0 else high[broken[0]]
        message = f"{name}[{key}] asks for {needed:g}, and nothing can provide it"
        raise InfeasibleError(message)


def _tuples(keys: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(keys.itertuples(index=False, name=None))


def _index_set(keys: pd.DataFrame) -> Sequence[Any]:
    tuples = _tuples(keys)
    return [key[0] for key in tuples] if keys.shape[1] == 1 else tuples


def mapped(names: Iterable[str], values: Mapping[str, float]) -> Floats:
    """The value of each name."""
    return np.array([values[name] for name in names], dtype=float)


def numbered(names: Iterable[str], order: Iterable[str]) -> Ints:
    """The position of each name in an order."""
    number = {name: i for i, name in enumerate(order)}
    return np.array([number[name] for name in names], dtype=np.int64)


def records(frame: pd.DataFrame) -> list[Any]:
    """Rows as named tuples."""
    return list(frame.itertuples(index=False))


def lookup(keys: pd.DataFrame, on: Sequence[str], wanted: pd.DataFrame) -> Ints:
    """Row number in ``keys`` of each row of ``wanted`` by the columns ``on``; -1 where absent."""
    index = pd.MultiIndex.from_frame(keys[list(on)]) if len(on) > 1 else pd.Index(keys[on[0]])
    target = pd.MultiIndex.from_frame(wanted[list(on)]) if len(on) > 1 else pd.Index(wanted[on[0]])
    return np.asarray(index.get_indexer(target), dtype=np.int64)
