"""Where tables lie: shards on ranks by scheme, the slowest rank's bytes, and what crosses the wires.

==================  ====================================================================================
table-wise          a table lies on one rank, which serves the global batch
column-wise         a table is cut into column shards of 64 or more elements, each placed as a table
row-wise            every table is cut by rows over all ranks; pooled vectors are reduce-scattered
table-row-wise      a table lies in one scale-up domain, cut by rows over its ranks
auto                table-wise, but a table that is more than one rank's fair share is cut by rows at
                    fair shares; each part sends a partial sum (as HugeCTR's and TorchRec's planners do)
==================  ====================================================================================

2D-sparse copies all of that ``replicas`` times over groups of devices / replicas ranks. Shards are
placed largest first on the rank that stays least loaded (Graham 1969), by the larger of work and memory.
Tables marked ``row_wise`` are cut by rows in every scheme; ``data_parallel`` ones lie everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fleetplan.performance.counts import Counts, EmbeddingCount

Scheme = Literal["table-wise", "column-wise", "row-wise", "table-row-wise", "auto"]
MIN_COLUMNS = 64
"""Narrowest column shard: narrower rows waste memory sectors (TorchRec planner penalises dim < 64)."""

_SLACK = 0.1
"""A table that is at most this much above fair shares is not cut once more."""


@dataclass(frozen=True)
class Placement:
    """Load of each rank of one replica group. Work and wire bytes are per sample of the group's batch."""

    scheme: Scheme
    memory_bytes: NDArray[np.float64]
    """Weights and optimizer state per rank."""
    work_bytes_per_sample: NDArray[np.float64]
    """Table rows and vectors that a rank reads and writes per sample."""
    wire_bytes_per_sample: NDArray[np.float64]
    """Vectors that a rank sends per sample."""

    @property
    def ranks(self) -> int:
        """Ranks of the group."""
        return len(self.memory_bytes)

    @property
    def memory_imbalance(self) -> float:
        """Fullest rank over the mean."""
        return _max_over_mean(self.memory_bytes)

    @property
    def work_imbalance(self) -> float:
        """Busiest rank over the mean."""
        return _max_over_mean(self.work_bytes_per_sample)

    @property
    def wire_imbalance(self) -> float:
        """Rank that sends most over the mean: rho of the all-to-all."""
        return _max_over_mean(self.wire_bytes_per_sample)


@dataclass(frozen=True)
class SparseVolumes:
    """Bytes that a mean device sends per step for its tables; one value per option."""

    ranks: NDArray[np.float64]
    """Ranks that exchange vectors: devices / replicas."""
    forward: NDArray[np.float64]
    """Pooled vectors and partial sums, all-to-all."""
    backward: NDArray[np.float64]
    """Their gradients, all-to-all."""
    inside_domain: NDArray[np.float64]
    """Part of ``forward`` that never leaves a scale-up domain (table-row-wise)."""
    replica_sync: NDArray[np.float64]
    """Table weights that replicas average, per step at one synchronisation in ``sync_every`` steps."""


@dataclass(frozen=True)
class _Shard:
    memory: float
    work: float
    wire: float


@lru_cache(maxsize=4096)
def place(counts: Counts, ranks: int, scheme: Scheme = "table-wise", domain: int = 8) -> Placement:
    """Place all sharded tables on ``ranks`` ranks; ``domain`` is the ranks of one scale-up domain."""
    even: list[_Shard] = []
    shards: list[_Shard] = []
    fair = _fair_share(counts, ranks)
    for group in counts.embeddings:
        if group.data_parallel:
            continue
        if group.row_wise or scheme == "row-wise":
            even.append(_table(group, counts, tables=group.tables))
        elif scheme == "auto":
            portions = _portions(_table(group, counts), fair, ranks)
            shards += [_table(group, counts, rows=portion) for portion in portions] * group.tables
        else:
            pieces = _columns(group) if scheme == "column-wise" else 1
            shards += [_table(group, counts, columns=pieces)] * (group.tables * pieces)
    bins = max(1, ranks // domain) if scheme == "table-row-wise" else ranks
    loads = _largest_first(shards, bins)
    if bins != ranks:
        loads = np.repeat(loads, -(-ranks // bins), axis=0)[:ranks] / -(-ranks // bins)
    loads += np.sum([[s.memory, s.work, s.wire] for s in even], axis=0) / ranks if even else 0.0
    return Placement(scheme, loads[:, 0], loads[:, 1], loads[:, 2])


def imbalance(
    counts: Counts,
    devices: NDArray[np.float64],
    scheme: Scheme = "auto",
    domain: int = 8,
    replicas: int = 1,
    of: Callable[[Placement], float] = lambda placement: placement.work_imbalance,
) -> NDArray[np.float64]:
    """Slowest rank over the mean for each device count: work by default, or another of the three."""
    groups = np.maximum(1, np.asarray(devices) // replicas).astype(np.int64)
    sizes, where = np.unique(groups, return_inverse=True)
    found = np.array([of(place(counts, int(size), scheme, domain)) for size in sizes])
    return found[where].reshape(groups.shape)


def sparse_volumes(
    counts: Counts,
    devices: NDArray[np.float64],
    batch: NDArray[np.float64],
    scheme: Scheme = "auto",
    replicas: int = 1,
    domain: int = 8,
    sync_every: float = 1.0,
) -> SparseVolumes:
    """What tables put on the wires per device and step, for arrays of devices and local batch.

    A vector whose table is cut by rows is sent by every rank that holds one of its lookups (see
    :func:`holders`). Cuts of hot tables under ``auto`` are summed within their node first and add nothing.
    """
    devices, batch = np.broadcast_arrays(np.asarray(devices, float), np.asarray(batch, float))
    ranks = np.maximum(1.0, devices / replicas)
    across, inside = _vector_factors(counts, ranks, scheme, domain)
    weights = sum(g.weight_bytes for g in counts.embeddings if not g.data_parallel)
    return SparseVolumes(
        ranks=ranks,
        forward=counts.alltoall_forward_bytes_per_sample * batch * (across + inside),
        backward=counts.alltoall_backward_bytes_per_sample * batch * (across + inside),
        inside_domain=counts.alltoall_forward_bytes_per_sample * batch * inside,
        replica_sync=(weights / sync_every if replicas > 1 else 0.0) / ranks,
    )


def holders(pooling: float, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks that hold at least one of a sample's ``pooling`` lookups in a table cut evenly by rows.

    D·(1 - (1 - 1/D)^L): each sends one partial sum. A dense reduce-scatter sends D instead.
    """
    return -ranks * np.expm1(pooling * np.log1p(-1 / np.maximum(ranks, 1 + 1e-12)))


def _vector_factors(
    counts: Counts, ranks: NDArray[np.float64], scheme: Scheme, domain: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Vectors sent over vectors asked for: those that may cross domains, and extra ones inside a domain."""
    sharded = [g for g in counts.embeddings if not g.data_parallel]
    total = sum(g.vectors_per_sample * g.dim for g in sharded)
    across, inside = np.zeros_like(ranks), np.zeros_like(ranks)
    for group in sharded:
        share = group.vectors_per_sample * group.dim / total
        pooling = group.lookups_per_sample / group.tables
        if group.pooled and (group.row_wise or scheme == "row-wise"):
            across += share * holders(pooling, ranks)
        else:
            across += share
            if group.pooled and scheme == "table-row-wise":
                inside += share * (holders(pooling, np.minimum(ranks, domain)) - 1)
    return across, inside


def _columns(group: EmbeddingCount) -> int:
    return max(1, group.dim // MIN_COLUMNS)


def _table(
    group: EmbeddingCount, counts: Counts, *, tables: int = 1, columns: int = 1, rows: float = 1.0
) -> _Shard:
    """Load of ``tables`` tables of the group, of one of ``columns`` shards, or of a share of the rows."""
    part = tables / group.tables / columns
    # a row shard sends a whole partial sum, and every column shard reads the whole index list
    wire = group.vectors_per_sample * group.dim * counts.communication_bytes_per_element * part
    wire *= 1.0 if group.pooled else rows
    read = group.lookups_per_sample * group.dim * group.weight_bytes_per_element * part * rows
    indices = group.index_bytes_per_sample * tables / group.tables * rows
    return _Shard((group.weight_bytes + group.state_bytes) * part * rows, read + wire + indices, wire)


def _fair_share(counts: Counts, ranks: int) -> _Shard:
    """Mean memory and work of one rank."""
    tables = [_table(g, counts, tables=g.tables) for g in counts.embeddings if not g.data_parallel]
    return _Shard(sum(t.memory for t in tables) / ranks, sum(t.work for t in tables) / ranks, 0.0)


def _portions(table: _Shard, fair: _Shard, ranks: int) -> list[float]:
    """Row shares of a table: one for each fair share of work or memory that it is, and what is left."""
    pairs = ((table.work, fair.work), (table.memory, fair.memory))
    shares = max((load / mean for load, mean in pairs if mean > 0), default=0.0)
    if shares <= 1 + _SLACK or ranks == 1:
        return [1.0]
    whole = min(ranks, math.floor(shares + _SLACK))
    left = 1 - whole / shares
    if whole == ranks or left * shares <= _SLACK:
        return [1 / whole] * whole
    return [1 / shares] * whole + [left]


def _largest_first(shards: Sequence[_Shard], bins: int) -> NDArray[np.float64]:
    """Largest first, each on the rank whose larger load, work or memory over its mean, stays least."""
    loads = np.zeros((bins, 3))
    if not shards:
        return loads
    sizes = np.array([[s.memory, s.work, s.wire] for s in shards])
    if (sizes == sizes[0]).all():
        counts = np.full(bins, len(shards) // bins) + (np.arange(bins) < len(shards) % bins)
        equal: NDArray[np.float64] = counts[:, None] * sizes[0]
        return equal
    relative = sizes[:, :2] / np.maximum(sizes[:, :2].sum(axis=0), 1e-300)
    order = np.argsort(-relative.max(axis=1), kind="stable")
    filled = np.zeros((bins, 2))
    for i in order:
        after = filled + relative[i]
        rank = int(np.argmin(after.max(axis=1) + 1e-3 * after.sum(axis=1)))
        filled[rank] = after[rank]
        loads[rank] += sizes[i]
    return loads


def _max_over_mean(load: NDArray[np.float64]) -> float:
    mean = float(load.mean())
    return float(load.max()) / mean if mean > 0 else 1.0
