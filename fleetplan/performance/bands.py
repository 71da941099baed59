"""The error band of a rate, from the intervals of what it rests on.

Each uncertain input (constant or specification) is moved to its low and to its high end on its own;
the changes of log(rate) are added in quadrature, apart for falls and rises, and the model's own error
on held-out public rows is added the same way. Inputs are taken as independent; ends as two standard
deviations, so the band is about 95 %. All inputs are moved in one vectorized evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance.evaluate import Settings, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.layout import Layout
    from fleetplan.performance.rates import Rates

MODEL_ERROR = 0.12
"""Two standard deviations of log(predicted/measured) on held-out single-domain rows (``accuracy``)."""
SPECIFICATIONS = (
    "peak_bf16_tflops",
    "peak_fp8_tflops",
    "hbm_tb_per_s",
    "scaleup_gb_per_s",
    "scaleout_gb_per_s",
    "host_link_gb_per_s",
)


def band_factors(
    model: Model,
    accelerator: Accelerator,
    devices: float,
    local_batch: float,
    layout: Layout,
    settings: Settings | None = None,
) -> tuple[float, float]:
    """(low, high) end of the rate over its middle."""
    moves = sensitivities(model, accelerator, devices, local_batch, layout, settings)
    falls = sum(min(0.0, *ends) ** 2 for ends in moves.values())
    rises = sum(max(0.0, *ends) ** 2 for ends in moves.values())
    return float(np.exp(-np.sqrt(falls + MODEL_ERROR**2))), float(np.exp(np.sqrt(rises + MODEL_ERROR**2)))


def sensitivities(
    model: Model,
    accelerator: Accelerator,
    devices: float,
    local_batch: float,
    layout: Layout,
    settings: Settings | None = None,
) -> dict[str, tuple[float, float]]:
    """Change of log(rate) with each open input at its low and its high end."""
    chosen = settings or Settings()
    middle = evaluate(
        model, accelerator, devices=devices, local_batch=local_batch, layout=layout, settings=chosen
    )
    ends = dict(_open_constants(middle.rates)) | dict(_open_specifications(accelerator))
    if not ends:
        return {}
    options = 2 * len(ends)
    moved: dict[str, NDArray[np.float64]] = {}
    for i, (name, (value, low, high)) in enumerate(ends.items()):
        column = np.full(options, value)
        column[2 * i], column[2 * i + 1] = low, high
        moved[name] = column
    batch = np.full(options, local_batch)
    tried = evaluate(
        model,
        accelerator,
        devices=devices,
        local_batch=batch,
        layout=layout,
        settings=chosen,
        counts=middle.counts,
        moved=moved,
    )
    change = np.log(tried.samples_per_s / middle.samples_per_s[0])
    return {name: (float(change[2 * i]), float(change[2 * i + 1])) for i, name in enumerate(ends)}


def _open_constants(rates: Rates) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for name, row in rates.used.items():
        if row.low < row.high:
            yield name, (row.value, row.low, row.high)


def _open_specifications(accelerator: Accelerator) -> Iterator[tuple[str, tuple[float, float, float]]]:
    for name in SPECIFICATIONS:
        figure, value = accelerator.figures.get(name), getattr(accelerator, name)
        if (
            value
            and figure is not None
            and figure.is_open
            and figure.low is not None
            and figure.high is not None
        ):
            yield name, (float(value), figure.low, figure.high)
