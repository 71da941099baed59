"""Charts of studies: tornado, fan, front, break-even curve, orders, regrets and rounds, as Vega-Lite made with Altair.

Each takes the table of its study and holds the rows it draws; colours of text and lines come from the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from fleetplan.report.grammar import FONT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8c8c8c"
SHOWN = 20
"""Bars of a tornado."""


def tornado(results: pd.DataFrame) -> dict[str, Any]:
    """Cost at the low and at the high end of each group, over the base: what moves the plan most.

    ``results`` are those of a sweep over :func:`fleetplan.studies.cases.low_mid_high`.
    """
    frame = tornado_table(results).head(SHOWN)
    long = frame.melt(["group", "swing_musd"], ["low_musd", "high_musd"], "end", "musd").dropna()
    long["end"] = long["end"].map({"low_musd": "at its low end", "high_musd": "at its high end"})
    chart = (
        alt.Chart(alt.Data(values=_records(long)))
        .mark_bar(height=11)
        .encode(
            y=alt.Y("group:N", title=None, sort=frame["group"].tolist(), axis=alt.Axis(labelLimit=320)),
            x=alt.X("musd:Q", title="change of cost, M USD present value"),
            color=alt.Color("end:N", title=None, scale=alt.Scale(range=[ORANGE, BLUE])),
            tooltip=[alt.Tooltip("group:N"), alt.Tooltip("end:N"), alt.Tooltip("musd:Q", format="+,.1f")],
        )
    )
    return _spec(chart, 20 * max(1, len(frame)))


def tornado_table(results: pd.DataFrame) -> pd.DataFrame:
    """group, low_musd, high_musd (change of cost over the base), swing_musd; widest first."""
    import pandas as pd

    cost = results.set_index("case")["cost_musd"]
    groups = sorted({name.rsplit(" ", 1)[0] for name in cost.index if name.endswith((" low", " high"))})
    rows = []
    for group in groups:
        low, high = (
            float(cost.get(f"{group} {end}", float("nan")) - cost["base"]) for end in ("low", "high")
        )
        rows.append((group, low, high, max(0.0, low, high) - min(0.0, low, high)))
    frame = pd.DataFrame(rows, columns=["group", "low_musd", "high_musd", "swing_musd"])
    return frame.sort_values("swing_musd", ascending=False, kind="stable", ignore_index=True)


def fan(results: pd.DataFrame, measure: str = "cost_musd") -> dict[str, Any]:
    """How a measure spreads over the cases: share of cases at or below each value."""
    values = results[measure].dropna().sort_values(ignore_index=True)
    rows = [{"value": float(v), "share": (i + 1) / len(values)} for i, v in enumerate(values)]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after", color=BLUE)
        .encode(
            x=alt.X("value:Q", title=measure, scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="share of cases at or below", axis=alt.Axis(format="%")),
            tooltip=[alt.Tooltip("value:Q", format=",.2f"), alt.Tooltip("share:Q", format=".0%")],
        )
    )
    return _spec(chart, 240)


def front(frame: pd.DataFrame) -> dict[str, Any]:
    """Cost against the first other objective; each point links to its plan's folder."""
    column = next(c for c in frame.columns if c not in ("plan", "cost_musd", "bound_musd"))
    chart = (
        alt.Chart(alt.Data(values=_records(frame)))
        .mark_line(point=alt.OverlayMarkDef(size=70, filled=True), color=BLUE)
        .transform_calculate(href="datum.plan + '/manifest.json'")
        .encode(
            x=alt.X("cost_musd:Q", title="cost, M USD present value", scale=alt.Scale(zero=False)),
            y=alt.Y(f"{column}:Q", title=column, scale=alt.Scale(zero=False)),
            href="href:N",
            tooltip=[alt.Tooltip(f"{c}:Q" if c != "plan" else "plan:N") for c in frame.columns],
        )
    )
    return _spec(chart, 300)


def curve(frame: pd.DataFrame, title: str) -> dict[str, Any]:
    """The measure of a decision over the input's value, by whether the decision holds."""
    known = frame[frame["holds"].notna()].assign(
        holds=lambda f: f["holds"].map({True: "holds", False: "does not"})
    )
    base = alt.Chart(alt.Data(values=_records(known))).encode(
        x=alt.X("value:Q", title=title, scale=alt.Scale(zero=False)),
        y=alt.Y("measure:Q", title="measure of the decision"),
    )
    points = base.mark_point(filled=True, size=60).encode(
        color=alt.Color(
            "holds:N", title="decision", scale=alt.Scale(domain=["holds", "does not"], range=[BLUE, ORANGE])
        ),
        tooltip=[alt.Tooltip("value:Q"), alt.Tooltip("measure:Q"), alt.Tooltip("cost_musd:Q", format=",.1f")],
    )
    return _spec(base.mark_line(color=GREY) + points, 260)


def orders(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Racks ordered by accelerator, one bar per plan; ``tables`` are the plans' orders by their names."""
    sums = {name: table.groupby("accelerator")["racks"].sum() for name, table in tables.items()}
    rows = [
        {"plan": name, "accelerator": str(accelerator), "racks": float(racks)}
        for name, sum_of in sums.items()
        for accelerator, racks in sum_of.items()
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("plan:N", title=None, sort=[*tables]),
            x=alt.X("racks:Q", title="racks ordered", stack="zero"),
            color=alt.Color("accelerator:N", title=None, scale=alt.Scale(scheme="tableau20")),
            tooltip=[
                alt.Tooltip("plan:N"),
                alt.Tooltip("accelerator:N"),
                alt.Tooltip("racks:Q", format=",.0f"),
            ],
        )
    )
    return _spec(chart, 45 * max(2, len(tables)))


def regret(regrets: pd.DataFrame) -> dict[str, Any]:
    """What each candidate of today's orders costs above the best, one mark per future."""
    known = regrets[regrets["regret_musd"] < float("inf")]
    chart = (
        alt.Chart(alt.Data(values=_records(known)))
        .mark_tick(thickness=3, size=22, color=BLUE)
        .encode(
            y=alt.Y("candidate:N", title=None, sort=regrets["candidate"].unique().tolist()),
            x=alt.X("regret_musd:Q", title="regret by future, M USD present value"),
            tooltip=[
                alt.Tooltip("candidate:N"),
                alt.Tooltip("future:N"),
                alt.Tooltip("cost_musd:Q", format=",.1f"),
                alt.Tooltip("regret_musd:Q", format=",.1f"),
            ],
        )
    )
    return _spec(chart, 40 * max(2, regrets["candidate"].nunique()))


def rounds(frame: pd.DataFrame) -> dict[str, Any]:
    """What each planning round expected the whole horizon to cost; larger marks re-planned more racks."""
    base = alt.Chart(alt.Data(values=_records(frame))).encode(
        x=alt.X("quarter:O", title="planned in", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("cost_musd:Q", title="expected cost, M USD present value", scale=alt.Scale(zero=False)),
    )
    points = base.mark_point(filled=True, color=BLUE).encode(
        size=alt.Size("churn_racks:Q", title="racks re-planned", scale=alt.Scale(range=[60, 500])),
        tooltip=[
            alt.Tooltip("quarter:O"),
            alt.Tooltip("cost_musd:Q", format=",.1f"),
            alt.Tooltip("churn_racks:Q", format=",.0f"),
            alt.Tooltip("ordered_racks:Q", format=",.0f"),
        ],
    )
    return _spec(base.mark_line(color=GREY) + points, 260)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def _spec(chart: Any, height: int) -> dict[str, Any]:
    styled = chart.properties(width="container", height=height).configure(font=FONT, background="transparent")
    spec: dict[str, Any] = styled.configure_view(stroke=None).to_dict()
    return spec
