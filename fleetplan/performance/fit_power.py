"""How much fits under some megawatts: racks, samples/s and cost, for every accelerator and cap.

The first question of every planner, with no scenario: facility power only, one model, the whole of it
trained on one kind of rack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fleetplan.errors import UsageError
from fleetplan.performance import power
from fleetplan.performance.bands import band_factors
from fleetplan.performance.counts import count
from fleetplan.performance.evaluate import Settings
from fleetplan.performance.layouts import best_evaluations

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model

HOURS_PER_YEAR = 8760.0
ENERGY_USD_PER_MWH = 55.0
"""Price of energy where none is given (US industrial contracts, assumed)."""
BOOK_LIFE_YEARS = 5.5
"""Life over which a rack is paid where the accelerator does not say."""
MAINTENANCE_SHARE = 0.05
"""Maintenance per year over price (assumed)."""
JOB_STEPS = (0.5, 1.0, 2.0, 4.0)


class _Best(NamedTuple):
    devices: int
    local_batch: int
    layout: str
    fits: bool
    useful_per_device: float
    low: float
    high: float


def fit_power(
    facility_mw: float,
    model: Model,
    accelerators: Sequence[Accelerator],
    *,
    settings: Settings | None = None,
    energy_usd_per_mwh: float = ENERGY_USD_PER_MWH,
) -> pd.DataFrame:
    """One row per accelerator and power cap, best first (samples/s under the power).

    ``facility_mw`` is provisioned facility power. Racks are whole. ``samples_per_s`` is useful (after
    goodput) with its band; ``cost_musd_per_year`` spreads the price over the rack's life and adds
    maintenance and the energy of average power; ``usd_per_billion_samples`` divides them. Accelerators
    without a rack or a facility power law are listed with empty numbers and the reason. Raises
    ``UsageError`` where the power is not positive.
    """
    import pandas as pd

    if not facility_mw > 0:
        message = f"power must be above 0 MW, not {facility_mw:g}"
        raise UsageError(message)
    chosen = settings or Settings(stack="production")
    rows = [row for a in accelerators for row in _rows(facility_mw, model, a, chosen, energy_usd_per_mwh)]
    table = pd.DataFrame(rows)
    whole = [name for name in ("racks", "devices", "job_devices", "local_batch") if name in table]
    table = table.astype(dict.fromkeys(whole, "Int64"))
    return table.sort_values("samples_per_s", ascending=False, na_position="last", ignore_index=True)


def _rows(
    facility_mw: float, model: Model, accelerator: Accelerator, settings: Settings, energy: float
) -> list[dict[str, object]]:
    racks = accelerator.devices_per_rack
    if not racks or accelerator.facility_fixed_w_per_device is None:
        reason = "no published rack or facility power"
        return [{"accelerator": accelerator.name, "samples_per_s": np.nan, "reason": reason}]
    best = _best(model, accelerator, settings)
    caps = [point.cap_w for point in accelerator.power_caps] or [power.highest_cap(accelerator)]
    return [_row(facility_mw, accelerator, best, cap, racks, energy) for cap in caps]


def _best(model: Model, accelerator: Accelerator, settings: Settings) -> _Best:
    """Job size with the best useful rate per device at the model's own batch."""
    node = accelerator.devices_per_node or 1
    sizes = sorted({max(node, round(model.reference_devices * s / node) * node) for s in JOB_STEPS})
    made = best_evaluations(
        model, accelerator, np.array(sizes, np.float64), model.local_batch, None, settings, count(model)
    )
    found = [
        (float(e.samples_per_s[i] * e.goodput[i] / e.devices[i]) * bool(e.fits[i]), i, e)
        for e, picked in made
        for i in picked
    ]
    useful, index, e = max(found, key=lambda item: item[0])
    low, high = band_factors(
        model, accelerator, float(e.devices[index]), float(e.local_batch[index]), e.layout, settings
    )
    return _Best(
        int(e.devices[index]),
        int(e.local_batch[index]),
        e.layout.name,
        bool(e.fits[index]),
        useful,
        low,
        high,
    )


def _row(
    facility_mw: float, accelerator: Accelerator, best: _Best, cap: float, per_rack: int, energy: float
) -> dict[str, object]:
    rack_kw = float(power.facility_watts(accelerator, cap)) * per_rack / 1e3
    racks = int(facility_mw * 1e3 // rack_kw)
    speed = float(power.cap_speed(accelerator, cap))
    rate = best.useful_per_device * speed * per_rack * racks
    average_mw = racks * rack_kw / 1e3 * (accelerator.average_to_provisioned_power or 1.0)
    cost = _cost_musd_per_year(accelerator, racks, average_mw, energy)
    per_year = rate * HOURS_PER_YEAR * 3600
    return {
        "accelerator": accelerator.name,
        "cap_w": cap,
        "rack_facility_kw": rack_kw,
        "racks": racks,
        "devices": racks * per_rack,
        "job_devices": best.devices,
        "local_batch": best.local_batch,
        "layout": best.layout,
        "fits": best.fits,
        "samples_per_s": rate,
        "samples_per_s_low": rate * best.low,
        "samples_per_s_high": rate * best.high,
        "samples_per_s_per_mw": rate / facility_mw,
        "average_facility_mw": average_mw,
        "purchase_musd": None
        if accelerator.price_musd_per_rack is None
        else racks * accelerator.price_musd_per_rack,
        "cost_musd_per_year": cost,
        "usd_per_billion_samples": cost * 1e6 / (per_year / 1e9) if cost is not None and per_year else None,
        "reason": "" if best.fits else "does not fit in memory at any job size tried",
    }


def _cost_musd_per_year(
    accelerator: Accelerator, racks: int, average_mw: float, energy: float
) -> float | None:
    if accelerator.price_musd_per_rack is None:
        return None
    price = racks * accelerator.price_musd_per_rack
    life = accelerator.book_life_years or BOOK_LIFE_YEARS
    return price / life + MAINTENANCE_SHARE * price + average_mw * HOURS_PER_YEAR * energy / 1e6
