"""A scenario as one Excel workbook: sheet ``scenario`` holds scenario.yaml, each table has a sheet."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleetplan.errors import Fault, InputError
from fleetplan.inputs.header import Header, read_header
from fleetplan.inputs.layout import TABLES
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.parquet import cell_text
from fleetplan.inputs.reader import RawRow, RawTable, read_bytes
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.yamlfile import Node, read_yaml

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

    from fleetplan.inputs.sources import Source

SCENARIO_SHEET = "scenario"
MAX_UNPACKED = 400_000_000
"""A workbook that unpacks to more is refused: it would fill the memory."""


def open_workbook(path: Path) -> Source:
    """Read a workbook as a scenario's source: cells are text with sheet, row and column."""
    from fleetplan.inputs.sources import Source

    data, faults = read_bytes(path, str(path))
    if faults:
        raise InputError(faults)
    values, formulas = (_open(data, path, values=flag) for flag in (True, False))
    if SCENARIO_SHEET not in values.sheetnames:
        raise InputError.at(
            path, "E030", f"there is no sheet {SCENARIO_SHEET!r}", "start from: fleetplan init NAME --xlsx"
        )
    header, faults = _read_scenario_sheet(values[SCENARIO_SHEET], path)
    source = Source(str(path), header, faults=faults, hashes={path.name: hashlib.sha256(data).hexdigest()})
    for name in TABLES:
        if name in values.sheetnames:
            raw, faults = _read_sheet(values[name], formulas[name], f"{path}[{name}]")
            source.faults += faults
            if raw is not None:
                source.tables[name] = raw
        else:
            source.absent[name] = Place(f"{path}[{name}]")
    source.faults += _strangers(values, path)
    return source


def _open(data: bytes, path: Path, *, values: bool) -> Workbook:
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > MAX_UNPACKED:
            raise InputError.at(
                path, "E001", f"the workbook unpacks to {unpacked:,} bytes, more than {MAX_UNPACKED:,}"
            )
        return openpyxl.load_workbook(io.BytesIO(data), data_only=values)
    except (
        zipfile.BadZipFile,
        InvalidFileException,
        KeyError,
        ValueError,
        TypeError,
        SyntaxError,
        OSError,
    ) as error:
        message = f"this is no workbook that can be read: {error}"
        raise InputError.at(path, "E002", message, "Save it as .xlsx, without a password.") from None


def _read_scenario_sheet(sheet: Worksheet, path: Path) -> tuple[Header, list[Fault]]:
    """Read the sheet's first column as the lines of scenario.yaml; its rows are its lines."""
    lines = [
        cell_text(row[0]) if row and row[0] is None else str(row[0])
        for row in sheet.iter_rows(values_only=True)
    ]
    shown = f"{path}[{SCENARIO_SHEET}]"
    root, faults = read_yaml("\n".join(lines), shown)
    if root is None:
        raise InputError(faults)
    header, more = read_header(_without_tables(root))
    return header, faults + more


def _without_tables(root: Node) -> Node:
    """File names mean nothing in a workbook: its sheets are the tables."""
    if root.mapping is None or root.keys is None:
        return root
    kept = {key: node for key, node in root.mapping.items() if key != "tables"}
    return Node(root.place, mapping=kept, keys={key: root.keys[key] for key in kept})


def _read_sheet(values: Worksheet, formulas: Worksheet, shown: str) -> tuple[RawTable | None, list[Fault]]:
    rows, faults = list[RawRow](), list[Fault]()
    pairs = zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=False)
    for number, (cells, written) in enumerate(pairs, 1):
        faults += _formula_faults(cells, written, number, shown)
        texts = tuple(cell_text(cell) for cell in cells)
        if any(texts):
            rows.append(RawRow(number, texts))
    if not rows:
        return None, [
            *faults,
            fault("E030", Place(shown, 1), "the sheet is empty", "Write the header and rows."),
        ]
    return RawTable(shown, rows[0], tuple(rows[1:])), faults


def _formula_faults(
    cells: tuple[Any, ...], written: tuple[Any, ...], number: int, shown: str
) -> Iterator[Fault]:
    for index, (value, formula) in enumerate(zip(cells, written, strict=False)):
        if isinstance(formula, str) and formula.startswith("=") and value is None:
            yield fault(
                "E033", Place(shown, number, index + 1), f"formula {formula[:40]!r} has no stored result"
            )


def _strangers(book: Workbook, path: Path) -> Iterator[Fault]:
    for name in book.sheetnames:
        if name not in TABLES and name not in {SCENARIO_SHEET, "names", "help"}:
            place = Place(f"{path}[{name}]")
            yield fault("E005", place, f"nothing reads sheet {name!r}", did_you_mean(name, TABLES))
