"""Operators of the dense part: FLOP, bytes, weights and kernels of every block, per sample.

All totals of an operator already include its ``repeat`` equal layers. Conventions:

* a matrix product of M x K by K x N is 2·M·N·K FLOP forward and twice that backward (the gradient
  of the input and of the weights); attention is 2.5 times its forward backward, as FlashAttention
  recomputes the scores;
* activation bytes are those that one pass reads and writes; weights are apart, read once forward,
  read once and written once (as gradient) backward;
* elementwise traffic is ``elementwise_passes`` x width x bytes per element, one third forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import pairwise
from typing import Literal

from fleetplan.inputs.architecture import (
    DTYPE_BYTES,
    Compress,
    DcnLowRank,
    Dot,
    Dtype,
    FmLowRank,
    Hstu,
    InBatchSoftmax,
    Mlp,
    Model,
    Stage,
    Wukong,
)

Kind = Literal["gemm", "attention", "elementwise"]

ATTENTION_BACKWARD = 2.5
"""Backward over forward FLOP of attention with recomputation (arXiv:2307.08691)."""


@dataclass(frozen=True)
class Operator:
    """One operator of the dense part. Totals include ``repeat``; bytes are of activations."""

    name: str
    stage: Stage
    kind: Kind
    rows_per_sample: float
    """The M dimension that one sample adds (1 for an MLP, tokens for a sequence); attention: tokens."""
    n: int
    k: int
    repeat: int
    flop_fwd_per_sample: float
    flop_bwd_per_sample: float
    bytes_fwd_per_sample: float
    bytes_bwd_per_sample: float
    weight_bytes: float
    """Weights in the compute precision; 0 for products of two activations."""
    kernels_fwd: float
    kernels_bwd: float
    precision: Dtype

    @property
    def output_bytes_per_sample(self) -> float:
        """Bytes of the result that is kept for the backward pass; elementwise results are recomputed."""
        if self.kind == "elementwise":
            return 0.0
        return self.rows_per_sample * self.n * self.repeat * DTYPE_BYTES[self.precision]


def dense_operators(model: Model) -> tuple[Operator, ...]:
    """Every operator of the dense part in forward order."""
    made: list[Operator] = []
    for block in model.dense:
        made.extend(block_operators(block, model.precisions.compute))
    return _scaled(tuple(made), model.known.elementwise_bytes_per_sample)


def dense_parameters(model: Model) -> int:
    """Weights and biases of the dense part."""
    return sum(block_parameters(block) for block in model.dense)


def _scaled(operators: tuple[Operator, ...], stated: float | None) -> tuple[Operator, ...]:
    """Scale elementwise traffic to a stated total, where there is one."""
    if stated is None:
        return operators
    counted = sum(op.bytes_fwd_per_sample + op.bytes_bwd_per_sample for op in _elementwise(operators))
    if counted == 0:
        return operators if stated == 0 else (*operators, _plain_elementwise(stated))
    return tuple(_times(op, stated / counted) if op.kind == "elementwise" else op for op in operators)


def _elementwise(operators: Iterable[Operator]) -> Iterator[Operator]:
    return (op for op in operators if op.kind == "elementwise")


def _times(op: Operator, factor: float) -> Operator:
    return replace(
        op,
        bytes_fwd_per_sample=op.bytes_fwd_per_sample * factor,
        bytes_bwd_per_sample=op.bytes_bwd_per_sample * factor,
    )


def _plain_elementwise(total: float) -> Operator:
    return Operator(
        "elementwise", "top", "elementwise", 1, 1, 1, 1, 0, 0, total / 3, total * 2 / 3, 0, 1, 2, "bf16"
    )


@singledispatch
def block_operators(block: object, dtype: Dtype) -> Iterator[Operator]:
    """Operators of one block, computed in ``dtype``; one rule per kind of block below."""
    message = f"no counting rule for {type(block).__name__} in {dtype}"
    raise TypeError(message)


@singledispatch
def block_parameters(block: object) -> int:
    """Weights and biases of one block; 0 for products of activations."""
    message = f"no counting rule for {type(block).__name__}"
    raise TypeError(message)


def _gemm(
    name: str, stage: Stage, dtype: Dtype, n: int, k: int, rows: float = 1, repeat: int = 1
) -> Operator:
    """A product of ``rows`` x k activations per sample with k x n weights."""
    size = DTYPE_BYTES[dtype]
    flop = 2.0 * rows * n * k * repeat
    moved = rows * (n + k) * size * repeat
    weights = float(n * k) * size * repeat
    return Operator(
        name, stage, "gemm", rows, n, k, repeat, flop, 2 * flop, moved, 2 * moved, weights, repeat,
        2 * repeat, dtype,
    )  # fmt: skip


def _product(name: str, stage: Stage, dtype: Dtype, rows: int, n: int, k: int, repeat: int = 1) -> Operator:
    """A batched product of two activations, rows x k by k x n within each sample: no weights."""
    size = DTYPE_BYTES[dtype]
    flop = 2.0 * rows * n * k * repeat
    moved = float(rows * k + k * n + rows * n) * size * repeat
    return Operator(
        name, stage, "gemm", rows, n, k, repeat, flop, 2 * flop, moved, 2 * moved, 0.0, repeat,
        2 * repeat, dtype,
    )  # fmt: skip


def _traffic(
    name: str, stage: Stage, dtype: Dtype, width: float, passes: float, repeat: int = 1
) -> Iterator[Operator]:
    """Elementwise kernels over ``width`` elements per sample and layer; none where passes are 0."""
    if passes:
        total = passes * width * DTYPE_BYTES[dtype] * repeat
        launches = max(1.0, passes / 12) * repeat
        yield Operator(
            name, stage, "elementwise", 1, round(width), 1, repeat, 0.0, 0.0, total / 3, total * 2 / 3, 0.0,
            launches, 2 * launches, dtype,
        )  # fmt: skip


@block_operators.register
def _(block: Mlp, dtype: Dtype) -> Iterator[Operator]:
    for i, (k, n) in enumerate(pairwise(block.widths), start=1):
        yield _gemm(f"{block.name}.{i}", block.stage, dtype, n, k, repeat=block.copies)
    width = sum(block.widths[1:]) * block.copies
    yield from _traffic(f"{block.name}.act", block.stage, dtype, width, block.elementwise_passes)


@block_parameters.register
def _(block: Mlp) -> int:
    pairs = pairwise(block.widths)
    return block.copies * sum((k + 1) * n for k, n in pairs)


@block_operators.register
def _(block: Dot, dtype: Dtype) -> Iterator[Operator]:
    v, d = block.vectors, block.dim
    yield _product(block.name, block.stage, dtype, v, v, d)
    yield from _traffic(f"{block.name}.gather", block.stage, dtype, v * v / 2, block.elementwise_passes)


@block_operators.register
def _(block: DcnLowRank, dtype: Dtype) -> Iterator[Operator]:
    w, r, layers = block.width, block.rank, block.layers
    yield _gemm(f"{block.name}.down", block.stage, dtype, r, w, repeat=layers)
    yield _gemm(f"{block.name}.up", block.stage, dtype, w, r, repeat=layers)
    yield from _traffic(f"{block.name}.cross", block.stage, dtype, w, block.elementwise_passes, layers)


@block_parameters.register
def _(block: DcnLowRank) -> int:
    return block.layers * (2 * block.width * block.rank + block.width)


@block_operators.register
def _(block: Compress, dtype: Dtype) -> Iterator[Operator]:
    yield _gemm(block.name, block.stage, dtype, block.out_vectors, block.in_vectors, rows=block.dim)


@block_parameters.register
def _(block: Compress) -> int:
    return block.in_vectors * block.out_vectors


@block_operators.register
def _(block: FmLowRank, dtype: Dtype) -> Iterator[Operator]:
    v, d, r = block.vectors, block.dim, block.rank
    yield _gemm(f"{block.name}.project", block.stage, dtype, r, v, rows=d)
    yield _product(f"{block.name}.product", block.stage, dtype, v, r, d)
    yield from _traffic(f"{block.name}.sum", block.stage, dtype, v * r, block.elementwise_passes)


@block_parameters.register
def _(block: FmLowRank) -> int:
    return block.vectors * block.rank


def _wukong_inputs(block: Wukong) -> Iterator[int]:
    """Vectors that enter each layer: all embeddings, then what the layer before put out."""
    yield block.in_vectors
    for _ in range(block.layers - 1):
        yield block.fm_vectors + block.lcb_vectors


def _wukong_widths(block: Wukong, vectors: int) -> tuple[int, ...]:
    return (vectors * block.rank, *block.mlp, block.fm_vectors * block.dim)


@block_operators.register
def _(block: Wukong, dtype: Dtype) -> Iterator[Operator]:
    for layer, vectors in enumerate(_wukong_inputs(block), start=1):
        yield from _wukong_layer(block, f"{block.name}.{layer}", vectors, dtype)


def _wukong_layer(block: Wukong, name: str, vectors: int, dtype: Dtype) -> Iterator[Operator]:
    """FM product X(XᵀY), its MLP, and the linear compression, of one layer."""
    d, stage = block.dim, block.stage
    yield _gemm(f"{name}.fm.project", stage, dtype, block.rank, vectors, rows=d)
    yield _product(f"{name}.fm.product", stage, dtype, vectors, block.rank, d)
    widths = _wukong_widths(block, vectors)
    for i, (k, n) in enumerate(pairwise(widths), start=1):
        yield _gemm(f"{name}.mlp.{i}", stage, dtype, n, k)
    yield _gemm(f"{name}.lcb", stage, dtype, block.lcb_vectors, vectors, rows=d)
    width = vectors * d + sum(widths) + block.lcb_vectors * d
    yield from _traffic(f"{name}.act", stage, dtype, width, block.elementwise_passes)


@block_parameters.register
def _(block: Wukong) -> int:
    total = 0
    for vectors in _wukong_inputs(block):
        widths = _wukong_widths(block, vectors)
        mlp = sum((k + 1) * n for k, n in pairwise(widths))
        total += mlp + vectors * (block.rank + block.lcb_vectors)
    return total


@block_operators.register
def _(block: Hstu, dtype: Dtype) -> Iterator[Operator]:
    h, t, layers, stage = block.hidden, block.tokens_mean, block.layers, block.stage
    uvqk = block.heads * 2 * (block.qk_dim + block.v_dim)
    out = _hstu_output_width(block)
    yield _gemm(f"{block.name}.uvqk", stage, dtype, uvqk, h, rows=t, repeat=layers)
    yield _hstu_attention(block, dtype)
    yield _gemm(f"{block.name}.out", stage, dtype, h, out, rows=t, repeat=layers)
    yield from _traffic(f"{block.name}.elementwise", stage, dtype, t * h, block.elementwise_passes, layers)


def _hstu_output_width(block: Hstu) -> int:
    return round(block.output_gating * block.heads * block.v_dim)


def _hstu_attention(block: Hstu, dtype: Dtype) -> Operator:
    """Scores and weighted values: N·T·h·(d_qk + d_v) FLOP forward when causal, twice that else."""
    t, layers = block.tokens_mean, block.layers
    pairs = t * t * block.tokens_sq_ratio * (1 if block.causal else 2)
    flop = pairs * block.heads * (block.qk_dim + block.v_dim) * layers
    moved = t * 2 * block.heads * (block.qk_dim + block.v_dim) * DTYPE_BYTES[dtype] * layers
    return Operator(
        f"{block.name}.attention", block.stage, "attention", t, block.heads * block.v_dim, round(t), layers,
        flop, ATTENTION_BACKWARD * flop, moved, 2 * moved, 0.0, layers, layers, dtype,
    )  # fmt: skip


@block_parameters.register
def _(block: Hstu) -> int:
    uvqk = block.heads * 2 * (block.qk_dim + block.v_dim)
    out = _hstu_output_width(block)
    return block.layers * ((block.hidden + 1) * uvqk + (out + 1) * block.hidden)


@block_operators.register
def _(block: InBatchSoftmax, dtype: Dtype) -> Iterator[Operator]:
    n, d, size = block.negatives, block.dim, DTYPE_BYTES[dtype]
    flop = 2.0 * n * d
    moved = (n + d) * size
    yield Operator(
        block.name, block.stage, "gemm", 1, n, d, 1, flop, 2 * flop, moved, 2 * moved, 0.0, 1, 2, dtype
    )
    yield from _traffic(f"{block.name}.softmax", block.stage, dtype, n, block.elementwise_passes)


@block_parameters.register(Dot)
@block_parameters.register(InBatchSoftmax)
def _(_block: Dot | InBatchSoftmax) -> int:
    return 0
