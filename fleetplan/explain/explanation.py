"""All answers about one plan: what binds, why not, ties, assumptions, horizon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import UsageError
from fleetplan.explain.assumptions import Assumptions, assumptions
from fleetplan.explain.case import Case
from fleetplan.explain.horizon import HorizonEffect, horizon_effect
from fleetplan.explain.prices import Prices, prices
from fleetplan.explain.ties import Ties, ties
from fleetplan.explain.why_not import LEVERS, WhyNot, not_bought, why_not
from fleetplan.progress import Progress, Silent

if TYPE_CHECKING:
    from collections.abc import Collection

    from fleetplan.plan.plan import Plan
    from fleetplan.solving.result import Result

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

    def lines(self) -> list[str]:
        """All answers in words."""
        parts = [self.prices, self.ties, *self.why_not, self.assumptions, self.horizon]
        return [line for part in parts if part is not None for line in part.lines()]


def explain(
    plan: Plan,
    questions: Collection[str] = QUESTIONS,
    *,
    accelerators: Collection[str] = (),
    confirm: int = 10,
    progress: Progress | None = None,
) -> Explanation:
    """Answer questions about a plan by solving variants of it.

    ``questions`` are some of :data:`QUESTIONS`; ``accelerators`` limits ``why-not`` to some (all that
    could be bought and were not, if empty: then the entry price alone is sought); ``confirm`` is the number of prices that are confirmed by
    a re-run. Raises ``UsageError`` for an unknown question or accelerator.
    """
    _check(plan, questions, accelerators)
    watch = progress or Silent()
    case = Case.of_plan(plan)
    watch.start("solve again")
    result = case.solve()
    asked = frozenset(questions)
    return Explanation(
        prices=prices(case, result, confirm, _news(watch, "prices")) if "prices" in asked else None,
        ties=ties(case, result, progress=_news(watch, "ties")) if "ties" in asked else None,
        why_not=_reasons(case, result, accelerators, watch) if "why-not" in asked else (),
        assumptions=_tried(case, result, watch) if "assumptions" in asked else None,
        horizon=horizon_effect(case, result) if "horizon" in asked else None,
        cost_again_musd=result.objective,
    )


def _reasons(
    case: Case, result: Result, accelerators: Collection[str], watch: Progress
) -> tuple[WhyNot, ...]:
    names = sorted(accelerators) or not_bought(case, result)
    levers = LEVERS if accelerators else ("price",)
    return tuple(why_not(case, result, name, levers, _news(watch, "why not")) for name in names)


def _tried(case: Case, result: Result, watch: Progress) -> Assumptions:
    return assumptions(case, result, progress=_news(watch, "assumptions"))


class _news:  # noqa: N801 - reads as a verb where it is used
    """Hands news of a phase to the progress."""

    def __init__(self, watch: Progress, phase: str) -> None:
        self._watch, self._phase = watch, phase

    def __call__(self, done: int, total: int, note: str) -> None:
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
