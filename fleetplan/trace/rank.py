"""All figures of one rank, before ranks are put beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fleetplan.trace.collectives import Call, find_calls
from fleetplan.trace.columns import Int, RankTrace
from fleetplan.trace.intervals import Moments, union
from fleetplan.trace.kinds import Kind, kernel_family
from fleetplan.trace.parts import Parts, split
from fleetplan.trace.steps import StepWindows, find_steps

_STEP_COLUMNS = (
    "compute",
    "exposed",
    "copy",
    "wait",
    "host_bound",
    "other_idle",
    "communication",
    "hidden",
)


@dataclass(frozen=True)
class RankParts:
    """One rank with its steps, its split and its collectives."""

    trace: RankTrace
    windows: StepWindows
    parts: Parts
    calls: list[Call]


def take_apart(trace: RankTrace) -> RankParts:
    """Find steps, split the time and list the collectives."""
    windows = find_steps(trace)
    parts = split(trace, int(windows.end[-1]))
    return RankParts(trace, windows, parts, find_calls(trace, windows, parts.compute))


def step_rows(rank: RankParts) -> Iterator[tuple[object, ...]]:
    """Rows of ``STEPS``."""
    windows, parts = rank.windows, rank.parts
    times = [getattr(parts, name).within(windows.start, windows.end) / 1e6 for name in _STEP_COLUMNS]
    for row, number in enumerate(windows.number):
        duration = (int(windows.end[row]) - int(windows.start[row])) / 1e6
        yield (
            rank.trace.rank,
            int(number),
            bool(windows.whole[row]),
            duration,
            *(float(column[row]) for column in times),
        )


def kernel_rows(rank: RankParts) -> Iterator[tuple[object, ...]]:
    """Rows of ``KERNELS``."""
    device, windows = rank.trace.device, rank.windows
    families = np.array([kernel_family(name) for name in rank.trace.names], dtype=object)
    rows = np.flatnonzero(device.kind == Kind.COMPUTE)
    of = families[device.name[rows]]
    step = np.searchsorted(windows.start, device.start[rows], side="right") - 1
    wires = _wires(rank)
    for family in sorted(set(of.tolist())):
        mine = of == family
        moments = union(device.start[rows[mine]], device.end[rows[mine]])
        busy = moments.within(windows.start, windows.end) / 1e6
        beside = [(moments & wire).within(windows.start, windows.end) / 1e6 for wire in wires]
        launches = np.bincount(step[mine & (step >= 0)], minlength=len(windows.number))
        for row, number in enumerate(windows.number):
            counted = int(launches[row])
            times = (float(column[row]) for column in (busy, *beside))
            yield (rank.trace.rank, int(number), family, counted, *times)


def _wires(rank: RankParts) -> tuple[Moments, Moments, Moments]:
    """When an all-to-all runs, an all-reduce without one, and other communication alone."""
    kinds = collective_moments(rank)
    none = union(rank.trace.device.start[:0], rank.trace.device.end[:0])
    exchange = kinds.get("all-to-all", none)
    reduction = kinds.get("all-reduce", none) - exchange
    return exchange, reduction, rank.parts.communication - exchange - reduction


def collective_moments(rank: RankParts) -> dict[str, Moments]:
    """When each kind of collective runs."""
    kinds: dict[str, list[Call]] = {}
    for call in rank.calls:
        kinds.setdefault(call.kind, []).append(call)
    return {
        kind: union(_array(call.start for call in calls), _array(call.end for call in calls))
        for kind, calls in sorted(kinds.items())
    }


def _array(values: Iterator[int]) -> Int:
    return np.array(list(values), dtype=np.int64)


def host_annotation(trace: RankTrace, when: int) -> str:
    """Innermost annotation of the launching thread at a moment, other than the step's; empty if none."""
    marks = trace.annotations
    if not len(trace.launches.thread):
        return ""
    thread = int(np.bincount(trace.launches.thread).argmax())
    around = np.flatnonzero((marks.thread == thread) & (marks.start <= when) & (marks.end > when))
    names = [trace.names[int(marks.name[row])] for row in around]
    inner = [name for name in names if not name.startswith("ProfilerStep")]
    return inner[-1][:80] if inner else ""
