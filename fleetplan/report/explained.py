"""Answers of an explanation as tables, so that the page, the workbook and the files show them alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleetplan.explain.prices import UNIT
from fleetplan.report.embedded import Table
from fleetplan.tables import TableSpec, flag, number, text

if TYPE_CHECKING:
    from fleetplan.explain.assumptions import Assumptions, Turn
    from fleetplan.explain.entry import Entry
    from fleetplan.explain.explanation import Explanation
    from fleetplan.explain.horizon import HorizonEffect
    from fleetplan.explain.prices import Prices, Value
    from fleetplan.explain.ties import Ties
    from fleetplan.explain.why_not import WhyNot

_NAN = float("nan")
_NO_PLACE = {"site": "", "accelerator": "", "workload": "", "period": ""}
PRICES = TableSpec(
    "prices",
    "what one more unit of each limit that binds is worth",
    (
        text("kind", "limit: power, supply, budget, demand …", key=True),
        text("site", "site, where the limit is of one", key=True),
        text("accelerator", "accelerator, where the limit is of one", key=True),
        text("workload", "workload, where the limit is of one", key=True),
        text("period", "quarter or window of the limit", key=True),
        text("hall", "hall in which a megawatt is worth most"),
        text("unit", "what one unit is"),
        number("worth_musd", "M USD", "present value of one more unit if the plan may change (relaxation)"),
        number("held_musd", "M USD", "present value with the whole lots of this plan held"),
        number("confirmed_musd", "M USD", "value per unit seen by solving again; empty where not asked"),
        number("confirmed_low_musd", "M USD", "least value that the proven gaps leave"),
        number("confirmed_high_musd", "M USD", "greatest value that the proven gaps leave"),
    ),
)
TIES = TableSpec(
    "ties",
    "range of each first-year order over all plans that cost as little",
    (
        text("accelerator", "accelerator name", key=True),
        text("delivery_quarter", "quarter of delivery", key=True),
        number("racks", "racks", "in this plan"),
        number("low_racks", "racks", "fewest in any plan within the limit"),
        number("high_racks", "racks", "most in any plan within the limit"),
        flag("forced", "whether every such plan orders the same"),
    ),
)
WHY_NOT = TableSpec(
    "why_not",
    "what would bring an accelerator in that is not bought",
    (
        text("accelerator", "accelerator name", key=True),
        text("lever", "price, speed or power", key=True),
        text("unit", "unit of today, enters_at and stays_out_at"),
        number("today", "", "input as it stands"),
        number("enters_at", "", "nearest value at which it is bought; empty where none was found"),
        number("stays_out_at", "", "nearest value at which it is not"),
        number("racks", "racks", "racks bought at enters_at"),
    ),
)
TURNS = TableSpec(
    "turns",
    "what each end of an assumed interval does to the first year's orders",
    (
        text("figure", "path of the figure in the input", key=True),
        text("end", "low or high", key=True),
        text("subject", "what it is about"),
        text("status", "evidence"),
        number("factor", "ratio", "end of the interval over the value used"),
        flag("turns", "whether an order of the first year moves by more than a lot"),
        text("moves", "what moves, in words"),
        number("cost_musd", "M USD", "change of cost; empty where no plan is left"),
        text("source", "where the figure comes from"),
    ),
)
LONGER = TableSpec(
    "longer_horizon",
    "first-year orders with the horizon as it is and a year longer",
    (
        text("accelerator", "accelerator name", key=True),
        number("racks", "racks", "ordered in the first year of this plan"),
        number("racks_longer", "racks", "ordered with a year more"),
    ),
)


def explained_tables(explanation: Explanation) -> Iterator[Table]:
    """One table for each question that was asked."""
    if explanation.prices is not None:
        yield _prices(explanation.prices)
    if explanation.why_not:
        yield _why_not(explanation.why_not)
    if explanation.ties is not None:
        yield _ties(explanation.ties)
    if explanation.assumptions is not None:
        yield _turns(explanation.assumptions)
    if explanation.horizon is not None:
        yield _longer(explanation.horizon)


def _prices(found: Prices) -> Table:
    return Table(PRICES, PRICES.frame(_price(value) for value in found.values))


def _price(value: Value) -> tuple[object, ...]:
    place = dict(_NO_PLACE)
    names = {
        "power": ("site", "period"),
        "supply": ("accelerator", "period"),
        "demand": ("workload", "period"),
    }
    place.update(zip(names.get(value.kind, ("period",)), value.place, strict=False))
    seen = value.confirmed
    proven = (_NAN,) * 3 if seen is None else (seen.observed_musd, seen.low_musd, seen.high_musd)
    stated = (value.may_change_musd, value.held_musd)
    return (value.kind, *place.values(), value.where, UNIT[value.kind], *stated, *proven)


def _ties(found: Ties) -> Table:
    return Table(
        TIES, TIES.frame((o.accelerator, o.delivery, o.racks, *o.found, o.forced) for o in found.orders)
    )


def _why_not(found: tuple[WhyNot, ...]) -> Table:
    return Table(
        WHY_NOT, WHY_NOT.frame(_entry(why.accelerator, entry) for why in found for entry in why.entries)
    )


def _entry(accelerator: str, entry: Entry) -> tuple[object, ...]:
    enters = entry.enters
    value, racks = (_NAN, _NAN) if enters is None else (entry.today * enters.factor, enters.racks)
    stays = entry.today * entry.stays_out.factor
    return (accelerator, entry.lever, entry.unit, entry.today, value, stays, racks)


def _turns(found: Assumptions) -> Table:
    return Table(TURNS, TURNS.frame(_turn(turn) for turn in found.turns))


def _turn(turn: Turn) -> tuple[object, ...]:
    known = turn.assumption
    cost = turn.cost_musd if turn.cost_musd != float("inf") else _NAN
    facts = (known.path, turn.end, known.subject, known.status, turn.factor)
    return (*facts, turn.turns, str(turn), cost, known.source)


def _longer(found: HorizonEffect) -> Table:
    return Table(LONGER, LONGER.frame((move.accelerator, move.before, move.after) for move in found.moved))
