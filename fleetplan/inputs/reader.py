"""Tables as text with positions, from CSV files. Nothing is interpreted here: a cell is its text.

Every source of tables (CSV here, workbooks and Parquet in :mod:`fleetplan.inputs.workbook` and
:mod:`fleetplan.inputs.parquet`) ends in the same :class:`RawTable`, so that all later rules are the
same for all of them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleetplan.errors import Fault
from fleetplan.inputs.rules import Place, fault

MAX_BYTES = 500_000_000
"""Larger tables are refused: they are no table of a scenario."""


@dataclass(frozen=True)
class RawRow:
    """Cells of one row as text; ``line`` counts from 1 as an editor or Excel shows it."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class RawTable:
    """A table as written: ``file`` as the planner would type it, header and rows with their lines."""

    file: str
    header: RawRow
    rows: tuple[RawRow, ...]
    lines: Sequence[str] = field(default=(), repr=False)
    """The file's lines, from which columns are counted; empty for sources without text."""

    def place(self, row: RawRow, index: int, name: str = "") -> Place:
        """Return where the cell with that index stands."""
        column = _column_of(self.lines, row.line, index) if self.lines else index + 1
        return Place(self.file, row.line, column, name)


def read_bytes(path: Path, shown: str) -> tuple[bytes, list[Fault]]:
    """Read a whole file; a file that cannot be read is one fault."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except FileNotFoundError:
        return b"", [fault("E001", Place(shown), "the file does not exist")]
    except OSError as error:
        return b"", [fault("E001", Place(shown), f"the file cannot be read: {error.strerror or error}")]
    if size > MAX_BYTES:
        return b"", [fault("E001", Place(shown), f"the file has {size:,} bytes, more than {MAX_BYTES:,}")]
    return data, []


def decode(data: bytes, shown: str) -> tuple[str, list[Fault]]:
    """Decode UTF-8 with or without BOM; other encodings are one fault with the line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", [fault("E002", Place(shown, line), f"byte 0x{data[error.start]:02x} is not UTF-8")]
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        return "", [fault("E002", Place(shown, line), "the file holds a zero byte, so it is not a text file")]
    return text, []


def read_csv(data: bytes, shown: str) -> tuple[RawTable | None, list[Fault]]:
    """Read a CSV file's bytes to cells with positions, or say why it is none."""
    text, faults = decode(data, shown)
    if faults:
        return None, faults
    records, faults = _records(text, shown)
    if faults:
        return None, faults
    if not records:
        return None, [fault("E030", Place(shown, 1), "the table is empty", "Write the header and rows.")]
    header, rows = records[0], tuple(records[1:])
    separator = next((mark for mark in (";", "\t") if mark in header.cells[0]), None)
    if len(header.cells) == 1 and separator:
        return None, [
            fault("E002", Place(shown, 1), f"columns are separated by {separator!r}, not by commas")
        ]
    return RawTable(shown, header, rows, text.splitlines()), []


def _records(text: str, shown: str) -> tuple[list[RawRow], list[Fault]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records: list[RawRow] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                records.append(RawRow(line, tuple(cell.strip() for cell in cells)))
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"from here the text is not CSV ({error}); is a quote not closed?"
        return [], [
            fault("E002", Place(shown, line), message, "Close the quote, or double it inside a cell.")
        ]
    return records, []


def _column_of(lines: Sequence[str], line: int, index: int) -> int | None:
    """Count characters to the ``index``-th cell of a record that starts at ``line``.

    ``None`` where the cell stands in a later line of a record with line breaks inside quotes.
    """
    text, quoted, cell = lines[line - 1], False, 0
    if index == 0:
        return 1
    for position, mark in enumerate(text):
        if mark == '"':
            quoted = not quoted
        elif mark == "," and not quoted:
            cell += 1
            if cell == index:
                return position + 2
    return None
