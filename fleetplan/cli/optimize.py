"""``fleetplan optimize``: the plan, its audit and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import changes_option, mode_options, print_json, progress_for, shows_examples
from fleetplan.errors import InfeasibleError

if TYPE_CHECKING:
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress

FORMATS = ("html", "csv", "xlsx", "parquet", "md", "pdf")


@click.command(name="optimize")
@click.argument("scenario")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="New folder for the plan.  [default: reports/NAME-DATE-TIME]",
)
@click.option(
    "--gap",
    default=0.001,
    show_default=True,
    type=click.FloatRange(min=0),
    help="Proven distance from the best possible plan at which to stop, as a share of its cost.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the solve with the best plan so far; the plan then depends on the machine.",
)
@click.option(
    "--solver",
    default="highs",
    show_default=True,
    help="highs, or another solver that Pyomo finds: gurobi, scip, cbc, cuopt, appsi_highs.",
)
@click.option(
    "--solver-option",
    "solver_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Passed on to the solver; an unknown one is an error.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--format",
    "formats",
    default="html",
    show_default=True,
    metavar="LIST",
    help=f"Reports beside the CSV tables, of {', '.join(FORMATS)}.",
)
@changes_option
@mode_options
@shows_examples(
    "fleetplan optimize public-2026",
    "fleetplan optimize plans/mine -o reports/mine-base --gap 0.005",
    "fleetplan optimize plans/mine --set rules.site_dates=slip --format html,xlsx",
)
def command(
    scenario: str,
    *,
    output: Path | None,
    gap: float,
    time_limit: float | None,
    solver: str,
    solver_options: tuple[str, ...],
    seed: int,
    threads: int,
    formats: str,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Make the cheapest plan for SCENARIO (a folder, a workbook or a bundled name) and audit it.

    Writes the tables, the ledger, the manifest and the reports into one new folder, whole or not at
    all. Ctrl-C keeps the best plan so far.
    """
    from fleetplan.api import optimize
    from fleetplan.cli.scenarios import load_changed, parse_formats, parse_solver_options

    wanted = parse_formats(formats, FORMATS)
    progress = progress_for(quiet=quiet, as_json=as_json)
    options = parse_solver_options(solver_options)
    target = output or _default_output(scenario)
    _refuse_early(target)
    loaded = load_changed(scenario, changes, progress)
    try:
        plan = optimize(
            loaded,
            gap=gap,
            time_limit_s=time_limit,
            solver=solver,
            solver_options=options,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    except InfeasibleError as error:
        again = " ".join(["fleetplan diagnose", scenario, *(f"--set {change}" for change in changes)])
        message = f"No plan is possible: {error}.\n`{again}` says why, and what would mend it."
        raise InfeasibleError(message) from error
    folder, left_out = _store_at_once(plan, target, wanted, progress)
    _tell(plan, folder, as_json=as_json)
    _tell_if_stopped(plan, folder, left_out=left_out)


def _store_at_once(
    plan: Plan, target: Path, formats: tuple[str, ...], progress: Progress
) -> tuple[Path, bool]:
    """Store the plan; Ctrl-C leaves out the reports, never the plan. The folder, and whether it did.

    So it is where the solve was stopped by it.
    """
    from fleetplan.plan.store import MANIFEST, write_plan

    if plan.manifest.status == "interrupted":
        return write_plan(plan, target), True  # who stopped the solve waits for no reports
    try:
        return store(plan, target, formats, progress), False
    except KeyboardInterrupt:
        there = target.expanduser().absolute()
        if (there / MANIFEST).is_file():
            return there, False
        return write_plan(plan, target), True


def store(plan: Plan, target: Path, formats: tuple[str, ...], progress: Progress) -> Path:
    """Write the plan's folder with its reports, whole or not at all."""
    from fleetplan.plan.store import write_plan
    from fleetplan.progress import Stopwatch
    from fleetplan.report import write_report

    def add_reports(partial: Path) -> None:
        write_report(plan, formats, partial)

    watch = Stopwatch(progress)
    with watch.phase("report") as message:
        folder = write_plan(plan, target, also=add_reports)
        message.append(str(folder))
    return folder


def _default_output(scenario: str) -> Path:
    from datetime import datetime

    return Path("reports") / f"{Path(scenario).stem}-{datetime.now():%Y%m%d-%H%M%S}"


def _refuse_early(target: Path) -> None:
    """Say that the folder is taken before the solve, not after it."""
    from fleetplan.errors import UsageError

    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        message = f"{target} is there already; a plan never overwrites another: choose a new folder with -o"
        raise UsageError(message)


def _tell(plan: Plan, folder: Path, *, as_json: bool) -> None:
    summary = plan.summary()
    report = folder / "report.html"
    shown = report if report.exists() else folder
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "manifest": plan.manifest.model_dump(mode="json"),
                "summary": summary.as_dict(),
            }
        )
        return
    click.echo("")
    for line in summary.lines():
        click.echo(f" {line}")
    click.echo(f" {_short(shown)}")


def _tell_if_stopped(plan: Plan, folder: Path, *, left_out: bool) -> None:
    """Raise ``Interrupted``, which says what is there, if Ctrl-C cut the solve or the reports short."""
    from fleetplan.errors import Interrupted

    where = _short(folder)
    said = []
    if plan.manifest.status == "interrupted":
        gap = plan.manifest.gap
        near = "nothing is proven of it" if gap is None else f"proven to within {gap:.2%}"
        said.append(f"Stopped early: {where} holds the best plan so far, {near}.")
    if left_out:
        said.append(f"The reports are left out: 'fleetplan report {where}' writes them.")
    if said:
        raise Interrupted(" ".join(said))


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
