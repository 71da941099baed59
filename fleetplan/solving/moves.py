"""Better whole numbers by small moves: one unit more or less, or from one column to another.

With all whole numbers held, the rest is a linear model, and one that differs in a unit or two is solved
again from the same basis in a few simplex iterations. Its prices say what a move can save at most: the
cost of the best rest is convex in the whole numbers, so every solved point gives a plane below it

    cost(n) >= cost(k) + price(k) @ (n - k)

(the cuts of Benders, https://doi.org/10.1007/BF01386316). Moves are tried in the order of the saving
that all planes found so far leave possible, and those that can save nothing are not tried at all.
Where none is left, two in a row may still save something: one that promises much but gets in the way of
another limit, and one that makes way there.

Limits that a first guess breaks by a little cost a penalty here, so that the moves also lead back to a
plan; what is returned is a plan only when nothing is broken any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.solving.arrays import Labels, exact_dot
from fleetplan.solving.highs import Session
from fleetplan.solving.neighbours import ROOM, all_moves
from fleetplan.solving.status import Status

if TYPE_CHECKING:
    from fleetplan.solving.arrays import Bools, Compiled, Floats, Ints
    from fleetplan.solving.highs import Outcome
    from fleetplan.solving.options import SolveOptions

LEAST_SAVING = 1e-6
"""Moves that can save less than this share of the cost are not tried."""
PENALTY = 1000.0
"""Cost of breaking a limit by one unit, over the typical price of a limit in the relaxed plan."""
MOST_TOGETHER = 32
"""Moves tried at once."""
MOST_LOOKED_AT = 2000
"""Moves that are looked at, best first, for those to try together."""
RAISE, MOST_RAISES = 10.0, 6
"""By how much the penalty grows where the cost is low enough or no move is left, and how often."""
MEND_FROM = 0.4
"""Share of the solves after which mending goes before saving."""
PATIENCE = 30
"""Solves without a smaller break, once the cost is low enough, before the penalty grows: moves at the
smaller one often mend it on the way, and a larger one forgets all planes."""
PATIENCE_FOR_PAIRS = 200
"""The same, while two moves in a row still save something."""
FIRST_MOVES, SECOND_MOVES = 12, 6
"""Moves from which a second one is looked for, and how many of those are tried each time."""
LESS = 0.01
"""Part by which the break must fall to count as smaller."""
BROKEN = 1e-7
"""Limits broken by less in all are kept."""


@dataclass(frozen=True)
class Guess:
    """Whole numbers that somebody who knows the model thinks good."""

    values: Floats
    """A value for each column; only those of whole columns count."""
    rivals: tuple[Ints, ...]
    """Sets of whole columns that compete for one limit: units move within them."""


Rounder = Callable[["Compiled", "Floats", "Floats"], Guess | None]
"""Guesses whole numbers from a relaxed plan and its row prices; ``None`` for models it does not know."""


@dataclass(frozen=True)
class Moved:
    """Where the moves ended."""

    x: Floats | None
    """The plan, in the columns of the whole model; ``None`` where a limit is still broken."""
    cost: float
    """Its cost, with penalties for what is still broken."""
    solved: int
    """Linear solves."""
    taken: int
    """Moves that saved something."""
    stopped_by: str = ""


def improve(
    compiled: Compiled,
    near: Compiled,
    guess: Guess,
    price: Floats,
    options: SolveOptions,
    *,
    enough: float,
    most_solves: int,
    time_left_s: Callable[[], float | None] = lambda: None,
    told: Callable[[float], None] = lambda _: None,
) -> Moved:
    """Move from a guess towards cheaper whole numbers, until the cost is ``enough`` or no move is left.

    ``near`` is the model with the columns that matter (others stay at their lower bound). A unit moves
    within a set of rivals, or within a row of whole numbers alone. ``price`` are row prices of the
    relaxed plan, which set the size of the penalty. ``told`` hears the cost after each move.
    """
    walk = _Walk(compiled, near, guess, price, options)
    return walk.run(enough, most_solves, time_left_s, told)


@dataclass(frozen=True)
class _Small:
    """The columns that are not settled, with a penalty column for each limit that may be broken."""

    model: Compiled
    kept: Ints
    whole: Ints
    """Positions of the whole columns in the small model."""
    penalties: int


def _small(whole: Bools, near: Compiled, wanted: Floats, penalty: float) -> _Small:
    value = np.where(whole, wanted, near.col_lower)
    kept = np.flatnonzero(whole | (near.col_upper > near.col_lower))
    settled = np.where(np.isin(np.arange(len(value)), kept), 0.0, value)
    matrix, shift = near.matrix[:, kept], near.matrix @ settled
    made = replace(
        near,
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data.astype(float),
        row_lower=near.row_lower - shift,
        row_upper=near.row_upper - shift,
        col_lower=np.where(whole, value, near.col_lower)[kept],
        col_upper=np.where(whole, value, near.col_upper)[kept],
        cost=near.cost[kept],
        offset=near.offset + exact_dot(near.cost, settled),
        integer=np.zeros(len(kept), dtype=bool),
        columns=Labels([("column", int(j)) for j in kept]),
        _cache={},
    )
    made, penalties = _breakable(made, near.row_lower < near.row_upper, penalty)
    return _Small(made, kept, np.flatnonzero(whole[kept]), penalties)


def _breakable(model: Compiled, rows: Bools, penalty: float) -> tuple[Compiled, int]:
    over = np.flatnonzero(rows & np.isfinite(model.row_upper))
    under = np.flatnonzero(rows & np.isfinite(model.row_lower))
    place = np.concatenate([over, under])
    sign = np.concatenate([-np.ones(len(over)), np.ones(len(under))])
    count = len(place)
    block = sparse.csc_array((sign, (place, np.arange(count))), shape=(model.shape[0], count))
    keys = [("broken", int(row)) for row in place]
    return model.with_columns(keys, block, np.full(count, penalty), np.full(count, np.inf)), count


def _penalty(price: Floats) -> float:
    known = np.abs(price)
    known = known[known > ROOM]
    return PENALTY * float(np.median(known)) if len(known) else PENALTY


class _Walk:
    """From a guess on: the whole numbers, the last basis, and the planes found so far."""

    def __init__(
        self,
        compiled: Compiled,
        near: Compiled,
        guess: Guess,
        price: Floats,
        options: SolveOptions,
    ) -> None:
        whole = np.flatnonzero(compiled.integer)
        wanted = np.clip(np.round(guess.values), compiled.col_lower, compiled.col_upper)
        self.near = near
        self.low, self.high = compiled.col_lower[whole], compiled.col_upper[whole]
        self.penalty, self.raises = _penalty(price), MOST_RAISES
        self.small = _small(compiled.integer, near, wanted, self.penalty)
        self.n = wanted[whole]
        alive = (self.n > 0.5) | (near.col_upper[whole] > near.col_lower[whole] + 0.5)
        self.moves = all_moves(compiled, alive, guess.rivals)
        self.session = Session(
            self.small.model,
            {"solver": "ipm", "run_crossover": "on", **options.asked_of_highs()},
            threads=options.threads,
            seed=options.seed,
        )
        self.solved = self.taken = 0
        self.together = MOST_TOGETHER
        self.cost = np.inf
        self.best: Floats | None = None
        self.best_cost = np.inf
        self.x, self.slope = np.zeros(0), np.zeros(0)
        self.least_broken, self.least_at = np.inf, 0
        self.planes: list[tuple[float, Floats]] = []

    def run(
        self,
        enough: float,
        most_solves: int,
        time_left_s: Callable[[], float | None],
        told: Callable[[float], None],
    ) -> Moved:
        first = self._solve(time_left_s())
        if not _solved(first):
            return Moved(None, np.inf, 1, 0, first.stopped_by)
        self._arrive(first)
        for name, value in {"solver": "simplex", "presolve": "off"}.items():
            self.session.set(name, value)
        stopped_by = ""
        while self.cost > enough or self._broken() > BROKEN:
            outcome = self._onward(enough, most_solves, time_left_s)
            if outcome is None or outcome.stopped_by:
                stopped_by = "" if outcome is None else outcome.stopped_by
                break
            self._arrive(outcome)
            self.taken += 1
            told(self.cost)
        if self.best is not None:
            return Moved(self.best, self.best_cost, self.solved, self.taken, stopped_by)
        return Moved(None, self.cost, self.solved, self.taken, stopped_by)

    def _onward(
        self, enough: float, most_solves: int, time_left_s: Callable[[], float | None]
    ) -> Outcome | None:
        """One move, two in a row, or a larger penalty; ``None`` where nothing is left to try."""
        broken = self._broken() > BROKEN
        mend = broken and self.raises > 0 and self.solved < most_solves
        waited = self.solved - self.least_at
        stuck = self.cost <= enough and waited > PATIENCE
        due = stuck or self.solved > self._mends_from() * most_solves
        outcome = None if mend and due else self._step(most_solves, time_left_s)
        if outcome is None and not (mend and waited > PATIENCE_FOR_PAIRS):
            outcome = self._two_in_a_row(most_solves, time_left_s)
        return self._dearer(time_left_s()) if outcome is None and mend else outcome

    def _mends_from(self) -> float:
        """Share of the solves after which a broken limit gets dearer even while moves save something."""
        return MEND_FROM + (1 - MEND_FROM) * (MOST_RAISES - self.raises) / (MOST_RAISES + 1)

    def _step(self, most_solves: int, time_left_s: Callable[[], float | None]) -> Outcome | None:
        """The first moves that save something, in the order of what the planes leave possible.

        Several at once while that works: moves for different limits seldom get in each other's way.
        """
        able, change, least = self._reach(self.n)
        while self.solved < most_solves and len(able):
            chosen = self._chosen(able, least)
            if not len(chosen):
                return None
            outcome = self._try(change[:, chosen].sum(axis=1), time_left_s())
            if outcome.stopped_by or self._saves(outcome):
                self.together = min(2 * self.together, MOST_TOGETHER)
                return outcome
            self.together = max(1, len(chosen) // 2)
            if _solved(outcome):
                least = np.maximum(least, self._least(self.planes[-1], self.n, change))
            if len(chosen) == 1:
                least[chosen] = np.inf
        return None

    def _two_in_a_row(self, most_solves: int, time_left_s: Callable[[], float | None]) -> Outcome | None:
        """The first two moves that save something together, where none does alone."""
        _, change, least = self._reach(self.n)
        promising = np.flatnonzero(change.T @ self.slope < -LEAST_SAVING * abs(self.cost))
        order = promising[np.argsort(least[promising], kind="stable")]
        for move in order[:FIRST_MOVES].tolist():
            outcome = self._with_a_second(change[:, [move]].sum(axis=1), most_solves, time_left_s)
            if outcome is not None:
                return outcome
        return None

    def _with_a_second(
        self, first: Floats, most_solves: int, time_left_s: Callable[[], float | None]
    ) -> Outcome | None:
        if self.solved >= most_solves:
            return None
        outcome = self._try(first, time_left_s())
        if outcome.stopped_by or self._saves(outcome):
            return outcome
        there = self.n + first
        _, change, least = self._reach(there)
        for _ in range(SECOND_MOVES):
            if self.solved >= most_solves or not (least < -LEAST_SAVING * abs(self.cost)).any():
                return None
            second = int(least.argmin())
            outcome = self._try(first + change[:, [second]].sum(axis=1), time_left_s())
            if outcome.stopped_by or self._saves(outcome):
                return outcome
            if _solved(outcome):
                least = np.maximum(least, self._least(self.planes[-1], there, change))
            least[second] = np.inf
        return None

    def _reach(self, there: Floats) -> tuple[Ints, sparse.csc_array, Floats]:
        """Moves from some whole numbers, as columns, with what they save at most from here by all planes."""
        able = np.flatnonzero(self.moves.allowed(there, self.low, self.high))
        change = sparse.csc_array(self.moves.change[:, able])
        least = np.full(len(able), -np.inf)
        for plane in self.planes:
            least = np.maximum(least, self._least(plane, there, change))
        return able, change, least

    def _dearer(self, left_s: float | None) -> Outcome | None:
        """No move is left and a limit is still broken: let that cost more, and look again."""
        self.raises -= 1
        self.penalty *= RAISE
        places = np.arange(self.small.model.shape[1] - self.small.penalties, self.small.model.shape[1])
        self.session.change_cost(places, np.full(len(places), self.penalty))
        self.planes, self.cost = [], np.inf
        self.least_broken, self.least_at = np.inf, self.solved
        outcome = self._solve(left_s)
        return outcome if outcome.stopped_by or _solved(outcome) else None

    def _chosen(self, able: Ints, least: Floats) -> Ints:
        """The moves to try together: those that can save most, one for each limit they compete for."""
        worth = np.flatnonzero(least < -LEAST_SAVING * abs(self.cost))
        if not len(worth) or self.together == 1:
            return worth[[int(least[worth].argmin())]] if len(worth) else worth
        order = worth[np.argsort(least[worth], kind="stable")]
        chosen: list[int] = []
        taken: set[int] = set()
        for move in order[:MOST_LOOKED_AT].tolist():
            touched = self.moves.touches(int(able[move]))
            if taken.isdisjoint(touched):
                taken.update(touched)
                chosen.append(move)
                if len(chosen) == self.together:
                    break
        return np.array(chosen, dtype=np.int64)

    def _try(self, change: Floats, left_s: float | None) -> Outcome:
        """Solve with changed whole numbers; they are kept if that saves something."""
        places = np.flatnonzero(change)
        there = self.n + change
        self._hold(places, there[places])
        outcome = self._solve(left_s)
        if _solved(outcome):
            self._add_plane(outcome, there)
        if self._saves(outcome):
            self.n = there
        else:
            self._hold(places, self.n[places])
        return outcome

    def _saves(self, outcome: Outcome) -> bool:
        return (
            _solved(outcome)
            and outcome.objective is not None
            and outcome.objective < self.cost - 1e-9 * abs(self.cost)
        )

    def _least(self, plane: tuple[float, Floats], there: Floats, change: sparse.csc_array) -> Floats:
        """Change of cost from here that each move from ``there`` has at least, by one plane."""
        constant, slope = plane
        here = constant + float(slope @ there) - self.cost
        least: Floats = here + change.T @ slope
        return least

    def _hold(self, places: Ints, values: Floats) -> None:
        self.session.change_bounds(self.small.whole[places], values, values)

    def _solve(self, left_s: float | None) -> Outcome:
        self.solved += 1
        return self.session.run(left_s)

    def _arrive(self, outcome: Outcome) -> None:
        assert outcome.objective is not None
        assert outcome.x is not None
        if not self.planes:
            self._add_plane(outcome, self.n)
        self.cost, self.x, self.slope = outcome.objective, outcome.x, self.planes[-1][1]
        if self._broken() < self.least_broken * (1 - LESS):
            self.least_broken, self.least_at = self._broken(), self.solved
        if self._broken() <= BROKEN and self.cost < self.best_cost:
            self.best, self.best_cost = self._plan(), self.cost

    def _add_plane(self, outcome: Outcome, there: Floats) -> None:
        assert outcome.objective is not None
        slope = outcome.col_dual[self.small.whole]
        self.planes.append((outcome.objective - float(slope @ there), slope))

    def _broken(self) -> float:
        return float(self.x[len(self.x) - self.small.penalties :].sum())

    def _plan(self) -> Floats:
        full = self.near.col_lower.copy()
        full[self.small.kept] = self.x[: len(self.small.kept)]
        return full


def _solved(outcome: Outcome) -> bool:
    """Whether there is an optimum to go on from: HiGHS may say optimal of values that break a row."""
    return outcome.status is Status.OPTIMAL and outcome.objective is not None
