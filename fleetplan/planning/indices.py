"""Everything that the families index by, read from the scenario and the options once, and sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.planning.calendar import Calendar, make_calendar
from fleetplan.planning.choices import Choices, make_choices
from fleetplan.planning.cohort_table import Cohorts, make_cohorts
from fleetplan.planning.deliveries import Deliveries, make_deliveries
from fleetplan.planning.places import Places, make_places

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario


@dataclass(frozen=True)
class Indices:
    """The index tables. Rows are in one order that depends on names only, never on file order."""

    scenario: Scenario
    calendar: Calendar
    places: Places
    choices: Choices
    deliveries: Deliveries
    cohorts: Cohorts
    cells: pd.DataFrame
    """hall, site, accelerator, role, t: wherever racks can stand that train; their role is empty."""
    role_cells: pd.DataFrame
    """The same for racks in a role outside training."""


def make_indices(scenario: Scenario, options: pd.DataFrame) -> Indices:
    """Build all index tables. Raises ``InputError`` and ``InfeasibleError`` where no model can be."""
    calendar = make_calendar(scenario.horizon, scenario.finance)
    places = make_places(scenario, calendar)
    choices = make_choices(scenario, calendar, options)
    deliveries = make_deliveries(scenario, calendar, places)
    cohorts = make_cohorts(scenario, calendar, places, choices, deliveries)
    cells = _cells(cohorts)
    trains = cells["role"] == ""
    return Indices(
        scenario,
        calendar,
        places,
        choices,
        deliveries,
        cohorts,
        cells[trains].reset_index(drop=True),
        cells[~trains].reset_index(drop=True),
    )


def _cells(cohorts: Cohorts) -> pd.DataFrame:
    """From the first entry of a hall's racks of a type and role to their last possible exit."""
    table = cohorts.cohorts[["hall", "site", "accelerator", "entry"]].assign(role=cohorts.role)
    table["exit"] = cohorts.arcs.groupby("cohort")["exit"].max()
    on = ["site", "hall", "accelerator", "role"]
    spans = table.groupby(on, as_index=False).agg(entry=("entry", "min"), exit=("exit", "max"))
    spans = spans.sort_values(on, ignore_index=True)
    lengths = (spans["exit"] - spans["entry"]).clip(lower=0).to_numpy(dtype=np.int64)
    cells = spans.loc[spans.index.repeat(lengths), ["hall", "site", "accelerator", "role", "entry"]]
    step = np.concatenate([np.arange(n) for n in lengths]) if len(lengths) else np.array([], dtype=np.int64)
    cells["t"] = cells["entry"].to_numpy() + step
    return cells.drop(columns="entry").reset_index(drop=True)
