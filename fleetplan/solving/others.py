"""Other solvers that Pyomo knows, by name, with the same result and the same own check."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fleetplan.errors import SolverError
from fleetplan.solving.arrays import Compiled, Floats
from fleetplan.solving.check import made_whole, worst_violation
from fleetplan.solving.compile import compile_model
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.result import Result
from fleetplan.solving.status import Status

if TYPE_CHECKING:
    import pyomo.environ as pyo

KNOWN = ("appsi_highs", "gurobi", "gurobi_direct", "scip", "cbc", "cuopt", "cplex", "xpress", "glpk")
"""Names that are looked for when listing what is installed; any other name of Pyomo's works too."""

GAP_OPTION = {
    "appsi_highs": "mip_rel_gap",
    "gurobi": "MIPGap",
    "gurobi_direct": "MIPGap",
    "scip": "limits/gap",
    "cbc": "ratioGap",
    "cuopt": "mip_relative_gap",
    "glpk": "mipgap",
}
TIME_OPTION = {
    "appsi_highs": "time_limit",
    "gurobi": "TimeLimit",
    "gurobi_direct": "TimeLimit",
    "scip": "limits/time",
    "cbc": "sec",
    "cuopt": "time_limit",
    "glpk": "tmlim",
}
_OF_PYOMO: dict[str, Status] = {
    "optimal": Status.OPTIMAL,
    "globallyOptimal": Status.OPTIMAL,
    "locallyOptimal": Status.OPTIMAL,
    "feasible": Status.LIMIT,
    "maxTimeLimit": Status.LIMIT,
    "maxIterations": Status.LIMIT,
    "maxEvaluations": Status.LIMIT,
    "minFunctionValue": Status.LIMIT,
    "minStepLength": Status.LIMIT,
    "resourceInterrupt": Status.LIMIT,
    "infeasible": Status.INFEASIBLE,
    "intermediateNonInteger": Status.LIMIT_WITHOUT_PLAN,
    "infeasibleOrUnbounded": Status.INFEASIBLE_OR_UNBOUNDED,
    "invalidProblem": Status.ERROR,
    "unbounded": Status.UNBOUNDED,
    "userInterrupt": Status.INTERRUPTED,
    "noSolution": Status.LIMIT_WITHOUT_PLAN,
    "solverFailure": Status.ERROR,
    "internalSolverError": Status.ERROR,
    "error": Status.ERROR,
    "unknown": Status.ERROR,
    "licensingProblems": Status.ERROR,
    "other": Status.ERROR,
}


def installed_solvers() -> list[str]:
    """Names of the known solvers that can be used here; ``highs`` (our own way) is always there."""
    return ["highs", *(name for name in KNOWN if _available(name))]


def solve_with_pyomo(
    model: pyo.ConcreteModel,
    solver: str,
    options: SolveOptions | None = None,
    *,
    solver_options: Mapping[str, Any] | None = None,
    compiled: Compiled | None = None,
) -> Result:
    """Solve a Pyomo model by another solver; ``x`` is in the order of the compiled columns.

    Gap and time limit are passed on under the solver's own names; ``solver_options`` are passed as
    they are. Raises ``SolverError`` for a solver that is not installed, saying which are.
    """
    options = options or SolveOptions()
    compiled = compiled if compiled is not None else compile_model(model)
    engine = _engine(solver)
    for name, value in {**_common(solver, options), **(solver_options or {})}.items():
        engine.options[name] = value
    began = time.perf_counter()
    try:
        answer = engine.solve(model, load_solutions=False)
        word = str(answer.solver.termination_condition)
        status = _OF_PYOMO.get(word, Status.ERROR)
        x = _loaded(engine, model, answer, compiled) if status in (Status.OPTIMAL, Status.LIMIT) else None
    except (RuntimeError, ValueError, OSError) as error:
        raise SolverError(f"{solver} failed: {error}") from error
    return _result(compiled, solver, status, word, x, answer, options, time.perf_counter() - began)


def _available(name: str) -> bool:
    import logging

    import pyomo.environ as pyo
    from pyomo.common.errors import ApplicationError
    from pyomo.common.log import LoggingIntercept

    with LoggingIntercept(None, "pyomo", logging.CRITICAL):
        try:
            return bool(pyo.SolverFactory(name).available(exception_flag=False))
        except (ApplicationError, ImportError, AttributeError, RuntimeError):
            return False


def _engine(name: str) -> Any:
    import pyomo.environ as pyo

    if not _available(name):
        there = ", ".join(installed_solvers())
        raise SolverError(f"solver {name!r} is not installed here; there are: {there}")
    return pyo.SolverFactory(name)


def _common(solver: str, options: SolveOptions) -> dict[str, Any]:
    common: dict[str, Any] = {}
    if solver in GAP_OPTION:
        common[GAP_OPTION[solver]] = options.gap_rel
    if options.time_limit_s is not None:
        if solver not in TIME_OPTION:
            raise SolverError(f"the name of {solver}'s time limit is not known here: give it as an option")
        common[TIME_OPTION[solver]] = options.time_limit_s
    return common


def _loaded(engine: Any, model: pyo.ConcreteModel, answer: Any, compiled: Compiled) -> Floats | None:
    """The plan in the order of the columns; ``None`` where the solver has none."""
    if hasattr(engine, "load_vars"):
        engine.load_vars()
    elif len(answer.solution):
        model.solutions.load_from(answer)
    else:
        return None
    values = [_variable(model, family)[index].value for family, index in compiled.columns.keys]
    if any(value is None for value in values):
        return None
    return np.array(values, dtype=float)


def _variable(model: pyo.ConcreteModel, family: str) -> Any:
    return model.find_component(family)


def _result(
    compiled: Compiled,
    solver: str,
    status: Status,
    word: str,
    x: Floats | None,
    answer: Any,
    options: SolveOptions,
    seconds: float,
) -> Result:
    notes = [] if status in (Status.OPTIMAL, Status.INFEASIBLE) else [f"{solver} ended with {word}"]
    whole = made_whole(compiled, x, seed=options.seed) if x is not None else None
    if x is not None and whole is None:
        broken = worst_violation(compiled, x)
        notes.append(f"the plan was dropped: it is off by {broken.size:.2g} at {broken.where}")
        status = Status.ERROR
    if x is None and status is Status.LIMIT:
        status = Status.LIMIT_WITHOUT_PLAN
    bound = _bound(compiled, answer)
    return Result(
        status=status,
        x=whole.x if whole else None,
        objective=whole.objective if whole else None,
        bound=bound,
        bound_source="search" if np.isfinite(bound) else "none",
        timings={"search": seconds, "total": seconds},
        reproducible=status is Status.OPTIMAL and options.time_limit_s is None,
        violation=whole.violation if whole else None,
        notes=tuple(notes),
        solver=solver,
    )


def _bound(compiled: Compiled, answer: Any) -> float:
    """The solver's own bound, to be minimised, where it gives one."""
    raw = answer.problem.lower_bound if compiled.sign > 0 else answer.problem.upper_bound
    try:
        value = compiled.sign * float(raw)
    except (TypeError, ValueError):
        return -np.inf
    return value if np.isfinite(value) else -np.inf
