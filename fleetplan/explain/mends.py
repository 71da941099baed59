"""The smallest change of each kind that makes a plan possible, confirmed by solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError, LimitError, UsageError
from fleetplan.explain.case import parts
from fleetplan.explain.contradictions import homeless
from fleetplan.explain.places_in_files import mw_paths
from fleetplan.explain.soften import rows_of
from fleetplan.inputs.values import value_at, with_value
from fleetplan.lifecycle import usable_mw
from fleetplan.plan.audit.stock import released_halls
from fleetplan.plan.audit.view import View
from fleetplan.plan.words import join, number, racks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.explain.case import Case
    from fleetplan.explain.question import Question
    from fleetplan.explain.soften import Relief, Relieved
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.periods import Period

AMPLE_MW = 1e4
"""More facility power than any hall will ever have: what a hall is given before its limit is softened."""
LESS = 0.99
"""A mend is the smallest if this share of it is not enough."""
MARGIN = 1e-6
"""What is added to a mend, relative, so that rounding does not undo it."""


@dataclass(frozen=True)
class Change:
    """One input that is changed."""

    path: str
    before: float
    after: float


@dataclass(frozen=True)
class Mend:
    """A set of changes of one kind that makes a plan possible."""

    kind: str
    changes: tuple[Change, ...]
    amount: float
    unit: str
    text: str
    confirmed: bool
    """Whether a plan exists with these changes."""
    smallest: bool
    """Whether none exists with a hundredth less (one step less for whole numbers)."""


def mends(question: Question, heard: Callable[[Mend], None] = lambda _: None) -> tuple[list[Mend], list[str]]:
    """Every kind of change that alone makes a plan possible, each the smallest of its kind.

    ``heard`` gets each as it is found. Also returned are the kinds that the clock left unanswered.
    """
    found, unanswered = [], []
    for kind, maker in _makers().items():
        try:
            mend = maker(question)
        except LimitError:
            unanswered.append(kind)
            continue
        if mend is not None:
            found.append(mend)
            heard(mend)
    return found, unanswered


def _makers() -> dict[str, Callable[[Question], Mend | None]]:
    """By kind, quick ones first: those whose limits a scenario does not have cost nothing."""
    return {
        "commitments": _fewer_commitments,
        "power": _more_power,
        "rack limit": _higher_rack_limit,
        "budgets": _higher_budgets,
        "write-offs": _more_write_off,
        "depreciation": _more_depreciation,
        "carbon": _more_carbon,
        "minimum age": _lower_minimum_age,
        "frozen quarters": _fewer_frozen_quarters,
        "early retirement": _early_retirement,
    }


def apply(scenario: Scenario, changes: tuple[Change, ...], share: float = 1.0) -> Scenario:
    """Make changes, or a share of each."""
    for change in changes:
        value = change.before + (change.after - change.before) * share
        kind = type(value_at(scenario, change.path))
        typed = bool(round(value)) if kind is bool else round(value) if kind is int else value
        scenario = with_value(scenario, change.path, typed)
    return scenario


def _more_power(question: Question) -> Mend | None:
    """More megawatts; present racks that the lack of power excuses from their minimum age stay excused.

    Only where that is no way out do they have to be powered too.
    """
    every = {(hall, period.name) for hall in question.scenario.halls for period in question.scenario.horizon}
    excused = released_halls(View({}, question.scenario, question.options))
    for raised in (every - excused, every) if excused else (every,):
        mend = _powered(question, raised)
        if mend is not None:
            return mend
    return None


def _powered(question: Question, raised: set[tuple[str, str]]) -> Mend | None:
    """Least total of megawatts in the halls and periods given.

    The model is built with ample power there, so that racks may land, and its limits are put back.
    """
    scenario = question.scenario
    try:
        case = question.case(_with_ample_power(scenario, raised))
    except InfeasibleError:
        return None
    view, positions = View({}, scenario, question.options), case.compiled.rows.positions("power")
    limits = {
        positions[hall, name]: view.available_mw(hall, _period(scenario, name))
        for hall, name in sorted(raised)
        if (hall, name) in positions
    }
    rows = list(limits)
    case = case.with_arrays(case.compiled.with_rhs(rows, upper=list(limits.values())))
    found = question.relief(case, dict.fromkeys(rows, 1.0))
    if found is None or not found.reliefs:
        return None
    changes: list[Change] = []
    words, total = [], 0.0
    for relief in found.reliefs:
        hall, period = parts(relief.index)
        kept = _kept(scenario, hall)
        wanted = (relief.limit + relief.amount * (1 + MARGIN)) / kept
        paths = mw_paths(scenario, hall, _period(scenario, period))
        changes += [Change(path, before, wanted) for path, before in paths if wanted > before]
        words.append(f"+{number(relief.amount / kept)} MW at {hall} in {period}")
        total += relief.amount / kept
    return _judged(question, "power", tuple(changes), total, "MW", _few(words), found)


def _with_ample_power(scenario: Scenario, raised: set[tuple[str, str]]) -> Scenario:
    paths = {path for h, name in raised for path, _ in mw_paths(scenario, h, _period(scenario, name))}
    for path in sorted(paths):
        scenario = with_value(scenario, path, AMPLE_MW)
    return scenario


def _fewer_commitments(question: Question) -> Mend | None:
    scenario = question.scenario
    changes = []
    for finding in homeless(scenario):
        path = f"supply[{finding.place[0]},{finding.place[1]}].committed_racks"
        changes.append(Change(path, finding.amount, 0.0))
    rest = apply(scenario, tuple(changes))
    try:
        case = question.case(rest) if changes else question.base
    except InfeasibleError:
        return None
    weights = rows_of(case, "committed", "odd_racks")
    for index, row in case.compiled.rows.positions("committed").items():
        weights[row] = float(case.lot_racks(parts(index)[0]))
    found = None if changes and question.has_plan(case) else question.relief(case, weights)
    if found is None and not changes:
        return None
    alone = found if not changes else None  # whose bound speaks of all that changes
    changes = [*changes, *_fewer_racks(case, found.reliefs if found else ())]
    if not case.is_large:  # of a large one whole lots do: each trial takes a minute
        changes, alone = _spared(question, changes), None
    words = [f"{racks_of(c.before - c.after)} less committed in {c.path.partition('.')[0]}" for c in changes]
    total = sum(change.before - change.after for change in changes)
    return (
        _judged(question, "commitments", tuple(changes), total, "racks", _few(words), alone)
        if changes
        else None
    )


def _fewer_racks(case: Case, reliefs: tuple[Relief, ...]) -> list[Change]:
    racks: dict[tuple[str, str], float] = {}
    for relief in reliefs:
        accelerator, delivery = parts(relief.index)
        each = case.lot_racks(accelerator) if relief.family == "committed" else 1
        racks[accelerator, delivery] = racks.get((accelerator, delivery), 0.0) + relief.amount * each
    changes = []
    for (accelerator, delivery), fewer in sorted(racks.items()):
        path = f"supply[{accelerator},{delivery}].committed_racks"
        before = float(value_at(case.scenario, path))
        changes.append(Change(path, before, max(0.0, before - round(fewer))))
    return changes


def _higher_rack_limit(question: Question) -> Mend | None:
    """Let a hall take the racks that are too large for it: one hall if that is enough, else all."""
    scenario = question.scenario
    refused = {f.place[0] for f in homeless(scenario) if f.kind == "rack too large"}
    changes = []
    for hall in sorted(scenario.halls.values(), key=lambda hall: hall.name):
        cooled = [
            scenario.accelerators[a]
            for a in refused
            if hall.cooling_class in scenario.accelerators[a].cooling
        ]
        need = max((part.rack_it_kw or 0.0 for part in cooled), default=0.0)
        if hall.max_rack_it_kw is not None and need > hall.max_rack_it_kw:
            changes.append(Change(f"halls[{hall.name}].max_rack_it_kw", hall.max_rack_it_kw, need))
    for chosen in [*((change,) for change in changes), tuple(changes)]:
        words = [
            f"{number(c.after)} kW of IT a rack allowed in {c.path[6:].partition(']')[0]}" for c in chosen
        ]
        more = sum(change.after - change.before for change in chosen)
        mend = _judged(question, "rack limit", chosen, more, "kW", _few(words)) if chosen else None
        if mend is not None:
            return mend
    return None


def _spared(question: Question, changes: list[Change]) -> list[Change]:
    """Give back single racks: the relief was found in whole lots, and part of a lot may fit."""
    for number_, change in enumerate(changes):
        lot = question.scenario.lifecycle.lot_racks.get(change.path.partition("[")[2].partition(",")[0], 1)
        good, bad = 0, min(lot, round(change.before - change.after))
        while bad - good > 1:
            middle = (good + bad) // 2
            tried = [*changes[:number_], _less_of(change, middle), *changes[number_ + 1 :]]
            if question.possible(apply(question.scenario, tuple(tried))):
                good = middle
            else:
                bad = middle
        changes = [*changes[:number_], _less_of(change, good), *changes[number_ + 1 :]]
    return changes


def _less_of(change: Change, racks: int) -> Change:
    return Change(change.path, change.before, change.after + racks)


def _higher_budgets(question: Question) -> Mend | None:
    return _by_window(question, "budget", "budgets", "finance.capex_budget_musd", "M USD", 1.0)


def _more_write_off(question: Question) -> Mend | None:
    return _by_window(question, "write_off", "write-offs", "finance.write_off_limit_musd", "M USD", 1.0)


def _more_depreciation(question: Question) -> Mend | None:
    return _by_window(
        question, "depreciation", "depreciation", "finance.depreciation_limit_musd", "M USD", 1.0
    )


def _more_carbon(question: Question) -> Mend | None:
    return _by_window(question, "carbon", "carbon", "carbon.cap_mt_per_year", "Mt CO2e", 1e-3)


def _by_window(
    question: Question, family: str, kind: str, path: str, unit: str, per_row_unit: float
) -> Mend | None:
    """Raise the limits of one family of rows, by year or quarter."""
    try:
        case = question.base
    except InfeasibleError:
        return None
    found = question.relief(case, rows_of(case, family))
    if found is None or not found.reliefs:
        return None
    changes, words = [], []
    for relief in found.reliefs:
        window = parts(relief.index)[0]
        before, more = relief.limit * per_row_unit, relief.amount * per_row_unit
        changes.append(Change(f"{path}[{window}]", before, before + more * (1 + MARGIN)))
        words.append(f"+{number(more)} {unit} of {kind} in {window}")
    total = sum(relief.amount for relief in found.reliefs) * per_row_unit
    return _judged(question, kind, tuple(changes), total, unit, _few(words), found)


def _lower_minimum_age(question: Question) -> Mend | None:
    now = question.scenario.lifecycle.minimum_age_quarters
    return _whole(question, "minimum age", "lifecycle.minimum_age_quarters", now, "quarters")


def _fewer_frozen_quarters(question: Question) -> Mend | None:
    now = question.scenario.rules.frozen_quarters if question.previous is not None else 0
    return _whole(question, "frozen quarters", "rules.frozen_quarters", now, "quarters")


def _whole(question: Question, kind: str, path: str, now: int, unit: str) -> Mend | None:
    """The highest lower value of a whole number with which a plan exists, by halving."""
    scenario = question.scenario
    if now <= 0 or not question.possible(with_value(scenario, path, 0)):
        return None
    possible, impossible = 0, now
    while impossible - possible > 1:
        middle = (possible + impossible) // 2
        if question.possible(with_value(scenario, path, middle)):
            possible = middle
        else:
            impossible = middle
    text = f"{kind} {possible} instead of {now} {unit}"
    change = Change(path, float(now), float(possible))
    return Mend(kind, (change,), float(now - possible), unit, text, confirmed=True, smallest=True)


def _early_retirement(question: Question) -> Mend | None:
    rules = question.scenario.rules
    if rules.allow_early_retirement:
        return None
    allowed = with_value(question.scenario, "rules.allow_early_retirement", True)
    if not question.possible(allowed):
        return None
    change = Change("rules.allow_early_retirement", 0.0, 1.0)
    text = "early retirement allowed"
    return Mend("early retirement", (change,), 1.0, "rule", text, confirmed=True, smallest=True)


def _judged(
    question: Question,
    kind: str,
    changes: tuple[Change, ...],
    amount: float,
    unit: str,
    text: str,
    found: Relieved | None = None,
) -> Mend | None:
    """Confirm a mend by a solve of the changed inputs, and that a little less of it is not enough.

    Where it comes of a least relief, the relief's proven bound says the latter without a solve.
    """
    try:
        near = found.whole if found else None
        if not question.possible(apply(question.scenario, changes), near):
            return None
        smallest = found is not None and found.needs_more_than(LESS * found.total)
        smallest = smallest or not question.possible(_less(question.scenario, changes))
    except UsageError:  # the change leaves the range of its field: it is no mend
        return None
    return Mend(kind, changes, amount, unit, text, confirmed=True, smallest=smallest)


def _less(scenario: Scenario, changes: tuple[Change, ...]) -> Scenario:
    """A hundredth less of every change; of whole racks at least one rack less of the largest."""
    if not all(isinstance(value_at(scenario, change.path), int) for change in changes):
        return apply(scenario, changes, LESS)
    largest = max(changes, key=lambda change: abs(change.before - change.after))
    step = max(1.0, round(abs(largest.before - largest.after) * (1 - LESS)))
    spared = Change(largest.path, largest.before, largest.after + step)
    return apply(scenario, tuple(spared if change is largest else change for change in changes))


def _kept(scenario: Scenario, hall: str) -> float:
    spec = scenario.halls[hall]
    return usable_mw(1.0, spec.reserve_share, scenario.sites[spec.site].stranded_share)


def _period(scenario: Scenario, name: str) -> Period:
    return next(period for period in scenario.horizon if period.name == name)


def _few(words: list[str]) -> str:
    """Name the first three, count the rest."""
    return join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
