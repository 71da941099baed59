"""From text to values: one cell by its field, one row, one table, with every fault on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleetplan.errors import Fault
from fleetplan.figures import Origin
from fleetplan.inputs.headers import Headers, match_headers, stem
from fleetplan.inputs.layout import Field, InputTable
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.reader import RawRow, RawTable
from fleetplan.inputs.rules import Place, fault
from fleetplan.periods import Quarter
from fleetplan.units import carries_unit, parse_number, parse_quantity

Value = str | float | int | bool | Quarter | tuple[str, ...] | None
YES_NO = {"yes": True, "no": False}


class CellError(ValueError):
    """A cell that does not hold what its field asks for; carries the rule's id and the fix."""

    def __init__(self, rule: str, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.rule, self.fix = rule, fix


@dataclass(frozen=True)
class ParsedRow:
    """A row's values by column name; a column with a fault is absent, a meaningful blank is ``None``."""

    raw: RawRow
    values: dict[str, Value]

    def key(self, spec: InputTable) -> tuple[Value, ...] | None:
        """Return the row's key; ``None`` if a part of it has a fault."""
        names = [column.name for column in spec.keys]
        return tuple(self.values[n] for n in names) if all(n in self.values for n in names) else None


@dataclass
class ParsedTable:
    """A table's rows as values, and where each cell stands."""

    spec: InputTable
    raw: RawTable
    headers: Headers
    rows: list[ParsedRow] = field(default_factory=list)

    def place(self, row: ParsedRow, column: str) -> Place:
        """Return where a row's cell stands; the row itself if the column was left out."""
        index = self.headers.index.get(column)
        if index is None:
            return Place(self.raw.file, row.raw.line, None, column)
        return self.raw.place(row.raw, index, column)

    def origin(self, row: ParsedRow) -> Origin:
        """Return the row's file and line."""
        return Origin(self.raw.file, row.raw.line)


def parse_table(spec: InputTable, raw: RawTable) -> tuple[ParsedTable, list[Fault]]:
    """Read a raw table by its layout; every fault of every cell is returned."""
    headers, faults = match_headers(spec, raw)
    table = ParsedTable(spec, raw, headers)
    for row in raw.rows:
        cells = fit_row(row, len(raw.header.cells))
        if cells is None:
            faults.append(_wrong_length(raw, row))
            continue
        values, row_faults = _parse_row(spec, raw, headers, RawRow(row.line, cells))
        faults.extend(row_faults)
        table.rows.append(ParsedRow(row, values))
    return table, faults


def fit_row(row: RawRow, width: int) -> tuple[str, ...] | None:
    """Drop blank cells beyond the header (trailing commas); ``None`` if the row does not fit."""
    cells = row.cells
    if len(cells) > width and not any(cells[width:]):
        cells = cells[:width]
    return cells if len(cells) == width else None


def _wrong_length(raw: RawTable, row: RawRow) -> Fault:
    found, expected = len(row.cells), len(raw.header.cells)
    return fault("E010", Place(raw.file, row.line), f"the row has {found} cells, the header {expected}")


def _parse_row(
    spec: InputTable, raw: RawTable, headers: Headers, row: RawRow
) -> tuple[dict[str, Value], list[Fault]]:
    values: dict[str, Value] = {}
    faults: list[Fault] = []
    for column in spec.fields:
        index = headers.index.get(column.name)
        if index is None:
            if column.blank is not None:
                values[column.name] = None
            continue
        try:
            values[column.name] = parse_cell(
                column, row.cells[index], bare=column.name in headers.without_unit
            )
        except CellError as error:
            faults.append(fault(error.rule, raw.place(row, index, column.name), str(error), error.fix))
    return values, faults


def parse_cell(column: Field, text: str, *, bare: bool = False) -> Value:
    """Read one cell; ``bare`` if the header carries no unit, so that the value must.

    Raises :class:`CellError` with the rule that is broken.
    """
    if text == "":
        if column.blank is not None:
            return None
        what = " ".join(stem(column.name)) or column.name
        raise CellError("E012", f"{what} is blank", _blank_fix(column))
    if column.is_numeric:
        return _parse_number(column, text, bare=bare)
    if column.kind == "quarter":
        return parse_quarter(text)
    if column.kind == "yesno":
        return YES_NO[_one_of(text, tuple(YES_NO))]
    if column.kind == "word":
        rule = "E017" if column.name == "status" else "E015"
        return _one_of(text, column.words, rule)
    if column.kind == "names":
        return _parse_names(column, text)
    return _parse_name(text) if column.kind == "name" else text


def parse_quarter(text: str) -> Quarter:
    """Read ``2026Q4``."""
    try:
        return Quarter.parse(text)
    except ValueError as error:
        raise CellError("E014", str(error)) from None


def _blank_fix(column: Field) -> str:
    if not column.is_numeric:
        return "Write the value; a blank has no meaning here."
    return f"{column.name} has no default; write 0 if it is zero"


def _parse_names(column: Field, text: str) -> tuple[str, ...]:
    names = tuple(_parse_name(part.strip()) for part in text.split("|"))
    for name in names:
        if column.words:
            _one_of(name, column.words)
    if len(set(names)) < len(names):
        raise CellError("E006", f"{text!r} names one thing twice")
    return names


def _parse_name(text: str) -> str:
    if not text or any(mark in text for mark in "|[]*\n\r\t,"):
        raise CellError(
            "E019",
            f"{text!r} cannot be a name",
            "Names have no commas, bars, brackets, stars or line breaks.",
        )
    return text


def _one_of(text: str, words: Iterable[str], rule: str = "E015") -> str:
    known = tuple(words)
    if text in known:
        return text
    raise CellError(rule, f"{text!r} is none of: {', '.join(known)}", did_you_mean(text, known))


def _parse_number(column: Field, text: str, *, bare: bool) -> float | int:
    number = read_number(text, column.unit, bare=bare and bool(column.unit))
    check_range(column, number, text)
    if column.kind == "count":
        if number != int(number):
            raise CellError("E013", f"{text!r} is not a whole number")
        return int(number)
    return number


def read_number(text: str, unit: str, *, bare: bool = False) -> float:
    """Read a number; with a unit in the text (or if ``bare``) it is converted to ``unit``."""
    with_unit = bare or carries_unit(text)
    try:
        return parse_quantity(text, unit) if with_unit else parse_number(text)
    except ValueError as error:
        message = str(error)
        is_unit = "unit" in message or "expected" in message
        raise CellError("E003" if is_unit else "E009", message, None if is_unit else "") from None


def check_range(column: Field, number: float, text: str) -> None:
    """Raise :class:`CellError` where the number has no meaning for the field."""
    low, high = column.minimum, column.maximum
    if low is not None and (number < low or (column.positive and number == low)):
        kind = (
            "negative" if number < 0 <= low else f"not above {low:g}" if column.positive else f"below {low:g}"
        )
        raise CellError("E011", f"{text!r} is {kind}", f"{_words(column)}")
    if high is not None and number > high:
        raise CellError("E011", f"{text!r} is above {high:g}", f"{_words(column)}")


def _words(column: Field) -> str:
    low = "" if column.minimum is None else f"{'above' if column.positive else 'from'} {column.minimum:g}"
    high = "" if column.maximum is None else f"up to {column.maximum:g}"
    return f"{column.meaning}: " + " ".join(part for part in (low, high, column.unit) if part)
