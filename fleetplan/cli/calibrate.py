"""``fleetplan calibrate``: fit the step model to your own measurements or trace."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import mode_options, print_frame, print_json, shows_examples
from fleetplan.errors import UsageError


@click.command(name="calibrate")
@click.argument("measurements", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--trace",
    "traces",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Profiler trace, one per rank, instead of measurements.",
)
@click.option("--model", help="What the trace trains.")
@click.option("--accelerator", help="What the trace ran on.")
@click.option("--devices", type=click.IntRange(min=1), help="Devices of the traced job.")
@click.option("--local-batch", type=click.IntRange(min=1), help="Samples per device of the traced job.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the fitted constants."
)
@mode_options
@shows_examples(
    "fleetplan calibrate mine.csv -o constants.csv",
    "fleetplan calibrate --trace rank0.json.gz --model dlrm-dcnv2 --accelerator h100",
)
def command(
    measurements: Path | None,
    *,
    traces: tuple[Path, ...],
    model: str | None,
    accelerator: str | None,
    devices: int | None,
    local_batch: int | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit the few constants of the step model to MEASUREMENTS (columns as data/measurements/public.csv).

    Says how sure each fitted value is, and which constants the data do not identify.
    """
    if (measurements is None) == (not traces):
        message = "give either a measurements file or --trace"
        raise UsageError(message)
    if measurements is not None:
        _from_measurements(measurements, output, as_json=as_json, quiet=quiet)
    else:
        _from_traces(traces, model, accelerator, devices, local_batch, output, as_json=as_json)


def _from_measurements(path: Path, output: Path | None, *, as_json: bool, quiet: bool) -> None:
    from fleetplan.performance.calibrate import calibrate
    from fleetplan.performance.measurements import load_measurements

    found = calibrate(load_measurements(path))
    if output is not None:
        output.write_text(found.constants.to_csv(), encoding="utf-8")
    if as_json:
        tables = {"constants": found.table, "rows": found.residuals}
        plain = {n: t.astype(object).where(t.notna(), None).to_dict("records") for n, t in tables.items()}
        print_json({"mean_error": found.mean_error, **plain})
        return
    print_frame(found.table)
    if not quiet:
        click.echo("")
        print_frame(found.residuals)
    unknown = found.table[~found.table["identified"]]
    click.echo(f"\nMean error {found.mean_error:.1%} over {len(found.residuals)} rows.")
    if len(unknown):
        click.echo(
            f"These data do not identify {', '.join(unknown['constant'])}: the values before the fit stand."
        )


def _from_traces(
    traces: tuple[Path, ...],
    model: str | None,
    accelerator: str | None,
    devices: int | None,
    local_batch: int | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    from fleetplan.inputs.catalog import load_accelerator, load_model
    from fleetplan.trace.fit import fit_trace
    from fleetplan.trace.report import trace_report

    if model is None or accelerator is None:
        message = "--trace needs --model and --accelerator"
        raise UsageError(message)
    fit = fit_trace(
        trace_report(traces),
        load_model(model),
        load_accelerator(accelerator),
        devices=devices,
        local_batch=local_batch,
    )
    if output is not None:
        output.write_text(fit.constants_csv(), encoding="utf-8")
    if as_json:
        print_json({"constants": fit.table.to_dict("records"), "notes": list(fit.notes)})
        return
    for line in [*fit.lines(), *fit.notes]:
        click.echo(line)
