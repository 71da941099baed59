"""Numbers in a report: each one is written for people and names the table cells that it is made of.

A :class:`Number` carries its exact value, its unit and the rule by which it follows from a plan's
tables (table, column, operation, filter). In HTML it becomes a ``<data>`` element with that rule, so
that a reader, or a test, can compute it again from the CSV files.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup, escape

from fleetplan.plan.words import megawatts, money, number, percent

Operation = Literal["sum", "max", "min", "ratio", "rest", "rows"]
Where = Mapping[str, Sequence[str]]
_DATA = Markup(
    '<data value="{}" data-unit="{}" data-table="{}" data-column="{}" data-op="{}" data-where="{}">{}</data>'
)
_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Number:
    """A value with its unit and origin.

    ``column`` is summed (or searched for its largest or smallest) over the rows of ``table`` for which
    every column named in ``where`` holds one of the given texts. For ``ratio`` the column is
    ``upper/lower``: the sum of the one over the sum of the other; ``rest`` is what a ratio leaves to 1.
    ``table`` may be ``manifest`` or ``summary``.
    """

    value: float
    unit: str
    table: str
    column: str
    operation: Operation = "sum"
    where: Where = field(default_factory=dict)
    bare: bool = False
    """Leave the unit out where the next number carries it."""

    def __str__(self) -> str:
        """The number as a reader wants it, with its unit."""
        text = quantity(self.value, self.unit)
        return text.removesuffix(f" {self.unit}") if self.bare else text

    def __html__(self) -> str:
        """A ``data`` element with the exact value and the rule behind it."""
        rule = json.dumps({k: list(v) for k, v in self.where.items()}, ensure_ascii=False)
        return _DATA.format(
            repr(self.value), self.unit, self.table, self.column, self.operation, rule, str(self)
        )


Part = str | Number


@dataclass(frozen=True)
class Message:
    """A sentence made of words and numbers; plain in text, with origins in HTML."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        """Plain text."""
        return "".join(str(part) for part in self.parts)

    def __html__(self) -> str:
        """Escaped words and cited numbers."""
        return Markup("").join(escape(part) for part in self.parts)

    def __add__(self, other: Message) -> Message:
        """Both sentences, one after the other."""
        return Message((*self.parts, *other.parts))


def say(*parts: Part | Message) -> Message:
    """Join words, numbers and messages to one message."""
    flat: list[Part] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Message) else (part,))
    return Message(tuple(flat))


def listed(items: Sequence[Part | Message], most: int = 4, more: str = "more") -> Message:
    """``a, b and c``; beyond ``most`` items the rest is counted."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} {more}")
    parts: list[Part | Message] = []
    for index, item in enumerate(shown):
        if index:
            parts.append(" and " if index == len(shown) - 1 else ", ")
        parts.append(item)
    return say(*parts)


def words_of(path: str) -> str:
    """The last part of a figure's path in words: ``…price_musd_per_rack`` is ``price per rack``."""
    return re.sub(r"_(musd|usd|mw|kw|w|gb|tb)(?=_|$)", "", path.rsplit(".", 1)[-1]).replace("_", " ")


def quantity(value: float, unit: str) -> str:
    """A value with its unit, rounded to what a reader can use; exact values stay in the tables."""
    if not math.isfinite(value):
        return "not known"
    if unit == "share":
        return percent(value)
    if unit == "M USD":
        return money(value)
    if unit == "MW":
        return megawatts(value)
    if unit == "samples/s":
        return f"{si(value)} samples/s"
    return f"{number(value)} {unit}".rstrip()


def si(value: float) -> str:
    """Four significant digits with a decimal prefix: ``2.258 G``."""
    for size, prefix in _SI:
        if abs(value) >= size:
            return f"{value / size:.4g} {prefix}"
    return f"{value:.4g}"
