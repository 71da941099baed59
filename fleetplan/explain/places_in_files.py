"""Where in the input a row of the model comes from: file, line and what stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.periods import Quarter

if TYPE_CHECKING:
    from fleetplan.figures import Origin
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.periods import Period

MW_COLUMN = {
    "planned": "facility_mw",
    "slip": "facility_mw_if_dates_slip",
    "early": "facility_mw_if_dates_early",
}


@dataclass(frozen=True)
class Source:
    """One place in the input; ``line`` 0 where the value has no line of its own."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        """``supply.csv:112  MTIA 450, 2027Q3: 36 racks are committed``."""
        return f"{self.file}:{self.line}  {self.text}" if self.line else f"{self.file}  {self.text}"


def supply_source(scenario: Scenario, accelerator: str, delivery: str) -> list[Source]:
    """The supply row of a delivery."""
    return [
        _source(row.origin, f"{accelerator}, {delivery}: {row.committed_racks} racks are committed")
        for row in scenario.supply
        if (row.accelerator, str(row.delivery)) == (accelerator, delivery)
    ]


def power_source(scenario: Scenario, hall: str, period: str) -> list[Source]:
    """The power row of a hall in a period's first quarter, and the hall's own row."""
    quarter = Quarter.parse(period)
    rows = [row for row in scenario.power if (row.hall, row.quarter) == (hall, quarter)]
    return [_source(row.origin, f"{hall}, {period}: {_mw(scenario, row):g} MW") for row in rows]


def figure_source(scenario: Scenario, path: str, text: str) -> Source:
    """The line of a stated figure by its path."""
    figure = scenario.figures.get(path)
    if figure is None or figure.origin is None:
        return Source("scenario.yaml", 0, text)
    return _source(figure.origin, text)


def mw_paths(scenario: Scenario, hall: str, period: Period) -> list[tuple[str, float]]:
    """Path and value of the megawatts that count for a hall in each quarter of a period."""
    found = []
    for row in scenario.power:
        if row.hall == hall and row.quarter in period:
            column = MW_COLUMN[scenario.rules.site_dates]
            column = column if getattr(row, column) is not None else "facility_mw"
            found.append((f"power[{hall},{row.quarter}].{column}", float(getattr(row, column))))
    return found


def _mw(scenario: Scenario, row: object) -> float:
    stated = getattr(row, MW_COLUMN[scenario.rules.site_dates])
    return float(row.facility_mw if stated is None else stated)  # type: ignore[attr-defined]


def _source(origin: Origin, text: str) -> Source:
    return Source(origin.file, origin.line, text)
