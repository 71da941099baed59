"""The few calibrated constants of the step model: one data file, resolved per accelerator.

``data/performance/constants.csv`` holds every constant with its interval, evidence, source and the
measurement rows that fixed it. A *scope* says what a value is for: an accelerator (``h100``), a
vendor (``AMD``), an engine (``message-engine``), ``fabric:…``, ``stack:…``, ``family:…``, ``model:…``,
several joined with ``+``, or ``all``. The nearest scope wins: accelerator, then its analogues in order
(``analogues.csv``), then vendor, engine, and all; of equally near ones that with more conditions.
So hardware that nobody has measured takes the value of its nearest relative.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from fleetplan.errors import InputError, UsageError
from fleetplan.figures import STATUSES, Status
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.paths import data_dir

Fabric = Literal["infiniband", "ethernet", "efa"]
Stack = Literal["tuned", "production", "eager"]
"""Software: the best public code (graphs, fused kernels), a usual production trainer, a Python loop."""

_COLUMNS = ["constant", "scope", "value", "unit", "low", "high", "status", "source", "date", "rows", "note"]


@dataclass(frozen=True)
class Constant:
    """One value of one constant in one scope; ``rows`` names the measurements that fixed it."""

    name: str
    scope: str
    value: float
    unit: str
    low: float
    high: float
    status: Status
    source: str = ""
    date: str = ""
    rows: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """``name@scope``, as used to override it."""
        return f"{self.name}@{self.scope}"

    @property
    def is_fitted(self) -> bool:
        """Whether it was fitted to whole steps, not to a microbenchmark."""
        return self.note.startswith("FITTED")


@dataclass(frozen=True)
class Context:
    """What a constant is looked up for."""

    accelerator: str
    vendor: str
    engine: str
    fabric: Fabric = "infiniband"
    stack: Stack = "tuned"
    family: str = "dlrm"
    model: str = ""


class Constants:
    """All constants, with lookup by context. Immutable; :meth:`with_values` makes a changed copy."""

    def __init__(self, constants: Iterable[Constant], analogues: Mapping[str, str]) -> None:
        """Index ``constants`` by name; ``analogues`` maps an accelerator's stem to its nearest relative."""
        self.rows = tuple(constants)
        self.analogues = dict(analogues)
        self._by_name: dict[str, list[Constant]] = defaultdict(list)
        self._found: dict[tuple[str, Context], Constant | None] = {}
        for constant in self.rows:
            self._by_name[constant.name].append(constant)

    @property
    def names(self) -> list[str]:
        """Names in file order."""
        return list(self._by_name)

    def fitted(self) -> list[Constant]:
        """Constants fitted to whole steps."""
        return [row for row in self.rows if row.is_fitted]

    def lineage(self, accelerator: str) -> list[str]:
        """The accelerator, its stem, and its analogues, nearest first."""
        chain = [accelerator]
        stem = self._stem(accelerator)
        while stem and stem not in chain[1:]:
            chain.append(stem)
            stem = self.analogues.get(stem, "")
        return chain

    def find(self, name: str, context: Context) -> Constant | None:
        """The value for ``context``, or ``None`` where no scope fits."""
        key = (name, context)
        if key not in self._found:
            self._found[key] = self._search(name, context)
        return self._found[key]

    def _search(self, name: str, context: Context) -> Constant | None:
        chain = self.lineage(context.accelerator)
        fitting = [(_nearness(row.scope, context, chain), row) for row in self._by_name.get(name, ())]
        known = [(rank, row) for rank, row in fitting if rank is not None]
        return max(known, key=lambda pair: pair[0])[1] if known else None

    def get(self, name: str, context: Context) -> Constant:
        """As :meth:`find`; a constant that has no value is a fault of the data file."""
        found = self.find(name, context)
        if found is None:
            message = f"constant {name!r} has no value for {context.accelerator}; have {self.names}"
            raise UsageError(message)
        return found

    def with_values(self, values: Mapping[str, float]) -> Constants:
        """A copy with other values; keys are ``name@scope`` or a name (then for all scopes)."""
        unknown = [k for k in values if k not in self._by_name and k not in {r.key for r in self.rows}]
        if unknown:
            message = f"unknown constants {unknown}; known are {self.names}"
            raise UsageError(message)
        return Constants([_changed(row, values) for row in self.rows], self.analogues)

    def to_csv(self) -> str:
        """All values in the form that :func:`load_constants` reads."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(tuple(getattr(row, name) for name in ("name", *_COLUMNS[1:])) for row in self.rows)
        return text.getvalue()

    def _stem(self, accelerator: str) -> str:
        fitting = [s for s in self.analogues if accelerator == s or accelerator.startswith(s + "-")]
        return max(fitting, key=len, default="")


def _changed(row: Constant, values: Mapping[str, float]) -> Constant:
    value = values.get(row.key, values.get(row.name))
    if value is None:
        return row
    return replace(row, value=value, low=min(row.low, value), high=max(row.high, value))


def _nearness(scope: str, context: Context, chain: list[str]) -> tuple[int, int] | None:
    """(how near the hardware is, how many conditions hold); ``None`` where the scope does not fit."""
    near = 0
    parts = scope.split("+")
    conditions = {f"fabric:{context.fabric}", f"stack:{context.stack}", f"family:{context.family}"}
    conditions.add(f"model:{context.model}")
    for part in parts:
        if part in chain:
            near = 100 - chain.index(part)
        elif part == context.vendor:
            near = 2
        elif part == context.engine:
            near = 1
        elif part not in conditions and part != "all":
            return None
    return near, sum(part != "all" for part in parts)


@lru_cache(maxsize=4)
def load_constants(path: Path | None = None) -> Constants:
    """Read the constants file (the shipped one by default). Raises ``InputError`` with every fault."""
    file = path or data_dir() / "performance" / "constants.csv"
    rows = _read(file)
    faults = [f"line {n}: {fault}" for n, row in enumerate(rows, start=2) for fault in _faults(row)]
    keys = [(row["constant"], row["scope"]) for row in rows]
    faults += [
        f"{name} is stated twice for {scope}"
        for name, scope in sorted(set(keys))
        if keys.count((name, scope)) > 1
    ]
    if faults:
        raise InputError.at(file, "E701", "; ".join(faults), "value within low..high, one row per scope")
    links = {
        row["accelerator"]: row["analogue"] for row in _read(data_dir() / "performance" / "analogues.csv")
    }
    return Constants([_constant(row) for row in rows], links)


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def _faults(row: Mapping[str, str]) -> list[str]:
    absent = [column for column in _COLUMNS if row.get(column) is None]
    if absent:
        return [f"columns {absent} are missing"]
    try:
        low, value, high = (float(row[name]) for name in ("low", "value", "high"))
    except ValueError:
        return ["value, low and high must be numbers"]
    wrong = [] if low <= value <= high else [f"{value} is not within {low}..{high}"]
    return wrong + ([] if row["status"] in STATUSES else [f"status {row['status']!r} is none of {STATUSES}"])


def _constant(row: Mapping[str, str]) -> Constant:
    return Constant(
        row["constant"],
        row["scope"],
        float(row["value"]),
        row["unit"],
        float(row["low"]),
        float(row["high"]),
        cast("Status", row["status"]),
        row["source"],
        row["date"],
        row["rows"],
        row["note"],
    )


def context_of(
    accelerator: Accelerator,
    *,
    fabric: Fabric = "infiniband",
    stack: Stack = "tuned",
    family: str = "dlrm",
    model: str = "",
) -> Context:
    """The lookup context of an accelerator, for a model of a family on a fabric with a software stack."""
    engine = accelerator.collective_engine
    return Context(accelerator.name, accelerator.vendor, engine, fabric, stack, family, model)
