"""Helpers for fault tests: a copy of the small scenario in which single cells can be changed."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

SMALL = Path(__file__).resolve().parents[2] / "data" / "scenarios" / "small-2026"
Cells = list[list[str]]


class Workshop:
    """A copy of the small scenario; :meth:`write` changes a table, :meth:`mend` restores it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "small"
        shutil.copytree(SMALL, self.folder)

    def tables(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.csv"))

    def cells(self, table: str) -> Cells:
        text = (SMALL / f"{table}.csv").read_text(encoding="utf-8")
        return list(csv.reader(io.StringIO(text)))

    def path(self, table: str) -> Path:
        return self.folder / f"{table}.csv"

    def write(self, table: str, cells: Cells) -> None:
        self.write_bytes(table, to_csv(cells).encode())

    def write_bytes(self, table: str, data: bytes) -> None:
        self.path(table).write_bytes(data)

    def mend(self, table: str) -> None:
        shutil.copyfile(SMALL / f"{table}.csv", self.path(table))

    def set_cell(self, table: str, row: int, column: str, value: str) -> int:
        """Set one cell (rows count from 0 below the header) and return its line."""
        cells = self.cells(table)
        cells[row + 1][cells[0].index(column)] = value
        self.write(table, cells)
        return row + 2


def to_csv(cells: Cells) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()
