"""The model depends on what the inputs say, never on the order in which they say it."""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from fleetplan.inputs.load import load_scenario
from fleetplan.plan.tables import extract
from fleetplan.planning import build_model
from fleetplan.solving.compile import compile_model
from tests.planning.random_worlds import random_world
from tests.planning.worlds import best, option, options


def digest(world, table) -> str:
    """Fingerprint of names and numbers of the compiled model."""
    model = build_model(world, table)
    compiled = compile_model(model.pyomo)
    parts = [compiled.start, compiled.index, compiled.value, compiled.cost]
    parts += [compiled.row_lower, compiled.row_upper, compiled.col_lower, compiled.col_upper]
    total = hashlib.sha256(repr((compiled.rows.names, compiled.columns.names)).encode())
    for part in parts:
        total.update(part.tobytes())
    return total.hexdigest()


def shuffled(world, table, seed: int):
    """The same scenario with every table and map in another order."""
    random = Random(seed)
    changes: dict[str, object] = {}
    for name in ("power", "fleet", "supply", "demand"):
        rows = list(getattr(world, name))
        random.shuffle(rows)
        changes[name] = tuple(rows)
    for name in ("accelerators", "workloads", "sites", "halls"):
        items = list(getattr(world, name).items())
        random.shuffle(items)
        changes[name] = dict(items)
    rows = table.sample(frac=1.0, random_state=seed).reset_index(drop=True)
    return world.model_copy(update=changes), rows


@pytest.mark.parametrize("seed", [3, 11, 20])
def test_shuffled_rows_give_the_same_model(seed):
    world, table = random_world(seed)
    expected = digest(world, table)
    assert [digest(*shuffled(world, table, order)) for order in range(3)] == [expected] * 3


def test_shuffled_rows_give_the_same_plan():
    world, table = random_world(5)
    plan, other = best(world, table), best(*shuffled(world, table, 1))
    for name, frame in plan.tables.items():
        assert frame.equals(other.tables[name]), name


def test_a_solution_reads_the_same_without_pyomos_objects():
    plan = best(*random_world(5))
    light, compiled = plan.model.light(), plan.compiled.detached()
    assert light.pyomo is None
    assert plan.model.pyomo is not None
    tables = extract(light, compiled, plan.x)
    for name, frame in plan.tables.items():
        assert frame.equals(tables[name]), name
    assert np.array_equal(light.second_objective(), plan.model.second_objective())


def test_another_hash_seed_gives_the_same_model():
    code = (
        "from tests.planning.test_same_plan import digest;"
        "from tests.planning.random_worlds import random_world;"
        "print(digest(*random_world(11)))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert found == [digest(*random_world(11))] * 2


@pytest.mark.slow
def test_the_bundled_scenario_gives_the_same_model_shuffled_and_from_another_folder(tmp_path):
    home = Path(__file__).parents[2] / "data" / "scenarios" / "public-2026"
    world = load_scenario(home)
    table = options(
        *[
            option(work, name, 1.0 + i + 0.1 * j, cap_w=float(part.provisioned_cap_w or part.tdp_w))
            for i, (name, part) in enumerate(sorted(world.accelerators.items()))
            for j, work in enumerate(sorted(world.workloads))
        ]
    )
    expected = digest(world, table)
    assert digest(*shuffled(world, table, 1)) == expected
    copy = tmp_path / "elsewhere"
    shutil.copytree(home, copy)
    for path in copy.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header, *rows = list(csv.reader(lines))
        Random(2).shuffle(rows)
        with path.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([header, *rows])
    assert digest(load_scenario(copy), table) == expected
