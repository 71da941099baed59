"""Spoil the files of a scenario at random, as people, editors and exports do."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from tests.inputs.faults import to_csv

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
