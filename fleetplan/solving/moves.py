"""Better whole numbers by small moves: one unit more or less, or from one column to another.

With all whole numbers held, the rest is a linear model, and one that differs in a unit or two is solved
again from the same basis in a few simplex iterations. Its prices say what a move can save at most: the
cost of the best rest is convex in the whole numbers, so every solved point gives a plane below it

    cost(n) >= cost(k) + price(k) @ (n - k)

(the cuts of Benders, https://doi.org/10.1007/BF01386316). Moves are tried in the order of the saving
that all planes found so far leave possible, and those that can save nothing are not tried at all.

Limits that a first guess breaks by a little cost a penalty here, so that the moves also lead back to a
plan; what is returned is a plan only when nothing is broken any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fleetplan.solving.arrays import Labels
from fleetplan.solving.highs import Session
from fleetplan.solving.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fleetplan.solving.arrays import Bools, Compiled, Floats, Ints
    from fleetplan.solving.highs import Outcome
    from fleetplan.solving.options import SolveOptions

ROOM = 1e-6
"""Tolerance on rows of whole numbers."""
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
        offset=near.offset + float(near.cost @ settled),
        integer=np.zeros(len(kept), dtype=bool),
        columns=Labels([("column", int(j)) for j in kept]),
        _cache={},
    )
    made, penalties = _breakable(made, near.row_lower < near.row_upper, penalty)
    return _Small(made, kept, np.flatnonzero(whole[kept]), penalties)


def _of_whole_alone(compiled: Compiled) -> Bools:
    """Rows of whole columns and nothing else: they are kept by every move."""
    whole = np.bincount(
        compiled.index, weights=compiled.integer[compiled.entry_column], minlength=compiled.shape[0]
    )
    every = np.bincount(compiled.index, minlength=compiled.shape[0])
    alone: Bools = (whole > 0) & (whole == every)
    return alone


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


@dataclass
class _Moves:
    """All moves as the columns of a sparse matrix over the whole columns, each with entries +1 and -1."""

    change: sparse.csc_array
    rows: sparse.csr_array
    """Rows of whole numbers alone."""
    lower: Floats
    upper: Floats
    limits: sparse.csc_array
    """The sets that each whole column belongs to, by their numbers: sets x columns."""
    effect: sparse.csc_array = field(init=False)
    _touched: sparse.csc_array = field(init=False)

    def __post_init__(self) -> None:
        self.effect = sparse.csc_array(self.rows @ self.change)
        self._touched = sparse.csc_array(self.limits @ abs(self.change))

    def touches(self, move: int) -> list[int]:
        """Numbers of the sets whose limits the move takes from or gives to."""
        part = slice(self._touched.indptr[move], self._touched.indptr[move + 1])
        found: list[int] = self._touched.indices[part].tolist()
        return found

    def allowed(self, n: Floats, low: Floats, high: Floats) -> Bools:
        """Which moves keep all bounds and all rows of whole numbers alone."""
        change, effect = self.change, self.effect
        after = n[change.indices] + change.data
        bad = (after < low[change.indices] - ROOM) | (after > high[change.indices] + ROOM)
        now, where = (self.rows @ n)[effect.indices], effect.indices
        then = now + effect.data
        low, high = self.lower[where] - ROOM, self.upper[where] + ROOM
        worse = ((then < low) & (then < now)) | ((then > high) & (then > now))
        return ~(_any(bad, change) | _any(worse, effect))


def _any(flags: Bools, matrix: sparse.csc_array) -> Bools:
    """Whether any entry of each column has its flag set."""
    total = np.concatenate([[0], np.cumsum(flags)])
    found: Bools = total[matrix.indptr[1:]] > total[matrix.indptr[:-1]]
    return found


def _all_moves(compiled: Compiled, alive: Bools, rivals: Sequence[Ints]) -> _Moves:
    """One unit more or less, and one unit from a column to a rival; only columns ``alive`` may grow."""
    whole = np.flatnonzero(compiled.integer)
    place = np.full(compiled.shape[1], -1)
    place[whole] = np.arange(len(whole))
    alone = np.flatnonzero(_of_whole_alone(compiled))
    rows = sparse.csr_array(compiled.by_rows[alone][:, whole])
    sets = [place[group] for group in rivals]
    sets += [rows.indices[rows.indptr[i] : rows.indptr[i + 1]] for i in range(rows.shape[0])]
    pairs = _pairs(sets, alive)
    grow, fall = np.flatnonzero(alive), np.arange(len(whole))
    singles = len(grow) + len(fall)
    row = np.concatenate([grow, fall, pairs[:, 0], pairs[:, 1]])
    own = np.arange(singles + len(pairs))
    column = np.concatenate([own[:singles], own[singles:], own[singles:]])
    value = np.concatenate(
        [np.ones(len(grow)), -np.ones(len(fall)), np.ones(len(pairs)), -np.ones(len(pairs))]
    )
    change = sparse.csc_array((value, (row, column)), shape=(len(whole), len(own)))
    member = np.concatenate([np.full(len(each), number) for number, each in enumerate(sets)])
    of = np.concatenate(sets)
    limits = sparse.csc_array((np.ones(len(of)), (member, of)), shape=(len(sets), len(whole)))
    return _Moves(change, rows, compiled.row_lower[alone], compiled.row_upper[alone], limits)


def _pairs(sets: Sequence[Ints], alive: Bools) -> Ints:
    """Ordered pairs (grows, falls) of different members of one set, each pair once."""
    found = []
    for members in sets:
        grow = members[alive[members]]
        pair = np.stack(np.meshgrid(grow, members, indexing="ij"), axis=-1).reshape(-1, 2)
        found.append(pair[pair[:, 0] != pair[:, 1]])
    if not found:
        return np.zeros((0, 2), dtype=np.int64)
    return np.unique(np.concatenate(found), axis=0)


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
        self.moves = _all_moves(compiled, alive, guess.rivals)
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
        self.x = np.zeros(0)
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
            mend = self._broken() > BROKEN and self.raises > 0 and self.solved < most_solves
            stuck = self.cost <= enough and self.solved > self.least_at + PATIENCE
            due = stuck or self.solved > self._mends_from() * most_solves
            outcome = None if mend and due else self._step(most_solves, time_left_s)
            if outcome is None and mend:
                outcome = self._dearer(time_left_s())
            if outcome is None or outcome.stopped_by:
                stopped_by = "" if outcome is None else outcome.stopped_by
                break
            self._arrive(outcome)
            self.taken += 1
            told(self.cost)
        if self.best is not None:
            return Moved(self.best, self.best_cost, self.solved, self.taken, stopped_by)
        return Moved(None, self.cost, self.solved, self.taken, stopped_by)

    def _mends_from(self) -> float:
        """Share of the solves after which a broken limit gets dearer even while moves save something."""
        return MEND_FROM + (1 - MEND_FROM) * (MOST_RAISES - self.raises) / (MOST_RAISES + 1)

    def _step(self, most_solves: int, time_left_s: Callable[[], float | None]) -> Outcome | None:
        """The first moves that save something, in the order of what the planes leave possible.

        Several at once while that works: moves for different limits seldom get in each other's way.
        """
        able = np.flatnonzero(self.moves.allowed(self.n, self.low, self.high))
        change = sparse.csc_array(self.moves.change[:, able])
        least = np.full(len(able), -np.inf)
        for plane in self.planes:
            least = np.maximum(least, self._least(plane, change))
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
                least = np.maximum(least, self._least(self.planes[-1], change))
            if len(chosen) == 1:
                least[chosen] = np.inf
        return None

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

    def _least(self, plane: tuple[float, Floats], change: sparse.csc_array) -> Floats:
        """Change of cost that each move has at least, by one plane."""
        constant, slope = plane
        here = constant + float(slope @ self.n) - self.cost
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
        self.cost, self.x = outcome.objective, outcome.x
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
