"""How every family writes its variables and rows: from arrays of positions to Pyomo, fast.

A family prepares (row, column, coefficient) triplets with numpy; the terms of a whole family are made
in one go, and a rule then only picks its slice and returns a relation of a ``LinearExpression``. That
keeps Pyomo's model readable and its building cheap.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from pyomo.core.expr.relational_expr import EqualityExpression, InequalityExpression, RangedExpression

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
        place = self.row * (int(self.col.max()) + 1) + self.col
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(place[order]) != 0])
        total = np.add.reduceat(self.value[order], starts)
        kept = order[starts[total != 0]]
        return Entries(self.row[kept], self.col[kept], total[total != 0])


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


@dataclass(frozen=True)
class Column:
    """As much of a Pyomo variable as reading a solution needs."""

    name: str
    key: Any
    lb: float | None

    def parent_component(self) -> Column:
        """Stands for its family too."""
        return self

    def index(self) -> Any:
        """Index in its family."""
        return self.key


class Columns:
    """All columns in order, without Pyomo; objects are made only when somebody walks over them."""

    def __init__(self) -> None:
        """Start empty."""
        self.blocks: list[tuple[Block, Floats]] = []
        self.count = 0

    def add(self, block: Block, lower: Floats) -> None:
        """One more family, with the lower bounds of its columns."""
        self.blocks.append((block, lower))
        self.count += len(block)

    def __len__(self) -> int:
        """Number of columns."""
        return self.count

    def __iter__(self) -> Iterator[Column]:
        """Walk over all columns."""
        for block, lower in self.blocks:
            for key, low in zip(index_of(block.keys), lower.tolist(), strict=True):
                yield Column(block.name, key, None if low == -np.inf else low)


class Form:
    """A Pyomo model under construction, with the global order of its columns."""

    def __init__(self, name: str) -> None:
        """Start empty."""
        self.pyomo: Any = pyo.ConcreteModel(name=name)
        self.columns: Any = []
        """Pyomo's variables in order; without Pyomo (see :meth:`light`) a :class:`Columns`."""
        self.names = Columns()
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
        whole, lows = np.broadcast_to(integer, len(keys)), sides_of(lower, len(keys), 0.0)
        self.names.add(block, lows)
        variable = pyo.Var(pyo.SetOf(index_of(keys)), domain=_domain(bool(whole.all()), lows))
        setattr(self.pyomo, name, variable)
        data = list(variable.values())
        if not whole.all():
            for i in np.flatnonzero(whole).tolist():
                data[i].domain = _domain(True, lows)
        _set_bounds(data, lows, sides_of(upper, len(keys), np.inf))
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
        low, high = sides_of(lower, len(keys), -np.inf), sides_of(upper, len(keys), np.inf)
        merged = entries.merged()
        counts = np.bincount(merged.row, minlength=len(keys))
        filled = np.flatnonzero(counts)
        require_true(name, keys, counts, low, high)
        self.row_keys[name] = keys.iloc[filled].reset_index(drop=True)
        if not len(filled):
            return
        index = pyo.SetOf(index_of(self.row_keys[name]))
        relations = _relations(self.columns, merged, counts[filled], low[filled], high[filled])
        # Pyomo asks for the rows in the order of their index.
        setattr(self.pyomo, name, pyo.Constraint(index, rule=lambda _model, *_key: next(relations)))

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

    def light(self) -> Form:
        """A copy without Pyomo's objects: enough to read a solution back."""
        other = copy(self)
        other.columns, other.pyomo = self.names, None
        return other


def _domain(whole: bool, lower: Floats) -> Any:
    """The domain that says most; a bound on each variable costs time."""
    if lower.any():
        return pyo.Integers if whole else pyo.Reals
    return pyo.NonNegativeIntegers if whole else pyo.NonNegativeReals


def _set_bounds(data: list[Any], lower: Floats, upper: Floats) -> None:
    """Set the bounds that the domain does not say."""
    for i in np.flatnonzero(lower).tolist():
        data[i].setlb(float(lower[i]))
    for i in np.flatnonzero(upper != np.inf).tolist():
        data[i].setub(float(upper[i]))


def _relations(
    columns: list[Any], entries: Entries, counts: Ints, low: Floats, high: Floats
) -> Iterator[Any]:
    """One relation for each row, in order; entries are sorted by row."""
    variables = map(columns.__getitem__, entries.col.tolist())
    terms = list(map(MonomialTermExpression, zip(entries.value.tolist(), variables, strict=True)))
    ends = np.cumsum(counts)
    spans = zip((ends - counts).tolist(), ends.tolist(), low.tolist(), high.tolist(), strict=True)
    for first, last, least, most in spans:
        body = LinearExpression(terms[first:last])
        if least == most:
            yield EqualityExpression((body, least))
        elif least == -np.inf:
            yield InequalityExpression((body, most), False)
        elif most == np.inf:
            yield InequalityExpression((least, body), False)
        else:
            yield RangedExpression((least, body, most), (False, False))


def sides_of(side: ArrayLike | None, count: int, absent: float) -> Floats:
    """One side for each row or column."""
    return np.broadcast_to(np.asarray(absent if side is None else side, dtype=float), count)


def require_true(name: str, keys: pd.DataFrame, counts: Ints, low: Floats, high: Floats) -> None:
    """Raise ``InfeasibleError`` for a row without variables that cannot hold."""
    tolerance = 1e-9
    broken = np.flatnonzero((counts == 0) & ((low > tolerance) | (high < -tolerance)))
    if len(broken):
        key = ", ".join(str(part) for part in keys.iloc[broken[0]])
        needed = low[broken[0]] if low[broken[0]] > 0 else high[broken[0]]
        message = f"{name}[{key}] asks for {needed:g}, and nothing can provide it"
        raise InfeasibleError(message)


def index_of(keys: pd.DataFrame) -> list[Any]:
    """Keys as Pyomo has them: tuples, or the bare values of a single column."""
    parts = [_shared(keys[name]) for name in keys]
    return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))


def _shared(column: pd.Series) -> list[Any]:
    """The values of a column; equal ones are one object, which saves memory."""
    code, distinct = pd.factorize(column)
    values: list[Any] = np.asarray(distinct, dtype=object)[code].tolist()
    return values


def mapped(names: Iterable[Hashable], values: Mapping[Any, float]) -> Floats:
    """The value of each name."""
    code, distinct = pd.factorize(_series(names))
    return np.array([values[name] for name in distinct], dtype=float)[code]


def numbered(names: Iterable[str], order: Iterable[str]) -> Ints:
    """The position of each name in an order."""
    number = {name: i for i, name in enumerate(order)}
    code, distinct = pd.factorize(_series(names))
    return np.array([number[name] for name in distinct], dtype=np.int64)[code]


def _series(names: Iterable[Any]) -> pd.Series:
    return names if isinstance(names, pd.Series) else pd.Series(list(names))


def records(frame: pd.DataFrame) -> list[Any]:
    """Rows as named tuples."""
    return list(frame.itertuples(index=False))


def coded(one: pd.DataFrame, other: pd.DataFrame, on: Sequence[str]) -> tuple[Ints, Ints]:
    """One whole number for each row of both tables: equal where the columns ``on`` are equal."""
    code = np.zeros(len(one) + len(other), dtype=np.int64)
    for name in on:
        part, distinct = pd.factorize(pd.concat([one[name], other[name]], ignore_index=True))
        code = code * max(1, len(distinct)) + part
    return code[: len(one)], code[len(one) :]


def lookup(keys: pd.DataFrame, on: Sequence[str], wanted: pd.DataFrame) -> Ints:
    """Row number in ``keys`` of each row of ``wanted`` by the columns ``on``; -1 where absent."""
    known, asked = coded(keys, wanted, on)
    return np.asarray(pd.Index(known).get_indexer(pd.Index(asked)), dtype=np.int64)
