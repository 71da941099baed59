"""A linear model with integers as plain arrays: what every part of the solving room works on.

``minimise  cost @ x + offset   with  row_lower <= A x <= row_upper,  col_lower <= x <= col_upper,
x[integer] whole``, where ``A`` is a sparse matrix by columns. Infinite sides are ``±numpy.inf``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fleetplan.errors import SolverError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Key = tuple[str, Hashable]
"""A row or column: name of its family, and index in it (``None`` for a family of one)."""

MOST_FAULTS_SHOWN = 10


class Labels:
    """What the rows (or columns) stand for; built on first use, since a plain solve needs no names.

    ``entries`` are objects of the modelling language; ``key_of`` turns one into a :data:`Key`.
    Pickled labels carry keys only, so that arrays travel to other processes without their model.
    """

    def __init__(self, entries: Sequence[Any], key_of: Any = None, owner: Any = None) -> None:
        """Keep the entries in the order of the rows or columns, and the model that they live in."""
        self._entries = entries
        self._key_of = key_of
        self._owner = owner

    @cached_property
    def keys(self) -> list[Key]:
        """One key for each position."""
        return list(self._entries) if self._key_of is None else [self._key_of(e) for e in self._entries]

    @cached_property
    def _families(self) -> dict[str, dict[Hashable, int]]:
        families: dict[str, dict[Hashable, int]] = {}
        for position, (family, index) in enumerate(self.keys):
            families.setdefault(family, {})[index] = position
        return families

    @property
    def families(self) -> list[str]:
        """Names of all families, in the order of their first position."""
        return list(self._families)

    def positions(self, family: str) -> dict[Hashable, int]:
        """Position by index for one family; a family that was compiled away has none."""
        return self._families.get(family, {})

    def position(self, family: str, index: Hashable = None) -> int:
        """Position of one row or column; ``SolverError`` where it is not in the arrays."""
        try:
            return self._families[family][index]
        except KeyError:
            raise SolverError(f"{name_of((family, index))} is not in the compiled model") from None

    def name(self, position: int) -> str:
        """Readable name of one position, like ``power['iowa', 3]``."""
        if "keys" in self.__dict__ or self._key_of is None:
            return name_of(self.keys[position])
        return name_of(self._key_of(self._entries[position]))

    @property
    def names(self) -> list[str]:
        """All readable names."""
        return [name_of(key) for key in self.keys]

    def extended(self, more: Iterable[Key]) -> Labels:
        """These labels followed by more."""
        return Labels([*self.keys, *more])

    def detached(self) -> Labels:
        """The same labels without the objects they were read from."""
        return Labels(self.keys)

    def __len__(self) -> int:
        """Number of positions."""
        return len(self._entries)

    def __getstate__(self) -> dict[str, Any]:
        """Keys only."""
        return {"_entries": self.keys, "_key_of": None, "_owner": None}


def name_of(key: Key) -> str:
    """``family[index]``, with a tuple index spread out; the family alone without an index."""
    family, index = key
    if index is None:
        return family
    parts = index if isinstance(index, tuple) else (index,)
    return f"{family}[{','.join(str(part) for part in parts)}]"


def exact_dot(one: Floats, other: Floats) -> float:
    """The sum of the products, rounded once: the same with any number of threads.

    A BLAS adds in another order where it has more threads, which moves the last digit of a cost from
    one process to another.
    """
    return math.fsum((one * other).tolist())


@dataclass(frozen=True, eq=False)
class Compiled:
    """A model as arrays. Changed copies share what did not change; nothing is altered in place."""

    start: NDArray[np.int32]
    """Where each column's entries begin, ``columns + 1`` long."""
    index: NDArray[np.int32]
    """Row of each entry."""
    value: Floats
    """Coefficient of each entry; finite and not zero."""
    row_lower: Floats
    row_upper: Floats
    col_lower: Floats
    col_upper: Floats
    cost: Floats
    """Always to be minimised; a model to maximise has its cost negated (see ``sign``)."""
    offset: float
    integer: Bools
    rows: Labels
    columns: Labels
    sign: float = 1.0
    """-1 where the modeller maximises: ``sign * objective`` is the modeller's own objective."""
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """Forms of the matrix; shared by all copies with the same matrix."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.row_lower), len(self.cost)

    @property
    def entries(self) -> int:
        """Number of coefficients that are not zero."""
        return len(self.value)

    @property
    def matrix(self) -> sparse.csc_array:
        """The coefficients by columns (no copy)."""
        if "csc" not in self._cache:
            arrays = (self.value, self.index, self.start)
            self._cache["csc"] = sparse.csc_array(arrays, shape=self.shape)
        return self._cache["csc"]

    @property
    def by_rows(self) -> sparse.csr_array:
        """The coefficients by rows."""
        if "csr" not in self._cache:
            self._cache["csr"] = self.matrix.tocsr()
        return self._cache["csr"]

    @property
    def entry_column(self) -> Ints:
        """Column of each entry, in the order of ``value``."""
        if "entry_column" not in self._cache:
            self._cache["entry_column"] = np.repeat(np.arange(self.shape[1]), np.diff(self.start))
        return self._cache["entry_column"]  # type: ignore[no-any-return]

    def objective(self, x: Floats) -> float:
        """Cost of ``x``, to be minimised, offset included."""
        return exact_dot(self.cost, x) + self.offset

    # -- changed copies -------------------------------------------------------------------------

    def with_rhs(
        self, positions: ArrayLike, lower: ArrayLike | None = None, upper: ArrayLike | None = None
    ) -> Compiled:
        """A copy with other sides on some rows; ``None`` leaves a side as it is."""
        return self._with_sides("row", positions, lower, upper)

    def with_bounds(
        self, positions: ArrayLike, lower: ArrayLike | None = None, upper: ArrayLike | None = None
    ) -> Compiled:
        """A copy with other bounds on some columns; ``None`` leaves a side as it is."""
        return self._with_sides("col", positions, lower, upper)

    def _with_sides(
        self, what: str, positions: ArrayLike, lower: ArrayLike | None, upper: ArrayLike | None
    ) -> Compiled:
        changes: dict[str, Any] = {}
        for side, values in ((f"{what}_lower", lower), (f"{what}_upper", upper)):
            if values is not None:
                changes[side] = getattr(self, side).copy()
                changes[side][np.asarray(positions, dtype=np.int64)] = values
        changed = replace(self, **changes)
        changed.check()
        return changed

    def with_cost(self, positions: ArrayLike, values: ArrayLike, offset: float | None = None) -> Compiled:
        """A copy with other costs (to be minimised) on some columns."""
        cost = self.cost.copy()
        cost[np.asarray(positions, dtype=np.int64)] = values
        changed = replace(self, cost=cost, offset=self.offset if offset is None else offset)
        changed.check()
        return changed

    def with_objective(self, cost: Floats, offset: float = 0.0) -> Compiled:
        """A copy with another objective."""
        return self.with_cost(np.arange(len(self.cost)), cost, offset)

    def relaxed(self) -> Compiled:
        """A copy without integers."""
        return replace(self, integer=np.zeros_like(self.integer))

    def fixed(self, positions: ArrayLike, values: ArrayLike) -> Compiled:
        """A copy with some columns held at a value."""
        return self.with_bounds(positions, values, values)

    def with_row(self, key: Key, coefficients: Floats, lower: float, upper: float) -> Compiled:
        """A copy with one more row, with a coefficient for each column."""
        row = sparse.csr_array(coefficients.reshape(1, -1))
        matrix = sparse.csc_array(sparse.vstack([self.by_rows, row], format="csc"))
        return self._with_matrix(
            matrix,
            row_lower=np.append(self.row_lower, lower),
            row_upper=np.append(self.row_upper, upper),
            rows=self.rows.extended([key]),
        )

    def with_columns(
        self, keys: Sequence[Key], matrix: sparse.csc_array, cost: Floats, upper: Floats
    ) -> Compiled:
        """A copy with more continuous columns from 0 to ``upper``; ``matrix`` is rows x new columns."""
        wide = sparse.csc_array(sparse.hstack([self.matrix, matrix], format="csc"))
        return self._with_matrix(
            wide,
            col_lower=np.append(self.col_lower, np.zeros(len(keys))),
            col_upper=np.append(self.col_upper, upper),
            cost=np.append(self.cost, cost),
            integer=np.append(self.integer, np.zeros(len(keys), dtype=bool)),
            columns=self.columns.extended(keys),
        )

    def _with_matrix(self, matrix: sparse.csc_array, **changes: Any) -> Compiled:
        matrix.sort_indices()
        changed = replace(
            self,
            start=matrix.indptr.astype(np.int32),
            index=matrix.indices.astype(np.int32),
            value=matrix.data.astype(float),
            _cache={},
            **changes,
        )
        changed.check()
        return changed

    def detached(self) -> Compiled:
        """A copy that no longer holds on to the model it came from."""
        return replace(self, rows=self.rows.detached(), columns=self.columns.detached())

    # -- checks ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ``SolverError`` naming rows and columns unless every number is usable.

        A solver may drop a row with a not-a-number or infinite coefficient without a word.
        """
        faults = [*self._coefficient_faults(), *self._column_faults(), *self._row_faults()]
        if faults:
            more = len(faults) - MOST_FAULTS_SHOWN
            shown = faults[:MOST_FAULTS_SHOWN] + ([f"and {more} more"] if more > 0 else [])
            raise SolverError("the model has unusable numbers:\n  " + "\n  ".join(shown))

    def _coefficient_faults(self) -> list[str]:
        return [
            f"coefficient {self.value[k]} of {self.columns.name(self.entry_column[k])} "
            f"in row {self.rows.name(self.index[k])}"
            for k in np.flatnonzero(~np.isfinite(self.value)).tolist()
        ]

    def _column_faults(self) -> list[str]:
        faults = [
            f"cost {self.cost[j]} of {self.columns.name(j)}"
            for j in np.flatnonzero(~np.isfinite(self.cost)).tolist()
        ]
        if not np.isfinite(self.offset):
            faults.append(f"constant {self.offset} in the objective")
        return faults + _side_faults("bound", self.col_lower, self.col_upper, self.columns)

    def _row_faults(self) -> list[str]:
        return _side_faults("side", self.row_lower, self.row_upper, self.rows)


def _side_faults(what: str, lower: Floats, upper: Floats, labels: Labels) -> list[str]:
    bad_lower = np.isnan(lower) | (lower == np.inf)
    bad_upper = np.isnan(upper) | (upper == -np.inf)
    return [f"lower {what} {lower[i]} of {labels.name(i)}" for i in np.flatnonzero(bad_lower).tolist()] + [
        f"upper {what} {upper[i]} of {labels.name(i)}" for i in np.flatnonzero(bad_upper).tolist()
    ]


def positions_of(labels: Labels, values: Mapping[Key, float]) -> tuple[Ints, Floats]:
    """Positions and values of a mapping by key, for the ``with_…`` methods of :class:`Compiled`."""
    places = [labels.position(family, index) for family, index in values]
    return np.array(places, dtype=np.int64), np.array(list(values.values()), dtype=float)
