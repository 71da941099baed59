"""``fleetplan migrate``: bring an older scenario to today's form."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import shows_examples


@click.command(name="migrate")
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("target", type=click.Path(path_type=Path))
@shows_examples("fleetplan migrate plans/old plans/new")
def command(source: Path, target: Path) -> int:
    """Write the scenario in SOURCE, of an older version, to the new folder TARGET and check it.

    Names everything that has no place any more; nothing is dropped in silence.
    """
    from fleetplan.inputs.migrate import migrate

    report = migrate(source, target)
    for item in report.dropped:
        click.echo(f"left out  {item}")
    if report.moved_to_evidence:
        click.echo(f"{report.moved_to_evidence} figures that drive nothing are kept as evidence")
    for fault in report.faults:
        click.echo(str(fault))
    click.echo(f"{report.path} is written; `fleetplan check {report.path}` shows the same faults again")
    return 3 if any(fault.severity == "error" for fault in report.faults) else 0
