"""How much compute and communication slow each other down, from the trace alone.

A kernel does the same work each time: ``alone + k · beside = isolated``, with ``k`` its rate while a
collective runs. So within kernels of one name, time alone falls by ``k`` for each unit of time beside:
a regression over all of them, in units of each kernel's mean, gives ``k`` and its error. The same for
collectives of one kind, size and group beside compute. Kernels of one name may differ in shape; names
whose durations scatter widely are left out, and scatter that remains widens the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fleetplan.trace.columns import Float, Int
from fleetplan.trace.intervals import Moments
from fleetplan.trace.kinds import Kind
from fleetplan.trace.matching import Matched
from fleetplan.trace.rank import RankParts, collective_moments

_FEWEST_EVENTS = 4
_WIDEST_SCATTER = 0.4
_LEAST_SPREAD = 0.05
"""Share of its duration by which a kernel's overlap must vary for its events to tell anything."""

Row = tuple[str, str, float, float, int]


def contention_rows(ranks: Sequence[RankParts], matched: Sequence[Matched]) -> Iterator[Row]:
    """Rows of ``CONTENTION`` over all ranks."""
    kinds = sorted({match.call.kind for match in matched})
    if not kinds:
        return
    names, alone, beside = _compute_events(ranks, kinds)
    for kind, (rate, error, events) in zip(kinds, regress(names, alone, beside), strict=True):
        yield "compute", kind, rate, error, events
    for kind in kinds:
        calls = [match for match in matched if match.call.kind == kind]
        sizes = {match.call.bytes: row for row, match in enumerate(calls)}
        keys = np.array([sizes[match.call.bytes] for match in calls])
        share = np.array([match.transfer_ns / max(match.call.end - match.call.start, 1) for match in calls])
        hidden = np.array([match.call.hidden_ns for match in calls]) * share
        total = np.array([match.transfer_ns for match in calls], dtype=np.float64)
        rate, error, events = regress(keys, total - hidden, hidden[:, None])[0]
        yield "communication", kind, rate, error, events


def _compute_events(ranks: Sequence[RankParts], kinds: Sequence[str]) -> tuple[Int, Float, Float]:
    """Name key, time alone, and time beside each kind, of every compute event."""
    keys: dict[str, int] = {}
    names, alone, beside = [], [], []
    for rank in ranks:
        device = rank.trace.device
        rows = np.flatnonzero(device.kind == Kind.COMPUTE)
        start, end = device.start[rows], device.end[rows]
        numbers = np.array([keys.setdefault(name, len(keys)) for name in rank.trace.names])
        moments = collective_moments(rank)
        none = Moments(start[:0], start[:0])
        columns = [moments.get(kind, none).within(start, end) for kind in kinds]
        names.append(numbers[device.name[rows]])
        beside.append(np.column_stack(columns))
        alone.append((end - start) - rank.parts.communication.within(start, end))
    return np.concatenate(names), np.concatenate(alone), np.concatenate(beside)


def regress(keys: Int, alone: Float, beside: Float) -> list[tuple[float, float, int]]:
    """Rate, its standard error and the number of events for each column of ``beside``.

    ``keys`` groups events that do equal work. Not a number where no group's overlap varies.
    """
    columns = beside.shape[1]
    nothing = [(math.nan, math.nan, 0)] * columns
    if not len(keys):
        return nothing
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    total = alone + beside.sum(axis=1)
    mean = np.bincount(group, total) / size
    square = np.bincount(group, total**2) / size
    scatter = np.sqrt(np.maximum(square - mean**2, 0.0)) / np.maximum(mean, 1.0)
    good = ((size >= _FEWEST_EVENTS) & (scatter < _WIDEST_SCATTER) & (mean > 0))[group]
    if not good.any():
        return nothing
    scale = mean[group][good]
    inside = group[good]
    y = _within(inside, alone[good] / scale)
    x = np.column_stack([_within(inside, beside[good, column] / scale) for column in range(columns)])
    varies = np.array([_varying(inside, x[:, column]) for column in range(columns)])
    if not varies.any():
        return nothing
    used = x[:, varies > 0]
    rows = np.any(np.abs(used) > 0, axis=1)
    slope, *_ = np.linalg.lstsq(used[rows], y[rows], rcond=None)
    rest = y[rows] - used[rows] @ slope
    groups = len(np.unique(inside[rows]))
    free = max(int(rows.sum()) - groups - used.shape[1], 1)
    covariance = np.linalg.pinv(used[rows].T @ used[rows]) * float(rest @ rest) / free
    answer = list(nothing)
    for place, column in enumerate(np.flatnonzero(varies > 0)):
        answer[column] = (-float(slope[place]), math.sqrt(covariance[place, place]), int(varies[column]))
    return answer


def _within(group: Int, values: Float) -> Float:
    """Values less their group's mean."""
    count = np.bincount(group)
    centred: Float = values - (np.bincount(group, values) / np.maximum(count, 1))[group]
    return centred


def _varying(group: Int, centred: Float) -> int:
    """Events in groups whose overlap varies."""
    count = np.bincount(group)
    spread = np.sqrt(np.bincount(group, centred**2) / np.maximum(count, 1))
    return int(count[spread > _LEAST_SPREAD].sum())
