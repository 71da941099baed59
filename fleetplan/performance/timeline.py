"""One step drawn on its lanes: compute, scale-up, scale-out or offload engine, host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.performance.charts import WIDTH, page

if TYPE_CHECKING:
    import altair as alt

    from fleetplan.performance.one_step import StepResult

LANES = ("compute", "scale-up", "scale-out", "offload engine", "host")


def timeline_html(result: StepResult) -> str:
    """Lanes for compute, links, offload engine and host over one step, with what stays exposed."""
    return page(timeline_chart(result))


def timeline_chart(result: StepResult) -> alt.Chart:
    """The timeline; hover shows times and the exposed part of each bar."""
    import altair as alt
    import pandas as pd

    rows = pd.DataFrame([vars(segment) for segment in result.segments])
    title = (
        f"{result.model} on {result.devices} x {result.accelerator}: {result.step_ms:.2f} ms, "
        f"{result.samples_per_s:,.0f} samples/s, most of it {result.bound}"
    )
    lanes = [lane for lane in LANES if lane in set(rows["lane"])]
    return (
        alt.Chart(rows)
        .mark_bar(stroke="white", strokeWidth=0.5, height=22)
        .encode(
            x=alt.X("start_ms:Q", title="ms from the start of the step"),
            x2="end_ms:Q",
            y=alt.Y("lane:N", sort=lanes, title=None),
            color=alt.Color("name:N", title=None, scale=alt.Scale(scheme="tableau20")),
            tooltip=["name", "phase", "lane", *(alt.Tooltip(c, format=".3f") for c in _TIMES)],
        )
        .properties(width=WIDTH, height=40 * len(lanes), title=title)
    )


_TIMES = ("start_ms:Q", "end_ms:Q", "exposed_ms:Q")
