"""Orders of the first year, and how they differ between two solved cases."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.explain.case import parts
from fleetplan.periods import Quarter
from fleetplan.plan.words import join, number

if TYPE_CHECKING:
    from fleetplan.explain.case import Case
    from fleetplan.solving.arrays import Floats


@dataclass(frozen=True)
class Move:
    """Racks of one accelerator ordered in the first year, before and after a change."""

    accelerator: str
    before: float
    after: float
    lot: float

    @property
    def by(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def matters(self) -> bool:
        """Whether it moves by more than one lot."""
        return abs(self.by) > self.lot + 1e-6


def first_year_orders(case: Case, x: Floats) -> dict[str, float]:
    """Racks by accelerator whose order must be placed in the first four quarters; fractions if relaxed.

    The last quarter in which an order can be placed is its delivery less the lead time.
    """
    until = (case.scenario.horizon.start + 4).ordinal
    lead = {(row.accelerator, str(row.delivery)): row.lead_time_quarters for row in case.scenario.supply}
    racks: dict[str, float] = defaultdict(float)
    for key, position in case.compiled.columns.positions("lots").items():
        _, accelerator, delivery = parts(key)
        ordered = Quarter.parse(delivery).ordinal - lead.get((accelerator, delivery), 0)
        if ordered < until:
            racks[accelerator] += float(x[position]) * case.lot_racks(accelerator)
    return dict(racks)


def moves(case: Case, before: dict[str, float], after: dict[str, float]) -> list[Move]:
    """Accelerators whose first-year orders differ, the largest move first."""
    found = [
        Move(name, before.get(name, 0.0), after.get(name, 0.0), float(case.lot_racks(name)))
        for name in sorted(before.keys() | after.keys())
    ]
    return sorted((m for m in found if abs(m.by) > 1e-6), key=lambda m: (-abs(m.by), m.accelerator))


def say_moves(found: list[Move]) -> str:
    """``12 racks more of mtia-400 and 8 fewer of gb300``."""
    parts = [
        f"{number(abs(round(m.by, 1)))} racks {'more' if m.by > 0 else 'fewer'} of {m.accelerator}"
        for m in found
    ]
    return join(parts) or "nothing"
