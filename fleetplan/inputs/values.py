"""Change any input by its path, and tell whether two scenarios say the same.

Sweeps, anchors, break-even prices and Monte Carlo runs are all made of :func:`with_value`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from fleetplan.errors import UsageError
from fleetplan.figures import Figure
from fleetplan.inputs.accelerator import UNITS, Accelerator, PowerCap
from fleetplan.inputs.cells import CellError, check_range, read_number
from fleetplan.inputs.evidence import row_path
from fleetplan.inputs.header import read_rule
from fleetplan.inputs.items import ITEMS
from fleetplan.inputs.model_overrides import UnknownPathError, model_value, set_model_value
from fleetplan.inputs.paths_of_values import (
    GROUPS,
    KEYS,
    TABLE_OF,
    Path,
    matching,
    numeric_fields,
    parse_path,
    rows_of,
    scenario_paths,
    unknown_path,
)
from fleetplan.inputs.scenario import Scenario, Supply
from fleetplan.periods import Horizon, Quarter

Settable = float | int | bool | str
_NOT_CONTENT = frozenset(
    {"origin", "status", "source", "note", "figures", "folder", "hashes", "name", "title"}
)


def with_value(scenario: Scenario, path: str, value: Settable) -> Scenario:
    """Return the scenario with the value at ``path`` replaced; the given one is left as it is.

    A number is in the unit of the field; a text may carry its unit (``"9.2 TB/s"``). ``*`` inside
    brackets stands for all keys: ``supply[mtia-400,*].price_musd_per_rack``. Raises ``UsageError``
    with the nearest known path, or with the range where the value does not fit.
    """
    if "*" in path:
        for each in matching(scenario, path):
            scenario = with_value(scenario, each, value)
        return scenario
    parsed = parse_path(path)
    try:
        changed = _set(scenario, parsed, value)
    except (CellError, ValidationError) as error:
        reason = str(error) if isinstance(error, CellError) else error.errors()[0]["msg"]
        message = f"{path} cannot be {value!r}: {reason}"
        raise UsageError(message) from None
    return _with_figure(changed, str(parsed), value_at(changed, str(parsed)))


def with_values(scenario: Scenario, values: Mapping[str, Settable], *, fit: bool = False) -> Scenario:
    """Return the scenario with every path of ``values`` set, as :func:`with_value` does one by one.

    With ``fit`` the values are draws from intervals: counts are rounded to whole numbers, and what can
    be delivered of an accelerator is kept above what is committed, with options cut to what is left.
    """
    for path, value in values.items():
        new = value
        if fit and isinstance(value, float) and type(value_at(scenario, path)) is int:
            new = round(value)
        if fit and path.startswith("supply[") and path.endswith("].max_racks"):
            scenario = _make_room(scenario, path, round(float(new)))
        else:
            scenario = with_value(scenario, path, new)
    return scenario


def _make_room(scenario: Scenario, path: str, most: int) -> Scenario:
    """Set the most racks of a delivery, and cut its options to what fits."""
    options = path.replace("max_racks", "option_racks")
    row, _ = _holder(scenario, parse_path(path))
    most = max(most, row.committed_racks)
    scenario = with_value(scenario, options, min(row.option_racks, most - row.committed_racks))
    return with_value(scenario, path, most)


def with_factor(scenario: Scenario, path: str, factor: float) -> Scenario:
    """Return the scenario with every number that ``path`` names multiplied by ``factor``.

    Counts are rounded to whole numbers. Raises as :func:`with_value` does.
    """
    for each in matching(scenario, path) if "*" in path else [path]:
        value = value_at(scenario, each)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            message = f"{each} is {value!r}, not a number that can be scaled"
            raise UsageError(message)
        scaled = round(value * factor) if isinstance(value, int) else value * factor
        scenario = with_value(scenario, each, scaled)
    return scenario


def value_at(scenario: Scenario, path: str) -> Any:
    """Return the value at a path. Raises ``UsageError`` with the nearest known path."""
    parsed = parse_path(path)
    if parsed.root == "horizon":
        return sum(scenario.horizon.lengths)
    holder, name = _holder(scenario, parsed)
    if parsed.root == "models":
        return model_value(holder, name)
    if name not in type(holder).model_fields:
        raise unknown_path(path, scenario_paths(scenario))
    value = getattr(holder, name)
    if parsed.inner is not None:
        return _inner(scenario, parsed, name, value)
    return value


def _holder(scenario: Scenario, path: Path) -> tuple[Any, str]:
    """Return the object whose field a path names, and the field."""
    field, found = path.field or "", None
    if path.root in GROUPS and path.key is None:
        found = getattr(scenario, path.root)
    elif path.root in {"accelerators", "models"} and path.key is not None:
        found = getattr(scenario, path.root).get(path.key)
    elif path.root in TABLE_OF and path.key is not None:
        table, wanted = TABLE_OF[path.root], str(dataclasses.replace(path, field=None, inner=None))
        first, key_of = path.key.partition(",")[0], KEYS[table]
        alike = (row for row in rows_of(scenario, table) if key_of(row)[0] == first)
        found = next((row for row in alike if row_path(table, key_of(row)) == wanted), None)
    if found is None or not field:
        raise unknown_path(str(path), scenario_paths(scenario))
    return found, field


def _inner(scenario: Scenario, path: Path, name: str, value: Any) -> Any:
    keys = (path.inner or "").split(",")
    if name == "maintenance_share_per_year":
        found = {f"{age:g}": share for age, share in value}.get(keys[0])
    elif name == "power_caps":
        found = {f"{cap.cap_w:g}": cap.speed for cap in value}.get(keys[0])
    else:
        found = value
        for key in keys:
            if isinstance(found, tuple):
                found = found[int(key) - 1] if key.isdigit() and 1 <= int(key) <= len(found) else None
            else:
                found = found.get(key) if isinstance(found, dict) else None
    if found is None:
        raise unknown_path(str(path), scenario_paths(scenario))
    return found


def _set(scenario: Scenario, path: Path, value: Settable) -> Scenario:
    if path.root == "horizon":
        return _set_horizon(scenario, path, value)
    holder, name = _holder(scenario, path)
    if path.root == "models":
        return _replace_in(scenario, "models", str(path.key), _set_model(scenario, holder, path, name, value))
    value_at(scenario, str(path))  # an unknown path is told as such
    if path.root == "accelerators":
        changed = _set_device(holder, name, path.inner, value)
        return _replace_in(scenario, "accelerators", str(path.key), changed)
    if path.root in GROUPS:
        return scenario.model_copy(update={path.root: _set_group(path, holder, name, value)})
    return _set_row(scenario, path, holder, name, value)


def _set_horizon(scenario: Scenario, path: Path, value: Settable) -> Scenario:
    count = _number(value, "quarter")
    last = max((row.quarter for row in scenario.power), default=scenario.horizon.start)
    most = last - scenario.horizon.start + 1
    if path.field != "quarters" or count != int(count) or not 1 <= count <= most:
        message = f"{path} cannot be {value!r}: power is stated for 1 to {most} quarters"
        raise UsageError(message)
    return scenario.model_copy(update={"horizon": _shortened(scenario.horizon, int(count))})


def _shortened(horizon: Horizon, quarters: int) -> Horizon:
    """Cut or lengthen a horizon; longer periods are kept, what is left over becomes single quarters."""
    lengths: list[int] = []
    for length in horizon.lengths:
        if sum(lengths) + length <= quarters:
            lengths.append(length)
    return Horizon(horizon.start, (*lengths, *(1,) * (quarters - sum(lengths))))


def _number(value: Settable, unit: str) -> float:
    if isinstance(value, str):
        return read_number(value, unit)
    number = float(value)
    if not abs(number) < float("inf"):
        raise CellError("E009", "it is not a finite number")
    return number


def _set_model(scenario: Scenario, model: Any, path: Path, name: str, value: Settable) -> Any:
    try:
        return set_model_value(model, name, value)
    except UnknownPathError:
        raise unknown_path(str(path), scenario_paths(scenario)) from None
    except ValueError as error:
        message = f"{path} cannot be {value!r}: {error}"
        raise UsageError(message) from None


def _set_device(device: Accelerator, name: str, inner: str | None, value: Settable) -> Accelerator:
    new: Any = _number(value, UNITS[name]) if name in UNITS else value
    if name == "power_caps":
        speed = _number(value, "fraction")
        caps = device.power_caps
        new = tuple(
            PowerCap(cap_w=c.cap_w, speed=speed if f"{c.cap_w:g}" == inner else c.speed) for c in caps
        )
        if not 0 < speed <= 1:
            raise CellError("E011", "a speed lies above 0 and up to 1")
    elif name in UNITS and new < 0:
        raise CellError("E011", "it is negative")
    changed: Accelerator = _validated(device, {name: new})
    figure = device.figures.get(name)
    if figure is None or name == "power_caps":
        return changed
    figures = {**device.figures, name: dataclasses.replace(figure, value=new)}
    return changed.model_copy(update={"figures": figures})


def _set_group(path: Path, holder: BaseModel, name: str, value: Settable) -> Any:
    new = _checked_item(path.root, name, value)
    if path.inner is None:
        changed = _validated(holder, {name: new})
        if path.root == "carbon" and name == "method":
            return _with_method(changed, str(new))
        return changed
    return _validated(holder, {name: _set_inner(name, getattr(holder, name), path.inner, new)})


def _with_method(carbon: Any, method: str) -> Any:
    intensities = carbon.intensity_by_method.get(method)
    if intensities is None or intensities.keys() != carbon.intensity_g_per_kwh.keys():
        raise CellError("E029", "the scenario does not state that intensity for every site")
    return carbon.model_copy(update={"intensity_g_per_kwh": dict(intensities)})


def _checked_item(group: str, name: str, value: Settable) -> Settable | Quarter:
    """Check a value against the range of the item that the field is made of."""
    renamed = {
        "salvage_share_by_age_year": "salvage_share",
        "intensity_g_per_kwh": "intensity_location_annual",
    }
    if group == "rules":
        text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        rule: Settable = read_rule(name, text)
        return rule
    item = ITEMS.get(group, {}).get(renamed.get(name, name))
    if item is None or isinstance(value, bool):
        return value
    if item.unit == "name":
        return value if item.words else _quarter(value)
    number = _number(value, item.unit)
    if not item.minimum <= number <= item.maximum:
        raise CellError("E011", f"it must be from {item.minimum:g} to {item.maximum:g} {item.unit}")
    if item.whole and number != int(number):
        raise CellError("E013", "it must be a whole number")
    return int(number) if item.whole else number


def _quarter(value: Settable) -> Quarter:
    try:
        return Quarter.parse(str(value))
    except ValueError as error:
        raise CellError("E014", str(error)) from None


def _set_inner(name: str, value: Any, inner: str, new: Any) -> Any:
    first, _, rest = inner.partition(",")
    if name == "maintenance_share_per_year":
        return tuple((age, new if f"{age:g}" == inner else share) for age, share in value)
    if not rest:
        return {**value, inner: new}
    child = value[first]
    if isinstance(child, tuple):
        at = int(rest) - 1
        return {**value, first: (*child[:at], new, *child[at + 1 :])}
    return {**value, first: {**child, rest: new}}


def _set_row(scenario: Scenario, path: Path, row: Any, name: str, value: Settable) -> Scenario:
    table = TABLE_OF[path.root]
    field = numeric_fields(table).get(name)
    if field is None:
        raise unknown_path(str(path), scenario_paths(scenario))
    new: Any = value
    if field.is_numeric:
        new = _number(value, field.unit)
        check_range(field, new, str(value))
        if field.kind == "count":
            new = _whole(new)
    changed = _validated(row, {name: new})
    if isinstance(changed, Supply) and changed.committed_racks + changed.option_racks > changed.max_racks:
        message = "committed and optional racks together would be more than can be delivered"
        raise CellError("E021", message)
    rows = getattr(scenario, path.root)
    if isinstance(rows, dict):
        return _replace_in(scenario, path.root, row.name, changed)
    return scenario.model_copy(update={path.root: tuple(changed if each is row else each for each in rows)})


def _whole(number: float) -> int:
    if number != int(number):
        raise CellError("E013", "it must be a whole number")
    return int(number)


def _replace_in(scenario: Scenario, attribute: str, name: str, value: object) -> Scenario:
    return scenario.model_copy(update={attribute: {**getattr(scenario, attribute), name: value}})


def _validated(holder: Any, update: dict[str, object]) -> Any:
    values = {name: getattr(holder, name) for name in type(holder).model_fields}
    return type(holder).model_validate({**values, **update})


def _with_figure(scenario: Scenario, path: str, value: Any) -> Scenario:
    """Let the figure at the path say the new value; its evidence stays beside it."""
    figure: Figure | None = scenario.figures.get(path)
    if figure is None or isinstance(value, (tuple, dict)):
        return scenario
    new = value if isinstance(value, str) else str(value) if isinstance(value, Quarter) else float(value)
    return scenario.model_copy(
        update={"figures": {**scenario.figures, path: dataclasses.replace(figure, value=new)}}
    )


def content_hash(scenario: Scenario) -> str:
    """Return a SHA-256 over everything that a plan depends on.

    Folder, file names, the order of rows, sources and notes do not change it; any value does.
    """
    text = json.dumps(_content(scenario), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _content(value: Any) -> Any:
    """Turn typed content into plain JSON values; evidence and places are no content."""
    if isinstance(value, BaseModel):
        own_name = {"name"} if isinstance(value, Scenario) else set()
        names = [name for name in type(value).model_fields if name not in _NOT_CONTENT | own_name]
        return {name: _content(getattr(value, name)) for name in names}
    if isinstance(value, Horizon):
        return [str(value.start), *value.lengths]
    if isinstance(value, dict):
        return {str(key): _content(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_content(child) for child in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)  # 6 and 6.0 say the same
    return value if isinstance(value, (bool, str, type(None))) else str(value)
