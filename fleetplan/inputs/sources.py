"""Where a scenario is read from: a folder, or the name of one that comes with fleetplan."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from fleetplan.errors import Fault, InputError
from fleetplan.inputs.header import Header, read_header
from fleetplan.inputs.layout import TABLES
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.paths import data_dir
from fleetplan.inputs.reader import RawTable, decode, read_bytes, read_csv
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.yamlfile import read_yaml

YAML = "scenario.yaml"


@dataclass
class Source:
    """A scenario as text with positions: its header, its tables, the hash of every file."""

    folder: str
    header: Header
    tables: dict[str, RawTable] = field(default_factory=dict)
    absent: dict[str, Place] = field(default_factory=dict)
    """Tables that are not there, with the place that would name them."""
    hashes: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def scenarios_dir() -> Path:
    """Return the folder of the scenarios that come with fleetplan."""
    return data_dir() / "scenarios"


def scenario_names() -> list[str]:
    """Return the names of the scenarios that come with fleetplan."""
    folder = scenarios_dir()
    return sorted(p.name for p in folder.iterdir() if (p / YAML).is_file()) if folder.is_dir() else []


def find_scenario(path_or_name: str | Path) -> Path:
    """Return the folder or workbook of a scenario: a path, or the name of a bundled one.

    Raises ``InputError`` with near names if there is none.
    """
    path = Path(path_or_name)
    if path.exists():
        return path.parent if path.name == YAML else path
    name = str(path_or_name)
    if name in scenario_names():
        return scenarios_dir() / name
    fix = did_you_mean(name, scenario_names())
    raise InputError.at(name, "E001", "there is no such file, folder or bundled scenario", fix)


def renamed(header: str, file_name: str) -> str:
    """Return the text of scenario.yaml with the name of its new folder or workbook."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", file_name.removesuffix(".xlsx")).strip("-._")
    return re.sub(r"^name: .*$", f"name: {name}", header, count=1, flags=re.MULTILINE) if name else header


def open_source(path_or_name: str | Path) -> Source:
    """Read all files of a scenario as text; faults are collected in the source."""
    path = find_scenario(path_or_name)
    if path.is_dir():
        bundled = path.parent == scenarios_dir() and not Path(path_or_name).exists()
        return _open_folder(path, Path("data", "scenarios", path.name) if bundled else path)
    if path.suffix.lower() == ".xlsx":
        from fleetplan.inputs.workbook import open_workbook

        return open_workbook(path)
    raise InputError.at(path, "E001", "this is neither a folder nor a workbook (.xlsx)")


def _open_folder(folder: Path, shown_folder: Path) -> Source:
    """Read a folder; faults and origins name its files as ``shown_folder`` does."""
    shown = str(shown_folder / YAML)
    data, faults = read_bytes(folder / YAML, shown)
    if faults:
        if (folder / "sites.csv").is_file():
            faults = [
                fault(
                    "E026", Place(shown), "there is no scenario.yaml, so these tables are of an older version"
                )
            ]
        raise InputError(faults)
    text, faults = decode(data, shown)
    root, more = read_yaml(text, shown) if not faults else (None, [])
    if root is None:
        raise InputError(faults + more)
    header, header_faults = read_header(root)
    source = Source(str(folder), header, hashes={YAML: _sha256(data)}, faults=more + header_faults)
    for name in TABLES:
        _open_table(folder, shown_folder, name, source)
    source.faults += _strangers(folder, shown_folder, source)
    return source


def _open_table(folder: Path, shown_folder: Path, name: str, source: Source) -> None:
    file, place = source.header.tables.get(name, (f"{name}.csv", Place(source.header.file)))
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()):
        source.faults.append(fault("E025", place, f"{file!r} lies outside the scenario's folder"))
        return
    if not path.exists() and name not in source.header.tables:
        parquet = path.with_suffix(".parquet")
        if not parquet.exists():
            source.absent[name] = Place(str(shown_folder / file))
            return
        file, path = parquet.name, parquet
    shown = str(shown_folder / file)
    data, faults = read_bytes(path, shown)
    raw: RawTable | None = None
    if not faults:
        source.hashes[file] = _sha256(data)
        raw, faults = _read_table(data, path.suffix.lower(), shown)
    source.faults += faults
    if raw is not None:
        source.tables[name] = raw


def _read_table(data: bytes, ending: str, shown: str) -> tuple[RawTable | None, list[Fault]]:
    if ending == ".parquet":
        from fleetplan.inputs.parquet import read_parquet

        return read_parquet(data, shown)
    return read_csv(data, shown)


def _strangers(folder: Path, shown_folder: Path, source: Source) -> list[Fault]:
    """Find tables in the folder that nothing reads: probably a misspelt file name."""
    known = {f"{name}{ending}" for name in TABLES for ending in (".csv", ".parquet")} | set(source.hashes)
    files = sorted(p for p in folder.iterdir() if p.suffix.lower() in {".csv", ".parquet"})
    return [
        fault(
            "E005",
            Place(str(shown_folder / path.name)),
            f"nothing reads {path.name!r}",
            did_you_mean(path.stem, TABLES),
        )
        for path in files
        if path.name not in known
    ]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
