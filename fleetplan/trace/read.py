"""Read profiler traces: one file per rank, streaming, into columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import Fault, InputError, MissingExtraError
from fleetplan.trace.columns import Annotations, DeviceEvents, Int, Launches, RankTrace

if TYPE_CHECKING:
    from fleetplan.trace.collect import Collector

_RANK_IN_NAME = re.compile(r"rank[-_. ]?(\d+)", re.IGNORECASE)


def read_traces(files: Sequence[str | Path]) -> list[RankTrace]:
    """Read one trace per rank, by rank; all files' faults come in one error.

    A file that holds several devices gives one rank for each. Raises :class:`InputError` for files
    that are no trace, are broken or hold no device events, and :class:`MissingExtraError` without
    the extra ``trace``.
    """
    ranks: list[RankTrace] = []
    faults: list[Fault] = []
    for file in files:
        try:
            ranks += _read_one(Path(file))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    if not ranks:
        raise InputError.at("", "E952", "no trace was given", "name one file per rank")
    return _number_ranks(ranks)


def _read_one(file: Path) -> list[RankTrace]:
    if find_spec("msgspec") is None:
        raise MissingExtraError("reading traces", "trace")
    from fleetplan.trace.collect import Collector
    from fleetplan.trace.stream import TraceStream

    stream, collector = TraceStream(file), Collector(file)
    for batch in stream:
        collector.take(batch)
    if not len(collector.device_bytes):
        message = f"holds {collector.events_read} events, but none of a device"
        raise InputError.at(file, "E957", message, "profile with ProfilerActivity.CUDA, or .MTIA")
    return _by_device(_rank_trace(collector, stream.metadata))


def _rank_trace(collector: Collector, metadata: dict[str, object]) -> RankTrace:
    found = {name: _column(values) for name, values in collector.device.items()}
    launch = {name: _column(values) for name, values in collector.launch.items()}
    marks = {name: _column(values) for name, values in collector.marks.items()}
    origin = int(
        min(column.min() for column in (found["start"], launch["start"], marks["start"]) if len(column))
    )
    for columns in (found, launch, marks):
        for name in ("start", "end"):
            if name in columns:
                columns[name] = columns[name] - origin
    order = np.argsort(found["start"], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    device = DeviceEvents(**found, bytes=np.frombuffer(collector.device_bytes, dtype=np.float64))
    by_correlation = np.argsort(launch["correlation"], kind="stable")
    by_thread = np.lexsort((-marks["end"], marks["start"], marks["thread"]))
    thread_place = np.empty_like(by_thread)
    thread_place[by_thread] = np.arange(len(by_thread))
    rank, world, notes = _distributed(metadata, collector.file)
    base = metadata.get("baseTimeNanoseconds")
    return RankTrace(
        file=collector.file,
        rank=rank,
        world_size=world,
        device_name=_device_name(metadata, int(found["device"][0])),
        platform=_platform(collector),
        origin_ns=origin + (base if isinstance(base, int) else 0),
        events_read=collector.events_read,
        kept_share=collector.kept_share,
        names=tuple(collector.names.index),
        streams=tuple(collector.streams.index),
        device=device.pick(order),
        launches=Launches(**{name: column[by_correlation] for name, column in launch.items()}),
        annotations=Annotations(**{name: column[by_thread] for name, column in marks.items()}),
        facts={int(place[row]): facts for row, facts in collector.facts.items()},
        annotation_facts={int(thread_place[row]): facts for row, facts in collector.mark_facts.items()},
        notes=notes,
    )


def _column(values: array[int]) -> Int:
    return np.frombuffer(values, dtype=np.int64) if len(values) else np.empty(0, dtype=np.int64)


def _distributed(metadata: dict[str, object], file: Path) -> tuple[int, int | None, tuple[str, ...]]:
    """Rank, world size and notes; the rank from the file's name where the trace has none, else -1."""
    info = metadata.get("distributedInfo")
    facts = info if isinstance(info, dict) else {}
    world = facts.get("world_size")
    size = world if isinstance(world, int) and world > 0 else None
    rank = facts.get("rank")
    if isinstance(rank, int) and rank >= 0:
        return rank, size, ()
    named = _RANK_IN_NAME.search(file.name)
    source = "the file's name" if named else "the order of the files"
    note = f"{file.name}: no rank in the trace, taken from {source}"
    return int(named.group(1)) if named else -1, size, (note,)


def _device_name(metadata: dict[str, object], device: int) -> str:
    properties = metadata.get("deviceProperties")
    if not isinstance(properties, list):
        return ""
    named = {entry.get("id"): entry.get("name") for entry in properties if isinstance(entry, dict)}
    name = named.get(device) or next(iter(named.values()), "")
    return name[:80] if isinstance(name, str) else ""


def _platform(collector: Collector) -> str:
    """``mtia``, ``amd`` or ``nvidia`` by the names that only that platform's traces hold."""
    names = collector.names.index
    if "pe_exe" in names or "event_wait" in names:
        return "mtia"
    amd = any(name.startswith(("Cijk_", "rccl", "Copy")) or "hip" in name[:40] for name in names)
    return "amd" if amd else "nvidia"


def _by_device(trace: RankTrace) -> list[RankTrace]:
    devices = np.unique(trace.device.device)
    if len(devices) == 1:
        return [trace]
    parts = []
    for device in devices:
        rows = trace.device.device == device
        place = np.cumsum(rows) - 1
        facts = {int(place[row]): found for row, found in trace.facts.items() if rows[row]}
        note = f"{trace.file.name}: holds {len(devices)} devices; each counts as a rank"
        parts.append(
            replace(trace, rank=-1, device=trace.device.pick(rows), facts=facts, notes=(*trace.notes, note))
        )
    return parts


def _number_ranks(ranks: list[RankTrace]) -> list[RankTrace]:
    """Give every rank its own number: the file's where it is unique, the next free one elsewhere."""
    taken: set[int] = set()
    numbered = []
    for trace in sorted(ranks, key=lambda trace: trace.rank < 0):
        rank = trace.rank
        notes = trace.notes
        if rank in taken:
            notes = (*notes, f"{trace.file.name}: rank {rank} was given twice; numbered anew")
        if rank < 0 or rank in taken:
            rank = next(n for n in range(len(ranks) + len(taken) + 1) if n not in taken)
        taken.add(rank)
        numbered.append(replace(trace, rank=rank, notes=notes))
    return sorted(numbered, key=lambda trace: trace.rank)
