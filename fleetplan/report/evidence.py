"""The assumptions that a plan rests on: each with interval, source and the decision that it drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.plan.evidence import Leverage, leverages
from fleetplan.plan.words import number as said
from fleetplan.report.decision import DECIDED
from fleetplan.report.embedded import Table
from fleetplan.report.inputs import Place
from fleetplan.report.numbers import words_of
from fleetplan.tables import TableSpec, number, text

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource

ASSUMPTIONS = TableSpec(
    "assumptions",
    "open figures behind the cost, by what they move on this plan",
    (
        text("figure", "path of the figure in the input", key=True),
        text("subject", "what it is about"),
        text("what", "figure in words"),
        text("drives", "decision of the plan that rests on it"),
        text("status", "published, reported, derived or assumed"),
        number("value", "", "value used"),
        number("low", "", "low end"),
        number("high", "", "high end"),
        text("unit", "unit of value, low and high"),
        number("at_low_musd", "M USD", "change of cost with the low end, plan as it is"),
        number("at_high_musd", "M USD", "change of cost with the high end, plan as it is"),
        number("swing_musd", "M USD", "distance between the two"),
        text("source", "where the figure comes from"),
        text("note", "what to know about it"),
    ),
)


def assumptions(source: ReportSource) -> Table:
    """The table of open figures."""
    found = leverages(source.table("ledger"), source.scenario)
    return Table(ASSUMPTIONS, ASSUMPTIONS.frame(_row(source, lever) for lever in found))


def _row(source: ReportSource, lever: Leverage) -> tuple[object, ...]:
    f = lever.figure
    value = float(f.value) if isinstance(f.value, int | float) else float("nan")
    low, high = (float("nan") if v is None else v for v in (f.low, f.high))
    moved = (lever.at_low_musd, lever.at_high_musd, lever.swing_musd)
    return (
        lever.path,
        lever.subject,
        words_of(lever.path),
        _drives(source, lever),
        f.status,
        value,
        low,
        high,
        f.unit,
        *moved,
        f.source,
        f.note,
    )


def _drives(source: ReportSource, lever: Leverage) -> str:
    """What the plan decides about the subject: racks ordered now and in all, or racks that land there."""
    place = Place.of(lever.path)
    kind = {"accelerators": "accelerator", "supply": "accelerator", "sites": "site"}.get(place.kind)
    if kind is None or not place.name:
        return "every order: it weighs later money against earlier"
    orders = source.table("orders")
    mine = orders[(orders[kind] == place.name.removesuffix(",*")) & orders["kind"].isin(DECIDED)]
    now = mine[mine["order_quarter"] == source.first]
    first, every = (said(float(rows["racks"].sum())) for rows in (now, mine))
    return f"{first} racks this quarter, {every} in the plan"
