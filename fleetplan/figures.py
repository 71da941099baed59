"""A figure that somebody stated: its value, interval, evidence and source.

Plain numbers drive the computation; the :class:`Figure` beside each of them says how far it can be
trusted. Nothing in the project holds a number about the world without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Status = Literal["published", "reported", "derived", "assumed"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Strongest evidence first: stated by the owner; press or measured by others; computed; ours."""


@dataclass(frozen=True)
class Origin:
    """Where a value was read: the file as the planner would type it, and the line from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        """``supply.csv:41``."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Figure:
    """One stated value. ``low`` and ``high`` bound it where it is not known exactly.

    ``value`` is ``None`` where nobody has published the figure: that is information, not a gap to
    be filled. Text values (a vendor, a cooling class) have an empty ``unit`` and no interval.
    """

    name: str
    value: float | int | str | None
    unit: str
    status: Status
    low: float | None = None
    high: float | None = None
    source: str = ""
    date: str = ""
    note: str = ""
    origin: Origin | None = None

    @property
    def is_open(self) -> bool:
        """Whether the interval leaves room, so that the figure may turn a decision.

        An interval that does not hold its value says nothing about it and is set aside (rule W116).
        """
        if self.low is None or self.high is None or not self.low < self.high:
            return False
        return not isinstance(self.value, int | float) or self.low <= self.value <= self.high


def weakest(statuses: list[Status]) -> Status:
    """The weakest evidence among several: a result is no better than that."""
    return max(statuses, key=STATUSES.index)
