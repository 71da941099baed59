"""Charts of the step model, each as one self-contained page: accuracy and power fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

WIDTH = 860
"""Pixels of a chart."""


def accuracy_html(rows: pd.DataFrame) -> str:
    """Predicted against measured, both on logarithmic axes, advisory rows hollow."""
    return page(accuracy_chart(rows))


def accuracy_chart(rows: pd.DataFrame) -> alt.LayerChart:
    """One mark per predicted row; the diagonal is a perfect prediction."""
    import altair as alt
    import pandas as pd

    shown = rows[rows["predicted"].notna() & (rows["measured"] > 0)]
    shown = shown.assign(error_percent=100 * shown["error"].astype(float))
    ends = pd.DataFrame({"x": [shown["measured"].min(), shown["measured"].max()]})
    line = alt.Chart(ends).mark_line(color="#999").encode(x="x:Q", y="x:Q")
    marks = (
        alt.Chart(shown)
        .mark_point(size=45)
        .encode(
            x=alt.X("measured:Q", scale=alt.Scale(type="log"), title="measured, in each row's unit"),
            y=alt.Y("predicted:Q", scale=alt.Scale(type="log"), title="predicted"),
            color=alt.Color("metric:N", title=None),
            fill=alt.condition("datum.advisory", alt.value("transparent"), alt.Color("metric:N")),
            tooltip=[
                "id",
                "measured",
                "predicted",
                alt.Tooltip("error_percent:Q", format="+.1f"),
                "unit",
                "evidence",
                "gate",
            ],
        )
    )
    return (line + marks).properties(
        width=WIDTH, height=560, title=f"{len(shown)} public measurements: predicted against measured"
    )


def fit_html(table: pd.DataFrame, facility_mw: float, model: str) -> str:
    """Samples/s under a power limit by accelerator and cap, with the band."""
    return page(fit_chart(table, facility_mw, model))


def fit_chart(table: pd.DataFrame, facility_mw: float, model: str) -> alt.LayerChart:
    """One bar per accelerator at its best cap, an error bar for the band."""
    import altair as alt

    best = table[table["samples_per_s"].notna()].drop_duplicates("accelerator")
    best = best.astype(dict.fromkeys(("racks", "devices", "job_devices", "local_batch"), "float64"))
    base = alt.Chart(best).encode(y=alt.Y("accelerator:N", sort="-x", title=None))
    bars = base.mark_bar(color="#4c78a8").encode(
        x=alt.X("samples_per_s:Q", title="useful samples/s"),
        tooltip=[
            "accelerator",
            "cap_w",
            "racks",
            "samples_per_s",
            "cost_musd_per_year",
            "usd_per_billion_samples",
        ],
    )
    band = base.mark_errorbar(color="#333").encode(
        x=alt.X("samples_per_s_low:Q", title=""), x2="samples_per_s_high:Q"
    )
    first = best.iloc[0]
    title = f"{facility_mw:g} MW hold most {model} on {first['accelerator']} at {first['cap_w']:.0f} W"
    return (bars + band).properties(width=WIDTH, height=28 * len(best), title=title)


def page(chart: alt.Chart | alt.LayerChart) -> str:
    """A page with its scripts inside, which opens without a network."""
    page: str = chart.to_html(inline=True, embed_options={"actions": False})
    return page
