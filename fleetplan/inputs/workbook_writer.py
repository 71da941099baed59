"""Write a scenario as a workbook: one sheet per table, drop-down lists of names, words and quarters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleetplan.inputs.layout import TABLES, Field, InputTable
from fleetplan.inputs.parquet import cell_text
from fleetplan.inputs.reader import RawTable
from fleetplan.inputs.sources import YAML, Source, open_source, renamed
from fleetplan.inputs.workbook import SCENARIO_SHEET
from fleetplan.units import parse_number

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

_SPARE_ROWS = 500
"""Rows below the last one in which the drop-down lists work too."""
_EXCEL_LIST = 250
"""Longest list that may stand in a validation itself; longer ones refer to a sheet."""


def write_workbook(scenario: str | Path, target: Path) -> None:
    """Write the tables of a scenario folder to ``target``; reading it back gives the same scenario.

    Raises ``InputError`` if the scenario cannot be read. Names that start with ``=`` stay text.
    """
    import openpyxl

    source = open_source(scenario)
    book = openpyxl.Workbook()
    book.remove(book.active)
    text = (Path(source.folder) / YAML).read_text(encoding="utf-8-sig")
    _write_lines(book, renamed(text, target.name))
    columns = _write_names(book, source)
    for name, spec in TABLES.items():
        if name in source.tables:
            _write_table(book.create_sheet(name), spec, source.tables[name], columns)
    _write_help(book)
    book.save(target)


def _write_lines(book: Workbook, text: str) -> None:
    sheet = book.create_sheet(SCENARIO_SHEET)
    for number, line in enumerate(text.splitlines(), 1):
        _put_text(sheet, number, 1, line)
    sheet.column_dimensions["A"].width = 110


def _write_names(book: Workbook, source: Source) -> dict[str, str]:
    """Write the declared names by kind; return the range of each, for the drop-down lists."""
    sheet = book.create_sheet("names")
    ranges: dict[str, str] = {}
    for number, (kind, names) in enumerate(sorted(_names(source).items()), 1):
        _put_text(sheet, 1, number, kind)
        for row, name in enumerate(names, 2):
            _put_text(sheet, row, number, name)
        letter = sheet.cell(1, number).column_letter
        ranges[kind] = f"names!${letter}$2:${letter}${max(2, len(names) + 1)}"
    return ranges


def _names(source: Source) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {"accelerator": sorted(source.header.accelerators)}
    horizon = source.header.horizon
    if horizon is not None:
        names["quarter"] = [str(horizon.start + i) for i in range(sum(horizon.lengths))]
    for name, raw in source.tables.items():
        for column in TABLES[name].fields:
            if column.declares and column.name in raw.header.cells:
                index = raw.header.cells.index(column.name)
                names[column.declares] = sorted(
                    {row.cells[index] for row in raw.rows if len(row.cells) > index}
                )
    return names


def _write_table(sheet: Worksheet, spec: InputTable, raw: RawTable, ranges: dict[str, str]) -> None:
    from openpyxl.styles import Font

    for number, name in enumerate(raw.header.cells, 1):
        _put_text(sheet, 1, number, name)
        sheet.cell(1, number).font = Font(bold=True)
        column = spec.by_name.get(name)
        sheet.column_dimensions[sheet.cell(1, number).column_letter].width = _width(name)
        if column is not None:
            _add_list(sheet, number, column, len(raw.rows), ranges)
    for line, row in enumerate(raw.rows, 2):
        for number, text in enumerate(row.cells, 1):
            _put(sheet, line, number, text)
    sheet.freeze_panes = "B2"


def _width(name: str) -> float:
    return 40.0 if name in {"note", "source_url"} else max(12.0, min(32.0, len(name) + 2.0))


def _add_list(sheet: Worksheet, number: int, column: Field, rows: int, ranges: dict[str, str]) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    formula = _list_formula(column, ranges)
    if formula is None:
        return
    rule = DataValidation("list", formula1=formula, allow_blank=column.blank is not None)
    rule.error, rule.errorTitle = f"{column.meaning}: choose from the list", column.name
    rule.showErrorMessage = column.kind != "quarter"  # series may be longer than the horizon
    letter = sheet.cell(1, number).column_letter
    rule.add(f"{letter}2:{letter}{rows + 1 + _SPARE_ROWS}")
    sheet.add_data_validation(rule)


def _list_formula(column: Field, ranges: dict[str, str]) -> str | None:
    words = ("yes", "no") if column.kind == "yesno" else column.words
    inline = ",".join(words)
    if words and column.kind != "names" and len(inline) <= _EXCEL_LIST:
        return f'"{inline}"'
    if column.kind == "quarter" and column.key:
        return ranges.get("quarter")
    return ranges.get(column.refers) if column.refers and column.kind == "name" else None


def _put(sheet: Worksheet, row: int, column: int, text: str) -> None:
    """Write a cell as a number if that keeps its text, so that Excel can calculate with it."""
    try:
        number: float | int = parse_number(text)
    except ValueError:
        _put_text(sheet, row, column, text)
        return
    number = int(number) if text.lstrip("+-").isdigit() else number
    if cell_text(number) == text:
        sheet.cell(row, column, number)
    else:
        _put_text(sheet, row, column, text)


def _put_text(sheet: Worksheet, row: int, column: int, text: str) -> None:
    """Write text as text: a name that starts with ``=`` is no formula."""
    if text == "":
        return
    cell: Any = sheet.cell(row, column)
    cell.value = text
    cell.data_type = "s"


def _write_help(book: Workbook) -> None:
    sheet = book.create_sheet("help")
    for number, row in enumerate(_help_rows(), 1):
        for column, text in enumerate(row, 1):
            _put_text(sheet, number, column, text)
    for letter, width in zip("ABCDE", (20, 42, 60, 24, 40), strict=True):
        sheet.column_dimensions[letter].width = width


def _help_rows() -> Iterable[tuple[str, ...]]:
    yield "table", "column", "meaning", "unit", "a blank means"
    for spec in TABLES.values():
        yield spec.name, "", spec.meaning
        for column in spec.fields:
            yield spec.name, column.name, column.meaning, column.unit, column.blank or "an error"
