"""What a trace and the step model each say of the same part of the step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from fleetplan.trace.kinds import COLLECTIVES

if TYPE_CHECKING:
    from fleetplan.performance.evaluate import Evaluation
    from fleetplan.performance.schedule import Phase
    from fleetplan.trace.report import TraceReport

IDLE_COLUMNS = ["copy_ms", "wait_ms", "host_bound_ms", "other_idle_ms"]
_KIND_OF_ITEM = {
    "input_exchange": "all-to-all",
    "alltoall_forward": "all-to-all",
    "alltoall_backward": "all-to-all",
    "allreduce": "all-reduce",
    "sparse_sync": "all-reduce",
    "gather_forward": "all-gather",
    "gather_backward": "all-gather",
    "pipeline_send": "send-receive",
}
_BESIDE = {
    "beside_alltoall_ms": "all-to-all",
    "beside_allreduce_ms": "all-reduce",
    "beside_other_ms": "all-gather",
}
DENSE_KINDS = tuple(kind for kind in COLLECTIVES if kind != "all-to-all")


def whole_steps(report: TraceReport) -> pd.DataFrame:
    """Rank and step of the whole steps (all steps, where none is whole)."""
    steps = report.steps[report.steps["whole"]] if report.steps["whole"].any() else report.steps
    return steps[["rank", "step"]]


def mean_and_error(values: pd.Series[float]) -> tuple[float, float]:
    """Mean and relative standard error; 10 % for a single value, for want of better."""
    mean = float(values.mean())
    if len(values) < 2 or mean <= 0:
        return mean, 0.1
    return mean, float(values.std(ddof=1)) / mean / math.sqrt(len(values))


def family_seconds(
    report: TraceReport, family: str, compute_rates: dict[str, float]
) -> tuple[float, float, int]:
    """Isolated seconds of a kernel family per step, relative error of the mean, samples.

    ``compute_rates`` are kc by collective: time beside one counts at that rate.
    """
    rows = report.kernels[report.kernels["family"] == family].merge(whole_steps(report), on=["rank", "step"])
    if rows.empty:
        return 0.0, 1.0, 0
    isolated = rows["time_ms"].copy()
    for column, kind in _BESIDE.items():
        isolated -= (1 - compute_rates.get(kind, 1.0)) * rows[column]
    mean, error = mean_and_error(isolated / 1e3)
    return mean, error, len(rows)


def modelled_seconds(family: str, made: Evaluation) -> float:
    """Isolated seconds of a kernel family per step in the model."""
    parts = made.parts
    if family.startswith("attention"):
        return float(parts.attention[0]) * _attention_part(family, made)
    own = {
        "gemm": parts.gemm,
        "embedding": parts.lookup,
        "embedding backward": parts.sparse_update,
        "elementwise": parts.elementwise + parts.optimizer,
    }[family]
    return float(own[0])


def _attention_part(family: str, made: Evaluation) -> float:
    """Forward's or backward's part of the attention time: FLOP over its share of peak."""
    operators = made.counts.of_kind("attention")
    flop = {
        "attention": sum(op.flop_fwd_per_sample for op in operators),
        "attention backward": sum(op.flop_bwd_per_sample for op in operators),
    }
    if not all(flop.values()):
        return 0.0
    forward = flop["attention"] / float(made.rates["attention_forward_share"])
    backward = flop["attention backward"] / float(made.rates["attention_backward_share"])
    return (backward if family == "attention backward" else forward) / (forward + backward)


def hidden_share(made: Evaluation, kinds: tuple[str, ...]) -> float:
    """Share of the time of these collectives that compute runs beside, as a trace would show it."""
    hidden = exposed = 0.0
    for phase in made.schedule.phases:
        wire = sum(float(item.seconds[0]) for item in phase.items)
        beside, alone = _side_by_side(phase)
        for item in phase.items:
            if wire > 0 and _KIND_OF_ITEM.get(item.name) in kinds:
                share = float(item.seconds[0]) / wire
                hidden += beside * share
                exposed += alone * share
    return hidden / (hidden + exposed) if hidden + exposed > 0 else 0.0


def _side_by_side(phase: Phase) -> tuple[float, float]:
    """Clock time of a phase's collectives beside compute and alone: both slowed while they last."""
    wire = sum(float(item.seconds[0]) for item in phase.items)
    compute = float(phase.compute[0])
    if wire <= 0 or compute <= 0:
        return 0.0, wire
    stretched = sum(float(item.seconds[0]) / float(item.wire_rate) for item in phase.items)
    rate = sum(float(item.seconds[0]) * float(item.compute_rate) for item in phase.items) / wire
    if stretched <= compute / rate:
        return stretched, 0.0
    beside = compute / rate
    return beside, wire - beside * wire / stretched
