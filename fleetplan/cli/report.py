"""``fleetplan report``: a stored plan as a page, a workbook, tables, text or paper."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.optimize import FORMATS
from fleetplan.cli.ui import shows_examples


@click.command(name="report")
@click.argument("plan", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--format",
    "formats",
    default="html",
    show_default=True,
    metavar="LIST",
    help=f"Any of {', '.join(FORMATS)}, joined by commas.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder to write to.  [default: the plan's own]"
)
@shows_examples(
    "fleetplan report reports/mine --format xlsx,pdf",
    "fleetplan report reports/mine --format html -o /tmp/for-finance",
)
def command(plan: Path, *, formats: str, output: Path | None) -> None:
    """Write the reports of a stored PLAN again, without solving.

    html opens offline; xlsx has one sheet per table and live totals; pdf needs a headless Chromium.
    """
    from fleetplan.cli.scenarios import parse_formats
    from fleetplan.report import write_report

    target = output or plan
    target.mkdir(parents=True, exist_ok=True)
    for path in write_report(plan, parse_formats(formats, FORMATS), target):
        click.echo(str(path))
