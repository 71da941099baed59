"""Charts of money, carbon and assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from fleetplan.report.decision import END_VALUE
from fleetplan.report.grammar import (
    ITEM_COLOURS,
    YEAR,
    Chart,
    Dataset,
    colour_of,
    finished,
    on,
    period_axis,
    tip,
    tips_of,
)

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource


def cash(source: ReportSource) -> Chart:
    """Nominal cash by year and item, income below zero; what is left at the end is not cash."""
    items = [item for item, _ in source.summary.parts if item != END_VALUE]
    chart = (
        on("rows")
        .transform_calculate(year=YEAR)
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=alt.X("year:O", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("sum(amount_musd):Q", title="M USD, nominal"),
            color=alt.Color(
                "item:N",
                title=None,
                scale=alt.Scale(domain=items, range=list(ITEM_COLOURS)),
                legend=alt.Legend(orient="bottom", columns=4, labelLimit=160),
            ),
            tooltip=[*tips_of("item", "year"), tip("sum(amount_musd)", "M USD", ",.2f")],
        )
    )
    columns = ("item", "period", "cause", "amount_musd")
    return Chart("cash", finished(chart, 260), {"rows": Dataset("ledger", columns, {"item": items})})


def books(source: ReportSource) -> Chart:
    """Book value at the end of each period by accelerator."""
    chart = (
        on("rows")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=period_axis(source),
            y=alt.Y("sum(closing_musd):Q", title="M USD in the books"),
            color=colour_of(source),
            order=alt.Order("rank:Q"),
            tooltip=[*tips_of("accelerator_label", "period"), tip("sum(closing_musd)", "M USD", ",.2f")],
        )
    )
    return Chart(
        "books",
        finished(chart, 220),
        {"rows": Dataset("books", ("accelerator", "period", "closing_musd"))},
    )


def write_offs() -> Chart:
    """Depreciation and write-offs by year."""
    chart = (
        on("rows")
        .transform_fold(["depreciation_musd", "write_off_musd"], ["column", "musd"])
        .transform_calculate(
            year=YEAR, kind="datum.column == 'write_off_musd' ? 'write-off' : 'depreciation'"
        )
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=alt.X("year:O", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("sum(musd):Q", title="M USD a year"),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=["depreciation", "write-off"], range=["#56b4e9", "#d55e00"]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[*tips_of("kind", "year"), tip("sum(musd)", "M USD", ",.2f")],
        )
    )
    columns = ("accelerator", "period", "depreciation_musd", "write_off_musd")
    return Chart("write_offs", finished(chart, 220), {"rows": Dataset("books", columns)})


def carbon() -> Chart:
    """Emissions by year: of the energy, and of making the racks."""
    chart = (
        on("rows")
        .transform_fold(["operational_t", "embodied_t"], ["column", "t"])
        .transform_calculate(year=YEAR, kind="datum.column == 'embodied_t' ? 'making the racks' : 'energy'")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=alt.X("year:O", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("sum(t):Q", title="tCO2e", axis=alt.Axis(format="~s")),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=["energy", "making the racks"], range=["#0072b2", "#e69f00"]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[*tips_of("kind", "year"), tip("sum(t)", "tCO2e", ",.0f")],
        )
    )
    columns = ("site", "period", "operational_t", "embodied_t")
    return Chart("carbon", finished(chart, 220), {"rows": Dataset("energy", columns)})


def tornado() -> Chart:
    """What each assumed figure moves over its interval, on the plan as it is."""
    chart = (
        on("rows")
        .transform_window(place="row_number()", sort=[alt.SortField("swing_musd", order="descending")])
        .transform_filter("datum.place <= 16")
        .transform_fold(["at_low_musd", "at_high_musd"], ["column", "musd"])
        .transform_calculate(
            end="datum.column == 'at_low_musd' ? 'at its low end' : 'at its high end'",
            lot="datum.subject + ', ' + datum.what",
        )
        .mark_bar(height=11)
        .encode(
            y=alt.Y(
                "lot:N",
                title=None,
                sort=alt.EncodingSortField("swing_musd", op="max", order="descending"),
                axis=alt.Axis(labelLimit=300, ticks=False, domain=False),
            ),
            x=alt.X("musd:Q", title="change of cost, M USD present value", axis=alt.Axis(tickCount=7)),
            color=alt.Color(
                "end:N",
                title=None,
                scale=alt.Scale(domain=["at its low end", "at its high end"], range=["#56b4e9", "#d55e00"]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[*tips_of("subject", "figure", "status", "end"), tip("musd", "M USD", "+,.1f")],
        )
    )
    columns = ("subject", "what", "figure", "status", "swing_musd", "at_low_musd", "at_high_musd")
    return Chart("tornado", finished(chart, {"step": 20}), {"rows": Dataset("assumptions", columns)})
