"""Time per case of a sweep against a cold plan of the same case, with where it goes.

python -m benchmarks.studies.warm_cases public-2026 --cases 5 --gap 0.001
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fleetplan.api import Settings, finish
from fleetplan.errors import FleetplanError
from fleetplan.inputs.load import load_scenario
from fleetplan.plan.store import write_plan
from fleetplan.progress import Silent, SolveState, Stopwatch
from fleetplan.studies.cases import matching, sample
from fleetplan.studies.run import changed
from fleetplan.studies.workshop import Workshop

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.studies.cases import Case


class Told(Silent):
    """Prints a solve's phases as they begin."""

    def __init__(self) -> None:
        self.phase = ""

    def solving(self, state: SolveState) -> None:
        """Print the first state of each phase."""
        if state.phase != self.phase:
            self.phase = state.phase
            print(
                f"    {state.seconds:7.1f} s {state.phase}: best {state.best} bound {state.bound}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--cold", type=int, default=1)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--only", action="append", default=[])
    asked = parser.parse_args()
    base = load_scenario(asked.scenario)
    figures = {p: f for p, f in base.figures.items() if f.is_open and isinstance(f.value, (int, float))}
    if asked.only:
        figures = {p: figures[p] for pattern in asked.only for p in matching(pattern, figures)}
    shop = Workshop(base, Settings(gap=asked.gap))
    worked = time.process_time()
    shop.warmed()
    print(
        f"base: {time.process_time() - worked:.1f} processor seconds; {len(figures)} open intervals",
        flush=True,
    )
    warm, cold = [], []
    for number, case in enumerate(sample(figures, asked.cases)):
        worked = time.process_time()
        scenario = changed(base, case)
        spent = time.process_time() - worked
        found = _warm(shop, scenario)
        if found is None:
            continue
        seconds, line = found
        warm.append(spent + seconds)
        print(f"{case.name}: change {spent:.1f} s, warm {seconds:.1f} s; {line}", flush=True)
        if number < asked.cold:
            cold.append(_cold(asked.scenario, case, asked.gap))
            print(f"    cold {cold[-1]:.1f} s", flush=True)
    print(f"median warm {statistics.median(warm):.1f} processor seconds ({len(warm)} cases)")
    if cold:
        print(
            f"median cold {statistics.median(cold):.1f} processor seconds without start, loading and report"
        )


def _cold(scenario: str, case: Case, gap: float) -> float:
    """Processor seconds of the command line with the case's values, in a process of its own."""
    changes = [f"--set={path}={value}" for path, value in case.values.items()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = ["optimize", scenario, *changes, "--gap", str(gap), "-o", f"{folder}/plan", "--quiet"]
        subprocess.run([sys.executable, "-m", "fleetplan", *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _warm(shop: Workshop, scenario: Scenario) -> tuple[float, str] | None:
    """Processor seconds of a case by phase; None where it has no plan."""
    worked, watch = time.process_time(), Stopwatch(Told())
    marks = [worked]
    try:
        problem = shop.problem(scenario, watch=watch)
        marks.append(time.process_time())
        result = shop.solve(problem, watch)
        marks.append(time.process_time())
        plan = finish(problem, result, shop.settings, watch)
    except FleetplanError as error:
        print(f"    no plan: {str(error).splitlines()[0]}", flush=True)
        return None
    marks.append(time.process_time())
    with tempfile.TemporaryDirectory() as folder:
        write_plan(plan, Path(folder) / "plan")
    marks.append(time.process_time())
    parts = [f"{b - a:.1f}" for a, b in itertools.pairwise(marks)]
    line = f"steps and model {parts[0]}, solve {parts[1]}, tables and audit {parts[2]}, store {parts[3]}"
    return marks[-1] - worked, f"{line}; cost {plan.cost_musd:,.2f}, gap {plan.gap:.4%}"


if __name__ == "__main__":
    main()
