"""From a scenario to a plan: the one way through all rooms."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fleetplan.progress import Silent, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.audit_report import AuditReport
    from fleetplan.plan.manifest import Manifest, SolveFacts
    from fleetplan.plan.plan import Plan
    from fleetplan.planning.earlier import Earlier
    from fleetplan.planning.model import PlanningModel
    from fleetplan.progress import Progress
    from fleetplan.solving.arrays import Compiled
    from fleetplan.solving.in_order import Held
    from fleetplan.solving.options import SolveOptions
    from fleetplan.solving.result import Result
    from fleetplan.solving.warm import Start

OptionValue = bool | int | float | str
DEFAULT_GAP = 1e-3
"""Proven distance from the best possible plan at which a solve stops: far below what prices are known to."""


@dataclass(frozen=True)
class Settings:
    """How to solve. ``gap`` is the proven distance from the best possible plan, as a share of its cost."""

    gap: float = DEFAULT_GAP
    time_limit_s: float | None = None
    solver: str = "highs"
    solver_options: Mapping[str, OptionValue] = field(default_factory=dict)
    seed: int = 0
    threads: int = 1

    def solve_options(self) -> SolveOptions:
        """The same, as the solving room takes it."""
        from fleetplan.solving.options import SolveOptions

        return SolveOptions(
            gap_rel=self.gap,
            time_limit_s=self.time_limit_s,
            seed=self.seed,
            threads=self.threads,
            highs=dict(self.solver_options),
        )

    @classmethod
    def of_record(cls, record: Mapping[str, object], seed: int, threads: int) -> Settings:
        """Read back what :meth:`record` kept."""
        options = {k.removeprefix("option:"): v for k, v in record.items() if k.startswith("option:")}
        limit = record.get("time_limit_s")
        return cls(
            gap=float(str(record["gap"])),
            time_limit_s=None if limit is None else float(str(limit)),
            solver=str(record["solver"]),
            solver_options={k: v for k, v in options.items() if isinstance(v, (bool, int, float, str))},
            seed=seed,
            threads=threads,
        )

    def record(self) -> dict[str, OptionValue | None]:
        """What a manifest keeps, enough to solve again."""
        own = {"gap": self.gap, "time_limit_s": self.time_limit_s, "solver": self.solver}
        return {**own, **{f"option:{name}": value for name, value in self.solver_options.items()}}


@dataclass(frozen=True)
class Problem:
    """A scenario with its training options, as a model and as arrays: ready to solve."""

    scenario: Scenario
    options: pd.DataFrame
    model: PlanningModel
    compiled: Compiled

    def light(self) -> Problem:
        """The same without Pyomo's objects: all that HiGHS needs, in half the memory."""
        return replace(self, model=self.model.light(), compiled=self.compiled.detached())


def optimize(
    scenario: Scenario | str | Path,
    *,
    gap: float = DEFAULT_GAP,
    time_limit_s: float | None = None,
    solver: str = "highs",
    solver_options: Mapping[str, OptionValue] | None = None,
    seed: int = 0,
    threads: int = 1,
    options: pd.DataFrame | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Make the cheapest plan that respects every limit of the scenario, and audit it.

    ``scenario`` is a loaded scenario, or a folder, workbook or bundled name. ``gap`` is the proven
    distance from the best possible plan at which to stop, relative to the objective. ``options``
    replaces the step model's table of training options (columns of
    :data:`fleetplan.performance.table.OPTIONS`). The same inputs give the same plan unless
    ``time_limit_s`` cuts the solve short, which the manifest then says.

    Raises ``InputError`` (faults in the scenario), ``InfeasibleError``, ``UnboundedError``,
    ``LimitError`` (limit reached before any plan), ``SolverError``, ``AuditError``, ``Interrupted``
    (stopped before there was a plan; later, the best plan so far comes back with its gap).
    """
    watch = Stopwatch(progress or Silent())
    settings = Settings(gap, time_limit_s, solver, solver_options or {}, seed, threads)
    settings.solve_options()
    problem = prepare(_loaded(scenario, watch), options=options, watch=watch)
    if solver == "highs":
        problem = problem.light()
        gc.collect()  # Pyomo's objects refer to each other; while HiGHS runs nothing else would free them
    result = solve_problem(problem, settings, watch)
    return finish(problem, result, settings, watch)


def prepare(
    scenario: Scenario,
    *,
    options: pd.DataFrame | None = None,
    previous: Earlier | pd.DataFrame | None = None,
    watch: Stopwatch | None = None,
) -> Problem:
    """Make everything that a solve needs: training options, Pyomo model, arrays.

    ``previous`` is the plan to stay close to (or its orders), if not the one that the scenario names.
    """
    from fleetplan.performance import performance_table
    from fleetplan.planning import build_model
    from fleetplan.solving.compile import compile_model

    watch = watch or Stopwatch(Silent())
    if options is None:
        with watch.phase("steps") as message:
            options = performance_table(scenario)
            message += [f"{len(options):,} training options", f"{int(options['fits'].sum()):,} fit in memory"]
    with watch.phase("model") as message:
        earlier = earlier_plan(scenario) if previous is None else previous
        model = build_model(scenario, options, earlier)
        message.append(f"{len(model.terms):,} cost terms")
    with watch.phase("hand-off") as message:
        compiled = compile_model(model.pyomo)
        rows, columns = compiled.shape
        message += [f"{columns:,} columns", f"{rows:,} rows", f"{int(compiled.integer.sum()):,} whole lots"]
    return Problem(scenario, options, model, compiled)


def solve_problem(
    problem: Problem, settings: Settings, watch: Stopwatch | None = None, *, start: Start | None = None
) -> Result:
    """Solve, and among plans that cost little more take the one with the fewest changes, if asked.

    ``start`` is where a similar problem ended: it saves time and changes nothing that is proven.
    """
    from fleetplan.solving.result import require_plan
    from fleetplan.solving.status import Status

    watch = watch or Stopwatch(Silent())
    held: Held | None = None
    if problem.scenario.rules.shortfall == "by_priority":
        with watch.phase("shortfall") as said:
            problem, held = shortfall_first(problem, settings, watch.progress)
            said.extend(held.notes())
        start = None  # it ended at a problem without these limits
    with watch.phase("solve") as message:
        result = require_plan(_first_pass(problem, settings, watch.progress, start))
        message += [
            f"plan {result.objective:,.1f} M USD",
            f"bound {result.bound:,.1f}",
            f"gap {result.gap_rel:.3%}",
        ]
    if problem.scenario.rules.tie_break_tolerance > 0 and result.status is not Status.INTERRUPTED:
        with watch.phase("ties") as message:
            result = _second_pass(problem, result, settings, watch.progress)
            message += [f"plan {result.objective:,.1f} M USD", f"gap {result.gap_rel:.3%}"]
    if held is None:
        return result
    both = held.reproducible and result.reproducible
    return replace(result, notes=(*held.notes(), *result.notes), reproducible=both)


def shortfall_first(
    problem: Problem, settings: Settings, progress: Progress | None = None
) -> tuple[Problem, Held]:
    """The problem with shortfall held at the least that can be, one priority after another.

    Raises as ``require_plan`` does, and ``UsageError`` for a solver other than HiGHS.
    """
    from fleetplan.errors import UsageError
    from fleetplan.plan.solved import to_compiled
    from fleetplan.planning.shortfall import shortfall_by_priority
    from fleetplan.solving.in_order import Goal, hold_in_order

    if settings.solver != "highs":
        message = "rules.shortfall: by_priority needs the solver highs"
        raise UsageError(message)
    goals = [
        Goal(
            f"shortfall of priority {priority} (M USD at its price)",
            to_compiled(problem.model, problem.compiled, cost),
            size,
        )
        for priority, cost, size in shortfall_by_priority(problem.model)
    ]
    held = hold_in_order(problem.compiled, goals, settings.solve_options(), progress)
    return replace(problem, compiled=held.compiled), held


def finish(problem: Problem, result: Result, settings: Settings, watch: Stopwatch | None = None) -> Plan:
    """Turn solved values into an audited plan; ``AuditError`` where its tables do not re-add."""
    from fleetplan.plan.audit import audit, require
    from fleetplan.plan.manifest import make_manifest
    from fleetplan.plan.plan import Plan
    from fleetplan.plan.tables import extract

    watch = watch or Stopwatch(Silent())
    assert result.x is not None
    with watch.phase("plan") as message:
        tables = extract(problem.model, problem.compiled, result.x)
        message.append(f"{len(tables)} tables, {sum(map(len, tables.values())):,} rows")
    with watch.phase("audit") as message:
        report = audit(tables, problem.scenario, problem.options, objective_musd=result.objective)
        require(report)
        message.append(f"power, stock, work, money: {report.identities:,} identities hold")
    facts = _facts(problem, result, settings, watch)
    manifest = make_manifest(problem.scenario, problem.options, tables["ledger"], facts)
    return Plan(tables, problem.options, problem.scenario, _with_audit(manifest, report), report)


def _loaded(scenario: Scenario | str | Path, watch: Stopwatch) -> Scenario:
    from fleetplan.inputs.load import load_scenario

    if not isinstance(scenario, (str, Path)):
        return scenario
    with watch.phase("inputs") as message:
        loaded = load_scenario(scenario)
        message += [f"{len(loaded.sites)} sites", f"{len(loaded.workloads)} workloads"]
    return loaded


def earlier_plan(scenario: Scenario) -> Earlier | None:
    """The earlier plan that the scenario names, relative to the scenario's own folder."""
    from fleetplan.plan.store import read_plan
    from fleetplan.planning.earlier import Earlier

    if scenario.rules.previous_plan is None:
        return None
    return Earlier.of(read_plan(Path(scenario.folder) / scenario.rules.previous_plan).tables)


def _first_pass(problem: Problem, settings: Settings, progress: Progress, start: Start | None) -> Result:
    from fleetplan.planning.rounding import whole_lots
    from fleetplan.solving.others import solve_with_pyomo
    from fleetplan.solving.recipe import solve

    options = settings.solve_options()
    if settings.solver != "highs":
        return solve_with_pyomo(problem.model.pyomo, settings.solver, options)
    return solve(problem.compiled, options, progress, start=start, rounder=whole_lots)


def _second_pass(problem: Problem, first: Result, settings: Settings, progress: Progress) -> Result:
    """Fewest changes within the tolerance; objective and bound stay those of the cost."""
    from fleetplan.plan.solved import to_compiled
    from fleetplan.solving.second import minimize_then

    cost = to_compiled(problem.model, problem.compiled, problem.model.second_objective())
    tolerance = problem.scenario.rules.tie_break_tolerance
    second = minimize_then(
        problem.compiled,
        cost,
        tolerance,
        settings.solve_options(),
        first=first,
        progress=progress,
    )
    assert second.x is not None
    return replace(
        first,
        x=second.x,
        objective=problem.compiled.objective(second.x),
        violation=second.violation,
        timings={**first.timings, **{f"ties {name}": s for name, s in second.timings.items()}},
        reproducible=first.reproducible and second.reproducible,
        notes=(*first.notes, *second.notes),
    )


def _facts(problem: Problem, result: Result, settings: Settings, watch: Stopwatch) -> SolveFacts:
    from fleetplan.plan.manifest import SolveFacts

    rows, columns = problem.compiled.shape
    assert result.objective is not None
    return SolveFacts(
        status=str(result.status),
        objective_musd=result.objective,
        bound_musd=result.bound if abs(result.bound) < float("inf") else None,
        options=settings.record(),
        timings_s={**watch.seconds, **{f"solve: {name}": s for name, s in result.timings.items()}},
        rows=rows,
        columns=columns,
        integers=int(problem.compiled.integer.sum()),
        seed=settings.seed,
        threads=settings.threads,
        stopped_by_clock=not result.reproducible,
        notes=result.notes,
    )


def _with_audit(manifest: Manifest, report: AuditReport) -> Manifest:
    return manifest.model_copy(
        update={"audit_checks": len(report.checks), "audit_identities": report.identities}
    )
