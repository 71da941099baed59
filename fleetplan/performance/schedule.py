"""One step as a schedule: what runs beside what, what stays exposed, what is critical.

Four phases, each compute beside the collectives that may run then (contention: :mod:`overlap`):

1. input exchange of the next batch and the lookup;
2. forward: the vectors' all-to-all beside the bottom MLP, and beside the rest as far as the trainer
   allows (``alltoall_overlap_share``); weight gathers beside the dense part;
3. backward: gradient reduction and the vectors' gradients beside dense backward and sparse update;
4. dense optimizer.

``coarse`` is that; ``chunked`` cuts the exchanges and their producers and consumers into C chunks
and takes the best C (and the coarse schedule where that is faster); ``none`` runs all in series.
The step is ``max(critical path, data loading, host optimizer) x straggler + floor``. A pipeline of p
stages and mb micro-batches adds (p-1)/mb of the dense time as bubble (GPipe, arXiv:1811.06965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fleetplan.performance.overlap import best_chunks, chunked, contention

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.layout import Layout
    from fleetplan.performance.parts import Parts
    from fleetplan.performance.rates import Rates

Overlap = Literal["coarse", "chunked", "none"]
COLLECTIVES = (
    "input_exchange",
    "alltoall_forward",
    "alltoall_backward",
    "allreduce",
    "gather_forward",
    "gather_backward",
    "sparse_sync",
    "pipeline_send",
)
_KIND = {
    "input_exchange": "alltoall",
    "alltoall_forward": "alltoall",
    "alltoall_backward": "alltoall",
    "allreduce": "allreduce",
    "sparse_sync": "allreduce",
    "pipeline_send": "alltoall",
    "gather_forward": "allgather",
    "gather_backward": "allgather",
}


@dataclass(frozen=True)
class Item:
    """A collective in a phase: isolated seconds, and the rates while it runs beside compute."""

    name: str
    seconds: NDArray[np.float64]
    compute_rate: float
    wire_rate: float


@dataclass(frozen=True)
class Phase:
    """A stretch of the step: compute and the collectives beside it, and how long both take."""

    name: str
    compute: NDArray[np.float64]
    items: tuple[Item, ...]
    seconds: NDArray[np.float64]
    chunks: NDArray[np.float64]

    @property
    def exposed(self) -> dict[str, NDArray[np.float64]]:
        """Seconds of each collective that nothing hides: its share of what exceeds compute."""
        total = sum((item.seconds for item in self.items), np.zeros_like(self.compute))
        over = np.clip(self.seconds - self.compute, 0.0, total)
        safe = np.where(total > 0, total, 1.0)
        return {item.name: over * item.seconds / safe for item in self.items}


@dataclass(frozen=True)
class Schedule:
    """Phases in order; ``critical`` is their sum, before stragglers, hosts and the floor."""

    phases: tuple[Phase, ...]
    critical: NDArray[np.float64]
    exposed: dict[str, NDArray[np.float64]]
    compute: NDArray[np.float64]


def beside(compute: NDArray[np.float64], items: tuple[Item, ...]) -> NDArray[np.float64]:
    """Time of compute beside several collectives that share one stream.

    The two-line maximum of :func:`fleetplan.performance.overlap.overlapped`, with each collective's
    own slowdown; never more than in series.
    """
    wire = sum((item.seconds for item in items), np.zeros_like(compute))
    slowed = sum(((1 - i.compute_rate) / i.wire_rate * i.seconds for i in items), compute)
    stretch = np.zeros_like(compute)
    for item in items:
        own = (1 - item.wire_rate) / item.compute_rate
        stretch = np.maximum(stretch, np.where(item.seconds > 0, own, 0.0))
    return np.minimum(np.maximum(slowed, wire + stretch * compute), compute + wire)


def build_schedule(
    parts: Parts, model: Model, rates: Rates, layout: Layout, overlap: Overlap, chunks: int | None = None
) -> Schedule:
    """Put the parts on the step's critical path."""
    if overlap == "chunked":
        cut = _joined(_chunked_phases(parts, rates, layout, chunks))
        coarse = _joined(_phases(parts, model, rates, layout, "coarse"))
        return cut if chunks is not None else _faster(cut, coarse)
    return _joined(_phases(parts, model, rates, layout, overlap))


def _joined(made: list[Phase]) -> Schedule:
    phases = tuple(made)
    first = phases[0].seconds
    critical = sum((phase.seconds for phase in phases), np.zeros_like(first))
    exposed = {name: np.zeros_like(critical) for name in COLLECTIVES}
    for phase in phases:
        for name, seconds in phase.exposed.items():
            exposed[name] = exposed[name] + seconds
    compute = sum((phase.compute for phase in phases), np.zeros_like(critical))
    return Schedule(phases, critical, exposed, compute)


def _phases(p: Parts, model: Model, rates: Rates, layout: Layout, overlap: Overlap) -> list[Phase]:
    free = 0.0 if overlap == "none" else model.alltoall_overlap_share
    dense = 0.0 if overlap == "none" else model.dense_sync_overlap_share
    ahead = 0.0 if overlap == "none" else 1.0
    bubble = (layout.stages - 1) / max(1, layout.micro_batches)
    look = p.lookup + p.host_forward
    update = p.sparse_update + p.host_backward
    forward = p.dense_forward * (1 + bubble)
    backward = p.dense_backward * (1 + bubble)
    made = _Maker(rates, overlap)
    return [
        made.phase("lookup", look, {}),
        made.phase(
            "forward exchange", p.bottom_forward, {"alltoall_forward": (1 - free) * p.alltoall_forward}
        ),
        made.phase(
            "forward",
            forward,
            {
                "alltoall_forward": free * p.alltoall_forward,
                "input_exchange": ahead * p.input_exchange,
                "gather_forward": dense * p.gather_forward,
            },
        ),
        made.phase(
            "backward",
            backward + update,
            {
                "alltoall_backward": free * p.alltoall_backward,
                "allreduce": dense * p.allreduce,
                "gather_backward": dense * p.gather_backward,
                "sparse_sync": dense * p.sparse_sync,
            },
        ),
        made.phase(
            "backward exchange", p.bottom_backward, {"alltoall_backward": (1 - free) * p.alltoall_backward}
        ),
        made.phase("synchronise", p.optimizer, {}),
        made.serial(
            "exposed by the trainer",
            {
                "input_exchange": (1 - ahead) * p.input_exchange,
                "allreduce": (1 - dense) * p.allreduce,
                "gather_forward": (1 - dense) * p.gather_forward,
                "gather_backward": (1 - dense) * p.gather_backward,
                "sparse_sync": (1 - dense) * p.sparse_sync,
                "pipeline_send": p.pipeline_send,
            },
        ),
    ]


def _chunked_phases(p: Parts, rates: Rates, layout: Layout, chunks: int | None) -> list[Phase]:
    """All exchanges cut into chunks beside the compute that makes and uses them."""
    bubble = (layout.stages - 1) / max(1, layout.micro_batches)
    made = _Maker(rates, "chunked")
    ahead = p.lookup + p.host_forward + p.bottom_forward + p.dense_forward * (1 + bubble)
    back = p.bottom_backward + p.dense_backward * (1 + bubble) + p.sparse_update + p.host_backward
    return [
        made.chunks(
            "forward",
            ahead,
            {
                "alltoall_forward": p.alltoall_forward,
                "input_exchange": p.input_exchange,
                "gather_forward": p.gather_forward,
            },
            chunks,
        ),
        made.chunks(
            "backward",
            back,
            {
                "alltoall_backward": p.alltoall_backward,
                "allreduce": p.allreduce,
                "gather_backward": p.gather_backward,
                "sparse_sync": p.sparse_sync,
            },
            chunks,
        ),
        made.phase("synchronise", p.optimizer, {}),
        made.serial("exposed by the trainer", {"pipeline_send": p.pipeline_send}),
    ]


def _faster(one: Schedule, other: Schedule) -> Schedule:
    """The faster schedule of each option; phases are kept where one side is faster everywhere."""
    first = one.critical <= other.critical
    if np.all(first):
        return one
    if not np.any(first):
        return other
    exposed = {name: np.where(first, one.exposed[name], other.exposed[name]) for name in COLLECTIVES}
    compute = np.where(first, one.compute, other.compute)
    return Schedule((), np.minimum(one.critical, other.critical), exposed, compute)


@dataclass(frozen=True)
class _Maker:
    """Makes phases with this accelerator's contention."""

    rates: Rates
    overlap: Overlap

    def items(self, wires: dict[str, NDArray[np.float64]]) -> tuple[Item, ...]:
        return tuple(
            Item(name, seconds, *contention(self.rates, _KIND[name])) for name, seconds in wires.items()
        )

    def phase(self, name: str, compute: NDArray[np.float64], wires: dict[str, NDArray[np.float64]]) -> Phase:
        items = self.items(wires)
        if self.overlap == "none":
            seconds = sum((item.seconds for item in items), compute)
        else:
            seconds = beside(compute, items)
        return Phase(name, compute, items, seconds, np.ones_like(compute))

    def serial(self, name: str, wires: dict[str, NDArray[np.float64]]) -> Phase:
        items = self.items(wires)
        zero = np.zeros_like(items[0].seconds)
        return Phase(name, zero, items, sum((item.seconds for item in items), zero), np.ones_like(zero))

    def chunks(
        self,
        name: str,
        compute: NDArray[np.float64],
        wires: dict[str, NDArray[np.float64]],
        count: int | None,
    ) -> Phase:
        items = self.items(wires)
        wire = sum((item.seconds for item in items), np.zeros_like(compute))
        full = beside(compute, items)
        kc, km = _effective(compute, wire, full)
        alpha = self.rates["chunk_fixed_us"] * 1e-6
        number = best_chunks(compute, wire, kc, km, alpha) if count is None else np.full_like(compute, count)
        seconds = chunked(compute, wire, kc, km, number, alpha)
        return Phase(name, compute, items, seconds, number)


def _effective(
    compute: NDArray[np.float64], wire: NDArray[np.float64], full: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One (kc, km = 1) pair that gives ``full`` for this compute and wire time."""
    over = np.clip((full - compute) / np.maximum(wire, 1e-30), 0.0, 1.0)
    return 1 - over, np.ones_like(over)
