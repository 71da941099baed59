"""``fleetplan sweep``: many cases of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleetplan.cli.studies import base_values, folder_of, open_figures, study_options, tell, write_page
from fleetplan.cli.ui import changes_option, mode_options, progress_for, shows_examples
from fleetplan.errors import UsageError

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.studies.cases import Case


@click.command(name="sweep")
@click.argument("scenario")
@click.option(
    "--vary", "varies", multiple=True, metavar="PATH=…", help="PATH=1,2,3 or 1..3:5 or PATH*=0.9,1.1."
)
@click.option(
    "--one-at-a-time", is_flag=True, help="Each value of --vary alone instead of every combination."
)
@click.option("--tornado", is_flag=True, help="Every open interval at its low and at its high end.")
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N", help="N Latin hypercube draws over intervals."
)
@click.option("--monte-carlo", is_flag=True, help="Independent draws for --sample.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Only these intervals; may be repeated.")
@click.option("--group", "groups", multiple=True, metavar="PATTERN", help="Intervals that move together.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the draws.")
@click.option(
    "--cluster",
    is_flag=False,
    flag_value="local",
    metavar="[ADDRESS]",
    help="Run on Dask: workers on this machine, or tcp://HOST:PORT.",
)
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Local Dask workers."
)
@click.option(
    "--check", default=0, metavar="N", type=click.IntRange(min=0), help="Solve N cases cold as well."
)
@click.option("--paths", is_flag=True, help="List every path that can vary, and stop.")
@study_options
@changes_option
@mode_options
@shows_examples(
    "fleetplan sweep small-2026 --vary 'supply[gb300,*].price_musd_per_rack*=0.8,1,1.2' -o reports/gb300",
    "fleetplan sweep small-2026 --tornado --only 'supply*' --only 'finance*' -o reports/tornado",
    "fleetplan sweep public-2026 --sample 200 -o reports/mc --cluster --workers 2",
)
def command(
    scenario: str,
    *,
    varies: tuple[str, ...],
    one_at_a_time: bool,
    tornado: bool,
    sample: int | None,
    monte_carlo: bool,
    only: tuple[str, ...],
    groups: tuple[str, ...],
    seed: int,
    cluster: str | None,
    workers: int,
    check: int,
    paths: bool,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Plan many cases of SCENARIO: each a full audited plan in a folder of its own.

    The same command goes on where a stopped one ended; finished cases are never computed again.
    Writes results.csv, values.csv, times.csv and study.html. Cases without a plan are rows.
    """
    from fleetplan.api import Settings
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies.sweep import check_against_cold, sweep

    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    if paths:
        click.echo("\n".join(base_values(base)))
        return
    chosen = {"vary": bool(varies), "tornado": tornado, "sample": sample is not None}
    if sum(chosen.values()) != 1:
        message = "say what varies: one of --vary, --tornado, --sample"
        raise UsageError(message)
    if varies:
        cases = _stated(base, varies, one_at_a_time=one_at_a_time)
    else:
        cases = _from_intervals(base, sample, only, groups, seed, monte_carlo=monte_carlo)
    folder = folder_of(output, scenario, "sweep", new=False)
    settings = Settings(gap=gap)
    made = sweep(base, cases, folder, settings, cluster=cluster, workers=workers, progress=progress)
    lines = made.lines()
    if check:
        lines += check_against_cold(made, base, check, settings).lines()
    write_page(
        folder,
        f"Sweep of {base.title}",
        lines,
        _charts(made.results, tornado=tornado),
        {"Cases": made.results},
    )
    tell(lines, made.results.drop(columns=["folder", "message"]), folder, as_json=as_json)


def _stated(base: Scenario, varies: tuple[str, ...], *, one_at_a_time: bool) -> list[Case]:
    from fleetplan.studies import cases as make

    parsed = [make.parse_vary(text) for text in varies]
    return (make.one_at_a_time if one_at_a_time else make.grid)(parsed, base_values(base))


def _from_intervals(
    base: Scenario,
    count: int | None,
    only: tuple[str, ...],
    groups: tuple[str, ...],
    seed: int,
    *,
    monte_carlo: bool,
) -> list[Case]:
    from fleetplan.studies import cases as make

    figures = open_figures(base, only)
    if count is None:
        return make.low_mid_high(figures, groups)
    return make.sample(figures, count, seed=seed, latin_hypercube=not monte_carlo, groups=groups)


def _charts(results: Any, *, tornado: bool) -> dict[str, Any]:
    from fleetplan.studies import charts

    if "cost_musd" not in results:
        return {}
    if tornado and results.loc[results["case"] == "base", "cost_musd"].notna().any():
        return {"What moves the cost": charts.tornado(results)}
    return {"How the cost spreads": charts.fan(results)}
