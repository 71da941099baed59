"""The public measurements that the step model is held against, one per row, with their evidence."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from fleetplan.errors import InputError
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.paths import data_dir
from fleetplan.inputs.rules import Place, fault
from fleetplan.units import parse_number

Evidence = Literal[
    "primary-log",
    "primary-paper",
    "primary-blog",
    "digitized",
    "repo-doc",
    "derived",
    "modelled",
    "secondary",
    "recall-unverified",
]
"""Recomputed from raw logs; stated in a paper or post; read from a figure; stated in a repository;
arithmetic on those; output of somebody's model; second hand; from memory (never a gate)."""
ADVISORY: frozenset[str] = frozenset({"modelled", "secondary", "recall-unverified"})
"""Evidence that may not fail a gate."""
COLUMNS = (
    "id", "model", "accelerator", "devices", "global_batch", "local_batch", "metric", "value", "unit",
    "evidence", "in_fit_set", "subject", "system", "setting", "source", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """One measured, counted or modelled quantity; ``None`` or empty where the row does not say."""

    id: str
    model: str
    """Name in ``models/``; empty for kernels and collectives."""
    accelerator: str
    """Name in the catalog; empty where the device is not in it."""
    devices: int
    global_batch: float | None
    local_batch: float | None
    metric: str
    value: float
    unit: str
    evidence: Evidence
    in_fit_set: bool
    """Whether the row may be used to fit constants; all others are held out."""
    subject: str
    system: str
    setting: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    note: str = ""

    @property
    def is_advisory(self) -> bool:
        """Whether a miss only informs."""
        return self.evidence in ADVISORY


def load_measurements(path: str | Path | None = None) -> tuple[Measurement, ...]:
    """Read a measurements CSV; without a path the project's own. ``InputError`` with every fault."""
    file = data_dir() / "measurements" / "public.csv" if path is None else Path(path)
    shown = "data/measurements/public.csv" if path is None else str(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            _check_header(reader.fieldnames or [], shown)
            return _read_all(reader, shown)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(fault("E001", Place(shown), f"the file cannot be read: {error}")) from error


def _check_header(header: Any, shown: str) -> None:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InputError(fault("E004", Place(shown, 1), f"columns {', '.join(missing)} are missing"))


def _read_all(reader: csv.DictReader[str], shown: str) -> tuple[Measurement, ...]:
    rows: list[Measurement] = []
    faults = []
    for row in reader:
        try:
            rows.append(_measurement(row))
        except ValueError as error:
            faults.append(
                fault("E009", Place(shown, reader.line_num, None, row["id"] or "id"), str(error), "")
            )
    if faults:
        raise InputError(faults)
    return tuple(rows)


def _measurement(row: dict[str, str]) -> Measurement:
    words: tuple[Evidence, ...] = get_args(Evidence)
    evidence = next((word for word in words if word == row["evidence"]), None)
    if evidence is None:
        message = f"evidence {row['evidence']!r} is not known; {did_you_mean(row['evidence'], words)}"
        raise ValueError(message)
    return Measurement(
        id=row["id"],
        model=row["model"],
        accelerator=row["accelerator"],
        devices=int(parse_number(row["devices"])),
        global_batch=parse_number(row["global_batch"]) if row["global_batch"] else None,
        local_batch=parse_number(row["local_batch"]) if row["local_batch"] else None,
        metric=row["metric"],
        value=parse_number(row["value"]),
        unit=row["unit"],
        evidence=evidence,
        in_fit_set=row["in_fit_set"] == "yes",
        subject=row["subject"],
        system=row["system"],
        setting=json.loads(row["setting"]) if row["setting"] else {},
        source=row["source"],
        note=row["note"],
    )
