"""What hosts can hold up: reading samples, and the dense optimizer's eigen-decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance.counts import INDEX_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.counts import Counts
    from fleetplan.performance.rates import Rates

BLOCK = 1024
"""Side of a Shampoo preconditioner block, as in Meta's distributed Shampoo (arXiv:2309.06497)."""
EIGEN_FLOP = 25.0
"""FLOP of a symmetric eigen-decomposition over n^3 (Golub and Van Loan, 4th ed., 8.3)."""


def loading_seconds(
    model: Model, counts: Counts, rates: Rates, batch: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Seconds to hand one step's samples to a device: bytes over the rate of its feed."""
    per_sample = model.sample_bytes
    size = counts.lookups_per_sample * INDEX_BYTES if per_sample is None else per_sample
    return batch * size / (rates["data_gb_per_s_per_device"] * 1e9)


def shampoo_seconds(
    model: Model, counts: Counts, rates: Rates, devices: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Host seconds of one step's share of the eigen-decompositions; 0 for other optimizers.

    A weight block of side n has two preconditioners, each n^3-work, refreshed once a period and
    spread over the job's hosts; it hides behind the steps of that period.
    """
    if model.optimizers.dense != "shampoo":
        return np.zeros_like(devices)
    blocks = counts.dense_parameters / BLOCK**2
    work = 2 * blocks * EIGEN_FLOP * BLOCK**3
    hosts = np.maximum(devices / (rates.accelerator.devices_per_node or 1), 1.0)
    total = work / (hosts * rates["host_shampoo_gflops"] * 1e9)
    return total / rates["shampoo_period_steps"]
