"""Write a plan's report in the formats that are asked for; each file whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fleetplan.errors import MissingExtraError, SolverError, UsageError
from fleetplan.plan.csvs import write_csv
from fleetplan.plan.plan import Plan
from fleetplan.plan.store import read_plan
from fleetplan.report.contents import Contents, contents
from fleetplan.report.markdown import report_markdown
from fleetplan.report.page import page
from fleetplan.report.pdf import print_pdf
from fleetplan.report.sheets import write_workbook

if TYPE_CHECKING:
    from fleetplan.explain.explanation import Explanation


def write_report(
    plan: Plan | str | Path,
    formats: Iterable[str],
    out: str | Path,
    *,
    explanation: Explanation | None = None,
) -> list[Path]:
    """Write ``report.html``, ``.xlsx``, ``.md``, ``.pdf``, ``csv/`` or ``parquet/`` into a folder.

    ``plan`` is a plan or the folder of a stored one; nothing is solved.
    Returns the paths written, in the order of ``formats``. Existing reports in the folder are replaced,
    but never a file that belongs to a stored plan. Raises ``UsageError`` for an unknown format or such a
    file, ``MissingExtraError`` for Parquet without pyarrow, ``SolverError`` where the disk or the
    browser fails.
    """
    folder, wanted = Path(out).expanduser(), list(dict.fromkeys(formats))
    unknown = [name for name in wanted if name not in WRITERS]
    if unknown or not wanted:
        message = (
            f"unknown format {', '.join(unknown) or '(none)'}; write one or more of {', '.join(WRITERS)}"
        )
        raise UsageError(message)
    stored = plan if isinstance(plan, Plan) else read_plan(plan)
    made = contents(stored, explanation)
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".report-", dir=folder) as scratch:
            for name in wanted:
                WRITERS[name](made, Path(scratch))
            written = [_move(stored, path, folder / path.name) for path in _in_order(Path(scratch), wanted)]
    except OSError as cause:
        message = f"cannot write the report to {folder}: {cause.strerror or cause}"
        raise SolverError(message) from cause
    return written


def _html(made: Contents, folder: Path) -> None:
    (folder / "report.html").write_text(page(made), encoding="utf-8")


def _csv(made: Contents, folder: Path) -> None:
    (folder / "csv").mkdir()
    for table in (*made.tables, made.dictionary()):
        write_csv(table.frame, table.spec, folder / "csv" / f"{table.name}.csv")


def _xlsx(made: Contents, folder: Path) -> None:
    write_workbook(made, folder / "report.xlsx")


def _parquet(made: Contents, folder: Path) -> None:
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet", "parquet")
    (folder / "parquet").mkdir()
    for table in (*made.tables, made.dictionary()):
        table.spec.frame(table.frame).to_parquet(folder / "parquet" / f"{table.name}.parquet", index=False)


def _md(made: Contents, folder: Path) -> None:
    (folder / "report.md").write_text(report_markdown(made.source), encoding="utf-8")


def _pdf(made: Contents, folder: Path) -> None:
    with TemporaryDirectory() as scratch:
        source = Path(scratch) / "report.html"
        source.write_text(page(made, for_print=True), encoding="utf-8")
        print_pdf(source, folder / "report.pdf")


WRITERS: Mapping[str, Callable[[Contents, Path], None]] = {
    "html": _html,
    "csv": _csv,
    "xlsx": _xlsx,
    "parquet": _parquet,
    "md": _md,
    "pdf": _pdf,
}
"""The formats by name."""


def _in_order(scratch: Path, wanted: list[str]) -> Iterator[Path]:
    for name in wanted:
        yield scratch / (name if name in ("csv", "parquet") else f"report.{name}")


def _move(plan: Plan, path: Path, target: Path) -> Path:
    """Put a finished file (or the files of a finished folder) into its place."""
    if path.is_dir():
        target.mkdir(exist_ok=True)
        for file in sorted(path.iterdir()):
            file.replace(target / file.name)
        return target
    if _is_kept(plan, target):
        if sha256(path.read_bytes()).hexdigest() == plan.manifest.files_sha256[target.name]:
            return target
        message = f"{target} is part of the stored plan and would change; name another folder for the report"
        raise UsageError(message)
    path.replace(target)
    return target


def _is_kept(plan: Plan, target: Path) -> bool:
    """Whether the file is one of those whose hash the stored plan's manifest holds."""
    if plan.folder is None or target.parent.absolute() != Path(plan.folder).absolute():
        return False
    return target.name in plan.manifest.files_sha256
