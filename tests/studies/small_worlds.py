"""A world small enough to try everything by hand: one hall, two chips, four quarters."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd

from fleetplan.api import Settings
from fleetplan.inputs.scenario import Scenario
from fleetplan.performance.table import OPTIONS
from fleetplan.studies.workshop import Workshop
from tests.planning.worlds import (
    accelerator,
    cohort,
    demand,
    hall,
    option,
    options,
    power,
    scenario,
    site,
    supply,
    workload,
)

RATES = options(option("rank", "alpha", 1.0), option("rank", "beta", 2.0))
CARBON_PER_RACK = {"alpha": 10.0, "beta": 45.0}
PRICE = {"alpha": 0.5, "beta": 1.4}
MOST = {"alpha": 3, "beta": 2}
PRESENT = 2
QUARTERS = 4


def world(asked: float = 6.0, **changes: Any) -> Scenario:
    """2 alpha present; up to 3 alpha and 2 beta can come, to work from the second quarter on."""
    fields: dict[str, Any] = {
        "accelerators": [accelerator("alpha"), accelerator("beta")],
        "workloads": [workload("rank")],
        "sites": [site("east")],
        "halls": [hall("east-1", "east")],
        "power": power("east-1", [1.0] * QUARTERS),
        "fleet": [cohort("east-1", "east", "alpha", PRESENT)],
        "supply": [supply(name, 0, MOST[name], PRICE[name]) for name in MOST],
        "demand": demand("rank", [asked] * QUARTERS),
        "carbon": {"method": "location_annual", "embodied_t_per_rack": CARBON_PER_RACK},
    }
    return scenario(**{**fields, **changes})


def workshop(base: Scenario, gap: float = 0.0) -> Workshop:
    """A workshop whose options are stated, not modelled."""
    made = Workshop(base, Settings(gap=gap))
    made.options_of = lambda _: RATES  # type: ignore[method-assign]
    return made


def cost_of(alpha: int, beta: int, asked: float = 6.0) -> float:
    """M USD by hand: racks at their price, and 1 M USD per sample/s and quarter short."""
    first = max(0.0, asked - PRESENT)
    later = max(0.0, asked - PRESENT - alpha - 2 * beta)
    return PRICE["alpha"] * alpha + PRICE["beta"] * beta + first + (QUARTERS - 1) * later


def short_of(alpha: int, beta: int, asked: float = 6.0) -> float:
    """Share of the work that is not served."""
    first = max(0.0, asked - PRESENT)
    later = max(0.0, asked - PRESENT - alpha - 2 * beta)
    return (first + (QUARTERS - 1) * later) / (QUARTERS * asked)


def carbon_of(alpha: int, beta: int) -> float:
    """Tonnes of making the racks; energy emits nothing here."""
    return CARBON_PER_RACK["alpha"] * alpha + CARBON_PER_RACK["beta"] * beta


def choices() -> list[tuple[int, int]]:
    """All orders that there can be."""
    return list(itertools.product(range(MOST["alpha"] + 1), range(MOST["beta"] + 1)))


def empty_options() -> pd.DataFrame:
    """A table without any option."""
    return OPTIONS.frame(pd.DataFrame(columns=OPTIONS.names))
