"""What a column and a table of a scenario are, and the columns that all tables share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from fleetplan.figures import STATUSES
from fleetplan.inputs.accelerator import Cooling

Kind = Literal["name", "text", "number", "count", "quarter", "yesno", "word", "names"]
"""``name`` and ``names`` (several, with ``|``) are declared or referred to; ``word`` is one of few."""
NameOf = Literal["site", "hall", "accelerator", "workload", "model", "cohort", "rental", "role"]

COOLING: tuple[str, ...] = get_args(Cooling)


@dataclass(frozen=True)
class Field:
    """A column. ``blank`` says what a blank cell means; ``None``: a blank is an error.

    A column whose blank has a meaning may be left out. ``minimum`` and ``maximum`` bound a number;
    ``positive`` refuses 0. ``attribute`` is the name in the typed row where it differs.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    key: bool = False
    blank: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    positive: bool = False
    declares: NameOf | None = None
    refers: NameOf | None = None
    words: tuple[str, ...] = ()
    attribute: str = ""
    usual: tuple[float, float] | None = None
    """Range outside which a value other than 0 is probably in another unit (W114)."""

    @property
    def target(self) -> str:
        """Name of the attribute in the typed row."""
        return self.attribute or self.name

    @property
    def is_numeric(self) -> bool:
        """Whether cells hold numbers."""
        return self.kind in {"number", "count"}


@dataclass(frozen=True)
class InputTable:
    """A table: its default file is ``<name>.csv``. ``needed`` tables must exist and have rows."""

    name: str
    meaning: str
    fields: tuple[Field, ...]
    needed: bool = True
    subject: NameOf | None = None
    """For evidence tables (``*_sources``): whose figures they state."""

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """Fields by column name."""
        return {field.name: field for field in self.fields}

    @cached_property
    def keys(self) -> tuple[Field, ...]:
        """Fields that identify a row."""
        return tuple(field for field in self.fields if field.key)

    @cached_property
    def has_interval(self) -> bool:
        """Whether rows carry ``low`` and ``high``."""
        return "low" in self.by_name


def name_field(name: str, of: NameOf, meaning: str, *, declares: bool = False, attribute: str = "") -> Field:
    """Return a column of names, which the table declares or refers to."""
    return Field(
        name,
        "name",
        meaning,
        key=declares,
        declares=of if declares else None,
        refers=None if declares else of,
        attribute=attribute,
    )


def share_field(name: str, meaning: str, *, blank: str | None = None) -> Field:
    """Return a column of shares from 0 to 1."""
    return Field(name, "number", meaning, "fraction", blank=blank, minimum=0.0, maximum=1.0)


STATUS = Field("status", "word", "how the row is known", words=STATUSES)
SOURCE = Field(
    "source_url", "text", "where it is stated", blank="no source (assumed or derived figures only)"
)
NOTE = Field("note", "text", "anything worth knowing", blank="no note")
LOW = Field("low", "text", "lowest value that is plausible", blank="no interval")
HIGH = Field("high", "text", "highest value that is plausible", blank="no interval")
BOUNDED = Field("interval_of", "text", "column that low and high bound", blank="no interval")
EVIDENCE_FIELDS = (STATUS, LOW, HIGH, BOUNDED, SOURCE, NOTE)
