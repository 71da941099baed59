"""``fleetplan diagnose``: why no plan is possible, and what would mend it."""

from __future__ import annotations

import click

from fleetplan.cli.ui import changes_option, mode_options, print_json, progress_for, shows_examples
from fleetplan.errors import InfeasibleError


@click.command(name="diagnose")
@click.argument("scenario")
@changes_option
@mode_options
@shows_examples(
    "fleetplan diagnose plans/mine",
    "fleetplan diagnose public-2026 --set rules.site_dates=slip",
)
def command(scenario: str, *, changes: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """Say why SCENARIO has no plan: site, quarter, rule, file and line, and the smallest mends.

    Only budgets, commitments and demand may give way; physics does not. Each mend is confirmed by a
    solve. Exit 4 if no plan is possible, 0 if one is.
    """
    from dataclasses import asdict

    from fleetplan.cli.scenarios import load_changed
    from fleetplan.explain import diagnose
    from fleetplan.performance import performance_table

    loaded = load_changed(scenario, changes, progress_for(quiet=quiet, as_json=as_json))
    found = diagnose(loaded, performance_table(loaded))
    if as_json:
        print_json(asdict(found))
    else:
        for line in found.lines():
            click.echo(line)
    return 0 if found.feasible else InfeasibleError.exit_code
