"""A plan's folder: written whole or not at all, never over an older plan, and read back.

Layout::

    manifest.json         what made the plan, and the hash of every other file
    orders.csv …          one file per table of fleetplan.plan.schema
    options.csv           the training options that the plan could use
    audit.csv             the checks that were made
    datadictionary.csv    table, column, type, unit, meaning
    inputs/scenario.json  the scenario as it was used, for a replay
    inputs/files/…        the planner's own files as they were read
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic import ValidationError

from fleetplan.errors import InputError, SolverError, UsageError
from fleetplan.performance.table import OPTIONS
from fleetplan.plan.audit_report import AUDIT, AuditReport
from fleetplan.plan.csvs import read_csv, write_csv
from fleetplan.plan.manifest import FORMAT, Manifest
from fleetplan.plan.schema import TABLES
from fleetplan.tables import TableSpec, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan

MANIFEST = "manifest.json"
SCENARIO = Path("inputs") / "scenario.json"
DICTIONARY = TableSpec(
    "datadictionary",
    "what each column of each table means",
    (
        text("table", "table name"),
        text("column", "column name"),
        text("type", "text, int, float or bool"),
        text("unit", "unit of the values; empty for names"),
        text("key", "yes where the column identifies a row"),
        text("meaning", "what the column holds"),
    ),
)


def write_plan(
    plan: Plan, folder: str | Path, *, replace: bool = False, also: Callable[[Path], None] | None = None
) -> Path:
    """Write a plan into a new folder, whole or not at all, and return the folder.

    ``also`` may add files (a report) before the folder appears under its name. An existing folder
    that holds anything is refused with ``UsageError``; with ``replace`` it is kept beside the new
    one as ``<folder>.1``, ``.2`` … A disk that is full or read-only raises ``SolverError``.
    """
    target = Path(folder).expanduser().absolute()
    _refuse_what_is_there(target, replace=replace)
    partial = target.with_name(
        f".{target.name}.partial-{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        partial.mkdir()
        _fill(plan, partial, also)
        _sync(partial)
        _move_aside(target)
        partial.rename(target)
        _sync_folder(target.parent)
    except OSError as cause:
        what = f"cannot write the plan to {target}: {cause.strerror or cause}"
        raise SolverError(what) from cause
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def read_plan(folder: str | Path, *, verify: bool = True) -> Plan:
    """Read a stored plan; ``verify`` checks every file against the hash in its manifest.

    Raises ``UsageError`` where there is no plan, ``InputError`` where a file is missing, changed or
    not of the expected form.
    """
    from fleetplan.plan.plan import Plan

    root = Path(folder).expanduser()
    if not (root / MANIFEST).is_file():
        message = f"{root} holds no plan (no {MANIFEST})"
        raise UsageError(message)
    manifest = _read_manifest(root / MANIFEST)
    if verify:
        _verify(root, manifest)
    return Plan(
        tables={spec.name: _read_table(spec, root, manifest) for spec in TABLES},
        options=read_csv(OPTIONS, root / f"{OPTIONS.name}.csv"),
        scenario=_read_scenario(root / SCENARIO),
        manifest=manifest,
        audit=AuditReport.from_frame(read_csv(AUDIT, root / f"{AUDIT.name}.csv")),
        folder=root,
    )


def _read_table(spec: TableSpec, root: Path, manifest: Manifest) -> pd.DataFrame:
    """A stored table; empty in a plan that was made before there was such a table."""
    path = root / f"{spec.name}.csv"
    if manifest.files_sha256 and path.name not in manifest.files_sha256 and not path.exists():
        return spec.frame(())
    return read_csv(spec, path)


def dictionary() -> pd.DataFrame:
    """Return the data dictionary: one row per column of every table of a plan."""
    return DICTIONARY.frame(
        (spec.name, c.name, c.type, c.unit, "yes" if c.key else "no", c.meaning)
        for spec in (*TABLES, OPTIONS, AUDIT)
        for c in spec.columns
    )


def _fill(plan: Plan, root: Path, also: Callable[[Path], None] | None) -> None:
    for spec in TABLES:
        write_csv(plan.tables[spec.name], spec, root / f"{spec.name}.csv")
    write_csv(plan.options, OPTIONS, root / f"{OPTIONS.name}.csv")
    write_csv(plan.audit.frame(), AUDIT, root / f"{AUDIT.name}.csv")
    write_csv(dictionary(), DICTIONARY, root / f"{DICTIONARY.name}.csv")
    (root / SCENARIO).parent.mkdir()
    (root / SCENARIO).write_text(
        _placeless(plan.scenario).model_dump_json(indent=1, warnings=False) + "\n", encoding="utf-8"
    )
    _copy_inputs(plan.scenario, root / "inputs" / "files")
    if also is not None:
        also(root)
    hashes = {_name(root, path): _hash(path) for path in _files(root)}
    manifest = plan.manifest.model_copy(update={"files_sha256": hashes})
    (root / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")


def _placeless(scenario: Scenario) -> Scenario:
    """Leave out the folder that the scenario was read from, unless an earlier plan is found from there."""
    if scenario.rules.previous_plan is not None:
        return scenario
    return scenario.model_copy(update={"folder": Path(scenario.folder).name})


def _copy_inputs(scenario: Scenario, into: Path) -> None:
    """Copy the planner's files that still are what was read; others are told apart by their hash."""
    base = Path(scenario.folder)
    for name, digest in scenario.hashes.items():
        source = base / name if (base / name).is_file() else Path(name)
        if (
            not source.is_file()
            or _hash(source) != digest
            or not source.resolve().is_relative_to(base.resolve())
        ):
            continue
        copy = into / source.resolve().relative_to(base.resolve())
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def _refuse_what_is_there(target: Path, *, replace: bool) -> None:
    if target.exists() and not target.is_dir():
        message = f"{target} is a file; name a folder for the plan"
        raise UsageError(message)
    if target.is_dir() and any(target.iterdir()) and not replace:
        message = f"{target} already holds files; name a new folder: a plan is never written over another"
        raise UsageError(message)


def _move_aside(target: Path) -> None:
    if not target.is_dir() or not any(target.iterdir()):
        return
    number = 1
    while target.with_name(f"{target.name}.{number}").exists():
        number += 1
    target.rename(target.with_name(f"{target.name}.{number}"))


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs on this machine left beside the target, whatever their plan's name."""
    for leftover in target.parent.glob(f".*.partial-{socket.gethostname()}-*"):
        pid = leftover.name.rsplit("-", 2)[-2]
        if pid.isdecimal() and not _is_alive(int(pid)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 is Ctrl-C there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _verify(root: Path, manifest: Manifest) -> None:
    for name, digest in manifest.files_sha256.items():
        path = root / name
        if not path.is_file():
            raise InputError.at(path, "E904", "is missing from the plan", "restore it or make the plan again")
        if _hash(path) != digest:
            raise InputError.at(
                path, "E905", "was changed after the plan was made", "work on a copy elsewhere"
            )


def _read_manifest(path: Path) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as cause:
        raise InputError.at(
            path, "E906", "is not a manifest of this version", "make the plan again"
        ) from cause
    if manifest.format != FORMAT:
        what = f"has plan format {manifest.format}, this fleetplan reads {FORMAT}"
        raise InputError.at(path, "E906", what, "read it with the version it names, or make the plan again")
    return manifest


def _read_scenario(path: Path) -> Scenario:
    from fleetplan.inputs.scenario import Scenario

    try:
        scenario = Scenario.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as cause:
        raise InputError.at(path, "E907", "cannot be read as a scenario", "make the plan again") from cause
    if Path(scenario.folder).is_absolute():
        return scenario
    return scenario.model_copy(update={"folder": str(path.parent / "files")})


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and path.name != MANIFEST)


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sync(root: Path) -> None:
    """Bring every file and folder to the disk, so that the rename cannot outrun the content."""
    for path in root.rglob("*"):
        if path.is_dir():
            _sync_folder(path)
        else:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    _sync_folder(root)


def _sync_folder(path: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
