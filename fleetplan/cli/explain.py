"""``fleetplan explain``: what binds, what more would be worth, why not, ties, assumptions."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import mode_options, print_json, progress_for, shows_examples


@click.command(name="explain")
@click.argument("plan", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--about",
    multiple=True,
    metavar="QUESTION",
    help="prices, ties, why-not, assumptions or horizon; may be repeated.  [default: all]",
)
@click.option(
    "--why-not",
    "accelerators",
    multiple=True,
    metavar="ACCELERATOR",
    help="Only why this one was not bought.",
)
@click.option(
    "--confirm",
    default=10,
    show_default=True,
    type=click.IntRange(min=0),
    help="Prices confirmed by a re-run.",
)
@click.option(
    "--time-limit",
    default=300.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="For each question; after it no further solve begins, and what is left open is said.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the plan's report with these answers in it.",
)
@mode_options
@shows_examples(
    "fleetplan explain reports/mine",
    "fleetplan explain reports/mine --why-not vr200",
    "fleetplan explain reports/mine --about prices --confirm 3 --html explained.html",
)
def command(
    plan: Path,
    *,
    about: tuple[str, ...],
    accelerators: tuple[str, ...],
    confirm: int,
    time_limit: float,
    html: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer why the stored PLAN is as it is, by solving variants of it.

    What binds where and when; what one more MW, rack or dollar is worth (re-run to confirm); at what
    price, speed or power a rejected accelerator would enter; which orders are forced and which are
    ties; which assumed figures turn a decision; how a longer horizon moves the first year.
    """
    from dataclasses import asdict

    from fleetplan.explain import explain
    from fleetplan.explain.explanation import QUESTIONS
    from fleetplan.plan.plan import Plan

    asked = about or (("why-not",) if accelerators else tuple(QUESTIONS))
    stored = Plan.load(plan)
    found = explain(
        stored,
        asked,
        accelerators=accelerators,
        confirm=confirm,
        time_s=time_limit,
        progress=progress_for(quiet=quiet, as_json=as_json),
    )
    if html is not None:
        from fleetplan.report import report_html

        html.write_text(report_html(stored, found), encoding="utf-8")
    if as_json:
        print_json(asdict(found))
        return
    for line in found.lines():
        click.echo(line)
