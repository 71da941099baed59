"""A trace report as one self-contained HTML page: no script, no network, the picture as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from fleetplan.tables import TableSpec
from fleetplan.trace.picture import lanes_svg
from fleetplan.trace.tables import COLLECTIVES, CONTENTION, GAPS, RANKS, RATES, STEPS, STRAGGLERS

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.trace.fit import TraceFit
    from fleetplan.trace.report import TraceReport

_MOST_ROWS = 60
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --paper: #ffffff; --line: #c9d1d9; --soft: #f3f5f7 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --paper: #14191f; --line: #3a444f; --soft: #1d242c } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .3rem 0; opacity: .8 }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th { background: var(--soft) } .text { text-align: left } svg { max-width: 100%; height: auto }
"""


def html(
    report: TraceReport,
    *,
    replay: pd.DataFrame | None = None,
    utilization: pd.DataFrame | None = None,
    fit: TraceFit | None = None,
    what_if: pd.DataFrame | None = None,
) -> str:
    """The page. ``replay``, ``utilization`` and ``what_if`` are the tables of the functions of that name."""
    from fleetplan.trace.fit import FITTED
    from fleetplan.trace.peer import PEER
    from fleetplan.trace.replay import REPLAY
    from fleetplan.trace.utilization import UTILIZATION
    from fleetplan.trace.what_if import WHAT_IF

    typical = report.collectives[report.collectives["step"] == report.typical_step]
    parts = [
        f"<h1>{escape(_title(report))}</h1><p>{escape(_headline(report))}</p>",
        f"<h2>Typical step (number {report.typical_step})</h2>{lanes_svg(report)}",
        _section("Where each step goes", report.steps, STEPS),
        _section("Communication of the typical step", typical, COLLECTIVES),
        _section("Achieved link rates", report.rates, RATES),
        _section("Longest gaps of the typical step", report.gaps, GAPS),
        _section("Spread between ranks", report.stragglers, STRAGGLERS),
        _section("Compute and communication side by side", report.contention, CONTENTION),
        _section("The same step with another overlap", replay, REPLAY),
        _section("Effective utilization", utilization, UTILIZATION),
        _section("Constants fitted to the trace", fit.table if fit else None, FITTED),
        _section("What if", what_if, WHAT_IF),
        _section("By the definitions of HolisticTraceAnalysis", report.peer, PEER),
        _section("What was read", report.ranks, RANKS),
        _notes((*report.notes, *(fit.notes if fit else ()))),
    ]
    head = f'<meta charset="utf-8"><title>{escape(_title(report))}</title><style>{_STYLE}</style>'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(part for part in parts if part)
    return f'<!doctype html>\n<html lang="en"><head>{head}{viewport}</head><body>\n{body}\n</body></html>\n'


def _title(report: TraceReport) -> str:
    size = int(report.ranks["world_size"].max())
    job = f" of a job of {size}" if size else ""
    return f"Where the step goes: {len(report.ranks)} traced ranks{job}"


def _headline(report: TraceReport) -> str:
    mean = report.typical.mean(numeric_only=True)
    total = float(mean["duration_ms"])
    idle = float(mean["host_bound_ms"] + mean["other_idle_ms"] + mean["wait_ms"] + mean["copy_ms"])
    shares = {
        "computes": float(mean["compute_ms"]),
        "waits for the network": float(mean["exposed_ms"]),
        "does neither": idle,
    }
    words = ", ".join(f"{verb} {100 * part / total:.1f} %" for verb, part in shares.items())
    return f"Of a step of {total:.2f} ms the device {words}."


def _section(title: str, table: pd.DataFrame | None, spec: TableSpec) -> str:
    if table is None or table.empty:
        return ""
    columns = [column for column in spec.columns if column.name in table.columns]
    heads = "".join(
        f'<th scope="col" class="{_align(c.type)}" title="{escape(c.meaning)}">'
        f"{escape(_head(c.name, c.unit))}</th>"
        for c in columns
    )
    rows = "".join(
        "<tr>"
        + "".join(f'<td class="{_align(c.type)}">{escape(_cell(row[c.name]))}</td>' for c in columns)
        + "</tr>"
        for row in table.head(_MOST_ROWS).to_dict(orient="records")
    )
    more = f" (first {_MOST_ROWS} of {len(table)})" if len(table) > _MOST_ROWS else ""
    caption = f"<caption>{escape(spec.meaning + more)}</caption>"
    inner = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    # a table that scrolls must be reachable by keyboard
    name = escape(title)
    region = f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
    return f"<h2>{name}</h2>{region}{inner}</div>"


def _head(name: str, unit: str) -> str:
    words = name.removesuffix("_ms").removesuffix("_pct").removesuffix("_gb_per_s").replace("_", " ")
    told = unit in ("share", "ratio", "") or unit.lower() in words.split()
    return words if told else f"{words}, {unit}"


def _align(kind: str) -> str:
    return "text" if kind == "text" else "number"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "–"
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return str(value)


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<h2>How far to trust it</h2><ul>{items}</ul>" if items else ""
