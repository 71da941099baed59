"""``fleetplan compare``: what changed between two plans, and why."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import mode_options, print_json, shows_examples


@click.command(name="compare")
@click.argument("before", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("after", type=click.Path(path_type=Path, exists=True, file_okay=False))
@mode_options
@shows_examples("fleetplan compare reports/base reports/slip")
def command(before: Path, after: Path, *, as_json: bool, quiet: bool) -> None:
    """Say what changed from plan BEFORE to plan AFTER: inputs, orders, power, work and money.

    Splits the change in decisions into what the data forces, what is a tie and what is real.
    """
    from dataclasses import asdict

    from fleetplan.explain.compare import compare
    from fleetplan.explain.held import hold_decisions
    from fleetplan.plan.plan import Plan

    found = compare(Plan.load(before), Plan.load(after), hold_decisions)
    if as_json:
        print_json(asdict(found))
    else:
        for line in found.lines()[:1] if quiet else found.lines():
            click.echo(line)
