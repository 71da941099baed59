"""``fleetplan diagnose``: why no plan is possible, and what would mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import changes_option, mode_options, print_json, progress_for, shows_examples
from fleetplan.errors import InfeasibleError, LimitError

if TYPE_CHECKING:
    from collections.abc import Callable


@click.command(name="diagnose")
@click.argument("scenario")
@click.option(
    "--time-limit",
    default=180.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="After this no further solve begins; what is not finished is said.",
)
@changes_option
@mode_options
@shows_examples(
    "fleetplan diagnose plans/mine",
    "fleetplan diagnose public-2026 --set rules.site_dates=slip",
)
def command(scenario: str, *, time_limit: float, changes: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """Say why SCENARIO has no plan: site, quarter, rule, file and line, and the smallest mends.

    Only budgets, commitments and demand may give way; physics does not. Each mend is confirmed by a
    solve and printed as it is found. Exit 4 if no plan is possible, 0 if one is, 6 if the time was too
    short to say.
    """
    from dataclasses import asdict

    from fleetplan.cli.scenarios import load_changed
    from fleetplan.explain import diagnose
    from fleetplan.performance import performance_table

    loaded = load_changed(scenario, changes, progress_for(quiet=quiet, as_json=as_json))
    said: Callable[[str], None] = _nothing if as_json else click.echo
    found = diagnose(loaded, performance_table(loaded), time_s=time_limit, heard=said)
    if as_json:
        print_json(asdict(found))
    if found.feasible is None:
        return LimitError.exit_code
    return 0 if found.feasible else InfeasibleError.exit_code


def _nothing(line: str) -> None:
    """Say nothing: the JSON has it all."""
