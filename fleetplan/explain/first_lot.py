"""From which price on one whole lot more of an accelerator pays, with the plan's other orders as they are.

All whole lots of the plan are held, one more is added in one hall and quarter, and all that is no whole lot
(retirements, caps, moves, assignment, rentals) is decided anew: a linear model, solved exactly. A search ends
within its gap, which is more than a lot saves just below its entry; here a tie and a gain are told apart.

Which lot is best: a whole lot costs at least what the first part of it costs, since the cost of a linear model
bends upwards in what is held. So where the first part of a lot does not pay, neither does the lot: that no lot
pays is proven by solving those only whose first part does.

The cost with and without a lot is a line in the price as long as the same columns are used, so that the entry
is found by Newton's method, in a few solves; a hundredth on either side is then solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import InfeasibleError
from fleetplan.explain.case import SIMPLEX, parts
from fleetplan.explain.entry import CLOSE, FURTHEST, priced, today
from fleetplan.plan.words import money, number
from fleetplan.solving.linear import relaxation, resolve_lp

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.explain.case import Case
    from fleetplan.explain.clock import Clock
    from fleetplan.solving.arrays import Compiled
    from fleetplan.solving.linear import LinearSolution
    from fleetplan.solving.result import Result

NEAR = 5e-4
"""The entry is known when the next step is shorter than this share of it."""
STEPS = 20


@dataclass(frozen=True)
class FirstLot:
    """Where the first lot of an accelerator pays, on top of a plan whose other orders stay."""

    factor: float | None
    """Share of today's price in all quarters; ``None`` where no price makes a lot pay."""
    today_musd: float
    """Price of the earliest offer, M USD per rack."""
    racks: int
    """Racks of a lot."""
    hall: str = ""
    delivery: str = ""
    """Where and when the lot that pays first is delivered."""
    saves_musd: float = 0.0
    """What that lot saves a hundredth below the entry."""
    costs_musd: float = 0.0
    """What it costs more than none a hundredth above the entry."""
    confirmed: bool = False
    """Whether it saves a hundredth below, and no lot at all does a hundredth above."""

    def __str__(self) -> str:
        """Say it."""
        more = "With this plan's other orders as they are, "
        if self.factor is None:
            return f"{more}no price makes a lot of it pay, not even 1/{FURTHEST:g} of today's."
        where = f"one lot more ({number(self.racks)} racks to {self.hall} in {self.delivery})"
        at = f"pays from {self.today_musd * self.factor:.4g} M USD a rack on, {self.factor:.1%} of today's"
        sides = f"a hundredth below that it saves {money(self.saves_musd)}"
        above = f"a hundredth above it costs {money(self.costs_musd)} and no other lot pays"
        return f"{more}{where} {at} ({sides}, {above}{'' if self.confirmed else '; not confirmed'})."


def first_lot(case: Case, result: Result, accelerator: str, clock: Clock) -> FirstLot | None:
    """Find where one lot more pays; ``None`` where the price is in a limit too, so that more changes with it.

    Raises ``LimitError`` where the clock ends first.
    """
    clock.check()
    at = priced(case, accelerator)
    if at is None:
        return None
    base, _ = today(case.scenario, accelerator, "price")
    racks = case.lot_racks(accelerator)
    lots = _Lots(case, result, accelerator, at, clock)
    found = lots.first()
    if found is None:
        return FirstLot(None, base, racks)
    factor, lot = found
    for _ in range(STEPS):
        other = lots.one_that_pays(factor * CLOSE)
        better = None if other is None else lots.entry(factor * CLOSE, other)
        if better is None:
            break
        factor, lot = better
    hall, _, delivery = lots.columns[lot]
    below, above = lots.cost(factor / CLOSE, lot), lots.cost(factor * CLOSE, lot)
    sure = below < 0 < above and other is None
    return FirstLot(factor, base, racks, hall, delivery, -below, above, sure)


class _Lots:
    """The plan with one lot more of an accelerator, at any price of it."""

    def __init__(
        self, case: Case, result: Result, accelerator: str, at: Callable[[float], Case], clock: Clock
    ) -> None:
        assert result.x is not None
        compiled = case.compiled
        whole = np.flatnonzero(compiled.integer)
        self._at, self._clock = at, clock
        self._held = compiled.fixed(whole, np.round(result.x[whole])).relaxed()
        self._slope = at(2.0).compiled.cost - at(1.0).compiled.cost
        self.columns = {
            position: parts(key)
            for key, position in compiled.columns.positions("lots").items()
            if parts(key)[1] == accelerator and round(result.x[position]) < compiled.col_upper[position]
        }
        settings = clock.limit(case.settings)
        simplex = replace(settings, highs={**settings.highs, **SIMPLEX})
        self._last = (self._held, relaxation(self._held, simplex, basis=True))
        self._without = lru_cache(maxsize=4)(self._solve_without)

    def first(self) -> tuple[float, int] | None:
        """The entry of the lot that seems to pay first, seen from today's price, and its column.

        ``None`` is a proof that no lot pays, not even where the price is next to nothing.
        """
        seen = self._costs(1.0, list(self.columns))
        _, lot = max(((root, lot) for _, root, lot in seen), default=(0.0, None))
        found = None if lot is None else self.entry(1.0, lot)
        if found is None and (lot := self.one_that_pays(1 / FURTHEST)) is not None:
            return self.entry(1 / FURTHEST, lot)
        return found

    def entry(self, factor: float, lot: int) -> tuple[float, int] | None:
        """The factor at which a lot costs as much as none, with its column; ``None`` where none is found."""
        pays, dear = 0.0, math.inf
        for _ in range(STEPS):
            costs, root, _ = self._costs(factor, [lot])[0]
            pays, dear = (max(pays, factor), dear) if costs <= 0 else (pays, min(dear, factor))
            if abs(root - factor) <= NEAR * factor:
                return factor, lot
            factor = root
            if not pays < factor < dear:
                factor = 2 * pays if dear == math.inf else math.sqrt(max(pays, 0.25 / FURTHEST) * dear)
            if factor < 1 / FURTHEST:
                return None
        return factor, lot

    def cost(self, factor: float, lot: int) -> float:
        """What one lot costs more than none."""
        return self._with(factor, lot).objective - self._without(factor)[1].objective

    def one_that_pays(self, factor: float) -> int | None:
        """The lot that seems to pay first of those that cost no more than none; ``None`` proves there is none."""
        prices = self._without(factor)[1].col_dual
        seen = self._costs(factor, [lot for lot in self.columns if prices[lot] <= 0])
        return max(((root, lot) for costs, root, lot in seen if costs <= 0), default=(0.0, None))[1]

    def _costs(self, factor: float, lots: list[int]) -> list[tuple[float, float, int]]:
        """What each lot that can come costs, where it would pay if that were a line in the price, its column."""
        found = []
        none = self._without(factor)[1]
        for lot in lots:
            try:
                one = self._with(factor, lot)
            except InfeasibleError:  # the quarter's supply is taken, or the hall is full
                continue
            costs, rise = one.objective - none.objective, float(self._slope @ (one.x - none.x))
            found.append((costs, factor - costs / rise if rise > 0 else -math.inf, lot))
        return found

    def _with(self, factor: float, lot: int) -> LinearSolution:
        self._clock.check()
        base, none = self._without(factor)
        lots = base.col_lower[lot] + 1.0
        return resolve_lp(base, none, base.with_bounds([lot], lower=[lots], upper=[lots]))

    def _solve_without(self, factor: float) -> tuple[Compiled, LinearSolution]:
        """The plan as it is at a price; from where the last price ended."""
        self._clock.check()
        at = self._at(factor).compiled
        base = self._held.with_objective(at.cost, at.offset)
        self._last = (base, resolve_lp(*self._last, base))
        return self._last
