"""A scenario ready to be asked: its model as arrays, and the answers of solves in a planner's terms.

Questions change an input, solve again and look at what is bought. Everything here is whole racks,
M USD and facility MW.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.api import Problem, Settings, earlier_plan, prepare, shortfall_first
from fleetplan.errors import LimitError
from fleetplan.planning.rounding import whole_lots
from fleetplan.solving.linear import INTERIOR_FROM_COLUMNS, Sweep
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.result import Result, require_plan

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd

    from fleetplan.explain.clock import Clock
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.planning.earlier import Earlier
    from fleetplan.planning.model import PlanningModel
    from fleetplan.solving.arrays import Compiled, Floats

DEFAULT_GAP = 1e-3
SIMPLEX = {"solver": "simplex"}
"""Models without cost, or with the lots held, are quick by the simplex method at any size."""
WHOLE = 0.5
"""More than this many racks above the commitment is a decision to buy."""


@dataclass(frozen=True)
class Case:
    """A scenario with its training options, compiled."""

    scenario: Scenario
    options: pd.DataFrame
    model: PlanningModel
    compiled: Compiled
    settings: SolveOptions
    previous: Earlier | pd.DataFrame | None = None
    """The earlier plan (or its orders) that this one stays close to."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        options: pd.DataFrame,
        settings: SolveOptions | None = None,
        previous: Earlier | pd.DataFrame | None = None,
    ) -> Case:
        """Build and compile; raises ``InfeasibleError`` where a commitment has no place at all."""
        made = prepare(scenario, options=options, previous=previous)
        return cls(scenario, options, made.model, made.compiled, settings or SolveOptions(), previous)

    @classmethod
    def of_plan(cls, plan: Plan, settings: SolveOptions | None = None) -> Case:
        """The case that a plan was made from, with its own training options and gap."""
        earlier = earlier_plan(plan.scenario)
        return cls.of(plan.scenario, plan.options, settings or settings_of(plan), earlier).in_order()

    def with_inputs(self, scenario: Scenario, options: pd.DataFrame | None = None) -> Case:
        """The same question for other inputs."""
        options = self.options if options is None else options
        return Case.of(scenario, options, self.settings, self.previous).in_order()

    def in_order(self) -> Case:
        """The same with shortfall held at its least, where the rules put it before cost.

        Raises as ``require_plan`` does where there is no plan.
        """
        if self.scenario.rules.shortfall != "by_priority":
            return self
        asked = Settings(self.settings.gap_rel, self.settings.time_limit_s, seed=self.settings.seed)
        problem = Problem(self.scenario, self.options, self.model, self.compiled)
        return self.with_arrays(shortfall_first(problem, asked)[0].compiled)

    def with_arrays(self, compiled: Compiled) -> Case:
        """The same inputs with changed sides, bounds or costs."""
        return replace(self, compiled=compiled)

    def solve(self, gap_rel: float | None = None, clock: Clock | None = None) -> Result:
        """Solve; raises where there is no plan, and ``LimitError`` where the clock ends before it is proven."""
        settings = self.settings if gap_rel is None else replace(self.settings, gap_rel=gap_rel)
        result = require_plan(
            solve(self.compiled, clock.limit(settings) if clock else settings, rounder=whole_lots)
        )
        if clock is not None and not result.reproducible and clock.over:
            raise LimitError("the time for this answer is over")
        return result

    @property
    def is_large(self) -> bool:
        """Whether a solve takes a minute, a linear one seconds: answers are then sought another way."""
        return self.compiled.shape[1] >= INTERIOR_FROM_COLUMNS

    @cached_property
    def sweep(self) -> Sweep:
        """The relaxation, ready to be solved again with other sides, bounds and costs."""
        return Sweep(self.compiled, self.settings)

    def racks_bought(self, x: Floats) -> dict[str, float]:
        """Racks by accelerator that are ordered beyond the commitments, modules of swaps included."""
        bought = dict.fromkeys(self.scenario.accelerators, 0.0)
        for (hall_, name, delivery_), lots in self.lots(x).items():
            del hall_, delivery_
            bought[name] += lots * self.lot_racks(name)
        for name, racks in self._committed.items():
            bought[name] = max(0.0, bought[name] - racks)
        for name, racks in self._swapped(x).items():
            bought[name] += racks
        return bought

    def lots(self, x: Floats) -> dict[tuple[str, str, str], float]:
        """Whole lots by hall, accelerator and delivery quarter."""
        positions = self.compiled.columns.positions("lots")
        found = {}
        for index, position in positions.items():
            hall, accelerator, delivery = parts(index)
            found[hall, accelerator, delivery] = float(round(x[position]))
        return found

    def lot_racks(self, accelerator: str) -> int:
        """Racks per lot."""
        return self.scenario.lifecycle.lot_racks.get(accelerator, 1)

    @cached_property
    def _committed(self) -> dict[str, float]:
        table = self.model.indices.deliveries.table
        racks: dict[str, float] = defaultdict(float)
        columns = (table["accelerator"], table["least_lots"], table["lot"])
        for name, lots, lot in zip(*columns, strict=True):
            racks[str(name)] += float(lots) * float(lot)
        return dict(racks)

    def _swapped(self, x: Floats) -> dict[str, float]:
        """Racks whose modules are swapped, by the accelerator that they become."""
        arcs = self.model.indices.cohorts.arcs
        cohorts = self.model.indices.cohorts.cohorts["accelerator"].to_numpy()
        chosen = np.flatnonzero((arcs["kind"] == "upgrade").to_numpy())
        positions = self.compiled.columns.positions("leave")
        leave = self.model.fleet.leave.keys
        racks: dict[str, float] = defaultdict(float)
        for arc in chosen.tolist():
            position = positions.get(tuple(leave.iloc[arc]))
            if position is not None and x[position] > WHOLE:
                racks[cohorts[int(arcs["target"].iloc[arc])]] += float(x[position])
        return dict(racks)


def parts(index: Hashable) -> tuple[str, ...]:
    """The names that make the index of a row or column, one or several."""
    return tuple(str(part) for part in index) if isinstance(index, tuple) else (str(index),)


def settings_of(plan: Plan) -> SolveOptions:
    """Solve options that a plan's manifest records; the defaults where it does not."""
    stated = plan.manifest.solver.get("gap", DEFAULT_GAP)
    gap = float(stated) if isinstance(stated, int | float) else DEFAULT_GAP
    return SolveOptions(gap_rel=gap, seed=plan.manifest.seed, threads=plan.manifest.threads)
