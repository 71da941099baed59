"""Small moves from a guess: against every whole number there is, and back from a broken limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lot_models import HALLS, KINDS, best_of_all, fleet, halls

from fleetplan.solving.arrays import Compiled
from fleetplan.solving.highs import Session
from fleetplan.solving.linear import relaxation
from fleetplan.solving.moves import Guess, improve
from fleetplan.solving.options import SolveOptions


def moved_from(compiled: Compiled, lots: list[int]):
    values = np.zeros(compiled.shape[1])
    values[: len(lots)] = lots
    relaxed = relaxation(compiled)
    return improve(
        compiled, compiled, Guess(values, halls()), relaxed.row_dual, SolveOptions(),
        enough=-np.inf, most_solves=500,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_moves_one_by_one_and_two_in_a_row_end_at_the_best_whole_numbers(seed):
    compiled = fleet(seed)
    moved = moved_from(compiled, [0] * (HALLS * KINDS))
    best = best_of_all(compiled)
    assert moved.x is not None
    assert moved.cost == pytest.approx(best, abs=1e-7)
    assert compiled.objective(moved.x) == pytest.approx(moved.cost, abs=1e-7)
    activity = compiled.matrix @ moved.x
    assert (activity <= compiled.row_upper + 1e-6).all()
    assert (activity >= compiled.row_lower - 1e-6).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_guess_beyond_power_and_supply_comes_back_to_a_plan(seed):
    compiled = fleet(seed)
    moved = moved_from(compiled, [3] * (HALLS * KINDS))
    assert moved.x is not None
    assert (compiled.matrix @ moved.x <= compiled.row_upper + 1e-6).all()
    assert moved.cost >= best_of_all(compiled) - 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_a_broken_limit_is_mended_by_moves_before_its_penalty_grows(seed, monkeypatch):
    def grows(*_: object) -> None:
        pytest.fail("the penalty grew while moves still mended")

    monkeypatch.setattr("fleetplan.solving.moves._Walk._dearer", grows)
    compiled = fleet(seed)
    guess = Guess(np.full(compiled.shape[1], 3.0), halls())
    moved = improve(
        compiled, compiled, guess, relaxation(compiled).row_dual, SolveOptions(),
        enough=np.inf, most_solves=500,
    )  # fmt: skip
    assert moved.x is not None
    assert (compiled.matrix @ moved.x <= compiled.row_upper + 1e-6).all()


def test_an_optimum_whose_values_break_a_row_is_no_point_to_go_on_from(monkeypatch):
    class Loose(Session):
        """HiGHS at times calls values optimal that break a row by more than its tolerance."""

        runs = 0

        def run(self, *asked: object, **named: object):
            self.runs += 1
            outcome = super().run(*asked, **named)
            return replace(outcome, x=None, objective=None) if self.runs % 2 == 0 else outcome

    monkeypatch.setattr("fleetplan.solving.moves.Session", Loose)
    moved = moved_from(fleet(3), [3] * (HALLS * KINDS))
    assert moved.x is not None
    assert (fleet(3).matrix @ moved.x <= fleet(3).row_upper + 1e-6).all()


def test_a_limit_that_no_whole_numbers_keep_gives_no_plan():
    compiled = fleet(0)
    impossible = compiled.with_rhs([0], lower=[1.0], upper=[1.2])  # 0.9, 1.3, 1.8 ...: none
    assert moved_from(impossible, [1] * (HALLS * KINDS)).x is None


def test_moves_end_when_the_cost_is_enough():
    compiled = fleet(1)
    values, relaxed = np.zeros(compiled.shape[1]), relaxation(compiled)
    start = improve(
        compiled,
        compiled,
        Guess(values, halls()),
        relaxed.row_dual,
        SolveOptions(),
        enough=np.inf,
        most_solves=50,
    )
    assert (start.solved, start.taken) == (1, 0)
    one = improve(
        compiled,
        compiled,
        Guess(values, halls()),
        relaxed.row_dual,
        SolveOptions(),
        enough=start.cost - 1e-3,
        most_solves=50,
    )
    assert one.taken == 1
    assert one.cost < start.cost
