"""Limits that a scenario may set by year: purchases, write-offs, depreciation and emissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan import money
from fleetplan.periods import Quarter
from fleetplan.plan.audit.view import View
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from collections.abc import Mapping

DECIDED = ("early", "upgrade")
"""Exits that a planner decides; attrition and natural ends are not limited."""


def check_limits(view: View) -> Check:
    """Purchases, write-offs, depreciation and emissions stay within the yearly limits."""
    check = Checker(
        "limits", "purchases, write-offs, depreciation and emissions within their limits", absolute=1e-3
    )
    finance, rules, carbon = view.scenario.finance, view.scenario.rules, view.scenario.carbon
    if rules.limit_capex:
        for window, limit in finance.capex_budget_musd.items():
            check.at_most(f"capex {window}", _purchases(view, window), limit)
    for year, limit in finance.write_off_limit_musd.items():
        check.at_most(f"write-off {year}", _write_offs(view, year), limit)
    depreciation = _by_period(view, "books", "depreciation_musd")
    for year, limit in finance.depreciation_limit_musd.items():
        check.at_most(f"depreciation {year}", _in_window(view, year, depreciation), limit)
    if rules.limit_carbon:
        emitted = _by_period(view, "energy", "operational_t")
        for year, limit in carbon.cap_mt_per_year.items():
            check.at_most(f"carbon {year}, t", _in_window(view, year, emitted), limit * 1e6)
    return check.result()


def _purchases(view: View, window: str) -> float:
    """M USD of racks and modules delivered in a year or quarter."""
    inside = {
        str(view.scenario.horizon.start + offset)
        for offset in money.window_quarters(window, view.scenario.horizon)
    }
    orders = (row for row in view.rows("orders") if row.kind != "rental")
    return float(sum(row.capex_musd for row in orders if row.delivery_quarter in inside))


def _write_offs(view: View, year: str) -> float:
    rows = (row for row in view.rows("retirements") if row.kind in DECIDED)
    return float(sum(row.book_value_musd for row in rows if Quarter.parse(row.period).year == int(year)))


def _by_period(view: View, table: str, column: str) -> dict[str, float]:
    return {key[0]: value for key, value in view.sums(table, ("period",), column).items()}


def _in_window(view: View, window: str, amounts: Mapping[str, float]) -> float:
    shares = money.window_shares(window, view.scenario.horizon)
    return sum(share * amounts.get(view.periods[t].name, 0.0) for t, share in shares.items())
