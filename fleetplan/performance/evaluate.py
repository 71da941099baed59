"""Many steps at once: arrays of (devices, local batch, cap) for one model, accelerator and layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.performance import power
from fleetplan.performance.constants import Fabric, Stack, context_of, load_constants
from fleetplan.performance.counts import count
from fleetplan.performance.fit import memory_fit
from fleetplan.performance.goodput import job_goodput
from fleetplan.performance.layout import Layout
from fleetplan.performance.parts import Parts, Work, step_parts
from fleetplan.performance.rates import Rates
from fleetplan.performance.schedule import COLLECTIVES, Overlap, Schedule, build_schedule
from fleetplan.performance.stragglers import jitter_factor

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.constants import Constants
    from fleetplan.performance.counts import Counts
    from fleetplan.performance.measured import MeasuredCollectives
    from fleetplan.performance.parts import Memo


@dataclass(frozen=True)
class Settings:
    """How steps are computed: software, fabric, overlap, constants and measured tables."""

    overlap: Overlap = "coarse"
    chunks: int | None = None
    """Chunks of the chunked schedule; ``None``: the best number of each."""
    stack: Stack = "tuned"
    fabric: Fabric = "infiniband"
    constants: Constants | None = None
    tables: MeasuredCollectives | None = None
    failures_per_1000_node_days: float | None = None
    """Of 8-GPU nodes; ``None``: the constants file."""

    def rates(
        self, model: Model, accelerator: Accelerator, moved: dict[str, NDArray[np.float64]] | None = None
    ) -> Rates:
        """Rates of an accelerator for a model under these settings; ``moved`` values per option."""
        context = context_of(
            accelerator, fabric=self.fabric, stack=self.stack, family=model.family, model=model.name
        )
        return Rates(accelerator, self.constants or load_constants(), context, moved=dict(moved or {}))


@dataclass(frozen=True)
class Evaluation:
    """Results for many options, one value each; times in seconds at the option's cap."""

    devices: NDArray[np.float64]
    local_batch: NDArray[np.float64]
    cap_w: NDArray[np.float64]
    layout: Layout
    parts: Parts
    """Isolated seconds at full speed."""
    schedule: Schedule
    laws: dict[str, str]
    rates: Rates
    counts: Counts
    straggler: NDArray[np.float64]
    floor: float
    """Fixed seconds of a step."""
    speed: NDArray[np.float64]
    """Rate at the cap over the rate at the highest cap."""
    step_seconds: NDArray[np.float64]
    memory_gb: NDArray[np.float64]
    memory_limit_gb: float
    goodput: NDArray[np.float64]

    @property
    def samples_per_s(self) -> NDArray[np.float64]:
        """Rate of one job while it runs."""
        return self.devices * self.local_batch / self.step_seconds

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the fullest device's need is within its memory less reserve."""
        return self.memory_gb <= self.memory_limit_gb

    @property
    def compute_seconds(self) -> NDArray[np.float64]:
        """Busy seconds of the mean device, at full speed."""
        return self.schedule.compute

    @property
    def exposed_seconds(self) -> NDArray[np.float64]:
        """Communication that nothing hides, at full speed."""
        return sum(self.schedule.exposed.values(), np.zeros_like(self.step_seconds))

    @property
    def busy_share(self) -> NDArray[np.float64]:
        """Compute's share of the step."""
        return np.minimum(self.compute_seconds / (self.step_seconds * self.speed), 1.0)

    @property
    def device_watts(self) -> NDArray[np.float64]:
        """Mean watts of one device over a step."""
        return power.device_watts(self.rates, self.cap_w, self.busy_share, 1 - self.busy_share)

    def frame(self) -> pd.DataFrame:
        """One row per option: rates, memory, watts and the step's parts in ms at the cap."""
        import pandas as pd

        scale = 1e3 / self.speed
        data: dict[str, object] = {
            "devices": self.devices.astype(int),
            "local_batch": self.local_batch.astype(int),
            "cap_w": self.cap_w,
            "layout": self.layout.name,
            "fits": self.fits,
            "memory_gb_per_device": self.memory_gb,
            "step_ms": self.step_seconds * 1e3,
            "samples_per_s": self.samples_per_s,
            "goodput": self.goodput,
            "device_w": self.device_watts,
            "dense_ms": self.dense_seconds * scale,
            "embedding_ms": self.embedding_seconds * scale,
        }
        data |= {f"exposed_{name}_ms": self.schedule.exposed[name] * scale for name in COLLECTIVES}
        return pd.DataFrame(data)

    @property
    def dense_seconds(self) -> NDArray[np.float64]:
        """Dense compute and its optimizer at full speed, with the pipeline's bubble."""
        return np.asarray(self.schedule.compute - self.embedding_seconds)

    @property
    def embedding_seconds(self) -> NDArray[np.float64]:
        """Lookup, backward, update, and what the host tier adds, at full speed."""
        p = self.parts
        return np.asarray(p.lookup + p.sparse_update + p.host_forward + p.host_backward)


def evaluate(
    model: Model,
    accelerator: Accelerator,
    *,
    devices: ArrayLike,
    local_batch: ArrayLike | None = None,
    cap_w: ArrayLike | None = None,
    layout: Layout | None = None,
    settings: Settings | None = None,
    counts: Counts | None = None,
    moved: dict[str, NDArray[np.float64]] | None = None,
    memo: Memo | None = None,
) -> Evaluation:
    """Evaluate steps for broadcastable arrays of devices, samples per device and cap in watts.

    ``moved`` gives constants or specifications by name a value of their own for each option.
    ``memo`` shares what layouts of the same options have in common.
    ``layout`` defaults to the model's own (dense sync, sparse replicas) with tables in HBM;
    ``cap_w`` to the highest cap. More than 200,000 options a second on one core, in calls of about
    8,000 options, whose arrays stay in the processor's cache.
    """
    chosen = settings or Settings()
    counted = counts or count(model)
    d, b, cap = _arrays(model, accelerator, devices, local_batch, cap_w)
    spread = layout or Layout(dense=model.dense_sync, sparse_replicas=model.sparse_replicas)
    shared = {} if memo is None else memo
    rates = shared.setdefault(("rates",), chosen.rates(model, accelerator, moved))
    fit = memory_fit(model, counted, accelerator, spread, d, b)
    imbalance = 1 + (fit.imbalance - 1) * rates["placement_imbalance_share"]
    work = Work(model, counted, rates, spread, d, b, imbalance, chosen.tables, shared)
    parts, laws = step_parts(work)
    schedule = build_schedule(parts, model, rates, spread, chosen.overlap, chosen.chunks)
    straggler = np.maximum(jitter_factor(d, rates["jitter_cv"]), model.straggler_factor)
    floor = rates["step_floor_ms"] * 1e-3
    speed = power.cap_speed(accelerator, cap)
    slowest = np.maximum(schedule.critical, np.maximum(parts.loading, parts.host_optimizer))
    seconds = (slowest * straggler + floor) / speed
    return Evaluation(
        d,
        b,
        cap,
        spread,
        parts,
        schedule,
        laws,
        rates,
        counted,
        straggler,
        floor,
        speed,
        seconds,
        fit.memory.need_gb,
        fit.memory.limit_gb,
        job_goodput(d, rates, chosen.failures_per_1000_node_days),
    )


def _arrays(
    model: Model, accelerator: Accelerator, devices: ArrayLike, batch: ArrayLike | None, cap: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    full = power.highest_cap(accelerator) if cap is None else cap
    size = model.local_batch if batch is None else batch
    d, b, c = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, np.float64)) for x in (devices, size, full)))
    return d, b, c
