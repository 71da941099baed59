"""Why an accelerator was not bought: what is cheaper, and where it would enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fleetplan import money as rules
from fleetplan.errors import LimitError
from fleetplan.explain.case import WHOLE, Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.entry import FURTHEST, LEVERS, Entry, Lever, find_entry, times
from fleetplan.explain.first_lot import FirstLot, first_lot
from fleetplan.periods import HOURS_PER_YEAR
from fleetplan.plan.words import join, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.solving.result import Result

SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600


@dataclass(frozen=True)
class UnitCost:
    """What a billion samples of a workload cost on an accelerator, USD, at its first price."""

    accelerator: str
    workload: str
    usd_per_billion_samples: float


@dataclass(frozen=True)
class WhyNot:
    """Why one accelerator was not bought."""

    accelerator: str
    bought: float
    """Racks that the plan does buy beyond the commitments."""
    orderable: bool
    """Whether any new order of it can arrive within the horizon."""
    costs: tuple[UnitCost, ...]
    """For the workload on which it compares best: its cost first, then those that are cheaper."""
    entries: tuple[Entry, ...]
    left: tuple[Lever | Literal["first lot"], ...] = ()
    """What the clock left unanswered: levers, and the price of the first lot."""
    first_lot: FirstLot | None = None
    """Where one lot pays on top of this plan; ``None`` where it was not asked or the clock left it open."""

    def lines(self) -> list[str]:
        """Say why not, and when it would."""
        named = ["the price of its first lot" if x == "first lot" else f"its entry by {x}" for x in self.left]
        open_ = [f"  Not finished in the time given: {join(named)}."]
        return [*self._said(), *(open_ if self.left else ())]

    def _said(self) -> list[str]:
        name = self.accelerator
        if self.bought > WHOLE:
            return [f"{name} is bought: {number(self.bought)} racks beyond the commitments."]
        if not self.orderable:
            return [f"{name} cannot be bought: no new order or option of it can arrive within the horizon."]
        lines = [f"{name} is not bought."]
        if self.costs:
            own, *others = self.costs
            cheaper = [f"{c.accelerator} {number(c.usd_per_billion_samples)}" for c in others]
            rest = (
                f"; cheaper: {join(cheaper)}" if cheaper else "; nothing is cheaper there: it is not needed"
            )
            cost = f"{number(own.usd_per_billion_samples)} USD per billion samples"
            lines.append(f"  On {own.workload} it costs {cost}{rest}.")
        if self.entries and all(entry.enters is None for entry in self.entries):
            tried = join([entry.lever for entry in self.entries])
            far = f"{times(FURTHEST)} or {times(1 / FURTHEST)} today's"
            lines.append(f"  No change of {tried} alone brings it in, not even {far}.")
        else:
            lines += [f"  By {entry.lever}, {entry}." for entry in self.entries]
        return [*lines, f"  {self.first_lot}"] if self.first_lot else lines


def why_not(
    case: Case,
    result: Result,
    accelerator: str,
    levers: tuple[Lever, ...] = LEVERS,
    progress: Callable[[int, int, str], None] | None = None,
    clock: Clock | None = None,
) -> WhyNot:
    """Answer why an accelerator is not in a solved plan; each lever takes a handful of solves.

    Levers that the clock leaves unanswered are named.
    """
    assert result.x is not None
    bought = case.racks_bought(result.x)[accelerator]
    orderable = _orderable(case, accelerator)
    entries: list[Entry] = []
    left: list[Lever | Literal["first lot"]] = []
    for done, lever in enumerate(levers if bought <= WHOLE and orderable else ()):
        if progress is not None:
            progress(done, len(levers), f"{accelerator} by {lever}")
        try:
            entries.append(find_entry(case, accelerator, lever, clock))
        except LimitError:
            left.append(lever)
    first: FirstLot | None = None
    if "price" in levers and bought <= WHOLE and orderable:
        if progress is not None:
            progress(len(levers), len(levers) + 1, f"first lot of {accelerator}")
        try:
            first = first_lot(case, result, accelerator, clock or Clock())
        except LimitError:
            left.append("first lot")
    costs = tuple(compare_costs(case, accelerator))
    return WhyNot(accelerator, bought, orderable, costs, tuple(entries), tuple(left), first)


def not_bought(case: Case, result: Result) -> list[str]:
    """Accelerators that could be ordered and are not, by name."""
    assert result.x is not None
    bought = case.racks_bought(result.x)
    return [name for name in sorted(bought) if bought[name] <= WHOLE and _orderable(case, name)]


def compare_costs(case: Case, accelerator: str) -> list[UnitCost]:
    """Cost per billion samples on the workload where the accelerator compares best, and what is cheaper.

    Price as a level payment over the economic life less resale, first-year maintenance, operation
    and energy, over the work of a rack that is ready.
    """
    best: list[UnitCost] = []
    best_ratio = float("inf")
    for workload in sorted(case.scenario.workloads):
        costs = {
            name: cost
            for name in sorted(case.scenario.accelerators)
            if (cost := unit_cost(case, name, workload)) is not None
        }
        if accelerator not in costs:
            continue
        ratio = costs[accelerator] / min(costs.values())
        if ratio < best_ratio:
            own = costs.pop(accelerator)
            cheaper = sorted((c, name) for name, c in costs.items() if c < own)
            best = [UnitCost(accelerator, workload, own), *(UnitCost(n, workload, c) for c, n in cheaper[:3])]
            best_ratio = ratio
    return best


def unit_cost(case: Case, accelerator: str, workload: str) -> float | None:
    """USD per billion samples; ``None`` where it cannot be bought or cannot train the workload."""
    scenario, finance = case.scenario, case.scenario.finance
    table = case.model.indices.deliveries.table
    offers = table[(table["accelerator"] == accelerator) & (table["most_lots"] > table["least_lots"])]
    usable = case.model.indices.choices.options
    own = usable[(usable["accelerator"] == accelerator) & (usable["workload"] == workload)]
    if offers.empty or own.empty:
        return None
    row = own.iloc[int(own["rate"].to_numpy().argmax())]
    price = float(offers["price"].iloc[0])
    resale = finance.salvage_share_by_age_year.get(
        rules.resale_kind(scenario.accelerators[accelerator].vendor), ()
    )
    left = rules.resale_share(finance.economic_life_years * 4, resale)
    yearly = price * (
        rules.annuity_share(finance.discount_rate, finance.economic_life_years, left)
        + rules.maintenance_share(0, finance.maintenance_share_per_year)
    )
    mw = float(row["average_kw"]) / 1000
    mean_price = sum(s.energy_price_usd_per_mwh for s in scenario.sites.values()) / len(scenario.sites)
    yearly += mw * (finance.opex_musd_per_facility_mw_year + HOURS_PER_YEAR * mean_price / 1e6)
    rate = float(row["rate"]) * case.model.indices.choices.scale[workload]
    return yearly * 1e6 / (rate * SECONDS_PER_YEAR / 1e9)


def _orderable(case: Case, accelerator: str) -> bool:
    table = case.model.indices.deliveries.table
    own = table[table["accelerator"] == accelerator]
    return bool((own["most_lots"] > own["least_lots"]).any())
