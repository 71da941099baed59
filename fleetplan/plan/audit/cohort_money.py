"""What was paid for each cohort, so that values by age can be computed again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan import money
from fleetplan.periods import Quarter

if TYPE_CHECKING:
    from fleetplan.plan.audit.view import View

Cell = tuple[str, str, str]
"""Hall, accelerator, vintage."""


@dataclass(frozen=True)
class Price:
    """Price paid per rack, M USD, and book life in years."""

    musd: float
    life_years: float
    fresh: bool = False
    """Bought in the plan: the books hold the full price at the start of the period of entry."""


@dataclass(frozen=True)
class Range:
    """Least and most that a value can be where racks of one vintage were bought at several prices."""

    low: float
    high: float


class Prices:
    """Prices by hall, accelerator and vintage; racks that were moved keep what was paid elsewhere."""

    def __init__(self, view: View) -> None:
        self._paid: dict[Cell, set[Price]] = defaultdict(set)
        for cohort in view.scenario.fleet:
            cell = (cohort.hall, cohort.accelerator, str(cohort.commissioned))
            self._paid[cell].add(Price(cohort.purchase_price_musd_per_rack, cohort.book_life_years))
        for row in view.rows("orders"):
            life = view.scenario.accelerators[row.accelerator].book_life_years
            if life is not None and row.kind != "rental":
                cell = (row.hall, row.accelerator, row.service_quarter)
                self._paid[cell].add(Price(row.price_musd_per_rack, life, fresh=True))
        self._anywhere: dict[tuple[str, str], set[Price]] = defaultdict(set)
        for (_, accelerator, vintage), prices in self._paid.items():
            self._anywhere[accelerator, vintage] |= prices
        self._moves = view.scenario.rules.allow_moves

    def of(self, hall: str, accelerator: str, vintage: str) -> set[Price]:
        """Every price that racks of this cell may have been bought at."""
        own = self._paid.get((hall, accelerator, vintage), set())
        return own | self._anywhere.get((accelerator, vintage), set()) if self._moves or not own else own


def span(values: list[float]) -> Range:
    """Least and most of some values; 0 where there are none."""
    return Range(min(values, default=0.0), max(values, default=0.0))


def resale_share(view: View, accelerator: str, age_quarters: int) -> float:
    """Resale share of price by the accelerator's kind and age."""
    kind = money.resale_kind(view.scenario.accelerators[accelerator].vendor)
    return money.resale_share(age_quarters, view.scenario.finance.salvage_share_by_age_year.get(kind, ()))


def end_share(view: View, accelerator: str, age_quarters: int, price: Price) -> float:
    """Share of price that a rack alive at the horizon's end counts for."""
    finance = view.scenario.finance
    kind = money.resale_kind(view.scenario.accelerators[accelerator].vendor)
    return money.end_value_share(
        finance.end_value_rule,
        age_quarters,
        rate=finance.discount_rate,
        economic_life_years=finance.economic_life_years,
        book_life_years=price.life_years,
        resale_by_year=finance.salvage_share_by_age_year.get(kind, ()),
    )


def book_share_at(vintage: str, quarter: Quarter, life_years: float) -> float:
    """Straight-line share of price left at the start of a quarter."""
    return money.book_share(max(0, quarter - Quarter.parse(vintage)), life_years)
