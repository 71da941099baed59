"""A plan's tables and inputs as the audit reads them: plain rows, plain sums, nothing of the optimizer."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fleetplan.lifecycle import first_period_from, usable_mw
from fleetplan.periods import Period, Quarter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from fleetplan.inputs.scenario import HallPower, Scenario

Key = tuple[str, ...]


class View:
    """Rows and sums of a plan, with the inputs that they are held against."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], scenario: Scenario, options: pd.DataFrame) -> None:
        self.scenario = scenario
        self.frames = dict(tables)
        self.options: dict[str, Any] = {str(row.option): row for row in options.itertuples(index=False)}
        self._rows: dict[str, list[Any]] = {}

    def rows(self, table: str) -> list[Any]:
        """All rows of a table as named tuples."""
        if table not in self._rows:
            self._rows[table] = list(self.frames[table].itertuples(index=False, name="Row"))
        return self._rows[table]

    def sums(self, table: str, keys: Sequence[str], value: str) -> dict[Key, float]:
        """Sum of a column by some key columns."""
        totals: dict[Key, float] = defaultdict(float)
        for row in self.rows(table):
            totals[tuple(getattr(row, key) for key in keys)] += getattr(row, value)
        return dict(totals)

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """All periods in order."""
        return self.scenario.horizon.periods

    @cached_property
    def period_index(self) -> dict[str, int]:
        """Index by the period's name."""
        return {period.name: period.index for period in self.periods}

    @cached_property
    def hall_power(self) -> dict[tuple[str, Quarter], HallPower]:
        """Input row by hall and quarter."""
        return {(row.hall, row.quarter): row for row in self.scenario.power}

    @cached_property
    def demand(self) -> dict[tuple[str, int], float]:
        """Samples/s by workload and period: the mean of the period's quarters."""
        found: dict[tuple[str, int], float] = defaultdict(float)
        for row in self.scenario.demand:
            index = self.scenario.horizon.index_of(row.quarter)
            if index is not None:
                found[row.workload, index] += row.samples_per_s / self.periods[index].quarters
        return dict(found)

    def available_mw(self, hall: str, period: Period) -> float:
        """Least usable facility power of a hall in any quarter of a period."""
        site = self.scenario.sites[self.scenario.halls[hall].site]
        built = self.built_mw(hall, period)
        return usable_mw(built, self.scenario.halls[hall].reserve_share, site.stranded_share)

    def built_mw(self, hall: str, period: Period) -> float:
        """Least facility power that a hall has in any quarter of a period, before reserve and stranding."""
        quarters = [period.start + offset for offset in range(period.quarters)]
        return min(self._built(hall, quarter) for quarter in quarters)

    def entry(self, service_quarter: str) -> Period | None:
        """First period that starts in or after a quarter: racks work from then; ``None`` after the end."""
        index = first_period_from(self.scenario.horizon, Quarter.parse(service_quarter))
        return self.periods[index] if index < len(self.periods) else None

    def halls_of(self, site: str) -> list[str]:
        """Names of a site's halls."""
        return [name for name, hall in self.scenario.halls.items() if hall.site == site]

    def _built(self, hall: str, quarter: Quarter) -> float:
        row = self.hall_power.get((hall, quarter))
        if row is None:
            return 0.0
        dates = self.scenario.rules.site_dates
        stated = {"slip": row.facility_mw_if_dates_slip, "early": row.facility_mw_if_dates_early}.get(dates)
        return row.facility_mw if stated is None else stated


def age(vintage: str, quarter: Quarter) -> int:
    """Whole quarters from a vintage to a quarter, never negative."""
    return max(0, quarter - Quarter.parse(vintage))


def say(*parts: object) -> str:
    """Write a place: its parts with commas."""
    return ", ".join(str(part) for part in parts)
