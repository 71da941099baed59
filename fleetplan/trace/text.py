"""A trace report as lines for a terminal, with the lanes of the typical step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.trace.columns import Float

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.trace.report import TraceReport

_SHADES = " ░▒▓█"
_MOST_RANKS = 8
_PARTS = (
    ("compute", "compute_ms"),
    ("exposed communication", "exposed_ms"),
    ("copies alone", "copy_ms"),
    ("device queue waits", "wait_ms"),
    ("host-bound", "host_bound_ms"),
    ("other idle", "other_idle_ms"),
)


def report_lines(report: TraceReport, width: int) -> list[str]:
    """Steps, collectives, link rates, spread, the picture, the peer's shares and the notes."""
    lines = _step_lines(report)
    lines += _collective_lines(report)
    lines += _rate_lines(report)
    lines += _straggler_lines(report)
    lines += picture_lines(report, width)
    lines += _gap_lines(report)
    lines += _peer_lines(report)
    return lines + [f"note: {note}" for note in report.notes]


def _step_lines(report: TraceReport) -> list[str]:
    typical = report.typical.head(_MOST_RANKS)
    whole = int(report.steps["whole"].sum())
    found = report.ranks["steps"].sum()
    lines = [
        f"{len(report.ranks)} ranks, {found} steps found ({whole} whole); typical step {report.typical_step}",
        "",
        f"{'ms per step':<24}" + "".join(f"{f'rank {rank}':>18}" for rank in typical["rank"]),
    ]
    total = typical["duration_ms"]
    for title, column in _PARTS:
        cells = [
            f"{part:>10.2f} {_share(part, all_):>6}"
            for part, all_ in zip(typical[column], total, strict=True)
        ]
        lines.append(f"{title:<24}" + "".join(f"{cell:>18}" for cell in cells))
    lines.append(f"{'step':<24}" + "".join(f"{f'{value:.2f}       ':>18}" for value in total))
    cells = [
        _share(hidden, all_)
        for hidden, all_ in zip(typical["hidden_ms"], typical["communication_ms"], strict=True)
    ]
    return [*lines, f"{'communication hidden':<24}" + "".join(f"{cell:>18}" for cell in cells), ""]


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _collective_lines(report: TraceReport) -> list[str]:
    rows = report.collectives[report.collectives["step"] == report.typical_step]
    if rows.empty:
        return ["no collectives in the typical step", ""]
    heads = "".join(f"{head:>10}" for head in ("ms", "hidden", "exposed", "waiting"))
    lines = [f"{'collective':<16}{'rank':>5}{'calls':>7}{'GB':>9}{heads}"]
    for row in rows.head(4 * _MOST_RANKS).itertuples():
        size = f"{row.gb:.3f}" if row.calls_with_bytes else "-"
        lines.append(
            f"{row.collective:<16}{row.rank:>5}{row.calls:>7}{size:>9}{row.time_ms:>10.2f}"
            f"{row.hidden_ms:>10.2f}{row.exposed_ms:>10.2f}{row.waiting_ms:>10.2f}"
        )
    return [*lines, ""]


def _rate_lines(report: TraceReport) -> list[str]:
    lines = [
        f"{row.collective} among {row.group_size}: {row.median_gb_per_s:.1f} GB/s per link one way "
        f"(median of {row.calls} calls, {row.mb_per_call:.0f} MB each; best {row.best_gb_per_s:.1f})"
        for row in report.rates.itertuples()
    ]
    return [*lines, ""] if lines else []


def _straggler_lines(report: TraceReport) -> list[str]:
    rows = report.stragglers[report.stragglers["ranks"] > 1]
    lines = [
        f"step {row.step}: slowest rank {row.slowest_rank} computes {row.compute_max_ms:.2f} ms, "
        f"{row.compute_spread:.3f} of the mean; {row.waiting_mean_ms:.2f} ms waiting per rank in collectives"
        for row in rows.head(_MOST_RANKS).itertuples()
    ]
    return [*lines, ""] if lines else []


def picture_lines(report: TraceReport, width: int) -> list[str]:
    """Lanes of the typical step in characters; ``^`` marks the time without compute."""
    cells = max(20, width - 26)
    lines: list[str] = []
    typical = report.typical.head(_MOST_RANKS)
    for rank, duration in zip(typical["rank"], typical["duration_ms"], strict=True):
        lanes = report.lanes[report.lanes["rank"] == rank]
        names = [name for name in dict.fromkeys(lanes["lane"]) if name not in ("compute", "gap")]
        lines.append(f"rank {rank}, 0 to {duration:.1f} ms")
        for name in ["compute", *sorted(names)]:
            cover = _cover(lanes[lanes["lane"] == name], duration, cells)
            shades = "".join(_SHADES[math.ceil(share * (len(_SHADES) - 1))] for share in cover)
            lines.append(f"  {name:<22}|{shades}|")
        gap = _cover(lanes[lanes["lane"] == "gap"], duration, cells)
        lines.append(f"  {'gap':<22}|" + "".join("^" if share > 0.9 else " " for share in gap) + "|")
    return [*lines, ""]


def _cover(lanes: pd.DataFrame, duration: float, cells: int) -> Float:
    """Share of each cell that the intervals cover, 0 to 1."""
    edges = np.linspace(0.0, duration, cells + 1)
    start = lanes["start_ms"].to_numpy()[:, None]
    end = lanes["end_ms"].to_numpy()[:, None]
    inside = np.clip(np.minimum(end, edges[1:]) - np.maximum(start, edges[:-1]), 0.0, None).sum(axis=0)
    cover: Float = np.clip(np.round(inside / (duration / cells), 9), 0.0, 1.0)
    return cover


def _gap_lines(report: TraceReport) -> list[str]:
    lines = []
    for _, gaps in report.gaps.groupby("rank"):
        gap = gaps.nlargest(1, "length_ms").to_dict(orient="records")[0]
        doing = f"; host in {gap['host']}" if gap["host"] else ""
        beside = f" ({gap['collectives']})" if gap["collectives"] else ""
        lines.append(
            f"longest gap of rank {gap['rank']}: {gap['length_ms']:.2f} ms from {gap['start_ms']:.2f} ms; "
            f"{gap['exposed_ms']:.2f} communication{beside}, {gap['host_bound_ms']:.2f} host-bound{doing}"
        )
    return [*lines[:_MOST_RANKS], ""]


def _peer_lines(report: TraceReport) -> list[str]:
    lines = []
    for row in report.peer.head(_MOST_RANKS).to_dict(orient="records"):
        hidden = "-" if math.isnan(row["hidden_pct"]) else f"{row['hidden_pct']:.2f} %"
        lines.append(
            f"by HolisticTraceAnalysis's definitions, rank {row['rank']}: idle {row['idle_pct']:.2f} %, "
            f"compute {row['compute_pct']:.2f} %, other {row['other_pct']:.2f} %, hidden {hidden}"
        )
    return [*lines, ""]
