"""Read one recommendation model from its YAML file, with the evidence for each of its figures.

The file holds the fields of :class:`~fleetplan.inputs.architecture.Model`; volumes under ``known``
carry their unit (``40160460 B``). ``evidence`` maps a path (``tables.hot.rows``, ``dense.top``) to
its status, low, high, source, date and note; the longest path that begins a figure's own path counts,
and ``default`` stands behind all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from fleetplan.errors import Fault, InputError
from fleetplan.figures import STATUSES, Figure, Origin, Status
from fleetplan.inputs.architecture import (
    Compress,
    DcnLowRank,
    Dot,
    FmLowRank,
    Hstu,
    InBatchSoftmax,
    KnownVolumes,
    Mlp,
    Model,
    TableGroup,
    Wukong,
)
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.reader import decode, read_bytes
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.yamlfile import Node, read_yaml
from fleetplan.units import parse_number, parse_quantity

BLOCKS: dict[str, type] = {
    "mlp": Mlp,
    "dot": Dot,
    "dcn_lowrank": DcnLowRank,
    "compress": Compress,
    "fm_lowrank": FmLowRank,
    "wukong": Wukong,
    "hstu": Hstu,
    "in_batch_softmax": InBatchSoftmax,
}
_EVIDENCE_KEYS = ("status", "low", "high", "source", "date", "note")
_NAMES = ("title", "aliases")
_Plain = dict[str, Any]


def read_model(path: Path, shown: str) -> Model:
    """Read ``path``, named ``shown`` in errors. Raises ``InputError`` with every fault."""
    data, faults = read_bytes(path, shown)
    text, more = decode(data, shown) if not faults else ("", [])
    root, syntax = read_yaml(text, shown) if not faults + more else (None, [])
    faults = [*faults, *more, *syntax]
    if root is None or root.mapping is None or faults:
        raise InputError(faults or fault("E028", Place(shown, 1), "the file is not a mapping"))
    evidence = dict(root.mapping).pop("evidence", None)
    plain = {key: node.plain() for key, node in root.mapping.items() if key != "evidence"}
    faults += _read_units(root, plain)
    model, more = _validated(plain, root)
    stated, problems = _read_evidence(evidence)
    faults += [*more, *problems]
    if model is None or faults:
        raise InputError(faults)
    figures, unused = _figures(model, stated, root)
    if unused:
        raise InputError(unused)
    return model.model_copy(update={"figures": figures})


def _read_units(root: Node, plain: _Plain) -> list[Fault]:
    """Replace quantities by numbers: bytes under ``known`` and ``sample_bytes``."""
    faults: list[Fault] = []
    mapping = root.mapping or {}
    known = mapping.get("known")
    places = [(plain, "sample_bytes", mapping.get("sample_bytes"))]
    if known is not None and known.mapping is not None:
        places += [(plain["known"], key, node) for key, node in known.mapping.items()]
    for target, key, node in places:
        if node is None or node.text is None or "bytes" not in key:
            continue
        try:
            target[key] = parse_quantity(node.text, "B")
        except ValueError as error:
            faults.append(fault("E003", node.place, str(error)))
            target[key] = 0
    return faults


def _validated(plain: _Plain, root: Node) -> tuple[Model | None, list[Fault]]:
    try:
        return Model.model_validate(plain), []
    except ValidationError as error:
        return None, [_pydantic_fault(each, root) for each in error.errors()]


def _pydantic_fault(error: Mapping[str, Any], root: Node) -> Fault:
    """Translate one pydantic error to a fault with the line in the file."""
    path = [part for part in error["loc"] if part not in BLOCKS]
    node, found = _descend(root, path)
    name = str(path[-1]) if path else ""
    field = ".".join(str(part) for part in path)
    place = Place(node.place.file, node.place.line, node.place.column, field)
    if error["type"] == "extra_forbidden":
        parent, _ = _descend(root, path[:-1])
        fix = did_you_mean(name, set(_known_fields(parent, path)) - set(parent.mapping or {}))
        return fault("E005", place, f"key {name!r} is not known", fix)
    if error["type"] == "missing":
        return fault("E012", place, f"{name!r} is missing", f"write {name}: …")
    rule = "E015" if "literal" in error["type"] or "union" in error["type"] else "E011"
    return fault(rule, place, str(error["msg"]), "" if found else None)


def _descend(root: Node, path: list[Any]) -> tuple[Node, bool]:
    """The node at ``path``, or the nearest one above it that exists."""
    node = root
    for part in path:
        below: Node | None = None
        if node.mapping is not None:
            below = node.mapping.get(str(part))
        elif node.items is not None and isinstance(part, int) and part < len(node.items):
            below = node.items[part]
        if below is None:
            return node, False
        node = below
    return node, True


def _known_fields(parent: Node, path: list[Any]) -> list[str]:
    if len(path) == 1:
        return list(Model.model_fields)
    if path[0] == "tables":
        return list(TableGroup.model_fields)
    if path[0] == "known":
        return list(KnownVolumes.model_fields)
    block = (parent.mapping or {}).get("block")
    kind = BLOCKS.get(block.text or "") if block is not None else None
    return list(getattr(kind, "model_fields", {}))


def _read_evidence(node: Node | None) -> tuple[dict[str, tuple[Node, _Plain]], list[Fault]]:
    if node is None or node.mapping is None:
        return {}, []
    stated: dict[str, tuple[Node, _Plain]] = {}
    faults: list[Fault] = []
    for path, entry in node.mapping.items():
        plain = entry.plain()
        if not isinstance(plain, dict):
            faults.append(fault("E028", entry.place, "evidence is a mapping: status, source, …"))
            continue
        faults += _evidence_faults(entry, plain)
        stated[path] = (entry, plain)
    return stated, faults


def _evidence_faults(entry: Node, plain: _Plain) -> Iterator[Fault]:
    for key in plain:
        if key not in _EVIDENCE_KEYS:
            place = (entry.keys or {}).get(key, entry.place)
            yield fault("E005", place, f"key {key!r} is not known", did_you_mean(key, _EVIDENCE_KEYS))
    if plain.get("status") not in STATUSES:
        yield fault(
            "E017", entry.place, f"status {plain.get('status')!r} is not one of {', '.join(STATUSES)}"
        )
    elif plain["status"] in {"published", "reported"} and not plain.get("source"):
        yield fault("E018", entry.place, f"a {plain['status']} figure has no source")
    for key in ("low", "high"):
        try:
            parse_number(plain.get(key) or "0")
        except ValueError as error:
            yield fault("E009", entry.place, f"{key}: {error}")


def _figures(
    model: Model, stated: Mapping[str, tuple[Node, _Plain]], root: Node
) -> tuple[dict[str, Figure], list[Fault]]:
    """A figure for every leaf of the model; evidence that fits none of them is a fault."""
    figures: dict[str, Figure] = {}
    used = {"default"}
    leaves = _leaves(model)
    for leaf in leaves:
        key = _longest(leaf.path, stated)
        used.add(key)
        if leaf.stated or key == leaf.path:
            entry, plain = stated.get(key, (root, {}))
            figures[leaf.path] = _figure(leaf.path, leaf.value, entry, plain, exact=key == leaf.path)
    faults = list(_misplaced(stated, used, [leaf.path for leaf in leaves]))
    faults += [each for path, figure in figures.items() if (each := _interval_fault(path, figure))]
    return figures, faults


def _misplaced(
    stated: Mapping[str, tuple[Node, _Plain]], used: set[str], paths: list[str]
) -> Iterator[Fault]:
    """Evidence that fits no figure, and intervals that are not of exactly one."""
    for key, (entry, plain) in stated.items():
        if key not in used:
            message = f"evidence path {key!r} fits nothing"
            yield fault("E007", entry.place, message, did_you_mean(key, paths))
        elif key not in paths and ("low" in plain or "high" in plain):
            message = f"an interval holds for one figure, and {key!r} is not one"
            yield fault("E032", entry.place, message, "name the figure, as tables.big.rows")


def _interval_fault(path: str, figure: Figure) -> Fault | None:
    low, high, value = figure.low, figure.high, figure.value
    if low is None or high is None or not isinstance(value, float) or low <= value <= high:
        return None
    origin = figure.origin
    place = Place(origin.file if origin else "", origin.line if origin else None, None, path)
    return fault("E016", place, f"{low:g} <= {value:g} <= {high:g} is not so")


def _figure(path: str, value: float | str, entry: Node, plain: _Plain, *, exact: bool) -> Figure:
    """Intervals hold for the figure that they are written for, the rest for all below a path."""
    low, high = (plain.get("low"), plain.get("high")) if exact else (None, None)
    status: Status = plain.get("status", "assumed")
    return Figure(
        path,
        value,
        "",
        status,
        parse_number(low) if low is not None else None,
        parse_number(high) if high is not None else None,
        plain.get("source") or "",
        plain.get("date") or "",
        plain.get("note") or "",
        Origin(entry.place.file, entry.place.line or 1),
    )


def _longest(path: str, stated: Mapping[str, object]) -> str:
    fitting = [key for key in stated if path == key or path.startswith(key + ".")]
    return max(fitting, key=len, default="default")


@dataclass(frozen=True)
class _Leaf:
    path: str
    value: float | str
    stated: bool
    """Whether the file says it; the rest are defaults of the architecture."""


def _leaves(model: Model) -> list[_Leaf]:
    """Every figure of the model by path; tables and blocks go by their name."""
    return [leaf for leaf in _walk("", model, stated=True) if leaf.path not in _NAMES]


def _walk(path: str, value: object, *, stated: bool) -> Iterator[_Leaf]:
    if isinstance(value, BaseModel):
        for key in type(value).model_fields:
            if key not in {"name", "block", "figures"} and getattr(value, key) is not None:
                below = f"{path}.{key}".lstrip(".")
                yield from _walk(below, getattr(value, key), stated=stated and key in value.model_fields_set)
    elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        for item in value:
            yield from _walk(f"{path}.{getattr(item, 'name', '')}", item, stated=stated)
    elif isinstance(value, tuple):
        yield _Leaf(path, " ".join(str(item) for item in value), stated)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield _Leaf(path, str(value), stated)
    else:
        yield _Leaf(path, float(value), stated)
