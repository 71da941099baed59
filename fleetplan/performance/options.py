"""The table of training options of a scenario: what the optimizer may use, with dominated ones left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance import power
from fleetplan.performance.bands import band_factors
from fleetplan.performance.counts import count
from fleetplan.performance.evaluate import Evaluation, Settings
from fleetplan.performance.layouts import best_evaluations
from fleetplan.performance.override import override_measured
from fleetplan.performance.table import OPTIONS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.inputs.scenario import Scenario, Workload

DEVICE_STEPS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Job sizes tried, over the workload's reference devices."""
BATCH_STEPS = (0.5, 1.0, 2.0)
"""Local batches tried, over the workload's."""
LARGEST_GLOBAL_BATCH = 4.0
"""Most of the reference global batch: larger ones need more samples to converge."""
SMALLEST_GLOBAL_BATCH = 0.25
SECONDS_PER_DAY = 86400.0
PLANNING = Settings(stack="production")
"""A usual production trainer; a planner's own measurements override it."""


@dataclass(frozen=True)
class Pruning:
    """How many options were computed, how many fit in memory, and how many are left."""

    computed: int
    fit: int
    kept: int


def performance_table(scenario: Scenario, settings: Settings | None = None) -> pd.DataFrame:
    """All options worth having, with the columns of :data:`~fleetplan.performance.table.OPTIONS`.

    One option per (workload, accelerator, devices, local batch, cap), each at its best layout. An
    option is left out where another of the same workload, accelerator and cap is as good or better in
    useful rate per rack, in job rate, and in meeting the deadline; options that do not fit in memory
    are kept only where none of that accelerator fits, so that the plan can say why. Measured rates
    override modelled ones. ``attrs["pruning"]`` holds the counts.
    """
    table, pruning = pruned_table(scenario, settings)
    table.attrs["pruning"] = pruning
    return table


def pruned_table(scenario: Scenario, settings: Settings | None = None) -> tuple[pd.DataFrame, Pruning]:
    """The table and its counts."""
    import pandas as pd

    chosen = settings or replace(
        PLANNING, failures_per_1000_node_days=scenario.lifecycle.failures_per_1000_node_days
    )
    made = [
        pair_options(scenario, workload, scenario.models[workload.model], accelerator, chosen)
        for workload in scenario.workloads.values()
        for accelerator in scenario.accelerators.values()
        if accelerator.devices_per_rack
    ]
    columns = [name for name in OPTIONS.names if name != "option"]
    whole = pd.DataFrame({name: np.concatenate([pair[name] for pair in made]) for name in columns})
    whole = override_measured(whole, scenario, chosen)
    kept = whole[_undominated(whole)]
    return OPTIONS.frame(kept.assign(option=_option_ids(kept))), Pruning(
        len(whole), int(whole["fits"].sum()), len(kept)
    )


def pair_options(
    scenario: Scenario, workload: Workload, model: Model, accelerator: Accelerator, settings: Settings
) -> dict[str, NDArray[np.generic]]:
    """Every option of one workload on one accelerator, as columns of OPTIONS without ids."""
    devices, batch, caps = _grid(workload, accelerator, scenario.rules.caps_per_accelerator)
    made = best_evaluations(model, accelerator, devices, batch, caps, settings, count(model))
    parts = [_columns(workload, accelerator, e, picked) for e, picked in made]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    usual = int(np.abs(np.log(devices / workload.reference_devices)).argmin())
    layout = next(e.layout for e, picked in made if usual in picked)
    low, high = band_factors(model, accelerator, float(devices[usual]), float(batch[usual]), layout, settings)
    size = len(devices)
    texts = {"workload": workload.name, "accelerator": accelerator.name, "evidence": "modelled"}
    columns |= {name: np.full(size, value, dtype=object) for name, value in texts.items()}
    return columns | {"low_factor": np.full(size, low), "high_factor": np.full(size, high)}


def job_sizes(workload: Workload, accelerator: Accelerator) -> list[int]:
    """Device counts worth trying: steps around the reference in whole nodes; a domain; a rack."""
    node = accelerator.devices_per_node or 1
    marks = {step * workload.reference_devices for step in DEVICE_STEPS}
    marks |= {float(accelerator.scaleup_domain_devices), float(accelerator.devices_per_rack or node)}
    limit = DEVICE_STEPS[-1] * max(workload.reference_devices, accelerator.scaleup_domain_devices)
    return sorted({max(node, round(mark / node) * node) for mark in marks if mark <= limit})


def operating_caps(accelerator: Accelerator, most: int) -> list[float]:
    """Power caps to choose from, nearest the provisioned one first, at most ``most``."""
    caps = [point.cap_w for point in accelerator.power_caps] or [power.highest_cap(accelerator)]
    usual = accelerator.provisioned_cap_w or max(caps)
    return sorted(sorted(caps, key=lambda cap: (abs(cap - usual), -cap))[:most])


def _grid(
    workload: Workload, accelerator: Accelerator, most_caps: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    batches = sorted({max(1, round(workload.local_batch * step)) for step in BATCH_STEPS})
    whole = workload.local_batch * workload.reference_devices
    pairs = [
        (d, b)
        for d in job_sizes(workload, accelerator)
        for b in batches
        if SMALLEST_GLOBAL_BATCH * whole <= d * b <= LARGEST_GLOBAL_BATCH * whole
    ] or [(workload.reference_devices, workload.local_batch)]
    caps = operating_caps(accelerator, most_caps)
    rows = np.array([(d, b, cap) for d, b in pairs for cap in caps], dtype=np.float64)
    return rows[:, 0], rows[:, 1], rows[:, 2]


def _columns(
    workload: Workload, accelerator: Accelerator, made: Evaluation, picked: NDArray[np.intp]
) -> dict[str, NDArray[np.generic]]:
    """What the step model says of the picked options of one layout."""
    per_rack = float(accelerator.devices_per_rack or 1)
    goodput = made.goodput if workload.goodput is None else np.full(made.devices.shape, workload.goodput)
    rate = made.samples_per_s / np.maximum(1.0, workload.straggler_factor / made.straggler)
    facility = power.facility_watts(accelerator, made.cap_w) * per_rack / 1e3
    average = accelerator.average_to_provisioned_power or 1.0
    exposed, scale = made.schedule.exposed, 1e3 / made.speed
    alltoall = exposed["input_exchange"] + exposed["alltoall_forward"] + exposed["alltoall_backward"]
    dense = made.exposed_seconds - alltoall
    step = made.devices * made.local_batch / rate
    needed = workload.training_samples_per_run / (rate * goodput)
    columns = {
        "devices": made.devices,
        "local_batch": made.local_batch,
        "cap_w": made.cap_w,
        "fits": made.fits,
        "memory_gb_per_device": made.memory_gb,
        "step_ms": step * 1e3,
        "samples_per_s": rate,
        "goodput": goodput,
        "net_samples_per_s_per_rack": rate * goodput / made.devices * per_rack,
        "provisioned_facility_kw_per_rack": facility,
        "average_facility_kw_per_rack": facility * average,
        "compute_ms": made.dense_seconds * scale,
        "embedding_ms": made.embedding_seconds * scale,
        "exposed_alltoall_ms": alltoall * scale,
        "exposed_allreduce_ms": dense * scale,
        "floor_ms": step * 1e3 - (made.schedule.compute + made.exposed_seconds) * scale,
        "meets_deadline": needed <= workload.deadline_days_per_run * SECONDS_PER_DAY,
    }
    chosen: dict[str, NDArray[np.generic]] = {name: value[picked] for name, value in columns.items()}
    whole = {name: chosen[name].astype(np.int64) for name in ("devices", "local_batch")}
    return chosen | whole | {"layout": np.full(len(picked), made.layout.name, dtype=object)}


def _option_ids(frame: pd.DataFrame) -> list[str]:
    """``workload/accelerator/devices/batch/cap``."""
    columns = (frame[c] for c in ("workload", "accelerator", "devices", "local_batch", "cap_w"))
    return [f"{w}/{a}/{d}/{b}/{c:g}" for w, a, d, b, c in zip(*columns, strict=True)]


def _undominated(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Options to keep, by (workload, accelerator, cap): the best useful rate per rack in time.

    Measured options always stay. Where nothing meets the deadline, the fastest job stays beside the
    best one, so that the plan can say how far it is; where nothing fits, the least need of memory.
    """
    keep = np.array(table["evidence"] == "measured", dtype=bool)
    groups = table.groupby(["workload", "accelerator", "cap_w"], sort=False)
    for rows in groups.indices.values():
        keep[_best(table, np.asarray(rows, dtype=np.intp))] = True
    return keep


def _best(table: pd.DataFrame, rows: NDArray[np.intp]) -> list[int]:
    fits = table["fits"].to_numpy(dtype=bool)[rows]
    if not fits.any():
        need = table["memory_gb_per_device"].to_numpy(dtype=np.float64)[rows]
        return [int(rows[need.argmin()])]
    soon = fits & table["meets_deadline"].to_numpy(dtype=bool)[rows]
    useful = table["net_samples_per_s_per_rack"].to_numpy(dtype=np.float64)[rows]
    if soon.any():
        return [int(rows[np.where(soon, useful, -1.0).argmax()])]
    rate = table["samples_per_s"].to_numpy(dtype=np.float64)[rows]
    return [int(rows[np.where(fits, values, -1.0).argmax()]) for values in (useful, rate)]
