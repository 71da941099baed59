"""A made-up plan of realistic size whose tables respect every identity; no solver is involved.

The plan is a simple simulation: halls are filled with what may be bought, racks retire by age, work is
spread by fixed shares. Names, sizes and seeds are parameters, so that the same generator gives the
hostile and the large plans.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fleetplan.figures import Figure, Origin
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.scenario import (
    Carbon,
    Demand,
    Finance,
    Hall,
    HallPower,
    Lifecycle,
    Rules,
    Scenario,
    Site,
    Supply,
    Workload,
)
from fleetplan.performance.table import OPTIONS
from fleetplan.periods import Horizon, Period, Quarter
from fleetplan.plan.audit_report import AuditReport, Check
from fleetplan.plan.manifest import SolveFacts, make_manifest
from fleetplan.plan.plan import Plan
from fleetplan.plan.schema import TABLES

ORIGIN = Origin("fixture.csv", 2)
SITES = (
    ("new-albany-oh", "New Albany OH", 124.0),
    ("richland-la", "Richland Parish LA", 18.0),
    ("el-paso-tx", "El Paso TX", 24.0),
    ("lebanon-in", "Lebanon IN", 20.0),
    ("altoona-ia", "Altoona IA", 60.0),
    ("prineville-or", "Prineville OR", 64.0),
    ("forest-city-nc", "Forest City NC", 36.0),
    ("eagle-mountain-ut", "Eagle Mountain UT", 30.0),
    ("sarpy-ne", "Sarpy County NE", 42.0),
    ("fort-worth-tx", "Fort Worth TX", 30.0),
    ("gallatin-tn", "Gallatin TN", 16.0),
    ("lulea-se", "Luleå SE", 14.0),
)
# name, title, vendor, kW per rack, M USD per rack, first and last quarter that it can be bought, relative speed
ACCELERATORS = (
    ("a100-80g", "A100 80 GB", "NVIDIA", 31.3, 0.52, "", "", 0.5),
    ("h100-500w", "H100 (500 W)", "NVIDIA", 37.0, 1.05, "", "", 1.0),
    ("h100-sxm", "H100 SXM", "NVIDIA", 45.7, 1.15, "", "", 1.1),
    ("h200-sxm", "H200 SXM", "NVIDIA", 45.7, 1.25, "", "", 1.25),
    ("b200-hgx", "B200 HGX", "NVIDIA", 62.0, 1.6, "", "", 2.0),
    ("gb200-nvl72", "GB200 NVL72", "NVIDIA", 129.2, 3.4, "2026Q4", "2027Q2", 5.0),
    ("b300-hgx", "B300 HGX", "NVIDIA", 70.0, 1.9, "2027Q1", "2027Q4", 2.3),
    ("gb300-nvl72", "GB300 NVL72", "NVIDIA", 151.0, 4.1, "2027Q1", "2028Q4", 6.1),
    ("vr200-nvl144", "VR200 NVL144", "NVIDIA", 230.0, 7.8, "2029Q1", "2031Q4", 11.0),
    ("mi300x", "MI300X", "AMD", 43.0, 0.9, "", "", 1.0),
    ("mi355x", "MI355X", "AMD", 72.0, 1.5, "2027Q2", "2028Q1", 1.9),
    ("mi455x", "MI455X", "AMD", 210.0, 5.9, "2029Q3", "2031Q4", 9.4),
    ("mtia-300", "MTIA 300", "Meta", 21.0, 0.34, "2026Q4", "2027Q4", 0.75),
    ("mtia-400", "MTIA 400", "Meta", 118.0, 1.9, "2027Q2", "2029Q2", 4.6),
    ("mtia-450", "MTIA 450", "Meta", 130.0, 2.2, "2027Q4", "2030Q2", 5.3),
    ("mtia-500", "MTIA 500", "Meta", 150.0, 2.6, "2028Q3", "2031Q4", 7.0),
)
WORKLOADS = (
    ("ads-dlrm-150b", "Ads ranking DLRM, 150 B parameters", 1, 0.28, 6.7e5),
    ("rank-dcnv2-small", "Small ranking models", 3, 0.06, 5.9e6),
    ("dlrm-12t", "12 T parameter class DLRM", 1, 0.14, 4.1e5),
    ("hstu-feed", "Feed sequence model (HSTU)", 2, 0.12, 2.2e5),
    ("hstu-reels", "Video sequence model (HSTU)", 1, 0.14, 1.8e5),
    ("wukong-ads", "Ads Wukong", 2, 0.1, 2.9e5),
    ("gem-foundation", "Ads foundation model (GEM-like)", 1, 0.12, 0.9e5),
    ("retrieval", "Retrieval two-tower", 3, 0.04, 8.2e6),
)
OLD = {"a100-80g": 18, "h100-500w": 12, "h100-sxm": 9, "h200-sxm": 7, "mi300x": 6, "gb200-nvl72": 4}
INSTALL, LEAD, MAX_AGE, BOOK_YEARS, RATE = 1, 3, 22, 5.5, 0.09
HOURS = 8766.0 / 4


def hostile(name: str) -> str:
    """An awkward name: markup, quotes, separators, a formula, an emoji, 200 characters in all."""
    bad = f"=cmd|'/c calc'!A1</script><script>window.broken=1</script>\"{name}\",;&lt;{{{{7*7}}}}\\ \U0001f680 `"
    return bad + "x" * (200 - len(bad))


@dataclass
class _World:
    rename: Callable[[str], str]
    periods: tuple[Period, ...]
    sites: list[tuple[str, str, float]]
    accelerators: tuple[tuple[Any, ...], ...]
    workloads: list[tuple[Any, ...]]
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {t.name: [] for t in TABLES})
    cohorts: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def add(self, table: str, *row: object) -> None:
        self.rows[table].append(row)


def make_plan(
    quarters: int = 21,
    site_count: int = 12,
    workload_count: int = 8,
    rename: Callable[[str], str] = str,
    *,
    with_roles: bool = False,
) -> Plan:
    """Simulate a plan; ``rename`` maps every site, hall, accelerator and workload name."""
    horizon = Horizon.of_quarters(Quarter(2026, 4), quarters)
    sites = [(_numbered(s[0], i // 12), s[1], s[2]) for i in range(site_count) for s in [SITES[i % 12]]]
    works = [(_numbered(w[0], i // 8), *w[1:]) for i in range(workload_count) for w in [WORKLOADS[i % 8]]]
    share = sum(w[3] for w in works)
    works = [(*w[:3], w[3] / share, w[4]) for w in works]
    world = _World(rename, horizon.periods, sites, ACCELERATORS, works)
    options = _options(world)
    _simulate(world)
    _work(world)
    _money(world)
    if with_roles:
        _roles(world)
    tables = {spec.name: spec.frame(world.rows[spec.name]) for spec in TABLES}
    scenario = _scenario(world, horizon)
    total = float(tables["ledger"]["npv_musd"].sum())
    facts = SolveFacts(
        "gap_reached", total, total * 0.9991, {"gap": 0.001}, {"solve": 41.8}, 17930, 104212, 2244, 7
    )
    audit = AuditReport((Check("power", "racks x kW = MW", 9412, 0.1),))
    return Plan(tables, options, scenario, make_manifest(scenario, options, tables["ledger"], facts), audit)


def _numbered(name: str, turn: int) -> str:
    return f"{name}-{turn + 1}" if turn else name


def _mw(base: float, index: int, quarter: int) -> float:
    """Megawatts of a site: steps up, with the young sites growing most."""
    steps = (quarter + index) // 5
    return round(base * (1 + 0.22 * steps if base > 25 else 1 + 0.9 * steps), 3)


def _simulate(world: _World) -> None:
    r = world.rename
    for i, (site, _, base) in enumerate(world.sites):
        old = list(OLD)[i % len(OLD) :][:2]
        for name in old:
            kw = _spec(name)[3]
            born = str(world.periods[0].start + -(OLD[name] + i % 3))
            world.cohorts[site, name, born] = float(int(base * 1000 * 0.44 / kw))
    for period in world.periods:
        for i, (site, _, base) in enumerate(world.sites):
            _retire(world, site, period)
            _land(world, site, period, _mw(base, i, period.index), i)
            _record(world, site, period, _mw(base, i, period.index))
    assert r("x")


def _spec(name: str) -> tuple[Any, ...]:
    return next(a for a in ACCELERATORS if a[0] == name)


def _hall(site: str) -> str:
    return f"{site}-liquid"


def _retire(world: _World, site: str, period: Period) -> None:
    for (s, name, born), racks in list(world.cohorts.items()):
        age = period.start - Quarter.parse(born)
        early = name == "h100-500w" and age >= 18
        if s != site or not (age >= MAX_AGE or early):
            continue
        price = _spec(name)[4]
        book = racks * price * max(0.0, 1 - age / 4 / BOOK_YEARS) if early else 0.0
        kind = "early" if early else "end-of-life"
        world.add(
            "retirements",
            *map(world.rename, (site, _hall(site), name)),
            born,
            period.name,
            kind,
            racks,
            book,
            -racks * price * 0.05,
        )
        del world.cohorts[s, name, born]


def _used(world: _World, site: str) -> float:
    return sum(n * _spec(a)[3] / 1000 for (s, a, _), n in world.cohorts.items() if s == site)


def _land(world: _World, site: str, period: Period, available: float, index: int) -> None:
    buyable = [a for a in world.accelerators if a[5] and a[5] <= period.name <= a[6]]
    if not buyable or period.index < INSTALL:
        return
    spec = buyable[(index + period.index) % len(buyable)]
    racks = float(int((0.97 * available - _used(world, site)) * 1000 / spec[3] / 4) * 4)
    if racks < 4:
        return
    world.cohorts[site, spec[0], period.name] = racks
    delivery = period.start + -INSTALL
    order = delivery + -LEAD
    kind = "committed" if order < world.periods[0].start else "new"
    last = dt.date(order.year, order.number * 3, 28).isoformat()
    world.add(
        "orders",
        *map(world.rename, (spec[0], site, _hall(site))),
        period.name,
        kind,
        str(order),
        str(delivery),
        last,
        racks / 4,
        racks,
        spec[4],
        racks * spec[4],
    )


def _record(world: _World, site: str, period: Period, available: float) -> None:
    r, used, by = world.rename, _used(world, site), {}
    for (s, name, born), racks in world.cohorts.items():
        if s == site:
            world.add("fleet", r(site), r(_hall(site)), r(name), born, period.name, racks)
            by[name] = by.get(name, 0.0) + racks
    for name, racks in by.items():
        kw = _spec(name)[3]
        world.add("modes", r(site), r(_hall(site)), r(name), period.name, _cap(name), racks, kw)
        world.add("power_by_accelerator", r(site), r(name), period.name, racks * kw / 1000)
        for w in world.workloads:
            rate = w[4] * _spec(name)[7]
            world.add(
                "assignment",
                r(site),
                r(name),
                r(w[0]),
                r(_option(w[0], name)),
                period.name,
                racks * w[3],
                racks * w[3] * rate,
            )
    world.add("power", r(site), r(_hall(site)), period.name, available, used, available - used)
    price = 60 * 1.03 ** (period.index / 4)
    mwh = used * 0.8 * HOURS
    world.add("energy", r(site), period.name, mwh, price, mwh * price / 1e6, mwh * 0.35, 0.0)
    world.add("ledger", "energy", period.name, r(site), "", *_npv(mwh * price / 1e6, period), False)


def _npv(amount: float, period: Period) -> tuple[float, float, float]:
    factor = (1 + RATE) ** -((period.index + 0.5) / 4)
    return amount, factor, amount * factor


def _cap(name: str) -> float:
    return 960.0 if name.startswith("gb") else 700.0


def _option(workload: str, name: str) -> str:
    return f"{workload}/{name}/64/4096/{_cap(name):.0f}"


def _options(world: _World) -> pd.DataFrame:
    r, rows = world.rename, []
    for w in world.workloads:
        for a in world.accelerators:
            rate = w[4] * a[7]
            total = 64 * 4096 / (rate / 16) * 1000
            own = a[2] == "Meta"
            shares = (0.52, 0.2, 0.05 if own else 0.13, 0.02 if own else 0.06)
            parts = [total * s for s in shares]
            rows.append(
                (
                    r(_option(w[0], a[0])),
                    r(w[0]),
                    r(a[0]),
                    64,
                    4096,
                    _cap(a[0]),
                    "row-wise + data parallel",
                    True,
                    71.0,
                    total,
                    rate / 0.94,
                    0.94,
                    rate,
                    0.8,
                    1.3,
                    a[3],
                    a[3] * 0.8,
                    *parts,
                    total - sum(parts),
                    True,
                    "modelled",
                )
            )
    return OPTIONS.frame(rows)


def _work(world: _World) -> None:
    served: dict[tuple[str, str], float] = {}
    for row in world.rows["assignment"]:
        served[row[2], row[4]] = served.get((row[2], row[4]), 0.0) + row[6]
    for w in world.workloads:
        for period in world.periods:
            done = served.get((world.rename(w[0]), period.name), 0.0)
            short = done * 0.03 * (period.index - 16) if w[2] == 3 and period.index > 16 else 0.0
            cost = short * period.seconds / 1e9 * 12 / 1e6
            name = world.rename(w[0])
            world.add("work", name, period.name, done + short, done, 0.0, short, cost)
            if cost:
                world.add("ledger", "shortfall", period.name, name, "", *_npv(cost, period), False)


def _money(world: _World) -> None:
    at = {p.name: p for p in world.periods}
    for row in world.rows["orders"]:
        period = at.get(row[6], world.periods[0])
        detail = f"{row[2]} {row[3]}"
        world.add(
            "ledger", "capex", period.name, row[0], detail, *_npv(row[11], period), row[4] == "committed"
        )
    for row in world.rows["retirements"]:
        detail = f"{row[1]} {row[3]}"
        world.add("ledger", "resale", row[4], row[2], detail, *_npv(row[8], at[row[4]]), False)
    for a in world.accelerators:
        _books(world, a)


def _roles(world: _World) -> None:
    """Half of three cohorts serve inference in the last two periods."""
    since, last = world.periods[-2].name, world.periods[-1].name
    stay = [row for row in world.rows["fleet"] if row[4] == last and (*row[:4], since) in _cohorts(world)]
    for site, hall, name, born, _, racks in stay[:3]:
        place = (site, hall, name, born, world.rename("inference"), since)
        world.add("roles", *place, since, racks / 2, 0.0, 0.02 * racks)
        world.add("roles", *place, last, racks / 2, 0.05 * racks, 0.0)


def _cohorts(world: _World) -> set[tuple[Any, ...]]:
    return {row[:5] for row in world.rows["fleet"]}


def _books(world: _World, spec: tuple[Any, ...]) -> None:
    """Straight line by quarter on the cohorts that the fleet table shows."""
    name, price, life = world.rename(spec[0]), spec[4], BOOK_YEARS * 4
    alive: dict[str, dict[str, float]] = {}
    for _, _, acc, born, period, racks in world.rows["fleet"]:
        if acc == name:
            alive.setdefault(period, {})[born] = alive.get(period, {}).get(born, 0.0) + racks
    lost = {p.name: 0.0 for p in world.periods}
    for row in world.rows["retirements"]:
        if row[2] == name:
            lost[row[4]] += row[7]
    opening = sum(
        n * price * max(0.0, 1 - (world.periods[0].start - Quarter.parse(b)) / life)
        for b, n in alive.get(world.periods[0].name, {}).items()
    )
    for period in world.periods:
        now = alive.get(period.name, {})
        added = now.get(period.name, 0.0) * price
        worn = sum(n * price / life for b, n in now.items() if 0 <= period.start - Quarter.parse(b) < life)
        worn = min(worn, opening + added - lost[period.name])
        closing = opening + added - worn - lost[period.name]
        if opening or added:
            world.add("books", name, period.name, opening, added, worn, lost[period.name], closing)
        opening = closing


def _scenario(world: _World, horizon: Horizon) -> Scenario:
    r = world.rename
    fields: dict[str, Any] = {
        "name": "fixture",
        "title": r("Made-up fleet for the report's tests"),
        "folder": "tests/fixture",
        "horizon": horizon,
        "accelerators": {r(a[0]): _accelerator(r, a) for a in world.accelerators},
        "models": {},
        "workloads": {r(w[0]): _workload(r, w) for w in world.workloads},
        "sites": {r(s[0]): _site(r, s) for s in world.sites},
        "halls": {
            r(_hall(s[0])): Hall(origin=ORIGIN, name=r(_hall(s[0])), site=r(s[0]), cooling_class="liquid")
            for s in world.sites
        },
        "power": tuple(
            HallPower(origin=ORIGIN, hall=r(_hall(s[0])), quarter=p.start, facility_mw=_mw(s[2], i, p.index))
            for i, s in enumerate(world.sites)
            for p in horizon
        ),
        "fleet": (),
        "supply": tuple(_supply(r, a, p) for a in world.accelerators if a[5] for p in horizon),
        "demand": tuple(
            Demand(origin=ORIGIN, workload=row[0], quarter=Quarter.parse(row[1]), samples_per_s=row[2])
            for row in world.rows["work"]
        ),
        "finance": _finance(),
        "lifecycle": _lifecycle(),
        "carbon": Carbon(method="location_annual", intensity_g_per_kwh={r(s[0]): 350.0 for s in world.sites}),
        "rules": Rules(),
        "figures": _figures(r),
        "hashes": {"scenario.yaml": "0" * 64, "supply.csv": "1" * 64},
        "rentals": (),
        "upgrades": (),
        "measured": (),
    }
    return Scenario.model_construct(**fields)


def _accelerator(r: Callable[[str], str], a: tuple[Any, ...]) -> Accelerator:
    price = Figure(
        "price_musd_per_rack",
        a[4],
        "M USD",
        "assumed",
        a[4] * 0.7,
        a[4] * 1.4,
        "https://example.org/price",
        "2026-05-01",
        r("analyst estimate"),
        ORIGIN,
    )
    return Accelerator(
        name=r(a[0]),
        title=r(a[1]),
        vendor=a[2],
        peak_bf16_tflops=1000 * a[7],
        hbm_gb=192,
        hbm_tb_per_s=4,
        scaleup_domain_devices=64,
        scaleup_gb_per_s=450,
        scaleout_gb_per_s=50,
        tdp_w=_cap(a[0]),
        rack_it_kw=a[3] / 1.2,
        price_musd_per_rack=a[4],
        book_life_years=BOOK_YEARS,
        figures={"price_musd_per_rack": price},
    )


def _workload(r: Callable[[str], str], w: tuple[Any, ...]) -> Workload:
    return Workload(
        origin=ORIGIN,
        name=r(w[0]),
        title=r(w[1]),
        model="m",
        priority=w[2],
        training_samples_per_run=1e12,
        deadline_days_per_run=7,
        deferrable_share=0.05,
        shortfall_price_usd_per_billion_samples=12,
        reference_devices=64,
        local_batch=4096,
    )


def _site(r: Callable[[str], str], s: tuple[str, str, float]) -> Site:
    return Site(
        origin=ORIGIN,
        name=r(s[0]),
        title=r(s[1]),
        country="US",
        pue_annual=1.08,
        pue_peak=1.2,
        energy_price_usd_per_mwh=60,
        energy_price_escalation_per_year=0.03,
    )


def _supply(r: Callable[[str], str], a: tuple[Any, ...], p: Period) -> Supply:
    return Supply(
        origin=ORIGIN,
        accelerator=r(a[0]),
        delivery=p.start,
        max_racks=400,
        committed_racks=0,
        option_racks=0,
        new_orders_can_arrive=p.index >= LEAD,
        lead_time_quarters=LEAD,
        price_musd_per_rack=a[4],
        take_or_pay_share_of_price=0.6,
        source="https://example.org/supply",
    )


def _finance() -> Finance:
    return Finance(
        discount_rate=RATE,
        discount_timing="mid_period",
        income_tax_rate={},
        tax_depreciation="none",
        salvage_share_by_age_year={"merchant": (0.6, 0.4), "own": (0.2, 0.1)},
        maintenance_share_per_year=((0.0, 0.03),),
        opex_musd_per_facility_mw_year=0.3,
        end_value_rule="resale",
    )


def _lifecycle() -> Lifecycle:
    return Lifecycle(
        install_quarters=INSTALL,
        minimum_age_quarters=12,
        maximum_age_quarters=MAX_AGE,
        attrition_per_year=0.0,
        spare_share=0.0,
        maintenance_share=0.0,
        failures_per_1000_node_days=6.5,
        power_stage_factor={"forecast": 1.0, "initial": 1.0, "refined": 1.0},
        lot_racks={},
    )


def _figures(r: Callable[[str], str]) -> dict[str, Figure]:
    url = "https://example.org/finance"
    return {
        "finance.discount_rate": Figure(
            "discount_rate",
            RATE,
            "per year",
            "assumed",
            0.075,
            0.11,
            url,
            "2026-01-05",
            r("cost of capital"),
            ORIGIN,
        ),
        "lifecycle.failures_per_1000_node_days": Figure(
            "failures_per_1000_node_days", 6.5, "", "published", None, None, url, "2025-01-01", "", ORIGIN
        ),
    }
