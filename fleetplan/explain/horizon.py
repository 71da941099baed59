"""How the first year's orders move when the horizon grows by a year.

The year that is added repeats the last one: its power, demand, supply and prices, quarter by quarter.
A plan whose first year depends on where the horizon ends should not be acted on before the end value
is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.explain.first_year import Move, first_year_orders, moves, say_moves
from fleetplan.periods import QUARTERS_PER_YEAR, Horizon

if TYPE_CHECKING:
    from fleetplan.explain.case import Case
    from fleetplan.explain.clock import Clock
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.solving.result import Result


@dataclass(frozen=True)
class HorizonEffect:
    """First-year orders with the horizon as it is and a year longer."""

    end: str
    longer_end: str
    moved: tuple[Move, ...]

    @property
    def stable(self) -> bool:
        """Whether no first-year order moves by more than one lot."""
        return not any(move.matters for move in self.moved)

    def lines(self) -> list[str]:
        """Say it."""
        head = f"With the horizon to {self.longer_end} instead of {self.end}"
        if self.stable:
            return [f"{head}, no order of the first year moves by more than a lot."]
        return [f"{head}, the first year orders {say_moves([m for m in self.moved if m.matters])}."]


def horizon_effect(case: Case, result: Result, clock: Clock | None = None) -> HorizonEffect:
    """Solve with a year more and compare the first year's orders; ``LimitError`` if the clock ends first."""
    assert result.x is not None
    scenario = longer(case.scenario)
    other = case.with_inputs(scenario)
    again = other.solve(clock=clock)
    assert again.x is not None
    found = moves(case, first_year_orders(case, result.x), first_year_orders(other, again.x))
    ends = (case.scenario.horizon.end + -1, scenario.horizon.end + -1)
    return HorizonEffect(str(ends[0]), str(ends[1]), tuple(found))


def longer(scenario: Scenario) -> Scenario:
    """The scenario with a year more, in which the last year's rows are repeated a year later."""
    horizon = scenario.horizon
    length = min(horizon.lengths[-1], QUARTERS_PER_YEAR)
    more = (length,) * (QUARTERS_PER_YEAR // length)
    first = horizon.end + -QUARTERS_PER_YEAR
    added = QUARTERS_PER_YEAR

    def repeated(rows: tuple, field: str) -> tuple:  # type: ignore[type-arg]
        kept = {_key(row, field) for row in rows}
        last = [row for row in rows if first <= getattr(row, field) < horizon.end]
        later = [row.model_copy(update={field: getattr(row, field) + added}) for row in last]
        return (*rows, *(row for row in later if _key(row, field) not in kept))

    return scenario.model_copy(
        update={
            "horizon": Horizon(horizon.start, (*horizon.lengths, *more)),
            "power": repeated(scenario.power, "quarter"),
            "demand": repeated(scenario.demand, "quarter"),
            "supply": tuple(_uncommitted(row, horizon) for row in repeated(scenario.supply, "delivery")),
        }
    )


def _key(row: object, field: str) -> tuple[object, ...]:
    names = ("hall", "workload", "accelerator")
    return (*(getattr(row, name, None) for name in names), getattr(row, field))


def _uncommitted(row, horizon: Horizon):  # type: ignore[no-untyped-def]
    """Nothing is committed in the year that is added."""
    if row.delivery < horizon.end:
        return row
    return row.model_copy(update={"committed_racks": 0, "option_racks": 0})
