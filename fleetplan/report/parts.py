"""What the body of a report is made of: sections with panels."""

from __future__ import annotations

from dataclasses import dataclass

from fleetplan.report.numbers import Message


@dataclass(frozen=True)
class Panel:
    """A chart, the tables behind it, or both; ``about`` is the chart in words for who cannot see it."""

    chart: str = ""
    about: str = ""
    tables: tuple[str, ...] = ()
    facet: str = ""
    """``workload`` for one small chart per workload."""
    is_open: bool = False
    """Whether the table is shown without a click."""
    legend: str = ""
    """``accelerator``, ``part``, ``free`` or ``served``: which colour key the chart needs."""


@dataclass(frozen=True)
class Section:
    """A part of the report: short name for navigation, message, remarks, panels."""

    name: str
    label: str
    title: Message
    remarks: tuple[Message, ...] = ()
    panels: tuple[Panel, ...] = ()
