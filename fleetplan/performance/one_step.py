"""One training step of one model on one accelerator, with everything a reader may ask of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import UsageError
from fleetplan.performance import power
from fleetplan.performance.bands import band_factors
from fleetplan.performance.evaluate import Evaluation, Settings, evaluate
from fleetplan.performance.lanes import Segment, critical_path, segments
from fleetplan.performance.layout import Layout
from fleetplan.performance.layouts import best_layout
from fleetplan.performance.schedule import COLLECTIVES
from fleetplan.performance.utilization import Utilization, utilization

if TYPE_CHECKING:
    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.constants import Constants, Fabric, Stack
    from fleetplan.performance.measured import MeasuredCollectives
    from fleetplan.performance.schedule import Overlap


@dataclass(frozen=True)
class StepResult:
    """One step. Times in ms at the cap; rates per job; power in watts of IT unless a name says facility."""

    model: str
    accelerator: str
    devices: int
    local_batch: int
    global_batch: int
    cap_w: float
    layout: str
    overlap: str
    stack: str
    fabric: str
    step_ms: float
    samples_per_s: float
    samples_per_s_low: float
    samples_per_s_high: float
    parts_ms: dict[str, float]
    """What the step is made of; these add to ``step_ms``."""
    isolated_ms: dict[str, float]
    """Each collective on its own; exposed parts are at most these."""
    exposed_ms: dict[str, float]
    critical_path: list[str]
    bound: str
    """The largest part, in words."""
    fits: bool
    memory_gb_per_device: float
    memory_limit_gb: float
    goodput: float
    net_samples_per_s: float
    """Samples per second after failures and checkpoints."""
    device_w: float
    node_w: float
    facility_kw_per_device: float | None
    """Provisioned facility power at the cap; ``None`` where the law is not known."""
    joules_per_sample: float
    """IT energy of the job's nodes per sample."""
    samples_per_s_per_facility_kw: float | None
    samples_per_s_per_musd: float | None
    utilization: Utilization
    laws: dict[str, str]
    """For each collective, the law or measured table that gave its time."""
    constants_used: dict[str, float]
    weakest_evidence: list[str]
    """Constants that this answer rests on and that are assumed."""
    segments: list[Segment] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return asdict(self)


def step(
    model: Model,
    accelerator: Accelerator,
    *,
    devices: int,
    local_batch: int | None = None,
    global_batch: int | None = None,
    cap_w: float | None = None,
    layout: str | Layout | None = None,
    overlap: Overlap = "coarse",
    chunks: int | None = None,
    constants: Constants | None = None,
    stack: Stack = "tuned",
    fabric: Fabric = "infiniband",
    tables: MeasuredCollectives | None = None,
) -> StepResult:
    """Predict one synchronous training step.

    ``devices`` train together; give samples per device (``local_batch``) or in all (``global_batch``),
    or neither for the model's own batch per device. ``cap_w`` is the power cap per device (highest
    by default). ``layout`` is a :class:`Layout` or its name; ``"best"`` searches for the fastest that
    fits; ``None`` is the model's own (which measured jobs ran), or the best where that does not fit.
    ``overlap`` is ``coarse`` (today's trainers), ``chunked`` (chunk-centric; ``chunks`` or the best
    number) or ``none``. ``tables`` overrides the laws of collectives. Raises ``UsageError`` where
    sizes are off.
    """
    batch = _batch(model, devices, local_batch, global_batch)
    if cap_w is not None and not cap_w > 0:
        message = f"a power cap is above 0 W, not {cap_w:g}"
        raise UsageError(message)
    settings = Settings(overlap, chunks, stack, fabric, constants, tables)
    spread = _layout(layout, model, accelerator, devices, batch, settings)
    made = evaluate(
        model, accelerator, devices=devices, local_batch=batch, cap_w=cap_w, layout=spread, settings=settings
    )
    low, high = band_factors(model, accelerator, devices, batch, spread, settings)
    return _result(model, accelerator, made, settings, low, high)


def _layout(
    asked: str | Layout | None,
    model: Model,
    accelerator: Accelerator,
    devices: int,
    batch: float,
    settings: Settings,
) -> Layout:
    if isinstance(asked, Layout):
        return asked
    if isinstance(asked, str) and asked != BEST:
        return Layout.parse(asked)
    own = evaluate(model, accelerator, devices=devices, local_batch=batch, settings=settings)
    if asked is None and own.fits[0]:
        return own.layout
    return best_layout(model, accelerator, devices, batch, settings)


BEST = "best"
"""Layout name that asks for the search."""


def _batch(model: Model, devices: int, local: int | None, whole: int | None) -> float:
    if devices < 1:
        message = f"devices must be at least 1, not {devices}"
        raise UsageError(message)
    if local is not None and whole is not None and local * devices != whole:
        message = f"local batch {local} x {devices} devices is not global batch {whole}; give one of them"
        raise UsageError(message)
    batch = local if local is not None else whole / devices if whole is not None else model.local_batch
    if batch < 1:
        message = f"a batch of {batch:g} samples per device is less than one sample"
        raise UsageError(message)
    return float(batch)


def _result(
    model: Model, accelerator: Accelerator, made: Evaluation, settings: Settings, low: float, high: float
) -> StepResult:
    scale = 1e3 / float(made.speed[0])
    rate = float(made.samples_per_s[0])
    batch = float(made.local_batch[0])
    exposed = {name: float(made.schedule.exposed[name][0]) * scale for name in COLLECTIVES}
    isolated = {name: float(getattr(made.parts, name)[0]) * scale for name in COLLECTIVES}
    parts = _parts_ms(made, exposed, scale)
    device = float(made.device_watts[0])
    node = float(power.node_watts(made.rates, device, float(made.busy_share[0])))
    per_node = accelerator.devices_per_node or 8
    facility = _number(float(power.facility_watts(accelerator, made.cap_w)[0]) / 1e3)
    used = made.rates.used
    return StepResult(
        model=model.name,
        accelerator=accelerator.name,
        devices=int(made.devices[0]),
        local_batch=round(batch),
        global_batch=round(batch * made.devices[0]),
        cap_w=float(made.cap_w[0]),
        layout=made.layout.name,
        overlap=settings.overlap,
        stack=settings.stack,
        fabric=settings.fabric,
        step_ms=float(made.step_seconds[0]) * 1e3,
        samples_per_s=rate,
        samples_per_s_low=rate * low,
        samples_per_s_high=rate * high,
        parts_ms=parts,
        isolated_ms=isolated,
        exposed_ms=exposed,
        critical_path=critical_path(made),
        bound=max(parts, key=lambda name: parts[name]),
        fits=bool(made.fits[0]),
        memory_gb_per_device=float(made.memory_gb[0]),
        memory_limit_gb=made.memory_limit_gb,
        goodput=float(made.goodput[0]),
        net_samples_per_s=rate * float(made.goodput[0]),
        device_w=device,
        node_w=node,
        facility_kw_per_device=facility,
        joules_per_sample=node * float(made.devices[0]) / per_node / rate,
        samples_per_s_per_facility_kw=None
        if facility is None
        else rate / (facility * float(made.devices[0])),
        samples_per_s_per_musd=_per_musd(accelerator, rate, float(made.devices[0])),
        utilization=utilization(made, model),
        laws=made.laws,
        constants_used={name: constant.value for name, constant in sorted(used.items())},
        weakest_evidence=sorted(c.key for c in used.values() if c.status == "assumed"),
        segments=segments(made),
    )


def _parts_ms(made: Evaluation, exposed: dict[str, float], scale: float) -> dict[str, float]:
    """Parts that add to the step: kernels by kind, exposed collectives, waiting and the floor."""
    p = made.parts
    own = {
        "matrix products": p.gemm,
        "attention": p.attention,
        "elementwise": p.elementwise,
        "lookup": p.lookup,
        "sparse update": p.sparse_update,
        "host tier": p.host_forward + p.host_backward,
        "dense optimizer": p.optimizer,
    }
    parts = {name: float(value[0]) * scale for name, value in own.items()}
    parts["pipeline bubble"] = float(made.schedule.compute[0]) * scale - sum(parts.values())
    parts |= {f"exposed {name.replace('_', ' ')}": value for name, value in exposed.items()}
    critical = float(made.schedule.critical[0])
    slowest = max(critical, float(p.loading[0]), float(p.host_optimizer[0]))
    parts["waiting for hosts"] = (slowest - critical) * scale
    parts["stragglers"] = slowest * (float(made.straggler[0]) - 1) * scale
    parts["floor"] = made.floor * scale
    return {name: value for name, value in parts.items() if value > 1e-9}


def _per_musd(accelerator: Accelerator, rate: float, devices: float) -> float | None:
    price, per_rack = accelerator.price_musd_per_rack, accelerator.devices_per_rack
    return None if not price or not per_rack else rate / (devices / per_rack * price)


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
