"""A second objective within a tolerance on the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from solving_models import INF, arrays

from fleetplan.errors import InfeasibleError, SolverError
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.second import _at_least_cost, minimize_then

EXACT = SolveOptions(gap_rel=0.0)


def two_ways():
    """10 units from a (cost 10 each) or b (cost 11 each)."""
    return arrays([10.0, 11.0], [[1.0, 1.0]], [10.0], [INF], high=[10, 10], offset=5.0)


def test_the_second_objective_uses_up_the_tolerance_and_no_more():
    # 105 at best; 4 % allow 4.2 more, so 4 units change from a to b.
    result = minimize_then(two_ways(), np.array([1.0, 0.0]), 0.04, EXACT)
    assert result.x.tolist() == [6.0, 4.0]
    assert result.objective == pytest.approx(6.0)


def test_without_tolerance_ties_are_broken_and_cost_stays():
    compiled = arrays([10.0, 10.0], [[1.0, 1.0]], [10.0], [INF], high=[10, 10])
    for favourite in (0, 1):
        dislike = np.ones(2)
        dislike[favourite] = 0.0
        result = minimize_then(compiled, dislike, 0.0, EXACT)
        assert result.x[favourite] == 10.0


def test_a_first_result_is_not_solved_again():
    first = solve(two_ways(), EXACT)
    result = minimize_then(two_ways(), np.array([1.0, 0.0]), 0.0, EXACT, first=first)
    assert result.x.tolist() == [10.0, 0.0]


def test_no_first_plan_no_second():
    with pytest.raises(InfeasibleError):
        minimize_then(two_ways().with_rhs([0], lower=[30.0]), np.zeros(2), 0.1)
    with pytest.raises(SolverError):
        minimize_then(two_ways(), np.zeros(2), -0.1)


def test_what_the_second_objective_does_not_ask_about_costs_no_more_than_it_must():
    # a is to be few; b pays for what a leaves of 10, and within the tolerance nothing keeps it from paying more.
    compiled = arrays([1.0, 1.01], [[1.0, 1.0]], [10.0], [INF], high=[10, 100], integer=[True, False])
    few = np.array([1.0, 0.0])
    assert minimize_then(compiled, few, 9.0, EXACT).x == pytest.approx([0.0, 10.0], abs=1e-6)
    loose = replace(solve(compiled, EXACT), x=np.array([0.0, 57.0]), objective=0.0)
    assert _at_least_cost(compiled, loose, few, EXACT).x == pytest.approx([0.0, 10.0], abs=1e-6)
