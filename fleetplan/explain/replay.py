"""Solve a stored plan again and say whether it comes out the same, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.explain.compare import Comparison, compare
from fleetplan.inputs.values import content_hash
from fleetplan.plan.words import money

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.plan.plan import Plan

SAME_COST = 1e-6
"""Costs that differ by less than this share are equal: the accuracy of a linear solve."""


@dataclass(frozen=True)
class Replay:
    """What came out of solving again."""

    same: bool
    """Same orders in every site and quarter, and the same cost."""
    equally_good: bool
    """The costs differ by no more than the two proven gaps."""
    reasons: tuple[str, ...]
    """What may explain a difference; empty where there is none."""
    comparison: Comparison
    again: Plan

    def lines(self) -> list[str]:
        """Say the outcome in sentences."""
        before, after = self.comparison.cost_before_musd, self.comparison.cost_after_musd
        if self.same:
            return [f"The plan comes out the same: {money(after)}, every order equal."]
        quality = "equally good within the proven gaps" if self.equally_good else "not equally good"
        head = f"Another plan comes out: {money(before)} -> {money(after)}, {quality}."
        return [head, *(f"  {reason}" for reason in self.reasons), *self.comparison.lines()[1:]]


def replay(plan: Plan, solve_again: Callable[[Plan], Plan]) -> Replay:
    """Solve again with ``solve_again`` (from the manifest's options) and compare.

    Raises what the solve raises; a plan that cannot be solved again is not the same plan.
    """
    again = solve_again(plan)
    found = compare(plan, again)
    off = abs(again.cost_musd - plan.cost_musd)
    same = not found.orders and off <= SAME_COST * max(1.0, abs(plan.cost_musd))
    within = (plan.manifest.gap_musd or 0.0) + (again.manifest.gap_musd or 0.0)
    reasons = () if same else tuple(_reasons(plan, again))
    return Replay(same, same or off <= within, reasons, found, again)


def _reasons(plan: Plan, again: Plan) -> list[str]:
    old, new = plan.manifest, again.manifest
    reasons = []
    if content_hash(plan.scenario) != old.content_sha256:
        reasons.append("inputs: the stored scenario is not the one that was solved (it was changed since)")
    if new.content_sha256 != old.content_sha256:
        reasons.append("inputs: the scenario that was solved now differs from the stored one")
    if new.options_sha256 != old.options_sha256:
        reasons.append("step model: it gives other training options than when the plan was made")
    for package in sorted(old.versions.keys() | new.versions.keys()):
        was, now = old.versions.get(package, "absent"), new.versions.get(package, "absent")
        if was != now:
            reasons.append(f"versions: {package} was {was}, now {now}")
    if (old.python, old.platform) != (new.python, new.platform):
        reasons.append(f"machine: Python {old.python} on {old.platform}, now {new.python} on {new.platform}")
    reasons += [
        f"options: {option} was {old.solver.get(option)}, now {new.solver.get(option)}"
        for option in sorted(old.solver.keys() | new.solver.keys())
        if old.solver.get(option) != new.solver.get(option)
    ]
    for name, manifest in (("the stored plan", old), ("the replay", new)):
        if not manifest.reproducible:
            reasons.append(f"limits: {name} is not reproducible: {manifest.reproducible_note}")
    return reasons or ["nothing that is recorded differs: please report this as a fault of fleetplan"]
