"""Bring a scenario of an older version to this one.

Version 0 had no ``scenario.yaml``: wide tables that repeated the catalog, and long tables with free
wording. Nothing is dropped without being named: columns that are now computed, or stand in the
catalog, are listed in the report, and items that no computation reads go to ``evidence.csv``.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fleetplan.errors import Fault, InputError, UsageError
from fleetplan.inputs.cells import fit_row
from fleetplan.inputs.header import SCHEMA_VERSION
from fleetplan.inputs.layout import TABLES, InputTable
from fleetplan.inputs.load import check_scenario
from fleetplan.inputs.migrate_items import LONG_TABLES, Devices, Mapped, Row
from fleetplan.inputs.reader import RawTable, read_bytes, read_csv
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.sources import YAML
from fleetplan.periods import Quarter

_RENAMED: dict[str, dict[str, str]] = {
    "accelerators": {
        "available_from_quarter": "available_from",
        "it_rack_kw_nameplate": "rack_it_kw",
        "cooling_accepted": "cooling",
    },
}
_IN_CATALOG = frozenset({"accelerators_sources", "rough_rates"})
"""Tables of version 0 whose content now stands in the catalog or is computed."""
_WIDE = (
    "accelerators",
    "power_caps",
    "sites",
    "sites_sources",
    "halls",
    "power_by_quarter",
    "fleet_today",
    "supply",
    "workloads",
    "workloads_sources",
    "demand",
)


@dataclass
class MigrationReport:
    """What a migration did: where it wrote, what it left out and why, what a check of it found."""

    path: Path
    dropped: list[str] = field(default_factory=list)
    moved_to_evidence: int = 0
    faults: tuple[Fault, ...] = ()


def migrate(source: str | Path, target: str | Path) -> MigrationReport:
    """Write the scenario in folder ``source`` as the present version to the new folder ``target``.

    The target is written whole or not at all. Raises ``UsageError`` if it exists or the source needs
    no migration, ``InputError`` if the source cannot be read or is of an unknown version.
    """
    origin, path = Path(source), Path(target)
    if path.exists():
        message = f"{path} exists already; nothing was written"
        raise UsageError(message)
    if (origin / YAML).exists():
        message = f"{origin} has a {YAML}: it is of version {SCHEMA_VERSION} already, or of a later one"
        raise UsageError(message)
    tables = _read(origin)
    report = MigrationReport(path)
    files = _convert(tables, report)
    _write(path, files, _scenario_yaml(origin, path, tables))
    report.faults = check_scenario(path).faults
    return report


def _read(folder: Path) -> dict[str, list[Row]]:
    needed = [name for name in (*_WIDE, *LONG_TABLES) if TABLES[name].needed]
    absent = [name for name in needed if not (folder / f"{name}.csv").is_file()]
    if absent:
        names = ", ".join(f"{name}.csv" for name in absent)
        raise InputError.at(
            folder, "E026", f"this is no scenario of version 0: {names} missing", "Check the folder."
        )
    tables: dict[str, list[Row]] = {}
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.csv")):
        data, found = read_bytes(path, str(path))
        raw, more = read_csv(data, str(path)) if not found else (None, [])
        faults += found + more
        if raw is not None:
            tables[path.stem], more = _rows(raw)
            faults += more
    if faults:
        raise InputError(faults)
    return tables


def _devices(tables: dict[str, list[Row]]) -> Devices:
    used = tables.get("accelerators") or tables["supply"] + tables["fleet_today"]
    names = tuple(sorted({row["accelerator"] for row in used if row.get("accelerator")}))
    lots = frozenset(row.get("scope", "") for row in tables["lifecycle"] if row.get("item") == "lot_size")
    return Devices(names, lots & set(names))


def _rows(raw: RawTable) -> tuple[list[Row], list[Fault]]:
    rows: list[Row] = []
    faults: list[Fault] = []
    for row in raw.rows:
        cells = fit_row(row, len(raw.header.cells))
        if cells is None:
            faults.append(fault("E010", Place(raw.file, row.line), "the row does not fit the header"))
        else:
            rows.append(dict(zip(raw.header.cells, cells, strict=True)))
    return rows, faults


def _convert(tables: dict[str, list[Row]], report: MigrationReport) -> dict[str, list[Row]]:
    files: dict[str, list[Row]] = {}
    evidence: list[Row] = []
    devices = _devices(tables)
    for name, rows in tables.items():
        if name in _WIDE:
            files[name] = _convert_wide(TABLES[name], _prepare(name, rows), report)
        elif name in LONG_TABLES:
            files[name], left = _convert_long(rows, LONG_TABLES[name], devices)
            evidence += left
        else:
            why = "now in the catalog or computed" if name in _IN_CATALOG else "not a table of a scenario"
            report.dropped.append(f"{name}.csv: {why}")
    if evidence:
        files["evidence"] = evidence
    report.moved_to_evidence = len(evidence)
    return files


def _prepare(name: str, rows: list[Row]) -> list[Row]:
    renamed = _RENAMED.get(name, {})
    prepared = [{renamed.get(column, column): text for column, text in row.items()} for row in rows]
    if name == "workloads":
        return [{"model": row.get("workload", ""), **row} for row in prepared]
    if name == "workloads_sources":
        return [row for row in prepared if row.get("field") in TABLES["workloads"].by_name]
    return prepared


def _convert_wide(spec: InputTable, rows: list[Row], report: MigrationReport) -> list[Row]:
    given = list(rows[0]) if rows else []
    surplus = [column for column in given if column not in spec.by_name]
    if surplus:
        report.dropped.append(f"{spec.name}.csv: columns {', '.join(surplus)} (computed, or in the catalog)")
    return [_kept(spec, row) for row in rows]


def _kept(spec: InputTable, row: Row) -> Row:
    kept = {column.name: row[column.name] for column in spec.fields if column.name in row}
    bounded = spec.by_name.get(kept.get("interval_of", ""))
    if "interval_of" in kept and (bounded is None or not bounded.is_numeric):
        kept |= {"low": "", "high": "", "interval_of": ""}  # it bounded a column that is gone
    return kept


def _convert_long(
    rows: list[Row], convert: Callable[[Row, Devices], list[Mapped] | None], devices: Devices
) -> tuple[list[Row], list[Row]]:
    kept: list[Row] = []
    left: list[Row] = []
    columns = ("item", "scope", "value", "unit", "status", "low", "high", "source_url", "note")
    for row in rows:
        plain = {column: row.get(column, "") for column in columns}
        mapped = convert(plain, devices)
        if mapped is None:
            left.append({**plain, "unit": "" if plain["unit"] == "name" else plain["unit"]})
        else:
            kept += [{**plain, **change} for change in mapped]
    return kept, left


def _scenario_yaml(origin: Path, target: Path, tables: dict[str, list[Row]]) -> str:
    quarters = sorted({row.get("quarter", "") for row in tables["demand"]})
    try:
        start, count = quarters[0], Quarter.parse(quarters[-1]) - Quarter.parse(quarters[0]) + 1
    except (ValueError, IndexError):
        raise InputError.at(origin / "demand.csv", "E014", "the quarters of demand give no horizon") from None
    lines = [
        f"schema: {SCHEMA_VERSION}",
        f"name: {target.name}",
        f"title: {target.name}, brought from version 0",
        "",
        f"horizon: {{start: {start}, quarters: {count}}}",
        "",
        "accelerators:",
        *(f"  {name}:" for name in _devices(tables).names),
    ]
    return "\n".join(lines) + "\n"


def _write(path: Path, files: dict[str, list[Row]], header: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fleetplan-", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            draft.mkdir()
            (draft / YAML).write_text(header, encoding="utf-8")
            for name, rows in files.items():
                _write_csv(draft / f"{name}.csv", TABLES[name], rows)
            draft.rename(path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise UsageError(message) from None


def _write_csv(path: Path, spec: InputTable, rows: list[Row]) -> None:
    columns = [column.name for column in spec.fields if any(column.name in row for row in rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row.get(column, "") for column in columns] for row in rows)
