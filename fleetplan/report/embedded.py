"""A plan's CSV files inside the page: the same bytes as on disk, compressed, with their dictionary.

The page draws its charts and tables from these bytes and hands them out as downloads, so that what is
seen, what is downloaded and what is stored cannot differ.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fleetplan.performance.table import OPTIONS
from fleetplan.plan.csvs import write_csv
from fleetplan.plan.schema import ROLES, TABLES
from fleetplan.tables import TableSpec

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.report.source import ReportSource


@dataclass(frozen=True)
class Table:
    """A table to be shown: its columns and rows."""

    spec: TableSpec
    frame: pd.DataFrame

    @property
    def name(self) -> str:
        """Name of the table and of its file."""
        return self.spec.name


def plan_tables(source: ReportSource) -> Iterator[Table]:
    """Every table that a plan's folder holds as CSV, options included; roles where there are some."""
    for spec in (*TABLES, OPTIONS):
        frame = source.table(spec.name)
        if spec is not ROLES or len(frame):
            yield Table(spec, frame)


def csv_bytes(table: Table) -> bytes:
    """The table as the bytes that a plan's folder holds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{table.name}.csv"
        write_csv(table.frame, table.spec, path)
        return path.read_bytes()


def embedded(tables: Iterable[Table], *, packed: bool = True) -> dict[str, dict[str, Any]]:
    """Tables for the page: columns with type, unit and meaning, and the CSV compressed as base64.

    Without ``packed`` the CSV is plain text, which a page reads at once: a printer does not wait.
    """
    return {table.name: _entry(table, packed=packed) for table in tables}


def script_json(value: Any) -> Markup:
    """JSON that cannot end or open a script element, whatever the names in it."""
    safe = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        safe = safe.replace(character, f"\\u{ord(character):04x}")
    return Markup(safe)  # noqa: S704 - every character with a meaning in HTML is escaped above


def _entry(table: Table, *, packed: bool) -> dict[str, Any]:
    content = csv_bytes(table)
    small = base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode() if packed else None
    return {
        "meaning": table.spec.meaning,
        "rows": len(table.frame),
        "columns": [
            {"name": c.name, "type": c.type, "unit": c.unit, "meaning": c.meaning} for c in table.spec.columns
        ],
        **({"text": content.decode("utf-8")} if small is None else {"csv": small}),
    }
