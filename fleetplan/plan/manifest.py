"""How a plan came about: inputs, versions, options, proof, times. Enough to make it again.

The manifest is JSON with a stable key order. Money is M USD, times are seconds.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario

FORMAT = 1
"""Version of the layout of a plan folder."""
PACKAGES = ("fleetplan", "highspy", "numpy", "pandas", "pydantic", "pyomo")
_ROW_TABLES = ("power", "fleet", "supply", "demand", "rentals", "roles", "upgrades", "measured")
_WORDS = frozenset({"origin", "source", "note", "date", "title", "figures", "hashes", "folder", "status"})


@dataclass(frozen=True)
class SolveFacts:
    """What the solver did, in plain values; ``bound_musd`` is ``None`` where nothing was proven."""

    status: str
    objective_musd: float
    bound_musd: float | None
    options: Mapping[str, Any] = field(default_factory=dict)
    timings_s: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0
    columns: int = 0
    integers: int = 0
    nodes: int = 0
    seed: int = 0
    threads: int = 1
    stopped_by_clock: bool = False
    """Whether a wall-clock limit or the user ended the solve."""
    notes: tuple[str, ...] = ()
    """What the solve has to say, like what shortfall was held at before cost."""


class Manifest(BaseModel):
    """The record of one plan; ``gap`` is a share of the objective, ``gap_of_spend`` of the gross spend."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    scenario: str
    title: str
    created_at: str
    status: str
    objective_musd: float
    bound_musd: float | None
    gap_musd: float | None
    gap: float | None
    gap_of_spend: float | None
    gross_spend_musd: float
    """Sum of all positive ledger rows, discounted."""
    reproducible: bool
    reproducible_note: str
    versions: dict[str, str]
    python: str
    platform: str
    inputs_sha256: dict[str, str]
    content_sha256: str
    options_sha256: str
    solver: dict[str, Any]
    seed: int
    threads: int
    rows: int
    columns: int
    integers: int
    nodes: int
    timings_s: dict[str, float]
    horizon_start: str
    horizon_lengths_quarters: tuple[int, ...]
    notes: tuple[str, ...] = ()
    """What the solve has to say, like what shortfall was held at before cost."""
    audit_checks: int = 0
    audit_identities: int = 0
    files_sha256: dict[str, str] = {}
    """Hash of every other file of the plan's folder, filled in when it is stored."""

    def to_json(self) -> str:
        """Indented JSON with sorted keys and a final newline."""
        return json.dumps(self.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def make_manifest(
    scenario: Scenario, options: pd.DataFrame, ledger: pd.DataFrame, facts: SolveFacts
) -> Manifest:
    """Record a plan: hashes of what went in, what the solver proved, and on what it ran."""
    import platform
    from datetime import UTC, datetime

    from fleetplan.inputs.values import content_hash

    spend = float(ledger.loc[ledger["npv_musd"] > 0, "npv_musd"].sum())
    gap_musd = None if facts.bound_musd is None else max(0.0, facts.objective_musd - facts.bound_musd)
    return Manifest(
        scenario=scenario.name,
        title=scenario.title,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        status=facts.status,
        objective_musd=facts.objective_musd,
        bound_musd=facts.bound_musd,
        gap_musd=gap_musd,
        gap=_share(gap_musd, abs(facts.objective_musd)),
        gap_of_spend=_share(gap_musd, spend),
        gross_spend_musd=spend,
        reproducible=not facts.stopped_by_clock,
        reproducible_note=_reproducible_note(facts),
        versions=versions(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        inputs_sha256=dict(sorted(scenario.hashes.items())),
        content_sha256=content_hash(scenario),
        options_sha256=frame_hash(options),
        solver=dict(facts.options),
        seed=facts.seed,
        threads=facts.threads,
        rows=facts.rows,
        columns=facts.columns,
        integers=facts.integers,
        nodes=facts.nodes,
        timings_s={name: round(seconds, 3) for name, seconds in facts.timings_s.items()},
        notes=facts.notes,
        horizon_start=str(scenario.horizon.start),
        horizon_lengths_quarters=scenario.horizon.lengths,
    )


def versions() -> dict[str, str]:
    """Installed version of every package that can change a plan; ``absent`` where it is missing."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def content(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario's deciding values as plain data, tables in a fixed order."""
    plain = {
        key: _strip(value)
        for key, value in scenario.model_dump(mode="json", warnings=False).items()
        if key not in _WORDS
    }
    plain.pop("name", None)
    for table in _ROW_TABLES:
        plain[table] = sorted(plain.get(table) or [], key=canonical)
    return plain


def canonical(value: object) -> str:
    """JSON with sorted keys and no blanks: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def frame_hash(frame: pd.DataFrame) -> str:
    """SHA-256 of a table's content as CSV, whatever the order of its rows."""
    head, *lines = frame.to_csv(index=False, lineterminator="\n").splitlines()
    return hashlib.sha256("\n".join([head, *sorted(lines)]).encode()).hexdigest()


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strip(item) for key, item in value.items() if key not in _WORDS}
    return [_strip(item) for item in value] if isinstance(value, list) else value


def _share(part: float | None, whole: float) -> float | None:
    return None if part is None or whole == 0 else part / whole


def _reproducible_note(facts: SolveFacts) -> str:
    if facts.stopped_by_clock:
        return "a wall-clock limit or an interruption ended the solve: a second run may stop at another plan"
    if facts.threads != 1:
        return f"{facts.threads} threads: the same result is likely, not certain"
    return "same inputs, versions and options give the same plan"
