"""What a report is made from: a plan, and what explanations found out about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fleetplan.periods import Quarter
from fleetplan.report.numbers import Number, Operation, Where
from fleetplan.report.palette import in_order

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.explain.explanation import Explanation
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.periods import Period
    from fleetplan.plan.plan import Plan
    from fleetplan.plan.summary import Summary


@dataclass(frozen=True)
class ReportSource:
    """A plan with the look-ups that every section needs; ``extras`` are tables made for the report."""

    plan: Plan
    extras: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    explanation: Explanation | None = None

    @property
    def scenario(self) -> Scenario:
        """The input of the plan."""
        return self.plan.scenario

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest as plain values."""
        return dict(self.plan.manifest.model_dump(mode="json"))

    @cached_property
    def summary(self) -> Summary:
        """The plan's facts in brief, as the terminal says them."""
        return self.plan.summary()

    def table(self, name: str) -> pd.DataFrame:
        """A table of the plan (``options`` included), or one made for the report."""
        if name in self.extras:
            return self.extras[name]
        return self.plan.options if name == "options" else self.plan.tables[name]

    @property
    def periods(self) -> tuple[Period, ...]:
        """All planning periods."""
        return self.scenario.horizon.periods

    @property
    def first(self) -> str:
        """Name of the first period: this quarter."""
        return self.periods[0].name

    @property
    def last(self) -> str:
        """Name of the last period."""
        return self.periods[-1].name

    def period_of(self, quarter: str) -> str:
        """Period that holds a quarter, or the nearest one; text that is no quarter stays as it is."""
        try:
            when = Quarter.parse(quarter)
        except ValueError:
            return quarter
        index = self.scenario.horizon.index_of(when)
        if index is None:
            return self.first if when < self.scenario.horizon.start else self.last
        return self.periods[index].name

    @cached_property
    def titles(self) -> dict[str, dict[str, str]]:
        """Readable name of every site, hall, accelerator and workload, by kind and name."""
        s = self.scenario
        return {
            "site": {n: x.title or n for n, x in s.sites.items()},
            "hall": {n: n for n in s.halls},
            "accelerator": {n: x.title or n for n, x in s.accelerators.items()},
            "workload": {n: x.title or n for n, x in s.workloads.items()},
        }

    def title(self, kind: str, name: str) -> str:
        """Readable name; the name itself where the scenario has none."""
        return self.titles[kind].get(name, name)

    def number(
        self, table: str, column: str, unit: str, where: Where | None = None, operation: Operation = "sum"
    ) -> Number:
        """Compute a number from a table by the rule that it will carry."""
        rule = where or {}
        rows = chosen(self.table(table), rule)
        return Number(_evaluate(rows, column, operation), unit, table, column, operation, rule)

    def in_use(self, kind: str) -> list[str]:
        """Names of a kind that the tables mention, in scenario order; accelerators by family."""
        known = list(self.titles[kind])
        seen = {name for frame in self.plan.tables.values() if kind in frame for name in frame[kind].unique()}
        names = [*[n for n in known if n in seen], *sorted(seen.difference(known))]
        return in_order(names) if kind == "accelerator" else names


def chosen(rows: pd.DataFrame, where: Where) -> pd.DataFrame:
    """Rows for which every named column holds one of the given texts."""
    for column, values in where.items():
        rows = rows[rows[column].astype("str").isin(list(values))]
    return rows


def _evaluate(rows: pd.DataFrame, column: str, operation: Operation) -> float:
    if operation == "rows":
        return float(len(rows))
    if operation in ("ratio", "rest"):
        upper, lower = column.split("/")
        below = float(rows[lower].sum())
        share = float(rows[upper].sum()) / below if below else float("nan")
        return share if operation == "ratio" else 1 - share
    if rows.empty:
        return 0.0
    return float(rows[column].agg(operation))


def unique(values: Iterable[str]) -> list[str]:
    """Values in order of first appearance, each once."""
    return list(dict.fromkeys(values))
