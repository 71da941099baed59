"""Embedding lookup, backward and optimizer: bytes of the slowest device over what its kernels reach.

Per device, with U distinct rows per step, L lookups and P vectors per sample, global batch G:

* forward: ``U·d·e_w + P·G·d·e_c + L·G·8`` over ``Bm · share_fwd``;
* backward: ``P·G·d·e_g + 4·L·G·8 + U·d·(2·e_w + 2·m·4)`` over ``Bm · share_bwd``, m moments per weight;
* host tier: ``(1-c)·U·d·e_w`` up over the gather rate, rows and states back over the update rate.

The shares follow the published ratios of embedding kernels, not HBM bandwidth (MTIA 300 paper; FBGEMM
column of NVIDIA recsys-examples on H100).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance.access import unique_rows
from fleetplan.performance.counts import INDEX_BYTES, STATE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.performance.counts import Counts, EmbeddingCount
    from fleetplan.performance.rates import Rates

SORT_PASSES = 4
"""Reads and writes of the index list while it is sorted and segmented."""
KERNELS_FORWARD, KERNELS_BACKWARD = 2, 4


@dataclass(frozen=True)
class EmbeddingWork:
    """Bytes per device and step, one value per option."""

    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    host_rows: NDArray[np.float64]
    """Weights of distinct rows, which a host tier must move."""
    host_states: NDArray[np.float64]


def embedding_work(
    counts: Counts, devices: NDArray[np.float64], batch: NDArray[np.float64], imbalance: NDArray[np.float64]
) -> EmbeddingWork:
    """Bytes of the slowest device; ``imbalance`` is its work over the mean."""
    zero = np.zeros(np.broadcast(devices, batch).shape)
    total = EmbeddingWork(zero, zero, zero, zero)
    for group in counts.embeddings:
        part = _group_work(group, counts, devices, batch, imbalance)
        total = EmbeddingWork(
            total.forward + part.forward,
            total.backward + part.backward,
            total.host_rows + part.host_rows,
            total.host_states + part.host_states,
        )
    return total


def _group_work(
    group: EmbeddingCount,
    counts: Counts,
    devices: NDArray[np.float64],
    batch: NDArray[np.float64],
    imbalance: NDArray[np.float64],
) -> EmbeddingWork:
    """A replicated group sees its own batch; a sharded one the global batch, divided over devices."""
    samples = batch if group.data_parallel else batch * devices
    share = np.ones_like(samples) if group.data_parallel else imbalance / devices
    lookups = group.lookups_per_sample * samples
    rows = _rows_touched(group, lookups)
    width = rows * group.dim
    vectors = group.vectors_per_sample * samples * group.dim
    weights = width * group.weight_bytes_per_element
    states = width * group.moments * STATE_BYTES
    forward = weights + vectors * counts.communication_bytes_per_element + lookups * INDEX_BYTES
    gradients = vectors * counts.communication_backward_bytes_per_element
    backward = gradients + SORT_PASSES * lookups * INDEX_BYTES + 2 * weights + 2 * states
    return EmbeddingWork(forward * share, backward * share, weights * share, states * share)


def _rows_touched(group: EmbeddingCount, lookups: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distinct rows per step; many options share one curve over the number of lookups."""
    if lookups.size <= _GRID or not group.zipf_alpha or group.unique_ratio is not None:
        return unique_rows(group, lookups)
    grid = np.geomspace(lookups.min(), max(lookups.max(), lookups.min() * (1 + 1e-9)), _GRID)
    curve = unique_rows(group, grid)
    return np.exp(np.interp(np.log(lookups), np.log(grid), np.log(curve)))


_GRID = 48
"""Points of that curve: two per octave over the sizes in use, within 0.1 % of the sum."""


def hbm_seconds(
    counts: Counts, work: EmbeddingWork, rates: Rates, launch: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Forward and backward (with optimizer) seconds of tables in HBM."""
    groups = len(counts.embeddings)
    maturity = rates["embedding_maturity"]
    ceiling = rates.hbm_stream
    forward = np.minimum(rates.hbm * rates["embedding_forward_share"] * maturity, ceiling)
    backward = np.minimum(rates.hbm * rates["embedding_backward_share"] * maturity, ceiling)
    return (
        work.forward / forward + groups * KERNELS_FORWARD * launch,
        work.backward / backward + groups * KERNELS_BACKWARD * launch,
    )


def host_seconds(
    work: EmbeddingWork, rates: Rates, cached: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Extra forward and backward seconds of tables on the host, behind an HBM cache of weights or bare."""
    scale = rates.host_link_scale
    miss = 1 - rates["host_cache_hit_share"] if cached else 1.0
    gather = rates["host_gather_gb_per_s"] * 1e9 * scale
    update = rates["host_update_gb_per_s"] * 1e9 * scale
    weights = 0.0 if cached else 2.0 * work.host_rows
    return miss * work.host_rows / gather, (weights + 2 * work.host_states) / update
