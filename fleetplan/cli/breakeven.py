"""``fleetplan breakeven``: how good something must be for a decision to turn."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.studies import folder_of, study_options, tell, workshop_for, write_page
from fleetplan.cli.ui import (
    changes_option,
    mode_options,
    print_frame,
    print_json,
    progress_for,
    shows_examples,
)
from fleetplan.errors import UsageError

MERITS = ("samples_per_s", "samples_per_s_per_kw", "samples_per_usd")


@click.command(name="breakeven")
@click.argument("scenario", required=False)
@click.option(
    "--path",
    metavar="PATH",
    help="Input to turn; also delay[HALL] (quarters), speed[ACCELERATOR], offload[ACCELERATOR] (0 to 1).",
)
@click.option("--low", type=float, help="Low end of the interval.  [default: the figure's own]")
@click.option("--high", type=float, help="High end of the interval.  [default: the figure's own]")
@click.option("--factor", is_flag=True, help="Values multiply what is there.")
@click.option("--decision", metavar="TEST", help="Like 'racks[gb300] > 0', 'share[mtia-300] >= 0.2'.")
@click.option(
    "--points", default=5, show_default=True, type=click.IntRange(min=2), help="Plans of the curve."
)
@click.option("--model", help="Compare one training step instead of plans: name of models/ or a YAML file.")
@click.option("--challenger", help="With --model: the accelerator that is to draw level.")
@click.option("--incumbent", help="With --model: the accelerator to be matched.")
@click.option("--devices", type=click.IntRange(min=1), help="With --model: devices of the job.")
@click.option(
    "--merit", type=click.Choice(MERITS), default=MERITS[1], show_default=True, help="With --model."
)
@study_options
@changes_option
@mode_options
@shows_examples(
    "fleetplan breakeven small-2026 --path 'supply[gb300,*].price_musd_per_rack' --factor --low 0.2 --high 8 "
    "--decision 'racks[gb300] > 216'",
    "fleetplan breakeven small-2026 --path 'speed[mtia-300]' --low 0.1 --high 2 --decision 'racks[mtia-300] > 0'",
    "fleetplan breakeven --model mtia300-dlrm-150b --challenger mtia-300 --incumbent gb300",
)
def command(
    scenario: str | None,
    *,
    path: str | None,
    low: float | None,
    high: float | None,
    factor: bool,
    decision: str | None,
    points: int,
    model: str | None,
    challenger: str | None,
    incumbent: str | None,
    devices: int | None,
    merit: str,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the value of an input at which a decision of SCENARIO's plan turns, by real plans.

    Bisection with two confirming plans at 1 % below and above. Says so where no value turns it.
    With --model: the same question on one training step, for every driver.
    """
    if model is not None:
        _on_a_step(model, challenger, incumbent, devices, merit, as_json=as_json)
        return
    if scenario is None or path is None or decision is None:
        message = "a break-even of plans needs SCENARIO, --path and --decision (or --model for a step)"
        raise UsageError(message)
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies import charts
    from fleetplan.studies.breakeven import breakeven
    from fleetplan.studies.decision import parse_decision

    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    ends = _interval(base.figures.get(path), low, high)
    folder = folder_of(output, scenario, "breakeven")
    made = breakeven(
        workshop_for(base, gap),
        path,
        *ends,
        parse_decision(decision),
        factor=factor,
        points=points,
        progress=progress,
    )
    frame = made.frame()
    write_page(
        folder, f"Break-even of {path}", made.lines(), {decision: charts.curve(frame, path)}, {"Plans": frame}
    )
    tell(made.lines(), frame, folder, as_json=as_json, value=made.value, confirmed=made.is_confirmed)


def _interval(figure: object, low: float | None, high: float | None) -> tuple[float, float]:
    low = getattr(figure, "low", None) if low is None else low
    high = getattr(figure, "high", None) if high is None else high
    if low is None or high is None:
        message = "this input has no interval of its own; give --low and --high"
        raise UsageError(message)
    return float(low), float(high)


def _on_a_step(
    model: str,
    challenger: str | None,
    incumbent: str | None,
    devices: int | None,
    merit: str,
    *,
    as_json: bool,
) -> None:
    from fleetplan.inputs.catalog import load_accelerator, load_model
    from fleetplan.performance.breakeven import breakeven

    if challenger is None or incumbent is None:
        message = "--model needs --challenger and --incumbent"
        raise UsageError(message)
    one, other = load_accelerator(challenger), load_accelerator(incumbent)
    frame = breakeven(load_model(model), one, other, devices=devices, merit=merit)  # type: ignore[arg-type]
    if as_json:
        print_json(frame.astype(object).where(frame.notna(), None).to_dict("records"))
    else:
        print_frame(frame, title=f"{one.title} against {other.title}, {merit}")
