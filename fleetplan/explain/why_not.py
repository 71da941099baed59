"""Why an accelerator was not bought, and at what price, speed or power it would be.

Entry is found by solving again with one thing changed for the accelerator in all quarters, and
halving the interval until its ends are within a hundredth of each other; both ends are real solves
with whole lots. The relaxation, which is quick, says where to look first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fleetplan import money as rules
from fleetplan.explain.case import WHOLE, Case, parts
from fleetplan.inputs.values import with_factor
from fleetplan.periods import HOURS_PER_YEAR
from fleetplan.plan.evidence import price_figure
from fleetplan.plan.words import join, number
from fleetplan.solving.linear import relaxation

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.solving.result import Result

Lever = Literal["price", "speed", "power"]
LEVERS: tuple[Lever, ...] = ("price", "speed", "power")
CLOSE = 1.01
"""The two ends of an entry are within this ratio."""
FURTHEST = 64.0
"""No entry is looked for beyond this factor."""
GAP = 1e-4
"""Proven gap of the solves that look for an entry: a tie would hide it."""
SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600


@dataclass(frozen=True)
class Trial:
    """One solve: the factor on the input, and the racks bought beyond the commitments."""

    factor: float
    racks: float


@dataclass(frozen=True)
class Entry:
    """Where an accelerator enters by one lever; the factor multiplies the input as it stands."""

    lever: Lever
    enters: Trial | None
    """The nearest solve in which it is bought; ``None`` where none was found."""
    stays_out: Trial
    """The nearest solve in which it is not."""
    unit: str
    today: float
    """The input as it stands: M USD per rack, 1 for speed, facility kW per rack."""
    reached: bool | None
    """Whether the stated interval of the input reaches the entry; ``None`` without an interval."""

    def __str__(self) -> str:
        """Say where it enters."""
        if self.enters is None:
            return f"no {self.lever} brings it in, not even {_times(self.stays_out.factor)} today's"
        value, out = self.today * self.enters.factor, self.today * self.stays_out.factor
        reach = {True: "; its range reaches that", False: "; its range does not reach that", None: ""}
        racks = number(self.enters.racks)
        return (
            f"it enters at {_said(self.lever, value, self.unit)} (confirmed: {racks} racks; "
            f"at {_said(self.lever, out, self.unit)} none){reach[self.reached]}"
        )


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

    def lines(self) -> list[str]:
        """Say why not, and when it would."""
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
            far = f"{_times(FURTHEST)} or {_times(1 / FURTHEST)} today's"
            return [*lines, f"  No change of {tried} alone brings it in, not even {far}."]
        return [*lines, *(f"  By {entry.lever}, {entry}." for entry in self.entries)]


def why_not(
    case: Case,
    result: Result,
    accelerator: str,
    levers: tuple[Lever, ...] = LEVERS,
    progress: Callable[[int, int, str], None] | None = None,
) -> WhyNot:
    """Answer why an accelerator is not in a solved plan; each lever takes a handful of solves."""
    assert result.x is not None
    bought = case.racks_bought(result.x)[accelerator]
    orderable = _orderable(case, accelerator)
    entries = []
    if bought <= WHOLE and orderable:
        for done, lever in enumerate(levers):
            if progress is not None:
                progress(done, len(levers), f"{accelerator} by {lever}")
            entries.append(find_entry(case, accelerator, lever))
    return WhyNot(accelerator, bought, orderable, tuple(compare_costs(case, accelerator)), tuple(entries))


def not_bought(case: Case, result: Result) -> list[str]:
    """Accelerators that could be ordered and are not, by name."""
    assert result.x is not None
    bought = case.racks_bought(result.x)
    return [name for name in sorted(bought) if bought[name] <= WHOLE and _orderable(case, name)]


def find_entry(case: Case, accelerator: str, lever: Lever) -> Entry:
    """Find the factor on one input at which an accelerator is first bought."""
    search = _Search(case, accelerator, lever)
    enters, out = search.bracket()
    while enters is not None and _ratio(enters.factor, out.factor) > CLOSE:
        middle = search.trial((enters.factor * out.factor) ** 0.5)
        if middle.racks > WHOLE:
            enters = middle
        else:
            out = middle
    today, unit = _today(case.scenario, accelerator, lever)
    return Entry(lever, enters, out, unit, today, _reached(case, accelerator, lever, enters))


def changed(case: Case, accelerator: str, lever: Lever, factor: float) -> Case:
    """The case with one accelerator's price, speed or power multiplied in all quarters."""
    scenario, options = case.scenario, case.options
    own = options["accelerator"] == accelerator
    if lever == "price":
        return case.with_inputs(with_factor(scenario, f"supply[{accelerator},*].price_musd_per_rack", factor))
    if lever == "speed":
        columns = ["net_samples_per_s_per_rack"]
    else:
        columns = ["provisioned_facility_kw_per_rack", "average_facility_kw_per_rack"]
        for field in ("facility_fixed_w_per_device", "facility_slope_w_per_cap_w"):
            scenario = with_factor(scenario, f"accelerators[{accelerator}].{field}", factor)
    options = options.copy()
    options.loc[own, columns] *= factor
    return case.with_inputs(scenario, options)


class _Search:
    """Solves at factors on one input, each at most once."""

    def __init__(self, case: Case, accelerator: str, lever: Lever) -> None:
        self.case, self.accelerator, self.lever = case, accelerator, lever
        self.better = 2.0 if lever == "speed" else 0.5
        """Direction in which the accelerator gets more attractive."""
        self._at = _priced(case, accelerator) if lever == "price" else None
        self._trials: dict[float, Trial] = {}

    def at(self, factor: float) -> Case:
        """The case at a factor; prices only change costs, so that one model serves for all of them."""
        if self._at is not None:
            return self._at(factor)
        return changed(self.case, self.accelerator, self.lever, factor)

    def trial(self, factor: float) -> Trial:
        """Solve with whole lots."""
        if factor not in self._trials:
            case = self.at(factor)
            result = case.solve(min(GAP, case.settings.gap_rel))
            assert result.x is not None
            self._trials[factor] = Trial(factor, case.racks_bought(result.x)[self.accelerator])
        return self._trials[factor]

    def bracket(self) -> tuple[Trial | None, Trial]:
        """A factor at which it enters (``None`` if there is none) and one at which it does not.

        They are first sought close to each other, around the entry of the relaxation.
        """
        step = CLOSE**0.5 if self.lever == "speed" else CLOSE**-0.5
        near = self._relaxed_entry()
        if near is None:
            return None, self.trial(self.better ** round(math.log2(FURTHEST)))
        enters, out = self.trial(near), None
        factor = near
        while enters.racks <= WHOLE and _ratio(factor, 1.0) <= FURTHEST:
            out, factor, step = enters, factor * step, step * step
            enters = self.trial(factor)
        if enters.racks <= WHOLE:
            return None, enters
        factor, step = near, step if out is None else 1.0
        while out is None:
            factor, step = factor / step, step * step
            trial = self.trial(factor)
            if trial.racks <= WHOLE:
                out = trial
            elif (factor < 1.0) == (self.lever == "speed"):
                return Trial(1.0, trial.racks), Trial(1.0, 0.0)  # bought as it stands: a tie within the gap
            else:
                enters = trial
        return enters, out

    def _relaxed_entry(self) -> float | None:
        """Where the relaxation buys it, to within the closeness; ``None`` where it never does."""
        far = self.better
        while not self._relaxation_buys(far):
            if _ratio(far, 1.0) >= FURTHEST:
                return None
            far *= self.better
        near = far / self.better
        while _ratio(far, near) > CLOSE**0.5:
            middle = (far * near) ** 0.5
            far, near = (middle, near) if self._relaxation_buys(middle) else (far, middle)
        return far

    def _relaxation_buys(self, factor: float) -> bool:
        case = self.at(factor)
        x = relaxation(case.compiled, case.settings).x
        positions = case.compiled.columns.positions("lots")
        lots = sum(float(x[at]) for key, at in positions.items() if parts(key)[1] == self.accelerator)
        table = case.model.indices.deliveries.table
        least = float(table.loc[table["accelerator"] == self.accelerator, "least_lots"].sum())
        return lots - least > WHOLE / case.lot_racks(self.accelerator)


def _priced(case: Case, accelerator: str) -> Callable[[float], Case] | None:
    """The case at any price factor from two models: all costs are straight lines in the price.

    ``None`` where the price is in a limit too (a budget), so that the matrix changes with it.
    """
    one, two = case.compiled, changed(case, accelerator, "price", 2.0).compiled
    same = (
        one.shape == two.shape
        and np.array_equal(one.value, two.value)
        and np.array_equal(one.index, two.index)
    )
    if not same or not np.array_equal(one.row_upper, two.row_upper):
        return None
    slope, offset = two.cost - one.cost, two.offset - one.offset

    def at(factor: float) -> Case:
        cost = one.cost + (factor - 1) * slope
        return case.with_arrays(one.with_objective(cost, one.offset + (factor - 1) * offset))

    return at


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


def _today(scenario: Scenario, accelerator: str, lever: Lever) -> tuple[float, str]:
    if lever == "price":
        offers = [row for row in scenario.supply if row.accelerator == accelerator and row.max_racks > 0]
        return min(offers, key=lambda row: row.delivery).price_musd_per_rack, "M USD a rack"
    if lever == "speed":
        return 1.0, "times the modelled speed"
    part = scenario.accelerators[accelerator]
    cap = part.tdp_w if part.provisioned_cap_w is None else part.provisioned_cap_w
    return part.facility_kw_per_device(cap) * (part.devices_per_rack or 1), "facility kW a rack"


def _reached(case: Case, accelerator: str, lever: Lever, enters: Trial | None) -> bool | None:
    """Whether the interval of the input goes as far as the entry."""
    if enters is None:
        return None
    if lever == "speed":
        own = case.options[case.options["accelerator"] == accelerator]
        return bool(own["high_factor"].max() >= enters.factor) if len(own) else None
    if lever == "price":
        figure = price_figure(case.scenario, accelerator)
    else:
        figure = case.scenario.accelerators[accelerator].figures.get("facility_slope_w_per_cap_w")
    if figure is None or figure.low is None or not isinstance(figure.value, int | float) or not figure.value:
        return None
    return figure.low / figure.value <= enters.factor


def _ratio(one: float, two: float) -> float:
    return max(one / two, two / one)


def _times(factor: float) -> str:
    """A factor as people say it: 64 times, or 1/64 of."""
    return f"{factor:.3g} times" if factor >= 1 else f"1/{1 / factor:.3g} of"


def _said(lever: Lever, value: float, unit: str) -> str:
    return f"{value:.4g} {unit}" if lever != "speed" else f"{value:.3g} {unit}"
