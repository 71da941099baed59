"""A second look before 'infeasible' or 'unbounded' is believed.

Presolve has called feasible models infeasible (https://github.com/ERGO-Code/HiGHS/issues/3090),
and 'infeasible or unbounded' has to be told apart before anyone can act on it.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fleetplan.solving.arrays import Compiled, Floats, Labels
from fleetplan.solving.highs import Outcome, Session
from fleetplan.solving.options import OptionValue, SolveOptions
from fleetplan.solving.status import Status

CROSSED = 1e-9
"""Relative distance by which a lower limit must exceed the upper one to be a contradiction."""


def crossed(compiled: Compiled) -> str:
    """The first row or column whose lower limit exceeds its upper one; empty if there is none."""
    for what, lower, upper, labels in (
        ("row", compiled.row_lower, compiled.row_upper, compiled.rows),
        ("column", compiled.col_lower, compiled.col_upper, compiled.columns),
    ):
        place = _first_crossed(lower, upper)
        if place is not None:
            return _crossing(what, lower, upper, labels, place)
    return ""


def _first_crossed(lower: Floats, upper: Floats) -> int | None:
    finite = np.isfinite(lower) & np.isfinite(upper)
    room = np.where(finite, CROSSED * np.maximum(1.0, np.abs(lower)), 0.0)
    places = np.flatnonzero(lower > upper + room)
    return int(places[0]) if len(places) else None


def _crossing(what: str, lower: Floats, upper: Floats, labels: Labels, place: int) -> str:
    return f"{what} {labels.name(place)} must be at least {lower[place]:g} and at most {upper[place]:g}"


def confirmed(
    compiled: Compiled, outcome: Outcome, options: SolveOptions, time_limit_s: float | None
) -> tuple[Outcome, str]:
    """What the model really is, and a note if the first word was wrong or could not be confirmed."""
    looks = _Looks(compiled, options, time_limit_s)
    if outcome.status is Status.INFEASIBLE:
        return looks.infeasible(outcome)
    return looks.unbounded(outcome)


class _Looks:
    """Further runs on one model, within one time limit."""

    def __init__(self, compiled: Compiled, options: SolveOptions, time_limit_s: float | None) -> None:
        self.compiled, self.options = compiled, options
        self.deadline = None if time_limit_s is None else time.perf_counter() + time_limit_s

    def run(self, compiled: Compiled, **extra: OptionValue) -> Outcome:
        gaps: dict[str, OptionValue] = {
            "mip_rel_gap": self.options.gap_rel,
            "mip_abs_gap": self.options.gap_abs,
        }
        asked = {**gaps, **self.options.asked_of_highs(), **extra}
        left = None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())
        session = Session(compiled, asked, threads=self.options.threads, seed=self.options.seed)
        return session.run(left, grace_s=self.options.grace_s)

    def infeasible(self, outcome: Outcome) -> tuple[Outcome, str]:
        """Without presolve: first without whole numbers, which is quick, then with."""
        again = self.run(self.compiled.relaxed(), presolve="off")
        if again.status is Status.INFEASIBLE:
            return outcome, ""
        if self.compiled.integer.any():
            again = self.run(self.compiled, presolve="off")
        if again.status is Status.INFEASIBLE:
            return outcome, ""
        if again.x is not None:
            return again, "presolve called the model infeasible, wrongly; it was solved without presolve"
        return replace(outcome, stopped_by=again.stopped_by), (
            "infeasible according to presolve; not confirmed without presolve: " + str(again.status)
        )

    def unbounded(self, outcome: Outcome) -> tuple[Outcome, str]:
        """A cost without lower bound means nothing unless some plan exists: solve without cost."""
        free = self.run(self._without_cost())
        if free.status is Status.INFEASIBLE:
            return self.infeasible(free)
        if free.x is None:
            return free, f"{outcome.status}; which of both was not found out"
        return self._bounded_after_all(outcome)

    def _bounded_after_all(self, outcome: Outcome) -> tuple[Outcome, str]:
        again = self.run(self.compiled, presolve="off")
        if again.status in (Status.OPTIMAL, Status.LIMIT):
            return again, "presolve called the model unbounded, wrongly; it was solved without presolve"
        return replace(outcome, status=Status.UNBOUNDED), ""

    def _without_cost(self) -> Compiled:
        return self.compiled.with_objective(np.zeros_like(self.compiled.cost))
