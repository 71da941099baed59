"""Load a scenario: read, check everything in one pass, and build the typed scenario."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fleetplan.errors import Fault, InputError
from fleetplan.figures import Figure
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.architecture import Model
from fleetplan.inputs.build import build_rows
from fleetplan.inputs.cells import ParsedTable, parse_table
from fleetplan.inputs.cross import (
    AnyName,
    check_evidence,
    check_first_and_last,
    check_keys,
    check_references,
    check_series,
    check_supply,
    declared_names,
)
from fleetplan.inputs.devices import collect_overrides, load_devices, load_models
from fleetplan.inputs.evidence import PREFIXES, device_figures, entry_figures, model_figures, table_figures
from fleetplan.inputs.header import Header
from fleetplan.inputs.items import ITEMS, Entry, read_entries
from fleetplan.inputs.layout import TABLES
from fleetplan.inputs.money_and_ages import build_carbon, build_finance, build_lifecycle
from fleetplan.inputs.physical import check_completeness, check_physics
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.sources import Source, open_source
from fleetplan.inputs.suspicions import suspicions
from fleetplan.inputs.values import with_value, with_values

__all__ = ["CheckReport", "check_scenario", "load_scenario", "with_value", "with_values"]

_MAY_BE_EMPTY = frozenset({"fleet_today", "supply"})
"""A fleet that starts from nothing, or that buys nothing, is a plan."""


@dataclass(frozen=True)
class CheckReport:
    """What a check found. ``scenario`` is there if there are no errors."""

    faults: tuple[Fault, ...]
    tables: int
    rows: int
    seconds: float
    scenario: Scenario | None

    @property
    def errors(self) -> tuple[Fault, ...]:
        """Faults that stop a run."""
        return tuple(one for one in self.faults if one.severity == "error")

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """Faults that do not."""
        return tuple(one for one in self.faults if one.severity == "warning")


@dataclass
class _Checked:
    """All that is known after the checks."""

    header: Header
    tables: dict[str, ParsedTable]
    entries: dict[str, list[Entry]]
    devices: dict[str, Accelerator]
    models: dict[str, Model]


def load_scenario(path_or_name: str | Path) -> Scenario:
    """Load a scenario from a folder, a workbook (.xlsx) or the name of a bundled one.

    Raises ``InputError`` with every error of every file, in reading order; warnings do not stop.
    """
    report = check_scenario(path_or_name)
    if report.scenario is None:
        raise InputError(report.errors)
    return report.scenario


def check_scenario(path_or_name: str | Path) -> CheckReport:
    """Check a scenario in one pass: all errors and warnings, with place, rule and fix.

    Raises ``InputError`` only if there is nothing to check (no such scenario, no readable header).
    """
    started = time.perf_counter()
    source = open_source(path_or_name)
    checked, faults = _check(source)
    scenario = None
    if not any(one.severity == "error" for one in faults):
        scenario = _build(source, checked)
        faults += suspicions(scenario, checked.tables)
    ordered = tuple(InputError(faults).faults)
    rows = sum(len(table.rows) for table in source.tables.values())
    return CheckReport(ordered, len(source.tables) + 1, rows, time.perf_counter() - started, scenario)


def _check(source: Source) -> tuple[_Checked, list[Fault]]:
    header, faults = source.header, list(source.faults)
    tables: dict[str, ParsedTable] = {}
    for name, raw in source.tables.items():
        tables[name], found = parse_table(TABLES[name], raw)
        faults += found
    faults += _absent(source)
    names = declared_names(tables, TABLES)
    names["accelerator"] = set(header.accelerators) or AnyName()
    overrides = collect_overrides(header.accelerators, tables)
    faults += overrides.faults
    devices, more = load_devices(header.accelerators, overrides)
    faults += more
    models, more = _models(header, tables)
    faults += more
    names["model"] = _model_names(tables)  # unknown ones are reported where they are loaded
    entries: dict[str, list[Entry]] = {name: [] for name in ITEMS}
    for name in ITEMS.keys() & tables.keys():
        entries[name], more = read_entries(tables[name], names)
        faults += more
    faults += _between(header, tables, names)
    faults += check_completeness(tables, entries, devices, names)
    faults += check_physics(header, tables, devices)
    return _Checked(header, tables, entries, devices, models), faults


def _absent(source: Source) -> Iterator[Fault]:
    for name, spec in TABLES.items():
        if spec.needed and name in source.absent:
            yield fault(
                "E001", source.absent[name], f"table {name} is missing ({spec.meaning})", "Add the file."
            )
        elif spec.needed and name in source.tables and name not in _MAY_BE_EMPTY:
            raw = source.tables[name]
            if not raw.rows:
                yield fault("E030", Place(raw.file, 1), f"table {name} has no rows")


def _models(header: Header, tables: dict[str, ParsedTable]) -> tuple[dict[str, Model], list[Fault]]:
    used: dict[str, Place] = {}
    if "workloads" in tables:
        table = tables["workloads"]
        for row in table.rows:
            if "model" in row.values:
                used.setdefault(str(row.values["model"]), table.place(row, "model"))
    models, faults = load_models(used, header.models)
    for name, reference in header.models.items():
        if name not in used:
            faults.append(fault("W112", reference.place, f"no workload uses model {name!r}"))
    return models, faults


def _model_names(tables: dict[str, ParsedTable]) -> set[str]:
    rows = tables["workloads"].rows if "workloads" in tables else []
    return {str(row.values.get("model")) for row in rows}


def _between(header: Header, tables: dict[str, ParsedTable], names: dict[str, set[str]]) -> Iterator[Fault]:
    for table in tables.values():
        yield from check_keys(table)
        yield from check_references(table, names)
        yield from check_evidence(table, TABLES)
    if header.horizon is not None:
        for name, subject in (("power_by_quarter", "hall"), ("demand", "workload")):
            if name in tables:
                yield from check_series(tables[name], subject, names[subject], header.horizon)
    if "supply" in tables:
        yield from check_supply(tables["supply"])
    for name in ("rentals", "roles"):
        if name in tables:
            yield from check_first_and_last(tables[name])


def _build(source: Source, checked: _Checked) -> Scenario:
    header, rows = checked.header, build_rows(checked.tables)
    assert header.horizon is not None
    return Scenario(
        name=header.name,
        title=header.title,
        folder=source.folder,
        horizon=header.horizon,
        accelerators=checked.devices,
        models=checked.models,
        sites={row.name: row for row in rows["sites"]},
        halls={row.name: row for row in rows["halls"]},
        workloads={row.name: row for row in rows["workloads"]},
        power=tuple(rows["power_by_quarter"]),
        fleet=tuple(rows["fleet_today"]),
        supply=tuple(rows["supply"]),
        demand=tuple(rows["demand"]),
        rentals=tuple(rows["rentals"]),
        roles=tuple(rows["roles"]),
        upgrades=tuple(rows["upgrades"]),
        measured=tuple(rows["measured"]),
        finance=build_finance(checked.entries["finance"]),
        lifecycle=build_lifecycle(checked.entries["lifecycle"]),
        carbon=build_carbon(checked.entries["carbon"]),
        rules=header.rules,
        figures=_figures(checked),
        hashes=dict(sorted(source.hashes.items())),
    )


def _figures(checked: _Checked) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    sources = {"sites": "sites_sources", "workloads": "workloads_sources"}
    for name in TABLES:
        if name in checked.tables and name in PREFIXES:
            stated = checked.tables.get(sources.get(name, ""))
            figures |= {figure.name: figure for figure in table_figures(checked.tables[name], stated)}
    figures |= {figure.name: figure for figure in device_figures(checked.devices)}
    figures |= {figure.name: figure for figure in model_figures(checked.models)}
    figures |= {figure.name: figure for figure in entry_figures(checked.entries)}
    return dict(sorted(figures.items()))
