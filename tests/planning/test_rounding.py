"""Whole lots guessed from a relaxed plan: sums kept, halls within their power, and good enough to be proven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fleetplan.api import Settings
from fleetplan.inputs.load import load_scenario
from fleetplan.planning.rounding import _Halls, whole_lots
from fleetplan.solving.arrays import Labels
from fleetplan.solving.check import worst_violation
from fleetplan.solving.linear import relaxation
from fleetplan.solving.moves import improve
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.tighten import with_whole_limits
from fleetplan.solving.warm import Start
from fleetplan.studies.workshop import Workshop


@pytest.fixture(scope="module")
def small():
    shop = Workshop(load_scenario("small-2026"), Settings(gap=0.002))
    compiled = with_whole_limits(shop.problem(shop.base).compiled)
    return compiled, relaxation(compiled)


def test_a_guess_is_whole_and_keeps_every_sum_of_lots(small):
    compiled, relaxed = small
    rows = compiled.by_rows
    alone = np.flatnonzero(rows.astype(bool) @ (~compiled.integer).astype(int) == 0)
    x = whole_lots(compiled, relaxed.x, relaxed.row_dual).values
    whole = x[compiled.integer]
    assert np.array_equal(whole, np.round(whole))
    assert (whole >= compiled.col_lower[compiled.integer]).all()
    assert (whole <= compiled.col_upper[compiled.integer]).all()
    sums = (rows @ x)[alone]
    assert (sums >= compiled.row_lower[alone] - 1e-9).all()
    assert (sums <= compiled.row_upper[alone] + 1e-9).all()


def test_what_burns_in_is_no_limit_on_lots(small):
    compiled, relaxed = small
    limits = {"supply", "committed"}
    rows = [i for i, (family, _) in enumerate(compiled.rows.keys) if family in limits]
    limited = {
        tuple(j for j in part.indices.tolist() if compiled.integer[j])
        for part in (compiled.by_rows[[i]] for i in rows)
    }
    assert {group.columns for group in _Halls(compiled, relaxed.x, relaxed.row_dual).groups} <= limited


def test_a_lot_draws_what_attrition_leaves_of_it(small):
    compiled, relaxed = small
    place = _Halls(compiled, relaxed.x, relaxed.row_dual)
    column = next(j for j, (_, mw) in place.load.items() if mw[1] > 0)
    _, (hall, accelerator, _) = compiled.columns.keys[column]
    racks, fleet = compiled.columns.positions("racks"), compiled.rows.positions("fleet")
    x, held = np.zeros(compiled.shape[1]), np.zeros(len(place.time))
    x[column] = 1.0
    for quarter, now in place.time.items():  # racks by the fleet's own rows, one after the other
        key = (hall, accelerator, quarter)
        if key in fleet:
            x[racks[key]] = held[now] = -float((compiled.by_rows[[fleet[key]]] @ x)[0])
    assert 0 < held[-1] < held[1]
    drawn = held * np.where(held > 0, place.least_mw[hall, accelerator], 0.0)
    assert place.load[column][1] == pytest.approx(drawn)


def test_rivals_are_the_lots_of_one_hall(small):
    compiled, relaxed = small
    halls = [
        {compiled.columns.keys[j][1][0] for j in group}
        for group in whole_lots(compiled, relaxed.x, relaxed.row_dual).rivals
    ]
    assert all(len(names) == 1 for names in halls)
    lots = {index[0] for family, index in compiled.columns.keys if family == "lots"}
    assert set().union(*halls) == lots


def test_moves_from_a_guess_end_at_a_plan_near_the_relaxed_one(small):
    compiled, relaxed = small
    guess = whole_lots(compiled, relaxed.x, relaxed.row_dual)
    moved = improve(
        compiled, compiled, guess, relaxed.row_dual, SolveOptions(), enough=-np.inf, most_solves=200
    )
    assert moved.x is not None
    assert worst_violation(compiled, moved.x).small
    assert 0 <= moved.cost - relaxed.objective + 1e-6 <= 1e-3 * abs(relaxed.objective)


def test_the_recipe_stops_at_a_guess_that_is_proven_and_says_so(small):
    compiled, relaxed = small
    options = Settings(gap=0.05).solve_options()
    result = solve(compiled, replace(options, recipe="restrict"), start=Start({}, {}), rounder=whole_lots)
    assert result.gap_rel <= 0.05
    assert "moves" in result.timings
    assert "restricted" not in result.timings
    assert result.objective >= relaxed.objective - 1e-6


def test_a_model_of_another_kind_has_no_guesses(small):
    compiled, relaxed = small
    other = replace(compiled, rows=Labels([("row", i) for i in range(compiled.shape[0])]))
    assert whole_lots(other, relaxed.x, relaxed.row_dual) is None
