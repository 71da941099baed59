"""Reports of a plan: one HTML page, a workbook, tables, a summary in Markdown, a PDF.

Everything is imported when it is called, so that importing this package costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleetplan.explain.explanation import Explanation
    from fleetplan.plan.plan import Plan

__all__ = ["report_html", "write_report"]


def report_html(plan: Plan, explanation: Explanation | None = None) -> str:
    """Write the whole report as one page; see :func:`fleetplan.report.page.report_html`."""
    from fleetplan.report.page import report_html as render

    return render(plan, explanation)


def write_report(
    plan: Plan | str | Path,
    formats: Iterable[str],
    out: str | Path,
    *,
    explanation: Explanation | None = None,
) -> list[Path]:
    """Write html, csv, xlsx, parquet, md or pdf; see :func:`fleetplan.report.write.write_report`."""
    from fleetplan.report.write import write_report as write

    return write(plan, formats, out, explanation=explanation)
