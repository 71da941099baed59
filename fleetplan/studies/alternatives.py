"""Plans that cost nearly the same and differ most, told in words.

Modelling to generate alternatives (Brill, Chang and Hopkins, 1982,
https://doi.org/10.1287/mnsc.28.3.221): within a tolerance on cost, minimise the use of what the plans
so far have bought, and maximise what they have not, weighed in megawatts. Each new plan is pushed away
from all before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.errors import UsageError
from fleetplan.planning.form import records
from fleetplan.progress import Silent
from fleetplan.studies.vectors import as_plan_result, landed

if TYPE_CHECKING:
    from pathlib import Path

    from fleetplan.api import Problem
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress
    from fleetplan.solving.arrays import Floats
    from fleetplan.solving.result import Result
    from fleetplan.studies.workshop import Workshop

LEAST_DISTANCE = 0.01
"""Plans closer than this share of ordered megawatts are no alternative."""
MANY = 2.0
"""Growth by more than this factor is told as a multiple, not in per cent."""
TOLD = 4
"""Differences named per plan."""


@dataclass(frozen=True)
class Alternative:
    """One plan: its cost over the best, its distance to every plan before it, and how it differs."""

    plan: Plan
    cost_share: float
    """(cost - best) / |best|."""
    distances: tuple[float, ...]
    words: str


@dataclass(frozen=True)
class Alternatives:
    """The best plan first, then the alternatives in the order in which they were found."""

    tolerance: float
    plans: tuple[Alternative, ...]

    def frame(self) -> pd.DataFrame:
        """plan, cost_musd, cost_share, distance (least to any plan before), difference in words."""
        rows = [
            (number, one.plan.cost_musd, one.cost_share, min(one.distances, default=0.0), one.words)
            for number, one in enumerate(self.plans)
        ]
        return pd.DataFrame(rows, columns=["plan", "cost_musd", "cost_share", "distance", "difference"])

    def lines(self) -> list[str]:
        """One line per plan."""
        best = self.plans[0].plan
        lines = [f"Best plan: {best.cost_musd:,.1f} M USD."]
        lines += [
            f"{number}: {one.words} ({min(one.distances):.0%} of ordered MW differ, {one.cost_share:+.2%} cost)."
            for number, one in enumerate(self.plans[1:], 1)
        ]
        if len(self.plans) == 1:
            lines.append(
                f"No plan within {self.tolerance:.2%} differs by {LEAST_DISTANCE:.0%} of ordered MW."
            )
        return lines

    def save(self, folder: str | Path) -> Path:
        """Write ``alternatives.csv`` and every plan into its own folder."""
        from pathlib import Path as FilePath

        from fleetplan.studies.folder import write_whole

        root = FilePath(folder)
        for number, one in enumerate(self.plans):
            one.plan.save(root / "plans" / f"{number:03d}")
        write_whole(root / "alternatives.csv", self.frame().to_csv(index=False, lineterminator="\n"))
        return root


def alternatives(
    workshop: Workshop, *, tolerance: float = 0.005, count: int = 4, progress: Progress | None = None
) -> Alternatives:
    """Find up to ``count`` plans whose cost is at most ``tolerance`` (share) above the best found.

    Every plan is audited. Ends early where nothing new is left within the tolerance. Raises
    ``UsageError`` for a tolerance that is not above 0, and as a solve does.
    """
    if tolerance <= 0 or count < 1:
        message = (
            f"alternatives need a tolerance above 0 and a count of 1 or more, got {tolerance:g}, {count}"
        )
        raise UsageError(message)
    maker = _Maker(workshop, tolerance, progress or Silent())
    for _ in range(count):
        if not maker.one_more():
            break
    return Alternatives(tolerance, tuple(maker.plans))


class _Maker:
    def __init__(self, workshop: Workshop, tolerance: float, progress: Progress) -> None:
        from fleetplan.api import finish

        self.workshop, self.tolerance, self.progress = workshop.warmed(), tolerance, progress
        self.problem = workshop.problem(workshop.base)
        self.best = workshop.solve(self.problem)
        self.lots = landed(self.problem)
        self.kw = self.lots["accelerator"].map(rack_kw(self.problem)).to_numpy(dtype=float)
        plan = finish(self.problem, self.best, workshop.settings)
        self.plans = [Alternative(plan, 0.0, (), "the best plan")]
        self.seen = [self._megawatts(self.best)]

    def _megawatts(self, result: Result) -> Floats:
        assert result.x is not None
        return np.asarray(result.x[self.lots["column"]] * self.lots["lot"].to_numpy() * self.kw / 1000)

    def one_more(self) -> bool:
        """Push away from all plans so far; whether something new came out."""
        from fleetplan.api import finish
        from fleetplan.planning.rounding import whole_lots
        from fleetplan.solving.second import minimize_then

        settings, compiled = self.workshop.settings, self.problem.compiled
        options = replace(settings.solve_options(), gap_rel=max(settings.gap, 0.01))
        second = minimize_then(
            compiled, self._push(), self.tolerance, options, first=self.best, rounder=whole_lots
        )
        plain = as_plan_result(compiled, second)
        best = self.best.objective
        reached = plain.objective
        assert reached is not None
        assert best is not None
        mw = self._megawatts(plain)
        distances = tuple(distance(mw, other) for other in self.seen)
        if min(distances) < LEAST_DISTANCE:
            return False
        plain = replace(plain, bound=self.best.bound, bound_source=self.best.bound_source)
        plan = finish(self.problem, plain, settings)
        cost = (reached - best) / max(abs(best), 1e-9)
        told = difference(self.plans[0].plan, plan)
        self.plans.append(Alternative(plan, cost, distances, told))
        self.seen.append(mw)
        self.progress.working("plans", len(self.plans) - 1, 0, told)
        return True

    def _push(self) -> Floats:
        """Cost of a megawatt of a landing: +1 where all plans so far bought it, -1 where none did."""
        used = np.mean([mw > 1e-9 for mw in self.seen], axis=0)
        weights = np.zeros(self.problem.compiled.shape[1])
        per_lot = self.lots["lot"].to_numpy() * self.kw / 1000
        weights[self.lots["column"]] = (2 * used - 1) * per_lot
        return weights


def rack_kw(problem: Problem) -> dict[str, float]:
    """Facility kW of one rack by accelerator, at the highest cap that the plan may use."""
    modes = problem.model.power.modes
    return {str(name): float(kw) for name, kw in modes.groupby("accelerator")["kw"].max().items()}


def distance(one: Floats, other: Floats) -> float:
    """Share of ordered megawatts that differ, 0 (same) to 1 (nothing in common)."""
    total = float(one.sum() + other.sum())
    return float(np.abs(one - other).sum()) / total if total else 0.0


def difference(base: Plan, plan: Plan) -> str:
    """The largest differences in orders, in words."""
    totals = _by_place(base).merge(
        _by_place(plan), on=["accelerator", "site"], how="outer", suffixes=("_a", "_b")
    )
    totals = totals.fillna({"racks_a": 0.0, "racks_b": 0.0})
    totals["change"] = totals["racks_b"] - totals["racks_a"]
    totals = totals[totals["change"].abs() > 0.5]
    order = totals["change"].abs().sort_values(ascending=False, kind="stable").index
    titles = {name: site.title for name, site in base.scenario.sites.items()}
    devices = {name: device.title for name, device in base.scenario.accelerators.items()}
    parts = [
        told_difference(
            row.racks_a, row.change, devices[str(row.accelerator)], titles.get(str(row.site), str(row.site))
        )
        for row in records(totals.loc[order].head(TOLD))
    ]
    parts += _shifts(base, plan, devices)
    return ", ".join(parts) or "the same racks at the same sites, run differently"


def _by_place(plan: Plan) -> pd.DataFrame:
    orders = plan.orders[plan.orders["kind"] != "rental"]
    return orders.groupby(["accelerator", "site"])["racks"].sum().reset_index()


def told_difference(before: float, change: float, device: str, site: str) -> str:
    """A change of racks in words: in per cent, as a multiple, or as racks where there were none."""
    word = "more" if change > 0 else "fewer"
    if before > 0.5 and change > MANY * before:
        return f"{(before + change) / before:,.0f} times as many {device} at {site}"
    if before > 0.5:
        return f"{abs(change) / before:.0%} {word} {device} at {site}"
    return f"{abs(change):,.0f} {word} racks of {device} at {site}"


def _shifts(base: Plan, plan: Plan, devices: dict[str, str]) -> list[str]:
    """Accelerators that come half a quarter or more earlier or later on average."""
    before, after = _mean_service(base), _mean_service(plan)
    told = []
    for name in sorted(before.keys() & after.keys()):
        quarters = after[name] - before[name]
        if abs(quarters) >= 0.5:
            told.append(
                f"{devices[name]} {abs(quarters):.1f} quarters {'later' if quarters > 0 else 'earlier'}"
            )
    return told


def _mean_service(plan: Plan) -> dict[str, float]:
    from fleetplan.periods import Quarter

    orders = plan.orders[plan.orders["kind"] != "rental"]
    when = orders["service_quarter"].map(lambda text: Quarter.parse(text).ordinal) * orders["racks"]
    racks = orders.groupby("accelerator")["racks"].sum()
    sums = when.groupby(orders["accelerator"]).sum()
    return {str(name): float(sums[name] / racks[name]) for name in racks.index if racks[name] > 0}
