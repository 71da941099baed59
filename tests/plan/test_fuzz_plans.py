"""Spoilt and shaken scenarios all the way to a plan: an audited plan or one of our own errors, nothing else.

``FLEETPLAN_PLAN_FUZZ_CASES`` sets the number of cases, ``FLEETPLAN_FUZZ_SEED`` the first of their seeds (the
long form is ``make fuzz``). Nine in ten start from a scenario of three quarters and one workload, which is
quick; the others from the small scenario.
"""

from __future__ import annotations

import csv
import io
import os
import random
import shutil
import time
from collections import Counter
from pathlib import Path

from fleetplan.api import optimize
from fleetplan.errors import AuditError, FleetplanError, SolverError
from fleetplan.inputs.load import load_scenario
from tests.inputs.faults import SMALL, make_tiny, to_csv
from tests.inputs.fuzzing import spoil

CASES = int(os.environ.get("FLEETPLAN_PLAN_FUZZ_CASES", "10"))
SEED = int(os.environ.get("FLEETPLAN_FUZZ_SEED", "20261201"))
LARGER = 10
LIMIT_S = 30.0
FACTORS = (0.0, 0.0, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1000.0, 1e-6)
INTERVAL = ("low", "high", "interval_of", "price_low", "price_high")


def shake(rng: random.Random, folder: Path) -> list[str]:
    """Multiply some numbers of the tables; most such scenarios still load."""
    done = []
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(sorted(folder.glob("*.csv")))
        cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        places = [
            (row, column)
            for row in range(1, len(cells))
            for column, value in enumerate(cells[row])
            if value.replace(".", "", 1).isdecimal() and not cells[0][column].startswith(INTERVAL)
        ]
        if not places:
            continue
        row, column = rng.choice(places)
        factor = rng.choice(FACTORS)
        old = cells[row][column]
        new = float(old) * factor
        cells[row][column] = f"{new:.9g}" if "." in old else f"{round(new)}"
        for place, name in enumerate(cells[0]):
            if place != column and name.startswith(INTERVAL):
                cells[row][place] = ""  # an interval that no longer holds the value would be refused
        done.append(f"{path.name}: row {row} {cells[0][column]} {old} is {cells[row][column]}")
        path.write_text(to_csv(cells), encoding="utf-8")
    return done


def answer(folder: Path) -> str:
    """Plan a folder; return how it ended. Any error that is not ours, or a wrong plan, escapes."""
    try:
        scenario = load_scenario(folder)
        plan = optimize(scenario, gap=0.05, time_limit_s=LIMIT_S)
    except (AuditError, SolverError):
        raise
    except FleetplanError as error:
        return type(error).__name__ if str(error) else "an error without words"
    assert plan.audit.passed
    return f"plan, {plan.status}"


def test_spoilt_and_shaken_scenarios_end_in_an_audited_plan_or_in_our_own_error(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    tiny = tmp_path / "tiny"
    make_tiny(tiny)
    began = time.perf_counter()
    for case in range(CASES):
        rng = random.Random(SEED + case)
        folder = tmp_path / "case"
        shutil.copytree(SMALL if case % LARGER == 0 else tiny, folder)
        done = spoil(rng, folder) if case % 4 == 1 else shake(rng, folder)
        try:
            counts[answer(folder)] += 1
        except Exception as error:
            error.add_note(f"seed {SEED + case}: {done}")
            raise
        shutil.rmtree(folder)
    spent = time.perf_counter() - began
    print(f"fuzz: {CASES} plans, {spent:.0f} s, {dict(counts)}")  # noqa: T201 - the counts are asked for
    assert not counts["an error without words"]
    assert sum(n for end, n in counts.items() if end.startswith("plan")) > CASES / 3
