r"""Several futures as one model: copies of the plan that share what must be decided before they part.

With futures :math:`i` of probability :math:`p_i`, costs :math:`f_i(x_i)` and shared decisions
(orders inside the lead time), the extensive form is

.. math:: \min (1-λ) \sum_i p_i f_i(x_i) + λ\, (η + \tfrac{1}{1-α} \sum_i p_i s_i),
          \quad s_i \ge f_i(x_i) - η,\; s_i \ge 0

where the second part is the conditional value at risk (Rockafellar and Uryasev, 2000,
https://doi.org/10.21314/JOR.2000.038): the mean cost of the worst share :math:`1-α` of futures.
Columns that stand for one decision in several futures are one column: non-anticipativity holds by
construction and costs no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.errors import UsageError
from fleetplan.solving.arrays import Compiled, Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from fleetplan.solving.arrays import Bools, Floats, Ints, Key


@dataclass(frozen=True)
class Risk:
    """How much the worst futures weigh: ``weight`` λ on the mean of the worst ``tail`` share."""

    weight: float = 0.0
    tail: float = 0.1

    def __post_init__(self) -> None:
        """Refuse weights and tails outside their ranges."""
        if not 0 <= self.weight <= 1 or not 0 < self.tail <= 1:
            message = f"risk weight must lie in 0..1 and tail in (0, 1], got {self.weight} and {self.tail}"
            raise UsageError(message)


@dataclass(frozen=True)
class Extensive:
    """The joined model, and for each future the columns of the joined model that are its own model's."""

    compiled: Compiled
    columns_of: tuple[Ints, ...]
    futures: tuple[Compiled, ...]
    probabilities: tuple[float, ...]

    def values_of(self, future: int, x: Floats) -> Floats:
        """The joined solution as a solution of one future's model."""
        return x[self.columns_of[future]]

    def costs(self, x: Floats) -> list[float]:
        """Cost of each future under the joined solution."""
        return [model.objective(self.values_of(i, x)) for i, model in enumerate(self.futures)]


def extensive_form(
    futures: Sequence[Compiled],
    probabilities: Sequence[float],
    bundle: Callable[[int, Key], Hashable | None],
    risk: Risk | None = None,
) -> Extensive:
    """Join the futures' models; ``bundle`` says which columns are one decision.

    Probabilities must be positive and sum to 1 (``UsageError``). Shared columns take the tightest
    bounds of their copies and are whole if any copy is.
    """
    _check(futures, probabilities)
    columns_of, keys = _columns(futures, bundle)
    risk = risk or Risk()
    joined = _joined(futures, probabilities, columns_of, keys, 1 - risk.weight)
    if risk.weight > 0:
        joined = _with_tail(joined, futures, probabilities, columns_of, risk)
    return Extensive(joined, columns_of, tuple(futures), tuple(probabilities))


def _check(futures: Sequence[Compiled], probabilities: Sequence[float]) -> None:
    total = sum(probabilities)
    if len(futures) != len(probabilities) or min(probabilities) <= 0 or abs(total - 1) > 1e-9:
        message = f"{len(futures)} futures need as many positive probabilities that sum to 1, got {total:g}"
        raise UsageError(message)


def _columns(
    futures: Sequence[Compiled], bundle: Callable[[int, Key], Hashable | None]
) -> tuple[tuple[Ints, ...], list[Key]]:
    place: dict[Hashable, int] = {}
    keys: list[Key] = []
    maps = []
    for number, future in enumerate(futures):
        positions = np.empty(future.shape[1], dtype=np.int64)
        for column, (family, index) in enumerate(future.columns.keys):
            shared = bundle(number, (family, index))
            if shared is None or shared not in place:
                keys.append((family, (index, number) if shared is None else (index, "shared", shared)))
                if shared is not None:
                    place[shared] = len(keys) - 1
                positions[column] = len(keys) - 1
            else:
                positions[column] = place[shared]
        maps.append(positions)
    return tuple(maps), keys


def _joined(
    futures: Sequence[Compiled],
    probabilities: Sequence[float],
    columns_of: tuple[Ints, ...],
    keys: list[Key],
    weight: float,
) -> Compiled:
    width = len(keys)
    lower, upper = np.full(width, -np.inf), np.full(width, np.inf)
    cost: Floats = np.zeros(width)
    integer: Bools = np.zeros(width, dtype=bool)
    blocks, row_keys = [], []
    for number, (future, share, columns) in enumerate(zip(futures, probabilities, columns_of, strict=True)):
        np.maximum.at(lower, columns, future.col_lower)
        np.minimum.at(upper, columns, future.col_upper)
        np.add.at(cost, columns, weight * share * future.cost)
        np.logical_or.at(integer, columns, future.integer)
        entries = future.matrix.tocoo()
        shape = (future.shape[0], width)
        blocks.append(sparse.coo_array((entries.data, (entries.row, columns[entries.col])), shape=shape))
        row_keys += [(family, (index, number)) for family, index in future.rows.keys]
    matrix = sparse.csc_array(sparse.vstack(blocks, format="csc"))
    matrix.sort_indices()
    return Compiled(
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data.astype(float),
        row_lower=np.concatenate([future.row_lower for future in futures]),
        row_upper=np.concatenate([future.row_upper for future in futures]),
        col_lower=lower,
        col_upper=upper,
        cost=cost,
        offset=weight * sum(p * future.offset for p, future in zip(probabilities, futures, strict=True)),
        integer=integer,
        rows=Labels(row_keys),
        columns=Labels(keys),
    )


def _with_tail(
    joined: Compiled,
    futures: Sequence[Compiled],
    probabilities: Sequence[float],
    columns_of: tuple[Ints, ...],
    risk: Risk,
) -> Compiled:
    """Add η (as a difference of two columns), the excesses and their rows."""
    count, width = len(futures), joined.shape[1]
    keys: list[Key] = [("threshold", "up"), ("threshold", "down"), *(("excess", i) for i in range(count))]
    cost = np.array([risk.weight, -risk.weight, *(risk.weight * p / risk.tail for p in probabilities)])
    empty = sparse.csc_array((joined.shape[0], len(keys)))
    wide = joined.with_columns(keys, empty, cost, np.full(len(keys), np.inf))
    for number, (future, columns) in enumerate(zip(futures, columns_of, strict=True)):
        row: Floats = np.zeros(width + len(keys))
        np.add.at(row, columns, future.cost)
        row[width], row[width + 1], row[width + 2 + number] = -1.0, 1.0, -1.0
        wide = wide.with_row(("tail", number), row, -np.inf, -future.offset)
    return wide


def tail_mean(costs: Sequence[float], probabilities: Sequence[float], tail: float) -> float:
    """Mean cost of the worst ``tail`` share of futures: what the model's second part minimises."""
    left, total = tail, 0.0
    for cost, probability in sorted(zip(costs, probabilities, strict=True), reverse=True):
        part = min(left, probability)
        total += part * cost
        left -= part
    return total / tail
