"""``fleetplan rolling``: the plan re-made every quarter while the world moves."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.studies import folder_of, one_case, study_options, tell, workshop_for, write_page
from fleetplan.cli.ui import changes_option, mode_options, progress_for, shows_examples


@click.command(name="rolling")
@click.argument("scenario")
@click.option(
    "--actual",
    "actuals",
    multiple=True,
    required=True,
    metavar="PATH=VALUE",
    help="What really happens: PATH=VALUE or PATH*=FACTOR; may be repeated.",
)
@click.option("--rounds", type=click.IntRange(min=1), help="Quarters in which to plan.  [default: all]")
@click.option(
    "--look-ahead", default=0, show_default=True, type=click.IntRange(min=0), help="Quarters known ahead."
)
@click.option(
    "--reveal",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Round from which changes without a quarter are known.",
)
@study_options
@changes_option
@mode_options
@shows_examples(
    "fleetplan rolling small-2026 --actual 'demand[*].samples_per_s*=1.3' --rounds 3 -o reports/rolling",
)
def command(
    scenario: str,
    *,
    actuals: tuple[str, ...],
    rounds: int | None,
    look_ahead: int,
    reveal: int,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Plan SCENARIO again every quarter, with orders frozen once placed, while other things come true.

    Says what not knowing cost, how many racks were re-planned, and how much work was served.
    """
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies import charts
    from fleetplan.studies.rolling import rolling

    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    folder = folder_of(output, scenario, "rolling")
    case = one_case(base, "actual", actuals)
    workshop = workshop_for(base, gap)
    made = rolling(workshop, case, rounds=rounds, look_ahead=look_ahead, reveal=reveal, progress=progress)
    if made.realised is not None:
        made.realised.save(folder / "plans" / "realised")
    made.foresight.save(folder / "plans" / "foresight")
    pictures = {"Expected cost by round": charts.rounds(made.frame())}
    write_page(folder, f"Rolling plan of {base.title}", made.lines(), pictures, {"Rounds": made.frame()})
    tell(made.lines(), made.frame(), folder, as_json=as_json)
