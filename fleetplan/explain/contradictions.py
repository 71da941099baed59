"""Contradictions that can be seen without a solve: commitments without a place, dates, hopeless demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fleetplan import money
from fleetplan.explain.places_in_files import Source, figure_source, power_source, supply_source
from fleetplan.lifecycle import first_period_from, usable_mw
from fleetplan.plan.words import join, number, racks_of

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Hall, Scenario, Supply

Kind = Literal[
    "no hall cools it",
    "rack too large",
    "no power when it comes",
    "commitment",
    "budget",
    "write-off",
    "depreciation",
    "carbon",
    "frozen orders",
    "nobody can serve it",
    "comes too late",
]
NOTES: frozenset[str] = frozenset({"nobody can serve it", "comes too late"})
"""Kinds that cost money but leave a plan possible."""


@dataclass(frozen=True)
class Finding:
    """One thing that cannot be: what kind, where, how much, and where it is written."""

    kind: Kind
    place: tuple[str, ...]
    """Accelerator and delivery quarter, window, workload …"""
    amount: float
    unit: str
    text: str
    sources: tuple[Source, ...] = ()

    @property
    def prevents_a_plan(self) -> bool:
        """Whether no plan exists because of it."""
        return self.kind not in NOTES

    def lines(self) -> list[str]:
        """Say it, with the lines of the input below."""
        return [self.text, *(f"  {source}" for source in self.sources)]


def contradictions(scenario: Scenario, options: pd.DataFrame) -> list[Finding]:
    """Everything that contradicts itself on sight, in a fixed order."""
    return [*homeless(scenario), *_budgets(scenario), *_late(scenario), *_hopeless(scenario, options)]


def homeless(scenario: Scenario) -> list[Finding]:
    """Commitments that no hall can take: by cooling, by size of the rack, or for want of any power."""
    found = []
    dark = not any(
        _usable(scenario, hall, t) > 0 for hall in scenario.halls.values() for t in _periods(scenario)
    )
    for row in scenario.supply:
        entry = _entry(scenario, row)
        if row.committed_racks <= 0 or entry is None or dark:
            continue
        finding = _homeless(scenario, row, entry)
        if finding is not None:
            found.append(finding)
    return found


def _homeless(scenario: Scenario, row: Supply, entry: int) -> Finding | None:
    part = scenario.accelerators[row.accelerator]
    who = f"{racks_of(row.committed_racks, 'committed ')} of {row.accelerator} delivered in {row.delivery}"
    place, racks = (row.accelerator, str(row.delivery)), float(row.committed_racks)
    source = tuple(supply_source(scenario, *place))
    cooled = [hall for hall in scenario.halls.values() if hall.cooling_class in part.cooling]
    if not cooled:
        text = f"{who} find no hall that cools them: they need {join(list(part.cooling))}."
        return Finding("no hall cools it", place, racks, "racks", text, source)
    fitting = [hall for hall in cooled if not _too_large(scenario, hall, row.accelerator)]
    if not fitting:
        most = max(hall.max_rack_it_kw or 0.0 for hall in cooled)
        text = f"{who} take {number(part.rack_it_kw)} kW of IT a rack; halls that cool them allow {number(most)}."
        return Finding("rack too large", place, racks, "racks", text, source)
    if any(_usable(scenario, hall, entry) > 0 for hall in fitting):
        return None
    period = scenario.horizon[entry].name
    text = f"{who} go into service in {period}, when no hall that accepts them has power."
    where = [s for hall in fitting for s in power_source(scenario, hall.name, period)]
    return Finding("no power when it comes", place, racks, "racks", text, (*source, *where))


def _budgets(scenario: Scenario) -> list[Finding]:
    """Windows whose budget is below what is committed in them."""
    found = []
    for window, budget in scenario.finance.capex_budget_musd.items() if scenario.rules.limit_capex else ():
        offsets = money.window_quarters(window, scenario.horizon)
        inside = {scenario.horizon.start + offset for offset in offsets}
        rows = [row for row in scenario.supply if row.delivery in inside and row.committed_racks]
        due = sum(
            row.committed_racks * row.price_musd_per_rack for row in rows if _entry(scenario, row) is not None
        )
        if due > budget * (1 + 1e-9):
            text = f"Commitments of {window} cost {number(due)} M USD, the budget is {number(budget)}."
            sources = [figure_source(scenario, f"finance.capex_budget_musd[{window}]", f"budget {window}")]
            sources += [
                s for row in rows for s in supply_source(scenario, row.accelerator, str(row.delivery))
            ]
            found.append(Finding("budget", (window,), due - budget, "M USD", text, tuple(sources)))
    return found


def _late(scenario: Scenario) -> list[Finding]:
    found = []
    for row in scenario.supply:
        inside = scenario.horizon.index_of(row.delivery) is not None
        if inside and row.committed_racks and _entry(scenario, row) is None:
            text = (
                f"{row.committed_racks} committed racks of {row.accelerator} delivered in {row.delivery} "
                "go into service after the horizon: they are paid and never work in it."
            )
            place = (row.accelerator, str(row.delivery))
            sources = tuple(supply_source(scenario, *place))
            found.append(Finding("comes too late", place, float(row.committed_racks), "racks", text, sources))
    return found


def _hopeless(scenario: Scenario, options: pd.DataFrame) -> list[Finding]:
    """Workloads that no accelerator of the scenario can train where they may run."""
    found = []
    usable = options[
        options["fits"] & options["meets_deadline"] & (options["net_samples_per_s_per_rack"] > 0)
    ]
    for name, workload in scenario.workloads.items():
        asked = max((row.samples_per_s for row in scenario.demand if row.workload == name), default=0.0)
        own = set(usable.loc[usable["workload"] == name, "accelerator"]) & set(scenario.accelerators)
        sites = workload.allowed_sites or tuple(scenario.sites)
        halls = [hall for hall in scenario.halls.values() if hall.site in sites]
        placed = [a for a in own for hall in halls if hall.cooling_class in scenario.accelerators[a].cooling]
        if asked > 0 and not placed:
            why = (
                "no accelerator holds it in memory and meets its deadline"
                if not own
                else (f"{join(sorted(own))} could train it, and no hall of {join(list(sites))} accepts them")
            )
            source = Source(workload.origin.file, workload.origin.line, name)
            text = f"{name} cannot be served: {why}. All its demand is short."
            found.append(Finding("nobody can serve it", (name,), asked, "samples/s", text, (source,)))
    return found


def _entry(scenario: Scenario, row: Supply) -> int | None:
    """Period in which a delivery goes into service; ``None`` outside the horizon."""
    if scenario.horizon.index_of(row.delivery) is None:
        return None
    service = row.delivery + scenario.lifecycle.install_quarters
    index = first_period_from(scenario.horizon, service)
    return index if index < len(scenario.horizon) else None


def _too_large(scenario: Scenario, hall: Hall, accelerator: str) -> bool:
    rack = scenario.accelerators[accelerator].rack_it_kw
    return hall.max_rack_it_kw is not None and rack is not None and rack > hall.max_rack_it_kw


def _periods(scenario: Scenario) -> range:
    return range(len(scenario.horizon))


def _usable(scenario: Scenario, hall: Hall, t: int) -> float:
    """Least usable MW of a hall in a period."""
    period = scenario.horizon[t]
    dates = scenario.rules.site_dates
    values = []
    for row in scenario.power:
        if row.hall == hall.name and row.quarter in period:
            stated = {"slip": row.facility_mw_if_dates_slip, "early": row.facility_mw_if_dates_early}.get(
                dates
            )
            values.append(row.facility_mw if stated is None else stated)
    stranded = scenario.sites[hall.site].stranded_share
    return usable_mw(min(values, default=0.0), hall.reserve_share, stranded)
