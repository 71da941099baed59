"""An infeasible scenario, ready to be asked under changed inputs, as long as its clock runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError
from fleetplan.explain.case import Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.soften import Relieved, has_plan, least_relief

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.planning.earlier import Earlier
    from fleetplan.solving.arrays import Key
    from fleetplan.solving.options import SolveOptions


@dataclass(frozen=True)
class Question:
    """An infeasible scenario with what is needed to solve variants of it."""

    scenario: Scenario
    options: pd.DataFrame
    settings: SolveOptions
    previous: Earlier | pd.DataFrame | None
    clock: Clock = field(default_factory=Clock)
    """When to stop: what asks for a solve after that raises ``LimitError``."""

    @cached_property
    def base(self) -> Case:
        """The case as it stands; raises ``InfeasibleError`` where it cannot be built."""
        return self.case(self.scenario)

    def case(self, scenario: Scenario) -> Case:
        """The case of a variant; raises ``InfeasibleError`` where it cannot be built."""
        self.clock.check()
        return Case.of(scenario, self.options, self.settings, self.previous)

    def possible(self, scenario: Scenario, near: Mapping[Key, float] | None = None) -> bool:
        """Whether a variant has any plan; whole lots ``near`` one are tried first."""
        try:
            case = self.base if scenario is self.scenario else self.case(scenario)
            return self.has_plan(case, near)
        except InfeasibleError:
            return False

    def has_plan(self, case: Case, near: Mapping[Key, float] | None = None) -> bool:
        """Whether a case has any plan."""
        return has_plan(case, self.clock.limit(self.settings), near)

    def relief(self, case: Case, weights: Mapping[int, float]) -> Relieved | None:
        """The least relief of some rows of a case."""
        return least_relief(case, weights, self.clock.limit(self.settings)) if weights else None
