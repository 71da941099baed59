"""Predictions for measured steps, counts, memory and power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance import power
from fleetplan.performance.constants import Stack
from fleetplan.performance.counts import Counts, count, moments_per_weight
from fleetplan.performance.evaluate import Evaluation, Settings, evaluate
from fleetplan.performance.kernels import operator_times
from fleetplan.performance.layout import Layout
from fleetplan.performance.predict_collectives import fabric_of
from fleetplan.performance.prediction import Prediction
from fleetplan.performance.stragglers import length_factor, zipf_length_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.inputs.architecture import Dtype, Model, SparseOptimizer
    from fleetplan.performance.constants import Constants
    from fleetplan.performance.measurements import Measurement
    from fleetplan.performance.rates import Rates

AC_OVER_DC = 1.03
"""Wall power over direct current of the measured node (MLPerf v4.0 power logs)."""
_PRECISION: dict[str, Dtype] = {"tf32": "tf32", "fp32/tf32": "tf32", "amp": "fp16", "fp32": "fp32"}


def stack_of(row: Measurement) -> Stack:
    """Software of a row: what its setting states as ``stack``, or by its source.

    MLPerf entries and vendor examples run with graphs; then production trainers; then Python loops.
    """
    if (stated := row.setting.get("stack")) in get_args(Stack):
        return cast("Stack", stated)
    if row.id.startswith(("mlp-", "pwr-", "dle-")):
        return "tuned"
    loops = ("torchrec-dlrm", "fbdlrm", "dlrm-356")
    return "eager" if row.id.startswith(loops) else "production"


def evaluated(
    row: Measurement, constants: Constants, moved: dict[str, NDArray[np.float64]] | None = None
) -> Evaluation:
    """The step model at a row's model, accelerator, size, precision, software and fabric.

    ``moved`` gives constants several values at once: the evaluation then has one option for each.
    """
    model = _model(row)
    batch = row.local_batch if row.local_batch is not None else _share(row)
    layout = Layout(dense=model.dense_sync, tier="cached") if _is_cached(row) else None
    settings = Settings(stack=stack_of(row), fabric=fabric_of(row), constants=constants)
    return evaluate(
        model,
        load_accelerator(row.accelerator),
        devices=_repeated(row.devices, moved),
        local_batch=batch,
        layout=layout,
        settings=settings,
        moved=moved,
    )


def rates_of(row: Measurement, constants: Constants) -> Rates:
    """Rates that a row's step is computed with."""
    settings = Settings(stack=stack_of(row), fabric=fabric_of(row), constants=constants)
    return settings.rates(_model(row), load_accelerator(row.accelerator))


def _repeated(devices: int, moved: dict[str, NDArray[np.float64]] | None) -> NDArray[np.float64]:
    size = max((len(values) for values in (moved or {}).values()), default=1)
    return np.full(size, float(devices))


def _share(row: Measurement) -> float | None:
    return None if row.global_batch is None else row.global_batch / row.devices


def _is_cached(row: Measurement) -> bool:
    return row.model == "hstu-recsys-examples" or "host tier" in row.note


def _model(row: Measurement) -> Model:
    model = load_model(row.model)
    stated = str(row.setting.get("precision", row.setting.get("compute", "")))
    if stated not in _PRECISION:
        return model
    precisions = model.precisions.model_copy(update={"compute": _PRECISION[stated]})
    return model.model_copy(update={"precisions": precisions})


def rate(row: Measurement, constants: Constants) -> Prediction:
    """Samples per second of the job."""
    return Prediction(float(evaluated(row, constants).samples_per_s[0]), _step_gate(row))


def step_time(row: Measurement, constants: Constants) -> Prediction:
    """Step in ms."""
    return Prediction(float(evaluated(row, constants).step_seconds[0]) * 1e3, _step_gate(row))


def _step_gate(row: Measurement) -> str:
    if row.model == "dlrm-dcnv2" and row.in_fit_set and row.metric == "train_samples_per_s":
        return "DCNv2 fitted rows"
    names = {
        "hstu-h100x16-step_time": "HSTU step",
        "zionex-A-qps": "ZionEX A and I",
        "zionex-I-qps": "ZionEX A and I",
        "zionex-F-qps": "ZionEX F",
    }
    reference = row.model == "hstu-mlcommons" and row.metric in {"step_time", "train_samples_per_s"}
    return "HSTU reference" if reference else names.get(row.id, "")


def hstu_part(row: Measurement, constants: Constants) -> Prediction | None:
    """A part of the HSTU step in ms."""
    made = evaluated(row, constants)
    part = row.id.removeprefix("hstu-h100x16-brk-")
    p, exposed = made.parts, float(made.exposed_seconds[0])
    gemm = {"uvqk_gemm": ".uvqk", "proj_gemm": ".out"}
    wires = sum(float(getattr(p, name)[0]) for name in made.schedule.exposed)
    jitter = float(made.schedule.critical[0] * (made.straggler[0] - 1)) + float(made.floor)
    seconds = {
        "attention": float(p.attention[0]),
        "elementwise": float(p.elementwise[0]),
        "embedding": float(made.embedding_seconds[0]),
        "idle": jitter,
        "nccl_exposed": exposed,
        "nccl_overlapped": wires - exposed,
    }
    if part in gemm:
        seconds[part] = _operator(made, gemm[part])
    if part not in seconds:
        return None
    gated = "" if part == "nccl_overlapped" else "HSTU parts"
    return Prediction(seconds[part] * 1e3, gated)


def _operator(made: Evaluation, name: str) -> float:
    chosen = [op for op in made.counts.operators if op.name.endswith(name)]
    times = [operator_times(op, made.rates, made.local_batch, 0.0) for op in chosen]
    return sum(float(t.forward[0] + t.backward[0]) for t in times)


def hstu_rate(row: Measurement, constants: Constants) -> Prediction | None:
    """Rates that the HSTU report states: TFLOP/s per device, MFU, tokens per second and device."""
    made = evaluated(row, constants)
    seconds = float(made.step_seconds[0])
    flop = made.counts.flop_per_sample * float(made.local_batch[0])
    tokens = 4099.0 * float(made.local_batch[0])
    values = {
        "achieved_per_device": flop / seconds / 1e12,
        "mfu": 100 * flop / seconds / made.rates.peak_flops("bf16"),
        "tokens_per_s_per_device": tokens / seconds,
    }
    return Prediction(values[row.metric], "") if row.metric in values else None


def node_power(row: Measurement, constants: Constants) -> Prediction:
    """Watts of the node, idle or training."""
    made = evaluated(row, constants)
    idle = row.metric == "node_power_idle"
    device = power.idle_watts(made.rates.accelerator) if idle else float(made.device_watts[0])
    activity = 0.0 if idle else float(made.busy_share[0])
    watts = float(power.node_watts(made.rates, device, activity))
    return Prediction(watts / (AC_OVER_DC if "-dc-" in row.id else 1.0), "node power")


def counted(row: Measurement, _constants: Constants) -> Prediction | None:
    """A count that needs no hardware."""
    counts, model = count(load_model(row.model)), load_model(row.model)
    values = _counts(counts, model)
    if row.metric not in values:
        return None
    return Prediction(values[row.metric], "counts (Wukong)" if row.model.startswith("wukong") else "counts")


def _counts(counts: Counts, model: Model) -> dict[str, float]:
    return {
        "dense_parameters": counts.dense_parameters,
        "embedding_rows": sum(g.tables * g.rows_per_table for g in counts.embeddings),
        "lookups_per_sample": counts.lookups_per_sample,
        "flop_per_sample_fwd_bwd": counts.flop_per_sample,
        "dense_allreduce_bytes": counts.dense_allreduce_bytes_per_step,
        "gflop_per_example": counts.flop_per_sample / 1e9,
        "total_params": (counts.dense_parameters + sum(t.tables * t.rows * t.dim for t in model.tables))
        / 1e9,
    }


def training_memory(row: Measurement, _constants: Constants) -> Prediction:
    """Tables with optimizer state in GiB."""
    optimizer = cast("SparseOptimizer", row.setting["optimizer"])
    return Prediction(
        float(row.setting["embedding_GiB"]) * (1 + moments_per_weight(optimizer, 128)), "memory"
    )


def balanced_gain(setting: dict[str, Any], devices: int, batch: float) -> float:
    """Gain of balanced batches where lengths follow a Zipf law: mean of the slowest device over the mean."""
    longest = int(setting.get("item_seq", 2048)) * 2
    _, _, spread = zipf_length_moments(1.2, longest)
    return float(length_factor(np.array(devices), spread, batch))
