"""One case of a study: change the base, plan, and say in one row how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fleetplan.errors import (
    FleetplanError,
    InfeasibleError,
    InputError,
    Interrupted,
    LimitError,
    UnboundedError,
    UsageError,
)
from fleetplan.studies.measures import measures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.studies.cases import Case
    from fleetplan.studies.workshop import Workshop

_WORDS: tuple[tuple[type[FleetplanError], str], ...] = (
    (InfeasibleError, "infeasible"),
    (UnboundedError, "unbounded"),
    (LimitError, "limit"),
    (InputError, "refused"),
    (UsageError, "refused"),
    (FleetplanError, "failed"),
)


@dataclass(frozen=True)
class Ran:
    """How a case ended. ``status`` is the solver's word for a plan, else why there is none."""

    case: Case
    status: str
    message: str
    measures: Mapping[str, float]
    bound_musd: float | None
    gap: float | None
    seconds: float
    cpu_s: float = 0.0
    """Processor seconds: what a case takes on a machine that does nothing else."""
    timings_s: Mapping[str, float] = field(default_factory=dict)
    plan: Plan | None = None

    def record(self) -> dict[str, Any]:
        """Everything but the plan itself, as plain JSON values."""
        return {
            "name": self.case.name,
            "values": dict(self.case.values),
            "quantiles": dict(self.case.quantiles),
            "status": self.status,
            "message": self.message,
            "measures": dict(self.measures),
            "bound_musd": self.bound_musd,
            "gap": self.gap,
            "seconds": round(self.seconds, 3),
            "cpu_s": round(self.cpu_s, 3),
            "timings_s": dict(self.timings_s),
        }


def changed(base: Scenario, case: Case) -> Scenario:
    """The base with the case's values. Raises ``UsageError`` where a value does not fit.

    Draws from intervals (cases with quantiles) are fitted: counts rounded, supply kept above what is
    committed; stated values are taken as they are or refused.
    """
    from fleetplan.inputs.values import value_at, with_values

    # The evidence of thousands of figures is copied once, not once per value.
    bare = base.model_copy(update={"figures": {}})
    made = with_values(bare, case.values, fit=bool(case.quantiles))
    figures = dict(base.figures)
    for path in case.values:
        if path in figures:
            figures[path] = _saying(figures[path], value_at(made, path))
    return made.model_copy(update={"figures": figures})


def _saying(figure: Any, value: Any) -> Any:
    from dataclasses import replace

    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return replace(figure, value=float(value) if numeric else str(value))


def run_case(workshop: Workshop, case: Case) -> Ran:
    """Plan one case. What has no plan comes back with its reason; only ``Interrupted`` is raised."""
    began, worked = time.perf_counter(), time.process_time()
    try:
        plan = workshop.plan(changed(workshop.base, case))
    except Interrupted:
        raise
    except FleetplanError as error:
        word = next(word for kind, word in _WORDS if isinstance(error, kind))
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - worked
        return Ran(case, word, str(error), {}, None, None, seconds, cpu_s)
    if plan.status == "interrupted":
        message = "stopped by the user; finished cases are kept, run the same command to go on"
        raise Interrupted(message)
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - worked
    found, timings = measures(plan), plan.manifest.timings_s
    return Ran(case, plan.status, "", found, plan.bound_musd, plan.gap, seconds, cpu_s, timings, plan)
