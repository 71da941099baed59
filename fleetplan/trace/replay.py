"""The traced step under another overlap, without knowing the model: bounds from the trace alone.

Compute a and communication m are taken back to isolation (what ran side by side was slowed to kc and
km), then put together anew with the closed forms of :mod:`fleetplan.performance.overlap`. Idle time
stays as it was: overlap does not make the host faster. Waiting for slower ranks inside collectives
cannot be hidden; how much of them it is, is known only within bounds, and so are kc, km and the cost
of a chunk. The band is the least and most over the corners of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fleetplan.tables import TableSpec, number, text
from fleetplan.trace.measured_step import MeasuredStep, measured_step

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.performance.constants import Constant, Constants
    from fleetplan.trace.report import TraceReport

Engine = Literal["compute-units", "message-engine"]
_OVERLAP_NAME = {"all-to-all": "alltoall", "all-reduce": "allreduce"}

REPLAY = TableSpec(
    "replay",
    "the traced step with another overlap; idle time as measured",
    (
        text("case", "what is changed", key=True),
        number("step_ms", "ms", "middle"),
        number("low_ms", "ms", "least over the corners"),
        number("high_ms", "ms", "most over the corners"),
        number("speedup", "ratio", "measured step over the middle"),
        number("low_speedup", "ratio", "measured step over the most"),
        number("high_speedup", "ratio", "measured step over the least"),
        text("rests_on", "what is assumed"),
    ),
)


@dataclass(frozen=True)
class _Setting:
    """One corner: rates side by side as traced and as asked, chunk cost (ms), waiting taken out (ms)."""

    traced: tuple[float, float]
    asked: tuple[float, float]
    chunk_ms: float
    waiting_ms: float


@dataclass(frozen=True)
class _Case:
    title: str
    engine: Engine
    form: Literal["bound", "fill", "same", "chunked"]
    rests_on: str


_CASES = (
    _Case("perfect overlap", "message-engine", "bound", "communication wholly behind compute, no contention"),
    _Case("perfect overlap, idle filled", "message-engine", "fill", "communication behind all else"),
    _Case("offload engine, same schedule", "message-engine", "same", "what overlaps today, no contention"),
    _Case("offload engine, chunked", "message-engine", "chunked", "best chunks, rates of a message engine"),
    _Case("same engine, chunked", "compute-units", "chunked", "best chunks, rates as traced or published"),
)


def replay(report: TraceReport, accelerator: Accelerator | None = None) -> pd.DataFrame:
    """Rows of ``REPLAY``: the measured step, and the step with each change, with bands.

    ``accelerator`` picks the constants of the traced device; without it those of GPUs in general hold.
    Rates side by side that the trace itself shows replace the published ones.
    """
    step = measured_step(report)
    source = _Source(report, accelerator)
    rows: list[tuple[object, ...]] = [
        ("measured", step.duration_ms, step.duration_ms, step.duration_ms, 1.0, 1.0, 1.0, "the trace")
    ]
    for case in _CASES:
        middle, *corners = [_step_ms(step, case, setting) for setting in source.settings(step, case.engine)]
        low, high = min([middle, *corners]), max([middle, *corners])
        speedups = [step.duration_ms / value for value in (middle, high, low)]
        rows.append((case.title, middle, low, high, *speedups, case.rests_on))
    table = REPLAY.frame(rows)
    order = {title: place for place, title in enumerate(["measured", *(case.title for case in _CASES)])}
    return table.sort_values("case", key=lambda names: names.map(order), ignore_index=True)


def _step_ms(step: MeasuredStep, case: _Case, setting: _Setting) -> float:
    """The step under one case and corner. ``waiting`` stays exposed beside all else."""
    from fleetplan.performance.overlap import best_chunks, chunked

    kc, km = setting.traced
    compute = step.compute_ms - (1 - kc) * step.hidden_ms
    wire = max(step.exposed_ms + km * step.hidden_ms - setting.waiting_ms, 0.0)
    rest = step.idle_ms + setting.waiting_ms
    if case.form == "bound":
        return max(compute, wire) + rest
    if case.form == "fill":
        return max(compute + step.idle_ms, wire) + setting.waiting_ms
    if case.form == "same":
        # the work done side by side is kc*h and km*h; alone at full rate the longer of both remains
        new_kc, new_km = setting.asked
        side = max(kc / new_kc, km / new_km) * step.hidden_ms
        return step.duration_ms - max(step.hidden_ms - side, 0.0)
    count = best_chunks(compute, wire, *setting.asked, setting.chunk_ms)
    return float(chunked(compute, wire, *setting.asked, count, setting.chunk_ms)) + rest


class _Source:
    """Rates side by side and chunk costs: from the trace where it shows them, else the constants."""

    def __init__(self, report: TraceReport, accelerator: Accelerator | None) -> None:
        from fleetplan.performance.constants import load_constants

        self._constants: Constants = load_constants()
        self._name = accelerator.name if accelerator else "a GPU"
        self._vendor = accelerator.vendor if accelerator else ""
        self._seen = {
            (row["side"], row["collective"]): (row["rate"], 2 * row["standard_error"])
            for row in report.contention.to_dict(orient="records")
            if row["events"] and row["standard_error"] < 0.1
        }

    def settings(self, step: MeasuredStep, engine: Engine) -> Iterator[_Setting]:
        """The middle first, then every corner."""
        traced = [self._rates(step, "compute-units", corner, traced=True) for corner in (0, -1, 1)]
        same = engine == "compute-units"
        asked = [self._rates(step, engine, corner, traced=same) for corner in (0, -1, 1)]
        chunk = self._constant("chunk_fixed_us", engine)
        costs = [value * 1e-3 for value in (chunk.value, chunk.low, chunk.high)]
        least = sum(share.waiting_least_ms for share in step.collectives)
        most = min(sum(share.waiting_most_ms for share in step.collectives), step.exposed_ms)
        waits = [min(least, step.exposed_ms), 0.0, most]
        yield _Setting(traced[0], asked[0], costs[0], waits[0])
        for pair, asks, cost, wait in itertools.product(traced[1:], asked[1:], costs[1:], waits[1:]):
            yield _Setting(pair, pair if same else asks, cost, wait)

    def _rates(self, step: MeasuredStep, engine: Engine, corner: int, *, traced: bool) -> tuple[float, float]:
        """(kc, km), mean over the collectives by their time; ``corner`` is -1 low, 0 middle, 1 high."""
        total = sum(share.time_ms for share in step.collectives)
        if not total:
            return 1.0, 1.0
        rates = [0.0, 0.0]
        for share in step.collectives:
            for place, side in enumerate(("compute", "communication")):
                rate = self._rate(side, share.kind, engine, corner, traced=traced)
                rates[place] += rate * share.time_ms / total
        return rates[0], rates[1]

    def _rate(self, side: str, kind: str, engine: Engine, corner: int, *, traced: bool) -> float:
        seen = self._seen.get((side, kind)) if traced else None
        if seen:
            return float(min(max(seen[0] + corner * seen[1], 0.05), 1.0))
        short = "compute" if side == "compute" else "comm"
        name = f"overlap_{short}_{_OVERLAP_NAME.get(kind, 'allgather')}"
        constant = self._constant(name, engine)
        return float((constant.low, constant.value, constant.high)[corner + 1])

    def _constant(self, name: str, engine: Engine) -> Constant:
        from fleetplan.performance.constants import Context

        accelerator = self._name if engine == "compute-units" else "mtia-300"
        vendor = self._vendor if engine == "compute-units" else "Meta"
        return self._constants.get(name, Context(accelerator, vendor, engine))
