"""The audit: a plan is added up again from its tables and inputs, without the optimizer.

It imports neither planning nor Pyomo nor a solver. Rules of money and ageing are the ground floor's
(:mod:`fleetplan.money`, :mod:`fleetplan.lifecycle`); everything else is computed here a second time.

What it cannot see: that a plan is the *cheapest* (the bound does that); the tax, change, move, rental
and take-or-pay items of the ledger (only their sum with all others, against the objective); vendor
shares; and racks of one vintage in one hall that were bought at several prices (there values are
held between the least and the most).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.plan.audit import books, energy, form, ledger, limits, power, roles, stock, supply, work
from fleetplan.plan.audit.view import View
from fleetplan.plan.audit_report import AuditReport, Check, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario

__all__ = ["AuditReport", "Check", "audit", "require"]

FORM = (form.check_numbers, form.check_names)
"""Checked first: where these fail, the others could not be read."""
CHECKS = (
    stock.check_stock,
    stock.check_ages,
    stock.check_attrition,
    stock.check_cooling,
    roles.check_roles,
    roles.check_role_stock,
    roles.check_role_money,
    supply.check_lots,
    supply.check_supply,
    supply.check_rentals,
    supply.check_dates,
    supply.check_purchases,
    power.check_modes,
    power.check_rack_power,
    power.check_power,
    power.check_power_by_accelerator,
    work.check_capacity,
    work.check_burn_in,
    work.check_rates,
    work.check_served,
    work.check_demand,
    energy.check_energy,
    energy.check_carbon,
    books.check_roll_forward,
    books.check_book_values,
    books.check_retired_values,
    ledger.check_discounting,
    ledger.check_purchases_paid,
    ledger.check_running_costs,
    ledger.check_exits,
    ledger.check_ageing,
    limits.check_limits,
)


def audit(
    tables: Mapping[str, pd.DataFrame],
    scenario: Scenario,
    options: pd.DataFrame,
    objective_musd: float | None = None,
) -> AuditReport:
    """Add a plan up again; see :func:`require` to make a failure an error.

    ``objective_musd`` is what the plan claims to cost; without it that one sum is not checked.
    """
    view = View(tables, scenario, options)
    first = tuple(check(view) for check in FORM)
    if not all(check.passed for check in first):
        return AuditReport(first)
    checks = [*first, *(check(view) for check in CHECKS)]
    if objective_musd is not None:
        checks.append(ledger.check_objective(view, objective_musd))
    return AuditReport(tuple(checks))
