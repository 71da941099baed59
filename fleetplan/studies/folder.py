"""A study's folder: what was asked, one folder for each finished case, one table of results.

Layout::

    study.json           what was asked: base, settings, versions
    cases/<hash>/        the plan of a case, whole or not at all, with outcome.json beside its tables;
                         outcome.json alone where a case has no plan
    results.csv          one row per case; the same whoever computed it, in whatever order
    values.csv           what each case changed
    times.csv            seconds by case and phase

A case is found again by the hash of all that its plan depends on, so that a study that was killed
goes on where it stopped, and a changed base, setting or version starts afresh.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fleetplan.errors import SolverError, UsageError

if TYPE_CHECKING:
    from fleetplan.api import Settings
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.studies.cases import Case
    from fleetplan.studies.run import Ran

OUTCOME = "outcome.json"
STUDY = "study.json"


class StudyFolder:
    """Finished cases of one study on disk."""

    def __init__(self, root: str | Path, base: Scenario, settings: Settings) -> None:
        """Make the folder, or go on with one that a study of the same kind has left."""
        from fleetplan.inputs.values import content_hash
        from fleetplan.plan.manifest import versions

        self.root = Path(root).expanduser().absolute()
        if self.root.is_dir() and any(self.root.iterdir()) and not (self.root / STUDY).is_file():
            message = f"{self.root} holds files that are no study; name a new folder"
            raise UsageError(message)
        asked = {"base_sha256": content_hash(base), "settings": _asked(settings), "versions": versions()}
        self._hash = hashlib.sha256(_json(asked).encode())
        try:
            (self.root / "cases").mkdir(parents=True, exist_ok=True)
            self._remove_leftovers()
            write_whole(self.root / STUDY, json.dumps(asked, indent=1, sort_keys=True) + "\n")
        except OSError as cause:
            message = f"cannot write the study to {self.root}: {cause.strerror or cause}"
            raise SolverError(message) from cause

    def key(self, case: Case) -> str:
        """Hash of all that the case's plan depends on."""
        own = self._hash.copy()
        own.update(_json([sorted(case.values.items()), bool(case.quantiles)]).encode())
        return own.hexdigest()[:16]

    def place(self, case: Case) -> Path:
        """Folder of the case's plan."""
        return self.root / "cases" / self.key(case)

    def done(self, case: Case) -> dict[str, Any] | None:
        """The record of a finished case; ``None`` where it is still to be computed."""
        path = self.place(case) / OUTCOME
        if not path.is_file():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record | {"name": case.name}

    def keep(self, ran: Ran) -> dict[str, Any]:
        """Store a finished case, whole or not at all, and return its record."""
        from fleetplan.plan.store import write_plan

        record, place = ran.record(), self.place(ran.case)
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        if ran.plan is not None:
            write_plan(ran.plan, place, also=lambda folder: _write(folder / OUTCOME, text))
            return record
        partial = place.with_name(f".{place.name}.partial-{os.getpid()}-{uuid4().hex[:8]}")
        partial.mkdir()
        _write(partial / OUTCOME, text)
        partial.rename(place)
        return record

    def plan(self, case: Case) -> Plan:
        """The stored plan of a case; ``UsageError`` where it has none."""
        from fleetplan.plan.store import read_plan

        return read_plan(self.place(case))

    def _remove_leftovers(self) -> None:
        """Remove what killed runs left half written; a study has one writer."""
        for leftover in (self.root / "cases").glob(".*.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}-{uuid4().hex[:8]}")
    _write(partial, text)
    partial.replace(path)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _asked(settings: Settings) -> dict[str, Any]:
    return {**settings.record(), "seed": settings.seed, "threads": settings.threads}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
