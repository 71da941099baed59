"""A toy plan, small enough to be worked out by hand: one old rack type, one new one, two sites."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fleetplan.figures import Figure, Origin
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.scenario import (
    Carbon,
    Cohort,
    Demand,
    Finance,
    Hall,
    HallPower,
    Lifecycle,
    Scenario,
    Site,
    Supply,
    Workload,
)
from fleetplan.performance.table import OPTIONS
from fleetplan.periods import Horizon, Quarter
from fleetplan.plan.audit_report import AuditReport, Check
from fleetplan.plan.manifest import SolveFacts, make_manifest
from fleetplan.plan.plan import Plan
from fleetplan.plan.schema import TABLES

sys.path.insert(0, str(Path(__file__).parent))  # for rough_options.py

FIRST = Quarter(2026, 4)
PERIODS = ("2026Q4", "2027Q1", "2027Q2", "2027Q3")


def at(file: str, line: int = 2) -> Origin:
    return Origin(file, line)


def price_figure(value: float, low: float, high: float) -> Figure:
    return Figure("price_musd_per_rack", value, "M USD", "assumed", low, high, "https://example.org/price")


def make_accelerator(name: str, vendor: str, price: float, cap_w: float = 700.0) -> Accelerator:
    return Accelerator(
        name=name,
        title=name.upper(),
        vendor=vendor,
        peak_bf16_tflops=400.0,
        hbm_gb=96.0,
        hbm_tb_per_s=3.0,
        scaleup_domain_devices=8,
        scaleup_gb_per_s=400.0,
        scaleout_gb_per_s=50.0,
        tdp_w=cap_w,
        provisioned_cap_w=cap_w,
        facility_fixed_w_per_device=300.0,
        facility_slope_w_per_cap_w=1.0,
        devices_per_rack=10,
        cooling=("air",),
        price_musd_per_rack=price,
        book_life_years=5.0,
        figures={"price_musd_per_rack": price_figure(price, 0.5 * price, 1.5 * price)},
    )


def make_scenario(folder: str = "toy", **changes: Any) -> Scenario:
    """Two sites of 1 MW, 40 old racks at alpha, new racks to be bought, one workload."""
    base: dict[str, Any] = {
        "name": "toy",
        "title": "Toy",
        "folder": folder,
        "horizon": Horizon.of_quarters(FIRST, 4),
        "accelerators": {
            "old": make_accelerator("old", "Merchant", 0.5),
            "new": make_accelerator("new", "Meta", 1.0),
        },
        "models": {},
        "workloads": {
            "ads": Workload(
                origin=at("workloads.csv"),
                name="ads",
                title="Ads",
                model="ads",
                priority=1,
                training_samples_per_run=1e9,
                deadline_days_per_run=7,
                deferrable_share=0.0,
                shortfall_price_usd_per_billion_samples=100.0,
                reference_devices=8,
                local_batch=1024,
            )
        },
        "sites": {
            name: Site(
                origin=at("sites.csv", line),
                name=name,
                title=name.title(),
                country="US",
                pue_annual=1.1,
                pue_peak=1.2,
                energy_price_usd_per_mwh=50.0,
                energy_price_escalation_per_year=0.0,
            )
            for line, name in enumerate(("alpha", "beta"), start=2)
        },
        "halls": {
            f"{name}-air": Hall(
                origin=at("halls.csv", line), name=f"{name}-air", site=name, cooling_class="air"
            )
            for line, name in enumerate(("alpha", "beta"), start=2)
        },
        "power": tuple(
            HallPower(origin=at("power.csv"), hall=f"{name}-air", quarter=FIRST + t, facility_mw=1.0)
            for name in ("alpha", "beta")
            for t in range(4)
        ),
        "fleet": (
            Cohort(
                origin=at("fleet.csv"),
                name="c1",
                site="alpha",
                hall="alpha-air",
                accelerator="old",
                commissioned=FIRST + -8,
                racks=40,
                purchase_price_musd_per_rack=0.5,
                book_life_years=5.0,
            ),
        ),
        "supply": tuple(
            Supply(
                origin=at("supply.csv", 2 + t),
                accelerator="new",
                delivery=FIRST + t,
                max_racks=20,
                committed_racks=0,
                option_racks=0,
                new_orders_can_arrive=True,
                lead_time_quarters=0,
                price_musd_per_rack=1.0,
                take_or_pay_share_of_price=0.6,
            )
            for t in range(4)
        ),
        "demand": tuple(
            Demand(origin=at("demand.csv", 2 + t), workload="ads", quarter=FIRST + t, samples_per_s=1e6)
            for t in range(4)
        ),
        "finance": Finance(
            discount_rate=0.08,
            discount_timing="mid_period",
            income_tax_rate={},
            tax_depreciation="none",
            salvage_share_by_age_year={"merchant": (0.5, 0.3, 0.1), "own": (0.0,)},
            maintenance_share_per_year=((0.0, 0.03),),
            opex_musd_per_facility_mw_year=0.3,
            end_value_rule="resale",
        ),
        "lifecycle": Lifecycle(
            install_quarters=1,
            minimum_age_quarters=4,
            maximum_age_quarters=24,
            attrition_per_year=0.0,
            spare_share=0.02,
            maintenance_share=0.04,
            failures_per_1000_node_days=1.0,
            power_stage_factor={"forecast": 1.0, "initial": 1.0, "refined": 1.0},
            lot_racks={"old": 1, "new": 4},
        ),
        "carbon": Carbon(method="location_annual", intensity_g_per_kwh={"alpha": 400.0, "beta": 100.0}),
    }
    return Scenario(**{**base, **changes})


def make_options() -> pd.DataFrame:
    def row(accelerator: str, rate: float) -> dict[str, Any]:
        values: dict[str, Any] = dict.fromkeys(OPTIONS.names, 0.0)
        return values | {
            "option": f"ads/{accelerator}/8/1024/700",
            "workload": "ads",
            "accelerator": accelerator,
            "devices": 8,
            "local_batch": 1024,
            "cap_w": 700.0,
            "layout": "row-wise",
            "fits": True,
            "goodput": 0.97,
            "net_samples_per_s_per_rack": rate,
            "low_factor": 0.65,
            "high_factor": 1.4,
            "provisioned_facility_kw_per_rack": 10.0,
            "average_facility_kw_per_rack": 8.0,
            "meets_deadline": True,
            "evidence": "modelled",
        }

    return OPTIONS.frame(pd.DataFrame([row("old", 2e4), row("new", 6e4)]))


def make_tables() -> dict[str, list[tuple[Any, ...]]]:
    rows: dict[str, list[tuple[Any, ...]]] = {spec.name: [] for spec in TABLES}
    rows["orders"] = [
        ("new", "beta", "beta-air", "2027Q1", "new", "2026Q4", "2026Q4", "2026-12-31", 1, 4, 1.0, 4.0),
        ("new", "alpha", "alpha-air", "2027Q1", "new", "2026Q4", "2026Q4", "2026-12-31", 2, 8, 1.0, 8.0),
    ]
    for p in PERIODS:
        rows["power"] += [
            ("alpha", "alpha-air", p, 1.0, 0.4 if p == "2026Q4" else 0.98, 0.6 if p == "2026Q4" else 0.02),
            ("beta", "beta-air", p, 1.0, 0.04, 0.96),
        ]
        short = 2e5 if p == "2027Q3" else 0.0
        rows["work"] += [("ads", p, 1e6, 1e6 - short, 0.0, short, short * 7889400 * 100 / 1e9 / 1e6)]
    rows["ledger"] = [
        ("capex", "2026Q4", "new", "2027Q1", 12.0, 0.5, 6.0, False),
        ("energy", "2026Q4", "alpha", "", 2.0, 0.5, 1.0, False),
        ("end value", "2027Q3", "new", "2027Q1", -4.0, 0.25, -1.0, False),
    ]
    return rows


@pytest.fixture
def scenario() -> Scenario:
    return make_scenario()


@pytest.fixture
def scenario_with() -> Callable[..., Scenario]:
    return make_scenario


@pytest.fixture
def options() -> pd.DataFrame:
    return make_options()


@pytest.fixture
def plan_with() -> Callable[..., Plan]:
    """Build a plan; keyword arguments replace the rows of a table or parts of the scenario."""

    def build(scenario: Scenario | None = None, **tables: list[tuple[Any, ...]]) -> Plan:
        scenario = scenario or make_scenario()
        rows = {**make_tables(), **tables}
        frames = {spec.name: spec.frame(rows[spec.name]) for spec in TABLES}
        facts = SolveFacts("optimal", 6.0, 5.97, {"gap": 0.005}, {"solve": 1.5})
        return Plan(
            tables=frames,
            options=make_options(),
            scenario=scenario,
            manifest=make_manifest(scenario, make_options(), frames["ledger"], facts),
            audit=AuditReport((Check("stock", "racks add up", 8, 0.0),)),
        )

    return build


@pytest.fixture
def plan(plan_with: Callable[..., Plan]) -> Plan:
    return plan_with()
