"""The same plan by another road: survival form, scipy's MILP, money written out by hand.

Nothing of fleetplan's planning, money or lifecycle modules is used: racks are counted per cohort and
period (not per arc), costs fall where they fall, and every curve is computed here again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import floor
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from fleetplan.inputs.scenario import Scenario
from fleetplan.periods import Quarter

HOURS = 8766 / 4


@dataclass
class Milp:
    """Rows and columns by name, collected one by one."""

    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    names: dict[tuple[Any, ...], int] = field(default_factory=dict)
    rows: list[tuple[dict[int, float], float, float]] = field(default_factory=list)

    def var(self, *name: Any, upper: float = np.inf, whole: bool = False) -> int:
        self.names[name] = len(self.cost)
        self.cost.append(0.0)
        self.upper.append(upper)
        self.whole.append(int(whole))
        return self.names[name]

    def pay(self, name: tuple[Any, ...], amount: float) -> None:
        self.cost[self.names[name]] += amount

    def row(self, terms: list[tuple[tuple[Any, ...], float]], low: float, high: float) -> None:
        merged: dict[int, float] = defaultdict(float)
        for name, value in terms:
            if name in self.names:
                merged[self.names[name]] += value
        self.rows.append((dict(merged), low, high))

    def solve(self) -> float | None:
        entries = [(i, j, v) for i, (terms, _, _) in enumerate(self.rows) for j, v in terms.items()]
        i, j, v = zip(*entries, strict=True)
        matrix = coo_array((v, (i, j)), shape=(len(self.rows), len(self.cost)))
        low, high = ([row[k] for row in self.rows] for k in (1, 2))
        found = milp(
            self.cost,
            integrality=self.whole,
            bounds=Bounds(0, self.upper),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            options={"mip_rel_gap": 0.0},
        )
        return float(found.fun) if found.x is not None else None


class Reference:
    """One scenario in survival form."""

    def __init__(
        self, world: Scenario, table: pd.DataFrame, earlier: dict[str, pd.DataFrame] | None = None
    ) -> None:
        self.w, self.m, self.earlier = world, Milp(), earlier
        self.fin, self.life = world.finance, world.lifecycle
        horizon = world.horizon
        self.starts = [p.start.ordinal for p in horizon] + [horizon.end.ordinal]
        self.T = len(horizon)
        self.len = [p.quarters for p in horizon]
        shift = {"start_of_period": 0.0, "mid_period": 0.5, "end_of_period": 1.0}[self.fin.discount_timing]
        self.df = [
            np.mean(
                [
                    (1 + self.fin.discount_rate) ** (-(q - self.starts[0] + shift) / 4)
                    for q in self.quarters(t)
                ]
            )
            for t in range(self.T)
        ]
        self.df_end = (1 + self.fin.discount_rate) ** (-(self.starts[-1] - self.starts[0]) / 4)
        good = table[table["fits"] & table["meets_deadline"] & (table["net_samples_per_s_per_rack"] > 0)]
        self.options: list[Any] = list(good.itertuples(index=False))
        self.caps = {
            a: sorted(set(table.loc[table["accelerator"] == a, "cap_w"])) for a in world.accelerators
        }
        self.constant = 0.0

    def quarters(self, t: int) -> range:
        return range(self.starts[t], self.starts[t + 1])

    def level(self, t: int, rate: float) -> float:
        return float(np.mean([(1 + rate) ** ((q - self.starts[0]) / 4) for q in self.quarters(t)]))

    def first_from(self, quarter: int) -> int:
        return next((t for t in range(self.T) if self.starts[t] >= quarter), self.T)

    def alive(self, age0: int, age1: int) -> float:
        kept = 1.0
        for age in range(age0, age1):
            late = age / 4 >= self.life.attrition_multiplier_from_year
            rate = self.life.attrition_per_year * (self.life.attrition_multiplier if late else 1.0)
            kept *= (1 - rate) ** 0.25
        return kept

    def resale(self, name: str, age: int) -> float:
        kind = "own" if self.w.accelerators[name].vendor == "Meta" else "merchant"
        curve = self.fin.salvage_share_by_age_year.get(kind, ())
        return float(np.interp(age / 4, range(len(curve) + 1), [1.0, *curve])) if curve else 0.0

    def end_share(self, name: str, age: int, book_life: float) -> float:
        rule, rate, life = self.fin.end_value_rule, self.fin.discount_rate, self.fin.economic_life_years
        if rule == "none":
            return 0.0
        if rule == "resale":
            return self.resale(name, age)
        if rule == "book":
            return max(0.0, 1 - age / 4 / book_life)
        salvage, left = self.resale(name, round(life * 4)), life - age / 4
        if left <= 0:
            return max(salvage, self.resale(name, age))
        factor = life if rate == 0 else (1 - (1 + rate) ** -life) / rate
        payment = (1 - salvage * (1 + rate) ** -life) / factor
        rest = left if rate == 0 else (1 - (1 + rate) ** -left) / rate
        return max(self.resale(name, age), payment * rest + salvage * (1 + rate) ** -left)

    def kw(self, hall: str, name: str, cap: float, t: int) -> float:
        a, life = self.w.accelerators[name], self.life
        base = (
            (a.facility_fixed_w_per_device + a.facility_slope_w_per_cap_w * cap) / 1000 * a.devices_per_rack
        )
        begin = life.mass_production.get(name)
        stage = "refined"
        if begin is not None:
            ahead = self.starts[t] - begin.ordinal
            stage = "forecast" if ahead < 0 else "initial" if ahead < 4 else "refined"
        base *= min(life.power_stage_factor[stage], life.diversity_factor)
        board = self.w.halls[hall].lot_kw
        return board / floor(board / base) if board and board >= base else base

    def usable(self, hall: str, t: int) -> float:
        rows = {r.quarter.ordinal: r.facility_mw for r in self.w.power if r.hall == hall}
        h = self.w.halls[hall]
        least = min(rows[q] for q in self.quarters(t))
        return least * (1 - h.reserve_share) * (1 - self.w.sites[h.site].stranded_share)

    # -- columns and rows -----------------------------------------------------------------------

    def solve(self) -> float | None:
        """Least cost, or None where no plan exists."""
        self.cohorts: list[dict[str, Any]] = []
        for c in self.w.fleet:
            self.cohorts.append(
                {
                    "hall": c.hall,
                    "name": c.accelerator,
                    "v": c.commissioned.ordinal,
                    "entry": 0,
                    "price": c.purchase_price_musd_per_rack,
                    "life": c.book_life_years,
                    "racks": c.racks,
                    "d": None,
                }
            )
        self.orders()
        self.hand_on()
        for i, c in enumerate(self.cohorts):
            self.age(i, c)
        self.roles()
        self.places()
        self.work()
        if self.earlier is not None:
            self.stay(self.earlier)
        if self.w.rules.shortfall == "by_priority":
            self.shortfall_first()
        least = self.m.solve()
        return None if least is None else least + self.constant

    def orders(self) -> None:
        for d, s in enumerate(self.w.supply):
            lot = self.life.lot_racks.get(s.accelerator, 1)
            q = s.delivery.ordinal
            pay = max(t for t in range(self.T) if self.starts[t] <= q)
            v = q + self.life.install_quarters
            entry = self.first_from(v)
            if entry == self.T:
                worth = 0.0 if self.fin.end_value_rule == "none" else self.df_end
                self.constant += s.committed_racks * s.price_musd_per_rack * (self.df[pay] - worth)
                continue
            free = s.new_orders_can_arrive and q - s.lead_time_quarters >= self.starts[0]
            ceiling = s.max_racks if free else min(s.max_racks, s.committed_racks + s.option_racks)
            lots = []
            for hall in self.w.halls:
                a = self.w.accelerators[s.accelerator]
                if self.w.halls[hall].cooling_class not in a.cooling or self.usable(hall, entry) <= 0:
                    continue
                self.m.var("lots", d, hall, whole=True, upper=1000)
                each = s.price_musd_per_rack * lot
                self.m.pay(("lots", d, hall), each * self.df[pay])
                self.ops("lots", each * self.fin.deploy_cost_share, pay, d, hall, hall=hall)
                self.cohorts.append(
                    {
                        "hall": hall,
                        "name": s.accelerator,
                        "v": v,
                        "entry": entry,
                        "price": s.price_musd_per_rack,
                        "life": a.book_life_years,
                        "racks": None,
                        "d": d,
                        "lot": lot,
                    }
                )
                lots.append((("lots", d, hall), 1.0))
            least = s.committed_racks // lot
            self.m.row(lots, least, least + max(0, ceiling - s.committed_racks) // lot)

    def hand_on(self) -> None:
        """What racks can become once in their life: racks in another hall, or in a role outside training."""
        for i, c in list(enumerate(self.cohorts)):
            c["children"] = []
            oldest = c["v"] + self.life.maximum_age_quarters
            for t in range(c["entry"] + 1, self.T):
                if self.starts[t] >= oldest:
                    break
                if self.w.rules.allow_moves:
                    for hall, h in self.w.halls.items():
                        cooled = h.cooling_class in self.w.accelerators[c["name"]].cooling
                        if hall != c["hall"] and cooled:
                            self.child(i, c, t, self.fin.move_cost_share, hall=hall)
                for r in self.w.roles:
                    due = r.first.ordinal <= self.starts[t] <= r.last.ordinal
                    if (
                        r.accelerator == c["name"]
                        and due
                        and self.starts[t] - c["v"] >= r.minimum_age_quarters
                    ):
                        self.child(i, c, t, r.cost_share_of_price, role=r)

    def child(self, i: int, c: dict[str, Any], t: int, share: float, **what: Any) -> None:
        j = len(self.cohorts)
        new = {"racks": None, "d": None, "children": [], "parent": i, "entry": t, **what}
        self.cohorts.append({**c, **new})
        self.m.var("hand", j)
        self.ops("hand", share * c["price"], t, j, hall=c["hall"])
        c["children"].append(j)

    def roles(self) -> None:
        """What racks in roles bring, how many each role needs."""
        for r in self.w.roles:
            for t in range(self.T):
                mine = [
                    (i, c)
                    for i, c in enumerate(self.cohorts)
                    if c.get("role") == r and c["entry"] <= t < c["stop"]
                ]
                for i, c in mine:
                    ready = self.starts[c["entry"]] + r.down_quarters
                    works = [q for q in self.quarters(t) if ready <= q <= r.last.ordinal]
                    worth = len(works) * r.value_musd_per_rack_quarter
                    self.ops("n", -worth, t, i, t, hall=c["hall"])
                if mine and self.starts[t] <= r.last.ordinal:
                    self.m.row([(("n", i, t), 1.0) for i, _ in mine], -np.inf, r.max_racks)

    def shortfall_first(self) -> None:
        """Hold what is short at its least, priority by priority, weighed by price."""
        cost = self.m.cost
        for priority in sorted({w.priority for w in self.w.workloads.values()}):
            worth = []
            for name, w in self.w.workloads.items():
                price = w.shortfall_price_usd_per_billion_samples  # weighs; its unit plays no part
                if w.priority == priority:
                    worth += [(("short", name, t), price * self.len[t]) for t in range(self.T)]
            self.m.cost = [0.0] * len(cost)
            for key, value in worth:
                self.m.pay(key, value)
            least = self.m.solve()
            self.m.cost = cost
            if least is None:
                return
            self.m.row(worth, -np.inf, least + 1e-7)

    def stay(self, earlier: dict[str, pd.DataFrame]) -> None:
        """Orders and exits as in an earlier plan where they are frozen, at a price elsewhere."""
        was: dict[tuple[Any, ...], float] = defaultdict(float)
        for o in earlier["orders"].itertuples():
            was["order", o.hall, o.accelerator, o.delivery_quarter] += o.racks
        for o in earlier["retirements"].itertuples():
            was[o.kind, o.hall, o.accelerator, o.vintage, o.period] += o.racks
        for o in earlier["roles"].itertuples():
            if o.since == o.period:
                was["role", o.hall, o.accelerator, o.vintage, o.period] += o.racks
        names = {p.start.ordinal: p.name for p in self.w.horizon}
        thaw = self.starts[0] + self.w.rules.frozen_quarters
        now: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        when: dict[tuple[Any, ...], tuple[int, bool]] = {}
        for family, *rest in list(self.m.names):
            if family == "lots":
                s = self.w.supply[rest[0]]
                key = ("order", rest[1], s.accelerator, str(s.delivery))
                q = s.delivery.ordinal
                pay = max(t for t in range(self.T) if self.starts[t] <= q)
                lot = self.life.lot_racks.get(s.accelerator, 1)
                now[key].append((("lots", *rest), float(lot)))
                when[key] = pay, q - s.lead_time_quarters < thaw
            elif family in ("out", "hand"):
                c = self.cohorts[rest[0]]
                t = rest[1] if family == "out" else c["entry"]
                kind = "early" if family == "out" else "role" if "role" in c else "moved"
                hall = self.cohorts[c["parent"]]["hall"] if family == "hand" else c["hall"]
                key = (kind, hall, c["name"], str(Quarter.from_ordinal(c["v"])), names[self.starts[t]])
                now[key].append(((family, *rest), 1.0))
                when[key] = t, self.starts[t] < thaw
        for key, terms in now.items():
            t, frozen = when[key]
            for sign in (1, -1):
                self.m.var("change", sign, *key)
                self.m.pay(("change", sign, *key), self.w.rules.change_price_musd_per_rack * self.df[t])
            apart = [(("change", 1, *key), -1.0), (("change", -1, *key), 1.0)]
            self.m.row([*terms, *apart], was[key], was[key])
            if frozen:
                self.m.row(terms, was[key], was[key])

    def tax_rate(self, hall: str) -> float:
        return (
            self.fin.income_tax_rate[self.w.sites[self.w.halls[hall].site].country]
            if self.w.rules.use_tax
            else 0.0
        )

    def ops(self, *name: Any, hall: str) -> None:
        """An operating cost that is also deducted from tax: (family, amount, period, rest of the name)."""
        family, amount, t, *rest = name
        factor = self.df_end if t == self.T else self.df[t]
        self.m.pay((family, *rest), amount * factor * (1 - self.tax_rate(hall)))

    def tax_left(self, age: int) -> float:
        method, years = self.fin.tax_depreciation, self.fin.tax_life_years
        if method == "straight_line":
            return max(0.0, 1 - age / 4 / years)
        if method == "none":
            return 0.0
        macrs = np.concatenate([[0.0], np.cumsum([0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576])])
        left = 1 - float(np.interp(age / 4, range(7), macrs))
        if method == "macrs5":
            return left
        return 1.0 if age == 0 else (1 - self.fin.bonus_share) * left

    def age(self, i: int, c: dict[str, Any]) -> None:
        """Racks of a cohort by period, who leaves, and what that costs."""
        fresh = c["d"] is not None
        oldest = c["v"] + self.life.maximum_age_quarters
        stop = max([t for t in range(self.T + 1) if self.starts[t] <= oldest], default=0)
        c["stop"] = stop = max(stop, c["entry"])
        at = [max(0, s - c["v"]) for s in self.starts]
        if stop == c["entry"] and "parent" in c:
            self.m.row([(("hand", i), 1.0)], 0, 0)
            return
        if stop == c["entry"]:
            name = ("lots", c["d"], c["hall"]) if fresh else ("gone", i)
            if not fresh:
                self.m.var("gone", i)
                self.m.row([(name, 1.0)], c["racks"], c["racks"])
            self.leave(i, c, stop, name, c.get("lot", 1.0), 0 if fresh else at[stop], at[stop])
            return
        taxed_at = [0 if fresh and t == c["entry"] else at[t] for t in range(self.T + 1)]
        rate, price = self.tax_rate(c["hall"]), c["price"]
        for t in range(c["entry"], stop):
            n = self.m.var("n", i, t)
            del n
            share = sum(self.upkeep(age) for age in range(at[t], at[t + 1])) / 4
            self.ops("n", share * price, t, i, t, hall=c["hall"])
            if self.fin.tax_depreciation != "none":
                saved = rate * price * (self.tax_left(taxed_at[t]) - self.tax_left(at[t + 1]))
                self.m.pay(("n", i, t), -saved * self.df[t])
        come = [(("n", i, c["entry"]), 1.0)]
        if fresh:
            self.m.row([*come, (("lots", c["d"], c["hall"]), -c["lot"])], 0, 0)
        elif "parent" in c:
            self.m.row([*come, (("hand", i), -1.0)], 0, 0)
        else:
            self.m.row(come, c["racks"], c["racks"])
        for t in range(c["entry"] + 1, stop + 1):
            kept = self.alive(at[t - 1], at[t])
            before = (("n", i, t - 1), kept)
            lost = rate * price * self.tax_left(at[t])
            self.m.pay(("n", i, t - 1), -(1 - kept) * lost * (self.df_end if t == self.T else self.df[t]))
            if t == stop:
                self.leave(i, c, t, ("n", i, t - 1), kept, at[t], at[t])
                continue
            if self.w.rules.allow_early_retirement and at[t] >= self.life.minimum_age_quarters:
                self.m.var("out", i, t)
                self.leave(i, c, t, ("out", i, t), 1.0, at[t], at[t])
            handed = [(("hand", j), -1.0) for j in c["children"] if self.cohorts[j]["entry"] == t]
            self.m.row([before, (("n", i, t), -1.0), (("out", i, t), -1.0), *handed], 0, 0)

    def upkeep(self, age: int) -> float:
        return [share for start, share in self.fin.maintenance_share_per_year if start <= age / 4][-1]

    def leave(
        self, i: int, c: dict[str, Any], t: int, name: tuple[Any, ...], each: float, taxed_age: int, age: int
    ) -> None:
        """Racks that leave at a boundary: sold and taken down, or valued at the horizon's end."""
        price, rate = c["price"] * each, self.tax_rate(c["hall"])
        factor = self.df_end if t == self.T else self.df[t]
        self.m.pay(name, -rate * price * self.tax_left(taxed_age) * factor)
        if t == self.T:
            gain = self.end_share(c["name"], age, c["life"])
        else:
            gain = self.resale(c["name"], age) - self.fin.decommission_cost_share
        self.m.pay(name, -gain * price * factor * (1 - rate))

    def opex(self, t: int) -> float:
        rate = self.fin.opex_musd_per_facility_mw_year * self.len[t] / 4
        return rate * self.level(t, self.fin.inflation_per_year)

    def in_roles(self, hall: str, site: str, t: int) -> list[Any]:
        """Megawatts of racks in roles, at their planned cap; what they draw and cost by standing there."""
        terms = []
        for i, c in enumerate(self.cohorts):
            if "role" not in c or c["hall"] != hall or not c["entry"] <= t < c["stop"]:
                continue
            a = self.w.accelerators[c["name"]]
            cap = a.provisioned_cap_w
            kw = self.kw(hall, c["name"], cap, t)
            law = (a.facility_fixed_w_per_device + a.facility_slope_w_per_cap_w * cap) / 1000
            drawn = law * a.devices_per_rack * a.average_to_provisioned_power
            self.ops("n", kw / 1000 * self.opex(t) + drawn * self.per_kw(site, t), t, i, t, hall=hall)
            terms.append((("n", i, t), kw / 1000))
        return terms

    def places(self) -> None:
        """Caps, hall power, contracts, and what racks cost by standing there."""
        built: dict[tuple[str, int], float] = defaultdict(float)
        load: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for hall, h in self.w.halls.items():
            for t in range(self.T):
                terms = self.in_roles(hall, h.site, t)
                for name in self.w.accelerators:
                    there = [
                        (("n", i, t), -1.0)
                        for i, c in enumerate(self.cohorts)
                        if c["hall"] == hall
                        and c["name"] == name
                        and c["entry"] <= t < c["stop"]
                        and "role" not in c
                    ]
                    if not there:
                        continue
                    for cap in self.caps[name]:
                        self.m.var("m", hall, name, cap, t)
                        kw = self.kw(hall, name, cap, t)
                        terms.append((("m", hall, name, cap, t), kw / 1000))
                        rate = self.opex(t)
                        self.ops("m", kw / 1000 * rate, t, hall, name, cap, t, hall=hall)
                        idle = self.idle(name)
                        self.ops("m", idle * self.per_kw(h.site, t), t, hall, name, cap, t, hall=hall)
                    self.m.row([*[(("m", hall, name, cap, t), 1.0) for cap in self.caps[name]], *there], 0, 0)
                self.m.row(terms, -np.inf, self.usable(hall, t))
                load[h.site, t] += terms
                rows = {r.quarter.ordinal: r.facility_mw for r in self.w.power if r.hall == hall}
                built[h.site, t] += min(rows[q] for q in self.quarters(t))
        self.contracts(built, load)

    def contracts(self, built: dict[tuple[str, int], float], load: dict[tuple[str, int], list[Any]]) -> None:
        for name, s in self.w.sites.items():
            powered = [t for t in range(self.T) if built[name, t] > 0]
            for t in range(powered[0] if powered else self.T, self.T):
                years = (self.starts[t] - self.starts[powered[0]]) / 4
                if not s.tariff_minimum_take_share or (s.tariff_term_years and years >= s.tariff_term_years):
                    continue
                ramp = min(1.0, (int(years) + 1) / s.tariff_ramp_years) if s.tariff_ramp_years else 1.0
                need = s.tariff_minimum_take_share * ramp * built[name, t]
                self.m.var("take", name, t)
                self.m.row([*load[name, t], (("take", name, t), 1.0)], need, np.inf)
                hall = next(h for h, row in self.w.halls.items() if row.site == name)
                self.ops("take", HOURS * self.len[t] * self.price(name, t) / 1e6, t, name, t, hall=hall)

    def price(self, site: str, t: int) -> float:
        s = self.w.sites[site]
        return s.energy_price_usd_per_mwh * self.level(t, s.energy_price_escalation_per_year)

    def per_kw(self, site: str, t: int) -> float:
        """M USD of one facility kW (at peak PUE) through a period, with its carbon."""
        s, carbon = self.w.sites[site], self.w.carbon
        mwh = HOURS * self.len[t] / 1000 * s.pue_annual / s.pue_peak
        cost = mwh * self.price(site, t) / 1e6
        if self.w.rules.price_carbon:
            grams = carbon.intensity_g_per_kwh.get(site, 0.0)
            grams *= self.level(t, carbon.intensity_trend_per_year.get(site, 0.0))
            cost += mwh * grams / 1000 * carbon.price_usd_per_t / 1e6
        return cost

    def idle(self, name: str) -> float:
        a = self.w.accelerators[name]
        use = [o.average_facility_kw_per_rack for o in self.options if o.accelerator == name]
        law = (a.facility_fixed_w_per_device + a.facility_slope_w_per_cap_w * self.caps[name][0]) / 1000
        least = min(use, default=law * a.devices_per_rack * a.average_to_provisioned_power)
        if a.idle_w is None:
            return least
        law = (
            (a.facility_fixed_w_per_device + a.facility_slope_w_per_cap_w * a.idle_w)
            / 1000
            * a.devices_per_rack
        )
        return min(least, law)

    def work(self) -> None:
        ready = (1 - self.life.spare_share) * (1 - self.life.maintenance_share)
        peaks = {
            n: max(1.0, w.peak_to_average * (1 - w.deferrable_share)) for n, w in self.w.workloads.items()
        }
        served: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for site in self.w.sites:
            halls = [h for h, row in self.w.halls.items() if row.site == site]
            for t in range(self.T):
                for name in self.w.accelerators:
                    used = []
                    for o in self.options:
                        allowed = self.w.workloads[o.workload].allowed_sites
                        if o.accelerator != name or (allowed and site not in allowed):
                            continue
                        self.m.var("x", site, o.option, t)
                        used.append((("x", site, o.option, t), peaks[o.workload], o.cap_w))
                        extra = o.average_facility_kw_per_rack - self.idle(name)
                        self.ops("x", extra * self.per_kw(site, t), t, site, o.option, t, hall=halls[0])
                        served[o.workload, t].append((("x", site, o.option, t), o.net_samples_per_s_per_rack))
                    for cap in self.caps[name]:
                        mine = [(n, v) for n, v, c in used if c == cap]
                        stand = [(("m", h, name, cap, t), -ready) for h in halls]
                        self.m.row(mine + stand, -np.inf if cap == min(self.caps[name]) else 0, 0)
                    self.burn_in(site, halls, name, t, [(n, v) for n, v, _ in used], ready)
        self.demand(served)

    def burn_in(self, site: str, halls: list[str], name: str, t: int, used: list[Any], ready: float) -> None:
        lost = self.life.burn_in_loss_share
        new = [
            i
            for i, c in enumerate(self.cohorts)
            if c["hall"] in halls and c["name"] == name and c["d"] is not None and c["entry"] == t
        ]
        if not lost or not new:
            return
        stand = [(("m", h, name, cap, t), -ready) for h in halls for cap in self.caps[name]]
        missing = [(("n", i, t), lost * ready / self.len[t]) for i in new]
        self.m.row(used + stand + missing, -np.inf, 0)

    def demand(self, served: dict[tuple[str, int], list[Any]]) -> None:
        asked = {(d.workload, d.quarter.ordinal): d.samples_per_s for d in self.w.demand}
        for name, w in self.w.workloads.items():
            for t in range(self.T):
                rate = float(np.mean([asked.get((name, q), 0.0) for q in self.quarters(t)]))
                self.m.var("short", name, t, upper=rate)
                price = w.shortfall_price_usd_per_billion_samples * HOURS * 3600 * self.len[t] / 1e15
                self.m.pay(("short", name, t), price * self.df[t])
                last = t == self.T - 1
                self.m.var("wait", name, t, upper=0.0 if last else w.deferrable_share * rate)
                terms = [(n, v * self.len[t]) for n, v in served[name, t]]
                terms += [
                    (("short", name, t), self.len[t]),
                    (("wait", name, t), 1.0),
                    (("wait", name, t - 1), -1.0),
                ]
                self.m.row(terms, rate * self.len[t], rate * self.len[t])
