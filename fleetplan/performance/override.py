"""A planner's own measured rates in the place of modelled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance import power
from fleetplan.performance.evaluate import Settings, evaluate
from fleetplan.performance.layouts import best_layout

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fleetplan.inputs.scenario import MeasuredRate, Scenario

_RATES = ("samples_per_s", "net_samples_per_s_per_rack")
_TIMES = ("step_ms", "compute_ms", "embedding_ms", "exposed_alltoall_ms", "exposed_allreduce_ms", "floor_ms")
MEASURED_BAND = 0.03
"""Runs of one system repeat within 3 % (spread of equal MLPerf entries, 0.7 to 4.5 %)."""


def override_measured(table: pd.DataFrame, scenario: Scenario, settings: Settings) -> pd.DataFrame:
    """Scale options by measured over modelled rate; a measurement's own option becomes ``measured``.

    A measurement (workload, accelerator, devices, batch; at its cap, or the highest one) is exact for
    its own option at each cap; the other options of that pair keep their shape, are scaled by the
    ratio of the nearest measured size, and stay ``modelled``.
    """
    made = table.copy()
    for (workload, accelerator), rows in _by_pair(scenario).items():
        here = np.asarray((made["workload"] == workload) & (made["accelerator"] == accelerator), dtype=bool)
        if here.any():
            ratios = np.array([_ratio(scenario, row, settings) for row in rows])
            made = _scaled(made, here, rows, ratios)
    return made


def _scaled(
    table: pd.DataFrame, here: NDArray[np.bool_], rows: list[MeasuredRate], ratios: NDArray[np.float64]
) -> pd.DataFrame:
    devices, batch = table["devices"].to_numpy(), table["local_batch"].to_numpy()
    sizes = np.array([row.devices for row in rows], dtype=np.float64)
    nearest = np.abs(np.log(devices[:, None] / sizes[None, :])).argmin(axis=1)
    factor = np.where(here, ratios[nearest], 1.0)
    exact = here & np.array(
        [
            any((row.devices, row.local_batch) == pair for row in rows)
            for pair in zip(devices, batch, strict=True)
        ]
    )
    changed = {name: table[name] * factor for name in _RATES} | {
        name: table[name] / factor for name in _TIMES
    }
    changed["low_factor"] = table["low_factor"].where(~exact, 1 - MEASURED_BAND)
    changed["high_factor"] = table["high_factor"].where(~exact, 1 + MEASURED_BAND)
    changed["evidence"] = table["evidence"].where(~exact, "measured")
    return table.assign(**changed)


def _by_pair(scenario: Scenario) -> dict[tuple[str, str], list[MeasuredRate]]:
    pairs: dict[tuple[str, str], list[MeasuredRate]] = {}
    for row in scenario.measured:
        pairs.setdefault((row.workload, row.accelerator), []).append(row)
    return pairs


def _ratio(scenario: Scenario, row: MeasuredRate, settings: Settings) -> float:
    """Measured over modelled rate at the measurement's own size and cap."""
    accelerator = scenario.accelerators[row.accelerator]
    model = scenario.models[scenario.workloads[row.workload].model]
    layout = best_layout(model, accelerator, row.devices, row.local_batch, settings)
    cap = row.cap_w or power.highest_cap(accelerator)
    made = evaluate(
        model,
        accelerator,
        devices=row.devices,
        local_batch=row.local_batch,
        cap_w=cap,
        layout=layout,
        settings=settings,
    )
    return row.samples_per_s / float(made.samples_per_s[0])
