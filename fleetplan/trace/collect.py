"""Gather the events of one file into columns, checking each value that is kept."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fleetplan.errors import InputError
from fleetplan.trace.columns import NO_CORRELATION, CommFacts
from fleetplan.trace.events import Args, Event
from fleetplan.trace.kinds import (
    ANNOTATION_CATEGORIES,
    DEVICE_CATEGORIES,
    LAUNCH_CATEGORIES,
    OPERATOR_CATEGORIES,
    Kind,
    collective_kind,
    device_kind,
    element_bytes,
)

MAX_KEPT_EVENTS = 20_000_000
MAX_NAME = 512
MAX_NAME_BYTES = 256 << 20
_MAX_US = 9e15  # above it nanoseconds leave 64 bits
_COLLECTIVE_OPERATORS = ("record_param_comms", "c10d::", "nccl:")


class Words:
    """Strings as small numbers, each kept once and cut at ``MAX_NAME`` characters."""

    def __init__(self) -> None:
        """Start empty."""
        self.index: dict[str, int] = {}
        self.size = 0

    def __getitem__(self, word: str) -> int:
        """Number of a word."""
        short = word if len(word) <= MAX_NAME else word[:MAX_NAME]
        number = self.index.get(short)
        if number is None:
            number = self.index[short] = len(self.index)
            self.size += len(short)
        return number


def _longs() -> array[int]:
    return array("q")


@dataclass
class Collector:
    """Columns while they grow; ``take`` feeds one batch. Times are ns as in the file."""

    file: Path
    names: Words = field(default_factory=Words)
    streams: Words = field(default_factory=Words)
    threads: Words = field(default_factory=Words)
    events_read: int = 0
    operators: int = 0
    first_operator: int = 1 << 62
    last_operator: int = -1
    device: dict[str, array[int]] = field(
        default_factory=lambda: {
            name: _longs() for name in ("start", "end", "kind", "name", "stream", "device", "correlation")
        }
    )
    device_bytes: array[float] = field(default_factory=lambda: array("d"))
    facts: dict[int, CommFacts] = field(default_factory=dict)
    launch: dict[str, array[int]] = field(
        default_factory=lambda: {name: _longs() for name in ("correlation", "start", "thread")}
    )
    marks: dict[str, array[int]] = field(
        default_factory=lambda: {name: _longs() for name in ("thread", "start", "end", "name")}
    )
    mark_facts: dict[int, CommFacts] = field(default_factory=dict)
    _kinds: dict[tuple[str, int], Kind] = field(default_factory=dict)

    def take(self, batch: list[Event]) -> None:
        """Keep what matters of a batch."""
        handlers = self._handlers()
        for event in batch:
            handler = handlers.get(event.cat)
            if handler is not None and event.ph == "X":
                handler(event)
        self.events_read += len(batch)
        kept = len(self.device_bytes) + len(self.launch["start"]) + len(self.marks["start"])
        if kept > MAX_KEPT_EVENTS or self.names.size + self.streams.size > MAX_NAME_BYTES:
            message = f"holds more than {MAX_KEPT_EVENTS} events to keep, or endless names"
            raise InputError.at(self.file, "E955", message, "record fewer steps")

    def _handlers(self) -> dict[str, Callable[[Event], None]]:
        groups = (
            (DEVICE_CATEGORIES, self._device_event),
            (LAUNCH_CATEGORIES, self._launch_event),
            (ANNOTATION_CATEGORIES, self._annotation),
            (OPERATOR_CATEGORIES, self._operator),
        )
        return {category: handler for categories, handler in groups for category in categories}

    def _device_event(self, event: Event) -> None:
        start, end = self._times(event)
        name = self.names[event.name]
        kind = self._kinds.get((event.cat, name))
        if kind is None:
            kind = self._kinds[event.cat, name] = device_kind(event.cat, event.name[:MAX_NAME])
        args = event.args
        columns = self.device
        columns["start"].append(start)
        columns["end"].append(end)
        columns["kind"].append(kind)
        columns["name"].append(name)
        stream = args.stream if args is not None and args.stream is not None else event.tid
        columns["stream"].append(self.streams[f"{event.pid}/{stream}"])
        columns["device"].append(_whole(event.pid))
        columns["correlation"].append(NO_CORRELATION if args is None else _whole(args.correlation))
        self.device_bytes.append(0.0 if args is None else _size(args))
        if kind is Kind.COMMUNICATION and args is not None and isinstance(args.collective, str):
            self.facts[len(self.device_bytes) - 1] = _facts_of_args(args)

    def _launch_event(self, event: Event) -> None:
        correlation = NO_CORRELATION if event.args is None else _whole(event.args.correlation)
        if correlation != NO_CORRELATION:
            start, _ = self._times(event)
            self.launch["correlation"].append(correlation)
            self.launch["start"].append(start)
            self.launch["thread"].append(self.threads[f"{event.pid}/{event.tid}"])

    def _annotation(self, event: Event) -> None:
        self._number(event)
        self._mark(event)

    def _number(self, event: Event) -> None:
        """Follow the profiler's own numbers of operators: gaps in them tell of a thinned trace."""
        index = None if event.args is None else event.args.index
        if isinstance(index, int):
            self.operators += 1
            self.first_operator = min(self.first_operator, index)
            self.last_operator = max(self.last_operator, index)

    def _mark(self, event: Event) -> None:
        start, end = self._times(event)
        self.marks["thread"].append(self.threads[f"{event.pid}/{event.tid}"])
        self.marks["start"].append(start)
        self.marks["end"].append(end)
        self.marks["name"].append(self.names[event.name])
        if event.name.startswith(_COLLECTIVE_OPERATORS):
            self.mark_facts[len(self.marks["start"]) - 1] = _facts_of_operator(event)

    def _operator(self, event: Event) -> None:
        self._number(event)
        if event.name.startswith(_COLLECTIVE_OPERATORS):
            self._mark(event)

    @property
    def kept_share(self) -> float:
        """Share of the numbered operators that the file still holds; 1 where nothing is numbered."""
        return self.operators / (self.last_operator - self.first_operator + 1) if self.operators else 1.0

    def _times(self, event: Event) -> tuple[int, int]:
        """Start and end in ns; ``ts`` counts microseconds in every Kineto trace."""
        ts, dur = event.ts, event.dur
        if ts is None or dur is None:
            raise self._wrong(event, "has no ts or no dur", "write both, in microseconds")
        if dur < 0:
            raise self._wrong(event, f"has a negative duration, {dur:g} us", "durations are 0 or more")
        if not (abs(ts) < _MAX_US and dur < _MAX_US):
            raise self._wrong(event, f"has a time out of range, {ts:g} us", "write microseconds")
        start = _nanoseconds(ts)
        return start, start + _nanoseconds(dur)

    def _wrong(self, event: Event, what: str, fix: str) -> InputError:
        message = f"event {event.name[:80]!r} of category {event.cat[:40]!r} {what}"
        return InputError.at(self.file, "E956", message, fix)


def _nanoseconds(microseconds: float) -> int:
    # one product would lose digits: since 1970 it is 2^50 us, and 2^60 ns
    whole = int(microseconds)
    return whole * 1000 if whole == microseconds else whole * 1000 + round((microseconds - whole) * 1000)


def _whole(value: object) -> int:
    """A number that may be written as text; -1 for anything else."""
    if isinstance(value, int):
        return value if abs(value) < 2**62 else NO_CORRELATION
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 19 else NO_CORRELATION


def _size(args: Args) -> float:
    size = args.bytes if args.bytes is not None else args.size
    return float(size) if isinstance(size, (int, float)) and 0 <= size < 1e18 else 0.0


def _facts_of_args(args: Args) -> CommFacts:
    """From NCCL's arguments: element counts, type and group (PyTorch 2.2 and later)."""
    width = element_bytes(args.dtype)
    size = args.group_size if isinstance(args.group_size, int) and args.group_size > 0 else None
    group = args.group[:MAX_NAME] if isinstance(args.group, str) else None
    return CommFacts(
        collective_kind(str(args.collective)),
        "arguments",
        in_bytes=_elements_bytes(args.in_elements, width),
        out_bytes=_elements_bytes(args.out_elements, width),
        group_size=size,
        group=group,
    )


def _elements_bytes(count: object, width: int | None) -> float | None:
    return float(count) * width if isinstance(count, int) and width and 0 <= count < 1e18 else None


def _facts_of_operator(event: Event) -> CommFacts:
    """From an operator or annotation around the launch: its name and the shapes of its inputs."""
    args = event.args
    if args is not None and isinstance(args.collective, str):
        return _facts_of_args(args)
    sizes = [] if args is None else _shape_bytes(args)
    kind = collective_kind(event.name)
    if event.name.startswith("c10d::") and len(sizes) >= 2 and sizes[0] and sizes[1]:
        # c10d operators take (output, input)
        ratio = max(sizes[:2]) / min(sizes[:2])
        group = round(ratio) if kind in ("all-gather", "reduce-scatter") and ratio > 1 else None
        return CommFacts(kind, "annotation", sizes[1], sizes[0], group)
    total = sum(sizes) if event.name.startswith("nccl:") and all(sizes) else 0.0
    return CommFacts(kind, "annotation", total or None)


def _shape_bytes(args: Args) -> list[float]:
    """Bytes of each input with a shape; 0 where the shape or the type is not plain."""
    if not isinstance(args.dims, list) or not isinstance(args.types, list):
        return []
    sizes = []
    for shape, dtype in zip(args.dims, args.types, strict=False):
        width = element_bytes(dtype)
        plain = isinstance(shape, list) and shape and all(isinstance(n, int) and n >= 0 for n in shape)
        sizes.append(float(math.prod(shape)) * width if plain and width and len(shape) < 20 else 0.0)
    return sizes
