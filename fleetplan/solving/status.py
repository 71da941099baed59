"""What a solver's end means: one set of words, and the one table from HiGHS' words to them."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    """Proven within the gap that was asked for."""
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    """One of both; never the end of :func:`fleetplan.solving.recipe.solve`, which finds out which."""
    LIMIT = "limit"
    """A limit was reached; there is a plan, its gap says how good it is proven to be."""
    LIMIT_WITHOUT_PLAN = "limit without plan"
    INTERRUPTED = "interrupted"
    """Stopped by the user; the best plan so far, if any, is kept."""
    ERROR = "error"
    """The solver failed or ended with a word that we do not know; a plan it had is kept."""


OF_HIGHS: dict[str, Status] = {
    "kNotset": Status.ERROR,
    "kLoadError": Status.ERROR,
    "kModelError": Status.ERROR,
    "kPresolveError": Status.ERROR,
    "kSolveError": Status.ERROR,
    "kPostsolveError": Status.ERROR,
    "kModelEmpty": Status.OPTIMAL,
    "kOptimal": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnboundedOrInfeasible": Status.INFEASIBLE_OR_UNBOUNDED,
    "kUnbounded": Status.UNBOUNDED,
    "kObjectiveBound": Status.LIMIT,
    "kObjectiveTarget": Status.LIMIT,
    "kTimeLimit": Status.LIMIT,
    "kIterationLimit": Status.LIMIT,
    "kUnknown": Status.ERROR,
    "kSolutionLimit": Status.LIMIT,
    "kInterrupt": Status.INTERRUPTED,
    "kMemoryLimit": Status.LIMIT,
    "kHighsInterrupt": Status.INTERRUPTED,
}
"""By the name of a ``highspy.HighsModelStatus``; a name that is not here counts as an error."""


def status_of_highs(name: str, has_plan: bool) -> Status:
    """Our word for HiGHS' word, given whether it left a feasible plan."""
    status = OF_HIGHS.get(name, Status.ERROR)
    if status is Status.LIMIT and not has_plan:
        return Status.LIMIT_WITHOUT_PLAN
    return status


def needs_report(name: str) -> bool:
    """Whether a newer HiGHS ended with a word that this table lacks."""
    return name not in OF_HIGHS
