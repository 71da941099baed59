"""Each feature of the planning model on a world small enough to be worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from fleetplan.api import optimize
from fleetplan.errors import InputError
from fleetplan.inputs.scenario import Rental, Role, Upgrade
from fleetplan.plan.audit import audit
from fleetplan.planning.earlier import Earlier
from tests.planning.worlds import (
    HERE,
    START,
    Outcome,
    accelerator,
    best,
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

RATE = options(option("rank", "alpha", 1.0), option("rank", "beta", 2.0))


def world(asked: float = 10.0, mw: float = 1.0, **changes):
    """One hall; alpha (1 sample/s a rack) stands there, beta (2) can be had; racks of 100 kW."""
    quarters = sum(changes.get("lengths", (1, 1, 1, 1)))
    fields = {
        "accelerators": [accelerator("alpha"), accelerator("beta")],
        "workloads": [workload("rank")],
        "sites": [site("east")],
        "halls": [hall("east-1", "east")],
        "power": power("east-1", [mw] * quarters),
        "fleet": [cohort("east-1", "east", "alpha", 5)],
        "supply": [],
        "demand": demand("rank", [asked] * quarters),
    }
    return scenario(**{**fields, **changes})


def checked(plan_world, table=RATE, previous=None) -> Outcome:
    """Solve, and hold the plan against the audit."""
    plan = best(plan_world, table, previous)
    report = audit(plan.tables, plan_world, table, objective_musd=plan.objective)
    assert [check for check in report.checks if check.failures] == []
    return plan


# -- lifecycle --------------------------------------------------------------------------------------


def test_early_retirement_makes_room_for_faster_racks_and_is_told_from_natural_ends():
    room = {"mw": 0.5, "supply": [supply("beta", 0, 5, 0.1)]}
    plan = checked(world(**room))
    left = plan.tables["retirements"]
    assert left["kind"].tolist() == ["early"]
    assert left["period"].tolist() == ["2027Q2"]
    # Five racks aged 5 quarters of 1 M USD each with a book life of 20 quarters.
    assert left["book_value_musd"].sum() == pytest.approx(5 * 0.75)
    kept = checked(world(rules={"allow_early_retirement": False}, **room))
    assert kept.tables["retirements"].empty


def test_a_module_swap_keeps_the_rack_and_costs_its_share():
    swap = Upgrade(origin=HERE, from_accelerator="alpha", to_accelerator="beta", price_share_of_new_rack=0.5)
    plan = checked(world(mw=0.5, upgrades=[swap], supply=[supply("beta", 0, 5, 0.4)]))
    orders = plan.tables["orders"]
    assert orders["kind"].tolist() == ["upgrade"]
    assert orders["racks"].tolist() == pytest.approx([5.0])
    assert plan.item("capex") == pytest.approx(5 * 0.5 * 0.4)
    assert plan.racks("beta", "2027Q2") == pytest.approx(5)
    without = checked(world(mw=0.5, upgrades=[swap], rules={"allow_upgrades": False}))
    assert without.tables["orders"].empty


def test_a_module_swap_is_limited_by_what_is_alive_and_by_supply():
    swap = Upgrade(origin=HERE, from_accelerator="alpha", to_accelerator="beta", price_share_of_new_rack=0.1)
    few = [supply("beta", 0, 3, 0.4)]
    plan = checked(world(asked=40.0, mw=0.5, upgrades=[swap], supply=few))
    assert plan.tables["orders"].query("kind == 'upgrade'")["racks"].sum() <= 3 + 1e-6
    ample = [supply("beta", 0, 30, 0.4, committed_racks=0)]
    ruled = world(asked=40.0, mw=0.5, upgrades=[swap], supply=ample, lifecycle={"lot_racks": {"beta": 50}})
    assert checked(ruled).tables["orders"].empty


def test_swaps_of_several_parts_into_one_are_one_order_at_their_mean_price():
    parts = [accelerator("alpha"), accelerator("beta"), accelerator("gamma")]
    shares = {"alpha": 0.5, "gamma": 0.25}
    swaps = [
        Upgrade(origin=HERE, from_accelerator=old, to_accelerator="beta", price_share_of_new_rack=share)
        for old, share in shares.items()
    ]
    there = [cohort("east-1", "east", "alpha", 2), cohort("east-1", "east", "gamma", 3)]
    lots = [supply("beta", 0, 5, 0.4)]
    both = world(asked=10.0, mw=0.5, accelerators=parts, fleet=there, upgrades=swaps, supply=lots)
    orders = checked(both).tables["orders"]
    # Two racks at 0.5 x 0.4 and three at 0.25 x 0.4 M USD.
    assert orders["kind"].tolist() == ["upgrade"]
    assert orders["racks"].tolist() == pytest.approx([5.0])
    assert orders["capex_musd"].tolist() == pytest.approx([2 * 0.2 + 3 * 0.1])
    assert orders["price_musd_per_rack"].tolist() == pytest.approx([0.7 / 5])


def test_racks_move_to_where_there_is_power_and_the_move_costs_its_share():
    halls = [hall("east-1", "east"), hall("west-1", "west")]
    moving = {
        "sites": [site("east", energy_price_usd_per_mwh=1000.0), site("west")],
        "halls": halls,
        "power": power("east-1", [1.0] * 4) + power("west-1", [1.0] * 4),
        "finance": {"move_cost_share": 0.06},
    }
    stay = checked(world(asked=5.0, **moving))
    go = checked(world(asked=5.0, rules={"allow_moves": True}, **moving))
    assert stay.tables["fleet"]["site"].unique().tolist() == ["east"]
    assert go.item("move") == pytest.approx(5 * 0.06)
    assert go.tables["fleet"].query("period == '2027Q4'")["site"].unique().tolist() == ["west"]
    assert go.tables["fleet"]["vintage"].nunique() == 1
    assert go.objective < stay.objective


def role(**changes) -> Role:
    """Up to three alphas from the start on, at 0.2 M USD a quarter each."""
    fields = {
        "name": "inference",
        "accelerator": "alpha",
        "first": START,
        "last": START + 9,
        "max_racks": 3,
        "value_musd_per_rack_quarter": 0.2,
        "cost_share_of_price": 0.05,
    }
    return Role(origin=HERE, **{**fields, **changes})


def test_racks_are_handed_on_to_another_role_for_its_price_and_after_its_down_time():
    plan = checked(world(asked=2.0, roles=[role(down_quarters=1)]))
    # Three of five racks are not needed; from the second quarter on they are made ready, then work.
    assert plan.item("hand-over") == pytest.approx(3 * 0.05 * 1.0)
    assert plan.item("role") == pytest.approx(-3 * 2 * 0.2)
    roles = plan.tables["roles"]
    assert roles["since"].unique().tolist() == ["2027Q2"]
    assert roles["value_musd"].tolist() == pytest.approx([0.0, 0.6, 0.6])
    # They stay in the fleet, keep its megawatts, and are no retirement.
    assert plan.racks("alpha", "2027Q4") == pytest.approx(5)
    assert plan.tables["power"]["used_mw"].tolist() == pytest.approx([0.5] * 4)
    assert plan.tables["retirements"].empty
    assert plan.tables["assignment"].query("period == '2027Q4'")["racks"].sum() <= 2 + 1e-9


def test_racks_in_a_role_do_not_train():
    short = 1.0  # M USD of a sample/s in a quarter, which a rack would train
    dear = checked(world(asked=5.0, roles=[role(value_musd_per_rack_quarter=short + 0.1)]))
    assert dear.tables["work"]["shortfall_samples_per_s"].tolist() == pytest.approx([0.0, 3.0, 3.0, 3.0])
    cheap = checked(world(asked=5.0, roles=[role(value_musd_per_rack_quarter=short - 0.1)]))
    assert cheap.tables["roles"].empty


@pytest.mark.parametrize(
    ("changes", "since", "quarters"),
    [
        ({"minimum_age_quarters": 6}, "2027Q3", 2),  # four quarters old at the start
        ({"first": START + 3}, "2027Q4", 1),
        ({"last": START + 1}, "2027Q2", 1),
        ({"last": START + 2, "down_quarters": 1}, "2027Q2", 1),
    ],
)
def test_a_role_takes_racks_from_their_age_on_and_only_while_it_needs_them(changes, since, quarters):
    plan = checked(world(asked=2.0, roles=[role(**changes)]))
    assert plan.tables["roles"]["since"].unique().tolist() == [since]
    assert plan.item("role") == pytest.approx(-3 * quarters * 0.2)


def test_racks_in_a_role_end_at_their_maximum_age_and_retire_from_their_minimum_age_on():
    ages = {"maximum_age_quarters": 7, "minimum_age_quarters": 6}
    plan = checked(world(asked=2.0, roles=[role()], lifecycle=ages))
    # Aged 4 at the start: in the role at 5 and 6, gone at 7.
    assert plan.item("role") == pytest.approx(-3 * 2 * 0.2)
    assert plan.tables["retirements"].query("period == '2027Q4'")["racks"].sum() == pytest.approx(5)
    dear = {"opex_musd_per_facility_mw_year": 6.0}  # 0.15 M USD a rack and quarter
    left = checked(world(asked=2.0, roles=[role(last=START + 1)], lifecycle=ages, finance=dear))
    early = left.tables["retirements"].query("kind == 'early'")
    # Three racks work for one quarter; all that stand idle leave as soon as they are old enough.
    assert early.groupby("period")["racks"].sum().to_dict() == pytest.approx({"2027Q3": 3.0})
    assert left.tables["roles"].groupby("period")["racks"].sum().to_dict() == pytest.approx({"2027Q2": 3.0})


def test_racks_in_a_role_draw_their_mean_power_at_the_planned_cap():
    place = site("east", energy_price_usd_per_mwh=1.0)
    warm = [accelerator("alpha", average_to_provisioned_power=0.8, idle_w=0.0), accelerator("beta")]
    table = options(option("rank", "alpha", 1.0, average_facility_kw_per_rack=90.0))
    plan = checked(world(asked=0.0, accelerators=warm, sites=[place], roles=[role(max_racks=5)]), table)
    # Idle racks draw 90 kW (the least of any use), those in the role 80.
    kwh = (5 * 90 + 3 * 5 * 80) * 8766 / 4
    assert plan.tables["energy"]["facility_mwh"].sum() == pytest.approx(kwh / 1000)


def test_cells_that_follow_each_other_in_time_are_not_taken_for_one():
    # Alpha ends with the second quarter, beta begins with the third: one row of the table follows the other.
    ages = {"maximum_age_quarters": 6, "minimum_age_quarters": 1, "attrition_per_year": 0.1}
    plan = checked(world(asked=9.0, supply=[supply("beta", 1, 5, 0.1)], lifecycle=ages))
    assert plan.racks("beta", "2027Q3") == pytest.approx(5)
    assert plan.racks("alpha", "2027Q3") == pytest.approx(0.0)


def test_attrition_takes_racks_and_their_book_value():
    plan = checked(world(lifecycle={"attrition_per_year": 0.2}))
    assert plan.racks("alpha", "2027Q4") == pytest.approx(5 * 0.8**0.75)
    books = plan.tables["books"].query("accelerator == 'alpha'")
    assert books["write_off_musd"].sum() > 0
    assert books["closing_musd"].iloc[-1] == pytest.approx(5 * 0.8**0.75 * (1 - 8 / 20))


def test_racks_that_fail_in_burn_in_do_no_work_in_their_first_quarter():
    lots = [supply("beta", 0, 5, 0.1)]
    plan = checked(world(asked=20.0, supply=lots, lifecycle={"burn_in_loss_share": 0.2}))
    used = plan.tables["assignment"].query("accelerator == 'beta'").groupby("period")["racks"].sum()
    assert used.tolist() == pytest.approx([4.0, 5.0, 5.0])


def test_buffer_of_three_instead_of_four_and_a_half_percent_gives_1_6_percent_more_work():
    served = [
        checked(world(asked=100.0, lifecycle={"maintenance_share": share}))
        .tables["work"]["served_samples_per_s"]
        .sum()
        for share in (0.045, 0.03)
    ]
    assert served[1] / served[0] == pytest.approx(0.97 / 0.955)


# -- power ------------------------------------------------------------------------------------------


def test_a_hall_takes_only_racks_that_it_cools_and_that_it_can_carry():
    heavy = [accelerator("alpha"), accelerator("beta", rack_it_kw=90.0)]
    lots = [supply("beta", 0, 5, 0.1)]
    light = [hall("east-1", "east", max_rack_it_kw=80.0)]
    assert checked(world(accelerators=heavy, supply=lots, halls=light)).racks("beta") == 0
    wet = [accelerator("alpha"), accelerator("beta", cooling=("liquid",))]
    assert checked(world(accelerators=wet, supply=lots)).racks("beta") == 0
    assert checked(world(accelerators=heavy, supply=lots)).racks("beta") == 3


def test_reserve_stranding_and_boards_take_power_away():
    lots = [supply("beta", 0, 30, 0.01)]
    base = world(asked=100.0, fleet=[], supply=lots)
    assert checked(base).racks("beta") == 10
    reserve = world(asked=100.0, fleet=[], supply=lots, halls=[hall("east-1", "east", reserve_share=0.2)])
    assert checked(reserve).racks("beta") == 8
    stranded = world(asked=100.0, fleet=[], supply=lots, sites=[site("east", stranded_share=0.15)])
    assert checked(stranded).racks("beta") == 8
    boards = world(asked=100.0, fleet=[], supply=lots, halls=[hall("east-1", "east", lot_kw=190.0)])
    assert checked(boards).racks("beta") == 5


def test_dates_that_slip_take_power_of_their_own_column():
    rows = [row.model_copy(update={"facility_mw_if_dates_slip": 0.5}) for row in power("east-1", [1.0] * 4)]
    lots = [supply("beta", 0, 30, 0.01)]
    late = world(asked=100.0, fleet=[], supply=lots, power=rows, rules={"site_dates": "slip"})
    assert checked(late).racks("beta") == 5


def test_power_not_used_is_billed_up_to_the_minimum_take():
    contract = {"tariff_minimum_take_share": 0.85, "energy_price_usd_per_mwh": 100.0}
    plan = checked(
        world(asked=6.0, fleet=[cohort("east-1", "east", "alpha", 6)], sites=[site("east", **contract)])
    )
    # 0.6 MW of 1 MW used: billed at 0.85.
    hours = 8766.0
    assert plan.item("energy") == pytest.approx(0.6 * hours * 100 / 1e6)
    assert plan.item("contract") == pytest.approx(0.25 * hours * 100 / 1e6)


def test_racks_out_of_use_take_no_contract_power_by_a_cap_that_nobody_uses():
    contract = {"tariff_minimum_take_share": 0.85, "energy_price_usd_per_mwh": 100.0}
    two_caps = accelerator(
        "alpha", facility_slope_w_per_cap_w=50.0, facility_fixed_w_per_device=50e3, idle_w=100.0
    )
    table = options(
        option("rank", "alpha", 1.0),
        option("rank", "alpha", 0.5, cap_w=600.0, average_facility_kw_per_rack=80.0),
    )
    base = world(
        asked=3.0,
        fleet=[cohort("east-1", "east", "alpha", 6)],
        sites=[site("east", **contract)],
        accelerators=[two_caps],
        rules={"allow_early_retirement": False},
    )
    plan = checked(base, table)
    # Three racks work at 100 kW; three stand idle at 50 + 5 kW and count 50 + 30 kW, at the lower cap.
    hours = 8766.0
    assert plan.item("energy") == pytest.approx((3 * 0.1 + 3 * 0.055) * hours * 100 / 1e6)
    assert plan.item("contract") == pytest.approx((0.85 - 3 * 0.1 - 3 * 0.08) * hours * 100 / 1e6)


def test_energy_uses_annual_pue_average_power_and_idle_power():
    place = site("east", pue_annual=1.08, pue_peak=1.2, energy_price_usd_per_mwh=50.0)
    cold = accelerator(
        "alpha", facility_slope_w_per_cap_w=50.0, facility_fixed_w_per_device=50e3, idle_w=100.0
    )
    table = options(option("rank", "alpha", 1.0, average_facility_kw_per_rack=80.0))
    stay = {"allow_early_retirement": False}
    plan = checked(world(asked=3.0, sites=[place], accelerators=[cold], rules=stay), table)
    # Three racks work at 80 kW, two stand idle at 50 + 5 kW.
    mwh = (3 * 80 + 2 * 55) / 1000 * 8766 * 1.08 / 1.2
    assert plan.tables["energy"]["facility_mwh"].sum() == pytest.approx(mwh)
    assert plan.item("energy") == pytest.approx(mwh * 50 / 1e6)


# -- supply -----------------------------------------------------------------------------------------


def test_no_vendor_gets_more_than_its_share_of_a_years_new_power():
    both = [accelerator("alpha", vendor="One"), accelerator("beta", vendor="Two")]
    lots = [supply("alpha", 0, 10, 0.2), supply("beta", 0, 10, 0.1)]
    ask = {"asked": 100.0, "fleet": [], "accelerators": both, "supply": lots}
    assert checked(world(**ask)).racks("beta") == 10
    limited = world(**ask, finance={"vendor_share_max": 0.6}, rules={"limit_vendor_share": True})
    plan = checked(limited)
    assert (plan.racks("alpha"), plan.racks("beta")) == (4, 6)


def test_commitments_alone_never_break_the_vendor_limit():
    lots = [supply("beta", 0, 10, 0.1, committed_racks=4)]
    plan = checked(world(supply=lots, finance={"vendor_share_max": 0.6}, rules={"limit_vendor_share": True}))
    assert plan.racks("beta") == 4


def test_purchases_stay_within_the_window_budget():
    lots = [supply("beta", 0, 10, 0.1), supply("beta", 1, 10, 0.1)]
    budget = {"finance": {"capex_budget_musd": {"2027Q1": 0.2, "2027Q2": 0.3}}}
    plan = checked(world(asked=100.0, fleet=[], supply=lots, rules={"limit_capex": True}, **budget))
    assert plan.tables["orders"].set_index("delivery_quarter")["racks"].to_dict() == {
        "2027Q1": 2,
        "2027Q2": 3,
    }


def rental(**changes) -> Rental:
    fields = {
        "name": "cloud-beta",
        "accelerator": "beta",
        "first": START,
        "last": START + 3,
        "max_racks": 4,
        "price_musd_per_rack_quarter": 0.3,
    }
    return Rental(origin=HERE, **{**fields, **changes})


def test_rented_racks_work_without_our_megawatts():
    plan = checked(world(asked=9.0, mw=0.5, rentals=[rental()]))
    # Two rented racks serve the four samples/s that the five present ones cannot.
    assert plan.item("rental") == pytest.approx(4 * 2 * 0.3)
    assert plan.tables["power"]["used_mw"].max() <= 0.5
    assert plan.tables["assignment"].query("site == 'cloud-beta'")["samples_per_s"].sum() == pytest.approx(16)
    assert plan.tables["orders"]["kind"].tolist() == ["rental"]


def test_rented_racks_need_no_power_law_and_racks_of_ours_do():
    cloud = [accelerator("alpha"), accelerator("beta", facility_fixed_w_per_device=None)]
    plan = checked(world(asked=9.0, mw=0.5, accelerators=cloud, rentals=[rental()]))
    assert plan.item("rental") == pytest.approx(4 * 2 * 0.3)
    with pytest.raises(
        InputError, match="beta stands in a hall or can be ordered and has no facility power law"
    ):
        best(world(accelerators=cloud, supply=[supply("beta", 0, 4, 0.1)]), RATE)


def test_rented_racks_wait_for_their_lead_time_and_pay_their_commitment():
    late = checked(world(asked=9.0, mw=0.5, rentals=[rental(lead_time_quarters=2)]))
    assert late.item("rental") == pytest.approx(2 * 2 * 0.3)
    spike = demand("rank", [5.0, 9.0, 5.0, 5.0])
    bound = checked(world(mw=0.5, demand=spike, rentals=[rental(commitment_quarters=3)]))
    assert bound.item("rental") == pytest.approx(3 * 2 * 0.3)
    beyond = demand("rank", [5.0, 5.0, 5.0, 9.0])
    rest = checked(
        world(mw=0.5, demand=beyond, rentals=[rental(commitment_quarters=3, price_musd_per_rack_quarter=0.1)])
    )
    assert rest.item("rental") == pytest.approx(3 * 2 * 0.1)


def test_no_more_is_rented_than_is_offered():
    plan = checked(world(asked=50.0, mw=0.5, rentals=[rental(max_racks=2)]))
    assert plan.item("rental") == pytest.approx(4 * 2 * 0.3)


def test_work_that_is_bound_to_sites_rents_nothing():
    bound = workload("rank", allowed_sites=("east",))
    plan = checked(world(asked=9.0, mw=0.5, rentals=[rental()], workloads=[bound]))
    # Four of nine samples/s find no rack: rented ones stand at no site that may serve them.
    assert plan.item("rental") == 0.0
    assert plan.tables["work"]["shortfall_samples_per_s"].tolist() == pytest.approx([4.0] * 4)


# -- work -------------------------------------------------------------------------------------------


def test_deferrable_work_waits_for_capacity_within_its_share():
    plan = checked(
        world(
            workloads=[workload("rank", deferrable_share=0.3)],
            demand=demand("rank", [10.0, 2.0, 2.0, 2.0]),
        )
    )
    assert plan.tables["work"]["backlog_samples_per_s"].tolist() == pytest.approx(
        [3.0, 0.0, 0.0, 0.0], abs=1e-6
    )
    assert plan.tables["work"]["shortfall_samples_per_s"].sum() == pytest.approx(2.0)


def test_a_peak_needs_racks_for_the_part_that_cannot_wait():
    peaky = [workload("rank", peak_to_average=1.5, deferrable_share=0.2)]
    plan = checked(world(asked=10.0, workloads=peaky))
    # 1.5 x 0.8 = 1.2 racks have to stand for each one in use on average.
    assert plan.tables["work"]["served_samples_per_s"].tolist() == pytest.approx([5 / 1.2] * 4)


def test_the_cheapest_shortfall_gives_way_first():
    works = [workload("rank"), workload("feed", shortfall_price_usd_per_billion_samples=1.0)]
    table = options(option("rank", "alpha", 1.0), option("feed", "alpha", 1.0))
    asks = demand("rank", [4.0] * 4) + demand("feed", [4.0] * 4)
    short = checked(world(workloads=works, demand=asks), table).tables["work"]
    sums = short.groupby("workload")["shortfall_samples_per_s"].sum()
    assert sums.to_dict() == pytest.approx({"feed": 12.0, "rank": 0.0}, abs=1e-6)


def two_priorities(**rules):
    """Two workloads for the same five racks; shortfall is cheap, and of the first the cheapest."""
    unit = workload("rank").shortfall_price_usd_per_billion_samples
    works = [
        workload("rank", priority=1, shortfall_price_usd_per_billion_samples=0.1 * unit),
        workload("feed", priority=2, shortfall_price_usd_per_billion_samples=0.2 * unit),
    ]
    asks = demand("rank", [4.0] * 4) + demand("feed", [4.0] * 4)
    lots = [supply("beta", 2, 5, 1000.0)]
    return world(workloads=works, demand=asks, supply=lots, rules=rules)


TWO = options(
    *[option(work, part, rate) for work in ("rank", "feed") for part, rate in (("alpha", 1.0), ("beta", 2.0))]
)


def test_shortfall_comes_before_cost_by_priority():
    short = lambda plan: plan.work.groupby("workload")["shortfall_samples_per_s"].sum()  # noqa: E731
    priced = optimize(two_priorities(), options=TWO, gap=1e-9)
    # At its price nobody buys for it, and the dearer shortfall of the lower priority is avoided.
    assert priced.orders.empty
    assert short(priced).to_dict() == pytest.approx({"feed": 0.0, "rank": 4 * 3.0}, abs=1e-6)
    first = optimize(two_priorities(shortfall="by_priority"), options=TWO, gap=1e-9)
    # Priority 1 is served in full: of priority 2, three of four are short until two betas come, which do 4.
    assert short(first)["rank"] == pytest.approx(0.0, abs=1e-4)
    assert short(first)["feed"] == pytest.approx(3 * 3.0, abs=1e-4)
    assert first.orders["racks"].sum() == 2
    assert first.cost_musd == pytest.approx(first.ledger["npv_musd"].sum(), rel=1e-9)
    assert first.gap <= 1e-6
    assert first.audit.passed


def test_a_plan_says_that_shortfall_came_first():
    first = optimize(two_priorities(shortfall="by_priority"), options=TWO, gap=1e-9)
    assert len(first.manifest.notes) == 2
    assert "shortfall of priority 1 (M USD at its price) comes before cost: 0.000" in first.manifest.notes[0]
    assert "shortfall is the least that can be, by priority" in " ".join(first.summary().lines())
    priced = optimize(two_priorities(), options=TWO, gap=1e-9)
    assert not any("comes before cost" in note for note in priced.manifest.notes)
    assert "by priority" not in " ".join(priced.summary().lines())


def test_the_second_pass_keeps_shortfall_at_its_least():
    small_gain = {"shortfall": "by_priority", "tie_break_tolerance": 0.5}
    plan = optimize(two_priorities(**small_gain), options=TWO, gap=1e-9)
    rank = plan.work.query("workload == 'rank'")["shortfall_samples_per_s"].sum()
    assert rank == pytest.approx(0, abs=1e-4)
    assert plan.orders["racks"].sum() == 2


def test_work_stays_at_its_site_as_far_as_the_movable_share_says():
    two = {
        "sites": [site("east"), site("west")],
        "halls": [hall("east-1", "east"), hall("west-1", "west")],
        "power": power("east-1", [1.0] * 4) + power("west-1", [1.0] * 4),
        "fleet": [cohort("east-1", "east", "alpha", 5), cohort("west-1", "west", "alpha", 5)],
        "lifecycle": {"movable_work_share": 0.1},
        "asked": 5.0,
    }
    # In the first quarter work belongs in the east, from the second on in the west.
    falling = site("west", energy_price_usd_per_mwh=1e4, energy_price_escalation_per_year=-1 + 1e-8)
    places = [site("east", energy_price_usd_per_mwh=500.0), falling]
    idle = [
        accelerator("alpha", facility_slope_w_per_cap_w=50.0, facility_fixed_w_per_device=50e3, idle_w=1.0)
    ]
    two |= {"sites": places, "accelerators": idle}
    table = options(option("rank", "alpha", 1.0))
    free = checked(world(**two), table).tables["assignment"]
    bound = checked(world(**two, rules={"limit_work_moves": True}), table).tables["assignment"]
    at = lambda rows, where: rows.query("site == @where").groupby("period")["racks"].sum()  # noqa: E731
    assert at(free, "east").get("2027Q2", 0.0) == pytest.approx(0.0, abs=1e-6)
    assert at(bound, "east")["2027Q2"] == pytest.approx(4.5, rel=1e-4)


def test_a_cluster_is_large_enough_for_a_run_that_meets_its_deadline():
    run = workload("rank", training_samples_per_run=4 * 86400.0, deadline_days_per_run=1.0)
    two = {
        "workloads": [run],
        "sites": [site("east"), site("west")],
        "halls": [hall("east-1", "east"), hall("west-1", "west")],
        "power": power("east-1", [1.0] * 4) + power("west-1", [1.0] * 4),
        "fleet": [cohort("east-1", "east", "alpha", 3), cohort("west-1", "west", "alpha", 3)],
        "asked": 6.0,
    }
    assert checked(world(**two)).tables["work"]["shortfall_samples_per_s"].sum() == pytest.approx(
        0.0, abs=1e-6
    )
    grouped = checked(world(**two, rules={"minimum_cluster": True}))
    assert grouped.tables["work"]["shortfall_samples_per_s"].tolist() == pytest.approx([6.0] * 4)


# -- money ------------------------------------------------------------------------------------------


def test_write_offs_and_depreciation_stay_within_their_limits():
    room = {"mw": 0.5, "supply": [supply("beta", 0, 5, 0.1)]}
    plan = checked(world(**room, finance={"write_off_limit_musd": {"2027": 1.5}}))
    assert plan.tables["retirements"]["book_value_musd"].sum() <= 1.5 + 1e-6
    assert plan.racks("beta") == 2
    ample = {"supply": [supply("beta", 0, 10, 2.0)], "asked": 100.0, "fleet": []}
    free = checked(world(**ample))
    bound = checked(world(**ample, finance={"depreciation_limit_musd": {"2027": 0.9}}))
    # Three quarters of 2 M USD over five years are 0.3 M USD a rack.
    assert free.racks("beta") > bound.racks("beta") == 3


def test_tax_is_the_rate_on_income_less_costs_and_depreciation():
    taxed = {
        "finance": {
            "income_tax_rate": {"US": 0.25},
            "tax_depreciation": "straight_line",
            "tax_life_years": 5.0,
            "opex_musd_per_facility_mw_year": 1.0,
        },
        "rules": {"use_tax": True},
    }
    plan = checked(world(**taxed))
    # Half a MW year at 1 M USD; a quarter of the price of a rack over five quarters... four of twenty,
    # and what is left of the tax value at the end, 60 %, is lost as the end value is 0.
    assert plan.item("operation") == pytest.approx(0.5)
    assert plan.item("tax") == pytest.approx(-0.25 * (0.5 + 5 * (4 / 20) + 5 * (12 / 20)))


def test_carbon_is_capped_or_priced():
    dirty = {
        "carbon": {
            "intensity_g_per_kwh": {"east": 400.0},
            "price_usd_per_t": 100.0,
            "embodied_t_per_rack": {"beta": 30.0},
            "cap_mt_per_year": {"2027": 1e-3},
        },
        "supply": [supply("beta", 0, 5, 0.1)],
    }
    priced = checked(world(**dirty, rules={"price_carbon": True}))
    energy = priced.tables["energy"]
    tonnes = energy["operational_t"].sum() + energy["embodied_t"].sum()
    assert energy["embodied_t"].sum() == pytest.approx(30.0 * priced.racks("beta"))
    assert priced.item("carbon") == pytest.approx(tonnes * 100 / 1e6)
    capped = checked(world(**dirty, asked=10.0, rules={"limit_carbon": True}))
    assert capped.tables["energy"]["operational_t"].sum() <= 1000 * (1 + 1e-6)
    assert priced.tables["energy"]["operational_t"].sum() > 1000


def test_resale_decommissioning_and_end_value_follow_age():
    worth = {
        "salvage_share_by_age_year": {"merchant": (0.6, 0.4, 0.2)},
        "decommission_cost_share": 0.01,
        "end_value_rule": "resale",
    }
    plan = checked(world(asked=0.0, finance=worth))
    # Kept, five racks bring 0.4 of 1 M USD each at age 8; sold at age 5, 0.55 less 0.01.
    assert plan.item("resale") == pytest.approx(-5 * 0.55)
    assert plan.item("decommission") == pytest.approx(5 * 0.01)
    assert plan.objective == pytest.approx(-5 * 0.54)


# -- stability --------------------------------------------------------------------------------------


def two_halls(**changes):
    halls = [hall("east-1", "east"), hall("east-2", "east")]
    rows = power("east-1", [1.0] * 4) + power("east-2", [1.0] * 4)
    lots = [supply("beta", offset, 4, 0.1) for offset in (0, 1)]
    return world(**{"asked": 12.0, "halls": halls, "power": rows, "supply": lots, **changes})


def test_the_optimum_fed_back_as_earlier_plan_changes_nothing():
    first = checked(two_halls())
    again = checked(two_halls(rules={"change_price_musd_per_rack": 0.01}), previous=first.tables["orders"])
    assert again.item("change") == pytest.approx(0.0)
    assert again.objective == pytest.approx(first.objective)
    pd.testing.assert_frame_equal(again.tables["orders"], first.tables["orders"])


def test_changes_are_paid_for_and_avoided_where_they_gain_less():
    first = checked(two_halls())
    grown = {"asked": 13.5}
    free = checked(two_halls(**grown), previous=first.tables["orders"])
    held = checked(
        two_halls(**grown, rules={"change_price_musd_per_rack": 10.0}), previous=first.tables["orders"]
    )
    assert free.racks("beta") == first.racks("beta") + 1
    assert held.racks("beta") == first.racks("beta")


def test_orders_placed_in_frozen_quarters_stay_as_they_were():
    first = checked(two_halls())
    frozen = checked(two_halls(asked=30.0, rules={"frozen_quarters": 1}), previous=first.tables["orders"])
    at = lambda plan: plan.tables["orders"].query("delivery_quarter == '2027Q1'")["racks"].tolist()  # noqa: E731
    assert at(frozen) == at(first)
    assert frozen.racks("beta") > first.racks("beta")


def room_for_beta(**changes):
    """Five alphas that betas can replace in the second quarter, for half a megawatt."""
    return world(**{"mw": 0.5, "supply": [supply("beta", 0, 5, 0.1)], **changes})


def test_racks_that_leave_in_frozen_quarters_leave_as_they_were_to():
    first = checked(room_for_beta())
    earlier = Earlier.of(first.tables)
    gone = lambda plan: plan.tables["retirements"].query("kind == 'early'")["racks"].sum()  # noqa: E731
    assert gone(first) == pytest.approx(5)
    # With no demand left nobody would order or retire; what the next two quarters hold stays.
    idle = {"asked": 0.0, "finance": {"decommission_cost_share": 0.1}}
    assert gone(checked(room_for_beta(**idle), previous=earlier)) == pytest.approx(0.0)
    held = checked(room_for_beta(**idle, rules={"frozen_quarters": 2}), previous=earlier)
    assert gone(held) == pytest.approx(5)
    assert held.racks("beta") == pytest.approx(5)
    # Frozen means no more than planned, too; orders alone say nothing about racks that leave.
    stay = Earlier.of(checked(room_for_beta(supply=[])).tables)
    spare = {"asked": 1.0, "sites": [site("east", energy_price_usd_per_mwh=100.0)], "supply": []}
    assert gone(checked(room_for_beta(**spare), previous=stay)) == pytest.approx(4)
    kept = checked(room_for_beta(**spare, rules={"frozen_quarters": 4}), previous=stay)
    assert gone(kept) == pytest.approx(0.0)
    orders = stay.orders
    assert gone(checked(room_for_beta(**spare, rules={"frozen_quarters": 4}), previous=orders)) > 0


def test_racks_that_are_gone_already_are_not_held_to_leave():
    first = checked(room_for_beta())
    fewer = {"fleet": [cohort("east-1", "east", "alpha", 3)], "rules": {"frozen_quarters": 2}}
    plan = checked(room_for_beta(**fewer), previous=Earlier.of(first.tables))
    assert plan.tables["retirements"].query("kind == 'early'")["racks"].sum() == pytest.approx(3)


def test_the_price_of_change_counts_racks_that_leave_and_modules():
    first = checked(room_for_beta())
    # Nothing of the plan is wanted any more: five orders and five retirements are undone, at 0.01 each.
    idle = {"asked": 0.0, "finance": {"decommission_cost_share": 0.1}}
    priced = room_for_beta(**idle, rules={"change_price_musd_per_rack": 0.01})
    plan = checked(priced, previous=Earlier.of(first.tables))
    assert plan.item("change") == pytest.approx(10 * 0.01)
    swap = Upgrade(origin=HERE, from_accelerator="alpha", to_accelerator="beta", price_share_of_new_rack=0.5)
    swapped = checked(room_for_beta(upgrades=[swap]))
    assert swapped.tables["orders"]["kind"].tolist() == ["upgrade"]
    priced = room_for_beta(asked=0.0, upgrades=[swap], rules={"change_price_musd_per_rack": 0.01})
    plan = checked(priced, previous=Earlier.of(swapped.tables))
    assert plan.item("change") == pytest.approx(5 * 0.01)
    frozen = room_for_beta(asked=0.0, upgrades=[swap], rules={"frozen_quarters": 1})
    assert checked(frozen, previous=Earlier.of(swapped.tables)).tables["orders"]["racks"].tolist() == [5.0]


def test_a_hand_over_in_a_frozen_quarter_stays():
    first = checked(world(asked=2.0, roles=[role()]))
    held = {"asked": 5.0, "roles": [role()], "rules": {"frozen_quarters": 2}}
    plan = checked(world(**held), previous=Earlier.of(first.tables))
    assert plan.tables["roles"].query("period == since")["racks"].tolist() == pytest.approx([3.0])
    assert plan.tables["work"]["shortfall_samples_per_s"].tolist() == pytest.approx([0.0, 3.0, 3.0, 3.0])


def test_the_whole_optimum_fed_back_changes_nothing():
    first = checked(room_for_beta(roles=[role()]))
    again = room_for_beta(roles=[role()], rules={"change_price_musd_per_rack": 0.01})
    plan = checked(again, previous=Earlier.of(first.tables))
    assert plan.item("change") == pytest.approx(0.0)
    for table in ("orders", "retirements", "roles"):
        pd.testing.assert_frame_equal(plan.tables[table], first.tables[table])


def test_the_second_pass_keeps_to_the_earlier_plans_retirements(tmp_path):
    first = optimize(room_for_beta(), options=RATE, gap=1e-9)
    first.save(tmp_path / "first")
    close = {"previous_plan": str(tmp_path / "first"), "tie_break_tolerance": 0.5}
    slack = {"sites": [site("east", energy_price_usd_per_mwh=1.0)], "asked": 9.9}
    plan = optimize(room_for_beta(rules=close, **slack), options=RATE, gap=1e-9)
    pd.testing.assert_frame_equal(plan.retirements, first.retirements)


def test_declined_take_or_pay_needs_the_rule_and_the_lead_time():
    near = [supply("beta", 0, 4, 0.5, committed_racks=4, lead_time_quarters=1)]
    plan = checked(world(asked=0.0, supply=near, rules={"decline_committed": True}))
    assert plan.racks("beta") == 4


def test_retirements_are_whole_racks_where_the_rules_ask_for_it():
    swap = Upgrade(origin=HERE, from_accelerator="alpha", to_accelerator="beta", price_share_of_new_rack=0.5)
    shared = {
        "mw": 0.55,
        "asked": 30.0,
        "upgrades": [swap],
        "supply": [supply("beta", 0, 5, 0.4), supply("beta", 1, 5, 0.4)],
        "lifecycle": {"attrition_per_year": 0.1, "lot_racks": {"beta": 2}},
    }
    plan = checked(world(**shared, rules={"integer_retirements": True}))
    arcs = plan.model.indices.cohorts
    kind = arcs.cohorts["kind"].to_numpy()[arcs.arcs["cohort"].to_numpy()]
    leave = plan.model.fleet.leave
    solved = dict(zip(plan.compiled.columns.keys, plan.x, strict=True))
    values = plan.model.values(lambda family, index: solved.get((family, index)))
    taken = values[leave.cols][[one in ("present", "new") for one in kind]]
    assert taken == pytest.approx(taken.round())
    assert plan.racks("beta") > 0


def test_the_second_pass_makes_fewer_changes_within_its_tolerance():
    # Two racks stand idle from the second quarter on; taking them down saves a little energy.
    small_gain = {
        "demand": demand("rank", [6.0, 3.0, 3.0, 3.0]),
        "sites": [site("east", energy_price_usd_per_mwh=1.0)],
    }
    one_pass = optimize(world(**small_gain), options=RATE, gap=1e-9)
    two = optimize(world(**small_gain, rules={"tie_break_tolerance": 0.05}), options=RATE, gap=1e-9)
    early = lambda plan: plan.retirements.query("kind == 'early'")["racks"].sum()  # noqa: E731
    assert early(one_pass) > 0
    assert early(two) == pytest.approx(0.0, abs=1e-6)
    assert two.cost_musd <= one_pass.cost_musd * 1.05 + 1e-9
    assert two.ledger["npv_musd"].sum() == pytest.approx(two.cost_musd, rel=1e-9)
