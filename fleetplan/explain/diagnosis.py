"""Why no plan is possible, where it is written, and the smallest change of each kind that mends it.

First what contradicts itself on sight; then an elastic solve in which only budgets and commitments
give (demand always may: its shortfall has a price) and physics is hard; then, as a detail, a set of
rows that clash. Every mend is confirmed by a solve with it, and by one with a little less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.api import earlier_plan
from fleetplan.errors import FleetplanError, InfeasibleError, LimitError
from fleetplan.explain.case import parts
from fleetplan.explain.clock import Clock
from fleetplan.explain.contradictions import Finding, contradictions, homeless
from fleetplan.explain.mends import Change, Mend, apply, mends
from fleetplan.explain.places_in_files import Source, figure_source, power_source, supply_source
from fleetplan.explain.question import Question
from fleetplan.explain.soften import Relief, proof, rows_of
from fleetplan.periods import Quarter
from fleetplan.plan.words import join, number, racks_of
from fleetplan.solving.infeasible import iis
from fleetplan.solving.linear import INTERIOR_FROM_COLUMNS
from fleetplan.solving.options import SolveOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import pandas as pd

    from fleetplan.explain.case import Case
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.planning.earlier import Earlier
    from fleetplan.solving.arrays import Key

FROZEN = ("frozen", "frozen_swaps", "frozen_exits")
SOFT = ("committed", "odd_racks", *FROZEN, "budget", "write_off", "depreciation", "carbon")
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

    feasible: bool | None
    """``None`` where the time was too short to say."""
    findings: tuple[Finding, ...] = ()
    mends: tuple[Mend, ...] = ()
    conflict: tuple[str, ...] = ()
    """Rows of the model that clash, by name; a detail for those who know the model."""
    clashing: tuple[Source, ...] = ()
    """Lines of the input behind those rows."""
    unanswered: tuple[str, ...] = ()
    """What the clock left open: ``causes``, or kinds of mends."""

    def lines(self) -> list[str]:
        """Say it in a planner's words: what, where it is written, what would mend it."""
        return [*self.said_first(), *self.said_last()]

    def said_first(self) -> list[str]:
        """Whether a plan is possible, and what stands in its way."""
        if self.feasible:
            return ["A plan is possible."]
        if self.feasible is None:
            return ["Whether a plan is possible was not found out in the time given."]
        causes = [line for f in self.findings if f.prevents_a_plan for line in f.lines()]
        head, *rest = causes or [UNNAMED]
        also = [f"  {source}" for source in self.clashing if f"  {source}" not in causes]
        return [f"No plan is possible: {head[0].lower()}{head[1:]}", *rest, *also]

    def said_last(self) -> list[str]:
        """What would mend it, what is left open, and what only costs money."""
        notes = [line for f in self.findings if not f.prevents_a_plan for line in f.lines()]
        if self.feasible is not False:
            return notes
        head = MENDS if self.mends else NO_MEND if not self.unanswered else ""
        mended = [head, *(said_of(mend) for mend in self.mends)] if head else []
        return [*mended, *_left_open(self.unanswered), *notes]


UNNAMED = "Whole lots, or limits that only together leave no room."
MENDS = "  Smallest mends, each confirmed by a solve:"
NO_MEND = "  No change of one kind alone makes a plan possible."


def said_of(mend: Mend) -> str:
    """One mend as a line."""
    return f"    {mend.text}" + ("" if mend.smallest else " (less may do)")


def _left_open(unanswered: tuple[str, ...]) -> list[str]:
    if not unanswered:
        return []
    return [f"  Not finished in the time given: {join(list(unanswered))}; a longer --time-limit goes on."]


def diagnose(
    scenario: Scenario,
    options: pd.DataFrame,
    settings: SolveOptions | None = None,
    previous: Earlier | pd.DataFrame | None = None,
    conflict_time_s: float = 10.0,
    *,
    time_s: float | None = None,
    heard: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Say whether a plan is possible, and if not, why and what would mend it.

    ``previous`` is the earlier plan (or its orders), if not the one that the scenario names;
    ``conflict_time_s`` limits the search for a clashing set of rows; 0 leaves it out. After ``time_s``
    no further solve begins, and the answer says what it left open. ``heard`` gets each line of the
    answer as soon as it is known, contradictions on sight first.
    """
    earlier = earlier_plan(scenario) if previous is None else previous
    question = Question(scenario, options, settings or SolveOptions(), earlier, Clock.of(time_s))
    seen = contradictions(scenario, options)
    told = Diagnosis(False, tuple(seen)).said_first() if any(f.prevents_a_plan for f in seen) else []
    for line in told:
        heard(line)
    found = _causes(question, seen, conflict_time_s)
    for line in found.said_first()[len(told) :]:
        heard(line)
    if found.feasible is False:
        found = _mended(question, found, heard)
    for line in found.said_last()[1 + len(found.mends) if found.mends else 0 :]:
        heard(line)
    return found


def _causes(question: Question, seen: list[Finding], conflict_time_s: float) -> Diagnosis:
    """What stands in the way, as far as the clock lets."""
    on_sight = any(finding.prevents_a_plan for finding in seen)
    try:
        if not on_sight and question.possible(question.scenario):
            return Diagnosis(True, tuple(seen))
    except LimitError:
        return Diagnosis(None, tuple(seen))
    try:
        found = [*seen, *_elastic(question, seen)]
        rows, clashing = _conflict(question, conflict_time_s)
    except LimitError:
        return Diagnosis(False, tuple(seen), unanswered=("causes",))
    return Diagnosis(False, tuple(found), (), rows, clashing)


def _mended(question: Question, found: Diagnosis, heard: Callable[[str], None]) -> Diagnosis:
    """The diagnosis with its mends, each said as it is found."""
    began: list[Mend] = []

    def said(mend: Mend) -> None:
        if not began:
            heard(MENDS)
        began.append(mend)
        heard(said_of(mend))

    made, unanswered = mends(question, said)
    return replace(found, mends=tuple(made), unanswered=(*found.unanswered, *unanswered))


def _elastic(question: Question, seen: list[Finding]) -> list[Finding]:
    """What must give among budgets and commitments, beyond what was seen on sight."""
    known = {(finding.kind, finding.place) for finding in seen}
    dropped = (*_without_home(question.scenario), *_paid_for(question.scenario, seen))
    try:
        case = question.case(apply(question.scenario, dropped)) if dropped else question.base
    except InfeasibleError as error:
        return [] if seen else [Finding("commitment", (), 0.0, "", f"{error}.")]
    if dropped and question.has_plan(case):
        return []
    relieved = question.relief(case, _weights(case))
    if relieved is None:
        text = "Physics alone leaves no plan: present racks, their ages and the power of their halls."
        return [Finding("no power when it comes", (), 0.0, "", text)]
    found = [_finding(case, relief) for relief in relieved.reliefs]
    if all(finding.kind == "commitment" for finding in found):
        found = [*_limits_alone(question, case), *found]
    return [finding for finding in found if (finding.kind, finding.place) not in known]


def _limits_alone(question: Question, case: Case) -> list[Finding]:
    """Limits of one kind that alone stand in the way: with them raised, every commitment has a place."""
    found = []
    for family in PATHS:
        relieved = question.relief(case, rows_of(case, family))
        found += [_finding(case, relief) for relief in (relieved.reliefs if relieved else ())]
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
    if relief.family == "frozen_exits":
        hall, accelerator, vintage, _, period = parts(relief.index)
        left = f"Racks of {accelerator} of {vintage} that leave {hall} in {period} are frozen by the earlier plan"
        text = f"{left}; {racks_of(relief.amount)} cannot be kept to it."
        return Finding("frozen orders", (accelerator, period), relief.amount, "racks", text, ())
    accelerator, delivery = parts(relief.index)[-2:]
    place = (accelerator, delivery)
    each = case.lot_racks(accelerator) if relief.family == "committed" else 1
    racks = relief.amount * each
    sources = tuple(supply_source(scenario, *place))
    if relief.family in FROZEN:
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
        rows, columns = _clash(question, case, time_s)
    except FleetplanError:  # a detail: the answer stands without it
        return (), ()
    sources: list[Source] = []
    for family, index in rows:
        sources += _row_source(question.scenario, family, index)
    for family, index in columns:
        if family == "lots":  # their number is bounded by what the hall can power when they come
            hall, _, delivery = parts(index)
            service = Quarter.parse(delivery) + question.scenario.lifecycle.install_quarters
            sources += power_source(question.scenario, hall, str(service))
    names = tuple(f"{family}[{', '.join(parts(index))}]" for family, index in rows)
    return names, tuple(dict.fromkeys(sources))


def _clash(question: Question, case: Case, time_s: float) -> tuple[list[Key], list[Key]]:
    """Rows and columns that clash: HiGHS' own set, or of a large model the rows of a proof, which is quick."""
    if case.compiled.shape[1] >= INTERIOR_FROM_COLUMNS:
        return proof(case, _weights(case), question.clock.limit(question.settings)), []
    clash = iis(case.compiled, time_s)
    return list(clash.rows), list(clash.columns)


def _row_source(scenario: Scenario, family: str, index: Hashable) -> list[Source]:
    if family == "power" and isinstance(index, tuple):
        return power_source(scenario, str(index[0]), str(index[1]))
    if family in ("committed", "odd_racks") and isinstance(index, tuple):
        return supply_source(scenario, str(index[0]), str(index[1]))
    if family in PATHS:
        window = parts(index)[0]
        return [figure_source(scenario, f"{PATHS[family][1]}[{window}]", f"{PATHS[family][0]} {window}")]
    return []
