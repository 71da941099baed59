"""Where racks can stand: halls with usable power over time, and what a rack takes of it.

Usable power of hall ``h`` in period ``t``: ``min over its quarters of MW x (1 - reserve) x
(1 - stranded)``. A rack of accelerator ``k`` at cap ``m`` counts ``(fixed + slope x cap) x devices x
factor(stage)`` kilowatts of facility power; the law holds peak PUE, so PUE is not applied again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.errors import InputError
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.scenario import Hall, HallPower, Scenario
from fleetplan.lifecycle import filled_kw, life_stage, power_factor, usable_mw
from fleetplan.periods import Quarter
from fleetplan.planning.calendar import Calendar
from fleetplan.planning.form import Floats


@dataclass(frozen=True)
class Places:
    """Halls (rows sorted by site and name) and their power by period."""

    halls: pd.DataFrame
    """hall, site."""
    usable_mw: Floats
    """(halls, T)."""
    built_mw: Floats
    """(halls, T): before reserve and stranding."""

    def number(self, hall: str) -> int:
        """Row of a hall."""
        return int(self.halls.index[self.halls["hall"] == hall][0])


def make_places(scenario: Scenario, calendar: Calendar) -> Places:
    """Read the halls' power; every quarter of the horizon must be stated for every hall."""
    halls = sorted(scenario.halls.values(), key=lambda hall: (hall.site, hall.name))
    stated = {(row.hall, row.quarter.ordinal): _mw(row, scenario) for row in scenario.power}
    built = np.array([[_least(stated, hall, calendar, t) for t in range(len(calendar))] for hall in halls])
    kept = np.array([usable_mw(1.0, h.reserve_share, scenario.sites[h.site].stranded_share) for h in halls])
    frame = pd.DataFrame({"hall": [h.name for h in halls], "site": [h.site for h in halls]})
    return Places(frame, built * kept[:, None], built)


def _mw(row: HallPower, scenario: Scenario) -> float:
    """Megawatts under the scenario's reading of the dates."""
    other = {
        "planned": row.facility_mw,
        "slip": row.facility_mw_if_dates_slip,
        "early": row.facility_mw_if_dates_early,
    }[scenario.rules.site_dates]
    return row.facility_mw if other is None else other


def _least(stated: dict[tuple[str, int], float], hall: Hall, calendar: Calendar, t: int) -> float:
    """Power that a hall has throughout a period."""
    quarters = range(int(calendar.boundary[t]), int(calendar.boundary[t + 1]))
    missing = [q for q in quarters if (hall.name, q) not in stated]
    if missing:
        quarter = Quarter.from_ordinal(missing[0])
        raise InputError.at(
            hall.origin.file,
            "E-power-missing",
            f"hall {hall.name} has no power stated for {quarter}",
            "one row for every hall and quarter of the horizon",
        )
    return min(stated[hall.name, q] for q in quarters)


def accepts(hall: Hall, accelerator: Accelerator) -> bool:
    """Whether a hall's cooling and rack limit allow an accelerator's rack."""
    if hall.cooling_class not in accelerator.cooling:
        return False
    limit, rack = hall.max_rack_it_kw, accelerator.rack_it_kw
    return limit is None or rack is None or rack <= limit


def stage_factors(scenario: Scenario, calendar: Calendar, accelerator: Accelerator) -> Floats:
    """What a rack counts in each period over its facility law, by life stage."""
    lifecycle = scenario.lifecycle
    start = lifecycle.mass_production.get(accelerator.name)
    if start is None and accelerator.available_from:
        start = Quarter.parse(accelerator.available_from)
    stages = [life_stage(Quarter.from_ordinal(int(q)), start) for q in calendar.boundary[:-1]]
    by_stage = {str(stage): factor for stage, factor in lifecycle.power_stage_factor.items()}
    return np.array([power_factor(stage, by_stage, lifecycle.diversity_factor) for stage in stages])


def has_law(accelerator: Accelerator) -> bool:
    """Whether the facility power of a rack is known; rented racks need none."""
    slope = accelerator.facility_slope_w_per_cap_w
    return accelerator.facility_fixed_w_per_device is not None and slope is not None


def law_kw(accelerator: Accelerator, cap_w: float) -> float:
    """Peak facility kW of one rack at a cap, before the life-stage factor.

    Raises ``InputError`` where nobody says what a rack of this type takes of a hall.
    """
    if not has_law(accelerator):
        raise InputError.at(
            accelerator.name,
            "E-power-law-missing",
            f"{accelerator.name} stands in a hall or can be ordered and has no facility power law",
            "facility_fixed_w_per_device and facility_slope_w_per_cap_w of the accelerator",
        )
    return accelerator.facility_kw_per_device(cap_w) * (accelerator.devices_per_rack or 1)


def rack_kw(scenario: Scenario, calendar: Calendar, keys: pd.DataFrame) -> Floats:
    """Facility kW that one rack takes of its hall, for rows of hall, accelerator, cap_w, t."""
    factors = {name: stage_factors(scenario, calendar, a) for name, a in scenario.accelerators.items()}
    on = ["hall", "accelerator", "cap_w", "t"]
    law: dict[tuple[str, float], float] = {}
    values = np.empty(len(keys))
    columns = zip(*(keys[name].tolist() for name in on), strict=True)
    for i, (hall, name, cap, t) in enumerate(columns):
        if (name, cap) not in law:
            law[name, cap] = law_kw(scenario.accelerators[name], cap)
        values[i] = filled_kw(law[name, cap] * factors[name][t], scenario.halls[hall].lot_kw)
    return values
