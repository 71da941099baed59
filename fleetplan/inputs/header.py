"""``scenario.yaml``: name, horizon, accelerators and models with overrides, rules, file names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fleetplan.errors import Fault
from fleetplan.inputs.cells import CellError, parse_quarter
from fleetplan.inputs.layout import TABLES
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.scenario import Rules
from fleetplan.inputs.yamlfile import Node
from fleetplan.periods import Horizon
from fleetplan.units import parse_number

SCHEMA_VERSION = 1
MAX_PERIODS = 400
_KEYS = ("schema", "name", "title", "horizon", "accelerators", "models", "rules", "tables")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass
class Reference:
    """An accelerator or model that the scenario uses: its name in the catalog, and overrides."""

    name: str
    source: str
    place: Place
    overrides: dict[str, Node] = field(default_factory=dict)


@dataclass
class Header:
    """What scenario.yaml says; parts with a fault are left empty."""

    file: str
    name: str = ""
    title: str = ""
    horizon: Horizon | None = None
    accelerators: dict[str, Reference] = field(default_factory=dict)
    models: dict[str, Reference] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    rule_places: dict[str, Place] = field(default_factory=dict)
    tables: dict[str, tuple[str, Place]] = field(default_factory=dict)


def read_header(root: Node) -> tuple[Header, list[Fault]]:
    """Read the nodes of scenario.yaml; every fault is returned."""
    header, faults = Header(root.place.file), list[Fault]()
    if root.mapping is None or root.keys is None:
        return header, [fault("E028", root.place, f"scenario.yaml is a {root.kind}, not a mapping of keys")]
    faults += [
        fault("E005", place, f"unknown key {key!r}", did_you_mean(key, _KEYS))
        for key, place in root.keys.items()
        if key not in _KEYS
    ]
    version = _check_version(root, faults)
    if version:
        header.name = _text(root, "name", faults)
        header.title = _text(root, "title", faults)
        if header.name and not _NAME.fullmatch(header.name):
            message = f"{header.name!r} cannot be a scenario's name"
            faults.append(
                fault("E019", root.mapping["name"].place, message, "Use letters, digits, '-', '_' and '.'.")
            )
        header.horizon = _read_horizon(root, faults)
        header.accelerators = _references(root, "accelerators", "catalog", faults, needed=True)
        header.models = _references(root, "models", "model", faults)
        _read_rules(root, header, faults)
        _read_tables(root, header, faults)
    return header, faults


def _check_version(root: Node, faults: list[Fault]) -> bool:
    node = (root.mapping or {}).get("schema")
    if node is None:
        faults.append(
            fault("E026", root.place, "key 'schema' is missing", f"write: schema: {SCHEMA_VERSION}")
        )
        return False
    if node.text != str(SCHEMA_VERSION):
        message = f"schema {node.plain()!r} is not {SCHEMA_VERSION}"
        faults.append(fault("E026", node.place, message))
        return False
    return True


def _text(root: Node, key: str, faults: list[Fault]) -> str:
    node = (root.mapping or {}).get(key)
    if node is None:
        faults.append(fault("E004", root.place, f"key {key!r} is missing", f"write: {key}: ..."))
        return ""
    if not node.text:
        what = "blank" if node.kind == "text" else f"a {node.kind}"
        faults.append(fault("E012", node.place, f"{key} is {what}", "Write a text."))
        return ""
    return node.text


def _read_horizon(root: Node, faults: list[Fault]) -> Horizon | None:
    node = (root.mapping or {}).get("horizon")
    example = "write: horizon: {start: 2026Q4, quarters: 21} or {start: 2026Q4, periods: [1, 1, 4]}"
    if node is None or node.mapping is None:
        faults.append(fault("E004", node.place if node else root.place, "the horizon is missing", example))
        return None
    _refuse_unknown(node, ("start", "quarters", "periods"), faults)
    if ("quarters" in node.mapping) == ("periods" in node.mapping) or "start" not in node.mapping:
        faults.append(
            fault("E004", node.place, "a horizon has a start, and either quarters or periods", example)
        )
        return None
    try:
        start = parse_quarter(node.mapping["start"].text or "")
        return Horizon(start, _lengths(node))
    except CellError as error:
        faults.append(fault(error.rule, node.place, f"horizon: {error}", error.fix))
    return None


def _lengths(node: Node) -> tuple[int, ...]:
    assert node.mapping is not None
    if "quarters" in node.mapping:
        return (1,) * _whole(node.mapping["quarters"])
    items = node.mapping["periods"].items or ()
    if not 1 <= len(items) <= MAX_PERIODS:
        raise CellError(
            "E011", f"{len(items)} periods", f"write a list of 1 to {MAX_PERIODS} lengths in quarters"
        )
    return tuple(_whole(item) for item in items)


def _whole(node: Node) -> int:
    text = node.text or ""
    if not re.fullmatch(r"\d{1,6}", text):
        raise CellError("E013", f"{node.plain()!r} is not a whole number of quarters")
    if not 1 <= int(text) <= MAX_PERIODS:
        raise CellError("E011", f"{text} quarters", f"from 1 to {MAX_PERIODS}")
    return int(text)


def _refuse_unknown(node: Node, known: tuple[str, ...], faults: list[Fault]) -> None:
    for key, place in (node.keys or {}).items():
        if key not in known:
            faults.append(fault("E005", place, f"unknown key {key!r}", did_you_mean(key, known)))


def _references(
    root: Node, key: str, source_key: str, faults: list[Fault], *, needed: bool = False
) -> dict[str, Reference]:
    node = (root.mapping or {}).get(key)
    if node is None or (node.kind == "text" and not node.text):
        if needed:
            faults.append(
                fault(
                    "E004",
                    node.place if node else root.place,
                    f"{key} are missing",
                    f"write the names of the {key} used",
                )
            )
        return {}
    if node.items is not None:
        return _from_list(node, faults)
    if node.mapping is None or node.keys is None:
        faults.append(fault("E028", node.place, f"{key} is text, not a list or mapping of names", ""))
        return {}
    found = {}
    for name, child in node.mapping.items():
        overrides = dict(child.mapping or {})
        if child.mapping is None and child.plain():
            faults.append(
                fault("E028", child.place, f"{name} is a {child.kind}", "write overrides as 'field: value'")
            )
        source = overrides.pop(source_key, None)
        found[name] = Reference(name, (source.text if source else None) or name, node.keys[name], overrides)
    return found


def _from_list(node: Node, faults: list[Fault]) -> dict[str, Reference]:
    found: dict[str, Reference] = {}
    for item in node.items or ():
        if not item.text:
            faults.append(
                fault("E028", item.place, f"a {item.kind} stands where a name is expected", "Write a name.")
            )
        elif item.text in found:
            faults.append(fault("E006", item.place, f"{item.text!r} is given twice"))
        else:
            found[item.text] = Reference(item.text, item.text, item.place)
    return found


def _read_rules(root: Node, header: Header, faults: list[Fault]) -> None:
    node = (root.mapping or {}).get("rules")
    if node is None or (node.kind == "text" and not node.text):
        return
    if node.mapping is None or node.keys is None:
        faults.append(fault("E028", node.place, f"rules is a {node.kind}, not a mapping", ""))
        return
    _refuse_unknown(node, tuple(Rules.model_fields), faults)
    values = {}
    for name, child in node.mapping.items():
        if name in Rules.model_fields:
            header.rule_places[name] = child.place
            try:
                values[name] = read_rule(name, child.text)
            except CellError as error:
                faults.append(fault(error.rule, child.place, str(error), error.fix))
    header.rules = Rules(**values)


def read_rule(name: str, text: str | None) -> Any:
    """Read the value of one rule from text; raises :class:`CellError`."""
    kind: Any = Rules.model_fields[name].annotation
    value: object = text
    if kind is bool:
        words = {"yes": True, "true": True, "no": False, "false": False}
        if (text or "").lower() not in words:
            raise CellError("E015", f"{name} is {text!r}", "write yes or no")
        value = words[(text or "").lower()]
    elif kind in {int, float}:
        value = _rule_number(name, text)
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise CellError("E015", f"{name} is {text!r}: {error.errors()[0]['msg']}", "") from None


def _rule_number(name: str, text: str | None) -> float:
    try:
        number = parse_number(text or "")
    except ValueError as error:
        raise CellError("E009", f"{name}: {error}") from None
    least = 1 if name == "caps_per_accelerator" else 0
    if number < least:
        raise CellError("E011", f"{name} is {text}", f"from {least}")
    return number


def _read_tables(root: Node, header: Header, faults: list[Fault]) -> None:
    node = (root.mapping or {}).get("tables")
    if node is None or (node.kind == "text" and not node.text):
        return
    if node.mapping is None:
        faults.append(
            fault("E028", node.place, f"tables is a {node.kind}, not a mapping of names to files", "")
        )
        return
    _refuse_unknown(node, tuple(TABLES), faults)
    for name, child in node.mapping.items():
        if not child.text:
            faults.append(
                fault("E012", child.place, f"the file of table {name} is blank", "Write a file name.")
            )
        elif name in TABLES:
            header.tables[name] = (child.text, child.place)
