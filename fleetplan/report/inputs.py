"""The scenario as tables: what the plan was made from, with status, interval and source of each row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fleetplan.figures import STATUSES, Figure
from fleetplan.report.embedded import Table
from fleetplan.tables import Column, TableSpec, count, flag, number, text

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Row, Scenario

_ROW = (
    text("status", "published, reported, derived or assumed"),
    text("source", "where it comes from"),
    text("note", "what to know about it"),
    text("place", "file and line"),
)
_NAN = float("nan")
_PATH = re.compile(
    r"(?P<kind>\w+)(?:\[(?P<name>.*?)\]|\.(?P<dotted>.+)(?=\.))?(?:\.(?P<field>.+))?", re.DOTALL
)


def input_tables(scenario: Scenario) -> Iterator[Table]:
    """All input tables, in reading order."""
    yield _sites(scenario)
    yield _halls(scenario)
    yield _power(scenario)
    yield _fleet(scenario)
    yield _supply(scenario)
    yield _workloads(scenario)
    yield _demand(scenario)
    yield _figures(scenario)
    yield _evidence(scenario)


def _sites(s: Scenario) -> Table:
    columns = (
        text("site", "site name", key=True),
        text("title", "readable name"),
        text("country", "country code"),
        number("pue_annual", "ratio", "facility over IT energy, average of the year"),
        number("pue_peak", "ratio", "facility over IT power on the hottest day"),
        number("energy_price_usd_per_mwh", "USD/MWh", "energy price at the start"),
        number("energy_price_escalation_per_year", "per year", "growth of that price"),
    )
    return _table("sites", "where racks stand", columns, s.sites.values(), named="site")


def _halls(s: Scenario) -> Table:
    columns = (
        text("hall", "hall name", key=True),
        text("site", "site name"),
        text("cooling_class", "air, aalc or liquid"),
        number("max_rack_it_kw", "kW", "heaviest rack, IT power; empty where there is no limit"),
        number("reserve_share", "share", "kept for the failure of a feed"),
    )
    return _table("halls", "buildings and their cooling", columns, s.halls.values(), named="hall")


def _power(s: Scenario) -> Table:
    columns = (
        text("hall", "hall name", key=True),
        text("quarter", "calendar quarter", key=True),
        number("facility_mw", "MW", "facility power as planned"),
        number("facility_mw_if_dates_slip", "MW", "facility power if dates slip"),
        number("facility_mw_if_dates_early", "MW", "facility power if dates come early"),
    )
    return _table("power", "facility power by hall and quarter", columns, s.power)


def _fleet(s: Scenario) -> Table:
    columns = (
        text("cohort", "cohort name", key=True),
        text("site", "site name"),
        text("hall", "hall name"),
        text("accelerator", "accelerator name"),
        text("commissioned", "quarter of first service"),
        count("racks", "racks", "racks alive at the start"),
        number("purchase_price_musd_per_rack", "M USD", "price paid"),
        number("book_life_years", "years", "straight-line life"),
    )
    return _table("fleet", "racks that are there at the start", columns, s.fleet, named="cohort")


def _supply(s: Scenario) -> Table:
    columns = (
        text("accelerator", "accelerator name", key=True),
        text("delivery", "quarter of delivery", key=True),
        count("max_racks", "racks", "most that can come"),
        count("committed_racks", "racks", "come in any case"),
        count("option_racks", "racks", "contracted on top, may be taken"),
        flag("new_orders_can_arrive", "whether an order placed now arrives in time"),
        count("lead_time_quarters", "quarters", "order to delivery"),
        number("price_musd_per_rack", "M USD", "price at delivery"),
        number("take_or_pay_share_of_price", "share", "owed for an option that is not taken"),
    )
    return _table("supply", "what can be delivered, and its price", columns, s.supply)


def _workloads(s: Scenario) -> Table:
    columns = (
        text("workload", "workload name", key=True),
        text("title", "readable name"),
        text("model", "model name"),
        count("priority", "", "1 gives way last"),
        number("training_samples_per_run", "samples", "samples of one run"),
        number("deadline_days_per_run", "days", "longest run"),
        number("deferrable_share", "share", "of a period's demand that may be served later"),
        number(
            "shortfall_price_usd_per_billion_samples",
            "USD",
            "price of a billion samples that are not trained",
        ),
    )
    return _table(
        "workloads",
        "models and the work that is asked of them",
        columns,
        s.workloads.values(),
        named="workload",
    )


def _demand(s: Scenario) -> Table:
    columns = (
        text("workload", "workload name", key=True),
        text("quarter", "calendar quarter", key=True),
        number("samples_per_s", "samples/s", "to be trained on average"),
    )
    return _table("demand", "work asked for", columns, s.demand)


@dataclass(frozen=True)
class Place:
    """What a figure's path names: ``sites[x].pue_annual`` is of kind ``sites`` and name ``x``."""

    kind: str
    name: str
    field: str

    @classmethod
    def of(cls, path: str) -> Place:
        """Read ``kind[name].field``, ``kind.name.field`` or ``kind.field``."""
        match = _PATH.fullmatch(path)
        if match is None:
            return cls(path, "", path)
        return cls(match["kind"], match["name"] or match["dotted"] or "", match["field"] or "")


def all_figures(scenario: Scenario) -> Iterator[tuple[str, Figure]]:
    """Path and figure of all that the scenario states, without facts that no computation reads."""
    for path, figure in scenario.figures.items():
        if ".fact." not in path:
            yield path, figure
    for name, accelerator in scenario.accelerators.items():
        for field, figure in accelerator.figures.items():
            path = f"accelerators[{name}].{field}"
            if path not in scenario.figures and not field.startswith("fact."):
                yield path, figure


def _figures(s: Scenario) -> Table:
    spec = TableSpec(
        "input_figures",
        "every stated figure with its evidence",
        (
            text("figure", "path of the figure", key=True),
            text("subject", "what it is about"),
            text("value", "value; empty where nobody has published it"),
            text("unit", "unit of value, low and high"),
            number("low", "", "low end; empty where it is exact"),
            number("high", "", "high end; empty where it is exact"),
            text("status", "published, reported, derived or assumed"),
            text("source", "where it comes from"),
            text("date", "date of the source"),
            text("note", "what to know about it"),
        ),
    )
    rows = {
        path: (
            path,
            Place.of(path).name or Place.of(path).kind,
            "" if f.value is None else str(f.value),
            f.unit,
            _NAN if f.low is None else f.low,
            _NAN if f.high is None else f.high,
            f.status,
            f.source,
            f.date,
            f.note,
        )
        for path, f in all_figures(s)
    }
    return Table(spec, spec.frame(rows.values()))


def evidence_counts(scenario: Scenario) -> dict[str, dict[str, int]]:
    """Figures of each part of the input by status."""
    counts: dict[str, dict[str, int]] = {}
    for path, figure in all_figures(scenario):
        part = counts.setdefault(Place.of(path).kind, dict.fromkeys(STATUSES, 0))
        part[figure.status] += 1
    return counts


def _evidence(s: Scenario) -> Table:
    columns = tuple(count(status, "figures", f"figures that are {status}") for status in STATUSES)
    spec = TableSpec(
        "input_evidence",
        "how well the input is known",
        (text("input", "part of the input", key=True), *columns),
    )
    rows = [(name, *counts.values()) for name, counts in evidence_counts(s).items()]
    return Table(spec, spec.frame(rows))


def _table(
    name: str, meaning: str, columns: tuple[Column, ...], rows: Iterable[Row], named: str = ""
) -> Table:
    """Rows as a table named ``input_…``; ``named`` is the column that shows a row's ``name``."""
    spec = TableSpec(f"input_{name}", meaning, (*columns, *_ROW))
    data = [
        (
            *(_cell(getattr(row, "name" if c.name == named else c.name), c) for c in columns),
            row.status,
            row.source,
            row.note,
            str(row.origin),
        )
        for row in rows
    ]
    return Table(spec, spec.frame(data))


def _cell(value: Any, column: Column) -> Any:
    if column.type == "text":
        return str(value)
    return _NAN if value is None else value
