"""Whether a job fits in memory under a layout, and how unevenly its tables lie, for arrays of options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance.memory import MemoryNeed, memory_need
from fleetplan.performance.sharding import Scheme, place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.counts import Counts
    from fleetplan.performance.layout import Layout

HBM_SHARE = {"hbm": 1.0, "cached": 0.1, "host": 0.0}
"""Part of the tables that lies in HBM, by tier; a cache of a tenth is what recsys-examples runs with."""


@dataclass(frozen=True)
class Fit:
    """Memory of the fullest device, and the work of the busiest one's tables over the mean."""

    memory: MemoryNeed
    imbalance: NDArray[np.float64]


def memory_fit(
    model: Model,
    counts: Counts,
    accelerator: Accelerator,
    layout: Layout,
    devices: NDArray[np.float64],
    batch: NDArray[np.float64],
) -> Fit:
    """Need, limit and imbalance of each option."""
    groups = np.maximum(1, devices // layout.sparse_replicas).astype(np.int64)
    sizes, where = np.unique(groups, return_inverse=True)
    found = np.array(
        [_imbalances(counts, int(n), layout.scheme, accelerator.scaleup_domain_devices) for n in sizes]
    )
    memory, work = found[where.reshape(groups.shape)].T
    need = memory_need(
        model,
        counts,
        accelerator,
        devices,
        batch,
        dense=layout.dense,
        sparse_replicas=layout.sparse_replicas,
        stages=layout.stages,
        hbm_share=HBM_SHARE[layout.tier],
        imbalance=memory.T,
    )
    return Fit(need, work.T)


MOST_RANKS = 512
"""Placements are computed up to here; beyond, the imbalance is that of so many ranks."""


def _imbalances(counts: Counts, ranks: int, scheme: Scheme, domain: int) -> tuple[float, float]:
    """(memory, work) of the fullest rank over the mean."""
    used = domain if scheme == "table-row-wise" else 1
    return _placed(counts, _representative(ranks), scheme, used)


def _representative(ranks: int) -> int:
    """Rank counts above 64 share the placement of the nearest power of two or its 1.5-fold."""
    if ranks <= _EXACT_RANKS:
        return ranks
    power = 2 ** int(np.floor(np.log2(ranks)))
    near = min((power, power * 3 // 2, 2 * power), key=lambda size: abs(np.log(size / ranks)))
    return int(min(near, MOST_RANKS))


_EXACT_RANKS = 64


def _placed(counts: Counts, ranks: int, scheme: Scheme, domain: int) -> tuple[float, float]:
    known = _PLACEMENTS.setdefault(counts.embeddings, {})
    key = (ranks, scheme, domain)
    if key not in known:
        placed = place(counts, ranks, scheme, domain)
        known[key] = (placed.memory_imbalance, placed.work_imbalance)
    return known[key]


_PLACEMENTS: dict[object, dict[tuple[int, Scheme, int], tuple[float, float]]] = {}
"""Placements that were computed, by the tables they place."""
