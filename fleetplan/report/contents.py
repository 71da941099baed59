"""All tables of a report, in one order for the page, the workbook and the files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.plan.store import DICTIONARY
from fleetplan.report.embedded import Table, plan_tables
from fleetplan.report.evidence import assumptions
from fleetplan.report.explained import explained_tables
from fleetplan.report.inputs import input_tables
from fleetplan.report.source import ReportSource

if TYPE_CHECKING:
    from fleetplan.explain.explanation import Explanation
    from fleetplan.plan.plan import Plan


@dataclass(frozen=True)
class Contents:
    """A plan prepared for reporting: its look-ups and every table to be shown."""

    source: ReportSource
    inputs: tuple[Table, ...]
    tables: tuple[Table, ...]

    def dictionary(self) -> Table:
        """What each column of each table means."""
        rows = (
            (t.name, c.name, c.type, c.unit, "yes" if c.key else "no", c.meaning)
            for t in self.tables
            for c in t.spec.columns
        )
        return Table(DICTIONARY, DICTIONARY.frame(rows))


def contents(plan: Plan, explanation: Explanation | None = None) -> Contents:
    """Collect a plan's tables, its open assumptions, its inputs and what an explanation found."""
    source = ReportSource(plan, explanation=explanation)
    drivers = assumptions(source)
    answers = tuple(explained_tables(explanation)) if explanation is not None else ()
    source = replace(source, extras={t.name: t.frame for t in (drivers, *answers)})
    inputs = tuple(input_tables(plan.scenario))
    return Contents(source, inputs, (*plan_tables(source), drivers, *answers, *inputs))
