"""Start a scenario of one's own: a copy of a bundled one, as a folder or as a workbook."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fleetplan.errors import UsageError
from fleetplan.inputs.sources import YAML, find_scenario, renamed


def init_scenario(target: str | Path, source: str | Path = "public-2026", *, xlsx: bool = False) -> Path:
    """Copy a scenario to ``target`` (a new folder, or a new ``.xlsx`` file) and return the path.

    The copy is written whole or not at all. Raises ``UsageError`` if the target exists or cannot be
    written, ``InputError`` if there is no such source.
    """
    path = Path(target)
    if xlsx and path.suffix.lower() != ".xlsx":
        path = path.with_name(path.name + ".xlsx")
    if path.exists() or path.is_symlink():
        message = f"{path} exists already; nothing was written"
        raise UsageError(message)
    origin = find_scenario(source)
    if not xlsx and not origin.is_dir():
        message = f"{origin} is a workbook; it can be copied to a workbook only"
        raise UsageError(message)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fleetplan-", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            _draft(origin, draft, xlsx=xlsx)
            draft.rename(path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise UsageError(message) from None
    return path


def _draft(origin: Path, draft: Path, *, xlsx: bool) -> None:
    if xlsx:
        from fleetplan.inputs.workbook_writer import write_workbook

        write_workbook(origin, draft)
        return
    draft.mkdir()
    for path in sorted(origin.iterdir()):
        if path.is_file():
            shutil.copyfile(path, draft / path.name)
    header = draft / YAML
    header.write_text(renamed(header.read_text(encoding="utf-8-sig"), draft.name), encoding="utf-8")
