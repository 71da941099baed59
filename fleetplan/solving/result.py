"""What a solve gives back, and the errors it becomes where there is no plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fleetplan.errors import InfeasibleError, Interrupted, LimitError, SolverError, UnboundedError
from fleetplan.solving.arrays import Floats
from fleetplan.solving.check import Violation
from fleetplan.solving.status import Status

BoundSource = Literal["duals", "search", "none"]
"""``duals``: computed here from the relaxation's row prices; ``search``: HiGHS' search over a model
that keeps every better plan; ``none``: nothing is proven."""


@dataclass(frozen=True)
class Result:
    """A plan (if any) with what is proven about it. Objective and bound are minimised ones."""

    status: Status
    x: Floats | None
    objective: float | None
    bound: float
    """No plan of the whole problem costs less than this; ``-inf`` where nothing is proven."""
    bound_source: BoundSource
    row_dual: Floats | None = None
    """Prices of the relaxation by row; ``None`` where it was not solved."""
    col_dual: Floats | None = None
    relaxation_objective: float | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase."""
    reproducible: bool = True
    """False where a wall-clock limit or the user ended a phase."""
    violation: Violation | None = None
    """The worst broken limit of the plan, by an own check."""
    notes: tuple[str, ...] = ()
    solver: str = "HiGHS"

    @property
    def gap_abs(self) -> float:
        """Objective less bound, in the unit of the objective; infinite without a plan or bound."""
        return np.inf if self.objective is None else max(0.0, self.objective - self.bound)

    @property
    def gap_rel(self) -> float:
        """Gap relative to the objective; see ``gap_abs`` where the objective is near 0."""
        if self.gap_abs == 0:
            return 0.0
        scale = abs(self.objective or 0.0)
        return self.gap_abs / scale if scale else np.inf

    @property
    def has_plan(self) -> bool:
        """Whether there is a feasible plan, proven to any degree or not."""
        return self.x is not None


_WITHOUT_PLAN: dict[Status, tuple[type[Exception], str]] = {
    Status.INFEASIBLE: (InfeasibleError, "no plan satisfies all limits"),
    Status.UNBOUNDED: (UnboundedError, "the cost has no lower bound: some income is not limited"),
    Status.LIMIT: (LimitError, "the limit was reached before any plan was found"),
    Status.LIMIT_WITHOUT_PLAN: (LimitError, "the limit was reached before any plan was found"),
    Status.INTERRUPTED: (Interrupted, "stopped before any plan was found"),
    Status.INFEASIBLE_OR_UNBOUNDED: (SolverError, "the solver found the model infeasible or unbounded"),
}


def require_plan(result: Result) -> Result:
    """Give the result back if it holds a plan, or raise the error that its status stands for.

    ``InfeasibleError``, ``UnboundedError``, ``LimitError``, ``Interrupted`` or ``SolverError``.
    """
    if result.has_plan and result.status is not Status.UNBOUNDED:
        return result
    kind, message = _WITHOUT_PLAN.get(result.status, (SolverError, f"{result.solver} failed"))
    raise kind(": ".join([message, *result.notes]))
