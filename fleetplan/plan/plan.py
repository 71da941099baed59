"""A plan as one object: its tables, what it was made from, how good it is proven to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fleetplan.plan.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.audit_report import AuditReport
    from fleetplan.plan.manifest import Manifest
    from fleetplan.plan.summary import Summary


@dataclass(frozen=True, eq=False)
class Plan:
    """A deployment plan. Tables are copies: changing one does not change the plan.

    Every table of :mod:`fleetplan.plan.schema` is an attribute: ``plan.orders``, ``plan.power`` …
    """

    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    options: pd.DataFrame = field(repr=False)
    """The training options that the plan could use (:mod:`fleetplan.performance.table`)."""
    scenario: Scenario = field(repr=False)
    manifest: Manifest
    audit: AuditReport = field(repr=False)
    folder: Path | None = None
    """Where the plan is stored, if it is."""

    def __post_init__(self) -> None:
        """Type and order every table by its specification; a missing table raises ``KeyError``."""
        typed = {spec.name: spec.frame(self.tables[spec.name]) for spec in TABLES}
        object.__setattr__(self, "tables", MappingProxyType(typed))

    @property
    def orders(self) -> pd.DataFrame:
        """What to order, when at the latest, and where it lands."""
        return self._table("orders")

    @property
    def fleet(self) -> pd.DataFrame:
        """Racks alive by cohort and period."""
        return self._table("fleet")

    @property
    def retirements(self) -> pd.DataFrame:
        """Racks that leave at the start of a period."""
        return self._table("retirements")

    @property
    def roles(self) -> pd.DataFrame:
        """Racks handed on to roles outside training."""
        return self._table("roles")

    @property
    def modes(self) -> pd.DataFrame:
        """Racks by power cap."""
        return self._table("modes")

    @property
    def assignment(self) -> pd.DataFrame:
        """What trains where, on what, in which option."""
        return self._table("assignment")

    @property
    def work(self) -> pd.DataFrame:
        """Demand, what is served, deferred and short; samples/s."""
        return self._table("work")

    @property
    def power(self) -> pd.DataFrame:
        """Facility MW by hall and period."""
        return self._table("power")

    @property
    def power_by_accelerator(self) -> pd.DataFrame:
        """Facility MW by site, accelerator and period."""
        return self._table("power_by_accelerator")

    @property
    def energy(self) -> pd.DataFrame:
        """Energy in MWh, its cost and emissions by site and period."""
        return self._table("energy")

    @property
    def books(self) -> pd.DataFrame:
        """Book values by accelerator and period, M USD; not cash."""
        return self._table("books")

    @property
    def ledger(self) -> pd.DataFrame:
        """One row per cost item, period and cause; ``npv_musd`` sums to the objective."""
        return self._table("ledger")

    @property
    def cost_musd(self) -> float:
        """Net present cost, M USD: the objective."""
        return self.manifest.objective_musd

    @property
    def bound_musd(self) -> float | None:
        """No plan can cost less than this, M USD; ``None`` where nothing was proven."""
        return self.manifest.bound_musd

    @property
    def gap(self) -> float | None:
        """How far the cost may be above the least possible, as a share of the cost."""
        return self.manifest.gap

    @property
    def status(self) -> str:
        """The solver's status in one word."""
        return self.manifest.status

    def summary(self) -> Summary:
        """Sum the plan up in a planner's words and numbers."""
        from fleetplan.plan.summary import summarize

        return summarize(self)

    def save(self, folder: str | Path, *, replace: bool = False) -> Path:
        """Write the plan's folder, whole or not at all; see :func:`fleetplan.plan.store.write_plan`."""
        from fleetplan.plan.store import write_plan

        return write_plan(self, folder, replace=replace)

    @classmethod
    def load(cls, folder: str | Path) -> Plan:
        """Read a stored plan; see :func:`fleetplan.plan.store.read_plan`."""
        from fleetplan.plan.store import read_plan

        return read_plan(folder)

    def explain(self, **questions: Any) -> Any:
        """Why the plan is as it is; see :func:`fleetplan.explain.explain`."""
        return _later("fleetplan.explain", "explain")(self, **questions)

    def to_html(self) -> str:
        """Return the whole report as one self-contained page."""
        html: str = _later("fleetplan.report", "report_html")(self)
        return html

    def _table(self, name: str) -> pd.DataFrame:
        return self.tables[name].copy(deep=False)  # pandas copies on write

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.summary().lines())
        return f"<strong>Plan of {escape(self.manifest.title)}</strong><ul>{lines}</ul>"


def _later(module: str, name: str) -> Callable[..., Any]:
    """Find a function of a package to the right, looked up only when it is asked for."""
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
