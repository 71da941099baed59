"""One measurement in a process of its own: prints one line of JSON.

    python -m benchmarks.planning.measure PATH SIZE SEED CAPS [TIME_LIMIT_S]

Paths of the core families: ``ours`` (Pyomo, arrays, one hand-off), ``textbook`` (Pyomo's own default
path: ordinary rules with Python sums, the stock ``appsi_highs`` interface, garbage collector on),
``appsi`` (our rules, the stock interface, garbage collector on), ``floor`` (numpy and scipy), ``linopy``.
The whole planning model: ``model`` (build and hand-off), ``model-appsi``, ``solve``.
Wall-clock and CPU seconds are both given; on a shared machine only the second says much.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from benchmarks.planning.forms import ArrayForm, LinopyForm, TextbookForm, add_core
from benchmarks.planning.generate import scenario
from fleetplan.planning.form import Form
from fleetplan.planning.indices import make_indices
from fleetplan.planning.model import build_model
from fleetplan.planning.rounding import whole_lots
from fleetplan.solving.compile import compile_model
from fleetplan.solving.highs import Session
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve

Facts = dict[str, Any]


class Clock:
    """Seconds by phase, wall-clock and CPU, and the peak of memory over where it began."""

    def __init__(self) -> None:
        gc.collect()
        self.facts: Facts = {}
        self.resident_mb = _resident_mb()

    def __call__(self, phase: str, work: Callable[[], Any]) -> Any:
        """Time one phase."""
        wall, cpu = time.perf_counter(), time.process_time()
        made = work()
        self.facts[f"{phase}_s"] = time.perf_counter() - wall
        self.facts[f"{phase}_cpu_s"] = time.process_time() - cpu
        return made

    def done(self, **more: Any) -> Facts:
        """All facts."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {**self.facts, "peak_mb": peak, "over_start_mb": peak - self.resident_mb, **more}


def _resident_mb() -> float:
    with open("/proc/self/statm") as file:  # noqa: PTH123 - a kernel file
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def core(path: str, size: str, seed: int, caps: int) -> Facts:
    """Build the core families and hand them to HiGHS, by one path."""
    from pyomo.common.gc_manager import PauseGC

    made, options = scenario(size, seed, caps)
    clock = Clock()
    with nullcontext() if path in ("textbook", "appsi") else PauseGC():
        ix = clock("index", lambda: make_indices(made, options))
        form = _FORMS[path]()
        clock("build", lambda: add_core(form, ix))
        rows, columns, entries = _HAND_OFF[path](form, clock)
    return clock.done(rows=rows, columns=columns, entries=entries)


_FORMS: dict[str, Callable[[], Any]] = {
    "ours": lambda: Form("core"),
    "textbook": lambda: TextbookForm("core"),
    "appsi": lambda: Form("core"),
    "floor": ArrayForm,
    "linopy": LinopyForm,
}


def _hand_off_ours(form: Form, clock: Clock) -> tuple[int, int, int]:
    def work() -> Any:
        compiled = compile_model(form.pyomo)
        Session(compiled)
        return compiled

    compiled = clock("handoff", work)
    return (*compiled.shape, compiled.entries)


def _hand_off_appsi(form: Form, clock: Clock) -> tuple[int, int, int]:
    from pyomo.contrib.appsi.solvers import Highs

    def work() -> Any:
        engine = Highs()
        engine.set_instance(form.pyomo)
        return engine._solver_model

    highs = clock("handoff", work)
    return highs.getNumRow(), highs.getNumCol(), highs.getNumNz()


def _hand_off_floor(form: ArrayForm, clock: Clock) -> tuple[int, int, int]:
    def work() -> Any:
        compiled = form.compiled()
        Session(compiled)
        return compiled

    compiled = clock("handoff", work)
    return (*compiled.shape, compiled.entries)


def _hand_off_linopy(form: LinopyForm, clock: Clock) -> tuple[int, int, int]:
    from linopy.io import to_highspy

    highs = clock("handoff", lambda: to_highspy(form.model))
    return highs.getNumRow(), highs.getNumCol(), highs.getNumNz()


_HAND_OFF: dict[str, Callable[[Any, Clock], tuple[int, int, int]]] = {
    "ours": _hand_off_ours,
    "textbook": _hand_off_appsi,
    "appsi": _hand_off_appsi,
    "floor": _hand_off_floor,
    "linopy": _hand_off_linopy,
}


def model(path: str, size: str, seed: int, caps: int, time_limit_s: float | None) -> Facts:
    """The whole planning model: build, hand-off, and for ``solve`` the solve to 0.1 % (XL: 1 %)."""
    from pyomo.common.gc_manager import PauseGC

    made, options = scenario(size, seed, caps)
    clock = Clock()
    if path == "model-appsi":
        built = clock("build", lambda: build_model(made, options))
        rows, columns, entries = _hand_off_appsi(built.form, clock)
        return clock.done(rows=rows, columns=columns, entries=entries)
    with PauseGC():
        built = clock("build", lambda: build_model(made, options))
        compiled = clock("handoff", lambda: compile_model(built.pyomo))
        if path != "solve":
            clock("pass", lambda: Session(compiled))
    facts: Facts = {"rows": compiled.shape[0], "columns": compiled.shape[1], "entries": compiled.entries}
    if path == "solve":
        built, compiled = built.light(), compiled.detached()
        gc.collect()
        asked = SolveOptions(gap_rel=0.01 if size == "XL" else 1e-3, time_limit_s=time_limit_s)
        result = clock("solve", lambda: solve(compiled, asked, rounder=whole_lots))
        facts |= {
            "status": str(result.status),
            "objective": result.objective,
            "bound": result.bound,
            "gap": result.gap_rel if np.isfinite(result.gap_rel) else None,
            "bound_source": result.bound_source,
            "phases_s": {phase: round(seconds, 2) for phase, seconds in result.timings.items()},
        }
    return clock.done(**facts)


def main(path: str, size: str, seed: str, caps: str, time_limit_s: str = "") -> None:
    """Measure and print."""
    limit = float(time_limit_s) if time_limit_s else None
    if path in _HAND_OFF:
        facts = core(path, size, int(seed), int(caps))
    else:
        facts = model(path, size, int(seed), int(caps), limit)
    print(json.dumps({"path": path, "size": size, "seed": int(seed), "caps": int(caps), **facts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
