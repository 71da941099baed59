"""The events of one rank that matter, as columns: device events, launches and annotations.

Times are whole nanoseconds since the first of these events of the rank; ``origin_ns`` puts the
ranks of a job on one clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

NO_CORRELATION = -1


@dataclass(frozen=True)
class CommFacts:
    """What a trace says about one collective. ``None`` where it says nothing."""

    kind: str
    evidence: str
    in_bytes: float | None = None
    out_bytes: float | None = None
    group_size: int | None = None
    group: str | None = None


@dataclass(frozen=True)
class DeviceEvents:
    """Work on the device, by start. ``correlation`` leads to the launch; -1 where there is none."""

    start: Int
    end: Int
    kind: Int
    name: Int
    stream: Int
    device: Int
    correlation: Int
    bytes: Float

    def __len__(self) -> int:
        """Number of events."""
        return len(self.start)

    def pick(self, rows: Bool | Int) -> DeviceEvents:
        """Some of the events."""
        return DeviceEvents(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Launches:
    """Runtime calls on the host that put work on the device, by correlation."""

    correlation: Int
    start: Int
    thread: Int


@dataclass(frozen=True)
class Annotations:
    """User annotations and collective operators on the host, by thread and start."""

    thread: Int
    start: Int
    end: Int
    name: Int


@dataclass(frozen=True)
class RankTrace:
    """One rank: its events, and what the file says about the job.

    ``facts`` holds what is known of a communication event by its row in ``device``;
    ``annotation_facts`` the same by row in ``annotations``. ``kept_share`` is the share of the profiler's
    numbered operators that the file holds: below 1 the trace was thinned. ``notes`` are for the report.
    """

    file: Path
    rank: int
    world_size: int | None
    device_name: str
    platform: str
    origin_ns: int
    events_read: int
    kept_share: float
    names: tuple[str, ...]
    streams: tuple[str, ...]
    device: DeviceEvents
    launches: Launches
    annotations: Annotations
    facts: dict[int, CommFacts] = field(default_factory=dict)
    annotation_facts: dict[int, CommFacts] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """Start of the first and end of the last device event, ns."""
        return int(self.device.start.min()), int(self.device.end.max())
