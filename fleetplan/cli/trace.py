"""``fleetplan trace``: where the steps of a profiler trace go, and what closing the gap is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import mode_options, print_json, shows_examples

if TYPE_CHECKING:
    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model


@click.command(name="trace")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--model", help="What was trained: name of models/ or a YAML file; fits the step model.")
@click.option("--accelerator", help="What it ran on: name of the catalog or a CSV file.")
@click.option(
    "--devices", type=click.IntRange(min=1), help="Devices of the job.  [default: the trace's world size]"
)
@click.option(
    "--local-batch", type=click.IntRange(min=1), help="Samples per device and step.  [default: the model's]"
)
@click.option("--on", "others", multiple=True, metavar="ACCELERATOR", help="Also predict the job on these.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the typical step."
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    help="New folder for page, JSON and a CSV per table.",
)
@mode_options
@shows_examples(
    "fleetplan trace rank0.json.gz rank1.json.gz",
    "fleetplan trace rank*.json.gz -o trace",
    "fleetplan trace rank0.json.gz --model dlrm-dcnv2 --accelerator h100 --on mtia-300 --on gb300",
)
def command(
    files: tuple[Path, ...],
    *,
    model: str | None,
    accelerator: str | None,
    devices: int | None,
    local_batch: int | None,
    others: tuple[str, ...],
    html: Path | None,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read PyTorch profiler traces (one FILE per rank, plain or gzipped) and say where the steps go.

    With --model and --accelerator the step model is fitted to the trace, and the same step is
    predicted with an offload engine, finer chunks, a larger scale-up domain and on other chips.
    """
    from fleetplan.trace.study import study_traces

    chip, trained, rest = _job(model, accelerator, others)
    study = study_traces(
        files, model=trained, accelerator=chip, devices=devices, local_batch=local_batch, others=rest
    )
    if folder is not None:
        study.write(folder)
    if html is not None:
        html.write_text(study.html(), encoding="utf-8")
    if as_json:
        print_json(study.to_dict())
        return
    for line in study.report.lines() if quiet else study.lines():
        click.echo(line)
    for note in () if study.fit is None else study.fit.notes:
        click.echo(note)


def _job(
    model: str | None, accelerator: str | None, others: tuple[str, ...]
) -> tuple[Accelerator | None, Model | None, list[Accelerator]]:
    from fleetplan.errors import UsageError
    from fleetplan.inputs.catalog import load_accelerator, load_model

    if (model is None) != (accelerator is None):
        message = "a fit needs both --model and --accelerator"
        raise UsageError(message)
    if model is None or accelerator is None:
        return None, None, []
    return load_accelerator(accelerator), load_model(model), [load_accelerator(name) for name in others]
