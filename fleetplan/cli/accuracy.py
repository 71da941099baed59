"""``fleetplan accuracy``: the step model held against public measurements."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import mode_options, print_frame, print_json, shows_examples

GATE_MISSED = 1
SHOWN = ["id", "devices", "metric", "predicted", "measured", "unit", "error", "evidence", "gate", "passes"]


@click.command(name="accuracy")
@click.argument("measurements", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--rows", "which", type=click.Choice(["gated", "predicted", "all"]), default="gated", show_default=True
)
@click.option(
    "--held-out/--no-held-out",
    default=True,
    show_default=True,
    help="Refit without each accelerator and predict it.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write predicted against measured, log-log.",
)
@mode_options
@shows_examples(
    "fleetplan accuracy",
    "fleetplan accuracy --rows all --html accuracy.html",
    "fleetplan accuracy mine.csv --no-held-out",
)
def command(
    measurements: Path | None, *, which: str, held_out: bool, html: Path | None, as_json: bool, quiet: bool
) -> int:
    """Predict every row of MEASUREMENTS (the bundled public ones by default) and judge it.

    Rows that rest on memory or on somebody's model are advisory. Exit 1 if a gate is missed.
    """
    from fleetplan.performance.accuracy import accuracy_report
    from fleetplan.performance.measurements import load_measurements

    report = accuracy_report(load_measurements(measurements), held_out=held_out)
    if html is not None:
        from fleetplan.performance.charts import accuracy_html

        html.write_text(accuracy_html(report.rows), encoding="utf-8")
    if as_json:
        tables = {"rows": report.rows, "gates": report.gates, "held_out": report.held_out}
        plain = {n: t.astype(object).where(t.notna(), None).to_dict("records") for n, t in tables.items()}
        print_json({"passes": report.passes, **plain})
    else:
        rows = report.rows
        if which != "all":
            rows = rows[rows["predicted"].notna() & ((rows["gate"] != "") | (which == "predicted"))]
        if not quiet:
            print_frame(rows[SHOWN])
            click.echo("")
        print_frame(report.gates, title="Gates")
        click.echo("Every gate holds." if report.passes else "A gate is missed.")
    return 0 if report.passes else GATE_MISSED
