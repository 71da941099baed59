"""Why no plan is possible, where it is written, and the smallest change of each kind that mends it.

First what contradicts itself on sight; then an elastic solve in which only budgets and commitments
give (demand always may: its shortfall has a price) and physics is hard; then, as a detail, a set of
rows that clash. Every mend is confirmed by a solve with it, and by one with a little less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.api import previous_orders
from fleetplan.errors import FleetplanError, InfeasibleError
from fleetplan.explain.case import parts
from fleetplan.explain.contradictions import Finding, contradictions, homeless
from fleetplan.explain.mends import Change, Mend, Question, apply, mends
from fleetplan.explain.places_in_files import Source, figure_source, power_source, supply_source
from fleetplan.explain.soften import Relief, has_plan, least_relief, rows_of
from fleetplan.periods import Quarter
from fleetplan.plan.words import number, racks_of
from fleetplan.solving.infeasible import iis
from fleetplan.solving.options import SolveOptions

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd

    from fleetplan.explain.case import Case
    from fleetplan.inputs.scenario import Scenario

SOFT = ("committed", "odd_racks", "frozen", "budget", "write_off", "depreciation", "carbon")
"""Rows that people decide; all others are physics."""
PATHS = {
    "budget": ("budget", "finance.capex_budget_musd", "M USD"),
    "write_off": ("write-off", "finance.write_off_limit_musd", "M USD"),
    "depreciation": ("depreciation", "finance.depreciation_limit_musd", "M USD"),
    "carbon": ("carbon", "carbon.cap_mt_per_year", "kt CO2e"),
}


@dataclass(frozen=True)
class Diagnosis:
    """What stands in the way of a plan."""

    feasible: bool
    findings: tuple[Finding, ...]
    mends: tuple[Mend, ...]
    conflict: tuple[str, ...]
    """Rows of the model that clash, by name; a detail for those who know the model."""
    clashing: tuple[Source, ...]
    """Lines of the input behind those rows."""

    def lines(self) -> list[str]:
        """Say it in a planner's words: what, where it is written, what would mend it."""
        notes = [line for f in self.findings if not f.prevents_a_plan for line in f.lines()]
        if self.feasible:
            return ["A plan is possible.", *notes]
        causes = [line for f in self.findings if f.prevents_a_plan for line in f.lines()]
        head = causes or ["No plan is possible."]
        also = [f"  {source}" for source in self.clashing if f"  {source}" not in causes]
        return [
            f"No plan is possible: {head[0][0].lower()}{head[0][1:]}",
            *head[1:],
            *also,
            *self._mended(),
            *notes,
        ]

    def _mended(self) -> list[str]:
        if not self.mends:
            return ["  No change of one kind alone makes a plan possible."]
        head = "  Smallest mends, each confirmed by a solve:"
        return [
            head,
            *(f"    {mend.text}" + ("" if mend.smallest else " (less may do)") for mend in self.mends),
        ]


def diagnose(
    scenario: Scenario,
    options: pd.DataFrame,
    settings: SolveOptions | None = None,
    previous: pd.DataFrame | None = None,
    conflict_time_s: float = 10.0,
) -> Diagnosis:
    """Say whether a plan is possible, and if not, why and what would mend it.

    ``previous`` are the orders of the earlier plan, if not those that the scenario names;
    ``conflict_time_s`` limits the search for a clashing set of rows; 0 leaves it out.
    """
    earlier = previous_orders(scenario) if previous is None else previous
    question = Question(scenario, options, settings or SolveOptions(), earlier)
    seen = contradictions(scenario, options)
    if question.possible(scenario):
        return Diagnosis(True, tuple(f for f in seen if not f.prevents_a_plan), (), (), ())
    found = [*seen, *_elastic(question, seen)]
    rows, clashing = _conflict(question, conflict_time_s)
    return Diagnosis(False, tuple(found), tuple(mends(question)), rows, clashing)


def _elastic(question: Question, seen: list[Finding]) -> list[Finding]:
    """What must give among budgets and commitments, beyond what was seen on sight."""
    known = {(finding.kind, finding.place) for finding in seen}
    dropped = (*_without_home(question.scenario), *_paid_for(question.scenario, seen))
    try:
        case = question.case(apply(question.scenario, dropped)) if dropped else question.base
    except InfeasibleError as error:
        return [] if seen else [Finding("commitment", (), 0.0, "", f"{error}.")]
    if has_plan(case):
        return []
    reliefs = least_relief(case, _weights(case), question.settings)
    if reliefs is None:
        text = "Physics alone leaves no plan: present racks, their ages and the power of their halls."
        return [Finding("no power when it comes", (), 0.0, "", text)]
    found = [_finding(case, relief) for relief in reliefs]
    if all(finding.kind == "commitment" for finding in found):
        found = [*_limits_alone(case, question.settings), *found]
    return [finding for finding in found if (finding.kind, finding.place) not in known]


def _limits_alone(case: Case, settings: SolveOptions) -> list[Finding]:
    """Limits of one kind that alone stand in the way: with them raised, every commitment has a place."""
    found = []
    for family in PATHS:
        reliefs = least_relief(case, rows_of(case, family), settings)
        found += [_finding(case, relief) for relief in reliefs or ()]
    return found


def _without_home(scenario: Scenario) -> list[Change]:
    """Changes that take away the commitments that no hall can take."""
    return [
        Change(f"supply[{f.place[0]},{f.place[1]}].committed_racks", f.amount, 0.0)
        for f in homeless(scenario)
    ]


def _paid_for(scenario: Scenario, seen: list[Finding]) -> list[Change]:
    """Changes that raise the budgets that were seen to be too small, so that they are said once."""
    budgets = scenario.finance.capex_budget_musd
    return [
        Change(
            f"finance.capex_budget_musd[{f.place[0]}]", budgets[f.place[0]], budgets[f.place[0]] + f.amount
        )
        for f in seen
        if f.kind == "budget"
    ]


def _weights(case: Case) -> dict[int, float]:
    """Relative relief: each row's unit over its size, so that racks, dollars and tonnes compare."""
    weights = {}
    for row in rows_of(case, *SOFT):
        sides = (case.compiled.row_lower[row], case.compiled.row_upper[row])
        size = max((abs(float(side)) for side in sides if abs(side) < float("inf")), default=1.0)
        weights[row] = 1.0 / max(1.0, size)
    return weights


def _finding(case: Case, relief: Relief) -> Finding:
    scenario = case.scenario
    if relief.family in PATHS:
        kind, path, unit = PATHS[relief.family]
        window = parts(relief.index)[0]
        text = (
            f"The limit on {kind.replace('budget', 'purchases')} of {window} is {number(relief.limit)} {unit}; "
            f"it must be at least {number(relief.limit + relief.amount)}."
        )
        source = figure_source(
            scenario, f"{path}[{window}]", f"{kind} {window}: {number(relief.limit)} {unit}"
        )
        return Finding(kind, (str(window),), relief.amount, unit, text, (source,))  # type: ignore[arg-type]
    accelerator, delivery = parts(relief.index)[-2:]
    place = (accelerator, delivery)
    each = case.lot_racks(accelerator) if relief.family == "committed" else 1
    racks = relief.amount * each
    sources = tuple(supply_source(scenario, *place))
    if relief.family == "frozen":
        frozen = f"Orders of {accelerator} for {delivery} are frozen by the earlier plan"
        text = f"{frozen}; {racks_of(racks)} cannot be kept."
        return Finding("frozen orders", place, racks, "racks", text, sources)
    text = (
        f"{racks_of(racks, 'committed ')} of {accelerator} delivered in {delivery} cannot be powered or paid."
    )
    return Finding("commitment", place, racks, "racks", text, (*sources, *_power_then(case, *place)))


def _power_then(case: Case, accelerator: str, delivery: str) -> list[Source]:
    """Power of the halls that accept an accelerator when a delivery of it goes into service."""
    table, landings = case.model.indices.deliveries.table, case.model.indices.deliveries.landings
    chosen = table[
        (table["accelerator"] == accelerator) & (table["delivery"] == Quarter.parse(delivery).ordinal)
    ]
    halls = landings.loc[landings["delivery"].isin(chosen.index), "hall"].tolist()
    names = case.model.indices.calendar.names
    entries = [names[int(t)] for t in chosen["entry"].tolist()]
    return [s for t in entries for hall in halls for s in power_source(case.scenario, str(hall), t)]


def _conflict(question: Question, time_s: float) -> tuple[tuple[str, ...], tuple[Source, ...]]:
    """Rows that clash, and the lines of the input behind them; nothing if the time is too short."""
    if time_s <= 0:
        return (), ()
    try:
        case = question.base
        clash = iis(case.compiled, time_s)
    except FleetplanError:  # a detail: the answer stands without it
        return (), ()
    sources: list[Source] = []
    for family, index in clash.rows:
        sources += _row_source(question.scenario, family, index)
    for family, index in clash.columns:
        if family == "lots":  # their number is bounded by what the hall can power when they come
            hall, _, delivery = parts(index)
            service = Quarter.parse(delivery) + question.scenario.lifecycle.install_quarters
            sources += power_source(question.scenario, hall, str(service))
    names = tuple(f"{family}[{', '.join(parts(index))}]" for family, index in clash.rows)
    return names, tuple(dict.fromkeys(sources))


def _row_source(scenario: Scenario, family: str, index: Hashable) -> list[Source]:
    if family == "power" and isinstance(index, tuple):
        return power_source(scenario, str(index[0]), str(index[1]))
    if family in ("committed", "odd_racks") and isinstance(index, tuple):
        return supply_source(scenario, str(index[0]), str(index[1]))
    if family in PATHS:
        window = parts(index)[0]
        return [figure_source(scenario, f"{PATHS[family][1]}[{window}]", f"{PATHS[family][0]} {window}")]
    return []
