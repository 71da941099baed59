"""Quarters and planning periods: the one place where time is counted.

A quarter is written ``2026Q4``. A planning period is one or more whole quarters; early periods are
usually single quarters, later ones may be years. All rates in the project are per year or per
quarter and are turned into per-period amounts only here and in :mod:`fleetplan.money`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, total_ordering

HOURS_PER_YEAR = 8766.0
"""Mean hours of a year (365.25 days): leap years are spread evenly."""
HOURS_PER_QUARTER = HOURS_PER_YEAR / 4
SECONDS_PER_QUARTER = HOURS_PER_QUARTER * 3600
QUARTERS_PER_YEAR = 4

_QUARTER = re.compile(r"(\d{4})Q([1-4])")


@total_ordering
@dataclass(frozen=True)
class Quarter:
    """A calendar quarter; subtraction counts quarters, addition moves by quarters."""

    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> Quarter:
        """Read ``2026Q4``; anything else raises ``ValueError`` with the right form."""
        match = _QUARTER.fullmatch(text.strip())
        if match is None:
            message = f"{text!r} is not a quarter; write it like 2026Q4"
            raise ValueError(message)
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def from_ordinal(cls, ordinal: int) -> Quarter:
        """Inverse of :attr:`ordinal`."""
        return cls(ordinal // 4, ordinal % 4 + 1)

    @property
    def ordinal(self) -> int:
        """Quarters since year 0, so that differences are plain integers."""
        return self.year * 4 + self.number - 1

    def __add__(self, quarters: int) -> Quarter:
        """Move later (or earlier, if negative) by whole quarters."""
        return Quarter.from_ordinal(self.ordinal + quarters)

    def __sub__(self, other: Quarter) -> int:
        """Whole quarters from ``other`` to this one."""
        return self.ordinal - other.ordinal

    def __lt__(self, other: Quarter) -> bool:
        """Earlier comes first."""
        return self.ordinal < other.ordinal

    def __str__(self) -> str:
        """``2026Q4``."""
        return f"{self.year}Q{self.number}"


@dataclass(frozen=True)
class Period:
    """A planning period: ``quarters`` whole quarters from ``start``; ``index`` counts from 0."""

    index: int
    start: Quarter
    quarters: int

    @property
    def end(self) -> Quarter:
        """First quarter after the period."""
        return self.start + self.quarters

    @property
    def name(self) -> str:
        """The start quarter: the period's name in every table."""
        return str(self.start)

    @property
    def years(self) -> float:
        """Length in years."""
        return self.quarters / QUARTERS_PER_YEAR

    @property
    def hours(self) -> float:
        """Length in hours."""
        return self.quarters * HOURS_PER_QUARTER

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.quarters * SECONDS_PER_QUARTER

    def __contains__(self, quarter: Quarter) -> bool:
        """Whether the quarter lies in this period."""
        return self.start <= quarter < self.end


@dataclass(frozen=True)
class Horizon:
    """The planned time: consecutive periods, from ``start``, of the given lengths in quarters."""

    start: Quarter
    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse an empty horizon and periods without length."""
        if not self.lengths or min(self.lengths) < 1:
            message = f"a horizon needs periods of at least one quarter, got {self.lengths}"
            raise ValueError(message)

    @classmethod
    def of_quarters(cls, start: Quarter, count: int) -> Horizon:
        """A horizon of ``count`` single quarters."""
        return cls(start, (1,) * count)

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """All periods in order."""
        periods, start = [], self.start
        for index, quarters in enumerate(self.lengths):
            periods.append(Period(index, start, quarters))
            start = start + quarters
        return tuple(periods)

    @cached_property
    def end(self) -> Quarter:
        """First quarter after the horizon."""
        return self.start + sum(self.lengths)

    @cached_property
    def _index_of_offset(self) -> Sequence[int]:
        return [period.index for period in self.periods for _ in range(period.quarters)]

    def index_of(self, quarter: Quarter) -> int | None:
        """Index of the period that holds ``quarter``; ``None`` outside the horizon."""
        offset = quarter - self.start
        return self._index_of_offset[offset] if 0 <= offset < len(self._index_of_offset) else None

    def __len__(self) -> int:
        """Number of periods."""
        return len(self.lengths)

    def __iter__(self) -> Iterator[Period]:
        """All periods in order."""
        return iter(self.periods)

    def __getitem__(self, index: int) -> Period:
        """The period with that index."""
        return self.periods[index]
