"""Spoilt and changed scenarios all the way to a plan: an audited plan or one of our own errors, nothing else.

``FLEETPLAN_PLAN_FUZZ_CASES`` sets the number of cases and ``FLEETPLAN_FUZZ_SEED`` the first of their seeds; a third
as many again are made by hypothesis (the long form is ``make fuzz``). All but one in twenty start from a scenario
of four quarters in which every table has a row.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fleetplan.api import optimize
from fleetplan.errors import AuditError, FleetplanError, InputError, SolverError
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.performance import performance_table
from fleetplan.studies.stepkey import step_key
from tests.inputs.faults import SMALL
from tests.inputs.fuzzing import FACTORS, HORIZONS, RULES, Cell, Tiny, multiply, numbers, spoil

CASES = int(os.environ.get("FLEETPLAN_PLAN_FUZZ_CASES", "9"))
SEED = int(os.environ.get("FLEETPLAN_FUZZ_SEED", "20261201"))
LARGER = 20
LIMIT_S = 30.0
COLLECT = 25
Change = tuple[Cell, float]


class Planner:
    """Plans folders and counts how they ended; tables of training options are kept by what they depend on."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self._options: dict[str, pd.DataFrame] = {}

    def plan(self, folder: Path, what: object) -> None:
        """Plan a folder. Any error that is not ours, or a wrong plan, escapes with what was done."""
        if sum(self.ends.values()) % COLLECT == 0:
            gc.collect()
        try:
            self.ends[self._answer(folder)] += 1
        except Exception as error:
            error.add_note(str(what))
            raise

    def _answer(self, folder: Path) -> str:
        try:
            scenario = load_scenario(folder)
            options = self._options_of(scenario)
            plan = optimize(scenario, gap=0.05, time_limit_s=LIMIT_S, options=options)
        except (AuditError, SolverError):
            raise
        except FleetplanError as error:
            return self._refused(error)
        assert plan.audit.passed
        return f"plan, {plan.status}"

    def _refused(self, error: FleetplanError) -> str:
        assert str(error), "an error without words"
        if isinstance(error, InputError):
            self.rules.update({fault.rule for fault in error.faults})
        return f"exit {error.exit_code}, {type(error).__name__}"

    def _options_of(self, scenario: Scenario) -> pd.DataFrame:
        key = step_key(scenario)
        if key not in self._options:
            self._options[key] = performance_table(scenario)
        return self._options[key]

    def say(self, title: str, began: float) -> None:
        """Print the counts."""
        cases, spent = sum(self.ends.values()), time.process_time() - began
        counts = dict(sorted(self.ends.items()))
        print(f"fuzz: {cases} {title}, {spent / max(1, cases):.2f} CPU s each, {counts}")  # noqa: T201 - asked for
        print(f"fuzz: refused by {len(self.rules)} rules, {dict(self.rules.most_common())}")  # noqa: T201


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiny]:
    """The scenario to change. Small tables are quicker without Arrow, and without a collection at each step."""
    gc.collect()
    gc.freeze()
    gc.disable()
    with pd.option_context("mode.string_storage", "python"):
        yield Tiny(tmp_path_factory.mktemp("tiny") / "scenario")
    gc.enable()
    gc.unfreeze()


def changed(
    folder: Path, tiny: Tiny, changes: Sequence[Change], rules: Mapping[str, str], horizon: str
) -> list[str]:
    """A copy of the tiny scenario with other numbers, rules and periods; what was done."""
    shutil.copytree(tiny.folder, folder)
    (folder / "scenario.yaml").write_text(tiny.header(rules, horizon), encoding="utf-8")
    return [horizon, str(dict(rules)), *(multiply(folder, cell, factor) for cell, factor in changes)]


def drawn(rng: random.Random, folder: Path, tiny: Tiny) -> list[str]:
    """A case by its seed: a table is chosen before its cell, so that short ones are not left out."""
    tables = sorted({cell.table for cell in tiny.cells})
    changes = []
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        table = rng.choice(tables)
        changes.append((rng.choice([c for c in tiny.cells if c.table == table]), rng.choice(FACTORS)))
    chosen = rng.sample(sorted(RULES), rng.choice((0, 1, 2, 4)))
    rules = {name: rng.choice(RULES[name]) for name in chosen}
    return changed(folder, tiny, changes, rules, rng.choice(HORIZONS) if rng.random() < 0.3 else HORIZONS[0])


def test_spoilt_and_changed_scenarios_end_in_an_audited_plan_or_in_our_own_error(
    tiny: Tiny, tmp_path: Path
) -> None:
    planner, began = Planner(), time.process_time()
    for case in range(CASES):
        rng = random.Random(SEED + case)
        folder = tmp_path / "case"
        if case % LARGER == 0:
            shutil.copytree(SMALL, folder)
            table = rng.choice(sorted(folder.glob("*.csv")))
            done = [multiply(folder, cell, rng.choice(FACTORS)) for cell in rng.choices(numbers(table))]
        elif case % 8 == 1:
            shutil.copytree(tiny.folder, folder)
            done = spoil(rng, folder)
        else:
            done = drawn(rng, folder, tiny)
        planner.plan(folder, f"seed {SEED + case}: {done}")
        shutil.rmtree(folder)
    planner.say("plans by seed", began)
    assert sum(n for end, n in planner.ends.items() if end.startswith("plan")) > CASES / 3


def test_scenarios_of_hypothesis_end_in_an_audited_plan_or_in_our_own_error(
    tiny: Tiny, tmp_path: Path
) -> None:
    planner, began = Planner(), time.process_time()
    rule_values = {name: st.sampled_from(values) for name, values in RULES.items()}
    change = st.tuples(st.sampled_from(tiny.cells), st.sampled_from(FACTORS))

    @seed(SEED)
    @settings(
        max_examples=max(1, CASES // 3),
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(change, max_size=4, unique_by=lambda one: one[0]),
        st.fixed_dictionaries({}, optional=rule_values),
        st.sampled_from(HORIZONS),
    )
    def run(changes: list[Change], rules: dict[str, str], horizon: str) -> None:
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        planner.plan(folder, changed(folder, tiny, changes, rules, horizon))

    run()
    planner.say("plans by hypothesis", began)
    assert any(end.startswith("plan") for end in planner.ends)
