"""Tax: what is paid or saved by country, with book and tax life apart.

::

    tax = - rate x (operating costs) + rate x (resale, end value) - rate x tax depreciation
          - rate x tax value left of racks that leave or are lost

Operating costs are every cash item except purchases and shortfall. Purchases are deducted by the tax
schedule (straight line, MACRS, bonus) from service on; the end value is taxed like a sale at the end
of the horizon. Rented racks and declined commitments are taxed where most sites are.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from fleetplan import money
from fleetplan.errors import InputError
from fleetplan.planning.arc_money import WRITTEN_OFF, Amounts, ArcMoney, ages_of
from fleetplan.planning.cash import add_arc_item
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.costs import CostBook
from fleetplan.planning.form import Floats, Form, mapped
from fleetplan.planning.indices import Indices

NOT_TAXED = ("capex", "shortfall", "change")


def add_tax(book: CostBook, form: Form, ix: Indices, fleet: Fleet, arc_money: ArcMoney) -> None:
    """Note tax on every cost and income noted so far, and on tax depreciation."""
    if not ix.scenario.rules.use_tax or not ix.scenario.finance.income_tax_rate:
        return
    terms = book.terms()
    taxed = terms[~terms["item"].isin(NOT_TAXED)]
    rate = _rate_by_column(form, ix)[taxed["col"].to_numpy(dtype=np.int64)]
    amount = -rate * taxed["amount"].to_numpy(dtype=float)
    book.add(
        "tax",
        taxed["col"],
        taxed["period"],
        amount,
        cause=taxed["cause"].to_numpy(),
        detail=taxed["item"].to_numpy(),
    )
    for amounts in _depreciation(ix, arc_money):
        add_arc_item(book, ix, fleet, "tax", amounts)


def rates_by_site(ix: Indices) -> dict[str, float]:
    """Income tax rate by site; ``InputError`` where a country has none."""
    rates = ix.scenario.finance.income_tax_rate
    for site in ix.scenario.sites.values():
        if site.country not in rates:
            raise InputError.at(
                site.origin.file,
                "E-tax-rate-missing",
                f"no income tax rate for {site.country}, where site {site.name} stands",
                f"a rate for {site.country}; 0 if there is no tax",
            )
    return {name: rates[site.country] for name, site in ix.scenario.sites.items()}


def _rate_by_column(form: Form, ix: Indices) -> Floats:
    by_site = rates_by_site(ix)
    common = Counter(sorted(by_site.values())).most_common(1)[0][0]
    site_of_hall = {name: hall.site for name, hall in ix.scenario.halls.items()}
    rate = np.full(len(form.columns), common)
    for block in form.blocks.values():
        if "hall" in block.keys.columns:
            sites = [site_of_hall[hall] for hall in block.keys["hall"]]
        elif "site" in block.keys.columns:
            sites = block.keys["site"].tolist()
        elif block.name == "sunk":
            rate[block.cols] = 0.0  # still worth what was paid: no gain, and no depreciation yet
            continue
        else:
            continue
        rate[block.cols] = mapped(sites, by_site)
    return rate


def _depreciation(ix: Indices, arc_money: ArcMoney) -> list[Amounts]:
    """Tax saved by depreciation while racks stand, and by the tax value left when they go."""
    arcs, cohorts, finance = ix.cohorts.arcs, ix.cohorts.cohorts, ix.scenario.finance
    schedule = money.tax_schedule(finance.tax_depreciation, finance.tax_life_years, finance.bonus_share)
    c = arcs["cohort"].to_numpy(dtype=np.int64)
    ages = ages_of(ix)
    fresh = np.flatnonzero(cohorts["kind"].isin(["new", "upgrade"]).to_numpy())
    ages[fresh, cohorts["entry"].to_numpy(dtype=np.int64)[fresh]] = 0
    left_by_age = np.array(
        [money.tax_share_left(schedule, age) for age in range(int(ages.max(initial=0)) + 1)]
    )
    if not schedule:
        return []
    left = left_by_age[ages]
    site_rate = rates_by_site(ix)
    rate = mapped(cohorts["site"], site_rate)
    value = cohorts["price"].to_numpy(dtype=float) * rate
    while_standing = (value[:, None] * (left[:, :-1] - left[:, 1:]))[c] * arc_money.stands
    gone = arc_money.lost.copy()
    leaves = arcs["exit"].to_numpy(dtype=np.int64)
    final = arcs["kind"].isin([*WRITTEN_OFF, "horizon"]).to_numpy()
    gone[np.flatnonzero(final), leaves[final]] += arc_money.leaving[final]
    return [_spread(-while_standing), _spread(-(value[:, None] * left)[c] * gone)]


def _spread(values: Floats) -> Amounts:
    arc, period = np.nonzero(values)
    return Amounts(arc, period, values[arc, period])
