"""Which cases a study runs: every case is a set of changed inputs, known by their paths.

A path names one stated value of a scenario, like ``finance.discount_rate`` or
``supply[mtia-400,2027Q1].price_musd_per_rack``. Values that are one uncertainty in several rows
(a price path over the quarters) move together: they form a group and share one quantile.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from fleetplan.errors import UsageError

if TYPE_CHECKING:
    from fleetplan.figures import Figure

Value = float | str
_QUARTER_IN_PATH = re.compile(r",?\d{4}Q[1-4](?=[,\]])")
_RANGE = re.compile(r"(?P<low>[^.:]+(?:\.\d+)?)\.\.(?P<high>[^:]+):(?P<count>\d+)")


@dataclass(frozen=True)
class Case:
    """One set of changes to the base scenario. ``name`` is for people, :attr:`key` for the cache."""

    name: str
    values: Mapping[str, Value]
    quantiles: Mapping[str, float] = field(default_factory=dict)
    """Quantile of each group, where the case was sampled."""

    @property
    def key(self) -> str:
        """Hash of the changed values: equal changes are one case, whatever they are called."""
        text = json.dumps(sorted(self.values.items()), separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Vary:
    """One or more inputs and the values that they take together, in step."""

    pattern: str
    values: tuple[Value, ...]
    relative: bool = False
    """Whether values are factors on the base value."""


def parse_vary(text: str) -> Vary:
    """Read ``PATH=v1,v2``, ``PATH=lo..hi:count`` or ``PATH*=f1,f2`` (factors); PATH may hold ``*``.

    Raises ``UsageError`` with the right form.
    """
    relative = "*=" in text
    pattern, sign, body = text.partition("*=" if relative else "=")
    if not sign or not pattern or not body:
        message = f"{text!r} is not a variation; write PATH=1,2,3 or PATH=1..3:5 or PATH*=0.9,1.1"
        raise UsageError(message)
    return Vary(pattern.strip(), _values(body), relative)


def _values(body: str) -> tuple[Value, ...]:
    span = _RANGE.fullmatch(body.strip())
    if span is None:
        return tuple(_value(part) for part in body.split(","))
    low, high, count = float(span["low"]), float(span["high"]), int(span["count"])
    if count < 2:
        message = f"{body!r} asks for {count} value; a range needs two or more"
        raise UsageError(message)
    return tuple(low + (high - low) * step / (count - 1) for step in range(count))


def _value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """Paths that the pattern means, sorted; brackets stand for themselves. None is ``UsageError``."""
    from difflib import get_close_matches

    known = sorted(paths)
    found = [path for path in known if fnmatchcase(path, pattern.replace("[", "[[]"))]
    if not found:
        near = get_close_matches(pattern, known, n=3)
        hint = (
            f"; did you mean {', '.join(near)}?"
            if near
            else "; `fleetplan sweep SCENARIO --paths` lists them"
        )
        message = f"no input is called {pattern!r}{hint}"
        raise UsageError(message)
    return found


def grid(varies: Sequence[Vary], base: Mapping[str, Value]) -> list[Case]:
    """Every combination of the variations, the last one fastest."""
    return [_combined(choice, base) for choice in itertools.product(*map(_settings, varies))]


def one_at_a_time(varies: Sequence[Vary], base: Mapping[str, Value]) -> list[Case]:
    """Each value alone, all else at its base."""
    return [_combined((setting,), base) for vary in varies for setting in _settings(vary)]


def _settings(vary: Vary) -> list[tuple[Vary, Value]]:
    return [(vary, value) for value in vary.values]


def _combined(choice: Iterable[tuple[Vary, Value]], base: Mapping[str, Value]) -> Case:
    values: dict[str, Value] = {}
    names = []
    for vary, value in choice:
        for path in matching(vary.pattern, base):
            values[path] = _scaled(path, base[path], value) if vary.relative else value
        names.append(
            f"{vary.pattern}{'*' if vary.relative else ''}={value:g}"
            if isinstance(value, float)
            else f"{vary.pattern}={value}"
        )
    return Case(" ".join(names), values)


def _scaled(path: str, base: Value, factor: Value) -> float:
    if isinstance(base, str) or isinstance(factor, str):
        message = f"{path} is text; a factor does not apply"
        raise UsageError(message)
    return base * factor


def group_of(path: str, groups: Sequence[str] = ()) -> str:
    """The uncertainty that a path belongs to: a given pattern, else the path without its quarter."""
    for pattern in groups:
        if fnmatchcase(path, pattern.replace("[", "[[]")):
            return pattern
    return _QUARTER_IN_PATH.sub("", path).replace("[]", "")


def low_mid_high(figures: Mapping[str, Figure], groups: Sequence[str] = ()) -> list[Case]:
    """The base, then each open group at its low and at its high end: the cases of a tornado."""
    members = _grouped(figures, groups)
    cases = [Case("base", {})]
    for group, paths in members.items():
        for end, quantile in (("low", 0.0), ("high", 1.0)):
            values = {path: _quantile(figures[path], quantile) for path in paths}
            cases.append(Case(f"{group} {end}", values, {group: quantile}))
    return cases


def sample(
    figures: Mapping[str, Figure],
    count: int,
    *,
    seed: int = 0,
    latin_hypercube: bool = True,
    groups: Sequence[str] = (),
) -> list[Case]:
    """Draw cases over every open interval; each group has one quantile per case.

    An interval is a triangular law from ``low`` to ``high`` with its mode at the stated value. The
    Latin hypercube puts exactly one case into each ``1/count`` slice of every group.
    """
    import numpy as np

    members = _grouped(figures, groups)
    names = list(members)
    rng = np.random.default_rng(seed)
    if latin_hypercube:
        from scipy.stats import qmc

        draws = qmc.LatinHypercube(max(1, len(names)), rng=rng).random(count)
    else:
        draws = rng.random((count, max(1, len(names))))
    width = len(str(max(count - 1, 0)))
    cases = []
    for index, row in enumerate(draws.tolist()):
        quantiles = dict(zip(names, row, strict=False))
        values = {
            path: _quantile(figures[path], quantiles[g]) for g, paths in members.items() for path in paths
        }
        cases.append(Case(f"draw-{index:0{width}d}", values, quantiles))
    return cases


def _grouped(figures: Mapping[str, Figure], groups: Sequence[str]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for path in sorted(figures):
        if figures[path].is_open and isinstance(figures[path].value, (int, float)):
            members.setdefault(group_of(path, groups), []).append(path)
    return members


def _quantile(figure: Figure, quantile: float) -> float:
    """Quantile of the triangular law; its ends are ``low`` and ``high`` exactly."""
    low, high, mode = figure.low, figure.high, figure.value
    if low is None or high is None or not isinstance(mode, (int, float)):
        message = f"{figure.name} has no interval"
        raise UsageError(message)
    if quantile in {0.0, 1.0}:
        return low if quantile == 0.0 else high
    split = (mode - low) / (high - low)
    if quantile < split:
        return float(low + (quantile * (high - low) * (mode - low)) ** 0.5)
    return float(high - ((1 - quantile) * (high - low) * (high - mode)) ** 0.5)
