"""Whole lots guessed from a relaxed plan: sums kept, halls within their power, and good enough to be proven."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from fleetplan.api import Settings
from fleetplan.errors import InfeasibleError
from fleetplan.inputs.load import load_scenario
from fleetplan.solving.arrays import Labels
from fleetplan.solving.linear import relaxation
from fleetplan.solving.recipe import solve
from fleetplan.solving.tighten import with_whole_limits
from fleetplan.solving.warm import Start, held
from fleetplan.studies.rounding import whole_lots
from fleetplan.studies.workshop import Workshop


@pytest.fixture(scope="module")
def small():
    shop = Workshop(load_scenario("small-2026"), Settings(gap=0.002))
    compiled = with_whole_limits(shop.problem(shop.base).compiled)
    return compiled, relaxation(compiled)


def test_guesses_are_whole_and_keep_every_sum_of_lots(small):
    compiled, relaxed = small
    rows = compiled.by_rows
    alone = np.flatnonzero(rows.astype(bool) @ (~compiled.integer).astype(int) == 0)
    guesses = list(whole_lots(compiled, relaxed.x, relaxed.row_dual))
    assert guesses
    for x in guesses:
        whole = x[compiled.integer]
        assert np.array_equal(whole, np.round(whole))
        assert (whole >= compiled.col_lower[compiled.integer]).all()
        assert (whole <= compiled.col_upper[compiled.integer]).all()
        sums = (rows @ x)[alone]
        assert (sums >= compiled.row_lower[alone] - 1e-9).all()
        assert (sums <= compiled.row_upper[alone] + 1e-9).all()


def test_a_guess_completed_by_a_linear_solve_is_a_plan_near_the_relaxed_one(small):
    compiled, relaxed = small
    costs = []
    for x in whole_lots(compiled, relaxed.x, relaxed.row_dual):
        with contextlib.suppress(InfeasibleError):  # a guess may be impossible; not all may be
            costs.append(relaxation(held(compiled, compiled, x)).objective)
    assert costs
    assert min(costs) >= relaxed.objective - 1e-6
    assert min(costs) - relaxed.objective < 0.05 * abs(relaxed.objective)


def test_the_recipe_stops_at_a_guess_that_is_proven_and_says_so(small):
    compiled, relaxed = small
    options = Settings(gap=0.05).solve_options()
    result = solve(compiled, replace(options, recipe="restrict"), start=Start({}, {}, whole_lots))
    assert result.gap_rel <= 0.05
    assert "guess" in result.timings
    assert "restricted" not in result.timings
    assert result.objective >= relaxed.objective - 1e-6


def test_a_model_of_another_kind_has_no_guesses(small):
    compiled, relaxed = small
    other = replace(compiled, rows=Labels([("row", i) for i in range(compiled.shape[0])]))
    assert list(whole_lots(other, relaxed.x, relaxed.row_dual)) == []
