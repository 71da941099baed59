"""Memory of the fullest device, what of it is what, and the fewest devices that hold a job.

Per device (TorchRec planner's parts, with the dense part counted instead of reserved)::

    need = (tables + optimizer state) · imbalance · replicas / D  +  replicated tables
         + dense weights, gradients and optimizer state, in full or as a shard
         + activations(b)  +  exchange buffers(b) · pipeline factor
    fits : need <= HBM · (1 - reserve)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.inputs.architecture import DTYPE_BYTES
from fleetplan.performance.counts import STATE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import DenseSync, Model
    from fleetplan.performance.counts import Counts

    Array = NDArray[np.float64]

DENSE_STATES: dict[str, float] = {"sgd": 0, "adagrad": 1, "adam": 2, "shampoo": 6}
"""FP32 state elements per dense weight. Shampoo: two preconditioners and their roots in blocks
(4 per weight), momentum and grafting (arXiv:2309.06497)."""
RESERVE_SHARE = 0.15
"""Share of HBM for fragmentation, runtime and libraries where the accelerator does not say (0.10 to 0.25)."""
PIPELINE_FACTOR = 2.0
"""Batches in flight: 2 with the standard pipeline, 3 with prefetch (TorchRec planner)."""
_MOST_DEVICES = 1 << 17


@dataclass(frozen=True)
class MemoryNeed:
    """GB on the fullest device by part, one value per option, and what the device can give."""

    tables_gb: Array
    """Sharded tables with optimizer state; only what lies in HBM."""
    replicated_gb: Array
    """Tables that lie on every device, with gradients and state."""
    dense_gb: Array
    activations_gb: Array
    buffers_gb: Array
    hbm_gb: float
    reserve_share: float

    @property
    def need_gb(self) -> Array:
        """All parts."""
        return self.tables_gb + self.replicated_gb + self.dense_gb + self.activations_gb + self.buffers_gb

    @property
    def limit_gb(self) -> float:
        """HBM less the reserve."""
        return self.hbm_gb * (1 - self.reserve_share)

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether each option's need is within the limit."""
        return self.need_gb <= self.limit_gb

    def explain(self, option: int = 0) -> str:
        """One sentence: what the fullest device needs, of what, and what it has."""
        names = ("tables", "replicated tables", "dense part", "activations", "exchange buffers")
        parts = (self.tables_gb, self.replicated_gb, self.dense_gb, self.activations_gb, self.buffers_gb)
        sizes = [float(np.ravel(part)[option]) for part in parts]
        shown = ", ".join(
            f"{name} {size:.1f}" for name, size in zip(names, sizes, strict=True) if size >= 0.05
        )
        reserve = f"{self.hbm_gb:g} GB less {self.reserve_share:.0%}"
        return f"needs {sum(sizes):.1f} GB ({shown}), has {self.limit_gb:.1f} GB ({reserve})"


def memory_need(
    model: Model,
    counts: Counts,
    accelerator: Accelerator,
    devices: Array,
    batch: Array,
    *,
    dense: DenseSync | None = None,
    sparse_replicas: int | None = None,
    stages: int = 1,
    hbm_share: float = 1.0,
    imbalance: Array | float = 1.0,
    pipeline_factor: float = PIPELINE_FACTOR,
) -> MemoryNeed:
    """Need of each option; ``devices`` and ``batch`` (samples per device) broadcast.

    ``dense`` and ``sparse_replicas`` take the model's own where they are not given. ``stages`` cuts
    the dense part by pipeline, ``hbm_share`` is the part of the tables kept in HBM (1; a cache's share; 0),
    ``imbalance`` the fullest rank's table bytes over the mean.
    """
    devices, batch = np.broadcast_arrays(np.asarray(devices, np.float64), np.asarray(batch, np.float64))
    replicas = model.sparse_replicas if sparse_replicas is None else sparse_replicas
    sharded = sum(g.weight_bytes + g.state_bytes for g in counts.embeddings if not g.data_parallel)
    tables = sharded * hbm_share * imbalance / np.maximum(1.0, devices / replicas)
    kept = _dense_bytes(model, counts, accelerator, devices, dense or model.dense_sync) / stages
    exchanged = (
        counts.index_bytes_per_sample
        + counts.alltoall_forward_bytes_per_sample
        + counts.alltoall_backward_bytes_per_sample
    )
    reserve = accelerator.hbm_reserve_share
    return MemoryNeed(
        tables_gb=tables / 1e9,
        replicated_gb=np.full(devices.shape, _replicated_bytes(counts) / 1e9),
        dense_gb=kept / 1e9,
        activations_gb=counts.activation_bytes_per_sample * batch / stages / 1e9,
        buffers_gb=exchanged * batch * pipeline_factor / 1e9,
        hbm_gb=accelerator.hbm_gb,
        reserve_share=RESERVE_SHARE if reserve is None else reserve,
    )


def smallest_devices(
    model: Model,
    counts: Counts,
    accelerator: Accelerator,
    batch: float,
    *,
    dense: DenseSync | None = None,
    hbm_share: float = 1.0,
    imbalance: float = 1.0,
) -> int | None:
    """Fewest devices that hold the job at ``batch`` samples per device; ``None`` if no number does.

    All counts up to 131,072 are tried at once, so nothing is assumed about how the need falls.
    """
    devices = np.arange(1.0, _MOST_DEVICES + 1)
    need = memory_need(
        model, counts, accelerator, devices, np.array(batch, np.float64),
        dense=dense, hbm_share=hbm_share, imbalance=imbalance,
    )  # fmt: skip
    fits = need.fits
    return int(np.argmax(fits)) + 1 if fits.any() else None


def dense_bytes_per_parameter(model: Model) -> float:
    """Weight, FP32 master copy where the compute format is narrower, gradient and optimizer state."""
    weight = DTYPE_BYTES[model.precisions.compute]
    master = STATE_BYTES if weight < STATE_BYTES else 0
    gradient = DTYPE_BYTES[model.precisions.gradient]
    return weight + master + gradient + STATE_BYTES * DENSE_STATES[model.optimizers.dense]


def _replicated_bytes(counts: Counts) -> float:
    """Tables on every device: weights, state, and a dense gradient of the weights' size."""
    return sum(2 * g.weight_bytes + g.state_bytes for g in counts.embeddings if g.data_parallel)


def _dense_bytes(
    model: Model, counts: Counts, accelerator: Accelerator, devices: Array, dense: DenseSync
) -> Array:
    """Dense part on one device: a full copy, or a shard beside the two largest gathered layers."""
    whole = counts.dense_parameters * dense_bytes_per_parameter(model)
    if dense == "ddp":
        return np.full(devices.shape, whole)
    shard = model.dense_shard_devices or accelerator.scaleup_domain_devices
    group = devices if dense == "fsdp" else np.minimum(devices, shard)
    largest = max((op.weight_bytes / op.repeat for op in counts.operators), default=0.0)
    return whole / group + 2 * largest * (group > 1)
