"""Useful share of running time: failures, restarts, checkpoints.

    ETTR = [1 - N·r_f·(u0 + dt/2)] / (1 + w/dt),   dt* = sqrt(2·w/(N·r_f))

All times in days; N nodes, r_f failures per node-day, u0 restart, w checkpoint write, dt interval.
Source: "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", arXiv:2410.21680.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fleetplan.performance.rates import Rates

MINUTES_PER_DAY = 1440.0


def best_interval_days(
    nodes: ArrayLike, failures_per_node_day: float, write_days: float
) -> NDArray[np.float64]:
    """Checkpoint interval with the least loss, in days (Young and Daly)."""
    rate = np.maximum(np.asarray(nodes, dtype=np.float64) * failures_per_node_day, 1e-12)
    return np.sqrt(2 * write_days / rate)


def effective_share(
    nodes: ArrayLike, failures_per_node_day: float, restart_days: float, write_days: float
) -> NDArray[np.float64]:
    """Share of running time that trains, at the best checkpoint interval; within 0..1."""
    count = np.asarray(nodes, dtype=np.float64)
    interval = best_interval_days(count, failures_per_node_day, write_days)
    lost = count * failures_per_node_day * (restart_days + interval / 2)
    return np.clip((1 - lost) / (1 + write_days / interval), 0.0, 1.0)


def job_goodput(
    devices: ArrayLike, rates: Rates, failures_per_1000_node_days: float | None = None
) -> NDArray[np.float64]:
    """Goodput of a job on ``devices`` devices; the failure rate is per node of this accelerator."""
    per_node = rates.accelerator.devices_per_node or 8
    nodes = np.ceil(np.asarray(devices, dtype=np.float64) / per_node)
    stated = failures_per_1000_node_days
    own = rates["failures_per_1000_node_days"]
    failures = (own if stated is None else stated * own / _EIGHT_GPU_NODE) / 1000
    restart = rates["restart_minutes"] / MINUTES_PER_DAY
    write = rates["checkpoint_minutes"] / MINUTES_PER_DAY
    return effective_share(nodes, failures, restart, write)


_EIGHT_GPU_NODE = 6.5
"""Failures per 1,000 node-days of 8-GPU nodes that the constants refer to (arXiv:2410.21680)."""
