"""Charts of work: what is served, on what, in which step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from fleetplan.report.grammar import (
    PART_COLOURS,
    SERVED_CLASSES,
    Chart,
    Dataset,
    classes,
    colour_of,
    finished,
    names_axis,
    on,
    period_axis,
    tip,
    tips_of,
)

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource


def service(source: ReportSource) -> Chart:
    """Share of each workload's demand that is served: dark is short."""
    chart = (
        on("rows")
        .transform_filter("datum.demand_samples_per_s > 0")
        .transform_calculate(share="1 - datum.shortfall_samples_per_s / datum.demand_samples_per_s")
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=period_axis(source),
            y=alt.Y("workload_label:N", title=None, axis=names_axis()),
            color=classes("share", SERVED_CLASSES),
            tooltip=[
                *tips_of("workload_label", "period"),
                tip("demand_samples_per_s", "samples/s asked for", ".4s"),
                tip("served_samples_per_s", "samples/s trained", ".4s"),
                tip("backlog_samples_per_s", "samples/s deferred", ".4s"),
                tip("shortfall_samples_per_s", "samples/s short", ".4s"),
                tip("share", "share served", ".2%"),
            ],
        )
    )
    columns = ("workload", "period", "demand_samples_per_s", "served_samples_per_s")
    return Chart("service", finished(chart, {"step": 22}), {"rows": Dataset("work", columns)})


def assignment(source: ReportSource) -> Chart:
    """Which accelerators train each workload in one period, as shares of its samples."""
    chart = (
        on("rows")
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            y=alt.Y("workload_label:N", title=None, axis=names_axis()),
            x=alt.X(
                "sum(samples_per_s):Q",
                stack="normalize",
                title="share of samples",
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=colour_of(source),
            order=alt.Order("rank:Q"),
            tooltip=[
                *tips_of("workload_label", "accelerator_label", "period"),
                tip("sum(samples_per_s)", "samples/s", ".4s"),
                tip("sum(racks)", "racks", ",.1f"),
            ],
        )
    )
    columns = ("site", "accelerator", "workload", "period", "racks", "samples_per_s")
    return Chart(
        "assignment", finished(chart, {"step": 26}), {"rows": Dataset("assignment", columns)}, "rows"
    )


def main_options(source: ReportSource) -> list[str]:
    """For each workload and accelerator the option that most racks use over the horizon."""
    rows = source.table("assignment")
    rows = rows[rows["racks"] > 0]
    totals = rows.groupby(["workload", "accelerator", "option"])[["racks"]].sum().reset_index()
    totals = totals.sort_values("option").sort_values("racks", ascending=False, kind="stable")
    return sorted(map(str, totals.drop_duplicates(["workload", "accelerator"])["option"]))


def steps(source: ReportSource) -> Chart:
    """Parts of the step of the options mainly used, per thousand samples, so that batches compare."""
    names = {
        "compute": "compute_ms",
        "embedding": "embedding_ms",
        "exposed all-to-all": "exposed_alltoall_ms",
        "exposed all-reduce": "exposed_allreduce_ms",
        "floor": "floor_ms",
    }
    base = on("rows").transform_fold(list(names.values()), ["column", "ms"])
    lookup = "{" + ", ".join(f"'{column}': '{part}'" for part, column in names.items()) + "}"
    chart = (
        base.transform_calculate(
            part=f"({lookup})[datum.column]",
            device_ms="datum.ms / datum.local_batch * 1000",
            rank=f"indexof({list(names.values())}, datum.column)",
            lot="datum.accelerator_label + ' × ' + datum.devices + ', ' + datum.cap_w + ' W'",
        )
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            y=alt.Y("lot:N", title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False)),
            x=alt.X("device_ms:Q", title=None, axis=alt.Axis(tickCount=4)),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=list(PART_COLOURS), range=list(PART_COLOURS.values())),
                legend=None,
            ),
            order="rank:Q",
            tooltip=[
                *tips_of("workload_label", "accelerator_label", "part"),
                tip("ms", "ms per step", ",.4~g"),
                tip("step_ms", "ms of the whole step", ",.4~g"),
                tip("device_ms", "device-ms per 1,000 samples", ",.4~g"),
            ],
        )
    )
    columns = (
        "option",
        "workload",
        "accelerator",
        "devices",
        "cap_w",
        "local_batch",
        "step_ms",
        *names.values(),
    )
    return Chart(
        "steps",
        finished(chart, {"step": 20}),
        {"rows": Dataset("options", columns, {"option": main_options(source)})},
    )
