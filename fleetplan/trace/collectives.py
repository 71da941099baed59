"""Every collective of a rank: which one, how many bytes, in which group, how long, how well hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fleetplan.trace.columns import CommFacts, Int, RankTrace
from fleetplan.trace.intervals import Moments
from fleetplan.trace.kinds import UNKNOWN_COLLECTIVE, Kind, collective_kind
from fleetplan.trace.steps import StepWindows, has_launch


@dataclass(frozen=True)
class Call:
    """One collective on one rank. Times are ns since the rank's first event.

    ``bytes`` are those of NCCL's tests: the whole buffer for all-reduce, the gathered buffer for
    all-gather, the buffer before the reduction for reduce-scatter, and what one rank sends for
    all-to-all. ``group_from`` says how the group's size is known: ``trace``, ``sizes`` (ratio of
    output to input) or ``world`` (assumed: all ranks).
    """

    rank: int
    step: int
    kind: str
    evidence: str
    start: int
    end: int
    hidden_ns: float
    bytes: float | None
    group_size: int | None
    group_from: str
    group: str


def find_calls(trace: RankTrace, windows: StepWindows, compute: Moments) -> list[Call]:
    """List the collectives of one rank by start; those before the first step count to it."""
    rows = np.flatnonzero(trace.device.kind == Kind.COMMUNICATION)
    start, end = trace.device.start[rows], trace.device.end[rows]
    step = np.maximum(np.searchsorted(windows.start, start, side="right") - 1, 0)
    hidden = compute.within(start, end)
    around = _facts_around(trace, rows)
    calls = []
    for place, row in enumerate(rows):
        facts = _best(trace, int(row), around[place])
        size, origin = _group(facts, trace.world_size)
        calls.append(
            Call(
                rank=trace.rank,
                step=int(windows.number[step[place]]),
                kind=facts.kind,
                evidence=facts.evidence,
                start=int(start[place]),
                end=int(end[place]),
                hidden_ns=float(hidden[place]),
                bytes=_buffer_bytes(facts, size),
                group_size=size,
                group_from=origin,
                group=facts.group or "",
            )
        )
    return calls


def bus_factor(kind: str, group_size: int) -> float:
    """Share of the buffer that crosses one rank's link, one direction.

    From NCCL's tests: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    share = (group_size - 1) / group_size
    return {"all-reduce": 2 * share, "broadcast": 1.0, "reduce": 1.0, "send-receive": 1.0}.get(kind, share)


def _facts_around(trace: RankTrace, rows: Int) -> list[list[CommFacts]]:
    """Facts of the operators and annotations that enclose the launch of each event, innermost first."""
    marks = np.array(sorted(trace.annotation_facts), dtype=np.int64)
    found: list[list[CommFacts]] = [[] for _ in rows]
    launches = trace.launches
    known = has_launch(trace)[rows]
    if not len(marks) or not known.any():
        return found
    for place in np.flatnonzero(known):
        launch = int(np.searchsorted(launches.correlation, trace.device.correlation[rows[place]]))
        found[place] = _enclosing(trace, marks, int(launches.thread[launch]), int(launches.start[launch]))
    return found


def _enclosing(trace: RankTrace, marks: Int, thread: int, when: int) -> list[CommFacts]:
    """``marks`` are rows of annotations with facts; these are sorted by thread and start."""
    notes = trace.annotations
    low = int(np.searchsorted(notes.thread[marks], thread, side="left"))
    high = int(np.searchsorted(notes.thread[marks], thread, side="right"))
    last = low + int(np.searchsorted(notes.start[marks[low:high]], when, side="right"))
    # collectives nest three deep (c10d, record_param_comms, nccl); eight leaves room
    near = marks[max(low, last - 8) : last]
    return [trace.annotation_facts[int(row)] for row in near[::-1] if notes.end[row] > when]


def _best(trace: RankTrace, row: int, around: list[CommFacts]) -> CommFacts:
    """Join what is known: the kernel's own arguments first, then the closest operator, then its name."""
    name = trace.names[int(trace.device.name[row])]
    own = trace.facts.get(row)
    closest = sorted(around, key=lambda facts: facts.evidence != "arguments")
    sources = [*([own] if own else []), *closest]
    named = next((facts for facts in sources if facts.kind != UNKNOWN_COLLECTIVE), None)
    return CommFacts(
        kind=named.kind if named else collective_kind(name),
        evidence=named.evidence if named else "kernel name",
        in_bytes=_largest(facts.in_bytes for facts in sources),
        out_bytes=_largest(facts.out_bytes for facts in sources),
        group_size=next((facts.group_size for facts in sources if facts.group_size), None),
        group=next((facts.group for facts in sources if facts.group is not None), None),
    )


def _largest(sizes: Iterable[float | None]) -> float | None:
    known = [size for size in sizes if size]
    return max(known) if known else None


def _group(facts: CommFacts, world_size: int | None) -> tuple[int | None, str]:
    if facts.group_size:
        return facts.group_size, "trace" if facts.evidence == "arguments" else "sizes"
    return world_size, "world" if world_size else ""


def _buffer_bytes(facts: CommFacts, group_size: int | None) -> float | None:
    """Bytes by NCCL's convention, from whichever side is known."""
    known = [size for size in (facts.in_bytes, facts.out_bytes) if size]
    if not known:
        return None
    if len(known) == 1 and group_size:
        if facts.kind == "all-gather" and facts.in_bytes:
            return facts.in_bytes * group_size
        if facts.kind == "reduce-scatter" and facts.out_bytes:
            return facts.out_bytes * group_size
    return max(known)
