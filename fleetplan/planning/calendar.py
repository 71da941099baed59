"""The horizon as arrays: what every family needs to know about time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.extensions import ExtensionArray

from fleetplan import money
from fleetplan.inputs.scenario import Finance
from fleetplan.periods import Horizon, Quarter
from fleetplan.planning.form import Floats, Ints


@dataclass(frozen=True)
class Calendar:
    """Periods as arrays of equal length T; ``boundary`` and ``factor`` have one more: the end."""

    horizon: Horizon
    names: list[str]
    boundary: Ints
    """Quarter (as ordinal) in which each period starts, and the horizon's end."""
    quarters: Ints
    hours: Floats
    years: Floats
    seconds: Floats
    factor: Floats
    """Present value of one M USD in each period, and at the end of the horizon."""
    inflation: Floats
    """Mean level of operating cost, 1 in the first quarter."""

    def __len__(self) -> int:
        """Number of periods."""
        return len(self.names)

    def first_from(self, quarter: int) -> int:
        """First period that starts in or after a quarter; T if none."""
        return int(np.searchsorted(self.boundary[:-1], quarter, side="left"))

    def last_until(self, quarter: int) -> int:
        """Last boundary at or before a quarter (T is the end of the horizon); -1 if none."""
        return int(np.searchsorted(self.boundary, quarter, side="right")) - 1

    def holding(self, quarter: int) -> int:
        """Period that holds a quarter of the horizon."""
        return int(np.searchsorted(self.boundary, quarter, side="right")) - 1

    @cached_property
    def _labels(self) -> ExtensionArray:
        return pd.array([*self.names, "end"], dtype="str")

    def label(self, period: ArrayLike) -> ExtensionArray:
        """Names of many periods, as keys; the end of the horizon is ``end``."""
        return self._labels.take(np.asarray(period, dtype=np.int64))

    def name_at(self, period: Ints) -> list[str]:
        """Period names; the end of the horizon belongs to the last period."""
        names = [*self.names, self.names[-1]]
        return [names[t] for t in np.asarray(period).tolist()]


def make_calendar(horizon: Horizon, finance: Finance) -> Calendar:
    """Lay the horizon out in arrays, with the discount factors of the finance rules."""
    periods = horizon.periods
    factors = money.discount_factors(horizon, finance.discount_rate, finance.discount_timing)
    return Calendar(
        horizon=horizon,
        names=[period.name for period in periods],
        boundary=np.array([p.start.ordinal for p in periods] + [horizon.end.ordinal], dtype=np.int64),
        quarters=np.array([p.quarters for p in periods], dtype=np.int64),
        hours=np.array([p.hours for p in periods]),
        years=np.array([p.years for p in periods]),
        seconds=np.array([p.seconds for p in periods]),
        factor=np.array([*factors, money.end_factor(horizon, finance.discount_rate)]),
        inflation=np.array(money.escalation(horizon, finance.inflation_per_year)),
    )


def quarter_name(ordinal: int) -> str:
    """``2026Q4`` for a quarter's ordinal."""
    return str(Quarter.from_ordinal(int(ordinal)))


def quarter_names(ordinals: ArrayLike) -> list[str]:
    """Names of many quarters."""
    numbers = np.asarray(ordinals, dtype=np.int64).tolist()
    name = {number: quarter_name(number) for number in set(numbers)}
    return [name[number] for number in numbers]
