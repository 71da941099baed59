"""Predictions for measured kernels: elementwise, matrix products, attention, embedding tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fleetplan.inputs.architecture import Mlp, Model, Optimizers, Precisions, TableGroup
from fleetplan.inputs.catalog import load_accelerator
from fleetplan.performance import embeddings
from fleetplan.performance.constants import Constants, context_of
from fleetplan.performance.counts import count
from fleetplan.performance.kernels import INTENSITY_BINS, attention_share, gemm_share
from fleetplan.performance.prediction import Prediction
from fleetplan.performance.rates import Rates

if TYPE_CHECKING:
    from fleetplan.performance.measurements import Measurement

_BINS = ("0-100", "100-200", "200-400", "400-700", "700-3000")
FORWARD_PART, WHOLE = 1.0, 3.5
"""FLOP of attention forward, and forward with backward, over forward."""


def rates_of(row: Measurement, constants: Constants, accelerator: str = "") -> Rates:
    """Kernel rates of the row's accelerator, as a usual library delivers them."""
    device = load_accelerator(accelerator or row.accelerator)
    return Rates(device, constants, context_of(device, stack="production"))


def stream_rate(row: Measurement, constants: Constants) -> Prediction:
    """Achieved HBM bandwidth in GB/s of an elementwise kernel over ``bytes``."""
    rates = rates_of(row, constants)
    size = row.setting.get("bytes")
    if not isinstance(size, (int, float)):
        return Prediction(rates.hbm_stream / 1e9, "")
    seconds = rates["kernel_fixed_us"] * 1e-6 + float(size) / rates.hbm_stream
    return Prediction(float(size) / seconds / 1e9, "")


def stream_share(row: Measurement, constants: Constants) -> Prediction:
    """Share of peak HBM bandwidth, %."""
    return Prediction(100 * rates_of(row, constants)["hbm_stream_share"], "")


def gemm_by_intensity(row: Measurement, constants: Constants) -> Prediction:
    """Mean share of the roofline in a bin of arithmetic intensity (Fig 14)."""
    rates = rates_of(row, constants)
    middle = INTENSITY_BINS[_BINS.index(str(row.setting["arithmetic_intensity_bin"]))]
    return Prediction(float(gemm_share(rates, np.array([middle]), np.array([1e9]))[0]), "")


def gemm_above_400(row: Measurement, constants: Constants) -> Prediction:
    """Mean share of peak above 400 FLOP/B, %."""
    rates = rates_of(row, constants)
    shares = gemm_share(rates, np.array(INTENSITY_BINS[3:]), np.array([1e9, 1e9]))
    return Prediction(100 * float(np.average(shares, weights=[25, 16])), "")


def best_matmul(row: Measurement, constants: Constants) -> Prediction:
    """Best matrix product, TFLOP/s."""
    rates = rates_of(row, constants)
    peak = rates.peak_flops("fp8" if "fp8" in row.id else "bf16")
    return Prediction(peak * rates["gemm_peak_share"] / 1e12, "")


def attention_rate(row: Measurement, constants: Constants) -> Prediction:
    """HSTU attention, TFLOP/s, forward or forward and backward."""
    rates = rates_of(row, constants)
    tokens, peak = float(row.setting["seq"]), rates.peak_flops("bf16")
    forward = attention_share(rates, tokens, "forward")
    backward = attention_share(rates, tokens, "backward")
    both = WHOLE / (FORWARD_PART / forward + (WHOLE - FORWARD_PART) / backward)
    return Prediction(peak * (both if "fwdbwd" in row.id else forward) / 1e12, "")


def attention_in_step(row: Measurement, constants: Constants) -> Prediction | None:
    """Attention and matrix-product rates inside the HSTU step, TFLOP/s."""
    rates = rates_of(row, constants)
    peak = rates.peak_flops("bf16")
    shares = {
        "rate_attn_fwd": attention_share(rates, 4099, "forward"),
        "rate_attn_bwd": attention_share(rates, 4099, "backward"),
        "rate_gemm": float(gemm_share(rates, np.array([600.0]), np.array([131168.0]))[0]),
    }
    return Prediction(peak * shares[row.metric] / 1e12, "") if row.metric in shares else None


def table_time(row: Measurement, constants: Constants) -> Prediction:
    """Unpooled table-batched embedding on one device, ms, forward or backward with optimizer."""
    setting = row.setting
    rates = rates_of(row, constants)
    counts = count(_tables(row))
    one = np.ones(1)
    batch = one * float(setting["lookups_total"]) / float(setting["tables"])
    work = embeddings.embedding_work(counts, one, batch, one)
    forward, backward = embeddings.hbm_seconds(counts, work, rates, 0.0)
    tier = str(setting["tier"])
    if tier != "hbm":
        up, down = embeddings.host_seconds(work, rates, cached=tier == "uvmcache")
        forward, backward = forward + up, backward + down
    seconds = forward if row.metric == "time_fwd" else backward
    return Prediction(
        float(seconds[0]) * 1e3, "embedding kernels" if tier == "hbm" else "embedding, host tier"
    )


def _tables(row: Measurement) -> Model:
    setting = row.setting
    ratio = float(setting["unique_rows_total"]) / float(setting["lookups_total"])
    group = TableGroup(
        name="tables",
        tables=int(setting["tables"]),
        rows=int(setting["rows_per_table"]),
        dim=int(setting["dim"]),
        pooling=1,
        pooled=False,
        unique_ratio=ratio,
    )
    return Model(
        name="tables",
        title="embedding benchmark",
        family="dlrm",
        tables=(group,),
        dense=(Mlp(name="none", stage="top", widths=(1, 1)),),
        optimizers=Optimizers(dense="sgd", sparse=setting["optimizer"]),
        precisions=Precisions(embedding="fp32", communication="fp32", compute="fp32", gradient="fp32"),
        reference_devices=1,
        local_batch=1,
    )


def table_speedup(row: Measurement, constants: Constants) -> Prediction:
    """MTIA 300's embedding kernels over those of H100 (Meta's) or H200."""
    direction = "forward" if "fwd" in row.id else "backward"
    other = "h200" if row.id.endswith("H200") else "h100-500w"
    name = f"embedding_{direction}_share"
    mtia, gpu = rates_of(row, constants, "mtia-300"), rates_of(row, constants, other)
    return Prediction(mtia.hbm * mtia[name] / (gpu.hbm * gpu[name]), "")
