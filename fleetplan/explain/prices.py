"""What binds, and what a little more of it is worth: power, supply, budgets, demand.

Two prices answer two questions, and each is labelled:

* ``plan may change``: what one whole unit more saves in the relaxation (no whole lots), where everything
  may be decided anew. This is the stated value of one more megawatt or rack. A price alone would not
  do: where a limit is just met it is the harm of one unit less, which can be without end.
* ``plan held``: the same with the whole lots of this plan held; purchases cannot react, so supply and
  budgets are worth nothing there.

The largest are confirmed by solving again, from the changed input on: the model is made anew with one
whole unit (one lot) more. A small model is searched again with whole lots; of a large one, whose search
ends anywhere within a gap that is wider than most values, the two linear solves are made again: this
plan's lots held, and free. Either way the value with whole lots is known as an interval only: it lies
between ``bound before - cost after`` and ``cost before - bound after``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fleetplan.errors import LimitError
from fleetplan.explain.case import parts
from fleetplan.explain.clock import Clock, left_open
from fleetplan.explain.held import relaxed_from, with_lots
from fleetplan.explain.places_in_files import mw_paths
from fleetplan.inputs.values import value_at, with_value
from fleetplan.lifecycle import usable_mw
from fleetplan.plan.words import join, money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fleetplan.explain.case import Case
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.solving.arrays import Compiled
    from fleetplan.solving.linear import LinearSolution
    from fleetplan.solving.result import Result

Kind = Literal["power", "supply", "budget", "demand", "write-off", "depreciation", "carbon", "vendor"]
LOOKED_AT = 60
"""Largest prices of power and of supply that are replaced by the worth of a whole unit."""
SAME = 1e-3
"""Relative distance of two linear re-runs that are the same but for the accuracy of a solve."""
NOTHING = 1e-6
"""Values below this (M USD) are rounding."""
UNIT = {
    "power": "MW",
    "supply": "rack",
    "budget": "M USD",
    "demand": "1 % of demand",
    "write-off": "M USD of write-off",
    "depreciation": "M USD of depreciation",
    "carbon": "kt CO2e",
    "vendor": "MW of the vendor's share",
}
_YEARLY: dict[str, Kind] = {
    "budget": "budget",
    "write_off": "write-off",
    "depreciation": "depreciation",
    "carbon": "carbon",
    "vendor": "vendor",
}


@dataclass(frozen=True)
class Confirmation:
    """What solving again with one whole unit (one whole lot) more showed, M USD per unit."""

    observed_musd: float
    """Cost before less cost after."""
    low_musd: float
    high_musd: float
    """The true value lies between these, by the two proven gaps."""
    relaxed_musd: float
    """Value of the whole unit in the relaxation, as stated."""
    fresh_relaxed_musd: float | None = None
    """The same from the changed input on; ``None`` where the search was made again instead."""
    searched: bool = True
    """Whether the search with whole lots was made again; else ``observed_musd`` is with this plan's lots."""

    @property
    def agrees(self) -> bool:
        """Whether the stated value is that of the re-run, or lies in its proven interval."""
        fresh = self.fresh_relaxed_musd
        if fresh is not None and abs(fresh - self.relaxed_musd) > max(NOTHING, SAME * self.relaxed_musd):
            return False
        return self.low_musd - NOTHING <= self.relaxed_musd <= self.high_musd + NOTHING


@dataclass(frozen=True)
class Value:
    """What one more unit of a limit is worth, M USD of present value; 0 where it does not bind."""

    kind: Kind
    place: tuple[str, ...]
    """Site and quarter, accelerator and delivery, window, or workload and period."""
    where: str
    """The hall in which a megawatt is worth most, or empty."""
    may_change_musd: float
    held_musd: float
    row: int
    step: float
    """How far one unit moves the row's side."""
    together: float = 1.0
    """Units that only come together: the racks of a lot."""
    confirmed: Confirmation | None = None

    def __str__(self) -> str:
        """Say the value in a sentence."""
        held = f"with this plan held {money(self.held_musd)}"
        base = f"{_subject(self)} is worth {money(self.may_change_musd)} ({held})"
        if self.confirmed is None:
            return f"{base}."
        found = self.confirmed
        span = f"{money(found.low_musd)} to {money(found.high_musd)}"
        if found.agrees and not found.searched:
            return (
                f"{base}; re-runs agree; with whole lots anew it is proven to be {span}, by the plan's gap."
            )
        if found.agrees and found.high_musd - found.low_musd > 2 * found.relaxed_musd:
            return f"{base}; a re-run agrees, but its gap is wider than the value: {span}."
        if found.agrees:
            return f"{base}; confirmed by a re-run: {money(found.observed_musd)}, proven {span}."
        why = "whole lots make the difference"
        return f"{base}; a re-run differs: {money(found.observed_musd)}, proven {span}: {why}."


@dataclass(frozen=True)
class Prices:
    """All values that are not nothing, the largest first within each kind."""

    values: tuple[Value, ...]
    base_musd: float
    unconfirmed: int = 0
    """Of the largest values, how many the clock left without a re-run."""
    at_most: int = 0
    """Values that stayed those of a small part of a unit: a whole unit is worth that at most."""

    def of(self, kind: Kind) -> list[Value]:
        """Values of one kind, the largest first."""
        return [value for value in self.values if value.kind == kind]

    def value(self, kind: Kind, *place: str) -> float:
        """Value at a place; 0 where the limit does not bind."""
        return next((v.may_change_musd for v in self.of(kind) if v.place == place), 0.0)

    def lines(self) -> list[str]:
        """What binds, in sentences."""
        power = self.of("power")
        if not self.values:
            return ["Nothing binds: no limit is worth raising."]
        sites = sorted({value.place[0] for value in power})
        head = f"Power binds at {join(sites)}." if sites else "Power binds nowhere."
        said = [str(value) for kind in UNIT for value in self.of(kind)[:5]]  # type: ignore[arg-type]
        open_ = left_open(
            self.at_most, "values that are those of a small part of a unit: a whole one may be less"
        )
        return [head, *said, *open_, *left_open(self.unconfirmed, "of the largest values without a re-run")]


def prices(
    case: Case,
    result: Result,
    confirm: int = 10,
    progress: Callable[[int, int, str], None] | None = None,
    clock: Clock | None = None,
) -> Prices:
    """Price every limit of a solved case; the ``confirm`` largest power and supply values by re-runs.

    ``progress`` hears of each value and re-run: how many are done, of how many, and what it was. After the
    clock no further solve begins.
    """
    clock, progress = clock or Clock(), progress or _unheard
    assert result.x is not None
    assert result.objective is not None
    # prices need a corner of the optimum: those of an interior point are arbitrary where rows degenerate
    free = case.sweep.base
    whole = np.flatnonzero(case.compiled.integer)
    fixed = case.compiled.fixed(whole, np.round(result.x[whole]))
    held_case = case.with_arrays(fixed)
    held = held_case.sweep.base
    whole_units = _WholeUnits(case, held_case, clock, progress)
    found = sorted(whole_units.of(_values(case, free, held)), key=_rank)
    chosen = [v for v in found if v.kind in ("power", "supply")]
    largest = sorted(chosen, key=lambda v: (-v.may_change_musd, v.place))[:confirm]
    confirmed: dict[int, Value] = {}
    for done, value in enumerate(largest):
        progress(done, len(largest), f"again with more: {join(list(value.place))}")
        try:
            confirmed[value.row] = replace(value, confirmed=rerun(case, result, value, clock, held_case))
        except LimitError:
            break
    left = len(largest) - len(confirmed)
    values = tuple(confirmed.get(v.row, v) for v in found)
    return Prices(values, result.objective, left, whole_units.left)


def _unheard(done: int, total: int, note: str) -> None:
    """Nobody listens."""


def _rank(value: Value) -> tuple[str, float, tuple[str, ...]]:
    return value.kind, -value.may_change_musd, value.place


@dataclass
class _WholeUnits:
    """Replaces the price of power and supply by what one whole unit more saves in the relaxation.

    The largest prices of each kind are looked at; a whole unit is never worth more than its price, so
    the rest is below them.
    """

    free: Case
    held: Case
    clock: Clock
    progress: Callable[[int, int, str], None]
    left: int = 0
    """Of the largest, how many the clock left as they were."""

    def of(self, values: Iterable[Value]) -> Iterator[Value]:
        """The values, those of power and supply looked at."""
        ranked = sorted(values, key=_rank)
        for kind, unit in UNIT.items():
            own = [value for value in ranked if value.kind == kind]
            largest = own[:LOOKED_AT] if kind in ("power", "supply") else []
            for done, value in enumerate(largest):
                if self.clock.over:
                    self.left += len(largest) - done
                    yield from largest[done:]
                    break
                self.progress(done, len(largest), f"one more {unit}: {join(list(value.place))}")
                free, held = _saved(self.free, value), _saved(self.held, value)
                if max(free, held) > NOTHING:
                    yield replace(value, may_change_musd=free, held_musd=held)
            yield from own[len(largest) :]


def _saved(case: Case, value: Value) -> float:
    """What one whole unit (one lot) more saves, per unit; a warm re-solve."""
    saved = case.sweep.base.objective - case.sweep.solve(_raised(case, value)).objective
    return max(0.0, saved / value.together)


def _values(case: Case, free: LinearSolution, held: LinearSolution) -> Iterator[Value]:
    yield from _power(case, free, held)
    rows = case.compiled.rows
    for index, row in rows.positions("supply").items():
        accelerator, delivery = parts(index)
        step = 1.0 / case.lot_racks(accelerator)
        for value in _value("supply", (accelerator, delivery), row, step, free, held):
            yield replace(value, together=float(case.lot_racks(accelerator)))
    for family, kind in _YEARLY.items():
        for index, row in rows.positions(family).items():
            yield from _value(kind, parts(index), row, 1.0, free, held)
    for index, row in rows.positions("demand").items():
        step = -0.01 * float(case.compiled.row_upper[row])
        yield from _value("demand", parts(index), row, step, free, held)


def _value(
    kind: Kind, place: tuple[str, ...], row: int, step: float, free: LinearSolution, held: LinearSolution
) -> Iterator[Value]:
    worth, with_plan = -float(free.row_dual[row]) * step, -float(held.row_dual[row]) * step
    if kind == "demand":
        worth, with_plan = abs(worth), abs(with_plan)
    if worth > NOTHING or with_plan > NOTHING:
        yield Value(kind, place, "", worth, with_plan, row, step)


def _power(case: Case, free: LinearSolution, held: LinearSolution) -> Iterator[Value]:
    """Best hall of each site and period; a built megawatt gives its usable share, and may be billed."""
    best: dict[tuple[str, str], Value] = {}
    for index, row in case.compiled.rows.positions("power").items():
        hall, period = parts(index)
        spec = case.scenario.halls[hall]
        kept = usable_mw(1.0, spec.reserve_share, case.scenario.sites[spec.site].stranded_share)
        billed = _billed(case, spec.site, period)
        worth, with_plan = (
            -float(prices_.row_dual[row]) * kept - _billed_cost(prices_, billed) for prices_ in (free, held)
        )
        key = (spec.site, period)
        if max(worth, with_plan) > NOTHING and (key not in best or worth > best[key].may_change_musd):
            best[key] = Value("power", key, hall, worth, with_plan, row, kept)
    yield from best.values()


def _billed(case: Case, site: str, period: str) -> tuple[int, float] | None:
    """Contract row of a site and the MW billed in it per MW built; ``None`` without a contract."""
    row = case.compiled.rows.positions("take").get((site, period))
    if row is None:
        return None
    places, calendar = case.model.indices.places, case.model.indices.calendar
    built = places.built_mw[(places.halls["site"] == site).to_numpy(), calendar.names.index(period)].sum()
    return row, float(case.compiled.row_lower[row] / built)


def _billed_cost(solution: LinearSolution, billed: tuple[int, float] | None) -> float:
    return 0.0 if billed is None else float(solution.row_dual[billed[0]]) * billed[1]


def _raised(case: Case, value: Value) -> Compiled:
    """The case's arrays with one more unit of a limit, and what is billed for it."""
    side = case.compiled.row_upper[value.row] + value.step * value.together
    changed = case.compiled.with_rhs([value.row], upper=[side])
    billed = _billed(case, value.place[0], value.place[1]) if value.kind == "power" else None
    if billed is None:
        return changed
    row, share = billed
    return changed.with_rhs([row], lower=[case.compiled.row_lower[row] + share])


def rerun(case: Case, before: Result, value: Value, clock: Clock, held: Case | None = None) -> Confirmation:
    """Make the model again from the input with one whole unit (one lot) more, and solve it.

    ``held`` is the case with this plan's lots held, from whose basis such a solve is quick.
    """
    clock.check()
    after = case.with_inputs(more_of(case.scenario, value))
    if case.is_large:
        return _held_and_free(case, before, value, after, held)
    found = after.solve(clock=clock)
    assert found.objective is not None
    return _confirmation(before, value, found.objective, found.bound)


def more_of(scenario: Scenario, value: Value) -> Scenario:
    """The inputs with one more megawatt in a hall, or one more lot of a supply."""
    if value.kind == "power":
        period = next(p for p in scenario.horizon if p.name == value.place[1])
        for path, before in mw_paths(scenario, value.where, period):
            scenario = with_value(scenario, path, before + 1.0)
        return scenario
    path = f"supply[{value.place[0]},{value.place[1]}].max_racks"
    return with_value(scenario, path, value_at(scenario, path) + round(value.together))


def _held_and_free(
    case: Case, before: Result, value: Value, after: Case, held_case: Case | None = None
) -> Confirmation:
    """Two linear solves of the changed model: with this plan's lots, and without whole lots at all."""
    assert before.x is not None
    assert before.objective is not None
    columns = case.compiled.columns.keys
    lots = {columns[at]: float(round(before.x[at])) for at in np.flatnonzero(case.compiled.integer).tolist()}
    whole = np.flatnonzero(after.compiled.integer)
    values = [lots.get(after.compiled.columns.keys[at], 0.0) for at in whole.tolist()]
    if held_case is None:
        held = with_lots(after, whole, values)
    else:
        held = relaxed_from(held_case, after.compiled.fixed(whole, values))
    free = relaxed_from(case, after.compiled).objective
    made = _confirmation(before, value, held.objective, free)
    fresh = max(0.0, (case.sweep.base.objective - free) / value.together)
    return replace(made, fresh_relaxed_musd=fresh, searched=False)


def _confirmation(before: Result, value: Value, cost: float, bound: float) -> Confirmation:
    assert before.objective is not None
    low = before.bound - cost if np.isfinite(before.bound) else -np.inf
    high = before.objective - bound if np.isfinite(bound) else np.inf
    observed, least, most = (x / value.together for x in (before.objective - cost, low, high))
    return Confirmation(observed, least, most, value.may_change_musd)


def _subject(value: Value) -> str:
    place = value.place
    if value.kind == "power":
        return f"One more MW at {place[0]} in {place[1]}"
    if value.kind == "supply":
        return f"One more rack of {place[0]} delivered in {place[1]}"
    if value.kind == "demand":
        return f"1 % less demand of {place[0]} in {place[1]}"
    return f"One more {UNIT[value.kind]} in {place[-1]}"
