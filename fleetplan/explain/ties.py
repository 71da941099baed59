"""Which decisions are forced and which are ties: the range of each order over plans within the gap.

A plan costs at most ``limit``; among all such plans each order (accelerator and delivery quarter,
over all halls) has a least and a most. The range is first taken in the relaxation: it can only be
wider than with whole lots, so an order whose relaxed range is one number is proven forced. Ends that
are asked for are then sought with whole lots.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import LimitError
from fleetplan.explain.case import parts
from fleetplan.explain.clock import Clock, left_open
from fleetplan.periods import Quarter
from fleetplan.plan.words import join, money, number
from fleetplan.solving.recipe import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.explain.case import Case
    from fleetplan.solving.arrays import Compiled, Floats
    from fleetplan.solving.result import Result

SAME = 1e-6
PRICE = 1.0
"""First price of a rack more or less, M USD."""
STEEPER = 8.0
NEAR = 0.01
"""Ends of a range are known to so many racks, and never too near."""
STEPS = 12


@dataclass(frozen=True)
class OrderRange:
    """One order over all plans that cost no more than the limit, in racks."""

    accelerator: str
    delivery: str
    racks: float
    """In this plan."""
    low: float
    high: float
    """No plan within the limit orders fewer or more than these."""
    whole_low: float | None = None
    whole_high: float | None = None
    """What plans with whole lots were found to order; ``None`` where it was not sought."""

    @property
    def forced(self) -> bool:
        """Whether every plan within the limit orders the same (in whole lots)."""
        low, high = self.found
        return high - low < 1 - SAME

    @property
    def found(self) -> tuple[float, float]:
        """The range with whole lots where it is known, else the relaxed one."""
        low = self.low if self.whole_low is None else self.whole_low
        return low, self.high if self.whole_high is None else self.whole_high

    def __str__(self) -> str:
        """Say it."""
        what = f"{self.accelerator} for {self.delivery}"
        if self.forced:
            return f"{what}: {number(self.racks)} racks, forced"
        low, high = self.found
        return f"{what}: {number(self.racks)} racks, {number(low)} to {number(high)} would do as well"


@dataclass(frozen=True)
class Ties:
    """Ranges of orders over all plans that cost at most ``limit_musd``."""

    limit_musd: float
    over_musd: float
    """How much more than this plan that is."""
    orders: tuple[OrderRange, ...]
    left: int = 0
    """Orders that the clock left without a range."""

    def lines(self) -> list[str]:
        """Say what is forced and what is a tie."""
        forced = [order for order in self.orders if order.forced]
        free = [order for order in self.orders if not order.forced]
        head = f"Among plans that cost at most {money(self.over_musd)} more:"
        named = join([f"{number(o.racks)} {o.accelerator} for {o.delivery}" for o in forced if o.racks > 0])
        lines = [head, f"  forced: {named or 'no order'}"]
        return [
            *lines,
            *(f"  tie: {order}" for order in sorted(free, key=lambda o: (o.delivery, o.accelerator))),
            *left_open(self.left, "orders whose range is not known"),
        ]


def ties(
    case: Case,
    result: Result,
    within_musd: float | None = None,
    quarters: int = 4,
    whole: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
    clock: Clock | None = None,
) -> Ties:
    """Range of each order delivered in the first ``quarters`` quarters; after the clock no more of them.

    ``within_musd`` is how much more a plan may cost (the proven gap if not given); ``whole`` is the
    number of widest ranges whose ends are sought with whole lots (two solves each).
    """
    assert result.x is not None
    assert result.objective is not None
    gap = result.gap_abs if np.isfinite(result.gap_abs) else case.settings.allowed_gap(result.objective)
    over = gap if within_musd is None else within_musd
    near = _within(case.compiled, result.objective + over)
    found: list[OrderRange] = []
    groups = _groups(case, quarters)
    ranges = _Ranges(case, result.objective + over, clock or Clock())
    for done, ((accelerator, delivery), weights) in enumerate(sorted(groups.items())):
        if progress is not None:
            progress(done, len(groups), f"{accelerator} for {delivery}")
        racks = float(weights @ result.x)
        try:
            low, high = ranges.of(accelerator, delivery, weights, racks)
        except LimitError:
            break
        found.append(OrderRange(accelerator, delivery, racks, min(low, racks), max(high, racks)))
    widest = sorted((o for o in found if not o.forced), key=lambda o: (o.low - o.high, o.accelerator))
    chosen = {(o.accelerator, o.delivery) for o in widest[:whole]}
    orders = [_sought(case, near, o, groups) if (o.accelerator, o.delivery) in chosen else o for o in found]
    return Ties(result.objective + over, over, tuple(orders), len(groups) - len(found))


class _Ranges:
    """Least and most of each order in the relaxation; no solve begins after the clock."""

    def __init__(self, case: Case, limit: float, clock: Clock) -> None:
        self._case, self._limit, self._clock = case, limit, clock
        self._offers = _offers(case)

    def of(self, accelerator: str, delivery: str, weights: Floats, racks: float) -> tuple[float, float]:
        """The range; raises ``LimitError`` where the clock ends first."""
        self._clock.check()
        least, most = self._offers.get((accelerator, delivery), (-np.inf, np.inf))
        if least == most:
            return racks, racks
        return max(least, self._least(weights)), min(most, -self._least(-weights))

    def _least(self, weights: Floats) -> float:
        """Least of a weighted sum over plans within the limit, from below.

        A limit on the cost makes a hard linear model. Instead the sum is given a price: the cost with it is
        the base's with a few costs changed, from whose basis a solve is quick, and for any price
        ``sum >= (least of cost + price x sum - limit) / price``. The best price is where the straight line
        between a plan within the limit and one beyond touches it.
        """
        compiled, base = self._case.compiled, self._case.sweep.base
        inside = (base.objective, float(weights @ base.x))
        beyond: tuple[float, float] | None = None
        price, least = PRICE, -np.inf
        for _ in range(STEPS):
            self._clock.check()
            cost = compiled.cost + price * weights
            solved = self._case.sweep.solve(compiled.with_objective(cost, compiled.offset))
            least = max(least, (solved.objective - self._limit) / price)
            total = float(weights @ solved.x)
            at = (solved.objective - price * total, total)
            inside, beyond = (at, beyond) if at[0] <= self._limit else (inside, at)
            if beyond is None:
                if total - least < NEAR:
                    break
                price *= STEEPER
                continue
            slope = (inside[1] - beyond[1]) / (beyond[0] - inside[0])
            if slope <= 0 or inside[1] - slope * (self._limit - inside[0]) - least < NEAR:
                break
            price = 1 / slope
        return least


def _within(compiled: Compiled, limit: float) -> Compiled:
    """The model with a row that holds the cost at or below a limit."""
    return compiled.with_row(("within", None), compiled.cost, -np.inf, limit - compiled.offset)


def _offers(case: Case) -> dict[tuple[str, str], tuple[float, float]]:
    """Racks in whole lots of each delivery that come in any case, and that can come at most."""
    table = case.model.indices.deliveries.table
    names = [str(Quarter.from_ordinal(int(quarter))) for quarter in table["delivery"].tolist()]
    least, most = (table[column] * table["lot"] for column in ("least_lots", "most_lots"))
    keys = zip(table["accelerator"].tolist(), names, strict=True)
    return dict(zip(keys, zip(least.tolist(), most.tolist(), strict=True), strict=True))


def _groups(case: Case, quarters: int) -> dict[tuple[str, str], Floats]:
    """Racks of each order as weights of columns, for deliveries in the first quarters."""
    until = case.scenario.horizon.start + quarters
    weights: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros(case.compiled.shape[1]))
    for key, position in case.compiled.columns.positions("lots").items():
        _, accelerator, delivery = parts(key)
        if Quarter.parse(delivery) < until:
            weights[accelerator, delivery][position] = case.lot_racks(accelerator)
    return dict(weights)


def _sought(
    case: Case, near: Compiled, order: OrderRange, groups: dict[tuple[str, str], Floats]
) -> OrderRange:
    """Least and most with whole lots, as far as a solve finds them."""
    weights = groups[order.accelerator, order.delivery]
    settings = replace(case.settings, gap_rel=0.0, gap_abs=0.5)
    ends = []
    for sign in (1.0, -1.0):
        result = solve(near.with_objective(sign * weights), settings)
        ends.append(order.racks if result.objective is None else sign * result.objective)
    return replace(order, whole_low=min(ends[0], order.racks), whole_high=max(ends[1], order.racks))
