"""The pieces of one step in isolation: dense, embedding, collectives, host. Seconds, one per option."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fleetplan.performance import embeddings, host
from fleetplan.performance.collectives import collective_time
from fleetplan.performance.kernels import launch_seconds, merged, operator_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.collectives import Collective
    from fleetplan.performance.counts import Counts
    from fleetplan.performance.layout import Layout
    from fleetplan.performance.measured import MeasuredCollectives
    from fleetplan.performance.rates import Rates

OPTIMIZER_KERNELS = 2
OPTIMIZER_BYTES = {"sgd": 12.0, "adagrad": 20.0, "adam": 28.0, "shampoo": 44.0}
"""Bytes per dense weight that one update moves in FP32: gradient read, weight and states read and written."""

Made = TypeVar("Made")
Memo = dict[tuple[object, ...], Any]
"""Parts of a step that layouts of the same options share."""


@dataclass(frozen=True)
class Work:
    """What is asked for, as arrays of one shape, with everything it depends on."""

    model: Model
    counts: Counts
    rates: Rates
    layout: Layout
    devices: NDArray[np.float64]
    batch: NDArray[np.float64]
    imbalance: NDArray[np.float64]
    """Work of the fullest device's tables over the mean."""
    tables: MeasuredCollectives | None = None
    memo: Memo = field(default_factory=dict)
    """Parts by what they depend on of a layout: the same for every other layout of these options."""

    def once(self, key: tuple[object, ...], make: Callable[[Work], Made]) -> Made:
        """A part that depends on the layout through ``key`` alone."""
        if key not in self.memo:
            self.memo[key] = make(self)
        made: Made = self.memo[key]
        return made

    @property
    def launch(self) -> float:
        """Fixed seconds of one counted kernel."""
        return self.once(("launch",), Work._launch)

    def _launch(self) -> float:
        operators = sum(op.kernels_fwd + op.kernels_bwd for op in self.counts.operators)
        sparse = (embeddings.KERNELS_FORWARD + embeddings.KERNELS_BACKWARD) * len(self.counts.embeddings)
        stated = self.model.known.kernels_per_step
        return launch_seconds(self.rates, operators + sparse + OPTIMIZER_KERNELS, stated)


@dataclass(frozen=True)
class Parts:
    """Isolated seconds of each piece of a step."""

    bottom_forward: NDArray[np.float64]
    bottom_backward: NDArray[np.float64]
    dense_forward: NDArray[np.float64]
    """Interaction, sequence, top and loss; with the pipeline's bubble apart."""
    dense_backward: NDArray[np.float64]
    gemm: NDArray[np.float64]
    attention: NDArray[np.float64]
    elementwise: NDArray[np.float64]
    """These three add to the four above: the same seconds by kind."""
    lookup: NDArray[np.float64]
    sparse_update: NDArray[np.float64]
    host_forward: NDArray[np.float64]
    host_backward: NDArray[np.float64]
    input_exchange: NDArray[np.float64]
    alltoall_forward: NDArray[np.float64]
    alltoall_backward: NDArray[np.float64]
    allreduce: NDArray[np.float64]
    gather_forward: NDArray[np.float64]
    gather_backward: NDArray[np.float64]
    """All-gather before the backward pass, and reduce-scatter of the gradients."""
    sparse_sync: NDArray[np.float64]
    pipeline_send: NDArray[np.float64]
    bubble: NDArray[np.float64]
    optimizer: NDArray[np.float64]
    loading: NDArray[np.float64]
    host_optimizer: NDArray[np.float64]

    def at(self, index: int) -> Parts:
        """The parts of one option."""
        return Parts(**{f.name: getattr(self, f.name)[index : index + 1] for f in fields(self)})


def step_parts(work: Work) -> tuple[Parts, dict[str, str]]:
    """All pieces in isolation, and which law or table each collective came from."""
    layout = work.layout
    dense = work.once(("dense", layout.stages, layout.micro_batches), _dense)
    sparse = _sparse(work)
    exchange, laws = work.once(("exchange", layout.sparse_replicas, layout.scheme), _communication)
    sync, sync_laws = work.once(("sync", layout.dense, layout.stages), _dense_sync)
    shape = np.broadcast(work.devices, work.batch).shape
    made = dense | sparse | exchange | sync | _rest(work)
    spread = {name: v if v.shape == shape else np.broadcast_to(v, shape) for name, v in made.items()}
    return Parts(**spread), laws | sync_laws


def _dense(work: Work) -> dict[str, NDArray[np.float64]]:
    zero = np.zeros_like(work.batch)
    keys = (
        "bottom_forward",
        "bottom_backward",
        "dense_forward",
        "dense_backward",
        "gemm",
        "attention",
        "elementwise",
    )
    total = dict.fromkeys(keys, zero)
    micro = work.layout.micro_batches if work.layout.stages > 1 else 1
    batch = work.batch * work.layout.stages / micro
    launch = work.launch
    for op in merged(work.counts.operators):
        times = operator_times(op, work.rates, batch, launch)
        scale = micro / work.layout.stages
        where = "bottom" if op.stage == "bottom" else "dense"
        total[f"{where}_forward"] = total[f"{where}_forward"] + times.forward * scale
        total[f"{where}_backward"] = total[f"{where}_backward"] + times.backward * scale
        total[op.kind] = total[op.kind] + (times.forward + times.backward) * scale
    return total


def _sparse(work: Work) -> dict[str, NDArray[np.float64]]:
    group = work.devices / work.layout.sparse_replicas
    need = embeddings.embedding_work(work.counts, group, work.batch, work.imbalance)
    forward, backward = embeddings.hbm_seconds(work.counts, need, work.rates, work.launch)
    zero = np.zeros_like(forward)
    up, down = zero, zero
    if work.layout.tier != "hbm":
        up, down = embeddings.host_seconds(need, work.rates, cached=work.layout.tier == "cached")
        up = up + work.rates["host_tier_fixed_ms"] * 1e-3
    volume = need.host_rows if work.layout.sparse_replicas > 1 else zero
    sync = collective_time(
        "allreduce", work.rates, volume / _local(work), float(work.layout.sparse_replicas) * _local(work)
    )
    return {
        "lookup": forward,
        "sparse_update": backward,
        "host_forward": up,
        "host_backward": down,
        "sparse_sync": sync.seconds,
    }


def _local(work: Work) -> NDArray[np.float64]:
    return np.minimum(work.devices, work.rates.domain)


def _communication(work: Work) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    counts, rates, tables = work.counts, work.rates, work.tables
    group = work.devices / work.layout.sparse_replicas
    calls = counts.alltoall_calls_per_step / 2
    skew = work.model.skew
    made: dict[str, NDArray[np.float64]] = {}
    laws: dict[str, str] = {}
    rows = row_share(work)
    inside = work.layout.scheme == "table-row-wise"
    summers = np.minimum(group, rates.domain) if inside else group
    directions: tuple[tuple[str, float, Collective], ...] = (
        ("alltoall_forward", counts.alltoall_forward_bytes_per_sample, "reducescatter"),
        ("alltoall_backward", counts.alltoall_backward_bytes_per_sample, "allgather"),
    )
    for name, per_sample, back in directions:
        size = per_sample * work.batch
        sent = collective_time(
            "alltoall", rates, (1 - rows * (not inside)) * skew * size, group, calls=calls, tables=tables
        )
        summed = collective_time(back, rates, rows * size * summers, summers, tables=tables, like="alltoall")
        made[name], laws[name] = sent.seconds + summed.seconds, sent.law
        if rows > 0:
            laws[f"{name}, tables cut by rows"] = summed.law
    indices = collective_time(
        "alltoall", rates, counts.index_bytes_per_sample * work.batch, group, tables=tables
    )
    made["input_exchange"], laws["input_exchange"] = indices.seconds, indices.law
    return made, laws


def row_share(work: Work) -> float:
    """Share of the vectors' bytes whose tables are cut by rows over the whole group.

    Every rank then holds partial sums for the global batch: a reduce-scatter of the whole group's
    vectors forward and an all-gather of their gradients backward. With tables cut inside a domain
    that stays in the domain, and the sums cross in the all-to-all.
    """
    sharded = [g for g in work.counts.embeddings if not g.data_parallel]
    total = sum(g.vectors_per_sample * g.dim for g in sharded)
    if total == 0 or work.layout.scheme in {"row-wise", "table-row-wise"}:
        return 1.0 if total else 0.0
    return sum(g.vectors_per_sample * g.dim for g in sharded if g.row_wise and g.pooled) / total


def _dense_sync(work: Work) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Gradient reduction and weight gathers of the dense part, by layout."""
    counts, rates, layout, tables = work.counts, work.rates, work.layout, work.tables
    ranks = np.maximum(work.devices / layout.stages, 1.0)
    gradients, weights = dense_bytes(work)
    local = np.minimum(ranks, rates.domain)
    zero = np.zeros_like(ranks)
    gathered = collective_time(
        "allgather", rates, counts.dense_allgather_bytes_per_step, ranks, tables=tables
    )
    if layout.dense == "ddp":
        reduced = collective_time("allreduce", rates, gradients, ranks, tables=tables)
        stated = gathered.seconds if work.model.dense_sync == "ddp" else zero
        return {"allreduce": reduced.seconds, "gather_forward": zero, "gather_backward": stated}, {
            "allreduce": reduced.law,
            "gather": gathered.law,
        }
    group = ranks if layout.dense == "fsdp" else local
    gather = collective_time("allgather", rates, weights, group, tables=tables)
    scatter = collective_time("reducescatter", rates, gradients, group, tables=tables)
    reduced = collective_time(
        "allreduce", rates, gradients if layout.dense == "hsdp" else 0.0, ranks, tables=tables
    )
    across = np.where(ranks > local, np.maximum(reduced.seconds - scatter.seconds, 0.0), 0.0)
    return {
        "allreduce": across if layout.dense == "hsdp" else zero,
        "gather_forward": gather.seconds,
        "gather_backward": gather.seconds + scatter.seconds,
    }, {"allreduce": reduced.law, "gather": gather.law, "scatter": scatter.law}


def dense_bytes(work: Work) -> tuple[float, float]:
    """Bytes of one stage's gradients, and of its weights in compute precision."""
    from fleetplan.inputs.architecture import DTYPE_BYTES

    counts, model = work.counts, work.model
    stated = counts.dense_allreduce_bytes_per_step or counts.dense_reducescatter_bytes_per_step
    gradients = stated / work.layout.stages
    weights = counts.dense_parameters * DTYPE_BYTES[model.precisions.compute] / work.layout.stages
    return gradients, weights


def _rest(work: Work) -> dict[str, NDArray[np.float64]]:
    counts, rates, layout = work.counts, work.rates, work.layout
    holders = {"ddp": np.ones_like(work.devices), "fsdp": work.devices, "hsdp": _local(work)}[layout.dense]
    updated = counts.dense_parameters / layout.stages / holders
    optimizer = updated * OPTIMIZER_BYTES[work.model.optimizers.dense] / rates.hbm_stream
    return {
        "optimizer": optimizer + OPTIMIZER_KERNELS * work.launch,
        "bubble": np.zeros_like(work.batch),
        "pipeline_send": _sends(work),
        "loading": host.loading_seconds(work.model, counts, rates, work.batch),
        "host_optimizer": host.shampoo_seconds(work.model, counts, rates, work.devices),
    }


def _sends(work: Work) -> NDArray[np.float64]:
    """Activations over a stage boundary, forward and backward; over NICs once stages fill domains."""
    if work.layout.stages == 1:
        return np.zeros_like(work.batch)
    operators = max(1, len(work.counts.of_kind("gemm")))
    size = 2 * work.counts.activation_bytes_per_sample / operators * work.batch
    rate = np.where(work.devices > work.rates.domain, work.rates.scaleout, work.rates.scaleup)
    return size / rate + work.layout.micro_batches * work.rates["chunk_fixed_us"] * 1e-6
