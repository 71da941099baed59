"""Two plans side by side: what changed in inputs, decisions, power, work and money, and why.

The change of cost is split in two by the first plan's orders priced under the second plan's inputs
(one solve with those orders held):

* *data*: ``cost(orders of A | inputs of B) - cost(A)``: the same decisions, other inputs;
* *decisions*: ``cost(B) - cost(orders of A | inputs of B)``: other decisions, same inputs.

Where the second part lies within the two proven gaps, the decisions that differ are a tie: neither
is proven better. Otherwise the change is real.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fleetplan.explain.inputs_diff import InputChange, input_changes
from fleetplan.plan.words import megawatts, money, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from fleetplan.plan.plan import Plan

Verdict = Literal["same", "data", "tie", "real", "not asked", "impossible"]
MOST_LINES = 12
"""Rows of one kind that are said in words; the tables hold all."""


@dataclass(frozen=True)
class Change:
    """One figure of the plans that differs; ``key`` says what it is about."""

    key: tuple[str, ...]
    before: float
    after: float

    @property
    def by(self) -> float:
        """After less before."""
        return self.after - self.before


@dataclass(frozen=True)
class Held:
    """The first plan's orders under the second plan's inputs; ``None`` where that is impossible."""

    cost_musd: float | None
    gap_musd: float


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two plans. Money is M USD, present value where it is cost."""

    inputs: tuple[InputChange, ...]
    options_changed: int
    """Training options whose rate or power differs, or that only one side has."""
    orders: tuple[Change, ...]
    """Racks by accelerator, site and service quarter."""
    retirements: tuple[Change, ...]
    """Racks that leave early, by accelerator and period."""
    power: tuple[Change, ...]
    """Facility MW used, by site and period."""
    work: tuple[Change, ...]
    """Shortfall in samples/s, by workload and period."""
    money: tuple[Change, ...]
    """Present value by cost item."""
    cost_before_musd: float
    cost_after_musd: float
    gap_before_musd: float | None
    gap_after_musd: float | None
    data_musd: float | None
    """Part of the change of cost that comes from the inputs."""
    decisions_musd: float | None
    """Part that comes from deciding anew; never above 0 by more than the gap."""
    verdict: Verdict

    def lines(self) -> list[str]:
        """Say the comparison in sentences, the verdict first."""
        return [
            _cost_line(self),
            *_verdict_lines(self),
            *_input_lines(self),
            *_said("orders", self.orders, "racks"),
            *_said("early retirements", self.retirements, "racks"),
            *_power_lines(self.power),
            *_said("shortfall", self.work, "samples/s"),
            *_said("cost", self.money, "M USD"),
        ]


def compare(before: Plan, after: Plan, hold: Callable[[Plan, Plan], Held] | None = None) -> Comparison:
    """Set two plans side by side; ``hold`` prices A's orders under B's inputs, to split the change."""
    inputs = tuple(input_changes(before.scenario, after.scenario))
    options_changed = _options_changed(before.options, after.options)
    orders = _changes(_orders(before), _orders(after))
    moved = after.cost_musd - before.cost_musd
    same_data = not inputs and not options_changed
    held = _held(before, after, hold, same_data=same_data)
    data = None if held is None or held.cost_musd is None else held.cost_musd - before.cost_musd
    decisions = None if data is None else moved - data
    return Comparison(
        inputs=inputs,
        options_changed=options_changed,
        orders=orders,
        retirements=_changes(_early(before), _early(after)),
        power=_changes(_sums(before.power, ["site", "period"], "used_mw"), _used(after)),
        work=_changes(_short(before), _short(after)),
        money=_changes(_items(before), _items(after)),
        cost_before_musd=before.cost_musd,
        cost_after_musd=after.cost_musd,
        gap_before_musd=before.manifest.gap_musd,
        gap_after_musd=after.manifest.gap_musd,
        data_musd=data,
        decisions_musd=decisions,
        verdict=_verdict(before, after, orders, held, decisions, same_data=same_data),
    )


def _held(
    before: Plan, after: Plan, hold: Callable[[Plan, Plan], Held] | None, *, same_data: bool
) -> Held | None:
    if same_data:
        return Held(before.cost_musd, before.manifest.gap_musd or 0.0)
    return hold(before, after) if hold is not None else None


def _verdict(
    before: Plan,
    after: Plan,
    orders: Sequence[Change],
    held: Held | None,
    decisions: float | None,
    *,
    same_data: bool,
) -> Verdict:
    if not orders:
        moved = abs(after.cost_musd - before.cost_musd)
        within = (before.manifest.gap_musd or 0.0) + (after.manifest.gap_musd or 0.0) + 1e-6
        return "same" if same_data and moved <= within else "data"
    if held is None:
        return "not asked"
    if decisions is None:
        return "impossible"
    within = (after.manifest.gap_musd or 0.0) + held.gap_musd
    return "tie" if abs(decisions) <= within + 1e-6 else "real"


def _orders(plan: Plan) -> dict[tuple[str, ...], float]:
    return _sums(plan.orders, ["accelerator", "site", "service_quarter"], "racks")


def _early(plan: Plan) -> dict[tuple[str, ...], float]:
    early = plan.retirements[plan.retirements["kind"] == "early"]
    return _sums(early, ["accelerator", "period"], "racks")


def _used(plan: Plan) -> dict[tuple[str, ...], float]:
    return _sums(plan.power, ["site", "period"], "used_mw")


def _short(plan: Plan) -> dict[tuple[str, ...], float]:
    return _sums(plan.work, ["workload", "period"], "shortfall_samples_per_s")


def _items(plan: Plan) -> dict[tuple[str, ...], float]:
    return _sums(plan.ledger, ["item"], "npv_musd")


def _sums(frame: pd.DataFrame, keys: list[str], value: str) -> dict[tuple[str, ...], float]:
    totals: dict[tuple[str, ...], float] = {}
    for *key, amount in frame[[*keys, value]].itertuples(index=False, name=None):
        name = tuple(str(part) for part in key)
        totals[name] = totals.get(name, 0.0) + float(amount)
    return totals


def _changes(before: dict[tuple[str, ...], float], after: dict[tuple[str, ...], float]) -> tuple[Change, ...]:
    """Differences above rounding, in key order."""
    found = []
    for key in sorted(before.keys() | after.keys()):
        one, two = before.get(key, 0.0), after.get(key, 0.0)
        if abs(two - one) > 1e-6 * max(1.0, abs(one), abs(two)):
            found.append(Change(key, one, two))
    return tuple(found)


def _options_changed(before: pd.DataFrame, after: pd.DataFrame) -> int:
    columns = [
        "net_samples_per_s_per_rack",
        "average_facility_kw_per_rack",
        "provisioned_facility_kw_per_rack",
        "fits",
        "meets_deadline",
    ]
    one = before.set_index("option")[columns]
    two = after.set_index("option")[columns]
    shared = one.index.intersection(two.index)
    differ = (one.loc[shared] != two.loc[shared]).any(axis=1).sum()
    return int(differ) + len(one.index.symmetric_difference(two.index))


def _cost_line(c: Comparison) -> str:
    moved = c.cost_after_musd - c.cost_before_musd
    share = f" ({percent(moved / c.cost_before_musd)})" if c.cost_before_musd else ""
    return (
        f"Cost {money(c.cost_before_musd)} -> {money(c.cost_after_musd)}: {money(moved, sign=True)}{share}."
    )


def _verdict_lines(c: Comparison) -> list[str]:
    if c.verdict == "same":
        return ["The plans are the same: no deciding input differs and every order is equal."]
    if c.verdict == "data":
        return ["The orders are the same; what differs comes from the inputs."]
    if c.verdict == "impossible":
        return [
            "The first plan's orders are not possible under the second plan's inputs: the change is real."
        ]
    if c.data_musd is None or c.decisions_musd is None:
        return ["How much of the change is data and how much decision was not asked (it takes one solve)."]
    split = (
        f"Of this, {money(c.data_musd, sign=True)} is data (the first plan's orders under the second's "
        f"inputs) and {money(c.decisions_musd, sign=True)} comes from other orders."
    )
    if c.verdict == "tie":
        return [
            split,
            "That is within the proven gaps: the orders that differ are a tie, neither is proven better.",
        ]
    return [split, "That is more than the proven gaps: the change of orders is real."]


def _input_lines(c: Comparison) -> list[str]:
    if not c.inputs and not c.options_changed:
        return ["inputs: no deciding value differs"]
    lines = [f"inputs: {len(c.inputs)} values differ, {c.options_changed} training options"]
    lines += [f"  {change}" for change in c.inputs[:MOST_LINES]]
    return lines + _more(len(c.inputs))


def _said(what: str, changes: Sequence[Change], unit: str) -> list[str]:
    if not changes:
        return [f"{what}: no difference"]
    largest = sorted(changes, key=lambda change: (-abs(change.by), change.key))[:MOST_LINES]
    total = sum(change.by for change in changes)
    lines = [f"{what}: {len(changes)} differ, {total:+,.6g} {unit} in all"]
    lines += [
        f"  {', '.join(c.key)}: {number(c.before)} -> {number(c.after)} {unit} ({c.by:+,.4g})"
        for c in largest
    ]
    return lines + _more(len(changes))


def _power_lines(changes: Sequence[Change]) -> list[str]:
    if not changes:
        return ["power: no difference"]
    worst = max(changes, key=lambda change: abs(change.by))
    place = f"{megawatts(worst.before)} -> {megawatts(worst.after)} at {' in '.join(worst.key)}"
    return [f"power: {len(changes)} site-periods differ; most {place}"]


def _more(count: int) -> list[str]:
    return [f"  and {count - MOST_LINES} more"] if count > MOST_LINES else []
