"""Times of the dense kernels: matrix products, attention, elementwise. Seconds, arrays over batches.

Matrix products: ``t = max(FLOP/F, bytes/Bm) / eta + launches``, with ``eta`` = best measured share x
workload share x share at this arithmetic intensity (MTIA 300 paper, Fig 14) x M/(M + M0). Attention:
``FLOP / (F · eta(T))`` with ``eta`` rising as T/(T + T0) (recsys-examples kernel benchmark).
Elementwise: bytes over the streaming HBM rate. Each launch costs ``alpha_k`` over the fusion factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.performance.operators import Operator
    from fleetplan.performance.rates import Rates

INTENSITY_BINS = (50.0, 150.0, 300.0, 550.0, 1500.0)
"""Middles of the arithmetic-intensity bins of Fig 14, FLOP/B."""
_MARKS = np.log(INTENSITY_BINS)
ATTENTION_REFERENCE_TOKENS = 4099.0
"""Sequence length at which the attention shares were measured."""


@dataclass(frozen=True)
class KernelTimes:
    """Forward and backward seconds of one operator, one value per batch; launches are inside."""

    forward: NDArray[np.float64]
    backward: NDArray[np.float64]


def operator_times(op: Operator, rates: Rates, batch: NDArray[np.float64], launch: float) -> KernelTimes:
    """Seconds of one operator for local batches ``batch`` (samples per device); ``launch`` per kernel."""
    rule = {"gemm": _gemm, "attention": _attention, "elementwise": _elementwise}[op.kind]
    forward = rule(op, rates, batch, op.flop_fwd_per_sample, op.bytes_fwd_per_sample, 1.0)
    backward = rule(op, rates, batch, op.flop_bwd_per_sample, op.bytes_bwd_per_sample, 2.0)
    return KernelTimes(forward + op.kernels_fwd * launch, backward + op.kernels_bwd * launch)


@lru_cache(maxsize=256)
def merged(operators: tuple[Operator, ...]) -> tuple[Operator, ...]:
    """Operators of one shape, precision and stage as one: their times add, so the sum is exact."""
    groups: dict[tuple[object, ...], Operator] = {}
    for op in operators:
        key = (op.kind, op.stage, op.rows_per_sample, op.n, op.k, op.precision, op.weight_bytes > 0)
        groups[key] = _joined(groups[key], op) if key in groups else op
    return tuple(groups.values())


def _joined(one: Operator, other: Operator) -> Operator:
    names = (
        "repeat",
        "flop_fwd_per_sample",
        "flop_bwd_per_sample",
        "bytes_fwd_per_sample",
        "bytes_bwd_per_sample",
        "weight_bytes",
        "kernels_fwd",
        "kernels_bwd",
    )
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in names})


def launch_seconds(rates: Rates, counted: float, stated: float | None) -> float:
    """Fixed seconds of one counted kernel after fusion (graphs, compilers).

    Where a model states its kernels per step (as profiled, fused), they replace the fusion factor,
    except in an eager loop, which fuses nothing.
    """
    fused = (
        stated if stated is not None and rates.context.stack != "eager" else counted / rates["kernel_fusion"]
    )
    return rates["kernel_fixed_us"] * 1e-6 * fused / max(counted, 1.0)


def gemm_share(
    rates: Rates, intensity: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Share of the roofline that a matrix product of ``intensity`` FLOP/B and ``rows`` rows reaches."""
    shape = _interpolated(rates, np.log(np.maximum(intensity, 1e-9)))
    filled = rows / (rows + rates["gemm_half_rows"])
    best = rates["gemm_peak_share"] * rates["gemm_workload_share"] * rates["compute_maturity"]
    share: NDArray[np.float64] = best * shape * filled
    return share


def _interpolated(rates: Rates, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share by log intensity, linear between the bins' middles; shares may differ by option."""
    names = [f"gemm_intensity_share_{i}" for i in range(len(_MARKS))]
    shares = [rates[name] for name in names]
    if not rates.moved:
        return np.interp(at, _MARKS, shares)
    place = np.interp(at, _MARKS, np.arange(len(_MARKS), dtype=np.float64))
    hats = (np.maximum(1 - np.abs(place - i), 0.0) * share for i, share in enumerate(shares))
    return sum(hats, np.zeros_like(at))


def attention_share(rates: Rates, tokens: float, direction: str) -> float:
    """Share of dense peak that attention over ``tokens`` tokens reaches, ``forward`` or ``backward``."""
    half = rates["attention_half_tokens"]
    rise = tokens / (tokens + half) * (ATTENTION_REFERENCE_TOKENS + half) / ATTENTION_REFERENCE_TOKENS
    return rates[f"attention_{direction}_share"] * rise * rates["compute_maturity"]


def _gemm(
    op: Operator, rates: Rates, batch: NDArray[np.float64], flop: float, moved: float, passes: float
) -> NDArray[np.float64]:
    work = flop * batch
    traffic = moved * batch + passes * op.weight_bytes
    roof = np.maximum(work / rates.peak_flops(op.precision), traffic / rates.hbm)
    share = gemm_share(rates, work / np.maximum(traffic, 1.0), op.rows_per_sample * batch)
    return roof / share


def _attention(
    op: Operator, rates: Rates, batch: NDArray[np.float64], flop: float, moved: float, passes: float
) -> NDArray[np.float64]:
    direction = "forward" if passes == 1.0 else "backward"
    share = attention_share(rates, float(op.k), direction)
    busy = flop * batch / (rates.peak_flops(op.precision) * share)
    return np.maximum(busy, moved * batch / rates.hbm_stream)


def _elementwise(
    _op: Operator, rates: Rates, batch: NDArray[np.float64], _flop: float, moved: float, _passes: float
) -> NDArray[np.float64]:
    return moved * batch * rates["elementwise_maturity"] / rates.hbm_stream
