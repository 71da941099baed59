"""Spoil the files of a scenario at random, as people, editors and exports do; or change its numbers and rules.

Spoilt files are mostly refused. Changed numbers and rules mostly load: they are for the way to a plan.
"""

from __future__ import annotations

import csv
import io
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.inputs.faults import SMALL, to_csv

WORDS = (
    "", " ", "0", "-1", "1", "1e5", "1e308", "1e-308", "NaN", "inf", "-inf", "1,5", "1.000,0", "1,000", "0x10", "1_000",
    "NA", "null", "None", "true", "yes", "no", "~", "=1+1", "2026Q4", "2027Q5", "2026-10-01", "03/04/2027", "12 MW", "5 GW",
    "3 furlongs", "1 W W", "mtia-400", "altoona-ia", "altoona", "Luleå", "\u202eabc", "a" * 5000, "|", "a|b", "[x]", "*",
    "published", "assumed", "liquid", "all", "name", "fraction", "1/year", "../x", "/etc/passwd", "\ufeff", "'; --", "<b>",
    "１２", "٣", "½", "1.0.0", "--1", "+5", "5e", "1e", "e5", ".5", "5.", "1 ", "\t1", "facility_mw", "goodput",
)  # fmt: skip
BYTES = (
    b"\xff",
    b"\x00",
    b'"',
    b"\r",
    b"\n",
    b",",
    b";",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\t",
    b":",
    b"#",
    b"- ",
    b"{",
    b"*a",
    b"&a ",
)


def spoil(rng: random.Random, folder: Path) -> list[str]:
    """Spoil one to three things in a copy of a scenario; return what was done and where."""
    files = sorted(path.name for path in folder.iterdir() if path.suffix in {".csv", ".yaml"})
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = folder / rng.choice(files)
        if not path.exists():
            continue
        if path.suffix == ".csv" and rng.random() < 0.75:
            done.append(f"{path.name}: {_spoil_cells(rng, path)}")
        else:
            done.append(f"{path.name}: {_spoil_bytes(rng, path)}")
    return done


def _spoil_cells(rng: random.Random, path: Path) -> str:
    try:
        cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (UnicodeDecodeError, csv.Error):
        return _spoil_bytes(rng, path)
    if not cells or not cells[0]:
        return "nothing"
    row, way = rng.randrange(len(cells)), rng.random()
    if way < 0.6:
        column = rng.randrange(max(1, len(cells[row])))
        value = rng.choice(WORDS) if rng.random() < 0.8 else rng.choice(rng.choice(cells) or [""])
        cells[row][column : column + 1] = [value]
        what = f"row {row} column {column} is {value[:30]!r}"
    elif way < 0.7:
        cells.insert(rng.randrange(len(cells) + 1), list(cells[row]))
        what = f"row {row} is repeated"
    elif way < 0.8:
        del cells[row]
        what = f"row {row} is gone"
    elif way < 0.9:
        column = rng.randrange(len(cells[0]))
        cells = [[*line[:column], *line[column + 1 :]] for line in cells]
        what = f"column {column} is gone"
    else:
        rng.shuffle(cells[row])
        what = f"row {row} is shuffled"
    path.write_text(to_csv(cells), encoding="utf-8", errors="surrogatepass")
    return what


def _spoil_bytes(rng: random.Random, path: Path) -> str:
    data = path.read_bytes()
    at = rng.randrange(len(data) + 1)
    way = rng.random()
    if way < 0.3:
        path.write_bytes(data[:at])
        return f"cut at byte {at}"
    if way < 0.7:
        piece = rng.choice(BYTES)
        path.write_bytes(data[:at] + piece + data[at:])
        return f"{piece!r} at byte {at}"
    length = rng.randrange(1, 40)
    if way < 0.9:
        path.write_bytes(data[:at] + data[at + length :])
        return f"{length} bytes gone at {at}"
    path.unlink()
    return "file is gone"


FACTORS = (0.0, 0.0, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1000.0, 1e-6)
INTERVAL = ("low", "high", "interval_of", "price_low", "price_high")
WHOLE_RULES = (
    "allow_early_retirement", "allow_moves", "allow_upgrades", "limit_vendor_share", "limit_capex", "limit_carbon",
    "price_carbon", "limit_work_moves", "use_tax", "minimum_cluster", "decline_committed", "integer_retirements",
)  # fmt: skip
RULES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(WHOLE_RULES, ("yes", "no")),
    "site_dates": ("planned", "slip", "early"),
    "caps_per_accelerator": ("1", "2", "3", "9"),
    "tie_break_tolerance": ("0", "0.001", "0.1"),
}
"""Values of each rule; what is not changed is as in the small scenario."""
HORIZONS = (
    "quarters: 4", "quarters: 1", "quarters: 2", "quarters: 6", "periods: [1, 1, 2]", "periods: [2, 2]", "periods: [1, 4]",
)  # fmt: skip
LIMITS = (
    ("write_off_limit_musd", "2027", 900.0),
    ("depreciation_limit_musd", "2027", 900.0),
)
TINY_COLUMNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "halls": {"lot_kw": ("500 kW", "", "500 kW")},
    "workloads": {"peak_to_average": ("1.2", "1.5"), "allowed_sites": ("", "new-albany-oh|altoona-ia")},
}
"""Columns that may be left out and are in the small scenario: by row."""


@dataclass(frozen=True)
class Cell:
    """A number in a table, by row (the header is row 0) and column."""

    table: str
    row: int
    column: int


class Tiny:
    """The small scenario with four quarters and a row in every table: each rule has something to do."""

    def __init__(self, folder: Path) -> None:
        """Write it."""
        self.folder = folder
        shutil.copytree(SMALL, folder)
        header = folder / "scenario.yaml"
        self._header = header.read_text(encoding="utf-8")
        header.write_text(self.header({}, HORIZONS[0]), encoding="utf-8")
        for table, columns in TINY_COLUMNS.items():
            self._add(folder / f"{table}.csv", columns)
        finance = folder / "finance.csv"
        rows = [f"{item},{year},{value:g},MUSD,assumed,,,,\n" for item, year, value in LIMITS]
        finance.write_text(finance.read_text(encoding="utf-8") + "".join(rows), encoding="utf-8")

    @staticmethod
    def _add(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
        names, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
        known = {name: values for name, values in columns.items() if name not in names}
        wider = [[*row, *(values[at] for values in known.values())] for at, row in enumerate(rows)]
        path.write_text(to_csv([[*names, *known], *wider]), encoding="utf-8")

    def header(self, rules: Mapping[str, str], horizon: str) -> str:
        """The text of ``scenario.yaml`` with some rules changed."""
        kept = [line for line in self._header.splitlines() if line.partition(":")[0].strip() not in rules]
        text = "\n".join([*kept, *(f"  {name}: {value}" for name, value in rules.items())]) + "\n"
        return text.replace("quarters: 6", horizon)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every number that may be changed; those that say how well another is known stay."""
        return [cell for path in sorted(self.folder.glob("*.csv")) for cell in numbers(path)]


def numbers(path: Path) -> list[Cell]:
    """The cells of a table that hold numbers, but for the ends of intervals."""
    cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    return [
        Cell(path.name, row, column)
        for row in range(1, len(cells))
        for column, value in enumerate(cells[row])
        if value.replace(".", "", 1).isdecimal() and not cells[0][column].startswith(INTERVAL)
    ]


def multiply(folder: Path, cell: Cell, factor: float) -> str:
    """Multiply a number of a copy of a scenario; say what was done."""
    path = folder / cell.table
    cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    old = cells[cell.row][cell.column]
    new = float(old) * factor
    cells[cell.row][cell.column] = f"{new:.9g}" if "." in old else f"{round(new)}"
    for place, name in enumerate(cells[0]):
        if place != cell.column and name.startswith(INTERVAL):
            cells[cell.row][place] = ""  # an interval that no longer holds the value would be refused
    path.write_text(to_csv(cells), encoding="utf-8")
    return f"{cell.table}: row {cell.row} {cells[0][cell.column]} {old} is {cells[cell.row][cell.column]}"
