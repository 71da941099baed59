"""YAML as nodes with positions. Only plain mappings, lists and text; nothing is interpreted or executed.

Scalars stay the text that was written, so ``NO`` is Norway, ``1e5`` a number and ``2026Q4`` a quarter
only where the schema says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from fleetplan.errors import Fault
from fleetplan.inputs.rules import Place, fault

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C where there is one; both know plain YAML only."""
MAX_NODES = 200_000
MAX_DEPTH = 40
MAX_ALIASES = 200


@dataclass(frozen=True)
class Node:
    """A YAML value and where it stands: text (``None`` if it is null), mapping or list."""

    place: Place
    text: str | None = None
    mapping: dict[str, Node] | None = None
    items: tuple[Node, ...] | None = None
    keys: dict[str, Place] | None = None
    """Where each key of the mapping stands."""

    @property
    def kind(self) -> str:
        """``mapping``, ``list`` or ``text``, as an error would call it."""
        return "mapping" if self.mapping is not None else "list" if self.items is not None else "text"

    def plain(self) -> object:
        """Return the value as dicts, lists and text."""
        if self.mapping is not None:
            return {key: node.plain() for key, node in self.mapping.items()}
        if self.items is not None:
            return [node.plain() for node in self.items]
        return self.text


def read_yaml(text: str, shown: str) -> tuple[Node | None, list[Fault]]:
    """Read one YAML document to nodes; faults are syntax, tags, duplicate keys and excess."""
    try:
        excess = _excess(text, shown)
        if excess:
            return None, [excess]
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(shown, mark.line + 1, mark.column + 1) if mark else Place(shown)
        return None, [fault("E028", place, str(error.problem or error.context or "not YAML"))]
    except yaml.YAMLError as error:
        return None, [fault("E028", Place(shown), str(error).splitlines()[0])]
    if node is None:
        return None, [fault("E028", Place(shown, 1), "the file is empty")]
    faults: list[Fault] = []
    return _convert(node, shown, "", faults), faults


def _excess(text: str, shown: str) -> Fault | None:
    """Find what would blow up before it is composed: depth, size, many aliases, recursion."""
    depth = aliases = 0
    open_anchors: list[str | None] = []
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        place = _place_of(event, shown)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            open_anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            open_anchors.pop()
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if event.anchor in open_anchors:
                return fault("E028", place, f"alias *{event.anchor} holds itself")
        if depth > MAX_DEPTH or count > MAX_NODES or aliases > MAX_ALIASES:
            return fault("E028", place, "the file is nested too deeply or is too large to be a scenario")
    return None


class _Budget:
    """Counts converted nodes, because few aliases of aliases can still mean millions."""

    def __init__(self) -> None:
        self.left = MAX_NODES


def _convert(
    node: yaml.Node, shown: str, name: str, faults: list[Fault], budget: _Budget | None = None
) -> Node:
    budget = budget or _Budget()
    budget.left -= 1
    place = Place(shown, node.start_mark.line + 1, node.start_mark.column + 1, name)
    if budget.left == 0:
        faults.append(fault("E028", place, "aliases multiply to too many values"))
    if budget.left <= 0:
        return Node(place)
    if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.startswith("tag:yaml.org,2002:python"):
        faults.append(fault("E028", place, f"tag {node.tag} is not allowed"))
        return Node(place)
    if isinstance(node, yaml.MappingNode):
        return _convert_mapping(node, place, faults, budget)
    if isinstance(node, yaml.SequenceNode):
        items = [_convert(item, shown, f"{name}[{i}]", faults, budget) for i, item in enumerate(node.value)]
        return Node(place, items=tuple(items))
    is_null = node.tag.endswith(":null")
    return Node(place, text=None if is_null else str(node.value).strip())


def _convert_mapping(node: yaml.MappingNode, place: Place, faults: list[Fault], budget: _Budget) -> Node:
    mapping: dict[str, Node] = {}
    keys: dict[str, Place] = {}
    for key, value in _pairs(node):
        name = f"{place.field}.{key.value}" if place.field else str(key.value)
        key_place = Place(place.file, key.start_mark.line + 1, key.start_mark.column + 1, name)
        if not isinstance(key, yaml.ScalarNode):
            faults.append(fault("E028", key_place, "a key must be text"))
        elif key.value in mapping:
            first = keys[key.value].line
            faults.append(fault("E006", key_place, f"key {key.value!r} was given before, in line {first}"))
        else:
            keys[key.value] = key_place
            mapping[key.value] = _convert(value, place.file, name, faults, budget)
    return Node(place, mapping=mapping, keys=keys)


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    yield from node.value


def _place_of(event: yaml.Event, shown: str) -> Place:
    mark = event.start_mark
    return Place(shown) if mark is None else Place(shown, mark.line + 1, mark.column + 1)
