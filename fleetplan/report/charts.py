"""All charts of a report by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.report.charts_fleet import (
    fleet_racks,
    landings,
    order_times,
    power_share,
    power_stack,
    retirements,
    worth,
)
from fleetplan.report.charts_money import books, carbon, cash, tornado, write_offs
from fleetplan.report.charts_work import assignment, service, steps
from fleetplan.report.grammar import Chart

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource


def all_charts(source: ReportSource) -> dict[str, Chart]:
    """Every chart of the report by name."""
    charts = [
        power_stack(source),
        order_times(source),
        landings(source),
        fleet_racks(source),
        power_share(source),
        service(source),
        assignment(source),
        steps(source),
        cash(source),
        books(source),
        write_offs(),
        retirements(source),
        carbon(),
        tornado(),
        *([worth(source)] if "prices" in source.extras else []),
    ]
    return {chart.name: chart for chart in charts}
