"""The HiGHS session: options, statuses, limits, interruption."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import highspy
import numpy as np
import pytest
from solving_models import INF, arrays, hard

from fleetplan.errors import SolverError
from fleetplan.solving.highs import USER_GRACE_S, Session
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.status import OF_HIGHS, Status, needs_report, status_of_highs

HERE = Path(__file__).parent


def knapsack():
    return arrays([1.0], [[2.0]], [3.0], [INF], high=[9])


def test_a_misspelt_option_is_an_error_with_the_nearest_name():
    with pytest.raises(SolverError, match="did you mean 'mip_heuristic_effort'"):
        solve(knapsack(), SolveOptions(highs={"mip_heuristics_effort": 0.3}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("mip_heuristic_effort", 7.0), ("presolve", "maybe"), ("solver", "hipo"), ("mip_max_nodes", -3)],
)
def test_a_value_that_highs_refuses_is_an_error(name, value, capfd):
    with pytest.raises(SolverError, match=name):
        Session(knapsack(), {name: value})
    assert capfd.readouterr().out == ""


def test_tolerances_too_tight_for_feasible_models_are_refused():
    with pytest.raises(SolverError, match="below"):
        Session(knapsack(), {"primal_feasibility_tolerance": 1e-10})


def test_options_that_the_solve_sets_itself_are_pointed_to_their_own_field():
    with pytest.raises(SolverError, match="gap_rel"):
        solve(knapsack(), SolveOptions(highs={"mip_rel_gap": 0.1}))


@pytest.mark.parametrize(
    "bad",
    [
        {"gap_rel": -1.0},
        {"time_limit_s": 0.0},
        {"threads": 0},
        {"recipe": "fast"},
        {"time_limit_s": INF - INF},
    ],
)
def test_solve_options_that_mean_nothing_are_refused(bad):
    with pytest.raises(SolverError):
        SolveOptions(**bad)


def test_accepted_options_reach_highs():
    session = Session(knapsack(), {"mip_heuristic_effort": 0.25}, seed=5)
    assert session.highs.getOptionValue("mip_heuristic_effort")[1] == 0.25
    assert session.highs.getOptionValue("random_seed")[1] == 5
    assert session.highs.getOptionValue("threads")[1] == 1


def test_every_word_of_the_installed_highs_has_our_word():
    assert set(highspy.HighsModelStatus.__members__) == set(OF_HIGHS)


def test_a_word_of_a_newer_highs_is_an_error_to_report():
    assert needs_report("kBrandNew")
    assert status_of_highs("kBrandNew", has_plan=True) is Status.ERROR


def test_a_limit_without_a_plan_is_told_from_one_with():
    assert status_of_highs("kTimeLimit", has_plan=True) is Status.LIMIT
    assert status_of_highs("kTimeLimit", has_plan=False) is Status.LIMIT_WITHOUT_PLAN


def test_nothing_is_printed(capfd):
    solve(knapsack())
    assert capfd.readouterr() == ("", "")


def test_another_count_of_threads_in_the_same_process_works():
    for threads in (2, 1):
        assert Session(knapsack(), threads=threads).run().x.tolist() == [2.0]


def test_each_run_has_its_own_time_limit():
    session = Session(hard(), {"mip_rel_gap": 0.0})
    first = session.run(time_limit_s=0.7)
    second = session.run(time_limit_s=0.7)
    assert first.stopped_by == second.stopped_by == "time"
    assert 0.5 < second.seconds < 5


def test_a_search_ends_where_it_has_come_far_enough_and_can_go_on():
    session = Session(hard())
    outcome = session.run(enough=lambda best, _bound: best < 100.0)
    assert outcome.status is Status.LIMIT
    assert outcome.stopped_by == ""
    assert outcome.objective < 100.0
    assert session.run(time_limit_s=0.5).stopped_by == "time"


def test_changes_in_place_equal_a_new_session(fleet):
    _, compiled = fleet
    relaxed = compiled.relaxed()
    rows = np.array(list(relaxed.rows.positions("power").values()))
    columns = np.array(list(relaxed.columns.positions("b").values()))
    changed = relaxed.with_rhs(rows, upper=0.9 * relaxed.row_upper[rows]).with_cost(
        columns, 1.1 * relaxed.cost[columns]
    )
    session = Session(relaxed)
    session.run()
    session.change_rows(rows, changed.row_lower[rows], changed.row_upper[rows])
    session.change_cost(columns, changed.cost[columns])
    assert session.run().objective == pytest.approx(Session(changed).run().objective, rel=1e-9)


def test_a_run_that_does_not_come_back_is_left_alone_with_the_plan_it_showed(monkeypatch):
    session = Session(hard(), {"time_limit": 8.0})  # so that the thread left alone ends some time
    monkeypatch.setattr("fleetplan.solving.highs._Watch.interrupt", lambda *_: None)
    outcome = session.run(time_limit_s=1.0, grace_s=0.3)
    assert outcome.seconds < 6
    assert outcome.status is Status.LIMIT
    assert "left alone" in outcome.note
    assert outcome.objective == pytest.approx(hard().objective(outcome.x), abs=1e-4)
    with pytest.raises(SolverError, match="did not come back"):
        session.run()
    for thread in threading.enumerate():
        if thread.name == "highs":
            thread.join()


@pytest.fixture
def listens_to_ctrl_c():
    """Shells start what runs in the background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listens_to_ctrl_c")
def test_ctrl_c_waits_a_few_seconds_for_a_run_that_does_not_listen(monkeypatch):
    session = Session(hard(), {"time_limit": 9.0})  # so that the thread left alone ends some time
    monkeypatch.setattr("fleetplan.solving.highs._Watch.interrupt", lambda *_: None)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    outcome = session.run(grace_s=60.0)
    timer.join()
    assert outcome.seconds < 0.5 + USER_GRACE_S + 3
    assert outcome.stopped_by == "user"
    assert outcome.status is Status.INTERRUPTED
    for thread in threading.enumerate():
        if thread.name == "highs":
            thread.join()


CHILD = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as the fixture above
sys.path[:0] = [{root!r}, {here!r}]
from solving_models import hard
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve

class Watcher:
    told = False
    def solving(self, state):
        if state.phase == "search" and state.best is not None and not self.told:
            self.told = True
            print("ready", flush=True)

result = solve(hard(), SolveOptions(gap_rel=0.0), Watcher())
print(result.status, result.x is not None, result.objective >= result.bound, result.reproducible, flush=True)
"""


def test_ctrl_c_keeps_the_best_plan_so_far():
    code = textwrap.dedent(CHILD).format(root=str(HERE.parents[1]), here=str(HERE))
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline().strip() == "ready"
        os.kill(child.pid, signal.SIGINT)
        told = time.perf_counter()
        answer = child.stdout.readline().split()
        assert time.perf_counter() - told < 10
        assert answer == ["interrupted", "True", "True", "False"]
        assert child.wait(timeout=20) == 0
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
