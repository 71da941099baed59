"""Published figures that a plan must reproduce, each through ``fleetplan optimize`` on a small scenario.

Sources: GB200 at 1200, 1000 and 960 W and the H100 ratio, arXiv:2605.24461; power budgets by life stage,
OSDI 2026 "Hardware Lifecycle-Aware Power Planning"; cost of a gigawatt,
https://epoch.ai/data-insights/ai-datacenter-cost-breakdown; book life, Meta's 10-K for 2025; minimum
take, AEP Ohio data center tariff.
"""

from __future__ import annotations

import pytest

from fleetplan import money
from fleetplan.api import optimize
from tests.planning.worlds import (
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

GB200 = {"devices_per_rack": 72, "facility_fixed_w_per_device": 492.0, "facility_slope_w_per_cap_w": 1.37}
"""Facility W per device: 2136 at 1200 W, 1862 at 1000 W, 1807 at 960 W."""
SPEED = {1200.0: 1.0, 1000.0: 0.95, 960.0: 0.945}
TIGHT = 1e-6


def gb200(**changes):
    return accelerator(
        "gb200", vendor="NVIDIA", provisioned_cap_w=960.0, tdp_w=1200.0, **{**GB200, **changes}
    )


def by_cap(caps=SPEED, per_device=1.0):
    """Training options of GB200, a rate of 1 per device at 1200 W."""
    return [
        option(
            "rank",
            "gb200",
            72 * per_device * SPEED[cap],
            cap_w=cap,
            devices=72,
            average_facility_kw_per_rack=100.0,
        )
        for cap in caps
    ]


def campus(types, *, mw, lots, asked=1e9, quarters=2, fleet=(), **changes):
    """One hall of ``mw`` all along; racks come in the first quarter and work at once."""
    fields = {
        "lengths": (1,) * quarters,
        "accelerators": types,
        "workloads": [workload("rank", shortfall_price_usd_per_billion_samples=1e6)],
        "sites": [site("campus")],
        "halls": [hall("hall", "campus")],
        "power": power("hall", [mw] * quarters),
        "supply": lots,
        "fleet": list(fleet),
        "demand": demand("rank", [asked] * quarters),
    }
    lifecycle = {"install_quarters": 0, **changes.pop("lifecycle", {})}
    return scenario(**{**fields, **changes}, lifecycle=lifecycle)


def served(plan):
    return plan.work.groupby("period")["served_samples_per_s"].sum().iloc[-1]


def plan_of(world, *rows):
    return optimize(world, options=options(*rows), gap=TIGHT)


def modes_of(plan):
    return plan.modes.groupby("cap_w")["racks"].max().to_dict()


def test_1_a_power_limit_chooses_the_cap_with_most_speed_per_megawatt():
    ample = campus([gb200()], mw=150.0, lots=[supply("gb200", 0, 4000, 0.001)])
    plan = plan_of(ample, *by_cap())
    modes = modes_of(plan)
    # What is left of the last rack's power lets a few racks run higher.
    assert modes.get(1200.0, 0.0) < 0.01 * sum(modes.values())
    assert sum(modes.values()) * 72 == pytest.approx(83_000, rel=0.01)
    full = plan_of(ample, *by_cap([1200.0]))
    assert 1.09 <= served(plan) / served(full) <= 1.12


def test_1_scarce_chips_run_at_their_full_cap():
    few = campus([gb200()], mw=150.0, lots=[supply("gb200", 0, 500, 0.001)])
    assert set(modes_of(plan_of(few, *by_cap()))) == {1200.0}


@pytest.mark.parametrize(("cap", "ratio", "within"), [(960.0, 1.9, 0.05), (1200.0, 1.7, 0.05)])
def test_2_gb200_against_h100_in_the_same_150_megawatts(cap, ratio, within):
    h100 = accelerator("h100", facility_fixed_w_per_device=1431.0, devices_per_rack=32)
    old = campus([h100], mw=150.0, lots=[supply("h100", 0, 9000, 0.001)])
    base = served(plan_of(old, option("rank", "h100", 32.0, devices=32)))
    new = campus([gb200()], mw=150.0, lots=[supply("gb200", 0, 4000, 0.001)])
    # 2.4 times an H100 per device at 960 W.
    fast = plan_of(new, *by_cap([cap], per_device=2.4 / SPEED[960.0]))
    assert served(fast) / base == pytest.approx(ratio, abs=within)


def racks_at(stage, share, **lifecycle):
    """Racks of 100 kW design power that 100 MW take at a life stage."""
    stages = {"forecast": 1.0, "initial": 1.0, "refined": 1.0, stage: share}
    world = campus(
        [accelerator("rack")],
        mw=100.0,
        lots=[supply("rack", 0, 2000, 0.001)],
        lifecycle={"power_stage_factor": stages, **lifecycle},
    )
    return plan_of(world, option("rank", "rack", 1.0)).orders["racks"].sum()


def test_3_power_budgets_by_life_stage_take_13_and_25_percent_more_racks():
    design = racks_at("refined", 1.0)
    assert racks_at("refined", 1 / 1.13) / design == pytest.approx(1.13, abs=0.002)
    assert racks_at("refined", 1 / (1.13 * 1.11)) / design == pytest.approx(1.254, abs=0.002)


def test_4_diversity_gives_a_training_hall_3_percent_and_an_inference_hall_21():
    alone = racks_at("refined", 1.0)
    assert racks_at("refined", 1.0, diversity_factor=1 / 1.03) / alone == pytest.approx(1.03, abs=0.002)
    assert racks_at("refined", 1.0, diversity_factor=1 / 1.21) / alone == pytest.approx(1.21, abs=0.002)


def test_5_a_buffer_of_3_instead_of_4_5_percent_gives_1_6_percent_more_work():
    def with_buffer(share):
        world = campus(
            [accelerator("rack")],
            mw=10.0,
            lots=[supply("rack", 0, 100, 0.001)],
            lifecycle={"maintenance_share": share},
        )
        return served(plan_of(world, option("rank", "rack", 1.0)))

    assert with_buffer(0.03) / with_buffer(0.045) == pytest.approx(1.016, abs=0.0005)


@pytest.mark.parametrize(("life", "published"), [(5.0, 8.5), (3.0, 12.0), (7.0, 7.0)])
def test_6_a_gigawatt_of_gb200_costs_38_billion_and_8_5_a_year(life, published):
    rate, price, facility_bn, other_bn = 0.08, 3.1, 14.2, 0.9
    world = campus(
        [gb200()],
        mw=1000.0,
        quarters=4,
        lots=[supply("gb200", 0, 9000, price)],
        finance={
            "discount_rate": rate,
            "discount_timing": "start_of_period",
            "end_value_rule": "economic_annuity",
            "economic_life_years": life,
        },
    )
    world = world.model_copy(
        update={"workloads": {"rank": workload("rank", shortfall_price_usd_per_billion_samples=1e8)}}
    )
    plan = plan_of(world, *by_cap([960.0]))
    ledger = plan.ledger.query("item in ('capex', 'end value')")
    servers_bn = ledger.query("item == 'capex'")["amount_musd"].sum() / 1000
    assert servers_bn + facility_bn == pytest.approx(38, rel=0.02)
    assert servers_bn / (servers_bn + facility_bn) == pytest.approx(0.6, abs=0.05)
    # One year of the racks: what was paid less what they are still worth, carried to the year's end.
    racks_bn = ledger["npv_musd"].sum() * (1 + rate) / 1000
    building_bn = facility_bn * money.annuity_share(rate, 14, 0.0)
    assert racks_bn + building_bn + other_bn == pytest.approx(published, rel=0.05)


def test_7_a_book_life_of_5_5_years_cuts_the_charge_by_9_percent():
    def charge(life):
        fleet = [cohort("hall", "campus", "rack", 100, 0, book_life_years=life)]
        world = campus([accelerator("rack")], mw=20.0, lots=[], fleet=fleet, quarters=4)
        return plan_of(world, option("rank", "rack", 1.0)).books["depreciation_musd"].sum()

    assert 1 - charge(5.5) / charge(5.0) == pytest.approx(0.091, abs=0.001)


def test_7_a_three_year_old_rack_is_written_off_at_45_percent():
    old = [cohort("hall", "campus", "old", 10, 11, book_life_years=5.5)]
    world = campus(
        [accelerator("old"), accelerator("new")],
        mw=1.0,
        fleet=old,
        lots=[supply("new", 1, 10, 0.001)],
        lifecycle={"minimum_age_quarters": 12},
    )
    plan = plan_of(world, option("rank", "old", 1.0), option("rank", "new", 5.0))
    left = plan.retirements
    assert left["racks"].sum() == pytest.approx(10)
    assert left["book_value_musd"].sum() / left["racks"].sum() == pytest.approx(0.455, abs=0.001)


def test_8_using_60_percent_of_contracted_demand_is_billed_at_85():
    tariff = {"tariff_minimum_take_share": 0.85, "energy_price_usd_per_mwh": 60.0}
    world = campus(
        [accelerator("rack")],
        mw=10.0,
        fleet=[cohort("hall", "campus", "rack", 60)],
        lots=[],
        sites=[site("campus", **tariff)],
    )
    plan = plan_of(world, option("rank", "rack", 1.0))
    bill = plan.ledger.query("item in ('energy', 'contract')")["amount_musd"].sum()
    assert bill == pytest.approx(0.85 * 10 * 8766 / 2 * 60 / 1e6)


def slip_case(price=80.0, late=0):
    """A new site of 1 GW opens in the third quarter, or later."""
    quarters = 8
    opens = [0.0] * (2 + late) + [1000.0] * (quarters - 2 - late)
    world = campus(
        [gb200()],
        mw=1.0,
        quarters=quarters,
        asked=5e5,
        lots=[supply("gb200", offset, 2500, 3.1) for offset in range(quarters)],
        sites=[site("campus", energy_price_usd_per_mwh=price)],
        finance={"discount_rate": 0.09, "end_value_rule": "economic_annuity"},
        lifecycle={"lot_racks": {"gb200": 4}},
    )
    # A shortfall costs some ten times what a rack-quarter does.
    dear = 10 * 0.29 / (72 * 8766 / 4 * 3600) * 1e15
    ready = {"workloads": {"rank": workload("rank", shortfall_price_usd_per_billion_samples=dear)}}
    return world.model_copy(update={"power": tuple(power("hall", opens)), **ready})


def bought(plan):
    return plan.orders.groupby("delivery_quarter")["racks"].sum()


def test_9_a_slip_of_a_gigawatt_moves_the_plan_more_than_twice_the_power_price():
    table = by_cap([960.0])
    base, dear, late = (
        bought(plan_of(w, *table)) for w in (slip_case(), slip_case(160.0), slip_case(late=2))
    )
    moved = lambda other: base.sub(other, fill_value=0.0).abs().sum()  # noqa: E731
    assert moved(dear) < moved(late)
    assert moved(late) > 1000


def test_10_a_longer_horizon_leaves_the_first_year_alone_within_one_lot():
    def first_year(quarters):
        lot = 4
        world = campus(
            [gb200(), accelerator("h100", kw=40.0)],
            mw=60.0,
            quarters=quarters,
            fleet=[cohort("hall", "campus", "h100", 400, 8)],
            lots=[supply("gb200", offset, 100, 3.1 * 0.98**offset) for offset in range(quarters)],
            finance={
                "discount_rate": 0.09,
                "end_value_rule": "economic_annuity",
                "salvage_share_by_age_year": {"merchant": (0.62, 0.43, 0.3, 0.17, 0.12)},
            },
            lifecycle={"lot_racks": {"gb200": lot}, "install_quarters": 1},
        )
        grown = demand("rank", [15_000 * 1.05**t for t in range(quarters)])
        dear = 10 * 0.29 / (72 * 8766 / 4 * 3600) * 1e15
        ready = {"workloads": {"rank": workload("rank", shortfall_price_usd_per_billion_samples=dear)}}
        world = world.model_copy(update={"demand": tuple(grown), **ready})
        plan = plan_of(world, *by_cap([960.0, 1200.0]), option("rank", "h100", 32.0))
        return bought(plan).reindex(["2027Q1", "2027Q2", "2027Q3", "2027Q4"], fill_value=0.0)

    short, long = first_year(8), first_year(12)
    assert (short.cumsum() - long.cumsum()).abs().max() <= 4
    assert long.sum() > 0


def retired_by(plan, name):
    return plan.retirements.query("kind == 'early' and accelerator == @name")["racks"].sum()


def test_11_scarce_power_retires_slow_racks_and_scarce_chips_or_budget_keep_them():
    table = [option("rank", "old", 1.0), option("rank", "new", 4.0)]
    types = [accelerator("old"), accelerator("new")]
    fleet = [cohort("hall", "campus", "old", 10)]

    def case(mw, most, **changes):
        lots = [supply("new", 1, most, 0.001)]
        return retired_by(
            plan_of(campus(types, mw=mw, fleet=fleet, lots=lots, quarters=4, **changes), *table), "old"
        )

    assert case(1.0, 10) == pytest.approx(10)
    assert case(3.0, 10) == pytest.approx(0)
    assert case(1.0, 2) == pytest.approx(2)
    poor = {"finance": {"capex_budget_musd": {"2027": 0.003}}, "rules": {"limit_capex": True}}
    assert case(1.0, 10, **poor) == pytest.approx(3)


def test_11_own_silicon_without_resale_retires_later_than_merchant_silicon_with_30_percent():
    def quarter_of_exit(vendor):
        fleet = [cohort("hall", "campus", "rack", 10, 12)]
        world = campus(
            [accelerator("rack", vendor=vendor)],
            mw=1.0,
            fleet=fleet,
            lots=[],
            quarters=6,
            asked=0.0,
            finance={
                "discount_rate": 0.09,
                "salvage_share_by_age_year": {"merchant": (0.62, 0.43, 0.3, 0.3, 0.3), "own": (0.0,)},
            },
        )
        plan = plan_of(world, option("rank", "rack", 1.0))
        early = plan.retirements.query("kind == 'early'")
        return early["period"].min() if len(early) else "2099Q1"

    assert quarter_of_exit("NVIDIA") < quarter_of_exit("Meta")


def test_12_a_dominated_part_is_never_bought():
    types = [accelerator("good", kw=100.0), accelerator("bad", kw=120.0)]
    lots = [supply("good", 0, 100, 0.01), supply("bad", 0, 100, 0.02)]
    plan = plan_of(campus(types, mw=5.0, lots=lots), option("rank", "good", 2.0), option("rank", "bad", 1.0))
    assert plan.orders["accelerator"].unique().tolist() == ["good"]


def test_12_lots_may_be_split_over_identical_halls_at_the_same_cost():
    types, lots = [accelerator("rack")], [supply("rack", 0, 100, 0.01)]
    one = campus(types, mw=4.0, lots=lots)
    halls = {
        "halls": [hall("a", "campus"), hall("b", "campus")],
        "power": power("a", [2.0] * 2) + power("b", [2.0] * 2),
    }
    two = campus(types, mw=4.0, lots=lots, **halls)
    table = [option("rank", "rack", 1.0)]
    assert plan_of(two, *table).cost_musd == pytest.approx(plan_of(one, *table).cost_musd)


def test_13_the_optimum_fed_back_as_earlier_plan_changes_nothing(tmp_path):
    lots = [supply("rack", offset, 20, 0.1) for offset in (0, 1)]
    halls = {
        "halls": [hall("a", "campus"), hall("b", "campus")],
        "power": power("a", [2.0] * 4) + power("b", [2.0] * 4),
    }
    first_world = campus([accelerator("rack")], mw=4.0, lots=lots, quarters=4, asked=33.0, **halls)
    table = [option("rank", "rack", 1.0)]
    first = plan_of(first_world, *table)
    first.save(tmp_path / "earlier")
    rules = {"previous_plan": str(tmp_path / "earlier"), "change_price_musd_per_rack": 0.01}
    again = plan_of(
        campus([accelerator("rack")], mw=4.0, lots=lots, quarters=4, asked=33.0, rules=rules, **halls), *table
    )
    assert again.ledger.query("item == 'change'")["amount_musd"].sum() == pytest.approx(0.0)
    assert again.orders[["hall", "delivery_quarter", "racks"]].equals(
        first.orders[["hall", "delivery_quarter", "racks"]]
    )
