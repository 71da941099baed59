"""``fleetplan commit``: what to order now when the future is uncertain."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.studies import (
    folder_of,
    open_figures,
    read_futures,
    study_options,
    tell,
    workshop_for,
    write_page,
)
from fleetplan.cli.ui import changes_option, mode_options, progress_for, shows_examples
from fleetplan.errors import UsageError


@click.command(name="commit")
@click.argument("scenario")
@click.option(
    "--futures",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns future, probability, path, value (a value *1.2 is a factor).",
)
@click.option(
    "--sample", type=click.IntRange(min=2), metavar="N", help="N equally likely draws over intervals."
)
@click.option("--only", multiple=True, metavar="PATTERN", help="Only these intervals for --sample.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the draws.")
@click.option(
    "--reveal",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Quarters from the start until it is known which future comes.",
)
@click.option(
    "--tail-weight", default=0.0, show_default=True, type=click.FloatRange(0, 1), help="Weight of the tail."
)
@click.option(
    "--tail",
    default=0.1,
    show_default=True,
    type=click.FloatRange(min=0, max=1, min_open=True),
    help="Share of the worst futures whose mean cost counts (CVaR).",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Futures solved side by side where they are too large to be one model.  [default: one per core]",
)
@study_options
@changes_option
@mode_options
@shows_examples(
    "fleetplan commit small-2026 --futures futures.csv --reveal 2 -o reports/commit",
    "fleetplan commit small-2026 --sample 4 --only 'demand*' --tail-weight 0.3",
)
def command(
    scenario: str,
    *,
    futures: Path | None,
    sample: int | None,
    only: tuple[str, ...],
    seed: int,
    reveal: int,
    tail_weight: float,
    tail: float,
    workers: int | None,
    output: Path | None,
    gap: float,
    changes: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Decide what to order now in SCENARIO under several futures, and what waiting or knowing is worth.

    Orders that must be placed before the reveal are the same in all futures; all else adapts.
    """
    from fleetplan.cli.scenarios import load_changed
    from fleetplan.studies import cases, charts
    from fleetplan.studies.beside import cores
    from fleetplan.studies.commit import commit
    from fleetplan.studies.extensive import Risk
    from fleetplan.studies.folder import write_whole
    from fleetplan.studies.futures import equally_likely

    if (futures is None) == (sample is None):
        message = "say which futures may come: --futures FILE or --sample N"
        raise UsageError(message)
    progress = progress_for(quiet=quiet, as_json=as_json)
    base = load_changed(scenario, changes, progress)
    if futures is not None:
        tree = read_futures(futures, base, reveal)
    else:
        assert sample is not None
        drawn = cases.sample(open_figures(base, only), sample, seed=seed)
        tree = equally_likely(drawn, base.horizon.start + reveal)
    folder = folder_of(output, scenario, "commit")
    made = commit(
        workshop_for(base, gap),
        tree,
        risk=Risk(tail_weight, tail),
        workers=workers or cores(),
        progress=progress,
    )
    for number, plan in enumerate(made.plans.values()):
        plan.save(folder / "plans" / f"{number:03d}")
    write_whole(folder / "regrets.csv", made.regrets.to_csv(index=False, lineterminator="\n"))
    write_whole(folder / "now.csv", made.now.to_csv(index=False, lineterminator="\n"))
    tables = {"Order now": made.now, "Regrets": made.regrets}
    pictures = {"Regret of today's orders": charts.regret(made.regrets)}
    write_page(folder, f"Commit or wait: {base.title}", made.lines(), pictures, tables)
    tell(made.lines(), made.regrets, folder, as_json=as_json)
