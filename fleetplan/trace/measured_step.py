"""The measured step as the step model sees it: compute and communication in isolation, and the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from fleetplan.trace.report import TraceReport

SMALL_CALL_BYTES = 1e6


@dataclass(frozen=True)
class CollectiveShare:
    """One collective in the mean step, ms.

    ``waiting_*`` is time in it spent on waiting for other ranks: at least what matched calls show, at
    most what the rate of the best call leaves.
    """

    kind: str
    time_ms: float
    hidden_ms: float
    waiting_least_ms: float
    waiting_most_ms: float


@dataclass(frozen=True)
class MeasuredStep:
    """Mean over whole steps and ranks, ms."""

    steps: int
    ranks: int
    duration_ms: float
    shortest_ms: float
    longest_ms: float
    """Of the steps' mean over ranks."""
    compute_ms: float
    exposed_ms: float
    hidden_ms: float
    copy_ms: float
    wait_ms: float
    host_bound_ms: float
    other_idle_ms: float
    collectives: tuple[CollectiveShare, ...]

    @property
    def idle_ms(self) -> float:
        """Time with neither compute nor communication."""
        return self.copy_ms + self.wait_ms + self.host_bound_ms + self.other_idle_ms

    @property
    def communication_ms(self) -> float:
        """Time in which communication runs."""
        return self.hidden_ms + self.exposed_ms


def measured_step(report: TraceReport) -> MeasuredStep:
    """Average the whole steps of all ranks (all steps, where none is whole)."""
    steps = report.steps[report.steps["whole"]] if report.steps["whole"].any() else report.steps
    chosen = steps[["rank", "step"]]
    mean = steps.mean(numeric_only=True)
    by_step = steps.groupby("step")["duration_ms"].mean()
    return MeasuredStep(
        steps=int(steps["step"].nunique()),
        ranks=int(steps["rank"].nunique()),
        duration_ms=float(mean["duration_ms"]),
        shortest_ms=float(by_step.min()),
        longest_ms=float(by_step.max()),
        compute_ms=float(mean["compute_ms"]),
        exposed_ms=float(mean["exposed_ms"]),
        hidden_ms=float(mean["hidden_ms"]),
        copy_ms=float(mean["copy_ms"]),
        wait_ms=float(mean["wait_ms"]),
        host_bound_ms=float(mean["host_bound_ms"]),
        other_idle_ms=float(mean["other_idle_ms"]),
        collectives=tuple(_shares(report, chosen)),
    )


def _shares(report: TraceReport, chosen: pd.DataFrame) -> list[CollectiveShare]:
    rows = report.collectives.merge(chosen, on=["rank", "step"])
    calls = report.calls.merge(chosen, on=["rank", "step"]).reset_index(drop=True)
    slack = _waiting_most(report, calls)
    shares = []
    for kind, group in rows.groupby("collective"):
        mine = calls["collective"] == kind
        most = float(slack[mine].sum()) / len(chosen)
        known = float(group["waiting_ms"].sum()) / len(chosen)
        time = float(group["time_ms"].sum()) / len(chosen)
        shares.append(
            CollectiveShare(
                kind=str(kind),
                time_ms=time,
                hidden_ms=float(group["hidden_ms"].sum()) / len(chosen),
                waiting_least_ms=min(known, time),
                waiting_most_ms=min(max(most, known), time),
            )
        )
    return shares


def _waiting_most(report: TraceReport, calls: pd.DataFrame) -> pd.Series[float]:
    """Waiting if each call moved its bytes at the best rate that this collective reached in the trace.

    Calls whose size is unknown keep the waiting that matching shows; small calls move in no time.
    """
    best = {
        (row["collective"], row["group_size"]): row["best_gb_per_s"]
        for row in report.rates.to_dict(orient="records")
    }
    waiting = (calls["duration_ms"] - calls["transfer_ms"]).to_numpy(copy=True)
    for place, call in enumerate(calls.to_dict(orient="records")):
        rate = best.get((call["collective"], call["group_size"]), math.nan)
        size = call["bytes"]
        if math.isnan(size) or (size >= SMALL_CALL_BYTES and math.isnan(rate)):
            continue
        transfer = 0.0
        if size >= SMALL_CALL_BYTES:
            transfer = min(call["link_gb_per_s"] / rate * call["transfer_ms"], call["duration_ms"])
        waiting[place] = max(call["duration_ms"] - transfer, 0.0)
    return pd.Series(waiting, index=calls.index)
