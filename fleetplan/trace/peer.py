"""The shares that HolisticTraceAnalysis 0.5.0 prints, by its own definitions, for comparison.

https://github.com/facebookresearch/HolisticTraceAnalysis: ``get_temporal_breakdown`` and
``get_comm_comp_overlap``. Its total runs from the first to the last device event; where a trace has
two or more profiler steps, work launched in the last one is left out. Everything on the device that
is neither NCCL nor a copy counts as compute, also the waits of a queue (``event_wait``).
"""

from __future__ import annotations

import math
import re

import numpy as np

from fleetplan.tables import TableSpec, count, number
from fleetplan.trace.columns import Bool, RankTrace
from fleetplan.trace.parts import of_kind
from fleetplan.trace.steps import has_launch, launch_times, profiler_steps

PEER = TableSpec(
    "peer",
    "shares of device time by the definitions of HolisticTraceAnalysis 0.5.0",
    (
        count("rank", "", "rank", key=True),
        number("idle_pct", "%", "of the time from first to last device event"),
        number("compute_pct", "%", "of that time"),
        number("other_pct", "%", "of that time: communication and copies alone"),
        number("hidden_pct", "%", "of the communication: behind compute"),
    ),
)
_COMMUNICATION = re.compile(r"^nccl.*Kernel")
_MEMORY = re.compile(r"^Memcpy|^Memset|^dma")
_NO_COMPUTE = re.compile(r"^nccl.*Kernel|.*Memcpy|Memset|.*Sync")


def peer_shares(trace: RankTrace) -> tuple[int, float, float, float, float]:
    """One row of ``PEER``; a share without anything to divide by is not a number."""
    rows = _considered(trace)
    communication = _named(trace, _COMMUNICATION)
    memory = _named(trace, _MEMORY)
    compute = of_kind(trace, rows & ~communication & ~memory & ~_named(trace, _NO_COMPUTE))
    transfer = of_kind(trace, rows & communication)
    busy = of_kind(trace, rows)
    if not busy.total:
        return (trace.rank, math.nan, math.nan, math.nan, math.nan)
    span = int(busy.end[-1] - busy.start[0])
    idle, computing = span - busy.total, compute.total
    hidden = (transfer & compute).total / transfer.total if transfer.total else math.nan
    shares = [100.0 * part / span for part in (idle, computing, span - idle - computing)]
    return (trace.rank, shares[0], shares[1], shares[2], 100.0 * hidden)


def _considered(trace: RankTrace) -> Bool:
    """Events launched before the last of several profiler steps; every event otherwise."""
    number, start, _ = profiler_steps(trace)
    if len(number) < 2:
        return np.ones(len(trace.device), dtype=np.bool_)
    rows: Bool = has_launch(trace) & (launch_times(trace) < start[-1])
    return rows


def _named(trace: RankTrace, pattern: re.Pattern[str]) -> Bool:
    numbers = [row for row, name in enumerate(trace.names) if pattern.match(name)]
    return np.isin(trace.device.name, numbers)
