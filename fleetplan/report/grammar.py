"""What charts are built from: datasets, axes, colours, tips.

A chart is Vega-Lite made with Altair. It names the tables that it is drawn from and holds no data: the
page hands it the rows that pass the filters. Colours of text and lines come from the page's style, so
that light, dark and print need no second drawing; colours of accelerators from
:mod:`fleetplan.report.palette`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from fleetplan.plan.words import percent
from fleetplan.report.palette import palette

if TYPE_CHECKING:
    from fleetplan.report.source import ReportSource

PART_COLOURS = {
    "compute": "#0072b2",
    "embedding": "#56b4e9",
    "exposed all-to-all": "#d55e00",
    "exposed all-reduce": "#e69f00",
    "floor": "#8c8c8c",
}


ITEM_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8c8c8c",
    "#b3a000",
    "#5b4db1",
)


FREE_CLASSES = (0.01, 0.03, 0.1, 0.3)
"""Limits between classes of free power, as shares of what is there."""


SERVED_CLASSES = (0.9, 0.95, 0.99, 0.9999)
"""Limits between classes of served work, as shares of demand."""


CLASS_COLOURS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
"""Viridis in five steps."""


FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
"""As in the page's style, so that labels are measured as they are drawn."""


DECIDED_LEAVES = ("early", "end-of-life", "upgrade", "moved")
"""Retirements that a chart marks; attrition happens in every period."""


YEAR = "substring(datum.period, 0, 4)"


def class_labels(limits: tuple[float, ...]) -> list[tuple[str, str]]:
    """Colour and words of each class, from little to much."""
    said = [percent(limit) for limit in limits]
    between = [f"{low} to {high}" for low, high in pairwise(said)]
    return list(zip(CLASS_COLOURS, [f"under {said[0]}", *between, f"over {said[-1]}"], strict=True))


@dataclass(frozen=True)
class Dataset:
    """Rows that a chart needs: a table, its columns, and texts that columns must hold."""

    table: str
    columns: tuple[str, ...]
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    """A drawing: Vega-Lite specification, the data it is handed, and the look-ups around it."""

    name: str
    spec: dict[str, Any]
    datasets: Mapping[str, Dataset]
    period_choice: str = ""
    """Dataset whose rows are limited to one period that the reader chooses."""


def on(dataset: str) -> alt.Chart:
    """A chart of a named dataset, which the page fills."""
    return alt.Chart(alt.NamedData(name=dataset))


def period_axis(source: ReportSource, column: str = "period") -> alt.X:
    """Periods in order, years named at their first quarter."""
    names = [p.name for p in source.periods]
    label = f"({json.dumps(period_labels(names))})[datum.value] || ''"
    axis = alt.Axis(labelExpr=label, labelAngle=0, ticks=False, labelOverlap="greedy")
    return alt.X(f"{column}:O", title=None, axis=axis, scale=alt.Scale(domain=names, paddingInner=0.06))


def period_labels(names: Sequence[str]) -> dict[str, str]:
    """The label of the first period and of each that begins a year; a year's first quarter is the year."""
    labels = {names[0]: names[0]}
    for before, name in pairwise(names):
        if name[:4] != before[:4]:
            labels[name] = name.removesuffix("Q1")
    return labels


def colour_of(source: ReportSource) -> alt.Color:
    """Colour by accelerator; the page shows the key."""
    colours = palette(source.in_use("accelerator"))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("accelerator:N", legend=None, scale=scale)


def ramp(field_: str, title: str, form: str = "~s") -> alt.Color:
    """A continuous scale, dark where there is much."""
    legend = alt.Legend(orient="bottom", format=form, gradientLength=160, gradientThickness=8)
    return alt.Color(field_, title=title, scale=alt.Scale(scheme="viridis", reverse=True), legend=legend)


def classes(field_: str, limits: tuple[float, ...]) -> alt.Color:
    """Five classes of a share, dark where little is left: what matters is near the end of the scale."""
    scale = alt.Scale(type="threshold", domain=list(limits), range=list(CLASS_COLOURS))
    return alt.Color(f"{field_}:Q", scale=scale, legend=None)


def names_axis() -> alt.Axis:
    """An axis of names, cut where they are long; tips show them in full."""
    return alt.Axis(labelLimit=220, ticks=False, domain=False)


def tip(field_: str, title: str, form: str | None = None) -> alt.Tooltip:
    """One entry of a tip: a number with a format, or a name."""
    if form is None:
        return alt.Tooltip(f"{field_}:N", title=title)
    return alt.Tooltip(f"{field_}:Q", title=title, format=form)


def tips_of(*fields: str) -> list[alt.Tooltip]:
    """Names in a tip, titled by their columns."""
    return [alt.Tooltip(f"{f}:N", title=f.replace("_label", "").replace("_", " ")) for f in fields]


def finished(chart: alt.Chart | alt.LayerChart, height: int | dict[str, int]) -> dict[str, Any]:
    """The finished Vega-Lite: as wide as its place, of a height in pixels or in pixels per row."""
    size: Any = alt.Step(height["step"]) if isinstance(height, dict) else height
    sized = chart.properties(width="container", height=size)
    styled = (
        sized.configure(font=FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
    )
    # Altair's own check of the schema takes longer than all else here; the compiler to Vega checks too.
    spec: dict[str, Any] = styled.to_dict(validate=False)
    spec.pop("$schema", None)
    return spec
