"""Small scenarios and how to solve them: everything is stated here, nothing is read from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fleetplan.figures import Origin
from fleetplan.inputs.accelerator import Accelerator
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
from fleetplan.periods import Horizon, Quarter
from fleetplan.plan.tables import extract
from fleetplan.planning import build_model
from fleetplan.planning.earlier import Earlier
from fleetplan.planning.model import PlanningModel
from fleetplan.solving.arrays import Compiled
from fleetplan.solving.compile import compile_model
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.result import require_plan

START = Quarter(2027, 1)
HERE = Origin("tests", 1)

FINANCE: dict[str, Any] = {
    "discount_rate": 0.0,
    "discount_timing": "mid_period",
    "income_tax_rate": {},
    "tax_depreciation": "none",
    "salvage_share_by_age_year": {},
    "maintenance_share_per_year": ((0.0, 0.0),),
    "opex_musd_per_facility_mw_year": 0.0,
    "end_value_rule": "none",
}
LIFECYCLE: dict[str, Any] = {
    "install_quarters": 1,
    "minimum_age_quarters": 2,
    "maximum_age_quarters": 40,
    "attrition_per_year": 0.0,
    "spare_share": 0.0,
    "maintenance_share": 0.0,
    "failures_per_1000_node_days": 0.0,
    "power_stage_factor": {"forecast": 1.0, "initial": 1.0, "refined": 1.0},
    "lot_racks": {},
}
CARBON: dict[str, Any] = {"method": "location_annual", "intensity_g_per_kwh": {}}


def accelerator(name: str, kw: float = 100.0, **changes: Any) -> Accelerator:
    """A rack of one device whose facility power at its only cap is ``kw``, all of it fixed."""
    fields: dict[str, Any] = {
        "name": name,
        "title": name,
        "vendor": "Acme",
        "peak_bf16_tflops": 1.0,
        "hbm_gb": 1.0,
        "hbm_tb_per_s": 1.0,
        "scaleup_domain_devices": 1,
        "scaleup_gb_per_s": 1.0,
        "scaleout_gb_per_s": 1.0,
        "tdp_w": 1000.0,
        "provisioned_cap_w": 1000.0,
        "facility_fixed_w_per_device": kw * 1000,
        "facility_slope_w_per_cap_w": 0.0,
        "average_to_provisioned_power": 1.0,
        "devices_per_rack": 1,
        "cooling": ("air",),
        "book_life_years": 5.0,
    }
    return Accelerator(**{**fields, **changes})


def site(name: str, **changes: Any) -> Site:
    """A site with free energy and no losses beyond the power law."""
    fields: dict[str, Any] = {
        "title": name,
        "country": "US",
        "pue_annual": 1.0,
        "pue_peak": 1.0,
        "energy_price_usd_per_mwh": 0.0,
        "energy_price_escalation_per_year": 0.0,
    }
    return Site(origin=HERE, name=name, **{**fields, **changes})


def hall(name: str, of: str, **changes: Any) -> Hall:
    """An air hall."""
    return Hall(**{"origin": HERE, "name": name, "site": of, "cooling_class": "air", **changes})


def power(name: str, mw: list[float], start: Quarter = START) -> list[HallPower]:
    """Megawatts of a hall, quarter by quarter."""
    return [HallPower(origin=HERE, hall=name, quarter=start + i, facility_mw=v) for i, v in enumerate(mw)]


def demand(name: str, rates: list[float], start: Quarter = START) -> list[Demand]:
    """Samples/s of a workload, quarter by quarter."""
    return [
        Demand(origin=HERE, workload=name, quarter=start + i, samples_per_s=v) for i, v in enumerate(rates)
    ]


def workload(name: str, **changes: Any) -> Workload:
    """A workload that may not wait; a shortfall of one sample/s for a quarter costs 1 M USD."""
    fields: dict[str, Any] = {
        "title": name,
        "model": name,
        "priority": 1,
        "training_samples_per_run": 1e9,
        "deadline_days_per_run": 10.0,
        "deferrable_share": 0.0,
        "shortfall_price_usd_per_billion_samples": 1e15 / (8766 / 4 * 3600),
        "reference_devices": 1,
        "local_batch": 1,
    }
    return Workload(origin=HERE, name=name, **{**fields, **changes})


def supply(name: str, offset: int, most: int, price: float, **changes: Any) -> Supply:
    """Racks that can be delivered ``offset`` quarters after the start."""
    fields: dict[str, Any] = {
        "committed_racks": 0,
        "option_racks": 0,
        "new_orders_can_arrive": True,
        "lead_time_quarters": 0,
        "take_or_pay_share_of_price": 0.6,
    }
    return Supply(
        origin=HERE,
        accelerator=name,
        delivery=START + offset,
        max_racks=most,
        price_musd_per_rack=price,
        **{**fields, **changes},
    )


def cohort(where: str, of: str, name: str, racks: int, age: int = 4, **changes: Any) -> Cohort:
    """Racks that stand in a hall, ``age`` quarters old at the start."""
    fields: dict[str, Any] = {"purchase_price_musd_per_rack": 1.0, "book_life_years": 5.0}
    return Cohort(
        **{
            "origin": HERE,
            "name": f"{name}-{where}-{age}",
            "site": of,
            "hall": where,
            "accelerator": name,
            "commissioned": START + -age,
            "racks": racks,
            **fields,
            **changes,
        }
    )


def scenario(
    *,
    lengths: tuple[int, ...] = (1, 1, 1, 1),
    accelerators: list[Accelerator],
    workloads: list[Workload],
    sites: list[Site],
    halls: list[Hall],
    finance: dict[str, Any] | None = None,
    lifecycle: dict[str, Any] | None = None,
    carbon: dict[str, Any] | None = None,
    rules: dict[str, Any] | None = None,
    **rows: Any,
) -> Scenario:
    """Put a scenario together; lists become maps by name, rule groups start from neutral values."""
    empty: dict[str, Any] = {"power": [], "fleet": [], "supply": [], "demand": []}
    return Scenario(
        name="world",
        title="world",
        folder="tests",
        horizon=Horizon(START, lengths),
        accelerators={one.name: one for one in accelerators},
        models={},
        workloads={one.name: one for one in workloads},
        sites={one.name: one for one in sites},
        halls={one.name: one for one in halls},
        finance=Finance(**{**FINANCE, **(finance or {})}),
        lifecycle=Lifecycle(**{**LIFECYCLE, **(lifecycle or {})}),
        carbon=Carbon(**{**CARBON, **(carbon or {})}),
        rules=Rules(**(rules or {})),
        **{key: tuple(value) for key, value in {**empty, **rows}.items()},
    )


def option(workload: str, accelerator: str, rate: float, **changes: Any) -> dict[str, Any]:
    """One training option: ``rate`` useful samples/s per rack."""
    cap = float(changes.get("cap_w", 1000.0))
    devices = int(changes.get("devices", 1))
    row: dict[str, Any] = {column.name: 0.0 for column in OPTIONS.columns}
    row |= {
        "option": f"{workload}/{accelerator}/{devices}/1/{cap:g}",
        "workload": workload,
        "accelerator": accelerator,
        "devices": devices,
        "local_batch": 1,
        "cap_w": cap,
        "layout": "test",
        "fits": True,
        "meets_deadline": True,
        "evidence": "measured",
        "net_samples_per_s_per_rack": rate,
        "average_facility_kw_per_rack": 100.0,
        "provisioned_facility_kw_per_rack": 100.0,
    }
    return {**row, **changes}


def options(*rows: dict[str, Any]) -> pd.DataFrame:
    """The table of training options."""
    return OPTIONS.frame(pd.DataFrame(list(rows)))


@dataclass
class Outcome:
    """A solved world."""

    model: PlanningModel
    compiled: Compiled
    x: np.ndarray
    objective: float
    tables: dict[str, pd.DataFrame]

    def item(self, name: str) -> float:
        """Nominal sum of a ledger item."""
        ledger = self.tables["ledger"]
        return float(ledger.loc[ledger["item"] == name, "amount_musd"].sum())

    def racks(self, accelerator: str, period: str | None = None) -> float:
        """Racks ordered of a type (or alive in a period)."""
        table = self.tables["orders"] if period is None else self.tables["fleet"]
        rows = table[table["accelerator"] == accelerator]
        if period is not None:
            rows = rows[rows["period"] == period]
        return float(rows["racks"].sum())


def best(world: Scenario, table: pd.DataFrame, previous: Earlier | pd.DataFrame | None = None) -> Outcome:
    """Solve to proven optimality and read the tables."""
    model = build_model(world, table, previous)
    compiled = compile_model(model.pyomo)
    result = require_plan(solve(compiled, SolveOptions(gap_rel=0.0, gap_abs=1e-7, recipe="mip")))
    assert result.x is not None
    assert result.objective is not None
    tables = extract(model, compiled, result.x)
    return Outcome(model, compiled, result.x, result.objective, tables)
