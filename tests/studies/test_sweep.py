"""Sweeps: what is reused is right, what is finished stays, a cluster changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fleetplan.api import Settings
from fleetplan.errors import UsageError
from fleetplan.inputs.accelerator import UNITS
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario, Workload
from fleetplan.inputs.values import with_value
from fleetplan.performance import performance_table
from fleetplan.plan.store import read_plan
from fleetplan.planning.model import build_model
from fleetplan.solving.compile import compile_model
from fleetplan.studies.arrayform import ArrayForm
from fleetplan.studies.cases import Case, sample
from fleetplan.studies.run import changed
from fleetplan.studies.stepkey import NOT_OF_A_DEVICE, OF_A_WORKLOAD, step_key
from fleetplan.studies.sweep import check_against_cold, sweep
from fleetplan.studies.workshop import Workshop

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def small() -> Scenario:
    return load_scenario("small-2026")


def prices(count: int) -> list[Case]:
    path = "finance.discount_rate"
    return [Case(f"rate {i}", {path: 0.06 + 0.01 * i}) for i in range(count)]


def test_arrays_without_pyomo_are_those_compiled_from_pyomo(small):
    options = performance_table(small)
    form = ArrayForm("small")
    build_model(small, options, form=form)
    own, pyomo = form.compiled(), compile_model(build_model(small, options).pyomo)
    rows, columns = ({key: i for i, key in enumerate(labels.keys)} for labels in (own.rows, own.columns))
    assert rows.keys() == set(pyomo.rows.keys)
    assert columns.keys() == set(pyomo.columns.keys)
    r, c = [rows[k] for k in pyomo.rows.keys], [columns[k] for k in pyomo.columns.keys]
    assert abs(own.matrix[r][:, c] - pyomo.matrix).max() == 0
    for name in ("row_lower", "row_upper"):
        np.testing.assert_array_equal(getattr(own, name)[r], getattr(pyomo, name))
    for name in ("col_lower", "col_upper", "cost", "integer"):
        np.testing.assert_array_equal(getattr(own, name)[c], getattr(pyomo, name))


def test_figures_that_the_step_model_does_not_read_keep_the_options_table(small):
    table = performance_table(small)
    device = next(iter(small.accelerators))
    moved = small
    for field in sorted(NOT_OF_A_DEVICE & UNITS.keys()):
        moved = with_value(moved, f"accelerators[{device}].{field}", 3.0)
    workload = next(iter(small.workloads))
    for field in sorted(set(Workload.model_fields) - set(OF_A_WORKLOAD)):
        if isinstance(getattr(small.workloads[workload], field), float):
            moved = with_value(moved, f"workloads[{workload}].{field}", 0.5 if "share" in field else 1.5)
    moved = with_value(moved, "finance.discount_rate", 0.2)
    assert step_key(moved) == step_key(small)
    pd.testing.assert_frame_equal(performance_table(moved), table)


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        ("accelerators[gb300].hbm_tb_per_s", 0.5),
        ("accelerators[gb300].facility_fixed_w_per_device", 1.1),
        ("workloads[ads-dlrm-150b].straggler_factor", 1.5),
        ("workloads[ads-dlrm-150b].deadline_days_per_run", 0.5),
    ],
)
def test_figures_that_the_step_model_reads_make_another_table(small, path, factor):
    from fleetplan.inputs.values import value_at

    assert step_key(with_value(small, path, value_at(small, path) * factor)) != step_key(small)


def test_a_case_says_what_it_changed_in_values_and_evidence(small):
    case = sample(small.figures, 1, seed=5)[0]
    made = changed(small, case)
    path = "finance.discount_rate"
    assert made.finance.discount_rate == pytest.approx(case.values[path])
    assert made.figures[path].value == pytest.approx(case.values[path])
    assert small.figures[path].value != made.figures[path].value


def test_each_case_is_an_audited_plan_and_is_never_computed_again(small, tmp_path):
    cases = prices(2)
    made = sweep(small, cases, tmp_path / "s")
    assert made.computed == 2
    for case, folder in zip(cases, made.results["folder"], strict=True):
        plan = read_plan(tmp_path / "s" / folder)
        assert plan.scenario.finance.discount_rate == case.values["finance.discount_rate"]
        assert plan.audit.checks
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "s" / "cases").rglob("*")}
    again = sweep(small, prices(3), tmp_path / "s")
    assert again.computed == 1
    assert before.items() <= {p: p.stat().st_mtime_ns for p in (tmp_path / "s" / "cases").rglob("*")}.items()
    pd.testing.assert_frame_equal(again.results.head(2), made.results)
    check = check_against_cold(again, small, 1)
    assert check.frame["agree"].all()


def test_another_gap_or_base_is_another_case(small, tmp_path):
    sweep(small, prices(1), tmp_path / "s")
    assert sweep(small, prices(1), tmp_path / "s", Settings(gap=0.01)).computed == 1
    dearer = with_value(small, "finance.inflation_per_year", 0.05)
    assert sweep(dearer, prices(1), tmp_path / "s").computed == 1


def test_cases_without_a_plan_are_rows_with_their_reason(small, tmp_path):
    dark = {f"power[{row.hall},{row.quarter}].facility_mw": 0.1 for row in small.power}
    high = {"finance.discount_rate": 99.0}
    made = sweep(small, [Case("dark", dark), Case("mad", high), *prices(1)], tmp_path / "s")
    assert made.results["status"].tolist() == ["infeasible", "refused", "optimal"]
    assert made.results["message"].iloc[1].startswith("finance.discount_rate cannot be 99.0")
    assert (tmp_path / "s" / "results.csv").read_text().count("\n") == 4


def test_a_folder_with_other_files_is_refused(small, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="no study"):
        sweep(small, prices(1), tmp_path)


SCRIPT = textwrap.dedent(
    """
    import sys
    from fleetplan.inputs.load import load_scenario
    from fleetplan.studies.cases import Case
    from fleetplan.studies.sweep import sweep

    if __name__ == "__main__":
        cases = [Case(f"rate {i}", {"finance.discount_rate": 0.06 + 0.01 * i}) for i in range(int(sys.argv[2]))]
        sweep(load_scenario("small-2026"), cases, sys.argv[1])
    """
)


@pytest.mark.slow
def test_a_killed_sweep_goes_on_and_loses_and_repeats_nothing(small, tmp_path):
    script = tmp_path / "child.py"
    script.write_text(SCRIPT)
    folder, count = tmp_path / "killed", 6
    command = [sys.executable, "-W", "ignore", str(script), str(folder), str(count)]
    child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        while len(list(folder.glob("cases/[!.]*/outcome.json"))) < 2:
            assert child.poll() is None
            time.sleep(0.02)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    done = {path: path.stat().st_mtime_ns for path in folder.glob("cases/[!.]*/outcome.json")}
    assert 2 <= len(done) < count
    made = sweep(small, prices(count), folder)
    assert made.computed == count - len(done)
    assert (
        done.items()
        <= {path: path.stat().st_mtime_ns for path in folder.glob("cases/[!.]*/outcome.json")}.items()
    )
    assert (made.results["status"] == "optimal").all()
    assert not list(folder.glob("cases/.*"))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_gives_the_same_tables(small, tmp_path):
    distributed = pytest.importorskip("distributed")
    from fleetplan.studies.cluster import _all

    cases = prices(5)
    alone = sweep(small, cases, tmp_path / "alone")
    workshop = Workshop(small).warmed()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = [worker.pid for worker in cluster.workers.values()]
        found, killed = {}, False
        for ran in _all(distributed, client, workshop, cases):
            found[ran.case.name] = ran
            if not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed = True
    assert found.keys() == {case.name for case in cases}
    for case in cases:
        stored = alone.plan(case.name)
        for name, table in found[case.name].plan.tables.items():
            pd.testing.assert_frame_equal(table, stored.tables[name], check_exact=True)
    assert {found[c.name].measures["cost_musd"] for c in cases} == set(alone.results["cost_musd"])


def test_a_workshop_travels_to_other_processes(small):
    import pickle

    made = pickle.loads(pickle.dumps(Workshop(small, Settings(gap=0.01)).warmed()))
    assert made.start is not None
    assert made.plan(small).status == "optimal"
