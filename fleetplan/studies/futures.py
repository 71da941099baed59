"""Futures: changed scenarios with probabilities, and when planners learn which one is coming.

A decision taken in quarter ``q`` may depend on what is known in ``q`` and on nothing else. What is
known is a *node*: the labels that have been revealed by then. Two-stage planning has one reveal: before
it nothing is known, after it everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.errors import UsageError
from fleetplan.planning.form import records
from fleetplan.studies.vectors import landed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import pandas as pd

    from fleetplan.api import Problem
    from fleetplan.periods import Quarter
    from fleetplan.solving.arrays import Compiled, Key
    from fleetplan.studies.cases import Case

ORDERED = "ordered"
"""Family of the columns that hold lots ordered of one accelerator and delivery, wherever they land."""


@dataclass(frozen=True)
class Future:
    """A case with its probability; ``labels`` is what becomes known at each reveal, in order."""

    case: Case
    probability: float
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tree:
    """Futures, and the quarters in which their labels become known.

    Two-stage: one reveal, and labels are the case names where none are given.
    """

    futures: tuple[Future, ...]
    reveals: tuple[Quarter, ...]
    _labels: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse probabilities that do not sum to 1 and labels that do not match the reveals."""
        total = sum(one.probability for one in self.futures)
        if not self.futures or min(f.probability for f in self.futures) <= 0 or abs(total - 1) > 1e-9:
            message = f"futures need positive probabilities that sum to 1, got {total:g}"
            raise UsageError(message)
        if list(self.reveals) != sorted(set(self.reveals)) or not self.reveals:
            message = "a tree needs one or more reveals, in order"
            raise UsageError(message)
        labels = tuple(one.labels or (one.case.name,) * len(self.reveals) for one in self.futures)
        if any(len(each) != len(self.reveals) for each in labels):
            message = f"each future needs one label per reveal ({len(self.reveals)})"
            raise UsageError(message)
        object.__setattr__(self, "_labels", labels)

    def node(self, future: int, ordinal: int) -> tuple[str, ...]:
        """What is known in a quarter (ordinal) if this future is the one that comes."""
        known = sum(reveal.ordinal <= ordinal for reveal in self.reveals)
        return self._labels[future][:known]


def equally_likely(cases: Sequence[Case], reveal: Quarter) -> Tree:
    """A two-stage tree of equally likely cases."""
    return Tree(tuple(Future(case, 1.0 / len(cases)) for case in cases), (reveal,))


@dataclass(frozen=True)
class Ordering:
    """A problem with one column per order: lots of an accelerator for a delivery, over all halls.

    Where the lots land is decided on delivery and may differ by future; that they come is decided
    when they are ordered.
    """

    problem: Problem
    compiled: Compiled
    orders: pd.DataFrame
    """accelerator, delivery, order (ordinal of the last quarter to order in), orderable, lot, committed (lots), column."""

    def keys(self) -> list[tuple[str, str]]:
        """(accelerator, delivery) of each order."""
        return list(zip(self.orders["accelerator"], self.orders["delivery"], strict=True))


def with_orders(problem: Problem) -> Ordering:
    """Add the order columns and their rows ``sum over halls of lots = ordered``."""
    lots = landed(problem)
    groups = lots.groupby(["accelerator", "delivery"], sort=True)
    orders = groups.agg(
        order=("order", "first"),
        orderable=("orderable", "first"),
        lot=("lot", "first"),
        committed=("committed", "first"),
    ).reset_index()
    plain = problem.compiled
    width, count = plain.shape[1], len(orders)
    keys: list[Key] = [(ORDERED, key) for key in zip(orders["accelerator"], orders["delivery"], strict=True)]
    empty = sparse.csc_array((plain.shape[0], count))
    wide = plain.with_columns(keys, empty, np.zeros(count), np.full(count, np.inf))
    number = {key: i for i, (_, key) in enumerate(keys)}
    of = [number[key] for key in zip(lots["accelerator"], lots["delivery"], strict=True)]
    wide = _with_rows(
        wide, np.array(of, dtype=np.int64), lots["column"].to_numpy(dtype=np.int64), width, keys
    )
    return Ordering(problem, wide, orders.assign(column=width + np.arange(count)))


def _with_rows(wide: Compiled, row: np.ndarray, column: np.ndarray, width: int, keys: list[Key]) -> Compiled:
    count = len(keys)
    own = np.arange(count)
    values = np.concatenate([np.ones(len(row)), -np.ones(count)])
    rows, columns = np.concatenate([row, own]), np.concatenate([column, width + own])
    block = sparse.csc_array((values, (rows, columns)), shape=(count, wide.shape[1]))
    matrix = sparse.csc_array(sparse.vstack([wide.matrix, block], format="csc"))
    matrix.sort_indices()
    made = replace(
        wide,
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data.astype(float),
        row_lower=np.append(wide.row_lower, np.zeros(count)),
        row_upper=np.append(wide.row_upper, np.zeros(count)),
        rows=wide.rows.extended([(f"{family} lots", index) for family, index in keys]),
        _cache={},
    )
    made.check()
    return made


def bundler(tree: Tree, orderings: Sequence[Ordering]) -> Callable[[int, Key], Hashable | None]:
    """Which columns are one decision: orders of one delivery by futures that look alike when ordered.

    Commitments and contracted options that can no longer be ordered anew are no decision of now and
    stay each future's own.
    """
    when = [
        {
            (row.accelerator, row.delivery): int(row.order)
            for row in records(one.orders[one.orders["orderable"]])
        }
        for one in orderings
    ]

    def bundle(future: int, key: Key) -> Hashable | None:
        family, index = key
        if family != ORDERED or index not in when[future]:
            return None
        return (index, tree.node(future, when[future][index]))

    return bundle


def agreed_orders(
    orderings: Sequence[Ordering], shares: Sequence[float], early: Sequence[Mapping[tuple[str, str], float]]
) -> dict[tuple[str, str], float]:
    """The rounded mean of the futures' orders, within what is committed and can be had in all of them."""
    agreed = {}
    for key in sorted({key for orders in early for key in orders}):
        mean = sum(p * orders.get(key, 0.0) for p, orders in zip(shares, early, strict=True))
        limits = [_limits(ordering, key) for ordering in orderings]
        least, most = max(low for low, _ in limits), min(high for _, high in limits)
        agreed[key] = float(max(least, min(most, round(mean))))
    return agreed


def _limits(ordering: Ordering, key: tuple[str, str]) -> tuple[float, float]:
    """Lots of a delivery that are committed, and that can be had."""
    rows, compiled = ordering.compiled.rows, ordering.compiled
    row = rows.positions("supply").get(key)
    most = float("inf") if row is None else float(compiled.row_upper[row])
    own = [float(n) for k, n in zip(ordering.keys(), ordering.orders["committed"], strict=True) if k == key]
    return max(own, default=0.0), float(np.floor(most + 1e-9))
