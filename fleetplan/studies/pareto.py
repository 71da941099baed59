r"""Cost against carbon, delivered work and peak megawatts: exact fronts by epsilon constraints.

The first objective is cost; each other objective is limited in turn (Mavrotas, 2009, AUGMECON,
https://doi.org/10.1016/j.amc.2009.03.037):

.. math:: \min\; f_1(x) + δ \sum_k f_k(x) / r_k \quad f_k(x) \le ε_k

with :math:`r_k` the range of objective :math:`k` and δ so small that it only breaks ties: a point that
another one dominates cannot be optimal. The innermost limit does not follow a fixed grid alone: after
a point with value :math:`v` the next limit lies below :math:`v`, so no point is computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import FleetplanError, UsageError
from fleetplan.progress import Silent
from fleetplan.studies.vectors import as_plan_result, carbon_tonnes, megawatts, short_samples

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from fleetplan.api import Problem
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress
    from fleetplan.solving.arrays import Compiled, Floats
    from fleetplan.solving.result import Result
    from fleetplan.studies.workshop import Workshop

TIE_SHARE = 1e-6
"""Weight of all other objectives together, as a share of the least cost."""
STEP = 1e-6
"""A limit below a point's value is lower by this share of the objective's range."""
OBJECTIVES = {
    "carbon": ("carbon_t", "t CO2e, operational and embodied"),
    "work": ("unserved_share", "share of the work asked for that is not trained"),
    "peak": ("peak_mw", "largest facility MW of all sites in a period"),
}
"""Objectives beside cost, all to be made small; name of the column and its meaning."""


@dataclass(frozen=True)
class FrontPoint:
    """One plan of a front; ``at`` are its objectives, cost first; ``bound`` is on cost at these limits."""

    at: tuple[float, ...]
    bound_musd: float
    plan: Plan


@dataclass(frozen=True)
class Front:
    """All points that no other one dominates, cheapest first."""

    objectives: tuple[str, ...]
    points: tuple[FrontPoint, ...]
    solved: int

    def frame(self) -> pd.DataFrame:
        """One row per plan: cost_musd, the other objectives, bound_musd, served_share."""
        import pandas as pd

        columns = ["cost_musd", *(OBJECTIVES[name][0] for name in self.objectives)]
        frame = pd.DataFrame([point.at for point in self.points], columns=columns)
        frame["bound_musd"] = [point.bound_musd for point in self.points]
        frame.insert(0, "plan", [f"plans/{number:03d}" for number in range(len(self.points))])
        return frame

    def lines(self) -> list[str]:
        """The front in a few sentences: what the first and the last step cost."""
        frame = self.frame()
        lines = [
            f"{len(frame)} plans on the front of cost and {', '.join(self.objectives)} ({self.solved} solves)."
        ]
        for name in self.objectives:
            column, meaning = OBJECTIVES[name]
            cheap, least = frame.iloc[0], frame.loc[[frame[column].idxmin()]].iloc[0]
            lines.append(
                f"{meaning}: {cheap[column]:,.4g} at least cost ({cheap['cost_musd']:,.1f} M USD), "
                f"{least[column]:,.4g} at least for {least['cost_musd'] - cheap['cost_musd']:,.1f} M USD more."
            )
        return lines

    def save(self, folder: str | Path) -> Path:
        """Write ``front.csv`` and every plan into its own folder."""
        from pathlib import Path as FilePath

        from fleetplan.studies.folder import write_whole

        root = FilePath(folder)
        for number, point in enumerate(self.points):
            point.plan.save(root / "plans" / f"{number:03d}")
        write_whole(root / "front.csv", self.frame().to_csv(index=False, lineterminator="\n"))
        return root


def pareto(
    workshop: Workshop,
    objectives: tuple[str, ...] = ("carbon",),
    *,
    points: int = 8,
    progress: Progress | None = None,
) -> Front:
    """The front of cost and one to three of ``carbon``, ``work`` and ``peak``.

    ``points`` limits are laid over the range of each objective (the range between its value at least
    cost and its least value). Each point is an audited plan, optimal to the workshop's gap at its
    limits. Raises ``UsageError`` for unknown objectives, and as a solve does where the base has no plan.
    """
    unknown = [name for name in objectives if name not in OBJECTIVES]
    if unknown or not objectives or len(set(objectives)) != len(objectives) or points < 2:
        message = f"objectives are one to three of {', '.join(OBJECTIVES)}, with 2 points or more"
        raise UsageError(message)
    made = _Fronts(workshop, objectives, points, progress or Silent())
    made.go()
    return Front(objectives, tuple(undominated(made.found)), made.solved)


def undominated(points: list[FrontPoint], tolerance: float = 1e-7) -> list[FrontPoint]:
    """Points that no other one matches in all objectives and beats in one, cheapest first."""
    kept: list[FrontPoint] = []
    for point in sorted(points, key=lambda p: p.at):
        if not any(_covers(other.at, point.at, tolerance) for other in kept):
            kept.append(point)
    return kept


def _covers(one: tuple[float, ...], other: tuple[float, ...], tolerance: float) -> bool:
    return all(a <= b + tolerance * max(1.0, abs(b)) for a, b in zip(one, other, strict=True))


class _Fronts:
    """Walks over the limits."""

    def __init__(
        self, workshop: Workshop, objectives: tuple[str, ...], points: int, progress: Progress
    ) -> None:
        self.workshop, self.names, self.count, self.progress = workshop, objectives, points, progress
        self.problem = workshop.warmed().problem(workshop.base)
        self.plain = self.problem.compiled
        self.bent, self.rows = _with_objectives(workshop, self.problem, objectives)
        self.found: list[FrontPoint] = []
        self.solved = 0

    def go(self) -> None:
        width = self.bent.shape[1]
        self.columns = [width - len(self.names) + k for k in range(len(self.names))]
        cheapest = self._solve(self.bent)
        assert cheapest is not None
        assert cheapest.x is not None
        self.most = self._values(cheapest.x)
        self.least = [self._least(k) for k in range(len(self.names))]
        self.span = [max(most - least, 0.0) for most, least in zip(self.most, self.least, strict=True)]
        weight = TIE_SHARE * max(1.0, abs(cheapest.objective or 0.0))
        cost = self.bent.cost.copy()
        for j, span in zip(self.columns, self.span, strict=True):
            cost[j] = weight / max(span, 1e-9 * max(1.0, abs(self.bent.col_upper[j])), 1e-12) if span else 0.0
        self.bent = self.bent.with_objective(cost, self.bent.offset)
        self._walk(0, [np.inf] * len(self.names))

    def _least(self, k: int) -> float:
        only = np.zeros(self.bent.shape[1])
        only[self.columns[k]] = 1.0
        result = self._solve(self.bent.with_objective(only, 0.0))
        assert result is not None
        assert result.x is not None
        return self._values(result.x)[k]

    def _values(self, x: Floats) -> list[float]:
        """Objectives beside cost, from the plan's own columns; dust of the solver is rounded away."""
        own = x[: self.plain.shape[1]]
        return [float(np.round(max(float(row @ own) for row in rows), 12)) for rows in self.rows]

    def _walk(self, k: int, limits: list[float]) -> None:
        """Outer objectives follow the grid; the innermost one jumps below what was found."""
        room = STEP * max(self.span[k], 1e-9)
        grid = np.linspace(self.most[k] + room, self.least[k] + room, self.count).tolist()
        if k + 1 < len(self.names):
            for limit in grid:
                self._walk(k + 1, [*limits[:k], limit, *limits[k + 1 :]])
            return
        limit = np.inf
        while True:
            value = self._point([*limits[:k], limit])
            if value is None:
                return
            below = [g for g in grid if g < value - room]
            if not below:
                return
            limit = below[0]

    def _point(self, limits: list[float]) -> float | None:
        """Solve at the limits, keep the plan, and return the innermost value; ``None`` without one."""
        limited = self.bent.with_bounds(self.columns, upper=limits)
        result = self._solve(limited)
        if result is None or result.x is None:
            return None
        values = self._values(result.x)
        plain = as_plan_result(self.plain, result)
        assert plain.objective is not None
        bound = min(result.bound - self._ties(values), plain.objective)
        self.found.append(FrontPoint((plain.objective, *values), bound, self._plan(plain)))
        self.progress.working("plans", len(self.found), 0, f"cost {plain.objective:,.1f}")
        return values[-1]

    def _ties(self, values: list[float]) -> float:
        """Most that the tie-break can add to the objective at these limits."""
        return float(sum(self.bent.cost[j] * v for j, v in zip(self.columns, values, strict=True)))

    def _plan(self, result: Result) -> Plan:
        from fleetplan.api import finish

        return finish(self.problem, result, self.workshop.settings)

    def _solve(self, compiled: Compiled) -> Result | None:
        from fleetplan.planning.rounding import whole_lots
        from fleetplan.solving.recipe import solve
        from fleetplan.solving.status import Status

        self.solved += 1
        options, start = self.workshop.settings.solve_options(), self.workshop.start
        result = solve(compiled, options, start=start, rounder=whole_lots)
        if not result.has_plan and result.status is not Status.INFEASIBLE:
            message = f"a point of the front was not solved: {result.status}"
            raise FleetplanError(message)
        return result if result.has_plan else None


def _with_objectives(
    workshop: Workshop, problem: Problem, names: tuple[str, ...]
) -> tuple[Compiled, list[list[Floats]]]:
    """Add one column per objective, held at or above its rows: its upper bound is the limit."""
    from scipy import sparse

    compiled = problem.compiled
    width = compiled.shape[1]
    empty = sparse.csc_array((compiled.shape[0], len(names)))
    keys = [("objective", name) for name in names]
    bent = compiled.with_columns(keys, empty, np.zeros(len(names)), np.full(len(names), np.inf))
    found = [_rows(workshop, problem, name) for name in names]
    for k, (name, rows) in enumerate(zip(names, found, strict=True)):
        for number, row in enumerate(rows):
            wide = np.append(row, np.zeros(len(names)))
            wide[width + k] = -1.0
            exact = 0.0 if len(rows) == 1 else -np.inf
            bent = bent.with_row(("objective", (name, number)), wide, exact, 0.0)
    return bent, found


def _rows(workshop: Workshop, problem: Problem, name: str) -> list[Floats]:
    if name == "carbon":
        return [carbon_tonnes(workshop, problem)]
    if name == "peak":
        return megawatts(problem)
    ix = problem.model.indices
    lengths = np.array([period.quarters for period in ix.calendar.horizon], dtype=float)
    asked = sum(
        float((ix.choices.demand[w] * lengths).sum()) * ix.choices.scale[w] for w in ix.choices.workloads
    )
    return [short_samples(problem) / (asked or 1.0)]
