"""``fleetplan init``: a scenario that runs, to start from."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import shows_examples


@click.command(name="init")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source",
    default="public-2026",
    show_default=True,
    help="Scenario to copy: a folder, a workbook or a bundled name.",
)
@click.option("--xlsx", is_flag=True, help="Write one workbook with drop-down lists instead of a folder.")
@shows_examples("fleetplan init plans/mine", "fleetplan init plans/mine.xlsx --xlsx")
def command(target: Path, *, source: str, xlsx: bool) -> None:
    """Write a scenario made from public figures to TARGET, ready to plan and to change."""
    from fleetplan.inputs.init import init_scenario

    path = init_scenario(target, source, xlsx=xlsx)
    click.echo(f"{path} is ready. Change it, then:")
    click.echo(f"  fleetplan check {path}\n  fleetplan optimize {path}")
