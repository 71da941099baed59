"""The search for the best layout that fits: dense and sparse parallelism, pipeline, host tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance.counts import count
from fleetplan.performance.evaluate import Evaluation, Settings, evaluate
from fleetplan.performance.layout import DenseParallel, Layout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.counts import Counts

REPLICAS = (2, 4, 8)
STAGES = ((2, 8), (4, 16))
LARGE_DENSE_PARAMETERS = 1_000_000_000
"""From here on a dense part is worth sharding or cutting into stages."""


def candidates(model: Model, counts: Counts) -> list[Layout]:
    """Layouts worth computing: the model's own first, then others, host tiers last."""
    first = Layout(dense=model.dense_sync, sparse_replicas=model.sparse_replicas)
    dense: list[DenseParallel] = [model.dense_sync]
    large = counts.dense_parameters >= LARGE_DENSE_PARAMETERS
    if large:
        dense = ["ddp", "hsdp", "fsdp"]
    made = [first, *(Layout(dense=d, sparse_replicas=r) for d in dense for r in (1, *REPLICAS))]
    if large:
        made += [Layout(dense="ddp", stages=p, micro_batches=m) for p, m in STAGES]
    if any(group.row_wise for group in counts.embeddings):
        made += [Layout(dense=d, scheme="table-row-wise") for d in dense]
    made += [Layout(dense=d, tier=tier) for tier in ("cached", "host") for d in dense]
    return list(dict.fromkeys(made))


def possible(layout: Layout, accelerator: Accelerator, devices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a device count can be cut this way: whole groups; replicas only beyond one domain."""
    whole = (devices % layout.sparse_replicas == 0) & (devices % layout.stages == 0)
    enough = devices >= 2 * layout.sparse_replicas * layout.stages
    spread = (layout.sparse_replicas == 1) | (devices > accelerator.scaleup_domain_devices)
    single = (layout.sparse_replicas == 1) and (layout.stages == 1)
    can: NDArray[np.bool_] = whole & spread & (enough | single)
    return can


def best_layout(
    model: Model, accelerator: Accelerator, devices: int, local_batch: float, settings: Settings | None = None
) -> Layout:
    """The fastest layout that fits; the one that needs least memory where none does."""
    return best_evaluations(model, accelerator, devices, local_batch, None, settings)[0][0].layout


def best_evaluations(
    model: Model,
    accelerator: Accelerator,
    devices: ArrayLike,
    local_batch: ArrayLike,
    cap_w: ArrayLike | None,
    settings: Settings | None = None,
    counts: Counts | None = None,
) -> list[tuple[Evaluation, NDArray[np.intp]]]:
    """Evaluations by layout, each with the options for which that layout is the best.

    Best: fits and is fastest; where no layout fits, the one with the least need of memory. Options
    that no other layout can cut keep the model's own.
    """
    counted = counts or count(model)
    memo: dict[tuple[int, int], dict[str, NDArray[np.float64]]] = {}
    made = [
        evaluate(
            model,
            accelerator,
            devices=devices,
            local_batch=local_batch,
            cap_w=cap_w,
            layout=layout,
            settings=settings,
            counts=counted,
            memo=memo,
        )
        for layout in candidates(model, counted)
    ]
    can = np.stack([possible(e.layout, accelerator, e.devices) for e in made])
    fits = np.stack([e.fits for e in made]) & can
    seconds = np.where(fits, np.stack([e.step_seconds for e in made]), np.inf)
    memory = np.where(can, np.stack([e.memory_gb for e in made]), np.inf)
    best = np.where(fits.any(axis=0), seconds.argmin(axis=0), memory.argmin(axis=0))
    return [(e, np.flatnonzero(best == i)) for i, e in enumerate(made) if np.any(best == i)]
