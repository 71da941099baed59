"""``fleetplan pareto``: cost against carbon, work and megawatts."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.studies import folder_of, study_options, tell, workshop_for, write_page
from fleetplan.cli.ui import changes_option, mode_options, progress_for, shows_examples

OBJECTIVES = ("carbon", "work", "peak")


@click.command(name="pareto")
@click.argument("scenario")
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    type=click.Choice(OBJECTIVES),
    default=("carbon",),
    show_default=True,
    help="Beside cost; may be repeated.",
)
@click.option(
    "--points", default=8, show_default=True, type=click.IntRange(min=2), help="Limits per objective."
)
@study_options
@changes_option
@mode_options
@shows_examples(
    "fleetplan pareto small-2026 --points 6 -o reports/front",
    "fleetplan pareto small-2026 --objective carbon --objective peak --points 4",
)
def command(
    scenario: str,
    *,
    objectives: tuple[str, ...],
    points: int,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Trade the cost of SCENARIO's plan against carbon, unserved work and peak megawatts.

    Every point is an audited plan in a folder of its own, and no point is worse than another in all.
    """
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies import charts
    from fleetplan.studies.pareto import pareto

    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    folder = folder_of(output, scenario, "pareto")
    made = pareto(workshop_for(base, gap), objectives, points=points, progress=progress)
    made.save(folder)
    frame = made.frame()
    title = f"Cost and {', '.join(objectives)} of {base.title}"
    write_page(folder, title, made.lines(), {"The front": charts.front(frame)}, {"Plans": frame})
    tell(made.lines(), frame, folder, as_json=as_json)
