"""A study as one HTML page that needs nothing else: answer first, then charts, then the tables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

_STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;max-width:70rem;margin:2rem auto;
padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}
.chart{width:100%}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}td,th{border-color:#444}
.chart{background:#fff}}
"""
MOST_ROWS = 500


def study_page(
    title: str,
    lines: Sequence[str],
    charts: Mapping[str, Mapping[str, Any]],
    tables: Mapping[str, pd.DataFrame],
) -> str:
    """Write the page; ``charts`` are Vega-Lite specifications with their rows, both maps are by title."""
    from fleetplan.report.bundle import vega_bundle
    from fleetplan.report.embedded import script_json

    drawn = "".join(
        f"<h2>{escape(name)}</h2><div class=chart id=chart{i}></div>" for i, name in enumerate(charts)
    )
    specs = script_json([dict(spec) for spec in charts.values()])
    shown = "".join(f"<h2>{escape(name)}</h2>{_table(frame)}" for name, frame in tables.items())
    script = (
        f"<script>{vega_bundle()}</script><script type='application/json' id=specs>{specs}</script><script>"
        "JSON.parse(document.getElementById('specs').textContent).forEach((spec,i)=>"
        "vegaEmbed('#chart'+i,spec,{actions:false,renderer:'svg'}));</script>"
        if charts
        else ""
    )
    answer = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
        f"<h1>{escape(title)}</h1>{answer}{drawn}{shown}{script}</html>\n"
    )


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>"
        for row in frame.head(MOST_ROWS).itertuples(index=False)
    )
    more = len(frame) - MOST_ROWS
    note = f"<p>{more:,} more rows are in the CSV beside this page.</p>" if more > 0 else ""
    return f"<table><tr>{head}</tr>{body}</table>{note}"


def _cell(value: object) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:,.4g}"
    text = str(value)
    if text.startswith(("plans/", "cases/")):
        return f"<a href='{escape(text)}/manifest.json'>{escape(text)}</a>"
    return escape(text)
