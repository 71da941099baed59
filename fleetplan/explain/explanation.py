"""All answers about one plan: what binds, why not, ties, assumptions, horizon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from fleetplan.errors import LimitError, UsageError
from fleetplan.explain.assumptions import Assumptions, assumptions
from fleetplan.explain.case import Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.entry import LEVERS
from fleetplan.explain.held import solved_again
from fleetplan.explain.horizon import HorizonEffect, horizon_effect
from fleetplan.explain.prices import Prices, prices
from fleetplan.explain.ties import Ties, ties
from fleetplan.explain.why_not import WhyNot, not_bought, why_not
from fleetplan.progress import Progress, Silent, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fleetplan.plan.plan import Plan
    from fleetplan.solving.result import Result

Answer = TypeVar("Answer")
QUESTIONS = ("prices", "ties", "why-not", "assumptions", "horizon")
"""What can be asked, quickest first."""


@dataclass(frozen=True)
class Explanation:
    """Answers to the questions that were asked; ``None`` (or empty) for the others."""

    prices: Prices | None = None
    ties: Ties | None = None
    why_not: tuple[WhyNot, ...] = ()
    assumptions: Assumptions | None = None
    horizon: HorizonEffect | None = None
    cost_again_musd: float | None = None
    """Cost of the plan that was solved again for the answers."""
    unanswered: tuple[str, ...] = ()
    """What the clock left without any answer."""

    def lines(self) -> list[str]:
        """All answers in words."""
        parts = [self.prices, self.ties, *self.why_not, self.assumptions, self.horizon]
        said = [line for part in parts if part is not None for line in part.lines()]
        return [*said, *(f"Not answered in the time given: {what}." for what in self.unanswered)]


def explain(
    plan: Plan,
    questions: Collection[str] = QUESTIONS,
    *,
    accelerators: Collection[str] = (),
    confirm: int = 10,
    time_s: float | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Answer questions about a plan by solving variants of it.

    ``questions`` are some of :data:`QUESTIONS`; ``accelerators`` limits ``why-not`` to some (all that
    could be bought and were not, if empty: then the entry price alone is sought); ``confirm`` is the
    number of prices that are confirmed by a re-run; after ``time_s`` on one question no further solve
    of it begins, and the answer says what is left open. Raises ``UsageError`` for an unknown question
    or accelerator.
    """
    _check(plan, questions, accelerators)
    watch = Stopwatch(progress or Silent())
    with watch.phase("again") as message:
        case = Case.of_plan(plan)
        result = solved_again(case, plan)
        message.append(f"plan {result.objective:,.1f} M USD")
    asked = _Asked(case, result, frozenset(questions), time_s, watch)
    return Explanation(
        prices=asked.answer("prices", lambda clock, news: prices(case, result, confirm, news, clock)),
        ties=asked.answer("ties", lambda clock, news: ties(case, result, progress=news, clock=clock)),
        why_not=asked.answer("why-not", lambda c, news: _reasons(case, result, accelerators, c, news)) or (),
        assumptions=asked.answer(
            "assumptions", lambda clock, news: assumptions(case, result, progress=news, clock=clock)
        ),
        horizon=asked.answer("horizon", lambda clock, _: horizon_effect(case, result, clock)),
        cost_again_musd=result.objective,
        unanswered=tuple(asked.unanswered),
    )


def _reasons(
    case: Case, result: Result, accelerators: Collection[str], clock: Clock, news: News
) -> tuple[WhyNot, ...]:
    names = sorted(accelerators) or not_bought(case, result)
    levers = LEVERS if accelerators else ("price",)
    return tuple(why_not(case, result, name, levers, news, clock) for name in names)


@dataclass
class _Asked:
    """The questions that were asked, each with a clock of its own."""

    case: Case
    result: Result
    questions: frozenset[str]
    time_s: float | None
    watch: Stopwatch
    unanswered: list[str] = field(default_factory=list)

    def answer(self, question: str, find: Callable[[Clock, News], Answer]) -> Answer | None:
        """The answer, or ``None`` where it was not asked or the time was too short for any."""
        if question not in self.questions:
            return None
        with self.watch.phase(question) as message:
            try:
                return find(Clock.of(self.time_s), News(self.watch.progress, question))
            except LimitError:
                self.unanswered.append(question)
                message.append("not answered in the time given")
                return None


class News:
    """Hands news of a phase to the progress."""

    def __init__(self, watch: Progress, phase: str) -> None:
        self._watch, self._phase = watch, phase

    def __call__(self, done: int, total: int, note: str) -> None:
        """Say how many pieces are done, of how many, and which is next."""
        self._watch.working(self._phase, done, total, note)


def _check(plan: Plan, questions: Collection[str], accelerators: Collection[str]) -> None:
    unknown = sorted(set(questions) - set(QUESTIONS))
    if unknown:
        message = f"unknown question {unknown[0]!r}; ask some of {', '.join(QUESTIONS)}"
        raise UsageError(message)
    strangers = sorted(set(accelerators) - set(plan.scenario.accelerators))
    if strangers:
        message = (
            f"unknown accelerator {strangers[0]!r}; the plan has {', '.join(plan.scenario.accelerators)}"
        )
        raise UsageError(message)
