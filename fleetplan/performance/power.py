"""Watts and joules: idle, waiting, busy; caps and their speed; facility power; life stages.

* Device: ``P = idle + (cap - idle)·(busy + wait_share·waiting)``, shares of the step.
* Cap: a concave curve through the published points; speed multiplies the whole step's rate.
* Facility: ``fixed + slope·cap`` per device. The GB200 points (speed 1, 0.95, 0.945 and ratios of
  facility power at 1200, 1000 and 960 W) are those of arXiv:2605.24461.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.performance.rates import Rates

IDLE_SHARE = 0.15
"""Idle over TDP where nobody has published the idle power (assumed; 0.08 to 0.2 where published)."""
CAP_EXPONENT = 0.71
"""Speed ~ cap^0.71 where an accelerator has no curve: 780 and 989 TF at 500 and 700 W (H100)."""


def idle_watts(accelerator: Accelerator) -> float:
    """Idle power of one device."""
    return IDLE_SHARE * accelerator.tdp_w if accelerator.idle_w is None else accelerator.idle_w


def highest_cap(accelerator: Accelerator) -> float:
    """Cap at which speed is 1."""
    return max((point.cap_w for point in accelerator.power_caps), default=accelerator.tdp_w)


def cap_speed(accelerator: Accelerator, cap_w: ArrayLike) -> NDArray[np.float64]:
    """Speed left at a cap; linear between the points, H100's exponent below the lowest; never above 1."""
    cap = np.asarray(cap_w, dtype=np.float64)
    points = sorted((point.cap_w, point.speed) for point in accelerator.power_caps)
    if not points:
        points = [(accelerator.tdp_w, 1.0)]
    caps, speeds = np.array(points, dtype=np.float64).T
    inside = np.interp(cap, caps, speeds)
    below = speeds[0] * (np.maximum(cap, 1.0) / caps[0]) ** CAP_EXPONENT
    speed: NDArray[np.float64] = np.where(cap < caps[0], below, inside)
    return speed


def device_watts(
    rates: Rates, cap_w: ArrayLike, busy_share: ArrayLike, wait_share: ArrayLike
) -> NDArray[np.float64]:
    """Mean watts of one device over a step that is ``busy`` and ``waiting`` for these shares."""
    cap = np.asarray(cap_w, dtype=np.float64)
    idle = idle_watts(rates.accelerator)
    dynamic = np.maximum(cap - idle, 0.0) * rates["node_dynamic_share"]
    share = np.asarray(busy_share) + rates["wait_power_share"] * np.asarray(wait_share)
    watts: NDArray[np.float64] = idle + dynamic * share
    return watts


def node_watts(rates: Rates, device_w: ArrayLike, activity: ArrayLike) -> NDArray[np.float64]:
    """IT watts of a host with its devices; host power rises with ``activity`` (0 idle, 1 training)."""
    devices = rates.accelerator.devices_per_node or 8
    host = rates["host_idle_w_per_device"] + np.asarray(activity) * (
        rates["host_w_per_device"] - rates["host_idle_w_per_device"]
    )
    watts: NDArray[np.float64] = devices * (np.asarray(device_w, dtype=np.float64) + host)
    return watts


def facility_watts(accelerator: Accelerator, cap_w: ArrayLike) -> NDArray[np.float64]:
    """Provisioned facility watts of one device at a cap; NaN where the law is not known."""
    fixed, slope = accelerator.facility_fixed_w_per_device, accelerator.facility_slope_w_per_cap_w
    cap = np.asarray(cap_w, dtype=np.float64)
    if fixed is None or slope is None:
        return np.full(cap.shape, np.nan)
    return fixed + slope * cap


def provisioned_watts(
    accelerator: Accelerator, cap_w: ArrayLike, stage_factor: Mapping[str, float], stage: str
) -> NDArray[np.float64]:
    """Facility watts to reserve in a life stage (forecast, initial, refined): law x stage factor."""
    return facility_watts(accelerator, cap_w) * stage_factor[stage]
