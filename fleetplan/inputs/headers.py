"""Which column is which: headers matched by exact name, with faults that say what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleetplan.errors import Fault
from fleetplan.inputs.layout import Field, InputTable
from fleetplan.inputs.names import did_you_mean, nearest
from fleetplan.inputs.reader import RawTable
from fleetplan.inputs.rules import fault
from fleetplan.units import carries_unit, column_unit

_UNIT_WORDS = frozenset(
    [
        "w",
        "kw",
        "mw",
        "gw",
        "tw",
        "kwh",
        "mwh",
        "gwh",
        "usd",
        "kusd",
        "musd",
        "busd",
        "eur",
        "keur",
        "meur",
        "beur",
        "cents",
        "b",
        "kb",
        "mb",
        "gb",
        "tb",
        "pb",
        "g",
        "kg",
        "t",
        "kt",
        "mt",
        "gco2e",
        "kgco2e",
        "tco2e",
        "mtco2e",
        "tflops",
        "pflops",
        "gflops",
        "s",
        "ms",
        "us",
        "h",
        "d",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "quarter",
        "quarters",
        "rack",
        "racks",
        "device",
        "devices",
        "sample",
        "samples",
        "million",
        "billion",
        "per",
        "run",
        "percent",
        "pct",
    ]
)


@dataclass
class Headers:
    """Index of each known column, and which of them carry their unit in the cells."""

    index: dict[str, int] = field(default_factory=dict)
    without_unit: set[str] = field(default_factory=set)


def match_headers(spec: InputTable, raw: RawTable) -> tuple[Headers, list[Fault]]:
    """Match a table's header to its layout.

    A column may carry its unit in the cells: then its header is the column's name without the unit.
    """
    headers, faults = Headers(), list[Fault]()
    unknown: list[int] = []
    for index, name in enumerate(raw.header.cells):
        if name in spec.by_name:
            faults += _take(raw, headers, index, name)
        elif name or any(len(row.cells) > index and row.cells[index] for row in raw.rows):
            unknown.append(index)
    for index in unknown:
        faults += _explain_unknown(spec, raw, headers, index)
    explained = {one.field for one in faults}
    absent = [
        c for c in spec.fields if c.blank is None and c.name not in headers.index and c.name not in explained
    ]
    faults += [_absent(raw, column) for column in absent]
    return headers, faults


def _take(raw: RawTable, headers: Headers, index: int, name: str) -> list[Fault]:
    if name in headers.index:
        place = raw.place(raw.header, index, name)
        return [fault("E006", place, f"column {name!r} is given twice")]
    headers.index[name] = index
    return []


def _explain_unknown(spec: InputTable, raw: RawTable, headers: Headers, index: int) -> list[Fault]:
    name = raw.header.cells[index]
    free = [column for column in spec.fields if column.name not in headers.index]
    place = raw.place(raw.header, index, name)
    if not name:
        return [fault("E004", place, f"column {index + 1} has no header", "Write the column's name.")]
    meant = next((c for c in free if c.unit and stem(name) and stem(c.name) == stem(name)), None)
    if meant is None:
        return [_unknown(spec, raw, index, free)]
    if has_unit(name):
        found = column_unit(name) or "another unit"
        place = raw.place(raw.header, index, meant.name)
        message = f"column {name!r} is in {found}, expected {meant.unit}"
        return [fault("E003", place, message, f"Convert the values and name the column {meant.name!r}.")]
    headers.index[meant.name] = index
    headers.without_unit.add(meant.name)
    cells = [row.cells[index] for row in raw.rows if len(row.cells) > index]
    if any(carries_unit(cell) for cell in cells):
        return []
    del headers.index[meant.name]
    example = next((cell for cell in cells if cell), "1")
    place = raw.place(raw.header, index, meant.name)
    fix = f"write {meant.name!r} as the column's name, or '{example} {meant.unit}' in every row"
    return [fault("E003", place, f"unit missing in column {name!r}", fix)]


def _unknown(spec: InputTable, raw: RawTable, index: int, free: Iterable[Field]) -> Fault:
    name = raw.header.cells[index]
    known = [column.name for column in free]
    near = nearest(name, known)
    fix = f"did you mean {near!r}?" if near else did_you_mean(name, spec.by_name)
    return fault("E005", raw.place(raw.header, index, near or name), f"unknown column {name!r}", fix)


def _absent(raw: RawTable, column: Field) -> Fault:
    place = raw.place(raw.header, 0, column.name)
    message = f"column {column.name!r} is missing ({column.meaning})"
    return fault("E004", place, message)


def stem(name: str) -> tuple[str, ...]:
    """Return the words of a column name that are no unit: ``price_musd_per_rack`` gives ``price``."""
    return tuple(word for word in name.lower().split("_") if word not in _UNIT_WORDS)


def has_unit(name: str) -> bool:
    """Whether a column name carries a unit."""
    return any(word in _UNIT_WORDS for word in name.lower().split("_"))
