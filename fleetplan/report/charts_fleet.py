"""Charts of racks and power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from fleetplan.report.grammar import (
    DECIDED_LEAVES,
    FREE_CLASSES,
    Chart,
    Dataset,
    classes,
    colour_of,
    finished,
    names_axis,
    on,
    period_axis,
    ramp,
    tip,
    tips_of,
)

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource


def power_stack(source: ReportSource) -> Chart:
    """Facility MW by accelerator against what is there; landings above, retirements below them."""
    x = period_axis(source)
    bars = (
        on("used")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=x,
            y=alt.Y(
                "sum(used_mw):Q", title="facility MW", scale=alt.Scale(range=[alt.ExprRef("height"), 24])
            ),
            color=colour_of(source),
            order=alt.Order("rank:Q"),
            tooltip=[*tips_of("accelerator_label", "period"), tip("sum(used_mw)", "MW used", ",.2f")],
        )
    )
    there = (
        on("available")
        .mark_line(interpolate="step", strokeWidth=2)
        .encode(x=x, y=alt.Y("sum(available_mw):Q", title="facility MW"))
        .properties(name="limit")
    )
    ends = (
        on("available")
        .mark_tick(orient="horizontal", thickness=2, size=alt.ExprRef("bandwidth('x')"))
        .encode(x=x, y=alt.Y("sum(available_mw):Q", title="facility MW"))
        .properties(name="limit_ends")
    )
    land = _marks("landing", "triangle-up", 5, "racks into service", source, "service_quarter_period")
    leave = _marks("leaving", "triangle-down", 15, "racks retired", source, "period")
    datasets = {
        "used": Dataset("power_by_accelerator", ("site", "accelerator", "period", "used_mw")),
        "available": Dataset("power", ("site", "period", "available_mw")),
        "landing": Dataset("orders", ("site", "accelerator", "service_quarter", "racks")),
        "leaving": Dataset(
            "retirements", ("site", "accelerator", "period", "racks"), {"kind": DECIDED_LEAVES}
        ),
    }
    return Chart("power_stack", finished(alt.layer(bars, there, ends, land, leave), 190), datasets)


def order_times(source: ReportSource) -> Chart:
    """Order, delivery and service of what is decided in the first year."""
    start = source.scenario.horizon.start
    label = f"(floor((datum.value + {start.ordinal}) / 4)) + 'Q' + ((datum.value + {start.ordinal}) % 4 + 1)"
    y = alt.Y("lot:N", title=None, sort=alt.EncodingSortField("order_quarter_n", op="min"), axis=names_axis())
    tips = [
        *tips_of(
            "accelerator_label", "site_label", "kind", "order_quarter", "delivery_quarter", "service_quarter"
        ),
        tip("racks", "racks", ",.6~g"),
    ]
    axis = alt.Axis(labelExpr=label, tickMinStep=1, format="d")
    base = on("lots").transform_calculate(lot="datum.accelerator_label + ' · ' + datum.site_label")
    ordered = base.mark_bar(height=9, opacity=0.45).encode(
        x=alt.X("order_quarter_n:Q", title=None, axis=axis),
        x2="delivery_quarter_n:Q",
        y=y,
        color=colour_of(source),
        tooltip=tips,
    )
    install = base.mark_bar(height=9).encode(
        x="delivery_quarter_n:Q", x2="service_quarter_n:Q", y=y, color=colour_of(source), tooltip=tips
    )
    live = base.mark_point(shape="triangle-right", filled=True, size=70, opacity=1).encode(
        x="service_quarter_n:Q", y=y, color=colour_of(source), tooltip=tips
    )
    columns = ("accelerator", "site", "kind", "order_quarter", "delivery_quarter", "service_quarter", "racks")
    only = {
        "order_quarter": [str(start + n) for n in range(4)],
        "kind": ["new", "option", "upgrade", "rental"],
    }
    spec = finished(alt.layer(ordered, install, live), {"step": 18})
    return Chart("order_times", spec, {"lots": Dataset("orders", columns, only)})


def landings(source: ReportSource) -> Chart:
    """Racks that go into service, by accelerator."""
    chart = (
        on("rows")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=period_axis(source, "service_quarter_period"),
            y=alt.Y("sum(racks):Q", title="racks into service"),
            color=colour_of(source),
            tooltip=[*tips_of("accelerator_label", "service_quarter"), tip("sum(racks)", "racks", ",.6~g")],
        )
    )
    columns = ("accelerator", "site", "service_quarter", "racks")
    return Chart("landings", finished(chart, 220), {"rows": Dataset("orders", columns)})


def fleet_racks(source: ReportSource) -> Chart:
    """Racks alive by accelerator and period, darker is more; shows when a generation comes and goes."""
    chart = (
        on("rows")
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=period_axis(source),
            y=alt.Y("accelerator_label:N", title=None, axis=names_axis()),
            color=ramp("sum(racks):Q", "racks"),
            tooltip=[*tips_of("accelerator_label", "period"), tip("sum(racks)", "racks alive", ",.6~g")],
        )
    )
    columns = ("site", "accelerator", "period", "racks")
    return Chart("fleet_racks", finished(chart, {"step": 18}), {"rows": Dataset("fleet", columns)})


def power_share(source: ReportSource) -> Chart:
    """Share of each site's power that is free, in classes: dark is full."""
    total = on("rows").transform_aggregate(
        used="sum(used_mw)",
        available="sum(available_mw)",
        headroom="sum(headroom_mw)",
        groupby=["site_label", "period"],
    )
    chart = (
        total.transform_filter("datum.available > 0")
        .transform_calculate(free="datum.headroom / datum.available")
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=period_axis(source),
            y=alt.Y("site_label:N", title=None, axis=names_axis()),
            color=classes("free", FREE_CLASSES),
            tooltip=[
                *tips_of("site_label", "period"),
                tip("used", "MW used", ",.2f"),
                tip("available", "MW there", ",.2f"),
                tip("headroom", "MW free", ",.2f"),
            ],
        )
    )
    columns = ("site", "period", "available_mw", "used_mw", "headroom_mw")
    return Chart("power_share", finished(chart, {"step": 20}), {"rows": Dataset("power", columns)})


def retirements(source: ReportSource) -> Chart:
    """Racks that leave, by accelerator."""
    chart = (
        on("rows")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=period_axis(source),
            y=alt.Y("sum(racks):Q", title="racks retired"),
            color=colour_of(source),
            tooltip=[
                *tips_of("accelerator_label", "period"),
                tip("sum(racks)", "racks", ",.6~g"),
                tip("sum(book_value_musd)", "M USD written off", ",.2f"),
            ],
        )
    )
    columns = ("site", "accelerator", "period", "racks", "book_value_musd")
    return Chart("retirements", finished(chart, 200), {"rows": Dataset("retirements", columns)})


def worth(source: ReportSource) -> Chart:
    """What one more megawatt is worth, by site and period: dark is much."""
    chart = (
        on("rows")
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=period_axis(source),
            y=alt.Y("site_label:N", title=None, axis=names_axis()),
            color=ramp("worth_musd:Q", "M USD for one more MW", ".3~g"),
            tooltip=[
                *tips_of("site_label", "period", "hall"),
                tip("worth_musd", "M USD, plan may change", ",.4~g"),
                tip("held_musd", "M USD, plan held", ",.4~g"),
            ],
        )
    )
    columns = ("kind", "site", "period", "hall", "worth_musd", "held_musd")
    rows = Dataset("prices", columns, {"kind": ["power"]})
    return Chart("worth", finished(chart, {"step": 20}), {"rows": rows})


def _marks(data: str, shape: str, y: int, what: str, source: ReportSource, period: str) -> alt.Chart:
    return (
        on(data)
        .transform_aggregate(total="sum(racks)", groupby=[period])
        .mark_point(shape=shape, filled=True, size=34, opacity=1, y=y)
        .encode(x=period_axis(source, period), tooltip=[tip(period, "period"), tip("total", what, ",.6~g")])
        .properties(name=data)
    )
