"""Form: every table holds finite numbers, known names, each key once, and nothing below zero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fleetplan.periods import Quarter
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker
from fleetplan.plan.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleetplan.tables import TableSpec

MAY_BE_NEGATIVE = frozenset({("ledger", "amount_musd"), ("ledger", "npv_musd")})
RENTED = frozenset({("orders", "rental"), ("assignment", "rental")})
"""Where the name of a rental may stand for a site."""
KINDS = {
    "orders": frozenset({"new", "committed", "option", "upgrade", "rental"}),
    "retirements": frozenset({"early", "end-of-life", "upgrade", "moved", "attrition"}),
}
SLACK = 1e-6
"""Below zero by no more than this is rounding of the optimizer."""


def check_numbers(view: View) -> Check:
    """Every number is finite, and none is negative but income in the ledger."""
    check = Checker("numbers", "every number is finite; none is below zero but income in the ledger")
    for spec in TABLES:
        for column in (c for c in spec.columns if c.type in ("int", "float")):
            signed = (spec.name, column.name) in MAY_BE_NEGATIVE
            for position, raw in enumerate(view.frames[spec.name][column.name]):
                value = float(raw)
                holds = math.isfinite(value) and (signed or value >= -SLACK)
                if not holds:
                    check.true(_row_place(view, spec, position, column.name), value, "a number", holds=False)
                else:
                    check.true("", value, "", holds=True)
    return check.result()


def check_names(view: View) -> Check:
    """Every name is one of the scenario's, and every key stands once."""
    check = Checker(
        "names", "every name is known to the scenario, every hall is of its site, every key is once"
    )
    known = _known(view)
    for spec in TABLES:
        keys = view.frames[spec.name].duplicated(subset=spec.keys)
        for position, repeated in enumerate(keys):
            place = _row_place(view, spec, position, "key") if repeated else ""
            check.true(place, 2.0, "1 row", holds=not repeated)
        for column in spec.names:
            if column == "kind" or (column in known and spec.name != "ledger"):
                for position, name in enumerate(view.frames[spec.name][column]):
                    holds = name in KINDS[spec.name] if column == "kind" else known[column](str(name))
                    place = "" if holds else _row_place(view, spec, position, column)
                    check.true(place, math.nan, "a known name", holds=holds)
        _check_places(view, spec, check)
    return check.result()


def _check_places(view: View, spec: TableSpec, check: Checker) -> None:
    """Halls belong to their sites; rented racks stand at their owner's, under the rental's name."""
    scenario = view.scenario
    rentals = {rental.name for rental in scenario.rentals}
    for row in view.rows(spec.name) if "site" in spec.names else ():
        rented = row.site in rentals and (spec.name, getattr(row, "kind", "rental")) in RENTED
        holds = rented or row.site in scenario.sites
        if holds and not rented and "hall" in spec.names:
            hall = scenario.halls.get(row.hall)
            holds = hall is not None and hall.site == row.site
        place = "" if holds else say(spec.name, row.site, getattr(row, "hall", ""))
        check.true(place, math.nan, "a site of the scenario, and a hall of it", holds=holds)


def _known(view: View) -> dict[str, Callable[[str], bool]]:
    scenario = view.scenario
    return {
        "accelerator": scenario.accelerators.__contains__,
        "workload": scenario.workloads.__contains__,
        "option": view.options.__contains__,
        "period": view.period_index.__contains__,
        "since": view.period_index.__contains__,
        "role": {role.name for role in scenario.roles}.__contains__,
        "vintage": _is_quarter,
        "service_quarter": _is_quarter,
        "order_quarter": _is_quarter,
        "delivery_quarter": _is_quarter,
    }


def _is_quarter(text: str) -> bool:
    try:
        Quarter.parse(text)
    except ValueError:
        return False
    return True


def _row_place(view: View, spec: TableSpec, position: int, column: str) -> str:
    row = view.frames[spec.name].iloc[position]
    return say(spec.name, *(row[key] for key in spec.keys), column)
