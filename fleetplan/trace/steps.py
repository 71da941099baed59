"""Training steps in a trace: from the profiler's annotations, or from the rhythm of the kernels.

A step's window on the device runs from the first compute kernel on the main stream that the step
launched to the same kernel of the next step. So the windows tile the time: nothing counts twice,
and the idle time at a step's end belongs to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fleetplan.trace.columns import Bool, Int, RankTrace
from fleetplan.trace.kinds import Kind

_PROFILER_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_MAX_SEQUENCE = 1 << 18
_LIKENESS = 0.9
_FEWEST_REPETITIONS = 3


@dataclass(frozen=True)
class StepWindows:
    """Windows of one rank, ns. ``whole`` is false where the trace may hold only a part of the step.

    ``source`` is ``annotation``, ``repetition`` or ``none`` (one window: all of the trace).
    """

    source: str
    number: Int
    start: Int
    end: Int
    whole: Bool


def find_steps(trace: RankTrace) -> StepWindows:
    """Find the steps of one rank."""
    return _annotated(trace) or _repeated(trace) or _everything(trace)


def launch_times(trace: RankTrace) -> Int:
    """When the host launched each device event, ns; the event's own start where that is not known."""
    row, known = _launch_rows(trace)
    return (
        np.where(known, trace.launches.start[row], trace.device.start) if known.any() else trace.device.start
    )


def has_launch(trace: RankTrace) -> Bool:
    """Whether the launch of each device event is in the trace."""
    return _launch_rows(trace)[1]


def _launch_rows(trace: RankTrace) -> tuple[Int, Bool]:
    """Row of each device event's launch, and whether there is one."""
    launches, wanted = trace.launches.correlation, trace.device.correlation
    if not len(launches):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.bool_)
    row = np.minimum(np.searchsorted(launches, wanted), len(launches) - 1)
    return row, launches[row] == wanted


def profiler_steps(trace: RankTrace) -> tuple[Int, Int, Int]:
    """Number, start and end on the host of the profiler's own step annotations, by start."""
    marks = trace.annotations
    numbers = {
        row: int(match.group(1)[:18])
        for row, name in enumerate(trace.names)
        if (match := _PROFILER_STEP.match(name))
    }
    rows = np.flatnonzero(np.isin(marks.name, list(numbers)))
    rows = rows[np.argsort(marks.start[rows], kind="stable")]
    number = np.array([numbers[int(name)] for name in marks.name[rows]], dtype=np.int64)
    _, first = np.unique(number, return_index=True)
    keep = np.sort(first)
    return number[keep], marks.start[rows][keep], marks.end[rows][keep]


def _annotated(trace: RankTrace) -> StepWindows | None:
    number, host_start, host_end = profiler_steps(trace)
    if not len(number):
        return None
    step = np.searchsorted(host_start, launch_times(trace), side="right") - 1
    anchor = _main_stream(trace) & (step >= 0)
    first = np.full(len(number), np.iinfo(np.int64).max)
    np.minimum.at(first, step[anchor], trace.device.start[anchor])
    start = np.where(first == np.iinfo(np.int64).max, host_start, first)
    start = np.maximum.accumulate(start)
    last_work = trace.device.end[step == len(number) - 1]
    end = np.append(start[1:], max([int(host_end[-1]), int(start[-1]), *last_work.tolist()]))
    # the profiler stops while the last step's work still runs
    whole = np.append(np.ones(len(number) - 1, dtype=np.bool_), len(number) == 1)
    return StepWindows("annotation", number, start, end, whole)


def _main_stream(trace: RankTrace) -> Bool:
    """Compute events on the stream that computes longest."""
    device = trace.device
    compute: Bool = device.kind == Kind.COMPUTE
    if not compute.any():
        return compute
    time = np.bincount(device.stream[compute], weights=(device.end - device.start)[compute].astype(float))
    main: Bool = compute & (device.stream == int(time.argmax()))
    return main


def _repeated(trace: RankTrace) -> StepWindows | None:
    """Cut at each return of a kernel that runs once per period of the main stream's kernels."""
    rows = np.flatnonzero(_main_stream(trace))
    names = trace.device.name[rows][:_MAX_SEQUENCE]
    period = _period(names)
    if not period:
        return None
    repetitions = len(names) // period
    counts = np.bincount(names[: period * repetitions])
    once = set(np.flatnonzero(counts == repetitions).tolist())
    anchors = [int(name) for name in names[:period] if int(name) in once]
    if not anchors:
        return None
    start = trace.device.start[rows[trace.device.name[rows] == anchors[0]]]
    count = len(start)
    end = np.append(start[1:], trace.span[1])
    whole = np.append(np.ones(count - 1, dtype=np.bool_), False)
    return StepWindows("repetition", np.arange(count), start, end, whole)


def _period(names: Int) -> int:
    """Fewest places by which the sequence must be moved to lie on itself; 0 if there is no rhythm."""
    length = len(names)
    longest = length // _FEWEST_REPETITIONS
    if longest < 2:
        return 0
    turn = np.exp(2j * np.pi * np.random.default_rng(0).random(int(names.max()) + 1))
    spectrum = np.fft.fft(turn[names], 2 * length)
    likeness = np.fft.ifft(np.abs(spectrum) ** 2).real[1 : longest + 1] / (length - np.arange(1, longest + 1))
    for shift in np.flatnonzero(likeness > _LIKENESS)[:64] + 1:
        alike = float((names[shift:] == names[:-shift]).mean())
        if alike > _LIKENESS and len(np.unique(names[:shift])) > 1:
            return int(shift)
    return 0


def _everything(trace: RankTrace) -> StepWindows:
    start, end = trace.span
    one = np.array([0])
    return StepWindows("none", one, np.array([start]), np.array([end]), np.array([True]))
