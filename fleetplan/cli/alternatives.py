"""``fleetplan alternatives``: plans that cost nearly the same and differ most."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.studies import folder_of, study_options, tell, workshop_for, write_page
from fleetplan.cli.ui import changes_option, mode_options, progress_for, shows_examples


@click.command(name="alternatives")
@click.argument("scenario")
@click.option(
    "--within",
    default=0.005,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Most that an alternative may cost above the best plan, as a share of its cost.",
)
@click.option(
    "--count", default=4, show_default=True, type=click.IntRange(min=1), help="Alternatives to look for."
)
@study_options
@changes_option
@mode_options
@shows_examples("fleetplan alternatives small-2026 --within 0.02 --count 3 -o reports/alternatives")
def command(
    scenario: str,
    *,
    within: float,
    count: int,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find plans of SCENARIO that cost at most a little more than the best and differ from it most.

    Each is audited, told in words, and as far as can be from all before it in ordered megawatts.
    """
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies import charts
    from fleetplan.studies.alternatives import alternatives

    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    folder = folder_of(output, scenario, "alternatives")
    made = alternatives(workshop_for(base, gap), tolerance=within, count=count, progress=progress)
    made.save(folder)
    tables = {f"plan {number}": one.plan.orders for number, one in enumerate(made.plans)}
    pictures = {"Racks ordered": charts.orders(tables)}
    write_page(folder, f"Alternatives of {base.title}", made.lines(), pictures, {"Plans": made.frame()})
    tell(made.lines(), made.frame(), folder, as_json=as_json)
