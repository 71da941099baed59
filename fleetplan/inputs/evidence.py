"""Every stated figure of a scenario by path, with interval, status and source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from fleetplan.figures import Figure
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.cells import CellError, ParsedRow, ParsedTable, read_number
from fleetplan.inputs.cross import evidence_of, interval
from fleetplan.inputs.items import Entry
from fleetplan.inputs.money_and_ages import entry_figure, entry_path

if TYPE_CHECKING:
    from fleetplan.inputs.architecture import Model

PREFIXES: dict[str, str] = {
    "sites": "sites",
    "halls": "halls",
    "power_by_quarter": "power",
    "fleet_today": "fleet",
    "supply": "supply",
    "rentals": "rentals",
    "roles": "roles",
    "upgrades": "upgrades",
    "workloads": "workloads",
    "demand": "demand",
    "measured": "measured",
}
"""Name of each table's rows in a path, which is the scenario's attribute."""


def row_path(table: str, key: tuple[object, ...]) -> str:
    """Return the path of a row, like ``supply[mtia-400,2027Q1]``."""
    shown = ",".join(
        "" if part is None else f"{part:g}" if isinstance(part, float) else str(part) for part in key
    )
    return f"{PREFIXES[table]}[{shown}]"


def table_figures(table: ParsedTable, sources: ParsedTable | None) -> Iterator[Figure]:
    """Yield the figure of every numeric cell; ``sources`` states some of them one by one."""
    stated = _stated(sources) if sources else {}
    for row in table.rows:
        path = row_path(table.spec.name, row.key(table.spec) or ())
        subject = str(row.values.get(table.spec.keys[0].name))
        for column in table.spec.fields:
            value = row.values.get(column.name)
            if (
                not column.is_numeric
                or column.key
                or column.target == "-"
                or not isinstance(value, (int, float))
            ):
                continue
            figure = _row_figure(table, row, column.name, float(value), column.unit)
            better = stated.get((subject, column.name))
            if better is not None and _same(better.value, float(value)):
                figure = better
            yield _renamed(figure, f"{path}.{column.target}", float(value), column.unit)


def _same(stated: float | str | None, value: float) -> bool:
    return isinstance(stated, float) and abs(stated - value) <= 1e-9 * max(1.0, abs(value))


def _renamed(figure: Figure, path: str, value: float, unit: str) -> Figure:
    return Figure(
        path,
        value,
        unit,
        figure.status,
        figure.low,
        figure.high,
        figure.source,
        figure.date,
        figure.note,
        figure.origin,
    )


def _row_figure(table: ParsedTable, row: ParsedRow, name: str, value: float, unit: str) -> Figure:
    status, source, note = evidence_of(row)
    low = high = None
    if name == "price_musd_per_rack" and "price_low_musd_per_rack" in table.spec.by_name:
        low, high = (row.values.get(f"price_{end}_musd_per_rack") for end in ("low", "high"))
    else:
        with suppress(CellError):
            found = interval(table, row)
            low, high = found[1:] if found and found[0] == name else (None, None)
    bounds = [float(str(bound)) if bound is not None else None for bound in (low, high)]
    return Figure(name, value, unit, status, bounds[0], bounds[1], source, "", note, table.origin(row))


def _stated(table: ParsedTable) -> dict[tuple[str, str], Figure]:
    """Return the evidence table's figures by subject and column."""
    found: dict[tuple[str, str], Figure] = {}
    assert table.spec.subject is not None
    for row in table.rows:
        subject, name = str(row.values.get(table.spec.subject)), str(row.values.get("field"))
        numbers: list[float | None] = []
        for part in ("value", "low", "high"):
            text = row.values.get(part)
            number = None
            with suppress(CellError):
                number = None if text is None else read_number(str(text), "")
            numbers.append(number)
        status, source, note = evidence_of(row)
        found[subject, name] = Figure(
            name, numbers[0], "", status, numbers[1], numbers[2], source, "", note, table.origin(row)
        )
    return found


def device_figures(devices: Mapping[str, Accelerator]) -> Iterator[Figure]:
    """Yield the figures of every accelerator with their path in the scenario."""
    for name, device in devices.items():
        for key, figure in device.figures.items():
            path = f"accelerators[{name}].{key}"
            yield replace(figure, name=path)


def model_figures(models: Mapping[str, Model]) -> Iterator[Figure]:
    """Yield the figures of every model with their path in the scenario."""
    for name, model in models.items():
        for key, figure in model.figures.items():
            yield replace(figure, name=f"models[{name}].{key}")


def entry_figures(entries: Mapping[str, list[Entry]]) -> Iterator[Figure]:
    """Yield the figures of finance, lifecycle and carbon."""
    method = next((str(e.value) for e in entries["carbon"] if e.item.name == "method"), None)
    for table, rows in entries.items():
        for entry in rows:
            path = entry_path(table, entry, method)
            yield entry_figure(path, entry)
