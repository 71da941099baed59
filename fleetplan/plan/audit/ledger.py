"""Ledger: every cost item re-adds from the tables, is discounted by the rule, and sums to the objective."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from fleetplan import money
from fleetplan.lifecycle import minimum_take_share, survival, survival_by_age
from fleetplan.periods import QUARTERS_PER_YEAR, Quarter
from fleetplan.plan.audit.books import within
from fleetplan.plan.audit.cohort_money import Prices, Range, end_share, resale_share, span
from fleetplan.plan.audit.supply import is_used
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from collections.abc import Mapping

AT_THE_END = frozenset({"end value", "rental", "tax"})
"""Items with amounts that are due when the horizon ends."""
LEAVES = ("early", "end-of-life")
"""Exits that bring resale and cost decommissioning; swapped modules are scrapped."""
NOT_IN_SERVICE = "not in service"
Pair = tuple[str, str]
"""Cause and period."""


def check_discounting(view: View) -> Check:
    """NPV is amount x factor, and the factor is the finance rule's for the period."""
    check = Checker("discounting", "npv = amount x factor of its period (of the end, for end values)")
    finance = view.scenario.finance
    factors = money.discount_factors(view.scenario.horizon, finance.discount_rate, finance.discount_timing)
    end = money.end_factor(view.scenario.horizon, finance.discount_rate)
    for row in view.rows("ledger"):
        place = say("ledger", row.item, row.period, row.cause, row.detail)
        index = view.period_index.get(row.period)
        if index is None:
            check.true(place, row.amount_musd, "a period of the horizon", holds=False)
            continue
        expected = factors[index]
        last = index == len(factors) - 1
        if row.item == "end value" or (
            last
            and row.item in AT_THE_END
            and abs(row.discount_factor - end) < abs(row.discount_factor - expected)
        ):
            expected = end
        check.equal(f"{place}, factor", row.discount_factor, expected)
        check.equal(f"{place}, npv", row.npv_musd, row.amount_musd * row.discount_factor)
    return check.result()


def check_objective(view: View, objective_musd: float) -> Check:
    """The ledger sums to the objective that the plan states."""
    check = Checker("objective", "sum of the ledger = objective", absolute=1e-4)
    check.equal("ledger, sum", sum(row.npv_musd for row in view.rows("ledger")), objective_musd)
    return check.result()


def check_purchases_paid(view: View) -> Check:
    """Capex and deployment in the ledger are the orders', paid at delivery."""
    check = Checker("capex", "capex and deployment = orders, in the period of delivery", absolute=1e-4)
    capex: dict[Pair, float] = defaultdict(float)
    bought: dict[Pair, float] = defaultdict(float)
    for row in view.rows("orders"):
        index = view.scenario.horizon.index_of(Quarter.parse(row.delivery_quarter))
        if index is None or row.kind == "rental":
            continue
        key = (row.accelerator, view.periods[index].name)
        capex[key] += row.capex_musd
        if row.kind != "upgrade":
            bought[key] += row.capex_musd
    share = view.scenario.finance.deploy_cost_share
    for row in view.scenario.supply:
        index = view.scenario.horizon.index_of(row.delivery)
        if index is not None and row.committed_racks and not is_used(view, row):
            capex[row.accelerator, view.periods[index].name] += row.committed_racks * row.price_musd_per_rack
    _same(check, "capex", _items(view, "capex"), capex)
    _same(check, "deployment", _items(view, "deployment"), {k: v * share for k, v in bought.items()})
    return check.result()


def check_running_costs(view: View) -> Check:
    """Energy, operation, contracts and shortfall in the ledger are the tables'."""
    check = Checker("running costs", "energy, operation, contract and shortfall = tables", absolute=1e-4)
    energy = {(row.site, row.period): row.energy_musd for row in view.rows("energy")}
    short = {(row.workload, row.period): row.shortfall_musd for row in view.rows("work")}
    _same(check, "energy", _items(view, "energy"), energy)
    _same(check, "shortfall", _items(view, "shortfall"), short)
    _same(check, "operation", _items(view, "operation"), _operation(view))
    _same(check, "contract", _items(view, "contract"), _contracts(view))
    if view.scenario.rules.price_carbon:
        _same(check, "carbon", _by_period(_items(view, "carbon")), _carbon(view))
    return check.result()


def check_exits(view: View) -> Check:
    """Resale and decommissioning in the ledger are the retirements'."""
    check = Checker("exits", "resale and decommissioning = retirements", absolute=1e-4)
    prices = Prices(view)
    resale: dict[Pair, float] = defaultdict(float)
    expected: dict[Pair, Range] = defaultdict(lambda: Range(0.0, 0.0))
    removal: dict[Pair, Range] = defaultdict(lambda: Range(0.0, 0.0))
    for row in view.rows("retirements"):
        key = (row.accelerator, row.period)
        resale[key] -= row.resale_musd
        if row.kind not in LEAVES:
            continue
        paid = prices.of(row.hall, row.accelerator, row.vintage)
        start = view.periods[view.period_index[row.period]].start
        sold = row.racks * resale_share(view, row.accelerator, max(0, start - Quarter.parse(row.vintage)))
        gone = row.racks * view.scenario.finance.decommission_cost_share
        expected[key] = _add(expected[key], span([-sold * price.musd for price in paid]))
        removal[key] = _add(removal[key], span([gone * price.musd for price in paid]))
    stated = _items(view, "resale")
    _same(check, "resale", stated, resale)
    _spanned(check, "resale", stated, expected)
    _spanned(check, "decommission", _items(view, "decommission"), removal)
    return check.result()


def check_ageing(view: View) -> Check:
    """Maintenance and end value in the ledger follow from price and age of the racks alive."""
    check = Checker("ageing", "maintenance and end value from racks, price and age", absolute=1e-4)
    _spanned(check, "maintenance", _items(view, "maintenance"), _maintenance(view))
    stated: dict[str, float] = defaultdict(float)
    for (cause, _), amount in _items(view, "end value", without=NOT_IN_SERVICE).items():
        stated[cause] += amount
    last = view.periods[-1].name
    _spanned(check, "end value", {(k, last): v for k, v in stated.items()}, _end_values(view))
    return check.result()


def _maintenance(view: View) -> dict[Pair, Range]:
    prices, steps = Prices(view), view.scenario.finance.maintenance_share_per_year
    totals: dict[Pair, Range] = defaultdict(lambda: Range(0.0, 0.0))
    for row in view.rows("fleet"):
        period = view.periods[view.period_index[row.period]]
        ages = [
            max(0, period.start + offset - Quarter.parse(row.vintage)) for offset in range(period.quarters)
        ]
        share = sum(money.maintenance_share(age, steps) for age in ages) / QUARTERS_PER_YEAR
        paid = prices.of(row.hall, row.accelerator, row.vintage)
        key = (row.accelerator, row.period)
        totals[key] = _add(totals[key], span([row.racks * share * price.musd for price in paid]))
    return dict(totals)


def _end_values(view: View) -> dict[Pair, Range]:
    lifecycle, horizon, prices = view.scenario.lifecycle, view.scenario.horizon, Prices(view)
    last = view.periods[-1]
    totals: dict[Pair, Range] = defaultdict(lambda: Range(0.0, 0.0))
    for row in view.rows("fleet"):
        if row.period != last.name:
            continue
        then = max(0, last.start - Quarter.parse(row.vintage))
        age = max(0, horizon.end - Quarter.parse(row.vintage))
        curve = survival_by_age(
            age,
            lifecycle.attrition_per_year,
            lifecycle.attrition_multiplier,
            lifecycle.attrition_multiplier_from_year,
        )
        racks = row.racks * survival(curve, then, age)
        paid = prices.of(row.hall, row.accelerator, row.vintage)
        values = [-racks * price.musd * end_share(view, row.accelerator, age, price) for price in paid]
        key = (row.accelerator, last.name)
        totals[key] = _add(totals[key], span(values))
    return dict(totals)


def _operation(view: View) -> dict[Pair, float]:
    finance = view.scenario.finance
    level = money.escalation(view.scenario.horizon, finance.inflation_per_year)
    cost: dict[Pair, float] = defaultdict(float)
    for row in view.rows("power"):
        period = view.periods[view.period_index[row.period]]
        rate = finance.opex_musd_per_facility_mw_year * period.years * level[period.index]
        cost[row.site, row.period] += row.used_mw * rate
    return dict(cost)


def _contracts(view: View) -> dict[Pair, float]:
    """Megawatts billed and not used, at the energy price."""
    used = view.sums("power", ("site", "period"), "used_mw")
    cost: dict[Pair, float] = {}
    for name, site in view.scenario.sites.items():
        built = {p.index: sum(view.built_mw(h, p) for h in view.halls_of(name)) for p in view.periods}
        powered = [index for index, mw in built.items() if mw > 0]
        if site.tariff_minimum_take_share <= 0 or not powered:
            continue
        prices = money.escalation(view.scenario.horizon, site.energy_price_escalation_per_year)
        start = view.periods[powered[0]].start
        for period in view.periods[powered[0] :]:
            years = (period.start - start) / QUARTERS_PER_YEAR
            share = minimum_take_share(
                years, site.tariff_minimum_take_share, site.tariff_ramp_years, site.tariff_term_years
            )
            unused = max(0.0, share * built[period.index] - used.get((name, period.name), 0.0))
            price = site.energy_price_usd_per_mwh * prices[period.index]
            cost[name, period.name] = unused * price * period.hours / 1e6
    return cost


def _carbon(view: View) -> dict[Pair, float]:
    price = view.scenario.carbon.price_usd_per_t
    tonnes: dict[Pair, float] = defaultdict(float)
    for row in view.rows("energy"):
        tonnes["", row.period] += row.operational_t + row.embodied_t
    return {key: price * t / 1e6 for key, t in tonnes.items()}


def _items(view: View, item: str, without: str = "") -> dict[Pair, float]:
    totals: dict[Pair, float] = defaultdict(float)
    for row in view.rows("ledger"):
        if row.item == item and not (without and row.detail == without):
            totals[row.cause, row.period] += row.amount_musd
    return dict(totals)


def _by_period(amounts: Mapping[Pair, float]) -> dict[Pair, float]:
    totals: dict[Pair, float] = defaultdict(float)
    for (_, period), amount in amounts.items():
        totals["", period] += amount
    return dict(totals)


def _same(check: Checker, item: str, stated: Mapping[Pair, float], expected: Mapping[Pair, float]) -> None:
    for key in sorted(stated.keys() | expected.keys()):
        check.equal(say("ledger", item, *key), stated.get(key, 0.0), expected.get(key, 0.0))


def _spanned(check: Checker, item: str, stated: Mapping[Pair, float], expected: Mapping[Pair, Range]) -> None:
    for key in sorted(stated.keys() | expected.keys()):
        within(check, say("ledger", item, *key), stated.get(key, 0.0), expected.get(key, Range(0.0, 0.0)))


def _add(one: Range, two: Range) -> Range:
    return Range(one.low + two.low, one.high + two.high)
