"""Accelerators and models of a scenario: the catalog's, with the scenario's overrides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fleetplan.errors import Fault, InputError
from fleetplan.figures import STATUSES, Figure, Origin, Status
from fleetplan.inputs.accelerator import UNITS, Accelerator
from fleetplan.inputs.cells import CellError, ParsedRow, ParsedTable, read_number
from fleetplan.inputs.cross import interval, order_faults
from fleetplan.inputs.header import Reference
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.yamlfile import Node

if TYPE_CHECKING:
    from fleetplan.inputs.architecture import Model

_FIGURE_KEYS = ("value", "low", "high", "status", "source", "note")
_EVIDENCE = {"status", "low", "high", "interval_of", "source_url", "note", "accelerator"}


@dataclass
class Overrides:
    """Figures that replace the catalog's, by accelerator and field, with where they stand."""

    figures: dict[str, dict[str, Figure]] = field(default_factory=dict)
    places: dict[tuple[str, str], Place] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def add(self, accelerator: str, figure: Figure, place: Place) -> None:
        """Take an override; a second one of the same field is a conflict (E027)."""
        key = (accelerator, figure.name)
        if key in self.places:
            first = self.places[key]
            where = f"{first.file}:{first.line}"
            message = f"{figure.name} of {accelerator} is given here and in {where}"
            self.faults.append(fault("E027", place, message))
            return
        self.places[key] = place
        self.figures.setdefault(accelerator, {})[figure.name] = figure


def collect_overrides(references: Mapping[str, Reference], tables: Mapping[str, ParsedTable]) -> Overrides:
    """Collect overrides from scenario.yaml, accelerators.csv and power_caps.csv."""
    found = Overrides()
    for name, reference in references.items():
        for field_name, node in reference.overrides.items():
            _from_node(found, name, field_name, node)
    if "accelerators" in tables:
        for row in tables["accelerators"].rows:
            _from_row(found, tables["accelerators"], row)
    if "power_caps" in tables:
        _from_caps(found, tables["power_caps"])
    return found


def _from_node(found: Overrides, accelerator: str, name: str, node: Node) -> None:
    if node.mapping is None:
        parts: dict[str, str | None] = {"value": node.text if node.items is None else None}
    else:
        for key, place in (node.keys or {}).items():
            if key not in _FIGURE_KEYS:
                found.faults.append(
                    fault("E005", place, f"unknown key {key!r}", did_you_mean(key, _FIGURE_KEYS))
                )
        parts = {key: child.text for key, child in node.mapping.items()}
    if not parts.get("value"):
        found.faults.append(fault("E012", node.place, f"{name} is blank", "write the value with its unit"))
        return
    status = parts.get("status") or "assumed"
    if status not in STATUSES:
        found.faults.append(fault("E017", node.place, f"status {status!r} is none of: {', '.join(STATUSES)}"))
        return
    try:
        figure = _figure(name, parts, status, node.place)
    except CellError as error:
        found.faults.append(fault(error.rule, node.place, f"{name}: {error}", error.fix))
        return
    found.faults += order_faults(node.place, _as_number(figure.value), figure.low, figure.high, name)
    found.add(accelerator, figure, node.place)


def _as_number(value: float | str | None) -> float | None:
    return value if isinstance(value, float) else None


def _figure(name: str, parts: Mapping[str, str | None], status: str, place: Place) -> Figure:
    unit = UNITS.get(name, "")
    value: float | str = str(parts["value"])
    low = high = None
    if name in UNITS:
        value = read_number(str(parts["value"]), unit, bare=bool(unit))
        low, high = (
            read_number(str(parts[k]), unit, bare=bool(unit)) if parts.get(k) else None
            for k in ("low", "high")
        )
    origin = Origin(place.file, place.line or 1)
    known: Any = status
    return Figure(
        name, value, unit, known, low, high, parts.get("source") or "", "", parts.get("note") or "", origin
    )


def _from_row(found: Overrides, table: ParsedTable, row: ParsedRow) -> None:
    accelerator = row.values.get("accelerator")
    bounds = None
    with suppress(CellError):  # reported with the table's evidence
        bounds = interval(table, row)
    for name, value in row.values.items():
        if name in _EVIDENCE or value is None:
            continue
        given: float | str = "|".join(value) if isinstance(value, tuple) else str(value)
        if isinstance(value, (int, float)):
            given = float(value)
        low, high = bounds[1:] if bounds and bounds[0] == name else (None, None)
        figure = _row_figure(table, row, name, given, low, high)
        found.add(str(accelerator), figure, table.place(row, name))


def _row_figure(
    table: ParsedTable, row: ParsedRow, name: str, value: float | str, low: float | None, high: float | None
) -> Figure:
    status: Any = row.values.get("status", "assumed")
    source, note = (str(row.values.get(key) or "") for key in ("source_url", "note"))
    unit = UNITS.get(name, "")
    return Figure(name, value, unit, _status(status), low, high, source, "", note, table.origin(row))


def _status(word: Any) -> Status:
    known: Status = word if word in STATUSES else "assumed"
    return known


def _from_caps(found: Overrides, table: ParsedTable) -> None:
    points: dict[str, list[ParsedRow]] = {}
    for row in table.rows:
        if {"accelerator", "cap_w_per_device", "speed_factor"} <= row.values.keys():
            points.setdefault(str(row.values["accelerator"]), []).append(row)
    for accelerator, rows in points.items():
        rows.sort(key=lambda row: -float(str(row.values["cap_w_per_device"])))
        text = "; ".join(f"{row.values['cap_w_per_device']} W: {row.values['speed_factor']}" for row in rows)
        figure = _row_figure(table, rows[0], "power_caps", text, None, None)
        found.add(accelerator, figure, table.place(rows[0], "cap_w_per_device"))


def load_devices(
    references: Mapping[str, Reference], overrides: Overrides
) -> tuple[dict[str, Accelerator], list[Fault]]:
    """Load each accelerator with its overrides; faults stand where the scenario names them."""
    from fleetplan.inputs.catalog import load_accelerator

    devices: dict[str, Accelerator] = {}
    faults: list[Fault] = []
    for name, reference in sorted(references.items()):
        own = overrides.figures.get(name, {})
        try:
            device = load_accelerator(reference.source, own)
        except InputError as error:
            faults += [_relocate(one, reference, overrides, name) for one in error.faults]
            continue
        devices[name] = device.model_copy(update={"name": name})
    return devices, faults


def _relocate(one: Fault, reference: Reference, overrides: Overrides, name: str) -> Fault:
    """Point a fault of the catalog at the override, or at the name, that brought it about."""
    place = overrides.places.get((name, one.field), reference.place)
    return Fault(
        place.file, place.line, place.column, one.rule, one.field or place.field, one.message, one.fix
    )


def load_models(
    used: Mapping[str, Place], references: Mapping[str, Reference]
) -> tuple[dict[str, Model], list[Fault]]:
    """Load each model that a workload uses, with the scenario's overrides."""
    from fleetplan.inputs.catalog import load_model
    from fleetplan.inputs.model_overrides import override_model

    models: dict[str, Model] = {}
    faults: list[Fault] = []
    for name, place in sorted(used.items()):
        reference = references.get(name) or Reference(name, name, place)
        try:
            model = load_model(reference.source)
        except InputError as error:
            faults += [
                Fault(
                    reference.place.file,
                    reference.place.line,
                    reference.place.column,
                    f.rule,
                    "model",
                    f.message,
                    f.fix,
                )
                for f in error.faults
            ]
            continue
        changed, more = override_model(model, reference.overrides)
        faults += more
        models[name] = changed.model_copy(update={"name": name})
    return models, faults
