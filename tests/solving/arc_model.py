"""A synthetic fleet model in arc form, for tests and timings of the solving room alone.

One continuous variable per vintage and retirement quarter, a balance of racks per site, hardware
and quarter, whole lots ordered. Numbers are invented; power, supply, budgets and vendor shares bind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

SIZES = {"S": (3, 5, 12, 4), "M": (12, 10, 20, 12), "L": (30, 14, 24, 30), "XL": (60, 20, 40, 60)}
MIN_AGE, LIFE, DISCOUNT = 4, 20, 0.98


@dataclass(frozen=True)
class Instance:
    """Sets and numbers of one synthetic fleet: racks, MW, million USD, quarters."""

    sites: int
    hardware: int
    quarters: int
    workloads: int
    launch: np.ndarray
    lead: np.ndarray
    lot: np.ndarray
    rack_mw: np.ndarray
    price: np.ndarray  # [h, t]
    vendor: np.ndarray
    liquid: np.ndarray
    rate: np.ndarray  # [h, w], 0 where it cannot run
    pue: np.ndarray
    energy: np.ndarray  # MUSD per MW-quarter, by site
    budget_mw: np.ndarray  # [s, t]
    liquid_mw: np.ndarray  # [s, t]
    existing: dict[tuple[int, int, int], int]  # (s, h, v < 0) -> racks
    supply: np.ndarray  # [h, t] racks by order quarter
    capex: np.ndarray  # by year
    share: float
    demand: np.ndarray  # [w, t]
    allowed: np.ndarray  # [s, w]
    penalty: np.ndarray  # [w]


def instance(size: str, seed: int = 0) -> Instance:
    """Make one of the named sizes."""
    s_n, h_n, t_n, w_n = SIZES[size]
    rng = np.random.default_rng([seed, *SIZES[size]])
    legacy = max(1, h_n // 5)
    launch = np.r_[np.full(legacy, -99), np.linspace(-4, t_n * 0.6, h_n - legacy).round()].astype(int)
    age = np.r_[np.full(legacy, -8.0), launch[legacy:].astype(float)]
    rack_mw = 0.045 * 1.45 ** (np.arange(h_n) * 7 / max(7, h_n - 1)) * rng.uniform(0.9, 1.1, h_n)
    speed = 40 * rack_mw / 0.05 * 2 ** (age / 8) * rng.uniform(0.85, 1.15, h_n)
    rate = speed[:, None] * rng.uniform(0.5, 1.5, (h_n, w_n)) * (rng.random((h_n, w_n)) < 0.6)
    rate[-1] = np.maximum(rate[-1], speed[-1] * 0.5)
    rate[legacy] = np.maximum(rate[legacy], speed[legacy] * 0.5)
    price0 = rack_mw * rng.uniform(28, 36, h_n)
    price = price0[:, None] * 0.985 ** np.maximum(0, np.arange(t_n)[None, :] - launch[:, None])
    budget = rng.uniform(15, 60, s_n)[:, None] * (
        1 + 0.25 * (np.arange(t_n) >= rng.integers(2, t_n, (s_n, 1)))
    )
    liquid_h = rack_mw > 0.12
    ramp = np.clip(np.arange(t_n)[None, :] / 18 + rng.uniform(0.1, 0.4, (s_n, 1)), 0, 1)
    existing: dict[tuple[int, int, int], int] = {}
    pue = rng.uniform(1.08, 1.35, s_n)
    for s in range(s_n):
        for h in range(legacy):
            racks = 0.75 * budget[s, 0] / legacy / (rack_mw[h] * pue[s])
            for v in (-12, -7, -2):
                existing[s, h, v] = int(racks / 3)
    fleet_mw = budget.sum(0)
    orderable = (np.arange(t_n)[None, :] >= launch[:, None]) & (np.arange(t_n)[None, :] < launch[:, None] + 9)
    orderable[:legacy] = False
    per_type = fleet_mw.mean() * 0.10 / np.maximum(1, orderable.sum(0)).mean()
    since = np.maximum(0, np.arange(t_n)[None, :] - launch[:, None])
    supply = np.where(orderable, per_type / rack_mw[:, None] * np.minimum(1, 0.3 + 0.12 * since), 0.0)
    supply = np.floor(supply * rng.uniform(0.7, 1.3, (h_n, 1)))
    base = np.zeros(w_n)
    for (_, h, _), n in existing.items():
        base += n * rate[h] / max(1, (rate[h] > 0).sum())
    base = np.maximum(base, 0.3 * base.mean()) * rng.uniform(0.7, 1.0, w_n)
    growth = rng.uniform(1.05, 1.085, w_n)
    demand = base[:, None] * growth[:, None] ** np.minimum(np.arange(t_n), 24)[None, :]
    allowed = rng.random((s_n, w_n)) < 0.6
    allowed[rng.integers(0, s_n, w_n), np.arange(w_n)] = True
    years = (t_n + 3) // 4
    spend = (supply * price).reshape(h_n, years, -1).sum((0, 2)) if t_n % 4 == 0 else np.zeros(years)
    cheapest = np.array(
        [(price[legacy:, 0] / np.where(rate[legacy:, w] > 0, rate[legacy:, w], np.nan)) for w in range(w_n)]
    )
    return Instance(
        s_n, h_n, t_n, w_n, launch, rng.integers(1, 4, h_n),
        np.where(rack_mw < 0.08, 4, np.where(rack_mw < 0.2, 2, 1)), rack_mw, price,
        np.arange(h_n) % 3, liquid_h, rate, pue, rng.uniform(0.08, 0.16, s_n), budget,
        budget * ramp, existing, supply, 0.6 * spend + 1.0, 0.6, demand, allowed,
        np.nanmedian(cheapest, axis=1) * 0.5,
    )  # fmt: skip


class Build:
    """Coefficients gathered family by family before Pyomo sees them."""

    def __init__(self, case: Instance) -> None:
        self.case = case
        self.last = case.quarters
        self.discount = DISCOUNT ** np.arange(self.last + 1)
        self.keys = self._keys()
        self.place = {
            (name, *key): j for j, (name, key) in enumerate((n, k) for n in self.keys for k in self.keys[n])
        }
        self.cost = np.zeros(len(self.place))
        self.rows: dict[str, dict[tuple[int, ...], list[tuple[int, float]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.orders()
        self.retirements()
        self.racks()
        self.work()

    def _keys(self) -> dict[str, list[tuple[int, ...]]]:
        c, last = self.case, self.last
        orders = [
            (s, h, v)
            for s in range(c.sites)
            for h in range(c.hardware)
            for v in range(c.lead[h], last)
            if c.supply[h, v - c.lead[h]] >= c.lot[h]
        ]
        arcs = [
            (s, h, v, tau)
            for s, h, v in sorted([*orders, *c.existing])
            for tau in range(max(v + MIN_AGE, 1), min(v + LIFE, last) + 1)
        ]
        alive = sorted({(s, h, t) for s, h, v, tau in arcs for t in range(max(v, 0), tau)})
        runs = [[w for w in range(c.workloads) if c.rate[h, w] > 0] for h in range(c.hardware)]
        work = [(s, h, w, t) for s, h, t in alive for w in runs[h] if c.allowed[s, w]]
        short = [(w, t) for w in range(c.workloads) for t in range(last)]
        return {"b": orders, "z": arcs, "N": alive, "x": work, "short": short}

    def add(self, row: str, key: tuple[int, ...], column: int, value: float) -> None:
        self.rows[row][key].append((column, float(value)))

    def orders(self) -> None:
        c = self.case
        for s, h, v in self.keys["b"]:
            j, o, lot = self.place["b", s, h, v], int(v - c.lead[h]), float(c.lot[h])
            money = float(c.price[h, o]) * lot
            self.add("vint", (s, h, v), j, -lot)
            self.add("bal", (s, h, v), j, -lot)
            self.add("supply", (h, o), j, lot)
            self.add("capex", (o // 4,), j, money)
            for k in range(3):
                self.add("vendor", (k, o // 4), j, ((c.vendor[h] == k) - c.share) * money)
            self.cost[j] = money * self.discount[o]

    def retirements(self) -> None:
        c, last, discount = self.case, self.last, self.discount
        for s, h, v, tau in self.keys["z"]:
            j = self.place["z", s, h, v, tau]
            self.add("vint", (s, h, v), j, 1.0)
            if tau < last:
                self.add("bal", (s, h, tau), j, 1.0)
            paid = c.price[h, max(0, min(last - 1, v))]
            care = sum(0.004 * (1 + 0.15 * (t - v)) * discount[t] for t in range(max(v, 0), tau))
            worth = max(0.0, 1 - (tau - v) / 16) * (0.5 if tau < last else 0.8)
            self.cost[j] = paid * (care - worth * discount[tau])

    def racks(self) -> None:
        c = self.case
        for s, h, t in self.keys["N"]:
            j = self.place["N", s, h, t]
            self.add("bal", (s, h, t), j, 1.0)
            if ("N", s, h, t - 1) in self.place:
                self.add("bal", (s, h, t), self.place["N", s, h, t - 1], -1.0)
            draw = c.rack_mw[h] * c.pue[s]
            self.add("power", (s, t), j, draw)
            if c.liquid[h]:
                self.add("liquid", (s, t), j, draw)
            self.add("cap", (s, h, t), j, -1.0)
            self.cost[j] = 0.3 * draw * c.energy[s] * self.discount[t]

    def work(self) -> None:
        c = self.case
        for s, h, w, t in self.keys["x"]:
            j = self.place["x", s, h, w, t]
            self.add("cap", (s, h, t), j, 1.0)
            self.add("demand", (w, t), j, c.rate[h, w])
            self.cost[j] = 0.6 * c.rack_mw[h] * c.pue[s] * c.energy[s] * self.discount[t]
        for w, t in self.keys["short"]:
            j = self.place["short", w, t]
            self.add("demand", (w, t), j, 1.0)
            self.cost[j] = c.penalty[w] * self.discount[t]

    def sides(self, row: str, key: tuple[int, ...]) -> tuple[float | None, float | None]:
        c = self.case
        if row == "vint":
            return (float(c.existing.get(key, 0)),) * 2
        if row == "bal":
            standing = sum(n for (s, h, _), n in c.existing.items() if (s, h) == key[:2])
            return (float(standing) if key[2] == 0 else 0.0,) * 2
        if row == "demand":
            return float(c.demand[key]), None
        upper = {"supply": c.supply, "capex": c.capex, "power": c.budget_mw, "liquid": c.liquid_mw}
        return None, float(upper[row][key]) if row in upper else 0.0

    def model(self) -> pyo.ConcreteModel:
        m = pyo.ConcreteModel()
        columns = []
        for name, keys in self.keys.items():
            domain = pyo.NonNegativeIntegers if name == "b" else pyo.NonNegativeReals
            setattr(m, name, pyo.Var(keys, domain=domain))
            columns += list(getattr(m, name).values())
        c = self.case
        for s, h, v in self.keys["b"]:
            m.b[s, h, v].setub(int(c.supply[h, v - c.lead[h]] // c.lot[h]))
        for name, terms in self.rows.items():
            setattr(m, name, pyo.Constraint(sorted(terms), rule=self._rule(name, columns)))
        m.cost = pyo.Objective(
            expr=LinearExpression(linear_coefs=self.cost.tolist(), linear_vars=columns), sense=pyo.minimize
        )
        return m

    def _rule(self, name: str, columns: list) -> Callable:
        terms = self.rows[name]

        def rule(_model: pyo.ConcreteModel, *key: int) -> tuple:
            lower, upper = self.sides(name, key)
            part = terms[key]
            body = LinearExpression(
                linear_coefs=[value for _, value in part], linear_vars=[columns[j] for j, _ in part]
            )
            return (body, upper) if lower == upper else (lower, body, upper)

        return rule


def build(case: Instance) -> pyo.ConcreteModel:
    """The Pyomo model."""
    return Build(case).model()
