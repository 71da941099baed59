"""Synthetic scenarios of four sizes, and a table of training options for each: no real fleet.

Numbers are drawn so that what makes planning hard is there: power limits bind in a good part of the
halls and quarters, supply and budgets bind, vendors are limited, part of the work stays undone, and
newer parts do more per megawatt but come late and in small numbers. A generator that starves or
drowns the plan makes every solver look fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fleetplan.figures import Origin
from fleetplan.inputs.accelerator import Accelerator, PowerCap
from fleetplan.inputs.scenario import (
    Carbon,
    Cohort,
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
from fleetplan.periods import SECONDS_PER_QUARTER, Horizon, Quarter

Floats = NDArray[np.float64]

SIZES = {"S": (3, 5, 12, 4), "M": (12, 10, 20, 12), "L": (30, 14, 24, 30), "XL": (60, 20, 40, 60)}
"""Sites, accelerators, quarters, workloads."""
START = Quarter(2027, 1)
DEVICES_PER_RACK = 36
MUSD_PER_MW = 30.0
GROWTH_ENDS = 24
"""Quarter from which demand stays level."""
CAPS = {1: (1.0,), 3: (0.8, 0.9, 1.0)}
"""Caps as shares of the highest one."""


@dataclass(frozen=True)
class Numbers:
    """The drawn numbers behind a scenario; h accelerators, s sites, w workloads, t quarters."""

    launch: NDArray[np.int64]
    """Quarter of the first delivery; below 0 for parts that are no longer sold."""
    rack_mw: Floats
    """Facility megawatts of a rack at its highest cap."""
    price: Floats
    """M USD per rack by accelerator and quarter."""
    rate: Floats
    """Samples/s of a rack by accelerator and workload; 0 where it cannot run."""
    liquid: NDArray[np.bool_]
    lot: NDArray[np.int64]
    lead: NDArray[np.int64]
    supply: NDArray[np.int64]
    """Racks by accelerator and delivery quarter."""
    hall_mw: Floats
    """By site, cooling (air, liquid) and quarter."""
    demand: Floats
    """Samples/s by workload and quarter."""
    legacy: int


def numbers(size: str, seed: int) -> Numbers:
    """Draw one instance."""
    sites, parts, quarters, workloads = SIZES[size]
    rng = np.random.default_rng([seed, sites, parts, quarters, workloads])
    legacy = max(1, parts // 5)
    fresh = parts - legacy
    launch = np.r_[np.full(legacy, -99), np.round(np.linspace(0, 0.6 * quarters, fresh))].astype(np.int64)
    born = np.r_[np.full(legacy, -8.0), launch[legacy:]]
    rack_mw = 0.045 * 1.45 ** (7 * np.arange(parts) / (parts - 1)) * rng.uniform(0.9, 1.1, parts)
    liquid = rack_mw > 0.12
    per_mw = 900.0 * 2.0 ** (born / 8) * rng.uniform(0.85, 1.15, parts)
    can = rng.random((parts, workloads)) < 0.6
    can[legacy] = can[-1] = can[0] = True
    rate = (per_mw * rack_mw)[:, None] * rng.uniform(0.6, 1.4, (parts, workloads)) * can
    age = np.maximum(0, np.arange(quarters)[None, :] - launch[:, None])
    price = (MUSD_PER_MW * rack_mw * rng.uniform(0.9, 1.15, parts))[:, None] * 0.985**age
    hall_mw = _hall_mw(rng, sites, quarters)
    return Numbers(
        launch=launch,
        rack_mw=rack_mw,
        price=price,
        rate=rate,
        liquid=liquid,
        lot=np.where(rack_mw < 0.08, 4, np.where(rack_mw < 0.2, 2, 1)).astype(np.int64),
        lead=rng.integers(1, 4, parts),
        supply=_supply(rng, launch, legacy, rack_mw, hall_mw),
        hall_mw=hall_mw,
        demand=_demand(rng, rate[:legacy], rack_mw[:legacy], float(hall_mw[:, 0, 0].sum()), quarters),
        legacy=legacy,
    )


def _hall_mw(rng: np.random.Generator, sites: int, quarters: int) -> Floats:
    """Air halls stand from the start, liquid ones come in steps over 18 quarters; some sites grow."""
    t = np.arange(quarters)
    total = rng.uniform(30, 90, sites)
    step = rng.integers(2, quarters, (sites, 1))
    air = 0.4 * total[:, None] * (1 + 0.2 * (t[None, :] >= step))
    phase = rng.integers(0, 3, (sites, 1))
    built = np.clip(np.floor((t[None, :] + phase) / 3) * 3 / 18 + 0.15, 0, 1)
    return np.round(np.stack([air, 0.4 * total[:, None] * built], axis=1), 2)


def _supply(
    rng: np.random.Generator, launch: NDArray[np.int64], legacy: int, rack_mw: Floats, hall_mw: Floats
) -> NDArray[np.int64]:
    """Each part is sold for 9 quarters from its launch, in numbers that ramp up."""
    quarters = hall_mw.shape[2]
    since = np.arange(quarters)[None, :] - launch[:, None]
    sold = (since >= 0) & (since < 9)
    sold[:legacy] = False
    per_quarter = 2.4 * hall_mw[:, :, -1].sum() / sold.sum()
    racks = per_quarter / rack_mw[:, None] * np.minimum(1.3, 0.4 + 0.15 * since)
    racks = racks * rng.uniform(0.7, 1.3, (len(launch), 1))
    return np.where(sold, np.floor(racks), 0.0).astype(np.int64)


def _demand(rng: np.random.Generator, rate: Floats, rack_mw: Floats, air_mw: float, quarters: int) -> Floats:
    """What the present fleet can just do, growing 7 to 11 % a quarter."""
    workloads = rate.shape[1]
    per_mw = np.where(rate > 0, rate / rack_mw[:, None], 0.0).max(axis=0)
    share = np.asarray(rng.dirichlet(np.full(workloads, 4.0)), dtype=float)
    base: Floats = 0.95 * air_mw * share * per_mw
    growth: Floats = np.asarray(rng.uniform(1.07, 1.11, workloads), dtype=float)
    level = growth[:, None] ** np.minimum(np.arange(quarters), GROWTH_ENDS)
    return np.asarray(np.round(base[:, None] * level, 3), dtype=float)


def scenario(size: str, seed: int = 0, caps: int = 1) -> tuple[Scenario, pd.DataFrame]:
    """A scenario of a size, with ``caps`` (1 or 3) operating points per accelerator, and its options."""
    n = numbers(size, seed)
    rng = np.random.default_rng([seed, 1])
    names = [f"part{h:02d}" for h in range(len(n.rack_mw))]
    accelerators = {name: _accelerator(n, h, name, caps) for h, name in enumerate(names)}
    works = [f"work{w:02d}" for w in range(n.demand.shape[0])]
    quarters = n.demand.shape[1]
    sites = [f"site{s:02d}" for s in range(n.hall_mw.shape[0])]
    made = Scenario(
        name=f"{size}-{seed}",
        title=f"Synthetic fleet {size}",
        folder="generated",
        horizon=Horizon.of_quarters(START, quarters),
        accelerators=accelerators,
        models={},
        workloads={name: _workload(n, w, name, sites, rng) for w, name in enumerate(works)},
        sites={name: _site(name, rng) for name in sites},
        halls={hall.name: hall for name in sites for hall in _halls(name)},
        power=_power(n, sites),
        fleet=_fleet(n, sites, names),
        supply=_supplies(n, names),
        demand=tuple(
            Demand(
                origin=_origin("demand"),
                workload=name,
                quarter=START + t,
                samples_per_s=float(n.demand[w, t]),
            )
            for w, name in enumerate(works)
            for t in range(quarters)
        ),
        finance=_finance(n),
        lifecycle=_lifecycle(n, names),
        carbon=Carbon(method="location_annual", intensity_g_per_kwh=dict.fromkeys(sites, 300.0)),
        rules=Rules(
            caps_per_accelerator=caps, limit_vendor_share=True, limit_capex=True, allow_upgrades=False
        ),
    )
    return made, _options(n, names, works, caps)


def _origin(table: str) -> Origin:
    return Origin(f"{table}.csv", 2)


def _accelerator(n: Numbers, h: int, name: str, caps: int) -> Accelerator:
    watts = 1e6 * float(n.rack_mw[h]) / DEVICES_PER_RACK
    top = round(0.7 * watts, 1)
    return Accelerator(
        name=name,
        title=name,
        vendor=("Alpha", "Beta", "Gamma")[h % 3],
        available_from=str(START + int(max(0, n.launch[h]) - 4)),
        peak_bf16_tflops=1000.0,
        hbm_gb=192.0,
        hbm_tb_per_s=8.0,
        scaleup_domain_devices=72,
        scaleup_gb_per_s=900.0,
        scaleout_gb_per_s=50.0,
        tdp_w=top,
        idle_w=0.3 * top,
        power_caps=tuple(PowerCap(cap_w=top * share, speed=share**0.5) for share in CAPS[caps]),
        provisioned_cap_w=top,
        facility_fixed_w_per_device=watts - 1.2 * top,
        facility_slope_w_per_cap_w=1.2,
        average_to_provisioned_power=0.8,
        devices_per_rack=DEVICES_PER_RACK,
        cooling=("liquid",) if n.liquid[h] else ("air",),
        price_musd_per_rack=float(n.price[h, 0]),
        book_life_years=5.0,
    )


def _workload(n: Numbers, w: int, name: str, sites: list[str], rng: np.random.Generator) -> Workload:
    """Allowed in about 60 % of the sites; undone work costs five times a typical rack's cost of it."""
    allowed = [site for site in sites if rng.random() < 0.6] or [sites[w % len(sites)]]
    fresh = n.rate[n.legacy :, w]
    cost_per_quarter = n.price[n.legacy :, 0] / 20 * 1.4
    per_sample = np.where(
        fresh > 0, cost_per_quarter / (np.maximum(fresh, 1e-9) * SECONDS_PER_QUARTER), np.nan
    )
    return Workload(
        origin=_origin("workloads"),
        name=name,
        title=name,
        model="none",
        priority=1,
        training_samples_per_run=1e9,
        deadline_days_per_run=7.0,
        deferrable_share=0.0,
        shortfall_price_usd_per_billion_samples=round(5 * float(np.nanmedian(per_sample)) * 1e15, 2),
        reference_devices=DEVICES_PER_RACK,
        local_batch=1024,
        allowed_sites=tuple(allowed),
    )


def _site(name: str, rng: np.random.Generator) -> Site:
    pue = round(float(rng.uniform(1.08, 1.3)), 3)
    return Site(
        origin=_origin("sites"),
        name=name,
        title=name,
        country="US",
        pue_annual=pue,
        pue_peak=round(pue + 0.05, 3),
        energy_price_usd_per_mwh=round(float(rng.uniform(35, 75)), 2),
        energy_price_escalation_per_year=0.02,
    )


def _halls(site: str) -> list[Hall]:
    return [
        Hall(origin=_origin("halls"), name=f"{site}-air", site=site, cooling_class="air"),
        Hall(origin=_origin("halls"), name=f"{site}-liquid", site=site, cooling_class="liquid"),
    ]


def _power(n: Numbers, sites: list[str]) -> tuple[HallPower, ...]:
    return tuple(
        HallPower(
            origin=_origin("power"),
            hall=f"{site}-{cooling}",
            quarter=START + t,
            facility_mw=float(n.hall_mw[s, c, t]),
        )
        for s, site in enumerate(sites)
        for c, cooling in enumerate(("air", "liquid"))
        for t in range(n.hall_mw.shape[2])
    )


def _fleet(n: Numbers, sites: list[str], names: list[str]) -> tuple[Cohort, ...]:
    """Old parts fill 75 % of the air halls, in three cohorts each."""
    return tuple(
        Cohort(
            origin=_origin("fleet"),
            name=f"{site}-{names[h]}-{age}",
            site=site,
            hall=f"{site}-air",
            accelerator=names[h],
            commissioned=START + -age,
            racks=int(0.75 * n.hall_mw[s, 0, 0] / n.legacy / n.rack_mw[h] / 3),
            purchase_price_musd_per_rack=float(n.price[h, 0]),
            book_life_years=5.0,
        )
        for s, site in enumerate(sites)
        for h in range(n.legacy)
        for age in (12, 7, 2)
    )


def _supplies(n: Numbers, names: list[str]) -> tuple[Supply, ...]:
    return tuple(
        Supply(
            origin=_origin("supply"),
            accelerator=name,
            delivery=START + t,
            max_racks=int(n.supply[h, t]),
            committed_racks=0,
            option_racks=0,
            new_orders_can_arrive=True,
            lead_time_quarters=int(n.lead[h]),
            price_musd_per_rack=float(n.price[h, t]),
            take_or_pay_share_of_price=0.0,
        )
        for h, name in enumerate(names)
        for t in range(n.supply.shape[1])
        if n.supply[h, t] > 0
    )


def _finance(n: Numbers) -> Finance:
    offered = (n.price * n.supply).reshape(len(n.price), -1, 4).sum(axis=(0, 2))
    years = range(START.year, START.year + len(offered))
    return Finance(
        discount_rate=0.08,
        discount_timing="mid_period",
        income_tax_rate={},
        tax_depreciation="none",
        salvage_share_by_age_year={
            "merchant": (0.6, 0.42, 0.3, 0.2, 0.12, 0.06),
            "own": (0.3, 0.2, 0.12, 0.06, 0.02, 0.0),
        },
        maintenance_share_per_year=((0.0, 0.02), (3.0, 0.04), (5.0, 0.07)),
        opex_musd_per_facility_mw_year=0.3,
        decommission_cost_share=0.01,
        end_value_rule="book",
        capex_budget_musd={
            str(year): round(0.45 * float(money), 1) for year, money in zip(years, offered, strict=True)
        },
        vendor_share_max=0.6,
    )


def _lifecycle(n: Numbers, names: list[str]) -> Lifecycle:
    return Lifecycle(
        install_quarters=0,
        minimum_age_quarters=4,
        maximum_age_quarters=24,
        attrition_per_year=0.0,
        spare_share=0.02,
        maintenance_share=0.02,
        failures_per_1000_node_days=0.0,
        power_stage_factor={"forecast": 1.0, "initial": 1.0, "refined": 1.0},
        lot_racks={name: int(n.lot[h]) for h, name in enumerate(names)},
    )


def _options(n: Numbers, names: list[str], works: list[str], caps: int) -> pd.DataFrame:
    """One option per workload, accelerator and cap: speed falls with the root of the cap."""
    rows = []
    for w, work in enumerate(works):
        for h, name in enumerate(names):
            if n.rate[h, w] <= 0:
                continue
            watts = 1e6 * float(n.rack_mw[h]) / DEVICES_PER_RACK
            top = round(0.7 * watts, 1)
            for share in CAPS[caps]:
                kw = (watts - 1.2 * top + 1.2 * top * share) * DEVICES_PER_RACK / 1000
                rows.append((work, name, top * share, float(n.rate[h, w]) * share**0.5, kw))
    frame = pd.DataFrame(
        rows,
        columns=[
            "workload",
            "accelerator",
            "cap_w",
            "net_samples_per_s_per_rack",
            "provisioned_facility_kw_per_rack",
        ],
    )
    frame["average_facility_kw_per_rack"] = 0.8 * frame["provisioned_facility_kw_per_rack"]
    frame["devices"], frame["local_batch"] = DEVICES_PER_RACK, 1024
    cap = frame["cap_w"].map("{:g}".format)
    frame["option"] = frame["workload"] + "/" + frame["accelerator"] + f"/{DEVICES_PER_RACK}/1024/" + cap
    frame["layout"], frame["evidence"] = "row-wise", "modelled"
    frame["fits"] = frame["meets_deadline"] = True
    for name in OPTIONS.names:
        if name not in frame:
            frame[name] = 1.0
    return frame[list(OPTIONS.names)]
