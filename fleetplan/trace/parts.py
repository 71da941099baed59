"""Split the device's time into compute, exposed and hidden communication, copies, waits and idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleetplan.trace.columns import Bool, Int, RankTrace
from fleetplan.trace.intervals import Moments, union
from fleetplan.trace.kinds import Kind
from fleetplan.trace.steps import has_launch, launch_times


@dataclass(frozen=True)
class Parts:
    """Moments of one rank. The parts named in ``EXCLUSIVE`` do not overlap, and fill ``span``.

    ``host_bound`` is idle time in which the next kernel had not been launched yet: the host was
    late. ``other_idle`` is the rest: launch latency, dependencies, or launches that are not traced.
    """

    compute: Moments
    communication: Moments
    hidden: Moments
    exposed: Moments
    copy: Moments
    wait: Moments
    host_bound: Moments
    other_idle: Moments
    span: Moments


EXCLUSIVE = ("compute", "exposed", "copy", "wait", "host_bound", "other_idle")


def split(trace: RankTrace, end: int) -> Parts:
    """Split the time from the first device event to ``end`` (ns)."""
    kinds = {kind: of_kind(trace, trace.device.kind == kind) for kind in Kind}
    compute, communication = kinds[Kind.COMPUTE], kinds[Kind.COMMUNICATION]
    exposed = communication - compute
    copy = kinds[Kind.COPY] - compute - communication
    busy = compute | communication | copy
    wait = kinds[Kind.WAIT] - busy
    start = trace.span[0]
    span = union(np.array([start]), np.array([max(end, trace.span[1])]))
    idle = span - busy - wait
    host_bound = _host_bound(trace, idle)
    return Parts(
        compute=compute,
        communication=communication,
        hidden=communication & compute,
        exposed=exposed,
        copy=copy,
        wait=wait,
        host_bound=host_bound,
        other_idle=idle - host_bound,
        span=span,
    )


def of_kind(trace: RankTrace, rows: Bool) -> Moments:
    """Moments in which any of these device events runs."""
    return union(trace.device.start[rows], trace.device.end[rows])


def _host_bound(trace: RankTrace, idle: Moments) -> Moments:
    """The part of each idle gap before the launch of the work that ends the gap."""
    device = trace.device
    working = device.kind <= Kind.COPY
    start = device.start[working]
    launched = np.where(has_launch(trace), launch_times(trace), np.iinfo(np.int64).min)[working]
    if not len(start):
        return union(idle.start[:0], idle.end[:0])
    following = np.searchsorted(start, idle.end, side="left")
    there = following < len(start)
    launch: Int = np.where(there, launched[np.minimum(following, len(start) - 1)], idle.start)
    return union(idle.start, np.clip(launch, idle.start, idle.end))
