"""Small moves from a guess: against every whole number there is, and back from a broken limit."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from fleetplan.solving.arrays import Compiled, Labels
from fleetplan.solving.highs import Session
from fleetplan.solving.linear import relaxation
from fleetplan.solving.moves import Guess, improve
from fleetplan.solving.options import SolveOptions

HALLS, KINDS = 3, 2
MW = np.array([0.9, 1.3])


def fleet(seed: int) -> Compiled:
    """Lots of two kinds in three halls: power by hall, supply by kind, demand that costs when it is short.

    Columns: lots[h, k], work[h, k], short. Minimise cost of lots and shortage.
    """
    rng = np.random.default_rng(seed)
    power, supply = rng.uniform(1.5, 3.5, HALLS), rng.integers(2, 4, KINDS)
    speed, price = np.array([10.0, 17.0]), np.array([1.0, 1.5]) * rng.uniform(0.8, 1.2, KINDS)
    demand = float(rng.uniform(25, 60))
    lots = HALLS * KINDS
    rows = [([h * KINDS + k for k in range(KINDS)], MW, -np.inf, power[h]) for h in range(HALLS)]
    rows += [
        ([h * KINDS + k for h in range(HALLS)], np.ones(HALLS), -np.inf, supply[k]) for k in range(KINDS)
    ]
    rows += [([j, lots + j], np.array([-speed[j % KINDS], 1.0]), -np.inf, 0.0) for j in range(lots)]
    rows.append(([*range(lots, 2 * lots + 1)], np.ones(lots + 1), demand, np.inf))
    matrix = sparse.lil_array((len(rows), 2 * lots + 1))
    for i, (columns, values, _, _) in enumerate(rows):
        matrix[i, columns] = values
    csc = sparse.csc_array(matrix)
    width = 2 * lots + 1
    cost = np.concatenate([np.tile(price, HALLS), np.full(lots, 0.001), [0.4]])
    return Compiled(
        start=csc.indptr.astype(np.int32), index=csc.indices.astype(np.int32), value=csc.data,
        row_lower=np.array([row[2] for row in rows]), row_upper=np.array([row[3] for row in rows]),
        col_lower=np.zeros(width), col_upper=np.concatenate([np.full(lots, 3.0), np.full(lots + 1, np.inf)]),
        cost=cost, offset=5.0, integer=np.arange(width) < lots,
        rows=Labels([("row", i) for i in range(len(rows))]),
        columns=Labels([("column", j) for j in range(width)]),
    )  # fmt: skip


def best_of_all(compiled: Compiled) -> float:
    """Cheapest plan over every whole number: power and supply by hand, the rest by arithmetic."""
    lots = HALLS * KINDS
    rows = compiled.by_rows[: HALLS + KINDS, :lots].toarray()
    speed = -compiled.by_rows[[HALLS + KINDS + j for j in range(lots)], :lots].toarray().diagonal()
    demand = compiled.row_lower[-1]
    least = np.inf
    for n in itertools.product(range(4), repeat=lots):
        if (rows @ n <= compiled.row_upper[: HALLS + KINDS] + 1e-9).all():
            work = min(demand, float(speed @ n))
            least = min(least, 5.0 + float(compiled.cost[:lots] @ n) + 0.001 * work + 0.4 * (demand - work))
    return least


def halls() -> tuple[np.ndarray, ...]:
    return tuple(np.arange(h * KINDS, (h + 1) * KINDS) for h in range(HALLS))


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
