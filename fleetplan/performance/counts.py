"""What one training step of a model asks for, before any hardware: FLOP, bytes, messages, kernels.

``count(model)`` turns an architecture into operators and embedding groups with exact counts per
sample (one training example) or per step. Rates come later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fleetplan.inputs.architecture import DTYPE_BYTES, Dtype, Model, SparseOptimizer, TableGroup
from fleetplan.performance.operators import Kind, Operator, dense_operators, dense_parameters

__all__ = ["Counts", "EmbeddingCount", "Kind", "Operator", "count", "moments_per_weight"]

INDEX_BYTES = 8
"""Bytes of one lookup index on the wire (int64, as TorchRec's KeyedJaggedTensor)."""
STATE_BYTES = 4
"""Bytes of one optimizer state element: states are kept in FP32."""


@dataclass(frozen=True)
class EmbeddingCount:
    """One group of equal tables; counts are of the whole group."""

    name: str
    tables: int
    rows_per_table: int
    dim: int
    weight_bytes_per_element: float
    lookups_per_sample: float
    vectors_per_sample: float
    """Vectors handed to the dense part: one per table if pooled, else one per lookup."""
    pooled: bool
    unique_ratio: float | None
    zipf_alpha: float | None
    moments: float
    """Optimizer state elements per weight: 0 SGD, 1/dim row-wise Adagrad, 1 Adagrad, 2 Adam."""
    row_wise: bool
    data_parallel: bool

    @property
    def parameters(self) -> int:
        """Weights of the group."""
        return self.tables * self.rows_per_table * self.dim

    @property
    def weight_bytes(self) -> float:
        """Bytes of the tables, without optimizer state."""
        return self.parameters * self.weight_bytes_per_element

    @property
    def state_bytes(self) -> float:
        """Bytes of the optimizer state."""
        return self.parameters * self.moments * STATE_BYTES

    @property
    def index_bytes_per_sample(self) -> float:
        """Bytes of the indices of one sample."""
        return self.lookups_per_sample * INDEX_BYTES


@dataclass(frozen=True)
class Counts:
    """All that one step of a model asks for, hardware-free."""

    model: str
    operators: tuple[Operator, ...]
    embeddings: tuple[EmbeddingCount, ...]
    dense_parameters: int
    """Weights and biases of the dense part."""
    sparse_parameters: int
    communication_bytes_per_element: float
    communication_backward_bytes_per_element: float
    alltoall_forward_bytes_per_sample: float
    alltoall_backward_bytes_per_sample: float
    alltoall_calls_per_step: int
    index_bytes_per_sample: float
    dense_allreduce_bytes_per_step: float
    """Payload of the gradient all-reduce; ``hsdp``: before division by the shard group."""
    dense_allgather_bytes_per_step: float
    dense_reducescatter_bytes_per_step: float
    kernels_per_step: float

    @property
    def flop_per_sample(self) -> float:
        """Forward and backward FLOP of matrix products and attention."""
        return sum(op.flop_fwd_per_sample + op.flop_bwd_per_sample for op in self.operators)

    @property
    def elementwise_bytes_per_sample(self) -> float:
        """Forward and backward traffic of elementwise operators."""
        chosen = self.of_kind("elementwise")
        return sum(op.bytes_fwd_per_sample + op.bytes_bwd_per_sample for op in chosen)

    @property
    def lookups_per_sample(self) -> float:
        """Table rows read per sample, repeated ones counted each time."""
        return sum(group.lookups_per_sample for group in self.embeddings)

    @property
    def vectors_per_sample(self) -> float:
        """Vectors handed to the dense part per sample."""
        return sum(group.vectors_per_sample for group in self.embeddings)

    @property
    def activation_bytes_per_sample(self) -> float:
        """What the forward pass keeps for the backward pass: embedding vectors and every product's output."""
        embedded = sum(group.vectors_per_sample * group.dim for group in self.embeddings)
        size = DTYPE_BYTES[self.operators[0].precision] if self.operators else 0.0
        return embedded * size + sum(op.output_bytes_per_sample for op in self.operators)

    def of_kind(self, kind: Kind) -> tuple[Operator, ...]:
        """Operators of one kind, in order."""
        return tuple(op for op in self.operators if op.kind == kind)

    def flop_of_kind(self, kind: Kind) -> float:
        """Forward and backward FLOP per sample of one kind."""
        return sum(op.flop_fwd_per_sample + op.flop_bwd_per_sample for op in self.of_kind(kind))


def count(model: Model) -> Counts:
    """Count one step of ``model``. Sizes per sample or per step as the field names say."""
    operators = dense_operators(model)
    embeddings = tuple(_embedding(group, model) for group in model.tables)
    weights = dense_parameters(model)
    forward, backward = _alltoall_bytes(model, embeddings)
    allreduce, allgather, reducescatter = _dense_volumes(model, weights, embeddings)
    known = model.known
    return Counts(
        model=model.name,
        operators=operators,
        embeddings=embeddings,
        dense_parameters=weights,
        sparse_parameters=sum(group.parameters for group in embeddings),
        communication_bytes_per_element=DTYPE_BYTES[model.precisions.communication],
        communication_backward_bytes_per_element=DTYPE_BYTES[_backward_dtype(model)],
        alltoall_forward_bytes_per_sample=_either(known.alltoall_forward_bytes_per_sample, forward),
        alltoall_backward_bytes_per_sample=_either(known.alltoall_backward_bytes_per_sample, backward),
        alltoall_calls_per_step=known.alltoall_calls_per_step or 2,
        index_bytes_per_sample=sum(g.index_bytes_per_sample for g in embeddings if not g.data_parallel),
        dense_allreduce_bytes_per_step=_either(known.dense_allreduce_bytes_per_step, allreduce),
        dense_allgather_bytes_per_step=_either(known.dense_allgather_bytes_per_step, allgather),
        dense_reducescatter_bytes_per_step=reducescatter,
        kernels_per_step=_either(known.kernels_per_step, _kernels(operators, embeddings)),
    )


def moments_per_weight(optimizer: SparseOptimizer, dim: int) -> float:
    """State elements per table weight (TorchRec planner: Adam 2, Adagrad 1, row-wise 1/dim, SGD 0)."""
    return {"sgd": 0.0, "rowwise_adagrad": 1 / dim, "adagrad": 1.0, "adam": 2.0}[optimizer]


def _either(stated: float | None, counted: float) -> float:
    return counted if stated is None else stated


def _backward_dtype(model: Model) -> Dtype:
    return model.precisions.communication_backward or model.precisions.communication


def _embedding(group: TableGroup, model: Model) -> EmbeddingCount:
    lookups = group.tables * group.pooling
    return EmbeddingCount(
        name=group.name,
        tables=group.tables,
        rows_per_table=group.rows,
        dim=group.dim,
        weight_bytes_per_element=DTYPE_BYTES[group.dtype or model.precisions.embedding],
        lookups_per_sample=lookups,
        vectors_per_sample=group.tables if group.pooled else lookups,
        pooled=group.pooled,
        unique_ratio=group.unique_ratio,
        zipf_alpha=group.zipf_alpha,
        moments=moments_per_weight(model.optimizers.sparse, group.dim),
        row_wise=group.row_wise,
        data_parallel=group.data_parallel,
    )


def _alltoall_bytes(model: Model, embeddings: Iterable[EmbeddingCount]) -> tuple[float, float]:
    """V = P·d·e per sample, forward and backward (vectors of replicated tables stay local)."""
    elements = sum(group.vectors_per_sample * group.dim for group in embeddings if not group.data_parallel)
    forward = elements * DTYPE_BYTES[model.precisions.communication]
    return forward, elements * DTYPE_BYTES[_backward_dtype(model)]


def _dense_volumes(
    model: Model, weights: int, embeddings: Iterable[EmbeddingCount]
) -> tuple[float, float, float]:
    """All-reduce, all-gather and reduce-scatter payload per step in bytes.

    ``ddp`` reduces all gradients; ``fsdp`` gathers the weights forward and backward and scatters
    the gradients; ``hsdp`` does that within a shard group and reduces the shards across groups.
    """
    replicated = sum(group.parameters for group in embeddings if group.data_parallel)
    gradients = (weights + replicated) * DTYPE_BYTES[model.precisions.gradient]
    gathered = 2 * weights * DTYPE_BYTES[model.precisions.compute]
    if model.dense_sync == "ddp":
        return gradients, 0.0, 0.0
    if model.dense_sync == "fsdp":
        return 0.0, gathered, gradients
    return gradients, gathered, gradients


def _kernels(operators: Iterable[Operator], embeddings: Iterable[EmbeddingCount]) -> float:
    """Launches per step: operators, lookup, sort and update per table group, dense optimizer."""
    dense = sum(op.kernels_fwd + op.kernels_bwd for op in operators)
    sparse = sum(_EMBEDDING_KERNELS for _ in embeddings)
    return dense + sparse + _OPTIMIZER_KERNELS


_EMBEDDING_KERNELS = 6
"""Fused lookup, permute, sort, segment, gradient, update: one batched launch each per group."""
_OPTIMIZER_KERNELS = 2
