"""Many cases of one scenario: each a full audited plan, resumable, on one process or a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from fleetplan.api import Settings
from fleetplan.progress import Silent
from fleetplan.studies.folder import StudyFolder, write_whole
from fleetplan.studies.run import changed, run_case
from fleetplan.studies.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress
    from fleetplan.studies.cases import Case
    from fleetplan.studies.run import Ran

PLANNED = ("optimal", "limit")
"""Status words of cases that have a plan."""


@dataclass(frozen=True)
class Sweep:
    """Finished cases in the order in which they were asked for."""

    folder: StudyFolder
    cases: tuple[Case, ...]
    records: tuple[dict[str, Any], ...]
    computed: int
    """Cases that were computed now; all others were found finished."""

    @cached_property
    def results(self) -> pd.DataFrame:
        """One row per case: status, proof and :func:`.measures.measures`; costs are M USD present value."""
        import pandas as pd

        rows = [
            {
                "case": case.name,
                "folder": f"cases/{self.folder.key(case)}",
                "status": record["status"],
                "message": record["message"],
                **record["measures"],
                "bound_musd": record["bound_musd"],
                "gap": record["gap"],
            }
            for case, record in zip(self.cases, self.records, strict=True)
        ]
        return pd.DataFrame(rows)

    def frame(self) -> pd.DataFrame:
        """The results."""
        return self.results

    @cached_property
    def values(self) -> pd.DataFrame:
        """What each case changed: case, path, value (as text)."""
        import pandas as pd

        rows = [(case.name, path, str(v)) for case in self.cases for path, v in _changes(case)]
        return pd.DataFrame(rows, columns=["case", "path", "value"])

    @cached_property
    def times(self) -> pd.DataFrame:
        """Seconds by case and phase; what differs from run to run is here and nowhere else."""
        import pandas as pd

        rows = [
            {"case": case.name, "seconds": record["seconds"], "cpu_s": record["cpu_s"], **record["timings_s"]}
            for case, record in zip(self.cases, self.records, strict=True)
        ]
        return pd.DataFrame(rows)

    def plan(self, name: str) -> Plan:
        """The stored plan of a case by name."""
        return self.folder.plan(next(case for case in self.cases if case.name == name))

    def lines(self) -> list[str]:
        """The study in a few sentences."""
        table = self.results
        planned = table[table["status"].isin(PLANNED)]
        found = len(table) - self.computed
        lines = [
            f"{len(table)} cases, {len(planned)} with a plan; {self.computed} computed now, {found} found finished."
        ]
        for word, rows in table[~table["status"].isin(PLANNED)].groupby("status"):
            first = str(rows["message"].iloc[0]).splitlines()[0]
            lines.append(f"{len(rows)} {word}, like {rows['case'].iloc[0]}: {first}")
        if len(planned):
            low, middle, high = (planned["cost_musd"].quantile(q) for q in (0.1, 0.5, 0.9))
            lines.append(
                f"Cost: median {middle:,.1f} M USD, one in ten below {low:,.1f} or above {high:,.1f}."
            )
            best = planned.sort_values("cost_musd", kind="stable").iloc[0]
            worst = f"largest gap {planned['gap'].max():.3%}"
            lines.append(f"Cheapest: {best['case']}, {best['cost_musd']:,.1f} M USD; {worst}.")
        return lines


def _changes(case: Case) -> list[tuple[str, float | str]]:
    return sorted(case.values.items())  # noqa: PD011 - a mapping, not a frame


def sweep(
    scenario: Scenario,
    cases: Sequence[Case],
    folder: str | Path,
    settings: Settings | None = None,
    *,
    cluster: str | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> Sweep:
    """Plan every case; finished ones in the folder are not computed again.

    ``cluster`` is ``"local"`` for Dask workers on this machine (``workers`` of them) or the address
    of a scheduler (``tcp://…``). The tables are the same either way. Cases without a plan are rows
    with their reason. Raises ``UsageError`` for a folder that holds something else,
    ``MissingExtraError`` where Dask is wanted and absent, ``Interrupted`` when stopped: what is
    finished stays.
    """
    from fleetplan.inputs.values import value_at

    settings, progress = settings or Settings(), progress or Silent()
    for path in sorted({path for case in cases for path in case.values}):  # noqa: PD011 - a mapping
        value_at(scenario, path)
    store = StudyFolder(folder, scenario, settings)
    todo = {store.key(case): case for case in cases if store.done(case) is None}
    if todo:
        workshop = Workshop(scenario, settings).warmed()
        counter = _Counter(progress, len(todo))
        for ran in _runs(workshop, list(todo.values()), cluster, workers):
            store.keep(ran)
            counter.add(ran)
    records = tuple(record for case in cases if (record := store.done(case)) is not None)
    made = Sweep(store, tuple(cases), records, len(todo))
    _write_tables(made)
    return made


def _runs(workshop: Workshop, cases: list[Case], cluster: str | None, workers: int) -> Iterable[Ran]:
    if cluster is None:
        return (run_case(workshop, case) for case in cases)
    from fleetplan.studies.cluster import run_on_cluster

    return run_on_cluster(workshop, cases, cluster, workers)


@dataclass
class _Counter:
    """Tells how far a sweep is: done, without a plan, best."""

    progress: Progress
    total: int
    done: int = 0
    failed: int = 0
    best: float = float("inf")

    def add(self, ran: Ran) -> None:
        self.done += 1
        self.failed += ran.plan is None
        self.best = min(self.best, ran.measures.get("cost_musd", float("inf")))
        note = f"{self.failed} without a plan" + (
            "" if self.best == float("inf") else f", best {self.best:,.1f}"
        )
        self.progress.working("cases", self.done, self.total, note)


def _write_tables(made: Sweep) -> None:
    for name in ("results", "values", "times"):
        frame: pd.DataFrame = getattr(made, name)
        write_whole(made.folder.root / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))


@dataclass(frozen=True)
class Check:
    """Sampled cases solved once more from nothing, as ``fleetplan optimize`` does."""

    frame: pd.DataFrame
    """Costs and bounds in M USD, seconds, processor seconds; columns :data:`COLUMNS`."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "case", "warm_musd", "cold_musd", "warm_bound_musd", "cold_bound_musd",
        "warm_s", "cold_s", "warm_cpu_s", "cold_cpu_s", "agree",
    )  # fmt: skip

    def lines(self) -> list[str]:
        """Whether warm and cold agree, and how much time the study saves."""
        agree = int(self.frame["agree"].sum())
        warm, cold = self.frame["warm_cpu_s"].median(), self.frame["cold_cpu_s"].median()
        return [
            f"{agree} of {len(self.frame)} sampled cases agree with a cold solve within the proven gaps.",
            f"Median per case {warm:.1f} processor seconds, {cold:.1f} cold: a ratio of {cold / warm:.1f}.",
        ]


def check_against_cold(
    made: Sweep, scenario: Scenario, count: int, settings: Settings | None = None
) -> Check:
    """Solve evenly spaced planned cases cold and compare.

    Two proven results agree if neither undercuts the other's bound: ``bound <= other's cost``.
    """
    import time

    import pandas as pd

    from fleetplan.api import optimize

    settings = settings or Settings()
    planned = [i for i, r in enumerate(made.records) if r["status"] in PLANNED]
    rows = []
    for i in planned[:: max(1, len(planned) // max(1, count))][:count]:
        case, warm = made.cases[i], made.records[i]
        began, worked = time.perf_counter(), time.process_time()
        cold = optimize(
            changed(scenario, case), gap=settings.gap, seed=settings.seed, threads=settings.threads
        )
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - worked
        cost, bound = warm["measures"]["cost_musd"], warm["bound_musd"]
        slack = 1e-6 * max(1.0, abs(cost))
        agree = bound <= cold.cost_musd + slack and (cold.bound_musd or -float("inf")) <= cost + slack
        times = (warm["seconds"], seconds, warm["cpu_s"], cpu_s)
        rows.append((case.name, cost, cold.cost_musd, bound, cold.bound_musd, *times, agree))
    return Check(pd.DataFrame(rows, columns=list(Check.COLUMNS)))
