"""How long work tells what it is doing: phases that start, update and end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class SolveState:
    """Where a solve stands. ``best``, ``bound`` and ``gap`` are ``None`` until they are known."""

    phase: str
    best: float | None
    bound: float | None
    gap: float | None
    seconds: float
    gap_asked: float
    """The solve ends when ``gap`` is down to this."""
    seconds_left: float | None
    """Until the time limit; ``None`` without one."""


class Progress(Protocol):
    """What a caller may watch. All methods return at once."""

    def start(self, phase: str) -> None:
        """A phase begins."""

    def solving(self, state: SolveState) -> None:
        """The solver has news."""

    def working(self, phase: str, done: int, total: int, note: str) -> None:
        """``done`` of ``total`` pieces are finished."""

    def end(self, phase: str, message: str, seconds: float) -> None:
        """A phase is over; ``message`` says what came out."""


class Silent:
    """Watches nothing."""

    def start(self, phase: str) -> None:
        """Ignore."""

    def solving(self, state: SolveState) -> None:
        """Ignore."""

    def working(self, phase: str, done: int, total: int, note: str) -> None:
        """Ignore."""

    def end(self, phase: str, message: str, seconds: float) -> None:
        """Ignore."""


@dataclass
class Stopwatch:
    """Times phases and tells a :class:`Progress` about them; ``seconds`` goes to the manifest."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[list[str]]:
        """Time the block; what it appends to the yielded list is its message."""
        self.progress.start(name)
        message: list[str] = []
        begun = time.perf_counter()
        yield message
        self.seconds[name] = time.perf_counter() - begun
        self.progress.end(name, ", ".join(message), self.seconds[name])
