"""The traced job under other conditions: predicted steps beside the measured one, with bands.

On the same accelerator the fitted model is anchored to the measured step: each case is the measured
step times the ratio of two model steps, and its band holds only what moves that ratio, with the misfit
of the fitted model added. On another accelerator the constants of that accelerator hold, but for those of
the stack (floor, overlap, constants of the same kind of engine) that the trace fixed; the band is the
step model's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.tables import TableSpec, count, flag, number, text

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.performance.constants import Constants
    from fleetplan.performance.evaluate import Settings
    from fleetplan.performance.one_step import StepResult
    from fleetplan.trace.fit import TraceFit

WHAT_IF = TableSpec(
    "what_if",
    "the traced job's step under other conditions; bands of about 95 %",
    (
        text("case", "what is changed", key=True),
        text("accelerator", "device", key=True),
        count("devices", "devices", "devices of the job"),
        count("local_batch", "samples", "samples per device and step"),
        number("step_ms", "ms", "step"),
        number("samples_per_s", "samples/s", "rate of the job"),
        number("low_samples_per_s", "samples/s", "low end of the band"),
        number("high_samples_per_s", "samples/s", "high end of the band"),
        number("speedup", "ratio", "rate over the measured one"),
        number("low_speedup", "ratio", "low end"),
        number("high_speedup", "ratio", "high end"),
        number("device_w", "W", "mean power of one device over the step (IT)"),
        number("joules_per_sample", "J", "IT energy of the job's nodes per sample"),
        flag("fits", "whether the job fits in memory"),
        text("basis", "measured, anchored to the measured step, or modelled"),
    ),
)
OFFLOAD_EXAMPLE = "mtia-300"
"""The accelerator whose message engine stands for an offload engine."""
LARGER_DOMAIN = 72
"""Devices in one scale-up domain of the larger-domain case: as GB200 NVL72."""


@dataclass(frozen=True)
class _Case:
    title: str
    accelerator: Accelerator
    settings: Settings


def what_if(
    fit: TraceFit, others: Sequence[Accelerator] = (), *, domain_devices: int = LARGER_DOMAIN
) -> pd.DataFrame:
    """Rows of ``WHAT_IF``: measured, fitted, and each case; ``others`` take as many devices and samples."""
    base = _Case("fitted", fit.accelerator, fit.settings)
    rows = [_measured_row(fit, _step(fit, base))]
    rows += [_anchored_row(fit, base, case) for case in _own_cases(fit, domain_devices)]
    rows += [_modelled_row(fit, _Case("same job", other, fit.settings)) for other in others]
    order = {(row[0], row[1]): place for place, row in enumerate(rows)}
    table = WHAT_IF.frame(rows)
    places = [order[pair] for pair in zip(table["case"], table["accelerator"], strict=True)]
    return table.iloc[sorted(range(len(places)), key=places.__getitem__)].reset_index(drop=True)


def _own_cases(fit: TraceFit, domain_devices: int) -> Iterator[_Case]:
    device, settings = fit.accelerator, fit.settings
    offloaded = replace(settings, constants=offload_constants(fit))
    yield _Case("offload engine, same schedule", device, offloaded)
    yield _Case("finer chunks, same engine", device, replace(settings, overlap="chunked", chunks=None))
    yield _Case("offload engine, finer chunks", device, replace(offloaded, overlap="chunked", chunks=None))
    larger = max(domain_devices, device.scaleup_domain_devices)
    wide = device.model_copy(update={"scaleup_domain_devices": larger})
    yield _Case(f"scale-up domain of {larger}", wide, settings)


def offload_constants(fit: TraceFit) -> Constants:
    """The fitted constants with an offload engine's: contention, and the cost of a chunk, with intervals."""
    from fleetplan.performance.constants import Constants, Context

    constants = fit.settings.rates(fit.model, fit.accelerator).constants
    context = fit.settings.rates(fit.model, fit.accelerator).context
    engine = Context(OFFLOAD_EXAMPLE, "Meta", "message-engine")
    names = [name for name in constants.names if name.startswith("overlap_")] + ["chunk_fixed_us"]
    taken = {constants.get(name, context).key: constants.get(name, engine) for name in names}
    rows = [replace(taken[row.key], scope=row.scope) if row.key in taken else row for row in constants.rows]
    return Constants(rows, constants.analogues)


def _step(fit: TraceFit, case: _Case) -> StepResult:
    from fleetplan.performance.one_step import step

    chosen = case.settings
    return step(
        fit.model,
        case.accelerator,
        devices=fit.devices,
        local_batch=fit.local_batch,
        overlap=chosen.overlap,
        chunks=chosen.chunks,
        constants=chosen.constants,
        stack=chosen.stack,
        fabric=chosen.fabric,
        tables=chosen.tables,
        layout=None if case.accelerator.name != fit.accelerator.name else fit.layout,
    )


def _row(
    fit: TraceFit, case: _Case, made: StepResult, step_ms: float, ends: tuple[float, float], basis: str
) -> tuple[object, ...]:
    """``ends`` are the low and the high end of the rate over its middle."""
    rate = fit.devices * fit.local_batch / step_ms * 1e3
    scale = step_ms / made.step_ms
    speedup = rate / fit.samples_per_s
    return (
        case.title,
        case.accelerator.name,
        fit.devices,
        fit.local_batch,
        step_ms,
        rate,
        rate * ends[0],
        rate * ends[1],
        speedup,
        speedup * ends[0],
        speedup * ends[1],
        made.device_w,
        made.joules_per_sample * scale,
        made.fits,
        basis,
    )


def _measured_row(fit: TraceFit, made: StepResult) -> tuple[object, ...]:
    case = _Case("measured", fit.accelerator, fit.settings)
    return _row(fit, case, made, fit.measured_ms, (1.0, 1.0), "measured")


def _anchored_row(fit: TraceFit, base: _Case, case: _Case) -> tuple[object, ...]:
    made = _step(fit, case)
    step_ms = fit.measured_ms * made.step_ms / fit.predicted_ms
    return _row(fit, case, made, step_ms, _ratio_ends(fit, base, case), "anchored to the measured step")


def _modelled_row(fit: TraceFit, case: _Case) -> tuple[object, ...]:
    made = _step(fit, case)
    ends = (made.samples_per_s_low / made.samples_per_s, made.samples_per_s_high / made.samples_per_s)
    return _row(fit, case, made, made.step_ms, ends, "modelled")


def _ratio_ends(fit: TraceFit, base: _Case, case: _Case) -> tuple[float, float]:
    """Ends of the case's rate over its middle: each open input moved in both steps at once."""
    from fleetplan.performance.bands import sensitivities

    def moves(one: _Case) -> dict[str, tuple[float, float]]:
        return sensitivities(
            fit.model, one.accelerator, fit.devices, fit.local_batch, fit.layout, one.settings
        )

    before, after = moves(base), moves(case)
    misfit = math.log(fit.predicted_ms / fit.measured_ms)
    falls = rises = misfit**2
    for name in before.keys() | after.keys():
        still = (0.0, 0.0)
        # a constant that the case replaces has moved on its own, not with the base
        old = still if name.startswith(("overlap_", "chunk_")) else before.get(name, still)
        ends = [new - was for new, was in zip(after.get(name, still), old, strict=True)]
        falls += min(0.0, *ends) ** 2
        rises += max(0.0, *ends) ** 2
    return math.exp(-math.sqrt(falls)), math.exp(math.sqrt(rises))
