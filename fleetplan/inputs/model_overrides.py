"""Change values inside a model by path: ``tables.big.rows``, ``dense.top.widths``, ``skew``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fleetplan.errors import Fault
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.rules import fault
from fleetplan.inputs.yamlfile import Node

if TYPE_CHECKING:
    from fleetplan.inputs.architecture import Model

_EVIDENCE = frozenset({"figures", "name"})


def override_model(model: Model, overrides: Mapping[str, Node]) -> tuple[Model, list[Fault]]:
    """Return the model with each path set to its new value; faults stand at the override."""
    faults: list[Fault] = []
    for path, node in overrides.items():
        try:
            model = set_model_value(model, path, node.plain())
        except ValueError as error:
            rule = "E005" if isinstance(error, UnknownPathError) else "E011"
            faults.append(
                fault(
                    rule,
                    node.place,
                    f"{path}: {error}",
                    error.fix if isinstance(error, UnknownPathError) else None,
                )
            )
    return model, faults


class UnknownPathError(ValueError):
    """A path that leads nowhere; ``fix`` names the nearest known part."""

    def __init__(self, part: str, known: list[str]) -> None:
        super().__init__(f"{part!r} is not a part of the model")
        self.fix = did_you_mean(part, known)


def set_model_value(model: Model, path: str, value: object) -> Model:
    """Return a copy of the model with the value at ``path`` replaced and everything validated.

    Raises :class:`UnknownPathError`, or ``ValueError`` if the value does not fit.
    """
    data: dict[str, Any] = model.model_dump(mode="json", exclude={"figures"})
    *parents, last = path.split(".")
    holder: Any = data
    for part in parents:
        holder = holder[_key(holder, part)]
    key = _key(holder, last)
    if isinstance(holder[key], (dict, list, tuple)) and not isinstance(value, (list, dict)):
        raise UnknownPathError(last, list(leaf_paths(model)))
    holder[key] = value
    try:
        changed = type(model).model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{first['msg']} (got {value!r})"
        raise ValueError(message) from None
    return changed.model_copy(update={"figures": model.figures})


def _key(holder: Any, part: str) -> Any:
    if isinstance(holder, dict):
        known = [name for name in holder if name not in _EVIDENCE]
        if part in known:
            return part
    elif isinstance(holder, (list, tuple)):
        known = [
            str(item.get("name", i)) if isinstance(item, dict) else str(i) for i, item in enumerate(holder)
        ]
        if part in known:
            return known.index(part)
    else:
        known = []
    raise UnknownPathError(part, known)


def model_value(model: Model, path: str) -> Any:
    """Return the value at a path. Raises :class:`UnknownPathError`."""
    holder: Any = model.model_dump(mode="json", exclude={"figures"})
    for part in path.split("."):
        holder = holder[_key(holder, part)]
    return holder


def leaf_paths(model: Model) -> Iterator[str]:
    """Yield the path of every single value of the model."""
    yield from _leaves(model.model_dump(mode="json", exclude={"figures", "name", "title", "aliases"}), "")


def _leaves(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            if key != "name":
                yield from _leaves(child, f"{path}.{key}" if path else key)
    elif isinstance(value, (list, tuple)):
        for index, child in enumerate(value):
            name = str(child.get("name", index)) if isinstance(child, dict) else str(index)
            yield from _leaves(child, f"{path}.{name}")
    else:
        yield path
