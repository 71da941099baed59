"""One base scenario and what its cases can share: options tables, arrays without Pyomo, a warm start.

A case is a full plan all the same: solved to the gap asked for against its own bound, read into
tables and audited. What is shared saves time only:

* the table of training options, where a case changes nothing that the step model reads;
* the model as arrays, written without Pyomo objects (:mod:`.arrayform`);
* the basis of the base case's relaxation, from which every case starts (not from the case before,
  so that a case's plan does not depend on which other cases there are, nor on their order); large
  models have none, and start with a search among the whole numbers next to their own relaxed plan.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fleetplan.api import Problem, Settings, earlier_plan, finish, solve_problem
from fleetplan.errors import UsageError
from fleetplan.progress import Silent, Stopwatch
from fleetplan.studies.stepkey import step_key

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.planning.earlier import Earlier
    from fleetplan.solving.result import Result
    from fleetplan.solving.warm import Start

TABLES_KEPT = 16


@dataclass
class Workshop:
    """Makes plans of scenarios that resemble ``base``. Can be pickled, to work in other processes."""

    base: Scenario
    settings: Settings = field(default_factory=Settings)
    start: Start | None = None
    tables: OrderedDict[str, pd.DataFrame] = field(default_factory=OrderedDict)
    """Options tables by step key, least recently used first."""

    def __post_init__(self) -> None:
        """Refuse solvers that do not take arrays."""
        if self.settings.solver != "highs":
            message = f"studies are solved by highs, not by {self.settings.solver}"
            raise UsageError(message)

    def warmed(self) -> Workshop:
        """Solve the base case's relaxation to a basis, once, as the start of every case."""
        if self.start is None:
            from fleetplan.solving.warm import make_start

            compiled = self.problem(self.base).compiled
            self.start = make_start(compiled, self.settings.solve_options())
        return self

    def options_of(self, scenario: Scenario) -> pd.DataFrame:
        """The table of training options, made only if no case with the same step inputs came before."""
        key = step_key(scenario)
        if key not in self.tables:
            from fleetplan.performance import performance_table

            self.tables[key] = performance_table(scenario)
            if len(self.tables) > TABLES_KEPT:
                self.tables.popitem(last=False)
        self.tables.move_to_end(key)
        return self.tables[key]

    def problem(
        self,
        scenario: Scenario,
        *,
        previous: Earlier | pd.DataFrame | None = None,
        options: pd.DataFrame | None = None,
        watch: Stopwatch | None = None,
    ) -> Problem:
        """Model and arrays of a scenario; ``previous`` is the earlier plan to stay close to, or its orders alone.

        Raises ``InputError`` and ``InfeasibleError`` where no model can be.
        """
        from fleetplan.planning.model import build_model
        from fleetplan.studies.arrayform import ArrayForm

        watch = watch or Stopwatch(Silent())
        with watch.phase("steps"):
            table = self.options_of(scenario) if options is None else options
        with watch.phase("model"):
            form = ArrayForm(scenario.name)
            earlier = earlier_plan(scenario) if previous is None else previous
            model = build_model(scenario, table, earlier, form=form)
            return Problem(scenario, table, model, form.compiled())

    def solve(self, problem: Problem, watch: Stopwatch | None = None) -> Result:
        """Solve to the gap of the settings; raises as ``require_plan`` does."""
        return solve_problem(problem, self.settings, watch, start=self.start)

    def plan(
        self,
        scenario: Scenario,
        *,
        previous: Earlier | pd.DataFrame | None = None,
        options: pd.DataFrame | None = None,
    ) -> Plan:
        """Make and audit the plan of a scenario; raises as :func:`fleetplan.api.optimize` does."""
        watch = Stopwatch(Silent())
        problem = self.problem(scenario, previous=previous, options=options, watch=watch)
        return finish(problem, self.solve(problem, watch), self.settings, watch)
