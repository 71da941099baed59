"""The typical step as a picture: lanes of each rank, the time without compute marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.trace.report import TraceReport

_MOST_RANKS = 4
_PIECES = 400
_COLOURS = {
    "compute": "#0072b2",
    "all-to-all": "#d55e00",
    "all-reduce": "#e69f00",
    "all-gather": "#cc79a7",
    "reduce-scatter": "#b3a000",
    "copy": "#8c8c8c",
    "gap": "#c23b3b",
}
"""After Okabe and Ito: apart for the common colour-vision deficiencies. https://jfly.uni-koeln.de/color/"""
_OTHER = "#009e73"


def lanes_svg(report: TraceReport) -> str:
    """SVG of the first ranks' lanes in the typical step; empty where there are none."""
    ranks = report.typical["rank"].head(_MOST_RANKS).tolist()
    lanes = report.lanes[report.lanes["rank"].isin(ranks)]
    if lanes.empty:
        return ""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_chart(_coarse(lanes), ranks))
    duration = report.typical["duration_ms"].max()
    label = (
        f"Lanes of {len(ranks)} ranks over {duration:.1f} ms: when compute and each collective run, "
        "and the gaps without compute. The tables below hold the figures."
    )
    return str(svg).replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _coarse(lanes: pd.DataFrame) -> list[dict[str, Any]]:
    """Intervals, near ones joined as the eye would; gaps as they are, without those too short to see."""
    step = float(lanes["end_ms"].max()) / _PIECES
    rows: list[dict[str, Any]] = []
    for row in lanes.sort_values(["rank", "lane", "start_ms"]).to_dict(orient="records"):
        last = rows[-1] if rows else None
        joins = last and row["lane"] != "gap" and (last["rank"], last["lane"]) == (row["rank"], row["lane"])
        if last and joins and row["start_ms"] - last["end_ms"] < step:
            last["end_ms"] = max(last["end_ms"], row["end_ms"])
        else:
            rows.append({str(key): value for key, value in row.items()})
    return [row for row in rows if row["lane"] != "gap" or row["end_ms"] - row["start_ms"] > step]


def _chart(rows: list[dict[str, Any]], ranks: list[int]) -> dict[str, Any]:
    import altair as alt

    present = {row["lane"] for row in rows}
    first = [lane for lane in _COLOURS if lane in present and lane != "gap"]
    order = [*first, *sorted(present - set(_COLOURS)), "gap"]
    colours = [_COLOURS.get(lane, _OTHER) for lane in order]
    axis = alt.Axis(labelColor="#7a8794", titleColor="#7a8794", gridColor="#8c8c8c44")
    lanes = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(height=13)
        .encode(
            x=alt.X("start_ms:Q", title="ms since the step's start", axis=axis),
            x2="end_ms:Q",
            y=alt.Y("lane:N", sort=order, title=None, axis=axis),
            color=alt.Color("lane:N", scale=alt.Scale(domain=order, range=colours), legend=None),
        )
        .properties(width=820, height=18 * len(order))
    )
    faceted = lanes.facet(
        row=alt.Row(
            "rank:O", sort=ranks, title="rank", header=alt.Header(labelColor="#7a8794", titleColor="#7a8794")
        )
    )
    chart = faceted.configure_view(stroke="#8c8c8c66").properties(background="transparent")
    with alt.data_transformers.enable("default", max_rows=None):
        return dict(chart.to_dict())
