"""The search for the best layout that fits: dense and sparse parallelism, pipeline, host tier."""

from __future__ import annotations

from dataclasses import replace
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
    from fleetplan.performance.parts import Memo

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


class _Tried:
    """Evaluates layouts in order, without those that cannot be the best of any option.

    These are layouts by which no option can be cut, and host tiers where every option fits with its
    tables in HBM: a tier adds time to the same layout and takes none away.
    """

    def __init__(
        self,
        model: Model,
        accelerator: Accelerator,
        settings: Settings | None,
        counts: Counts,
        options: tuple[ArrayLike, ArrayLike, ArrayLike | None],
    ) -> None:
        self.model, self.accelerator, self.settings, self.counts = model, accelerator, settings, counts
        self.devices, self.local_batch, self.cap_w = options
        self.memo: Memo = {}
        self.made: dict[Layout, Evaluation] = {}

    def evaluation(self, layout: Layout) -> Evaluation | None:
        """The layout's evaluation; ``None`` where it is of no use."""
        whole = np.atleast_1d(np.asarray(self.devices, np.float64))
        if self.made and not possible(layout, self.accelerator, whole).any():
            return None
        in_memory = self.made.get(replace(layout, tier="hbm"))
        if layout.tier != "hbm" and in_memory is not None and in_memory.fits.all():
            return None
        self.made[layout] = evaluate(
            self.model,
            self.accelerator,
            devices=self.devices,
            local_batch=self.local_batch,
            cap_w=self.cap_w,
            layout=layout,
            settings=self.settings,
            counts=self.counts,
            memo=self.memo,
        )
        return self.made[layout]


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
    tried = _Tried(model, accelerator, settings, counted, (devices, local_batch, cap_w))
    made = [e for layout in candidates(model, counted) if (e := tried.evaluation(layout)) is not None]
    can = np.stack([possible(e.layout, accelerator, e.devices) for e in made])
    fits = np.stack([e.fits for e in made]) & can
    seconds = np.where(fits, np.stack([e.step_seconds for e in made]), np.inf)
    memory = np.where(can, np.stack([e.memory_gb for e in made]), np.inf)
    best = np.where(fits.any(axis=0), seconds.argmin(axis=0), memory.argmin(axis=0))
    return [(e, np.flatnonzero(best == i)) for i, e in enumerate(made) if np.any(best == i)]
