"""A decision as a test of a plan: ``racks[gb300] > 0``, ``share[mtia-300] >= 0.2``, ``now[mtia-400] > 0``."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import UsageError
from fleetplan.studies.measures import BOUGHT, measures

if TYPE_CHECKING:
    from fleetplan.plan.plan import Plan

_TEST = re.compile(r"\s*(?P<measure>\w+(?:\[[^\]]+\])?)\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[-+.\deE]+)\s*")
_SIGNS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
TRACE = 1e-6
"""Rounding of a solver that does not count as a decision."""
FORM = (
    "write it like 'racks[gb300] > 0' (racks ordered), 'now[mtia-400] > 0' (racks to order in the first quarter), "
    "'share[mtia-300] >= 0.2' (of facility MW over the horizon), 'lead[mtia-300,gb300] > 0' (share of one less "
    "that of another), or a measure like 'served_share < 0.99'"
)


@dataclass(frozen=True)
class Decision:
    """A measure of a plan and the side on which it must lie."""

    measure: str
    sign: str
    number: float

    def __str__(self) -> str:
        """As written."""
        return f"{self.measure} {self.sign} {self.number:g}"

    def value(self, plan: Plan) -> float:
        """The measure's value; ``UsageError`` for a measure that plans do not have."""
        kind, _, name = self.measure.rstrip("]").partition("[")
        if kind == "share" and name:
            return _share(plan, name)
        if kind == "lead" and "," in name:
            ahead, behind = name.split(",", 1)
            return _share(plan, ahead.strip()) - _share(plan, behind.strip())
        if kind == "now" and name:
            return _now(plan, name)
        found = measures(plan)
        if self.measure not in found:
            message = f"plans have no measure {self.measure!r}; known: {', '.join(found)}; {FORM}"
            raise UsageError(message)
        return found[self.measure]

    def holds(self, value: float) -> bool:
        """Whether the decision is taken at this value of the measure."""
        slack = {">": TRACE, "<": -TRACE, ">=": -TRACE, "<=": TRACE}[self.sign]
        return bool(_SIGNS[self.sign](value, self.number + slack))


def parse_decision(text: str) -> Decision:
    """Read a decision. Raises ``UsageError`` with the right form."""
    match = _TEST.fullmatch(text)
    try:
        assert match is not None
        return Decision(match["measure"], match["sign"], float(match["number"]))
    except (AssertionError, ValueError):
        message = f"{text!r} is not a decision; {FORM}"
        raise UsageError(message) from None


def _share(plan: Plan, accelerator: str) -> float:
    """Share of the facility megawatts in use, each period weighted by its length."""
    _known(plan, accelerator)
    lengths = {period.name: period.quarters for period in plan.scenario.horizon}
    table = plan.tables["power_by_accelerator"]
    weighted = table["used_mw"] * table["period"].map(lengths)
    total = float(weighted.sum())
    return float(weighted[table["accelerator"] == accelerator].sum()) / total if total else 0.0


def _now(plan: Plan, accelerator: str) -> float:
    """Racks whose order must be placed in the first quarter."""
    _known(plan, accelerator)
    orders = plan.orders
    first = str(plan.scenario.horizon.start)
    chosen = orders["kind"].isin([k for k in BOUGHT if k != "committed"]) & (orders["order_quarter"] == first)
    return float(orders.loc[chosen & (orders["accelerator"] == accelerator), "racks"].sum())


def _known(plan: Plan, accelerator: str) -> None:
    from fleetplan.inputs.names import did_you_mean

    if accelerator not in plan.scenario.accelerators:
        known = sorted(plan.scenario.accelerators)
        message = f"unknown accelerator {accelerator!r}: {did_you_mean(accelerator, known)}"
        raise UsageError(message)
