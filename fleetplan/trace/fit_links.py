"""What the collectives of a trace say of the link constants of the step model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.trace.columns import Float
from fleetplan.trace.estimate import Estimate, estimate
from fleetplan.trace.measured_step import SMALL_CALL_BYTES

if TYPE_CHECKING:
    from fleetplan.performance.collectives import Collective
    from fleetplan.performance.rates import Rates
    from fleetplan.trace.report import TraceReport

_LAW: dict[str, Collective] = {
    "all-to-all": "alltoall",
    "all-reduce": "allreduce",
    "all-gather": "allgather",
    "reduce-scatter": "reducescatter",
}


@dataclass(frozen=True)
class Cell:
    """Calls of one collective, group and size: mean isolated seconds and its relative error."""

    collective: Collective
    ranks: int
    size: float
    seconds: float
    noise: float
    calls: int


def cells(report: TraceReport, wire_rates: dict[str, float]) -> list[Cell]:
    """Calls by collective, group and size; time beside compute counts at ``wire_rates`` (km by kind).

    Where every rank's calls could be matched, the transfer is the fastest rank's time; else waiting for
    other ranks is inside.
    """
    calls = report.calls
    known = calls["bytes"].notna() & (calls["group_size"] > 1) & calls["collective"].isin(list(_LAW))
    found = []
    for (kind, size, ranks), group in calls[known].groupby(["collective", "bytes", "group_size"]):
        name = str(kind)
        share = (group["transfer_ms"] / group["duration_ms"]).fillna(1.0)
        beside = group["hidden_ms"] * share
        seconds = (group["transfer_ms"] - (1 - wire_rates.get(name, 1.0)) * beside) / 1e3
        count = len(group)
        mean = float(seconds.mean())
        scatter = float(seconds.std(ddof=1)) / mean if count > 1 and mean > 0 else 0.2
        if mean > 0:
            noise = scatter / math.sqrt(count)
            found.append(Cell(_LAW[name], int(str(ranks)), float(str(size)), mean, noise, count))
    return found


def fit_links(found: Sequence[Cell], rates: Rates) -> list[Estimate]:
    """Fit fixed costs and link shares of the collectives that the trace holds; empty if it holds none."""
    from fleetplan.performance.collectives import collective_time

    names = list(dict.fromkeys(name for cell in found for name in _constants(cell, rates)))
    if not names:
        return []

    def predict(values: dict[str, float]) -> Float:
        changed = _with_values(rates, values)
        times = [collective_time(c.collective, changed, c.size, c.ranks).seconds for c in found]
        return np.array([float(time) for time in times])

    start = [float(rates[name]) for name in names]
    measured = np.array([cell.seconds for cell in found])
    noise = np.array([cell.noise for cell in found])
    return estimate(names, start, predict, measured, noise)


def _with_values(rates: Rates, values: dict[str, float]) -> Rates:
    from fleetplan.performance.rates import Rates as Made

    keyed = {rates.constants.get(name, rates.context).key: value for name, value in values.items()}
    return Made(rates.accelerator, rates.constants.with_values(keyed), rates.context)


def _constants(cell: Cell, rates: Rates) -> tuple[str, ...]:
    """The constants that the law of this cell depends on and that its time could tell."""
    inside = cell.ranks <= rates.domain
    large = cell.size >= SMALL_CALL_BYTES
    if cell.collective == "alltoall":
        share = "alltoall_scaleup_share" if inside else "alltoall_scaleout_share"
        return ("alltoall_fixed_us", share) if large else ("alltoall_fixed_us",)
    if not inside:
        return ("scaleout_fixed_us", "scaleout_half_size_mb", "scaleout_reduce_share")
    if cell.collective == "allreduce":
        return ("allreduce_fixed_us", "allreduce_half_size_mb", _reduce_share(cell, rates))
    return ("allreduce_fixed_us", "gather_share")


def _reduce_share(cell: Cell, rates: Rates) -> str:
    """The rate of whichever all-reduce the model would choose at this size."""
    from fleetplan.performance.collectives import in_switch_allreduce, ring_allreduce

    size, ranks = np.array([cell.size]), np.array([float(cell.ranks)])
    ring = float(ring_allreduce(rates, size, ranks)[0])
    return "in_switch_gb_per_s" if float(in_switch_allreduce(rates, size, ranks)[0]) < ring else "ring_share"
