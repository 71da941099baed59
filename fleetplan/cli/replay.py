"""``fleetplan replay``: is a stored plan what its inputs give today?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import mode_options, print_json, progress_for, shows_examples

if TYPE_CHECKING:
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress

DIFFERENT = 1
"""Exit code where the plan does not come out the same."""


@click.command(name="replay")
@click.argument("plan", type=click.Path(path_type=Path, exists=True, file_okay=False))
@mode_options
@shows_examples("fleetplan replay reports/mine")
def command(plan: Path, *, as_json: bool, quiet: bool) -> int:
    """Solve the stored PLAN again from its manifest and its copy of the inputs.

    Exit 0 if the same plan comes out, 1 if not; then it says why (versions, inputs, limits).
    """
    from fleetplan.explain.replay import replay
    from fleetplan.plan.plan import Plan

    progress = progress_for(quiet=quiet, as_json=as_json)
    found = replay(Plan.load(plan), lambda stored: solve_again(stored, progress))
    if as_json:
        print_json({"same": found.same, "reasons": list(found.reasons)})
    else:
        for line in found.lines():
            click.echo(line)
    return 0 if found.same else DIFFERENT


def solve_again(stored: Plan, progress: Progress) -> Plan:
    """Solve with the settings of the manifest; the step model runs again too."""
    from fleetplan.api import Settings, optimize

    settings = Settings.of_record(stored.manifest.solver, stored.manifest.seed, stored.manifest.threads)
    return optimize(
        stored.scenario,
        gap=settings.gap,
        time_limit_s=settings.time_limit_s,
        solver=settings.solver,
        solver_options=settings.solver_options,
        seed=settings.seed,
        threads=settings.threads,
        progress=progress,
    )
