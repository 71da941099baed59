"""The same small fleet in PyPSA, as a network with several investment periods: same cost.

PyPSA knows capacity expansion with vintages and lifetimes, but no lots, caps, upgrades or resale, so the
scenario has none. Racks are links from a site's power to work; what a rack costs in its life is spread
over the periods in which it stands, as PyPSA charges capital.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fleetplan.planning import build_model
from fleetplan.solving.compile import compile_model
from fleetplan.solving.linear import relaxation
from fleetplan.solving.options import SolveOptions
from tests.planning.worlds import (
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

pypsa = pytest.importorskip("pypsa")

YEARS = 6
RATE = 0.08
TYPES = {"alpha": (100.0, 1.0, 0.6), "beta": (150.0, 2.5, 2.0)}
"""Facility kW, samples/s and price by type."""
LIFE = 3
MW = {"east": [1.0, 1.0, 1.5, 1.5, 2.0, 2.0], "west": [0.5, 1.5, 1.5, 2.0, 2.0, 2.5]}
ASKED = [12.0, 18.0, 24.0, 30.0, 40.0, 50.0]
PRICE = {"east": 60.0, "west": 90.0}
MOST = 8
OLD = 5
SHORT = 1.0
"""M USD of one sample/s that is not served for a quarter."""


def world():
    """Six years as six periods of four quarters; racks work from the year after delivery."""
    quarters = 4 * YEARS
    return (
        scenario(
            lengths=(4,) * YEARS,
            accelerators=[accelerator(name, kw=kw) for name, (kw, _, _) in TYPES.items()],
            workloads=[workload("rank")],
            sites=[site(name, energy_price_usd_per_mwh=PRICE[name]) for name in MW],
            halls=[hall(f"{name}-1", name) for name in MW],
            power=[row for name in MW for row in power(f"{name}-1", list(np.repeat(MW[name], 4)))],
            fleet=[cohort("east-1", "east", "alpha", OLD, 4)],
            supply=[
                supply(name, 4 * year, MOST, price)
                for name, (_, _, price) in TYPES.items()
                for year in range(YEARS - 1)
            ],
            demand=demand("rank", list(np.repeat(ASKED, 4))),
            finance={"discount_rate": RATE, "discount_timing": "mid_period"},
            lifecycle={"install_quarters": 4, "maximum_age_quarters": 4 * LIFE},
            rules={"allow_early_retirement": False},
        ),
        options(
            *[
                option("rank", name, rate, average_facility_kw_per_rack=kw)
                for name, (kw, rate, _) in TYPES.items()
            ]
        ),
        quarters,
    )


def factors() -> list[float]:
    """Present value of one M USD in each year: the mean of its quarters' middles."""
    return [float(np.mean([(1 + RATE) ** -((4 * y + q + 0.5) / 4) for q in range(4)])) for y in range(YEARS)]


def peer_cost() -> float:
    """Least cost of the same fleet by PyPSA."""
    years = [START.year + y for y in range(YEARS)]
    net = pypsa.Network()
    net.set_snapshots(pd.MultiIndex.from_tuples([(year, 0) for year in years], names=["period", "timestep"]))
    net.investment_periods = years
    weight = dict(zip(years, factors(), strict=True))
    for year in years:
        net.investment_period_weightings.loc[year, "objective"] = weight[year]
    net.add("Bus", "work")
    net.add("Load", "rank", bus="work", p_set=ASKED)
    net.add("Generator", "short", bus="work", p_nom=1e6, marginal_cost=4 * SHORT, build_year=0, lifetime=1e4)
    hours_year = 8766.0
    for name, megawatts in MW.items():
        net.add("Bus", name)
        share = [mw / max(megawatts) for mw in megawatts]
        net.add(
            "Generator",
            f"{name}-mw",
            bus=name,
            p_nom=max(megawatts),
            p_max_pu=share,
            build_year=0,
            lifetime=1e4,
        )
        for kind, (kw, rate, price) in TYPES.items():
            common = {
                "bus0": name,
                "bus1": "work",
                "efficiency": rate / (kw / 1000),
                "carrier": kind,
                "lifetime": LIFE,
            }
            for y in range(1, YEARS):
                stands = sum(weight[year] for year in years[y : y + LIFE])
                paid = price * weight[years[y - 1]] / stands + PRICE[name] * kw * hours_year / 1e9
                net.add(
                    "Link",
                    f"{name}-{kind}-{y}",
                    build_year=years[y],
                    p_nom_extendable=True,
                    p_min_pu=0.0,
                    p_nom_max=MOST * kw / 1000,
                    capital_cost=paid / (kw / 1000),
                    **common,
                )
            if (name, kind) == ("east", "alpha"):
                # A year old at the start, so two more years; its energy is added below.
                net.add("Link", "old", build_year=years[0] - 1, p_nom=OLD * kw / 1000, **common)
    net.optimize(
        multi_investment_periods=True,
        solver_name="highs",
        extra_functionality=_fleet_rows,
        log_to_console=False,
    )
    old_energy = OLD * TYPES["alpha"][0] * PRICE["east"] * hours_year / 1e9
    return float(net.objective) + sum(old_energy * weight[year] for year in years[:2])


def _fleet_rows(net, _snapshots) -> None:
    """Racks alive count against power whether in use or not, and a delivery is shared by the sites."""
    model, links = net.model, net.links
    size = model["Link-p_nom"]
    for name, megawatts in MW.items():
        for y, mw in enumerate(megawatts):
            year = START.year + y
            alive = links[
                (links.bus0 == name) & (links.build_year <= year) & (links.build_year + LIFE > year)
            ]
            fixed = float(alive.loc[~alive.p_nom_extendable, "p_nom"].sum())
            free = list(alive.index[alive.p_nom_extendable])
            if free:
                model.add_constraints(size.loc[free].sum() <= mw - fixed, name=f"power-{name}-{y}")
    for kind, (kw, _, _) in TYPES.items():
        for y in range(1, YEARS):
            both = [f"{name}-{kind}-{y}" for name in MW]
            model.add_constraints(size.loc[both].sum() <= MOST * kw / 1000, name=f"supply-{kind}-{y}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_cost_is_that_of_pypsa_over_several_investment_periods():
    scene, table, _ = world()
    model = build_model(scene, table)
    ours = relaxation(compile_model(model.pyomo).relaxed(), SolveOptions()).objective
    assert peer_cost() == pytest.approx(ours, rel=1e-4)
