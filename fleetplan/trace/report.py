"""What a set of traces says: tables, the typical step, and notes on how far it can be trusted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.tables import TableSpec
from fleetplan.trace.collectives import bus_factor
from fleetplan.trace.contention import contention_rows
from fleetplan.trace.intervals import Moments, union
from fleetplan.trace.matching import Matched, match_calls
from fleetplan.trace.peer import PEER, peer_shares
from fleetplan.trace.rank import (
    RankParts,
    collective_moments,
    host_annotation,
    kernel_rows,
    step_rows,
    take_apart,
)
from fleetplan.trace.read import read_traces
from fleetplan.trace.tables import (
    CALLS,
    COLLECTIVES,
    CONTENTION,
    GAPS,
    KERNELS,
    LANES,
    RANKS,
    RATES,
    STEPS,
    STRAGGLERS,
)

if TYPE_CHECKING:
    import pandas as pd

SMALLEST_RATED_BYTES = 1e6
"""Smaller calls say more of latency than of the link."""
_LONGEST_GAPS = 8
_LANE_RESOLUTION = 2000


@dataclass(frozen=True)
class TraceReport:
    """Tables of one job's traces; columns, units and meanings are in :mod:`fleetplan.trace.tables`.

    ``typical_step`` is the number of the whole step of median duration, over all ranks.
    """

    ranks: pd.DataFrame
    steps: pd.DataFrame
    collectives: pd.DataFrame
    calls: pd.DataFrame
    rates: pd.DataFrame
    kernels: pd.DataFrame
    contention: pd.DataFrame
    gaps: pd.DataFrame
    stragglers: pd.DataFrame
    lanes: pd.DataFrame
    peer: pd.DataFrame
    typical_step: int
    notes: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by name."""
        return {spec.name: getattr(self, spec.name) for spec in SPECS}

    @property
    def typical(self) -> pd.DataFrame:
        """Rows of ``steps`` for the typical step, one per rank that has it."""
        return self.steps[self.steps["step"] == self.typical_step].reset_index(drop=True)

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON: tables as lists of records, missing numbers as ``None``."""
        tables = {name: records(table) for name, table in self.tables.items()}
        return {"typical_step": self.typical_step, "notes": list(self.notes), **tables}

    def lines(self, width: int = 100) -> list[str]:
        """Text for a terminal."""
        from fleetplan.trace.text import report_lines

        return report_lines(self, width)

    def write_csv(self, folder: str | Path) -> list[Path]:
        """Write each table as ``<name>.csv`` into an existing folder."""
        files = []
        for name, table in self.tables.items():
            file = Path(folder) / f"{name}.csv"
            table.to_csv(file, index=False, float_format="%.6g", lineterminator="\n")
            files.append(file)
        return files


SPECS: tuple[TableSpec, ...] = (
    RANKS,
    STEPS,
    COLLECTIVES,
    CALLS,
    RATES,
    KERNELS,
    CONTENTION,
    GAPS,
    STRAGGLERS,
    LANES,
    PEER,
)


def trace_report(files: Sequence[str | Path]) -> TraceReport:
    """Read profiler traces, one file per rank, and say where the steps go.

    Raises :class:`fleetplan.errors.InputError` with the faults of all files, and
    :class:`fleetplan.errors.MissingExtraError` where the extra ``trace`` is not installed.
    """
    ranks = [take_apart(trace) for trace in read_traces(files)]
    matched = match_calls([rank.calls for rank in ranks])
    steps = STEPS.frame(row for rank in ranks for row in step_rows(rank))
    typical = _typical_step(steps)
    calls = CALLS.frame(_call_row(match) for match in matched)
    return TraceReport(
        ranks=RANKS.frame(_rank_row(rank) for rank in ranks),
        steps=steps,
        collectives=COLLECTIVES.frame(_collective_rows(ranks, matched)),
        calls=calls,
        rates=RATES.frame(_rate_rows(calls)),
        kernels=KERNELS.frame(row for rank in ranks for row in kernel_rows(rank)),
        contention=CONTENTION.frame(contention_rows(ranks, matched)),
        gaps=GAPS.frame(row for rank in ranks for row in _gap_rows(rank, typical)),
        stragglers=STRAGGLERS.frame(_straggler_rows(steps, matched)),
        lanes=LANES.frame(row for rank in ranks for row in _lane_rows(rank, typical)),
        peer=PEER.frame(peer_shares(rank.trace) for rank in ranks),
        typical_step=typical,
        notes=tuple(_notes(ranks, matched)),
    )


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Rows as plain dictionaries; numbers that are none become ``None``."""
    rows = table.to_dict(orient="records")
    return [
        {str(k): None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in rows
    ]


def _typical_step(steps: pd.DataFrame) -> int:
    whole = steps[steps["whole"]] if steps["whole"].any() else steps
    mean = whole.groupby("step")["duration_ms"].mean().sort_values(kind="stable")
    return int(mean.index.to_numpy()[(len(mean) - 1) // 2])


def _rank_row(rank: RankParts) -> tuple[object, ...]:
    trace = rank.trace
    start, end = trace.span
    return (
        trace.rank,
        trace.file.name,
        trace.platform,
        trace.device_name,
        trace.world_size or 0,
        trace.events_read,
        len(trace.device),
        trace.kept_share,
        (end - start) / 1e6,
        rank.windows.source,
        0 if rank.windows.source == "none" else len(rank.windows.number),
    )


def _call_row(match: Matched) -> tuple[object, ...]:
    call = match.call
    crossing = math.nan
    if call.bytes and call.group_size and call.group_size > 1:
        crossing = call.bytes * bus_factor(call.kind, call.group_size)
    return (
        call.rank,
        call.start / 1e6,
        call.step,
        call.kind,
        call.evidence,
        (call.end - call.start) / 1e6,
        match.transfer_ns / 1e6,
        match.ranks_seen,
        call.hidden_ns / 1e6,
        call.bytes or math.nan,
        call.group_size or 0,
        call.group_from,
        crossing / match.transfer_ns if match.transfer_ns else math.nan,
    )


def _collective_rows(ranks: Sequence[RankParts], matched: Sequence[Matched]) -> Iterator[tuple[object, ...]]:
    grouped: dict[tuple[int, int, str], list[Matched]] = defaultdict(list)
    for match in matched:
        grouped[match.call.rank, match.call.step, match.call.kind].append(match)
    for rank in ranks:
        windows, hidden = rank.windows, rank.parts.hidden
        for kind, moments in collective_moments(rank).items():
            time = moments.within(windows.start, windows.end) / 1e6
            behind = (moments & hidden).within(windows.start, windows.end) / 1e6
            for row, step in enumerate(windows.number):
                calls = grouped.get((rank.trace.rank, int(step), kind), [])
                sizes = [match.call.bytes for match in calls if match.call.bytes]
                if calls or time[row]:
                    yield (
                        rank.trace.rank,
                        int(step),
                        kind,
                        len(calls),
                        sum(sizes) / 1e9,
                        len(sizes),
                        float(time[row]),
                        float(behind[row]),
                        float(time[row] - behind[row]),
                        sum(match.waiting_ns for match in calls) / 1e6,
                    )


def _rate_rows(calls: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    rated = calls[(calls["bytes"] >= SMALLEST_RATED_BYTES) & calls["link_gb_per_s"].notna()]
    for (kind, size), group in rated.groupby(["collective", "group_size"]):
        rate = group["link_gb_per_s"]
        yield (
            kind,
            int(str(size)),
            len(group),
            float(group["bytes"].mean()) / 1e6,
            float(rate.median()),
            float(rate.max()),
        )


def _straggler_rows(steps: pd.DataFrame, matched: Sequence[Matched]) -> Iterator[tuple[object, ...]]:
    waiting: dict[int, float] = defaultdict(float)
    for match in matched:
        waiting[match.call.step] += match.waiting_ns / 1e6
    for step, group in steps[steps["whole"]].groupby("step"):
        compute = group["compute_ms"]
        mean, most = float(compute.mean()), float(compute.max())
        number = int(str(step))
        yield (
            number,
            len(group),
            int(group["rank"].to_numpy()[compute.to_numpy().argmax()]),
            mean,
            most,
            most / mean if mean else math.nan,
            waiting[number] / len(group),
        )


def _window(rank: RankParts, step: int) -> tuple[int, int] | None:
    rows = np.flatnonzero(rank.windows.number == step)
    return (int(rank.windows.start[rows[0]]), int(rank.windows.end[rows[0]])) if len(rows) else None


def _clip(moments: Moments, start: int, end: int) -> Moments:
    return union(np.clip(moments.start, start, end), np.clip(moments.end, start, end))


def _gap_rows(rank: RankParts, step: int) -> Iterator[tuple[object, ...]]:
    window = _window(rank, step)
    if window is None:
        return
    parts = rank.parts
    gaps = _clip(parts.span - parts.compute, *window)
    longest = np.argsort(gaps.start - gaps.end, kind="stable")[:_LONGEST_GAPS]
    start, end = gaps.start[longest], gaps.end[longest]
    exposed = parts.exposed.within(start, end) / 1e6
    host = parts.host_bound.within(start, end) / 1e6
    for row in range(len(longest)):
        low, high = int(start[row]), int(end[row])
        kinds = sorted({call.kind for call in rank.calls if call.start < high and call.end > low})
        yield (
            rank.trace.rank,
            (low - window[0]) / 1e6,
            (high - low) / 1e6,
            float(exposed[row]),
            float(host[row]),
            ", ".join(kinds),
            host_annotation(rank.trace, (low + high) // 2),
        )


def _lane_rows(rank: RankParts, step: int) -> Iterator[tuple[object, ...]]:
    window = _window(rank, step)
    if window is None:
        return
    parts = rank.parts
    lanes = {"compute": parts.compute, **collective_moments(rank), "copy": parts.copy}
    lanes["gap"] = parts.span - parts.compute
    for lane, moments in lanes.items():
        near = _joined(_clip(moments, *window), (window[1] - window[0]) // _LANE_RESOLUTION)
        for start, end in zip(near.start.tolist(), near.end.tolist(), strict=True):
            yield (rank.trace.rank, lane, (start - window[0]) / 1e6, (end - window[0]) / 1e6)


def _joined(moments: Moments, closer_than: int) -> Moments:
    """Join intervals that a picture could not show apart."""
    wide = union(moments.start, moments.end + closer_than)
    return Moments(wide.start, wide.end - closer_than)


def _notes(ranks: Sequence[RankParts], matched: Sequence[Matched]) -> Iterator[str]:
    yield from dict.fromkeys(note for rank in ranks for note in rank.trace.notes)
    thinned = [rank.trace for rank in ranks if rank.trace.kept_share < 0.5]
    if thinned:
        share = max(trace.kept_share for trace in thinned)
        yield (
            f"{len(thinned)} of {len(ranks)} files hold at most {share:.1%} of the profiler's numbered "
            "operators: they were thinned, or recorded Python stacks that were left out; where kernels "
            "are missing, idle time is too high and compute too low"
        )
    if any(rank.windows.source == "none" for rank in ranks):
        yield "no steps were found: the whole trace counts as one"
    if any(rank.windows.source == "repetition" for rank in ranks):
        yield "steps were inferred from the repetition of kernels"
    guessed = {match.call.kind for match in matched if match.call.evidence == "kernel name"}
    if guessed:
        yield f"known by kernel name only: {', '.join(sorted(guessed))}"
    alone = sum(match.ranks_seen == 1 for match in matched)
    if alone:
        yield (
            f"{alone} of {len(matched)} collective calls could not be matched with another rank's: "
            "their times hold the waiting for other ranks, and their link rates are lower bounds"
        )
    if any(match.call.group_from == "world" for match in matched):
        yield "some calls do not name their group: all ranks of the job are assumed"
