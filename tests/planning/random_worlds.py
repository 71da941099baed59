"""Random small scenarios that exercise many rules at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan.inputs.scenario import Role, Scenario
from tests.planning.worlds import (
    HERE,
    START,
    accelerator,
    cohort,
    demand,
    hall,
    option,
    options,
    power,
    scenario,
    site,
    supply,
    workload,
)


def random_world(seed: int) -> tuple[Scenario, pd.DataFrame]:
    """A scenario of one or two sites, up to three halls and two or three types, with its options."""
    draw, more = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    lengths = tuple(int(n) for n in draw.choice([1, 1, 1, 2, 4], draw.integers(2, 6)))
    quarters = sum(lengths)
    names = ["alpha", "beta", "gamma"][: draw.integers(2, 4)]
    types = [_type(draw, more, name) for name in names]
    sites = [_site(draw, name) for name in ["east", "west"][: draw.integers(1, 3)]]
    halls = [
        hall(
            f"hall-{i}",
            str(draw.choice([s.name for s in sites])) if i >= len(sites) else sites[i].name,
            cooling_class=str(draw.choice(["air", "liquid"])),
            lot_kw=float(draw.choice([0, 500])) or None,
            reserve_share=float(draw.choice([0.0, 0.1])),
        )
        for i in range(max(len(sites), int(draw.integers(1, 4))))
    ]
    works = [
        _workload(draw, name, [s.name for s in sites]) for name in ["rank", "rec"][: draw.integers(1, 3)]
    ]
    rows = [r for h in halls for r in power(h.name, _steps(draw, quarters))]
    fleet = []
    for h in halls:
        fit = [t.name for t in types if h.cooling_class in t.cooling]
        if fit and draw.random() < 0.8:
            racks, age = int(draw.integers(1, 5)), int(draw.integers(0, 10))
            price = float(draw.uniform(0.5, 2))
            fleet.append(
                cohort(h.name, h.site, str(draw.choice(fit)), racks, age, purchase_price_musd_per_rack=price)
            )
    asks = [d for w in works for d in demand(w.name, list(draw.uniform(2, 14, quarters)))]
    world = scenario(
        lengths=lengths,
        accelerators=types,
        workloads=works,
        sites=sites,
        halls=halls,
        power=rows,
        fleet=fleet,
        supply=[s for t in types for s in _supply(draw, t.name, quarters)],
        demand=asks,
        finance={**_finance(draw), "move_cost_share": 0.04},
        lifecycle=_lifecycle(draw, names),
        carbon={
            "intensity_g_per_kwh": {s.name: float(draw.uniform(0, 500)) for s in sites},
            "intensity_trend_per_year": {s.name: -0.05 for s in sites},
            "price_usd_per_t": float(draw.uniform(0, 200)),
        },
        rules={
            "allow_early_retirement": bool(draw.random() < 0.8),
            "price_carbon": bool(draw.random() < 0.5),
            "use_tax": bool(draw.random() < 0.5),
            "allow_moves": bool(more.random() < 0.25),
        },
        roles=_roles(more, [t.name for t in types], quarters),
    )
    table = options(*[o for t in types for w in works for o in _options(draw, w.name, t.name)])
    return world, table


def next_quarter(world: Scenario) -> Scenario:
    """The same world with other demand, some quarters frozen and a price on change."""
    draw = np.random.default_rng(len(world.demand))
    asks = [
        d.model_copy(update={"samples_per_s": d.samples_per_s * draw.uniform(0.7, 1.5)}) for d in world.demand
    ]
    held = {"frozen_quarters": int(draw.integers(0, 4)), "change_price_musd_per_rack": 0.05}
    rules = world.rules.model_copy(update=held)
    return world.model_copy(update={"demand": tuple(asks), "rules": rules})


def by_priority(world: Scenario) -> Scenario:
    """The same world with shortfall first: its workloads differ in priority, and hardly in price."""
    works = {
        name: w.model_copy(update={"priority": 1 + i % 2, "shortfall_price_usd_per_billion_samples": 3.0 + i})
        for i, (name, w) in enumerate(sorted(world.workloads.items(), reverse=True))
    }
    rules = world.rules.model_copy(update={"shortfall": "by_priority"})
    return world.model_copy(update={"workloads": works, "rules": rules})


def _type(draw: np.random.Generator, more: np.random.Generator, name: str):
    return accelerator(
        name,
        average_to_provisioned_power=float(more.choice([0.8, 1.0])),
        vendor=str(draw.choice(["Meta", "Acme"])),
        facility_fixed_w_per_device=float(draw.uniform(40e3, 100e3)),
        facility_slope_w_per_cap_w=float(draw.uniform(20, 60)),
        idle_w=float(draw.choice([0, 300])) or None,
        cooling=[("air",), ("air", "liquid"), ("liquid",)][draw.integers(0, 3)],
        book_life_years=float(draw.choice([3.0, 5.5])),
    )


def _site(draw: np.random.Generator, name: str):
    return site(
        name,
        country=str(draw.choice(["US", "SE"])),
        pue_annual=1.08,
        pue_peak=1.2,
        energy_price_usd_per_mwh=float(draw.uniform(30, 120)),
        energy_price_escalation_per_year=0.03,
        stranded_share=float(draw.choice([0.0, 0.05])),
        tariff_minimum_take_share=float(draw.choice([0.0, 0.85])),
        tariff_term_years=1.0,
        tariff_ramp_years=float(draw.choice([0.0, 2.0])),
    )


def _workload(draw: np.random.Generator, name: str, sites: list[str]):
    price = 1e15 / (8766 / 4 * 3600)
    return workload(
        name,
        deferrable_share=float(draw.choice([0.0, 0.4])),
        peak_to_average=float(draw.choice([1.0, 1.3])),
        shortfall_price_usd_per_billion_samples=price * float(draw.uniform(0.1, 1.0)),
        allowed_sites=(str(draw.choice(sites)),) if draw.random() < 0.3 else (),
    )


def _steps(draw: np.random.Generator, quarters: int) -> list[float]:
    return [float(v) for v in np.cumsum(draw.choice([0.0, 0.0, 0.6], quarters)) + draw.uniform(0.7, 1.2)]


def _supply(draw: np.random.Generator, name: str, quarters: int):
    price = float(draw.uniform(0.3, 2.0))
    rows = []
    for offset in range(quarters):
        if draw.random() < 0.6:
            committed = int(draw.choice([0, 0, 0, 2])) if offset < quarters - 1 else 0
            rows.append(
                supply(
                    name,
                    offset,
                    committed + int(draw.integers(0, 9)),
                    price * 0.97**offset,
                    committed_racks=committed,
                    option_racks=int(draw.integers(0, 3)),
                    new_orders_can_arrive=bool(draw.random() < 0.7),
                    lead_time_quarters=int(draw.integers(0, 3)),
                )
            )
    return rows


def _roles(draw: np.random.Generator, names: list[str], quarters: int) -> list[Role]:
    """Up to two roles outside training, over a part of the horizon."""
    made = []
    for name in ["inference", "research"][: draw.choice([0, 1, 2])]:
        first = int(draw.integers(-1, quarters))
        made.append(
            Role(
                origin=HERE,
                name=name,
                accelerator=str(draw.choice(names)),
                first=START + first,
                last=START + int(draw.integers(first, quarters + 2)),
                max_racks=int(draw.integers(1, 6)),
                value_musd_per_rack_quarter=float(draw.uniform(0.0, 1.2)),
                cost_share_of_price=float(draw.choice([0.0, 0.1])),
                down_quarters=int(draw.integers(0, 3)),
                minimum_age_quarters=int(draw.integers(0, 8)),
            )
        )
    return made


def _finance(draw: np.random.Generator) -> dict[str, object]:
    return {
        "discount_rate": float(draw.choice([0.0, 0.09])),
        "discount_timing": str(draw.choice(["mid_period", "start_of_period", "end_of_period"])),
        "income_tax_rate": {"US": 0.25, "SE": 0.2},
        "tax_depreciation": str(draw.choice(["none", "straight_line", "macrs5", "bonus"])),
        "bonus_share": 0.4,
        "tax_life_years": float(draw.choice([3.0, 5.0])),
        "salvage_share_by_age_year": {"merchant": (0.6, 0.4, 0.2), "own": (0.02, 0.0)},
        "maintenance_share_per_year": ((0.0, 0.02), (1.0, 0.05)),
        "opex_musd_per_facility_mw_year": 0.3,
        "inflation_per_year": 0.025,
        "deploy_cost_share": 0.03,
        "decommission_cost_share": 0.01,
        "end_value_rule": str(draw.choice(["resale", "economic_annuity", "book", "none"])),
        "economic_life_years": 4.0,
    }


def _lifecycle(draw: np.random.Generator, names: list[str]) -> dict[str, object]:
    return {
        "install_quarters": int(draw.integers(0, 2)),
        "minimum_age_quarters": int(draw.integers(1, 6)),
        "maximum_age_quarters": int(draw.integers(8, 20)),
        "attrition_per_year": float(draw.choice([0.0, 0.04])),
        "attrition_multiplier": 2.0,
        "attrition_multiplier_from_year": 1.5,
        "spare_share": 0.03,
        "maintenance_share": 0.04,
        "burn_in_loss_share": float(draw.choice([0.0, 0.1])),
        "mass_production": {names[0]: START + int(draw.integers(-4, 3))},
        "power_stage_factor": {"forecast": 1.0, "initial": 0.97, "refined": 0.95},
        "diversity_factor": float(draw.choice([1.0, 0.96])),
        "lot_racks": {names[-1]: 2},
    }


def _options(draw: np.random.Generator, work: str, name: str):
    if draw.random() < 0.15:
        return [option(work, name, 1.0, fits=False, cap_w=1000.0)]
    rate = float(draw.uniform(0.5, 2.0))
    caps = [(1000.0, 1.0), (700.0, 0.85)]
    return [
        option(work, name, rate * speed, cap_w=cap, average_facility_kw_per_rack=float(draw.uniform(70, 110)))
        for cap, speed in caps
    ]
