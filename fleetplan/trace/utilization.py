"""Effective utilization of the traced job, by the factors of the step model.

``EU = [FLOP / (F · t_busy)] · [t_busy / t_step] · goodput · (allocated / owned)``. The first two come from
the trace (the first needs the model's FLOP count and the samples per step), the others from the planner.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fleetplan.tables import TableSpec, number, text

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.trace.report import TraceReport

UTILIZATION = TableSpec(
    "utilization",
    "effective utilization as a product of factors; not a number where a factor is not known",
    (
        text("factor", "what it is", key=True),
        number("value", "share", "mean over ranks and whole steps"),
        number("low", "share", "least over ranks and whole steps"),
        number("high", "share", "most over ranks and whole steps"),
        text("known_from", "where it comes from"),
    ),
)
_ORDER = ("useful while busy", "busy", "goodput", "allocated", "effective utilization")


def utilization(
    report: TraceReport,
    *,
    model: Model | None = None,
    accelerator: Accelerator | None = None,
    local_batch: int | None = None,
    goodput: float | None = None,
    allocated_share: float | None = None,
) -> pd.DataFrame:
    """Rows of ``UTILIZATION``. ``local_batch`` is samples per device and step (the model's, if not given)."""
    steps = report.steps[report.steps["whole"]] if report.steps["whole"].any() else report.steps
    busy = steps["compute_ms"] / steps["duration_ms"]
    rows: dict[str, tuple[float, float, float, str]] = {
        "busy": (float(busy.mean()), float(busy.min()), float(busy.max()), "trace: compute over step"),
        "useful while busy": _useful(steps["compute_ms"], model, accelerator, local_batch),
        "goodput": _stated(goodput),
        "allocated": _stated(allocated_share),
    }
    product, low, high = (math.prod(float(row[place]) for row in rows.values()) for place in range(3))
    rows["effective utilization"] = (product, low, high, "product of the factors")
    table = UTILIZATION.frame((name, *rows[name]) for name in _ORDER)
    return table.sort_values("factor", key=lambda names: names.map(_ORDER.index), ignore_index=True)


def _useful(
    compute_ms: pd.Series[float],
    model: Model | None,
    accelerator: Accelerator | None,
    local_batch: int | None,
) -> tuple[float, float, float, str]:
    """FLOP that the model asks for over what the device could do while it computes."""
    if model is None or accelerator is None:
        return (math.nan, math.nan, math.nan, "needs the model and the accelerator")
    from fleetplan.performance.constants import context_of, load_constants
    from fleetplan.performance.counts import count
    from fleetplan.performance.rates import Rates

    batch = local_batch or model.local_batch
    rates = Rates(accelerator, load_constants(), context_of(accelerator, family=model.family))
    needed = count(model).flop_per_sample * batch / rates.peak_flops(model.precisions.compute)
    share = needed * 1e3 / compute_ms
    origin = f"{model.name} at {batch} samples per device, dense {model.precisions.compute} peak"
    return (float(share.mean()), float(share.min()), float(share.max()), origin)


def _stated(share: float | None) -> tuple[float, float, float, str]:
    if share is None:
        return (math.nan, math.nan, math.nan, "not in a trace: state it")
    return (share, share, share, "stated")
