"""Typed rows from parsed tables that have no faults. Everything is sorted by name or key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleetplan.inputs.cells import ParsedRow, ParsedTable
from fleetplan.inputs.scenario import (
    Cohort,
    Demand,
    Hall,
    HallPower,
    MeasuredRate,
    Rental,
    Role,
    Row,
    Site,
    Supply,
    Upgrade,
    Workload,
)

ROW_TYPES: dict[str, type[Row]] = {
    "sites": Site,
    "halls": Hall,
    "power_by_quarter": HallPower,
    "fleet_today": Cohort,
    "supply": Supply,
    "rentals": Rental,
    "roles": Role,
    "upgrades": Upgrade,
    "workloads": Workload,
    "demand": Demand,
    "measured": MeasuredRate,
}
"""Typed row of each wide table."""
_NOT_IN_ROW = frozenset({"low", "high", "interval_of"})
_RENAMED = {"source_url": "source"}


def build_rows(tables: Mapping[str, ParsedTable]) -> dict[str, list[Any]]:
    """Build the typed rows of every wide table, sorted by key."""
    site_of = {str(row.values["hall"]): row.values["site"] for row in tables["halls"].rows}
    built: dict[str, list[Any]] = {}
    for name, row_type in ROW_TYPES.items():
        table = tables.get(name)
        rows = sorted(table.rows, key=lambda row, t=table: _order(t, row)) if table else []  # type: ignore[misc]
        extra = (lambda row: {"site": site_of[str(row.values["hall"])]}) if name == "fleet_today" else None
        built[name] = [_build(row_type, table, row, extra(row) if extra else {}) for row in rows if table]
    return built


def _order(table: ParsedTable, row: ParsedRow) -> tuple[tuple[bool, Any], ...]:
    key = row.key(table.spec) or ()
    return tuple((part is not None, 0 if part is None else part) for part in key)


def _build(row_type: type[Row], table: ParsedTable, row: ParsedRow, extra: dict[str, Any]) -> Row:
    values: dict[str, Any] = {"origin": table.origin(row), **extra}
    for column in table.spec.fields:
        value = row.values.get(column.name)
        if value is not None and column.name not in _NOT_IN_ROW and column.target != "-":
            values[_RENAMED.get(column.name, column.target)] = value
    return row_type(**values)
