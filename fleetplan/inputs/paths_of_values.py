"""Paths to single values of a scenario: ``supply[mtia-400,2027Q1].price_musd_per_rack`` and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fleetplan.errors import UsageError
from fleetplan.inputs.build import ROW_TYPES
from fleetplan.inputs.evidence import PREFIXES, row_path
from fleetplan.inputs.layout import TABLES, Field
from fleetplan.inputs.model_overrides import leaf_paths
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.scenario import Rules, Scenario

_PATH = re.compile(
    r"(?P<root>\w+)(?:\[(?P<key>[^\]]*)\])?(?:\.(?P<field>[\w.-]+)(?:\[(?P<inner>[^\]]*)\])?)?"
)
KEYS: dict[str, Callable[[Any], tuple[object, ...]]] = {
    "sites": lambda row: (row.name,),
    "halls": lambda row: (row.name,),
    "power_by_quarter": lambda row: (row.hall, row.quarter),
    "fleet_today": lambda row: (row.name,),
    "supply": lambda row: (row.accelerator, row.delivery),
    "rentals": lambda row: (row.name,),
    "roles": lambda row: (row.name,),
    "upgrades": lambda row: (row.from_accelerator, row.to_accelerator),
    "workloads": lambda row: (row.name,),
    "demand": lambda row: (row.workload, row.quarter),
    "measured": lambda row: (row.workload, row.accelerator, row.devices, row.local_batch, row.cap_w),
}
"""How the rows of each table are named in a path."""
TABLE_OF = {prefix: table for table, prefix in PREFIXES.items()}
GROUPS = ("finance", "lifecycle", "carbon", "rules")
_FIXED = frozenset({"name", "figures", "title", "vendor", "power_caps", "cooling", "aliases"})
_PARTS_OF_ACCELERATOR = "accelerators"


@dataclass(frozen=True)
class Path:
    """A path's parts: ``root[key].field[inner]``; parts that are not there are ``None``."""

    root: str
    key: str | None
    field: str | None
    inner: str | None

    def __str__(self) -> str:
        """Return the path as written."""
        key, inner = (f"[{part}]" if part is not None else "" for part in (self.key, self.inner))
        return f"{self.root}{key}" + (f".{self.field}{inner}" if self.field else "")


def parse_path(text: str) -> Path:
    """Split a path; raise ``UsageError`` if it has no such form."""
    match = _PATH.fullmatch(text.strip())
    if match is None:
        message = (
            f"{text!r} is not a path; write it like 'finance.discount_rate' or 'sites[lulea-se].pue_peak'"
        )
        raise UsageError(message)
    return Path(match["root"], match["key"], match["field"], match["inner"])


def unknown_path(text: str, known: Sequence[str]) -> UsageError:
    """Return the error for a path that leads nowhere, with the nearest known one."""
    return UsageError(f"unknown path {text!r}: {did_you_mean(text, known)}")


def rows_of(scenario: Scenario, table: str) -> list[Any]:
    """Return the typed rows of a table."""
    rows = getattr(scenario, PREFIXES[table])
    return list(rows.values()) if isinstance(rows, dict) else list(rows)


def numeric_fields(table: str) -> dict[str, Field]:
    """Return a table's settable columns by attribute: numbers and yes/no that are no key."""
    fields = TABLES[table].fields
    kinds = {"number", "count", "yesno"}
    return {f.target: f for f in fields if f.kind in kinds and not f.key and f.target != "-"}


def scenario_paths(scenario: Scenario) -> list[str]:
    """Return every path that :func:`fleetplan.inputs.values.with_value` can set, sorted."""
    return sorted(
        {*_row_paths(scenario), *_group_paths(scenario), *_device_paths(scenario), *_model_paths(scenario)}
    )


def _row_paths(scenario: Scenario) -> Iterator[str]:
    for table in ROW_TYPES:
        fields = numeric_fields(table)
        for row in rows_of(scenario, table):
            path = row_path(table, KEYS[table](row))
            yield from (f"{path}.{name}" for name in fields)


def _group_paths(scenario: Scenario) -> Iterator[str]:
    yield "horizon.quarters"
    yield from (f"rules.{name}" for name in Rules.model_fields)
    for group in ("finance", "lifecycle", "carbon"):
        holder = getattr(scenario, group)
        for name in type(holder).model_fields:
            value = getattr(holder, name)
            inner = list(_inner_keys(name, value))
            yield from (f"{group}.{name}[{key}]" for key in inner)
            if not isinstance(value, (dict, tuple)):
                yield f"{group}.{name}"


def _inner_keys(name: str, value: Any) -> Iterator[str]:
    if name == "maintenance_share_per_year":
        yield from (f"{age:g}" for age, _ in value)
    elif isinstance(value, dict):
        for key, child in value.items():
            if isinstance(child, dict):
                yield from (f"{key},{inner}" for inner in child)
            elif isinstance(child, tuple):
                yield from (f"{key},{year}" for year in range(1, len(child) + 1))
            else:
                yield key


def _device_paths(scenario: Scenario) -> Iterator[str]:
    for name, device in scenario.accelerators.items():
        for field in type(device).model_fields:
            if field not in _FIXED:
                yield f"accelerators[{name}].{field}"
        yield from (f"accelerators[{name}].power_caps[{cap.cap_w:g}]" for cap in device.power_caps)


def _model_paths(scenario: Scenario) -> Iterator[str]:
    for name, model in scenario.models.items():
        yield from (f"models[{name}].{path}" for path in leaf_paths(model))


def matching(scenario: Scenario, pattern: str) -> list[str]:
    """Return the paths that a pattern names: ``*`` stands for any text inside one bracket.

    Raises ``UsageError`` with the nearest known path if there is none.
    """
    known = scenario_paths(scenario)
    expression = re.compile(re.escape(pattern.strip()).replace(r"\*", r"[^\]]*"))
    found = [path for path in known if expression.fullmatch(path)]
    if not found:
        raise unknown_path(pattern, known)
    return found
