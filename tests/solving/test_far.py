"""A second objective by the relaxed plan made whole: against every plan there is."""

from __future__ import annotations

import numpy as np
import pytest
from lot_models import HALLS, KINDS, all_plans, fleet, halls

from fleetplan.solving.far import far_plan
from fleetplan.solving.moves import Guess
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.second import minimize_then
from fleetplan.solving.status import Status

LOTS = HALLS * KINDS
EXACT = SolveOptions(gap_rel=0.0)
LARGE = SolveOptions(gap_rel=0.0, small_columns=1)
"""Takes every model for a large one."""
ROOM = 0.1


def rounded(compiled, x, price):
    return Guess(np.round(x), halls())


def away_from(x):
    """Lots that the plan has cost 1 each, all others earn 1."""
    second = np.zeros(len(x))
    second[:LOTS] = np.where(x[:LOTS] > 0.5, 1.0, -1.0)
    return second


def within(compiled, second, limit):
    """Second costs of all plans that cost no more than the limit."""
    return [float(second[:LOTS] @ n) for n, cost in all_plans(compiled) if cost <= limit]


@pytest.mark.parametrize("seed", range(8))
def test_the_second_plan_costs_no_more_than_the_limit_and_is_no_better_than_the_best(seed):
    compiled = fleet(seed)
    first = solve(compiled, EXACT)
    second, limit = away_from(first.x), first.objective * (1 + ROOM)
    found = minimize_then(compiled, second, ROOM, LARGE, first=first, rounder=rounded)
    assert compiled.objective(found.x) <= limit + 1e-6
    assert (compiled.matrix @ found.x <= compiled.row_upper + 1e-6).all()
    best = min(within(compiled, second, limit))
    assert found.bound <= best + 1e-6
    assert best - 1e-6 <= found.objective <= float(second @ first.x) + 1e-6
    assert found.objective == pytest.approx(second @ found.x)


def test_far_plans_of_small_worlds_mostly_exist_and_go_most_of_the_way():
    shares = []
    for seed in range(8):
        compiled = fleet(seed)
        first = solve(compiled, EXACT)
        second, room = away_from(first.x), ROOM * first.objective
        found = far_plan(compiled, second, room, first, rounded, EXACT)
        best, start = min(within(compiled, second, first.objective + room)), float(second @ first.x)
        if found is not None:
            shares.append(1.0 if best == start else (start - found.objective) / (start - best))
    assert len(shares) >= 6
    assert np.mean(shares) >= 0.5


def test_a_large_model_goes_this_way_and_a_small_one_is_searched():
    compiled = fleet(3)
    first = solve(compiled, EXACT)
    second, asked = away_from(first.x), []

    def told(*given):
        asked.append(1)
        return rounded(*given)

    small = minimize_then(compiled, second, ROOM, EXACT, first=first, rounder=told)
    assert not asked
    large = minimize_then(compiled, second, ROOM, LARGE, first=first, rounder=told)
    assert asked
    assert small.status is Status.OPTIMAL
    assert large.objective >= small.objective - 1e-6
    assert compiled.objective(large.x) <= first.objective * (1 + ROOM) + 1e-6


def test_where_nothing_can_be_guessed_it_says_so():
    compiled = fleet(0)
    first = solve(compiled, EXACT)
    assert far_plan(compiled, away_from(first.x), 0.1, first, lambda *_: None, EXACT) is None


def test_a_clock_that_is_over_ends_it_without_a_plan():
    compiled = fleet(0)
    first = solve(compiled, EXACT)
    ended = far_plan(compiled, away_from(first.x), 0.1, first, rounded, SolveOptions(time_limit_s=1e-9))
    assert ended is not None
    assert (ended.status, ended.x) == (Status.LIMIT_WITHOUT_PLAN, None)
