"""``fleetplan step``: one training step, taken apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import mode_options, print_json, shows_examples

if TYPE_CHECKING:
    from fleetplan.performance.one_step import StepResult

BAR = 36


@click.command(name="step")
@click.argument("model")
@click.argument("accelerator")
@click.option("--devices", required=True, type=click.IntRange(min=1), help="Devices that train together.")
@click.option("--local-batch", type=click.IntRange(min=1), help="Samples per device.  [default: the model's]")
@click.option("--global-batch", type=click.IntRange(min=1), help="Samples per step over all devices.")
@click.option(
    "--cap", "cap_w", type=click.FloatRange(min=0, min_open=True), metavar="W", help="Power cap per device."
)
@click.option(
    "--layout", help="How the model is spread.  [default: the model's own if it fits, else the best]"
)
@click.option(
    "--overlap", type=click.Choice(["coarse", "chunked", "none"]), default="coarse", show_default=True
)
@click.option(
    "--chunks", type=click.IntRange(min=1), help="Chunks of a chunked overlap.  [default: the best]"
)
@click.option(
    "--stack",
    type=click.Choice(["tuned", "production", "eager"]),
    default="tuned",
    show_default=True,
    help="Software: the best public code, a usual production trainer, or an eager loop.",
)
@click.option(
    "--fabric",
    type=click.Choice(["infiniband", "ethernet", "efa"]),
    default="infiniband",
    show_default=True,
    help="Network between domains.",
)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the timeline of the step."
)
@mode_options
@shows_examples(
    "fleetplan step dlrm-dcnv2 h100 --devices 8",
    "fleetplan step mtia300-dlrm-150b mtia-300 --devices 40 --overlap chunked",
    "fleetplan step gem-foundation gb300 --devices 2304 --cap 1200 --html step.html",
)
def command(
    model: str,
    accelerator: str,
    *,
    devices: int,
    local_batch: int | None,
    global_batch: int | None,
    cap_w: float | None,
    layout: str | None,
    overlap: str,
    chunks: int | None,
    stack: str,
    fabric: str,
    html: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict one training step of MODEL on ACCELERATOR: its parts in ms, samples/s, power and memory.

    MODEL is a name of `models/` or a YAML file; ACCELERATOR a name of the catalog or a CSV file.
    """
    from fleetplan.inputs.catalog import load_accelerator, load_model
    from fleetplan.performance.one_step import step

    result = step(
        load_model(model),
        load_accelerator(accelerator),
        devices=devices,
        local_batch=local_batch,
        global_batch=global_batch,
        cap_w=cap_w,
        layout=layout,
        overlap=overlap,  # type: ignore[arg-type]
        chunks=chunks,
        stack=stack,  # type: ignore[arg-type]
        fabric=fabric,  # type: ignore[arg-type]
    )
    if html is not None:
        from fleetplan.performance.timeline import timeline_html

        html.write_text(timeline_html(result), encoding="utf-8")
    if as_json:
        print_json(result.to_dict())
    else:
        for line in lines(result, brief=quiet):
            click.echo(line)
        if html is not None:
            click.echo(f"\n{html}")


def lines(r: StepResult, *, brief: bool = False) -> list[str]:
    """The step in words and bars."""
    head = [
        f"{r.model} on {r.devices} x {r.accelerator} at {r.cap_w:,.0f} W, {r.local_batch:,} samples per device, {r.layout}",
        f"step {r.step_ms:,.3f} ms   {_rate(r.samples_per_s)} samples/s"
        f" ({_rate(r.samples_per_s_low)} to {_rate(r.samples_per_s_high)})   useful after failures {_rate(r.net_samples_per_s)}",
    ]
    if not r.fits:
        head.append(
            f"DOES NOT FIT: needs {r.memory_gb_per_device:,.1f} GB per device, has {r.memory_limit_gb:,.1f}"
        )
    return head if brief else [*head, "", *_parts(r), "", *_facts(r)]


def _parts(r: StepResult) -> list[str]:
    width = max(len(name) for name in r.parts_ms)
    return [
        f"  {name:<{width}}  {ms:10,.3f} ms  {ms / r.step_ms:6.1%}  {'█' * round(BAR * ms / r.step_ms)}"
        for name, ms in r.parts_ms.items()
    ]


def _facts(r: StepResult) -> list[str]:
    used = r.utilization
    facility = (
        "no facility power law"
        if r.facility_kw_per_device is None
        else f"{r.facility_kw_per_device:.2f} kW facility per device"
    )
    overlap = [
        f"{n.replace('_', ' ')} {r.isolated_ms[n]:,.2f} ms alone, {ms:,.2f} exposed ({r.laws.get(n, 'law')})"
        for n, ms in r.exposed_ms.items()
        if r.isolated_ms[n] > 0
    ]
    return [
        f"  bound by          {r.bound};  critical path {' → '.join(r.critical_path)}",
        *(f"  {'communication' if i == 0 else '':<16}  {text}" for i, text in enumerate(overlap)),
        f"  memory            {r.memory_gb_per_device:,.1f} of {r.memory_limit_gb:,.1f} GB per device",
        f"  power             {r.device_w:,.0f} W per device on average, {facility}; {r.joules_per_sample * 1e3:,.3g} mJ per sample",
        f"  utilization       {used.effective:.1%} = kernels {used.kernel:.1%} x busy {used.busy:.1%}"
        f" x goodput {used.goodput:.1%} x allocated {used.allocated:.0%}",
        f"  rests on assumed  {', '.join(r.weakest_evidence) or 'nothing'}",
    ]


def _rate(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.2f} {unit}"
    return f"{value:,.2f}"
