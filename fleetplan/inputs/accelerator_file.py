"""Read one accelerator from its file: a CSV with one figure per row.

Columns: ``field, value, low, high, status, source, date, note``. Values carry their unit (``912 W``).
``none`` says that the device does not have it, ``unpublished`` that nobody has said. Fields named
``fact.…`` are kept as evidence and take no part in any computation. One line per figure keeps
changes readable one by one, and the file opens in a spreadsheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TypeVar, get_args

from fleetplan.errors import Fault, InputError
from fleetplan.figures import STATUSES, Figure, Origin, Status
from fleetplan.inputs.accelerator import UNITS, Accelerator, CollectiveEngine, Cooling, PowerCap
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.reader import RawRow, RawTable, read_bytes, read_csv
from fleetplan.inputs.rules import Place, fault
from fleetplan.periods import Quarter
from fleetplan.units import parse_quantity

COLUMNS = ("field", "value", "low", "high", "status", "source", "date", "note")
UNPUBLISHED = "unpublished"
ABSENT = "none"
FACT = "fact."
_TEXTS = ("title", "vendor", "available_from", "collective_engine")
_FLAGS = ("nic_on_package", "in_switch_reduction")
_LISTS = ("aliases", "cooling")
_MAY_BE_ZERO = {"facility_fixed_w_per_device", "lead_time_weeks"}
_YES_NO = {"yes": True, "no": False}
FIELDS = (*_TEXTS[:2], "aliases", *_TEXTS[2:], *_FLAGS, "cooling", "power_caps", *UNITS)
"""Every field that a file may state, beside facts."""
REQUIRED = tuple(
    name for name, field in Accelerator.model_fields.items() if field.is_required() and name != "name"
)
Override = Figure | str | float
_T = TypeVar("_T")
Value = str | float | bool | tuple[str, ...] | tuple[PowerCap, ...] | None


def read_accelerator(
    path: Path, shown: str, name: str, overrides: Mapping[str, Override] | None = None
) -> Accelerator:
    """Read ``path`` (named ``shown`` in errors) as accelerator ``name``, with ``overrides`` by field.

    An override is a quantity with its unit, a number in the field's unit, or a whole ``Figure``.
    Raises ``InputError`` with every fault of the file and of the overrides.
    """
    figures, faults = _read_figures(path, shown)
    _apply(figures, overrides or {}, name, faults)
    values = {key: _value(key, figure, faults) for key, figure in figures.items() if not key.startswith(FACT)}
    stated = {key: value for key, value in values.items() if value is not None}
    faults.extend(_missing(figures, shown, name))
    faults.extend(_caps_out_of_order(stated, figures, shown))
    if any(each.severity == "error" for each in faults):
        raise InputError(faults)
    return Accelerator.model_validate({"name": name, "figures": figures, **stated})


def _read_figures(path: Path, shown: str) -> tuple[dict[str, Figure], list[Fault]]:
    data, faults = read_bytes(path, shown)
    if faults:
        return {}, faults
    table, faults = read_csv(data, shown)
    if table is None:
        return {}, faults
    if table.header.cells != COLUMNS:
        place = Place(shown, table.header.line)
        message = f"the columns are {', '.join(table.header.cells)}"
        return {}, [*faults, fault("E004", place, message, f"the columns are {','.join(COLUMNS)}")]
    figures: dict[str, Figure] = {}
    for row in table.rows:
        _read_row(table, row, figures, faults)
    return figures, faults


def _read_row(table: RawTable, row: RawRow, figures: dict[str, Figure], faults: list[Fault]) -> None:
    if len(row.cells) != len(COLUMNS):
        place = Place(table.file, row.line)
        faults.append(fault("E010", place, f"the row has {len(row.cells)} cells, the header {len(COLUMNS)}"))
        return
    cells = dict(zip(COLUMNS, (cell.strip() for cell in row.cells), strict=True))
    name = cells["field"]
    if name not in FIELDS and not name.startswith(FACT):
        fix = f"{did_you_mean(name, FIELDS)}, or start it with '{FACT}' if it is only evidence"
        faults.append(fault("E005", table.place(row, 0, "field"), f"field {name!r} is not known", fix))
        return
    if name in figures:
        first = figures[name].origin
        message = f"field {name!r} was given before, in line {first.line if first else '?'}"
        faults.append(fault("E008", table.place(row, 0, "field"), message))
        return
    figures[name] = _figure(table, row, cells, faults)


def _figure(table: RawTable, row: RawRow, cells: dict[str, str], faults: list[Fault]) -> Figure:
    name, unit = cells["field"], UNITS.get(cells["field"], "")
    numbers: dict[str, float | str | None] = {}
    for column in ("value", "low", "high"):
        place = table.place(row, COLUMNS.index(column), name)
        numbers[column] = _cell(cells[column], unit, column, place, faults)
    status = _status(cells, table.place(row, COLUMNS.index("status"), name), faults)
    low, high = _number(numbers["low"]), _number(numbers["high"])
    value = numbers["value"]
    if isinstance(value, float) and low is not None and high is not None and not low <= value <= high:
        faults.append(fault("E016", table.place(row, 1, name), f"{low:g} <= {value:g} <= {high:g} is not so"))
    return Figure(
        name, value, unit, status, low, high, cells["source"], cells["date"], cells["note"],
        Origin(table.file, row.line),
    )  # fmt: skip


def _cell(text: str, unit: str, column: str, place: Place, faults: list[Fault]) -> float | str | None:
    if column == "value" and text == "":
        faults.append(fault("E012", place, "the value is blank", f"write it, '{ABSENT}' or '{UNPUBLISHED}'"))
        return None
    if text in {"", UNPUBLISHED}:
        return None
    if not unit or text == ABSENT:
        return text
    try:
        return parse_quantity(text, unit)
    except ValueError as error:
        faults.append(fault("E003", place, str(error)))
        return None


def _number(value: float | str | None) -> float | None:
    return value if isinstance(value, float) else None


def _status(cells: dict[str, str], place: Place, faults: list[Fault]) -> Status:
    if cells["value"] == UNPUBLISHED:
        return "assumed"
    for word in STATUSES:
        if cells["status"] == word:
            if word in {"published", "reported"} and not cells["source"]:
                faults.append(fault("E018", place, f"a {word} figure has no source"))
            return word
    faults.append(fault("E017", place, f"status {cells['status']!r} is not one of {', '.join(STATUSES)}"))
    return "assumed"


def _apply(
    figures: dict[str, Figure], overrides: Mapping[str, Override], name: str, faults: list[Fault]
) -> None:
    """Put overrides in place of the catalog's figures; their status is assumed unless they say."""
    for key, given in overrides.items():
        place = Place(f"overrides of {name}", field=key)
        if key not in FIELDS:
            faults.append(fault("E005", place, f"field {key!r} is not known", did_you_mean(key, FIELDS)))
            continue
        if isinstance(given, Figure):
            figures[key] = given
            continue
        unit = UNITS.get(key, "")
        value = float(given) if not isinstance(given, str) else _cell(given, unit, "value", place, faults)
        figures[key] = Figure(key, value, unit, "assumed", note="set by the planner")


def _value(name: str, figure: Figure, faults: list[Fault]) -> Value:
    """Turn a figure into the field's type; ``None`` where it is absent or unpublished."""
    raw = figure.value
    if raw is None or raw == ABSENT:
        return None
    origin = figure.origin
    place = Place(origin.file if origin else "overrides", origin.line if origin else None, None, name)
    try:
        return _typed(name, raw)
    except ValueError as error:
        faults.append(fault("E015", place, str(error), ""))
        return None


def _typed(name: str, raw: float | str) -> Value:
    if name in UNITS:
        return _positive(name, float(raw))
    text = str(raw)
    if name in _FLAGS:
        return _word(text, _YES_NO)
    if name == "power_caps":
        return _power_caps(text)
    if name == "cooling":
        classes: tuple[str, ...] = get_args(Cooling)
        words = {word: word for word in classes}
        return tuple(_word(part.strip(), words) for part in text.split("|"))
    if name == "aliases":
        return tuple(part.strip() for part in text.split("|"))
    if name == "collective_engine":
        engines: tuple[str, ...] = get_args(CollectiveEngine)
        return _word(text, {word: word for word in engines})
    if name == "available_from":
        Quarter.parse(text)
    return text


def _positive(name: str, value: float) -> float:
    if value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
        message = f"{value:g} must be more than 0"
        raise ValueError(message)
    whole = UNITS[name] == "devices"
    if whole and value != int(value):
        message = f"{value:g} is not a whole number of devices"
        raise ValueError(message)
    return value


def _word(text: str, words: dict[str, _T]) -> _T:
    if text not in words:
        message = f"{text!r} is not one of {', '.join(words)}"
        raise ValueError(message)
    return words[text]


def _power_caps(text: str) -> tuple[PowerCap, ...]:
    """Read ``1200 W: 1; 960 W: 0.945``: device power cap and the speed it leaves."""
    caps: list[PowerCap] = []
    for part in text.split(";"):
        cap, colon, speed = part.partition(":")
        if not colon:
            message = f"{part.strip()!r} is not a cap and its speed; write '960 W: 0.945'"
            raise ValueError(message)
        caps.append(PowerCap(cap_w=parse_quantity(cap, "W"), speed=parse_quantity(speed, "fraction")))
    return tuple(caps)


def _missing(figures: Mapping[str, Figure], shown: str, name: str) -> Iterable[Fault]:
    for field in REQUIRED:
        figure = figures.get(field)
        if figure is None:
            yield fault("E031", Place(shown, field=field), f"{name} has no {field}")
        elif figure.value is None or figure.value == ABSENT:
            line = figure.origin.line if figure.origin else None
            yield fault("E031", Place(shown, line, None, field), f"{field} of {name} must be known")


def _caps_out_of_order(
    stated: Mapping[str, Value], figures: Mapping[str, Figure], shown: str
) -> Iterable[Fault]:
    """Caps fall from the highest, speed falls with them from 1 and never below 0."""
    caps = stated.get("power_caps", ())
    if not isinstance(caps, tuple):
        return
    points = [(cap.cap_w, cap.speed) for cap in caps if isinstance(cap, PowerCap)]
    if not points:
        return
    origin = figures["power_caps"].origin
    place = Place(shown, origin.line if origin else None, None, "power_caps")
    if points[0][1] != 1 or not all(b[0] < a[0] and 0 < b[1] <= a[1] for a, b in pairwise(points)):
        yield fault("E032", place, "caps and speeds must fall from the highest cap, whose speed is 1")
    tdp = stated.get("tdp_w")
    if isinstance(tdp, float) and points[0][0] > tdp:
        yield fault("E032", place, f"the highest cap, {points[0][0]:g} W, is above tdp_w, {tdp:g} W")
