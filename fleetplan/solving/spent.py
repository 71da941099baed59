"""Seconds that a solve has spent, by phase, and what its time limit leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


class Spent:
    """Counts from its making on."""

    def __init__(self, limit_s: float | None = None) -> None:
        """Start to count; without a limit there is always time left."""
        self.limit_s = limit_s
        self.by_phase: dict[str, float] = {}
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """All seconds so far, those outside any phase included."""
        return time.perf_counter() - self._began

    def left(self) -> float | None:
        """Seconds until the limit, 0 from then on; ``None`` without one."""
        return None if self.limit_s is None else max(0.0, self.limit_s - self.seconds)

    def on(self, phase: str, work: Callable[[], Made]) -> Made:
        """Do the work and add its seconds to the phase, also where it raises."""
        began = time.perf_counter()
        try:
            return work()
        finally:
            self.by_phase[phase] = self.by_phase.get(phase, 0.0) + time.perf_counter() - began
