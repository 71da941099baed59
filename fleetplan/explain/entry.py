"""At what price, speed or power an accelerator that is not bought would be.

Entry is found by solving again with one thing changed for the accelerator in all quarters, and
halving the interval until its ends are within a hundredth of each other; both ends are real solves
with whole lots. The relaxation, which is quick, says where to look first.

Of a large model the relaxation also says where entry is: a search ends anywhere within its gap, which is
more than an accelerator saves just below its entry, so that it may come out with or without it. What can be
told of whole lots there is in :mod:`.first_lot`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fleetplan.explain.case import WHOLE, Case, parts
from fleetplan.explain.clock import Clock
from fleetplan.inputs.values import with_factor
from fleetplan.periods import Quarter
from fleetplan.plan.evidence import price_figure
from fleetplan.plan.words import money, number
from fleetplan.solving.linear import relaxation

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.solving.linear import LinearSolution

Lever = Literal["price", "speed", "power"]
By = Literal["solves", "relaxation"]
LEVERS: tuple[Lever, ...] = ("price", "speed", "power")
CLOSE = 1.01
"""The two ends of an entry are within this ratio."""
FURTHEST = 64.0
"""No entry is looked for beyond this factor."""
GAP = 1e-4
"""Proven gap of the solves that look for an entry: a tie would hide it."""


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
    by: By = "solves"
    """What both ends stand on: solves with whole lots, or the relaxation."""
    saves_musd: float | None = None
    """What buying saves at most, a hundredth inside an entry of the relaxation."""

    def __str__(self) -> str:
        """Say where it enters."""
        if self.enters is None:
            return f"no {self.lever} brings it in, not even {times(self.stays_out.factor)} today's"
        value, out = self.today * self.enters.factor, self.today * self.stays_out.factor
        reach = {True: "; its range reaches that", False: "; its range does not reach that", None: ""}
        racks = number(self.enters.racks)
        at = f"it enters at {_said(self.lever, value, self.unit)}"
        if self.by == "relaxation":
            saves = (
                "" if self.saves_musd is None else f", where buying saves {money(self.saves_musd)} at most"
            )
            return f"{at} if all orders may change, in part lots too{saves}{reach[self.reached]}"
        none = f"at {_said(self.lever, out, self.unit)} none"
        return f"{at} (confirmed: {racks} racks; {none}){reach[self.reached]}"


def find_entry(case: Case, accelerator: str, lever: Lever, clock: Clock | None = None) -> Entry:
    """Find the factor on one input at which an accelerator is first bought.

    Raises ``LimitError`` where the clock ends before there is an answer.
    """
    clock = clock or Clock()
    clock.check()  # the search begins with another model
    search = _Search(case, accelerator, lever, clock)
    if case.is_large:
        return _entry_of_the_relaxation(search)
    enters, out = search.bracket()
    while enters is not None and _ratio(enters.factor, out.factor) > CLOSE:
        middle = search.trial((enters.factor * out.factor) ** 0.5)
        if middle.racks > WHOLE:
            enters = middle
        else:
            out = middle
    return search.entry(enters, out)


def _entry_of_the_relaxation(search: _Search) -> Entry:
    """Where the relaxation buys it first; both ends are solved."""
    near = search.relaxed_entry()
    if near is None:
        return search.entry(None, Trial(search.better ** round(math.log2(FURTHEST)), 0.0), "relaxation")
    inward = CLOSE if search.lever == "speed" else 1 / CLOSE
    outside = near / inward**0.5
    enters, out = Trial(near, search.relaxed_racks(near)), Trial(outside, search.relaxed_racks(outside))
    made = search.entry(enters, out, "relaxation")
    return replace(made, saves_musd=search.relaxed_saving(near * inward))


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

    def __init__(self, case: Case, accelerator: str, lever: Lever, clock: Clock) -> None:
        self.case, self.accelerator, self.lever, self.clock = case, accelerator, lever, clock
        self.better = 2.0 if lever == "speed" else 0.5
        """Direction in which the accelerator gets more attractive."""
        self._at = priced(case, accelerator) if lever == "price" else None
        self._trials: dict[float, Trial] = {}

    def at(self, factor: float) -> Case:
        """The case at a factor; prices only change costs, so that one model serves for all of them."""
        if self._at is not None:
            return self._at(factor)
        return changed(self.case, self.accelerator, self.lever, factor)

    def trial(self, factor: float) -> Trial:
        """Solve with whole lots."""
        if factor not in self._trials:
            self.clock.check()
            case = self.at(factor)
            result = case.solve(min(GAP, case.settings.gap_rel), self.clock)
            assert result.x is not None
            self._trials[factor] = Trial(factor, case.racks_bought(result.x)[self.accelerator])
        return self._trials[factor]

    def bracket(self) -> tuple[Trial | None, Trial]:
        """A factor at which it enters (``None`` if there is none) and one at which it does not.

        They are first sought close to each other, around the entry of the relaxation.
        """
        step = CLOSE**0.5 if self.lever == "speed" else CLOSE**-0.5
        near = self.relaxed_entry()
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

    def relaxed_entry(self) -> float | None:
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
        return self.relaxed_racks(factor) > WHOLE

    def relaxed_racks(self, factor: float) -> float:
        """Racks beyond the commitments in the relaxation."""
        self.clock.check()
        case = self.at(factor)
        x = self._relaxed(case).x
        positions = case.compiled.columns.positions("lots")
        lots = sum(float(x[at]) for key, at in positions.items() if parts(key)[1] == self.accelerator)
        table = case.model.indices.deliveries.table
        least = float(table.loc[table["accelerator"] == self.accelerator, "least_lots"].sum())
        return (lots - least) * case.lot_racks(self.accelerator)

    def relaxed_saving(self, factor: float) -> float:
        """What the change saves in the relaxation; racks that are committed save too."""
        stay = self._relaxed(self.without_orders(factor)).objective
        return max(0.0, stay - self._relaxed(self.at(factor)).objective)

    def without_orders(self, factor: float) -> Case:
        """The case at a factor without orders of the accelerator beyond its commitments."""
        case = self.at(factor)
        rows = case.compiled.rows.positions("supply")
        table = case.model.indices.deliveries.table
        least = {
            (str(name), str(Quarter.from_ordinal(int(quarter)))): float(lots)
            for name, quarter, lots in zip(
                table["accelerator"], table["delivery"], table["least_lots"], strict=True
            )
        }
        own = {key: row for key, row in rows.items() if parts(key)[0] == self.accelerator}
        sides = [least.get((parts(key)[0], parts(key)[1]), 0.0) for key in own]
        return case.with_arrays(case.compiled.with_rhs(list(own.values()), upper=sides))

    def _relaxed(self, case: Case) -> LinearSolution:
        """The relaxation: from the base's basis where only costs and sides differ."""
        if self._at is not None:
            return self.case.sweep.solve(case.compiled)
        return relaxation(case.compiled, case.settings)

    def entry(self, enters: Trial | None, out: Trial, by: By = "solves") -> Entry:
        """The answer."""
        value, unit = today(self.case.scenario, self.accelerator, self.lever)
        reached = _reached(self.case, self.accelerator, self.lever, enters)
        return Entry(self.lever, enters, out, unit, value, reached, by)


def priced(case: Case, accelerator: str) -> Callable[[float], Case] | None:
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


def today(scenario: Scenario, accelerator: str, lever: Lever) -> tuple[float, str]:
    """The input as it stands (the price of the earliest offer), and its unit in words."""
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


def times(factor: float) -> str:
    """A factor as people say it: 64 times, or 1/64 of."""
    return f"{factor:.3g} times" if factor >= 1 else f"1/{1 / factor:.3g} of"


def _said(lever: Lever, value: float, unit: str) -> str:
    return f"{value:.4g} {unit}" if lever != "speed" else f"{value:.3g} {unit}"
