"""What differs between two scenarios, by the natural key of each row, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fleetplan.plan.manifest import canonical, content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fleetplan.inputs.scenario import Scenario

_KEYS: dict[str, tuple[str, ...]] = {
    "power": ("hall", "quarter"),
    "fleet": ("name", "site", "hall", "accelerator", "commissioned"),
    "supply": ("accelerator", "delivery"),
    "demand": ("workload", "quarter"),
    "rentals": ("name", "accelerator"),
    "roles": ("name", "accelerator"),
    "upgrades": ("from_accelerator", "to_accelerator"),
    "measured": ("workload", "accelerator", "devices", "local_batch", "cap_w"),
}


@dataclass(frozen=True)
class InputChange:
    """One value that differs; ``None`` where a side does not have it."""

    path: str
    before: object
    after: object

    @property
    def ratio(self) -> float | None:
        """After over before, where both are numbers other than zero."""
        if _is_number(self.before) and _is_number(self.after) and self.before:
            return float(self.after) / float(self.before)  # type: ignore[arg-type]
        return None

    def __str__(self) -> str:
        """``supply[new,2027Q1].max_racks: 20 -> 30 (+50 %)``."""
        ratio = self.ratio
        moved = "" if ratio is None or ratio <= 0 else f" ({(ratio - 1) * 100:+.3g} %)"
        return f"{self.path}: {_show(self.before)} -> {_show(self.after)}{moved}"


def input_changes(before: Scenario, after: Scenario) -> list[InputChange]:
    """Every deciding value that differs, sorted by path; words, sources and row order do not count."""
    one, two = dict(_leaves(before)), dict(_leaves(after))
    return [
        InputChange(path, one.get(path), two.get(path))
        for path in sorted(one.keys() | two.keys())
        if one.get(path, _Absent) != two.get(path, _Absent)
    ]


class _Absent:
    """Stands for a value that is not there at all."""


def _leaves(scenario: Scenario) -> Iterator[tuple[str, object]]:
    for name, value in content(scenario).items():
        if name in _KEYS:
            for row in value:
                key = ",".join(str(_plain(row[part])) for part in _KEYS[name])
                yield from _walk(f"{name}[{key}]", {k: v for k, v in row.items() if k not in _KEYS[name]})
                yield f"{name}[{key}]", "row"
        else:
            yield from _walk(name, value)


def _walk(path: str, value: Any) -> Iterator[tuple[str, object]]:
    value = _plain(value)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(f"{path}.{key}", item)
    elif isinstance(value, list):
        yield path, canonical(value)
    else:
        yield path, value


def _plain(value: Any) -> Any:
    """Write a quarter in its usual form; leave anything else as it is."""
    if isinstance(value, dict) and set(value) == {"year", "number"}:
        return f"{value['year']}Q{value['number']}"
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _show(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
