"""The recipe against trying everything, and every way a solve can end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solving_models import INF, arrays, best_by_trying, hard

from fleetplan.errors import InfeasibleError, Interrupted, LimitError, SolverError, UnboundedError
from fleetplan.solving import confirm, recipe
from fleetplan.solving.highs import Outcome, Session
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import require_plan, solve
from fleetplan.solving.result import Result
from fleetplan.solving.status import Status

EXACT = SolveOptions(gap_rel=0.0)
RESTRICTED = SolveOptions(gap_rel=0.0, recipe="restrict")
whole = st.integers(-4, 4)


@st.composite
def small_problems(draw):
    columns, rows = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    high = [draw(st.integers(0, 3)) for _ in range(columns)]
    matrix = [[float(draw(whole)) for _ in range(columns)] for _ in range(rows)]
    lower, upper = [], []
    for _ in range(rows):
        a, b = draw(st.integers(-6, 6)), draw(st.integers(0, 6))
        kind = draw(st.sampled_from(["<=", ">=", "range", "free"]))
        lower.append(float(a) if kind in (">=", "range") else -INF)
        upper.append(float(a + b) if kind in ("<=", "range") else INF)
    return [float(draw(whole)) for _ in range(columns)], matrix, lower, upper, high


@settings(max_examples=150, deadline=None)
@given(problem=small_problems(), options=st.sampled_from([EXACT, RESTRICTED]))
def test_finds_the_optimum_of_small_mixed_problems_and_a_bound_that_is_not_above_it(problem, options):
    cost, matrix, lower, upper, high = problem
    integer = [True] * (len(cost) - 1) + [False]
    result = solve(arrays(cost, matrix, lower, upper, high=high, integer=integer), options)
    best = best_by_trying(cost, matrix, lower, upper, high)
    if best is None:
        assert result.status is Status.INFEASIBLE
        assert result.x is None
    else:
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(best, abs=1e-6)
        assert result.bound <= best + 1e-6
        assert result.gap_abs == pytest.approx(0.0, abs=2e-6)


@settings(max_examples=60, deadline=None)
@given(problem=small_problems(), gap=st.sampled_from([0.01, 0.2, 0.9]))
def test_a_wide_gap_gives_a_plan_no_worse_than_it_says(problem, gap):
    cost, matrix, lower, upper, high = problem
    integer = [True] * (len(cost) - 1) + [False]
    compiled = arrays(cost, matrix, lower, upper, high=high, integer=integer)
    result = solve(compiled, SolveOptions(gap_rel=gap, recipe="restrict"))
    best = best_by_trying(cost, matrix, lower, upper, high)
    if best is not None:
        assert result.bound <= best + 1e-6
        assert best - 1e-6 <= result.objective <= best + gap * abs(result.objective) + 1e-5


def test_the_bound_of_the_whole_problem_holds_where_the_restricted_search_misses_the_best_plan():
    # Relaxed: all of x0 (cheapest per unit of the knapsack); the best whole plan has no x0 at all.
    compiled = arrays([10.0, 7.0, 7.0], [[5.0, 3.0, 3.0]], [6.0], [INF], high=[9, 9, 9], integer=[True] * 3)
    result = solve(compiled, RESTRICTED)
    assert result.objective == pytest.approx(14.0)
    assert result.bound == pytest.approx(14.0)


def test_the_fleet_model_is_solved_alike_by_both_ways(fleet):
    _, compiled = fleet
    direct = solve(compiled, SolveOptions(gap_rel=2e-3, recipe="mip"))
    restricted = solve(compiled, SolveOptions(gap_rel=2e-3, recipe="restrict"))
    for result in (direct, restricted):
        assert result.status is Status.OPTIMAL
        assert result.violation.size <= 1e-9
        assert result.gap_rel <= 2e-3
        assert result.bound <= min(direct.objective, restricted.objective)
    assert set(restricted.timings) >= {"relaxation", "bound", "restricted", "total"}


def test_same_arrays_give_the_same_plan(fleet):
    _, compiled = fleet
    first, second = (solve(compiled, SolveOptions(gap_rel=5e-3)) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert first.bound == second.bound
    assert first.reproducible


def test_a_linear_model_is_proven_by_its_own_prices():
    compiled = arrays([1.0, 2.0], [[1.0, 1.0]], [3.0], [INF], high=[2.0, INF], integer=False)
    result = solve(compiled, EXACT)
    assert result.objective == pytest.approx(4.0)
    assert result.bound_source == "duals"
    assert result.row_dual == pytest.approx([2.0])
    assert result.col_dual == pytest.approx([-1.0, 0.0])


def test_a_maximised_model_keeps_its_sign_and_offset_counts():
    compiled = arrays([-3.0], [[2.0]], [-INF], [7.0], high=[9], offset=100.0)
    result = solve(compiled, EXACT)
    assert result.objective == pytest.approx(91.0)


def test_models_without_rows_columns_or_cost_are_solved():
    assert solve(arrays([2.0, -1.0], [], [], [], high=[5, 5]), EXACT).objective == pytest.approx(-5.0)
    assert solve(arrays([], [], [], [], offset=3.0), EXACT).objective == pytest.approx(3.0)
    empty_row = arrays([1.0], [[0.0]], [-1.0], [1.0], high=[3])
    assert solve(empty_row, EXACT).objective == pytest.approx(0.0)
    impossible_row = arrays([1.0], [[0.0]], [1.0], [2.0], high=[3])
    assert solve(impossible_row, EXACT).status is Status.INFEASIBLE
    assert solve(arrays([0.0], [[1.0]], [2.0], [INF], high=[3]), EXACT).objective == 0.0


def test_infeasible_without_whole_numbers_only():
    # 2 a = 3 has a solution, but none that is whole; the sides are not rounded since b is free.
    compiled = arrays([1.0, 1.0], [[2.0, 4.0]], [3.0], [3.0], high=[5, 5])
    result = solve(compiled, EXACT)
    assert result.status is Status.INFEASIBLE
    with pytest.raises(InfeasibleError):
        require_plan(result)


def test_limits_that_cross_are_named():
    compiled = arrays([1.0], [[1.0]], [3.0], [2.0], high=[9])
    result = solve(compiled)
    assert result.status is Status.INFEASIBLE
    assert "r[0]" in result.notes[0]


@pytest.mark.parametrize("integer", [True, False])
def test_a_cost_without_lower_bound_is_unbounded(integer):
    compiled = arrays([-1.0, 0.0], [[1.0, -1.0]], [-INF], [1.0], integer=integer)
    result = solve(compiled)
    assert result.status is Status.UNBOUNDED
    with pytest.raises(UnboundedError):
        require_plan(result)


@pytest.mark.parametrize("integer", [True, False])
def test_unbounded_direction_of_an_infeasible_model_is_infeasible(integer):
    compiled = arrays([-1.0, 0.0], [[0.0, 1.0]], [3.0], [INF], high=[INF, 2.0], integer=integer)
    assert solve(compiled).status is Status.INFEASIBLE


def wrongly_infeasible(monkeypatch):
    """Make HiGHS' presolve call everything infeasible."""
    run = Session.run

    def lying(self, *args, **kwargs):
        outcome = run(self, *args, **kwargs)
        if self.highs.getOptionValue("presolve")[1] == "off":
            return outcome
        return Outcome(Status.INFEASIBLE, None, None, -INF, np.zeros(0), np.zeros(0), 0.0, "")

    monkeypatch.setattr(Session, "run", lying)


def test_infeasible_is_believed_only_without_presolve(monkeypatch):
    wrongly_infeasible(monkeypatch)
    result = solve(arrays([1.0], [[2.0]], [3.0], [INF], high=[9]), EXACT)
    assert result.objective == pytest.approx(2.0)
    assert any("wrongly" in note for note in result.notes)


def test_a_linear_model_called_infeasible_wrongly_is_solved(monkeypatch):
    wrongly_infeasible(monkeypatch)
    result = solve(arrays([1.0], [[2.0]], [3.0], [INF], high=[9], integer=False), EXACT)
    assert result.objective == pytest.approx(1.5)


def test_a_time_limit_before_any_plan_is_a_limit_error(fleet):
    _, compiled = fleet
    result = solve(compiled, SolveOptions(gap_rel=0.0, time_limit_s=1e-6))
    assert result.status is Status.LIMIT_WITHOUT_PLAN
    assert not result.reproducible
    with pytest.raises(LimitError):
        require_plan(result)


def test_a_time_limit_with_a_plan_keeps_it_with_its_gap():
    result = solve(hard(), SolveOptions(gap_rel=0.0, time_limit_s=1.0))
    assert result.status is Status.LIMIT
    assert not result.reproducible
    assert require_plan(result) is result
    assert 0 < result.gap_rel < 1
    assert result.timings["total"] < 10


def test_progress_tells_phase_best_bound_and_gap():
    states = []

    class Watcher:
        def solving(self, state):
            states.append(state)

    solve(hard(), SolveOptions(gap_rel=0.0, time_limit_s=2.0), Watcher())
    assert {state.phase for state in states} == {"relaxation", "search"}
    known = [state for state in states if state.gap is not None]
    assert known
    for state in known:
        assert state.bound <= state.best
        assert state.gap == pytest.approx((state.best - state.bound) / abs(state.best))


def test_an_error_in_a_watcher_reaches_the_caller_and_ends_the_run():

    class Broken:
        def solving(self, state):
            if state.phase == "search" and state.best is not None:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(hard(), SolveOptions(gap_rel=0.0), Broken())


def test_a_plan_that_cannot_be_made_whole_is_dropped(monkeypatch):
    monkeypatch.setattr(recipe, "made_whole", lambda *_args, **_kwargs: None)
    result = solve(arrays([1.0], [[2.0]], [3.0], [INF], high=[9]), EXACT)
    assert result.x is None
    assert any("dropped" in note for note in result.notes)
    with pytest.raises((SolverError, LimitError)):
        require_plan(result)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (Status.INFEASIBLE, InfeasibleError),
        (Status.UNBOUNDED, UnboundedError),
        (Status.LIMIT_WITHOUT_PLAN, LimitError),
        (Status.INTERRUPTED, Interrupted),
        (Status.INFEASIBLE_OR_UNBOUNDED, SolverError),
        (Status.ERROR, SolverError),
    ],
)
def test_every_end_without_a_plan_is_its_own_error(status, error):
    with pytest.raises(error):
        require_plan(Result(status, None, None, -INF, "none"))


def test_gap_of_an_objective_of_nothing_is_zero_only_if_proven():
    proven = Result(Status.OPTIMAL, np.zeros(1), 0.0, 0.0, "duals")
    open_ = Result(Status.LIMIT, np.zeros(1), 0.0, -1.0, "duals")
    assert proven.gap_rel == 0.0
    assert open_.gap_rel == INF
    assert open_.gap_abs == 1.0


def test_coefficients_far_apart_are_told_by_their_rows():
    compiled = arrays([1.0, 1.0], [[1e-5, 0.0], [0.0, 2e4]], [1e-5, 2e4], [INF, INF], high=[9, 9])
    (note,) = solve(compiled, EXACT).notes
    assert "1e-05 in row r[0] to 2e+04 in row r[1]" in note
    assert solve(arrays([1.0], [[1e4]], [1.0], [INF], high=[9]), EXACT).notes == ()


def test_crossing_within_rounding_is_no_contradiction():
    assert confirm.crossed(arrays([1.0], [[1.0]], [2.0 + 1e-13], [2.0], high=[9])) == ""
