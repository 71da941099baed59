"""What a recommendation model is: tables, dense blocks, optimizers and precisions, hardware-free.

A :class:`Model` is the architecture in full, so that :mod:`fleetplan.performance.counts` can count
every FLOP and byte of it. Sizes are per sample unless a name says otherwise; a *sample* is one
training example (one user sequence in a sequence model). Widths are numbers of elements.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from fleetplan.figures import Figure

Family = Literal["dlrm", "wukong", "hstu", "two-tower", "hybrid"]
Stage = Literal["bottom", "interaction", "sequence", "top", "loss"]
"""Where a block stands in the step: bottom blocks need no embeddings, the others do."""
Dtype = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
DenseSync = Literal["ddp", "fsdp", "hsdp"]
DenseOptimizer = Literal["sgd", "adagrad", "adam", "shampoo"]
SparseOptimizer = Literal["sgd", "rowwise_adagrad", "adagrad", "adam"]

DTYPE_BYTES: dict[Dtype, float] = {
    "fp32": 4,
    "tf32": 4,
    "bf16": 2,
    "fp16": 2,
    "fp8": 1,
    "int8": 1,
    "fp4": 0.5,
}
"""Bytes per element in memory or on the wire."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class TableGroup(_Part):
    """``tables`` embedding tables of one shape."""

    name: str
    tables: PositiveInt = 1
    rows: PositiveInt
    """Rows of each table."""
    dim: PositiveInt
    pooling: PositiveFloat
    """Mean lookups per sample and table; tokens per sample where the output is not pooled."""
    pooled: bool = True
    """Whether the lookups of one sample are summed into one vector."""
    dtype: Dtype | None = None
    """Storage type; ``None`` takes ``precisions.embedding``."""
    unique_ratio: Annotated[float, Field(gt=0, le=1)] | None = None
    """Distinct rows over lookups of one step at the reference batch, where it is known."""
    zipf_alpha: NonNegativeFloat | None = None
    """Exponent of the Zipf law of row popularity, where no ratio is given."""
    row_wise: bool = False
    """Whether each table is too large for one device and split by rows."""
    data_parallel: bool = False
    """Whether the tables are copied to every device and their gradients reduced with the dense ones."""


class Mlp(_Part):
    """Fully connected layers with bias; ``widths`` starts with the input width."""

    block: Literal["mlp"] = "mlp"
    name: str
    stage: Stage
    widths: Annotated[tuple[PositiveInt, ...], Field(min_length=2)]
    copies: PositiveInt = 1
    """Separate networks of this shape, each with its own weights."""
    elementwise_passes: NonNegativeFloat = 0
    """Activation widths of extra traffic per layer, forward and backward; 0 with fused epilogues."""


class Dot(_Part):
    """Pairwise dot products of ``vectors`` vectors (DLRM)."""

    block: Literal["dot"] = "dot"
    name: str = "dot"
    stage: Stage = "interaction"
    vectors: PositiveInt
    dim: PositiveInt
    elementwise_passes: NonNegativeFloat = 6


class DcnLowRank(_Part):
    """Low-rank cross layers (DCNv2): per layer width x rank down, rank x width up."""

    block: Literal["dcn_lowrank"] = "dcn_lowrank"
    name: str = "dcn"
    stage: Stage = "interaction"
    layers: PositiveInt
    width: PositiveInt
    rank: PositiveInt
    elementwise_passes: NonNegativeFloat = 12


class Compress(_Part):
    """Linear mix of ``in_vectors`` vectors into ``out_vectors``, the same for each of ``dim`` elements."""

    block: Literal["compress"] = "compress"
    name: str = "compress"
    stage: Stage = "interaction"
    in_vectors: PositiveInt
    out_vectors: PositiveInt
    dim: PositiveInt


class FmLowRank(_Part):
    """Factorisation machine X(XᵀY): ``vectors`` x ``dim`` input, ``vectors`` x ``rank`` product."""

    block: Literal["fm_lowrank"] = "fm_lowrank"
    name: str = "fm"
    stage: Stage = "interaction"
    vectors: PositiveInt
    dim: PositiveInt
    rank: PositiveInt
    out_width: PositiveInt
    """Width handed to the next block, after the products are summed in groups."""
    elementwise_passes: NonNegativeFloat = 6


class Wukong(_Part):
    """Stack of FM block + MLP beside a linear compression block (Wukong, DHEN)."""

    block: Literal["wukong"] = "wukong"
    name: str = "wukong"
    stage: Stage = "interaction"
    layers: PositiveInt
    in_vectors: PositiveInt
    """Embedding vectors that enter the first layer."""
    dim: PositiveInt
    fm_vectors: PositiveInt
    """Vectors that the FM block puts out per layer (n_F)."""
    lcb_vectors: PositiveInt
    """Vectors that the linear compression block puts out per layer (n_L)."""
    rank: PositiveInt
    """Compressed embeddings in the FM product (k)."""
    mlp: tuple[PositiveInt, ...]
    """Hidden widths of the FM block's MLP."""
    elementwise_passes: NonNegativeFloat = 8


class Hstu(_Part):
    """HSTU layers over a user sequence; lengths are jagged and enter by their first two moments."""

    block: Literal["hstu"] = "hstu"
    name: str = "hstu"
    stage: Stage = "sequence"
    layers: PositiveInt
    hidden: PositiveInt
    heads: PositiveInt
    qk_dim: PositiveInt
    v_dim: PositiveInt
    tokens_mean: PositiveFloat
    tokens_max: PositiveFloat
    tokens_sq_ratio: Annotated[float, Field(ge=1)] = 1.0
    """E[T²]/E[T]²: 1 where all sequences are padded to one length."""
    output_gating: PositiveFloat = 1
    """Width of the output projection's input over heads x v_dim: 1 in recsys-examples, 3 in MLCommons."""
    causal: bool = True
    contextual_tokens: NonNegativeFloat = 0
    """Part of ``tokens_mean`` that is context, not history."""
    action_tokens: NonNegativeFloat = 0
    """Part of ``tokens_mean`` that is interleaved actions."""
    elementwise_passes: NonNegativeFloat = 56


class InBatchSoftmax(_Part):
    """Each sample's query against ``negatives`` candidates of the batch (two towers)."""

    block: Literal["in_batch_softmax"] = "in_batch_softmax"
    name: str = "in_batch_softmax"
    stage: Stage = "loss"
    negatives: PositiveInt
    dim: PositiveInt
    elementwise_passes: NonNegativeFloat = 4


Block = Annotated[
    Mlp | Dot | DcnLowRank | Compress | FmLowRank | Wukong | Hstu | InBatchSoftmax,
    Field(discriminator="block"),
]


class Optimizers(_Part):
    """How dense weights and table rows are updated."""

    dense: DenseOptimizer
    sparse: SparseOptimizer


class Precisions(_Part):
    """Number formats by use."""

    embedding: Dtype
    """Table weights as stored."""
    communication: Dtype
    """Pooled vectors in the forward all-to-all."""
    compute: Dtype
    """Dense matrix products."""
    gradient: Dtype
    """Dense gradients in the all-reduce."""
    communication_backward: Dtype | None = None
    """Vector gradients in the backward all-to-all; ``None``: as forward."""


class KnownVolumes(_Part):
    """Published volumes that override what counting gives; ``None`` means: count."""

    alltoall_forward_bytes_per_sample: NonNegativeFloat | None = None
    alltoall_backward_bytes_per_sample: NonNegativeFloat | None = None
    dense_allreduce_bytes_per_step: NonNegativeFloat | None = None
    dense_allgather_bytes_per_step: NonNegativeFloat | None = None
    alltoall_calls_per_step: PositiveInt | None = None
    """Separate all-to-all-v calls, forward and backward together."""
    kernels_per_step: PositiveFloat | None = None
    elementwise_bytes_per_sample: NonNegativeFloat | None = None
    """Forward and backward traffic of elementwise kernels; scales what counting gives."""


class Model(_Part):
    """A recommendation model in full. ``figures`` holds the evidence by path, as ``tables.big.rows``."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    """Other names of the same architecture."""
    family: Family
    tables: tuple[TableGroup, ...]
    dense: tuple[Block, ...]
    optimizers: Optimizers
    precisions: Precisions
    dense_sync: DenseSync = "ddp"
    dense_shard_devices: PositiveInt | None = None
    """Devices of one shard group under ``hsdp``; ``None``: the scale-up domain."""
    sparse_replicas: PositiveInt = 1
    """Copies of the sharded tables (2D-sparse): the all-to-all group is devices / replicas."""
    skew: Annotated[float, Field(ge=1)] = 1.0
    """Slowest over mean rank bytes of the all-to-all (rho)."""
    sample_bytes: NonNegativeFloat | None = None
    """Bytes read from storage per sample; ``None``: indices and dense inputs only."""
    reference_devices: PositiveInt
    """Devices of the job that the published figures describe."""
    local_batch: PositiveInt
    """Samples per device and step of that job."""
    alltoall_overlap_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of the all-to-all that today's trainer lets run beside compute."""
    dense_sync_overlap_share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of the dense synchronisation that may run beside compute."""
    straggler_factor: Annotated[float, Field(ge=1)] = 1.0
    """Step time over the mean rank's, from unequal samples and jitter."""
    known: KnownVolumes = KnownVolumes()
    figures: dict[str, Figure] = {}
