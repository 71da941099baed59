"""Time for answers: what was not found by then is said, never guessed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.errors import LimitError

if TYPE_CHECKING:
    from fleetplan.solving.options import SolveOptions


@dataclass(frozen=True)
class Clock:
    """When to stop; without a time it never does."""

    ends_at: float = float("inf")

    @classmethod
    def of(cls, seconds: float | None) -> Clock:
        """A clock that starts now."""
        return cls() if seconds is None else cls(time.perf_counter() + seconds)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() >= self.ends_at

    def check(self) -> None:
        """Raise ``LimitError`` if the time is up."""
        if self.over:
            raise LimitError("the time for this answer is over")

    def limit(self, settings: SolveOptions) -> SolveOptions:
        """Settings of a solve that ends with the clock; raises ``LimitError`` if the time is up."""
        self.check()
        if self.ends_at == float("inf"):
            return settings
        left = self.ends_at - time.perf_counter()
        own = settings.time_limit_s
        return replace(settings, time_limit_s=max(1e-3, left if own is None else min(left, own)))


def left_open(count: int, what: str) -> list[str]:
    """The line that says what the clock left undone; none where nothing is."""
    return [f"Not finished in the time given: {count} {what}."] if count else []
