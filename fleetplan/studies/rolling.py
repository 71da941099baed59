"""The plan re-made every quarter while the world follows a scenario: what not knowing costs.

At step ``k`` planners know what has happened up to quarter ``k`` (and a look-ahead), and believe the
base scenario for the rest. Orders whose last quarter lies before ``k`` are frozen as they were placed.
An order names its hall. The last step follows the actual scenario with all those orders frozen. Caps,
assignment and retirement of quarters gone by are optimised anew with what is known later, so the cost of
myopia is that of orders and their halls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError, UsageError
from fleetplan.periods import Quarter
from fleetplan.progress import Silent
from fleetplan.studies.measures import measures
from fleetplan.studies.run import changed

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress
    from fleetplan.studies.cases import Case
    from fleetplan.studies.workshop import Workshop

_QUARTER = re.compile(r"\d{4}Q[1-4]")


@dataclass(frozen=True)
class Step:
    """One planning round: ``churn_racks`` are racks ordered otherwise than in the round before."""

    quarter: str
    known: int
    cost_musd: float
    churn_racks: float
    ordered_racks: float
    """Racks whose order falls due in this quarter."""


@dataclass(frozen=True)
class Rolling:
    """The rounds, what came of them, and the plan of someone who had known."""

    case: Case
    steps: tuple[Step, ...]
    realised: Plan | None
    foresight: Plan
    stopped: str = ""
    """Why no plan was possible in the end, if so."""

    @property
    def myopia_musd(self) -> float:
        """What not knowing cost: realised less foreseen, M USD present value; infinite without a plan."""
        if self.realised is None:
            return float("inf")
        return max(0.0, self.realised.cost_musd - self.foresight.cost_musd)

    @property
    def service_level(self) -> float:
        """Share of the work asked for that was trained; 0 without a plan."""
        return 0.0 if self.realised is None else measures(self.realised)["served_share"]

    def frame(self) -> pd.DataFrame:
        """One row per round."""
        import pandas as pd

        return pd.DataFrame([vars(step) for step in self.steps])

    def lines(self) -> list[str]:
        """The story in a few sentences."""
        churn = sum(step.churn_racks for step in self.steps)
        if self.realised is None:
            return [f"After {len(self.steps)} rounds no plan is possible: {self.stopped}"]
        return [
            f"{len(self.steps)} rounds; realised {self.realised.cost_musd:,.1f} M USD, "
            f"foreseen {self.foresight.cost_musd:,.1f}: not knowing cost {self.myopia_musd:,.1f} M USD.",
            f"{churn:,.0f} racks were re-planned over all rounds; {self.service_level:.2%} of the work is served.",
        ]


def rolling(
    workshop: Workshop,
    actual: Case,
    *,
    rounds: int | None = None,
    look_ahead: int = 0,
    reveal: int = 1,
    progress: Progress | None = None,
) -> Rolling:
    """Plan every quarter, with orders frozen once placed, while ``actual`` comes true.

    A value whose path names a quarter is known ``look_ahead`` quarters before it; one without a
    quarter is known from round ``reveal`` on. ``rounds`` defaults to one per quarter of the horizon.
    Raises ``UsageError`` for rounds outside the horizon and as a solve does in the first round.
    """
    quarters = sum(workshop.base.horizon.lengths)
    rounds = quarters if rounds is None else rounds
    if not 1 <= rounds <= quarters or look_ahead < 0 or reveal < 0:
        message = f"rounds must be 1 to {quarters}, look-ahead and reveal 0 or more"
        raise UsageError(message)
    workshop.warmed()
    progress = progress or Silent()
    world = changed(workshop.base, actual)
    foresight = workshop.plan(world)
    steps: list[Step] = []
    orders: pd.DataFrame | None = None
    for k in range(rounds):
        view, known = _view(workshop.base, actual, k, look_ahead, reveal)
        try:
            plan = workshop.plan(_frozen(view, k), previous=orders)
        except InfeasibleError as error:
            return Rolling(actual, tuple(steps), None, foresight, str(error))
        steps.append(_step(plan, orders, workshop.base.horizon.start + k, known))
        orders = plan.orders
        progress.working("rounds", k + 1, rounds, f"cost {plan.cost_musd:,.1f}")
    try:
        realised = workshop.plan(_frozen(world, rounds), previous=orders)
    except InfeasibleError as error:
        return Rolling(actual, tuple(steps), None, foresight, str(error))
    return Rolling(actual, tuple(steps), realised, foresight)


def _view(base: Scenario, actual: Case, k: int, look_ahead: int, reveal: int) -> tuple[Scenario, int]:
    """What planners believe in round ``k``, and how many of the changes they know."""
    from dataclasses import replace

    now = base.horizon.start + k + look_ahead
    known = {
        path: value
        for path, value in actual.values.items()  # noqa: PD011 - a mapping
        if (k >= reveal if (q := _quarter_of(path)) is None else q <= now)
    }
    return changed(base, replace(actual, values=known)), len(known)


def _quarter_of(path: str) -> Quarter | None:
    found = _QUARTER.search(path)
    return None if found is None else Quarter.parse(found.group())


def _frozen(scenario: Scenario, quarters: int) -> Scenario:
    rules = scenario.rules.model_copy(update={"frozen_quarters": quarters, "previous_plan": None})
    return scenario.model_copy(update={"rules": rules})


def _step(plan: Plan, before: pd.DataFrame | None, quarter: Quarter, known: int) -> Step:
    due = plan.orders[(plan.orders["order_quarter"] == str(quarter)) & (plan.orders["kind"] != "committed")]
    churn = 0.0 if before is None else _churn(before, plan.orders)
    return Step(str(quarter), known, plan.cost_musd, churn, float(due["racks"].sum()))


def _churn(before: pd.DataFrame, after: pd.DataFrame) -> float:
    """Racks ordered for another hall or delivery than before; a moved rack counts once."""
    on = ["accelerator", "hall", "delivery_quarter"]
    sums = [frame[frame["kind"] != "rental"].groupby(on)["racks"].sum() for frame in (before, after)]
    return float(sums[0].sub(sums[1], fill_value=0.0).abs().sum()) / 2
