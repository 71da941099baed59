"""Money that depends on age, as cost of arcs: maintenance, resale, end value, book and tax values.

Everything here is per first rack of a cohort that takes an arc; attrition is in the shares alive.
Racks lost to attrition bring no resale; their book and tax value is written off when they are lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleetplan import money
from fleetplan.planning.form import Floats, Ints
from fleetplan.planning.indices import Indices

LEAVES = ("early", "end-of-life")
"""Exits that bring resale and cost decommissioning. Swapped modules are scrapped."""
WRITTEN_OFF = ("early", "end-of-life", "upgrade")
"""Exits at which book and tax value left is lost."""


@dataclass(frozen=True)
class Amounts:
    """Amounts by arc and period (the number of periods stands for the horizon's end)."""

    arc: Ints
    period: Ints
    amount: Floats


@dataclass(frozen=True)
class ArcMoney:
    """Arrays over arcs and periods, and the cash items made of them.

    ``stands[a, t]``: racks alive in period t; ``lost[a, t]``: racks that attrition takes at its start;
    ``leaving[a]``: racks that take the arc at its end; ``book[c, t]``: book value per rack of a cohort
    at boundary t; ``depreciation[c, t]``: what a rack that is alive depreciates in period t.
    """

    items: dict[str, Amounts]
    stands: Floats
    lost: Floats
    leaving: Floats
    book: Floats
    depreciation: Floats


def make_arc_money(ix: Indices) -> ArcMoney:
    """Compute all amounts that depend on age."""
    arcs, cohorts, alive = ix.cohorts.arcs, ix.cohorts.cohorts, ix.cohorts.alive
    total = len(ix.calendar)
    c, leaves = arcs["cohort"].to_numpy(dtype=np.int64), arcs["exit"].to_numpy(dtype=np.int64)
    t = np.arange(total)
    stands = alive[c, :total] * (t[None, :] < leaves[:, None])
    leaving = alive[c, leaves]
    lost = _lost(alive[c], cohorts["entry"].to_numpy(dtype=np.int64)[c], leaves)
    book = _book(ix)
    items = {
        "maintenance": _maintenance(ix, stands, c),
        "resale": _resale(ix, leaving),
        "decommission": _decommission(ix, leaving),
        "end value": _end_value(ix, leaving),
    }
    return ArcMoney(items, stands, lost, leaving, book, _depreciation(ix, book))


def _lost(alive: Floats, entry: Ints, leaves: Ints) -> Floats:
    """Racks that attrition takes at each boundary, the exit's own included; none at entry."""
    boundary = np.arange(alive.shape[1])
    drop = np.hstack([np.zeros((len(alive), 1)), alive[:, :-1] - alive[:, 1:]])
    counts = (boundary[None, :] > entry[:, None]) & (boundary[None, :] <= leaves[:, None])
    return np.where(counts, drop, 0.0)


def ages_of(ix: Indices) -> Ints:
    """(cohorts, T + 1) age in quarters at each boundary, 0 before the vintage."""
    vintage = ix.cohorts.cohorts["vintage"].to_numpy(dtype=np.int64)
    return np.asarray(np.maximum(ix.calendar.boundary[None, :] - vintage[:, None], 0))


def _book(ix: Indices) -> Floats:
    """Straight-line book value per rack at each boundary; the full price at entry."""
    cohorts = ix.cohorts.cohorts
    price, life = cohorts["price"].to_numpy(dtype=float), cohorts["life"].to_numpy(dtype=float)
    share = np.maximum(0.0, 1 - ages_of(ix) / (4 * life[:, None]))
    value = price[:, None] * share
    fresh = np.flatnonzero(cohorts["kind"].isin(["new", "upgrade"]).to_numpy())
    value[fresh, cohorts["entry"].to_numpy(dtype=np.int64)[fresh]] = price[fresh]
    return np.asarray(value)


def _depreciation(ix: Indices, book: Floats) -> Floats:
    entry = ix.cohorts.cohorts["entry"].to_numpy(dtype=np.int64)
    inside = np.arange(len(ix.calendar))[None, :] >= entry[:, None]
    return np.where(inside, book[:, :-1] - book[:, 1:], 0.0)


def _spread(values: Floats) -> Amounts:
    arc, period = np.nonzero(values)
    return Amounts(arc, period, values[arc, period])


def _maintenance(ix: Indices, stands: Floats, c: Ints) -> Amounts:
    """``share(age at each quarter's start) x price x years x racks alive``."""
    finance, ages = ix.scenario.finance, ages_of(ix)
    oldest = int(ages.max(initial=0)) + 1
    rate = np.array(
        [money.maintenance_share(age, finance.maintenance_share_per_year) for age in range(oldest + 1)]
    )
    paid = np.concatenate([[0.0], np.cumsum(rate)]) / 4
    per_period = paid[ages[:, 1:]] - paid[ages[:, :-1]]
    price = ix.cohorts.cohorts["price"].to_numpy(dtype=float)[:, None]
    return _spread((per_period * price)[c] * stands)


def _list_price(ix: Indices) -> Floats:
    """Price that resale and end value are a share of: the price paid for the rack or its modules."""
    return ix.cohorts.cohorts["price"].to_numpy(dtype=float)


def _resale_curves(ix: Indices) -> list[tuple[float, ...]]:
    curves = ix.scenario.finance.salvage_share_by_age_year
    names = ix.cohorts.cohorts["accelerator"]
    vendors = {name: accelerator.vendor for name, accelerator in ix.scenario.accelerators.items()}
    return [curves.get(money.resale_kind(vendors[name]), ()) for name in names]


def at_exit(ix: Indices, kinds: tuple[str, ...]) -> tuple[Ints, Ints, Ints]:
    """Arcs of some kinds, their cohorts and exits."""
    arcs = ix.cohorts.arcs
    chosen = np.flatnonzero(arcs["kind"].isin(kinds).to_numpy())
    c, leaves = arcs["cohort"].to_numpy(dtype=np.int64), arcs["exit"].to_numpy(dtype=np.int64)
    return chosen, c[chosen], leaves[chosen]


def _resale(ix: Indices, leaving: Floats) -> Amounts:
    arc, c, leaves = at_exit(ix, LEAVES)
    ages, curves = ages_of(ix)[c, leaves], _resale_curves(ix)
    pairs = zip(ages.tolist(), c.tolist(), strict=True)
    share = np.array([money.resale_share(age, curves[i]) for age, i in pairs])
    return Amounts(arc, leaves, -share * _list_price(ix)[c] * leaving[arc])


def _decommission(ix: Indices, leaving: Floats) -> Amounts:
    arc, c, leaves = at_exit(ix, LEAVES)
    share = ix.scenario.finance.decommission_cost_share
    return Amounts(arc, leaves, share * _list_price(ix)[c] * leaving[arc])


def _end_value(ix: Indices, leaving: Floats) -> Amounts:
    finance = ix.scenario.finance
    arc, c, leaves = at_exit(ix, ("horizon",))
    ages, curves = ages_of(ix)[c, leaves], _resale_curves(ix)
    life = ix.cohorts.cohorts["life"].to_numpy(dtype=float)
    share = np.array(
        [
            money.end_value_share(
                finance.end_value_rule,
                age,
                rate=finance.discount_rate,
                economic_life_years=finance.economic_life_years,
                book_life_years=float(life[i]),
                resale_by_year=curves[i],
            )
            for age, i in zip(ages.tolist(), c.tolist(), strict=True)
        ]
    )
    return Amounts(arc, leaves, -share * _list_price(ix)[c] * leaving[arc])
