"""Which assumed figures turn a decision within their interval.

Every open assumed figure that drives the plan is put at its low and at its high end (all quarters of
a price or demand together), and the relaxation is solved again: it is quick, and a decision that does
not move there by more than a lot is not turned. What turns is confirmed by a solve with whole lots.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError, LimitError, UsageError
from fleetplan.explain.case import Case, parts
from fleetplan.explain.clock import Clock, left_open
from fleetplan.explain.first_year import Move, first_year_orders, moves, say_moves
from fleetplan.explain.held import relaxed_from
from fleetplan.inputs.values import with_factor
from fleetplan.plan.words import money, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.figures import Figure
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.solving.arrays import Floats
    from fleetplan.solving.result import Result

SCALARS = (
    "finance.discount_rate",
    "finance.opex_musd_per_facility_mw_year",
    "finance.economic_life_years",
    "lifecycle.attrition_per_year",
    "lifecycle.spare_share",
    "lifecycle.maintenance_share",
)
"""Single figures that are tried; prices, speeds, demand and energy prices are tried by group."""


@dataclass(frozen=True)
class Assumption:
    """One assumed figure (or the same figure in all quarters) with its interval as factors."""

    path: str
    subject: str
    status: str
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Turn:
    """What one end of an assumption's interval does to the first year's orders and to the cost."""

    assumption: Assumption
    end: str
    """``low`` or ``high``."""
    factor: float
    moved: tuple[Move, ...]
    cost_musd: float
    """Change of the relaxed cost, M USD; ``inf`` where no plan is left."""
    confirmed: tuple[Move, ...] | None = None
    """The same with whole lots; ``None`` where it was not sought."""

    @property
    def turns(self) -> bool:
        """Whether an order of the first year moves by more than a lot."""
        return any(move.matters for move in (self.moved if self.confirmed is None else self.confirmed))

    def __str__(self) -> str:
        """Say it."""
        found = self.moved if self.confirmed is None else self.confirmed
        cost = (
            "no plan is left"
            if self.cost_musd == float("inf")
            else f"cost {money(self.cost_musd, sign=True)}"
        )
        said = (
            say_moves([move for move in found if move.matters]) if self.turns else "no order moves by a lot"
        )
        how = "" if self.confirmed is None else " (confirmed)"
        return (
            f"{self.assumption.subject} at its {self.end} end (x {number(self.factor)}): {said}{how}, {cost}"
        )


@dataclass(frozen=True)
class Assumptions:
    """Every end that was tried, what turns first, then by what it costs."""

    turns: tuple[Turn, ...]
    left: int = 0
    """Assumed figures that the clock left untried."""

    def lines(self) -> list[str]:
        """Say which assumptions turn a decision of the first year."""
        return [*self._said(), *left_open(self.left, "assumed figures untried")]

    def _said(self) -> list[str]:
        turning = [turn for turn in self.turns if turn.turns]
        tried = len({turn.assumption.path for turn in self.turns})
        if not turning:
            return [
                f"No assumed figure turns an order of the first year within its interval ({tried} tried)."
            ]
        named = len({turn.assumption.path for turn in turning})
        return [
            f"{named} of {tried} assumed figures turn an order of the first year:",
            *(f"  {t}" for t in turning),
        ]


def assumptions(
    case: Case,
    result: Result,
    confirm: int = 3,
    progress: Callable[[int, int, str], None] | None = None,
    clock: Clock | None = None,
) -> Assumptions:
    """Try both ends of every open assumed figure; confirm the ``confirm`` largest turns with whole lots.

    After the clock no more are tried, and turns that are not confirmed say so by their silence.
    """
    assert result.x is not None
    base = case.sweep.base
    before = first_year_orders(case, base.x)
    found: list[Turn] = []
    tried, left = _most_at_stake_first(case, result.x, candidates(case)), 0
    for done, assumption in enumerate(tried):
        if clock is not None and clock.over:
            left = len(tried) - done
            break
        if progress is not None:
            progress(done, len(tried), assumption.subject)
        for end, factor in (("low", assumption.low), ("high", assumption.high)):
            if factor != 1.0:
                found.append(_turn(case, assumption, end, factor, before, base.objective))
    ranked = sorted(found, key=lambda t: (not t.turns, -sum(abs(m.by) for m in t.moved), t.assumption.path))
    whole = first_year_orders(case, result.x)
    sure = [
        _confirmed(case, turn, whole, clock) if turn.turns and i < confirm else turn
        for i, turn in enumerate(ranked)
    ]
    return Assumptions(tuple(sorted(sure, key=lambda t: not t.turns)), left)


def candidates(case: Case) -> list[Assumption]:
    """Open figures that are assumed or derived, by group: prices, speeds, demand, energy, and single ones."""
    scenario = case.scenario
    found = []
    buyable = sorted({row.accelerator for row in scenario.supply if row.max_racks > row.committed_racks})
    for name in buyable:
        found += _group(scenario, f"supply[{name},", ".price_musd_per_rack", f"price of {name}")
        own = case.options[case.options["accelerator"] == name]
        if len(own):
            low, high = float(own["low_factor"].min()), float(own["high_factor"].max())
            if 0 < low < high:
                path = f"options[{name}].speed"
                found.append(
                    Assumption(path, f"speed of {name}", "derived", low, high, "the step model's band")
                )
    for name in sorted(scenario.workloads):
        found += _group(scenario, f"demand[{name},", ".samples_per_s", f"demand of {name}")
    for name in sorted(scenario.sites):
        path = f"sites[{name}].energy_price_usd_per_mwh"
        found += _group(scenario, path, "", f"energy price at {name}")
    for path in SCALARS:
        found += _group(scenario, path, "", path.partition(".")[2].replace("_", " "))
    return found


def _most_at_stake_first(case: Case, x: Floats, found: list[Assumption]) -> list[Assumption]:
    """In the order of what the width of each interval is worth, roughly: the clock may leave the last untried.

    For a price or a speed that is what is spent on the accelerator, for demand what it is worth to serve it.
    """
    at_stake: dict[str, float] = defaultdict(float)
    table = case.model.indices.deliveries.table
    price = dict(zip(table["accelerator"], table["price"], strict=True))
    for (_, name, _), lots in case.lots(x).items():
        at_stake[name] += lots * case.lot_racks(name) * float(price[name])
    dual = case.sweep.base.row_dual
    for key, row in case.compiled.rows.positions("demand").items():
        at_stake[parts(key)[0]] += abs(float(dual[row] * case.compiled.row_upper[row]))

    def stake(one: Assumption) -> float:
        return (one.high - one.low) * at_stake[one.subject.rpartition(" of ")[2]]

    return sorted(found, key=lambda one: (-stake(one), one.path))


def changed(case: Case, assumption: Assumption, factor: float) -> Case:
    """The case with an assumption multiplied in all its rows."""
    if assumption.path.startswith("options["):
        name = assumption.path[len("options[") :].partition("]")[0]
        options = case.options.copy()
        options.loc[options["accelerator"] == name, "net_samples_per_s_per_rack"] *= factor
        return case.with_inputs(case.scenario, options)
    return case.with_inputs(with_factor(case.scenario, assumption.path, factor))


def _group(scenario: Scenario, start: str, end: str, subject: str) -> list[Assumption]:
    """One assumption for all figures of a form; its factors are the mean of theirs."""
    figures = [f for path, f in scenario.figures.items() if path.startswith(start) and path.endswith(end)]
    open_ones = [f for f in figures if f.is_open and f.status in ("assumed", "derived") and _number(f)]
    if not open_ones:
        return []
    lows = [(f.low or 0.0) / float(f.value) for f in open_ones]  # type: ignore[arg-type]
    highs = [(f.high or 0.0) / float(f.value) for f in open_ones]  # type: ignore[arg-type]
    low, high = sum(lows) / len(lows), sum(highs) / len(highs)
    path = start if not end else f"{start}*]{end}"
    first = open_ones[0]
    return [Assumption(path, subject, first.status, low, high, first.source)] if low > 0 else []


def _number(figure: Figure) -> bool:
    return isinstance(figure.value, int | float) and not isinstance(figure.value, bool) and figure.value > 0


def _turn(
    case: Case, assumption: Assumption, end: str, factor: float, before: dict[str, float], cost: float
) -> Turn:
    try:
        other = changed(case, assumption, factor)
        solved = relaxed_from(case, other.compiled)
    except (InfeasibleError, UsageError):
        return Turn(assumption, end, factor, (), float("inf"))
    found = moves(case, before, first_year_orders(other, solved.x))
    return Turn(assumption, end, factor, tuple(found), solved.objective - cost)


def _confirmed(case: Case, turn: Turn, before: dict[str, float], clock: Clock | None) -> Turn:
    try:
        if clock is not None:
            clock.check()
        other = changed(case, turn.assumption, turn.factor)
        result = other.solve(clock=clock)
    except LimitError:
        return turn
    assert result.x is not None
    return replace(turn, confirmed=tuple(moves(case, before, first_year_orders(other, result.x))))
