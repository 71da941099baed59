"""The way to a proven plan: bound from the relaxation, a restricted search, then the whole if need be.

1. *relaxation*: the linear model, by interior point without crossover when large; its row prices
   give a bound on the whole problem (:mod:`.bound`).
2. *guess* and *moves*, where the caller knows how to guess: whole numbers near the relaxed ones, made
   better by a few at a time (:mod:`.moves`). That takes seconds and mostly ends the solve.
3. *restricted*: a search among the whole numbers around the relaxed ones and the columns that are used
   or cheap. Its plan is a plan; its own bound is worth nothing for the whole problem, and only ends the
   search where it shows that no plan in reach is good enough. Then, as *ties*, with whole numbers that
   cost next to nothing more.
4. *search*: only where the gap to the bound is still too wide: a search over the whole problem, less
   what the bound proves cannot pay off, starting from the plan found.

Small problems go to step 4 at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from fleetplan.progress import SolveState
from fleetplan.solving.arrays import Compiled, Floats
from fleetplan.solving.bound import DualBound, dual_bound, implied_box
from fleetplan.solving.check import made_whole, scale_note, worst_violation
from fleetplan.solving.confirm import confirmed, crossed
from fleetplan.solving.highs import Outcome, Session
from fleetplan.solving.linear import run_relaxation
from fleetplan.solving.moves import Rounder, improve
from fleetplan.solving.options import OptionValue, SolveOptions
from fleetplan.solving.result import BoundSource, Result, require_plan
from fleetplan.solving.spent import Spent
from fleetplan.solving.status import Status
from fleetplan.solving.tighten import around, with_whole_limits, within_reach
from fleetplan.solving.warm import Start, run_from

__all__ = ["Listener", "Result", "require_plan", "solve"]

Made = TypeVar("Made")


class Listener(Protocol):
    """What may watch a solve; a :class:`fleetplan.progress.Progress` does."""

    def solving(self, state: SolveState) -> None:
        """The solver has news, or still works: called from the caller's thread about once a second."""


CHEAPEST = 3
"""Unused columns that stay in the restricted search, per row."""
RESTRICTED_GAP_SHARE = 0.1
"""The restricted search ends at this share of the gap asked for, unless the plan is good enough earlier."""
NEAR_GAPS = 4.0
"""Within so many times the gap asked for, the search over the whole problem takes over: reduced costs
then fix most of it, and its cuts raise the bound, which a restricted search cannot."""
NEAR_COLUMNS = 100_000
"""Above this size the root of a search over the whole problem takes many minutes: it comes last."""
MOST_MOVES = 600
"""Linear solves of moves from a guess; further ones gain little."""
TIE_SHARE = 1e-6
"""The second restricted search also buys what costs less than this share of the objective more."""
RESTRICTED_NODES = 20
"""Nodes of a restricted search: what the root and its heuristics do not find takes too long."""
PROOF_SLACK = 1e-9
"""Relative slack in comparing objective and bound: the accuracy of a linear solve."""


def solve(
    compiled: Compiled,
    options: SolveOptions | None = None,
    progress: Listener | None = None,
    *,
    start: Start | None = None,
    rounder: Rounder | None = None,
) -> Result:
    """Solve to the gap asked for, or as far as the limits let; ``start`` is where a neighbour ended.

    ``rounder`` knows the kind of model and guesses whole numbers.

    Never raises for how the solve ends (see :func:`.result.require_plan`); raises ``SolverError``
    for options that HiGHS refuses.
    """
    run = _Run(compiled, options or SolveOptions(), progress, start, rounder)
    try:
        run.go()
    except KeyboardInterrupt:  # between two runs of HiGHS, which notice it themselves
        run.stopped_by = "user"
    return run.result()


class _Run:
    """One solve: the clock, the best plan and the best bound so far."""

    def __init__(
        self,
        compiled: Compiled,
        options: SolveOptions,
        progress: Listener | None,
        start: Start | None,
        rounder: Rounder | None,
    ) -> None:
        self.given, self.options, self.progress, self.start = compiled, options, progress, start
        self.rounder = rounder
        self.asked = options.asked_of_highs()
        self.model = with_whole_limits(compiled)
        self.spent = Spent(self.options.time_limit_s)
        self.notes = [note for note in [scale_note(compiled)] if note]
        self.x: Floats | None = None
        self.objective: float | None = None
        self.bound: float = -np.inf
        self.bound_source: BoundSource = "none"
        self.relaxed: Outcome | None = None
        self.ended: Status | None = None
        self.stopped_by = ""

    # -- the way --------------------------------------------------------------------------------

    def go(self) -> None:
        """All phases, until proven or stopped."""
        broken = crossed(self.model)
        if broken:
            self.ended = Status.INFEASIBLE
            self.notes.append(broken)
            return
        self._relax()
        if self.ended is not None or not self.model.integer.any():
            return
        if self._restricts():
            if self.rounder is not None:
                self._try_guess(self.rounder)
            for phase, tie_share in (("restricted", 0.0), ("ties", TIE_SHARE)):
                if not (self.proven or self.stopped_by or self._nearly_proven()):
                    self._search_nearby(phase, tie_share)
        if not (self.proven or self.stopped_by):
            self._search()

    def _nearly_proven(self) -> bool:
        """So near that the search over the whole problem is the quicker one."""
        if self.objective is None or self.model.shape[1] > NEAR_COLUMNS:
            return False
        return self.objective - self.bound <= NEAR_GAPS * self.options.allowed_gap(self.objective)

    def _restricts(self) -> bool:
        if self.options.recipe == "auto":
            large = self.model.shape[1] > self.options.small_columns
        else:
            large = self.options.recipe == "restrict"
        return large and self.relaxed is not None and self.relaxed.x is not None

    def _relax(self) -> None:
        outcome = self.spent.on("relaxation", self._run_relaxation)
        linear = not self.model.integer.any()
        if outcome.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED, Status.UNBOUNDED):
            outcome = self._confirm(outcome)
            if self.ended is not None:
                return
        self._note(outcome)
        priced = len(outcome.row_dual) == self.model.shape[0]
        if priced and outcome.status in (Status.OPTIMAL, Status.ERROR):
            self.relaxed = outcome
            self._raise_bound_by_prices()
        if linear:
            self._keep(outcome.x)
            self.ended = None if self.x is not None else outcome.status
        elif outcome.status is Status.LIMIT:
            self.ended = Status.LIMIT_WITHOUT_PLAN
        elif outcome.stopped_by:
            self.ended = outcome.status

    def _run_relaxation(self) -> Outcome:
        self._report("relaxation", np.inf, -np.inf)
        if self.start is not None:
            left, listener = self.spent.left(), self._listener("relaxation")
            warm = run_from(self.start, self.model, self.options, left, listener)
            if warm is not None:
                return warm
        basis = not self.model.integer.any()
        return run_relaxation(
            self.model, self.options, self.spent.left(), basis=basis, listener=self._listener("relaxation")
        )

    def _try_guess(self, rounder: Rounder) -> None:
        """Whole numbers guessed from the relaxed plan, made better by small moves."""
        assert self.relaxed is not None
        assert self.relaxed.x is not None
        prices, x = self._prices(), self.relaxed.x
        guess = self.spent.on("guess", functools.partial(rounder, self.model, x, prices.price))
        if guess is None:
            return
        self._report("moves", np.inf, -np.inf)
        near = around(self.model, x, prices.reduced_cost, cheapest=CHEAPEST)
        moved = self.spent.on(
            "moves",
            lambda: improve(
                self.model, near, guess, prices.price, self.options,
                enough=self._target(), most_solves=MOST_MOVES, time_left_s=self.spent.left,
                told=lambda best: self._report("moves", best, -np.inf),
            ),
        )  # fmt: skip
        self.stopped_by = self.stopped_by or moved.stopped_by
        self._keep(moved.x)
        if self.x is not None:
            self._raise_bound_by_prices()

    def _search_nearby(self, phase: str, tie_share: float) -> None:
        """A restricted search; its plan counts, its bound only says whether going on is of use."""
        assert self.relaxed is not None
        assert self.relaxed.x is not None
        prices, target = self._prices(), self._target()
        tie = tie_share * abs(prices.value) if np.isfinite(prices.value) else 0.0
        near = around(self.model, self.relaxed.x, prices.reduced_cost, cheapest=CHEAPEST, tie=tie)
        gaps: dict[str, OptionValue] = {
            "mip_rel_gap": self.options.gap_rel * RESTRICTED_GAP_SHARE,
            "mip_max_nodes": RESTRICTED_NODES,
        }
        outcome = self.spent.on(
            phase,
            lambda: self._run_search(phase, near, gaps, lambda best, bound: best < np.inf and bound > target),
        )
        self._note(outcome)
        self._keep(outcome.x)
        if self.x is not None:
            self._raise_bound_by_prices()

    def _search(self) -> None:
        """The search over the whole problem, less what provably cannot pay off."""
        model = self.model
        if self.objective is not None and self.relaxed is not None:
            box = implied_box(self.model, self.objective)
            model = within_reach(self.model, self._prices(), box, self.objective)
        gaps: dict[str, OptionValue] = {"mip_rel_gap": self.options.gap_rel}
        if self.model.shape[1] <= self.options.small_columns:
            gaps["presolve"] = "off"  # HiGHS 1.16 has called a dearer plan optimal after its presolve
        outcome = self.spent.on("search", lambda: self._run_search("search", model, gaps))
        if outcome.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED, Status.UNBOUNDED):
            outcome = self._confirm(outcome) if self.x is None else outcome
        self._note(outcome)
        known = np.inf if self.objective is None else self.objective
        self._keep(outcome.x)
        self._raise_bound(min(known, outcome.search_bound), "search")
        if self.x is None and self.ended is None:
            self.ended = outcome.status

    def _run_search(
        self,
        phase: str,
        model: Compiled,
        gaps: dict[str, OptionValue],
        enough: Callable[[float, float], bool] | None = None,
    ) -> Outcome:
        self._report(phase, np.inf, -np.inf)
        asked = {
            "mip_abs_gap": self.options.gap_abs,
            "objective_target": self._target(),
            **gaps,
            **self.asked,
        }
        session = Session(model, asked, threads=self.options.threads, seed=self.options.seed)
        if self.x is not None:
            whole = np.flatnonzero(model.integer)
            session.start_from(whole, self.x[whole])
        return session.run(self.spent.left(), self._listener(phase), self.options.grace_s, enough)

    def _target(self) -> float:
        """An objective at or below this is proven good enough by the bound so far."""
        gap, bound = self.options.gap_rel, self.bound
        if not np.isfinite(bound) or gap >= 1:
            return -np.inf
        return max(bound + self.options.gap_abs, bound / (1 - gap) if bound > 0 else bound / (1 + gap))

    def _confirm(self, outcome: Outcome) -> Outcome:
        """Believe 'infeasible' and 'unbounded' only after a second look."""
        again, note = self.spent.on(
            "confirmation", lambda: confirmed(self.model, outcome, self.options, self.spent.left())
        )
        if note:
            self.notes.append(note)
        if again.status in (Status.INFEASIBLE, Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED):
            self.ended = again.status
        return again

    # -- what is known so far -------------------------------------------------------------------

    def _note(self, outcome: Outcome) -> None:
        self.stopped_by = self.stopped_by or outcome.stopped_by
        if outcome.note:
            self.notes.append(outcome.note)

    def _keep(self, x: Floats | None) -> None:
        """Keep a plan, made whole and checked, if it is better than the one we have."""
        if x is None:
            return
        whole = self.spent.on(
            "rounding",
            lambda: made_whole(self.given, x, threads=self.options.threads, seed=self.options.seed),
        )
        if whole is None:
            broken = worst_violation(self.given, x)
            self.notes.append(
                f"a plan was dropped: it is off by {broken.size:.2g} at {broken.where}, with no plan near it"
            )
        elif self.objective is None or whole.objective < self.objective:
            self.x, self.objective = whole.x, whole.objective

    def _prices(self) -> DualBound:
        assert self.relaxed is not None
        box = implied_box(self.model, np.inf if self.objective is None else self.objective)
        return dual_bound(self.model, self.relaxed.row_dual, box)

    def _raise_bound_by_prices(self) -> None:
        self._raise_bound(self.spent.on("bound", lambda: self._prices().value), "duals")

    def _raise_bound(self, bound: float, source: BoundSource) -> None:
        if bound > self.bound and np.isfinite(bound):
            self.bound, self.bound_source = bound, source

    @property
    def proven(self) -> bool:
        """Whether the plan is within the gap asked for."""
        if self.objective is None:
            return False
        slack = PROOF_SLACK * max(1.0, abs(self.objective))
        return self.objective - self.bound <= self.options.allowed_gap(self.objective) + slack

    # -- clock and news -------------------------------------------------------------------------

    def _listener(self, phase: str) -> Callable[[float, float], None]:
        return lambda best, bound: self._report(phase, best, bound)

    def _report(self, phase: str, best: float, search_bound: float) -> None:
        if self.progress is None:
            return
        best = min(best, np.inf if self.objective is None else self.objective)
        bound = max(self.bound, min(best, search_bound)) if phase == "search" else self.bound
        known = np.isfinite(best) and np.isfinite(bound)
        gap = max(0.0, best - bound) / max(abs(best), 1e-12) if known else None
        self.progress.solving(
            SolveState(
                phase=phase,
                best=float(best) if np.isfinite(best) else None,
                bound=float(bound) if np.isfinite(bound) else None,
                gap=gap,
                seconds=self.spent.seconds,
                gap_asked=self.options.gap_rel,
                seconds_left=self.spent.left(),
            )
        )

    def result(self) -> Result:
        """What came out."""
        relaxed = self.relaxed
        return Result(
            status=self._status(),
            x=self.x,
            objective=self.objective,
            bound=self.bound,
            bound_source=self.bound_source,
            row_dual=relaxed.row_dual if relaxed else None,
            col_dual=relaxed.col_dual if relaxed else None,
            relaxation_objective=relaxed.objective if relaxed else None,
            timings={**self.spent.by_phase, "total": self.spent.seconds},
            reproducible=not self.stopped_by,
            violation=worst_violation(self.given, self.x) if self.x is not None else None,
            notes=tuple(self.notes),
        )

    def _status(self) -> Status:
        if self.proven:
            return Status.OPTIMAL
        if self.ended is not None:
            return self.ended
        if self.stopped_by == "user":
            return Status.INTERRUPTED
        if self.x is None:
            return Status.LIMIT_WITHOUT_PLAN if self.stopped_by else Status.ERROR
        return Status.LIMIT
