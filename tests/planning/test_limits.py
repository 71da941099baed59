"""What must hold at the edges: no power, commitments without power, no demand, long periods."""

from __future__ import annotations

import pandas as pd
import pytest

from fleetplan.errors import InfeasibleError
from fleetplan.plan.audit import audit
from tests.planning.worlds import (
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


def world(mw: float = 1.0, asked: float = 10.0, **changes):
    """One hall of 1 MW for racks of 100 kW at 1 sample/s each; 5 present, 10 more to be had."""
    quarters = sum(changes.get("lengths", (1, 1, 1, 1)))
    fields = {
        "accelerators": [accelerator("alpha")],
        "workloads": [workload("rank")],
        "sites": [site("east")],
        "halls": [hall("east-1", "east")],
        "power": power("east-1", [mw] * quarters),
        "fleet": [cohort("east-1", "east", "alpha", 5)],
        "supply": [supply("alpha", 0, 10, 0.5)],
        "demand": demand("rank", [asked] * quarters),
    }
    return scenario(**{**fields, **changes})


RATE = options(option("rank", "alpha", 1.0))


def test_a_plan_serves_what_power_allows_and_prices_the_rest():
    plan = best(world(asked=12.0), RATE)
    # 5 racks in the first quarter, then 10 racks, all that 1 MW holds.
    assert plan.objective == pytest.approx(5 * 0.5 + 7 + 3 * 2)
    assert plan.tables["power"]["used_mw"].tolist() == pytest.approx([0.5, 1.0, 1.0, 1.0])


def test_zero_power_everywhere_gives_a_plan_that_is_all_shortfall():
    plan = best(world(mw=0.0), RATE)
    assert plan.tables["fleet"].empty
    assert plan.tables["assignment"].empty
    assert plan.objective == pytest.approx(40.0)


def test_zero_power_everywhere_leaves_commitments_paid_and_out_of_service():
    plan = best(world(mw=0.0, supply=[supply("alpha", 0, 4, 0.5, committed_racks=4)]), RATE)
    assert plan.objective == pytest.approx(40.0 + 2.0)
    sunk = plan.tables["ledger"].query("item == 'capex'")
    assert sunk["sunk"].all()
    assert sunk["amount_musd"].sum() == pytest.approx(2.0)


def test_commitments_that_cannot_be_powered_are_infeasible():
    with pytest.raises(InfeasibleError):
        best(world(mw=1.0, supply=[supply("alpha", 0, 20, 0.5, committed_racks=20)]), RATE)


def test_commitments_without_any_hall_that_accepts_them_are_named():
    wet = [accelerator("alpha"), accelerator("wet", cooling=("liquid",))]
    lost = [supply("wet", 0, 4, 0.5, committed_racks=4)]
    with pytest.raises(InfeasibleError, match="4 committed racks of wet delivered in 2027Q1"):
        best(world(accelerators=wet, supply=lost), RATE)


def test_commitments_come_even_if_nothing_needs_them():
    plan = best(world(asked=0.0, supply=[supply("alpha", 0, 4, 0.5, committed_racks=4)]), RATE)
    assert plan.racks("alpha") == 4
    assert plan.objective == pytest.approx(2.0)


def test_commitments_beyond_the_lead_time_can_be_declined_where_the_rules_allow():
    lots = [supply("alpha", 1, 4, 0.5, committed_racks=4, lead_time_quarters=1)]
    kept = best(world(asked=0.0, supply=lots), RATE)
    declined = best(world(asked=0.0, supply=lots, rules={"decline_committed": True}), RATE)
    assert kept.item("capex") == pytest.approx(2.0)
    assert declined.item("take-or-pay") == pytest.approx(0.6 * 2.0)
    assert declined.racks("alpha") == 0


def test_present_racks_without_power_leave_below_the_minimum_age_but_only_there():
    halls = [hall("east-1", "east"), hall("east-2", "east")]
    fleet = [cohort("east-1", "east", "alpha", 5, 1), cohort("east-2", "east", "alpha", 5, 1)]
    supplies = power("east-1", [0.2] * 4) + power("east-2", [1.0] * 4)
    plan = best(
        world(halls=halls, fleet=fleet, power=supplies, asked=0.0, lifecycle={"minimum_age_quarters": 12}),
        RATE,
    )
    left = plan.tables["retirements"]
    assert set(left["hall"]) == {"east-1"}
    assert plan.racks("alpha", "2027Q1") <= 7 + 1e-6


def test_no_demand_buys_nothing_and_costs_nothing():
    assert best(world(asked=0.0), RATE).objective == pytest.approx(0.0)


def test_an_option_that_misses_the_deadline_or_does_not_fit_is_never_used():
    for column in ("meets_deadline", "fits"):
        table = options(option("rank", "alpha", 1.0, **{column: False}))
        assert best(world(), table).objective == pytest.approx(40.0)


def test_a_job_larger_than_the_site_is_no_option_there():
    table = options(option("rank", "alpha", 1.0, devices=11))
    assert best(world(), table).objective == pytest.approx(40.0)


def test_new_orders_wait_for_the_lead_time():
    late = [supply("alpha", offset, 10, 0.5, lead_time_quarters=2) for offset in range(4)]
    plan = best(world(supply=late), RATE)
    assert plan.tables["orders"]["delivery_quarter"].min() == "2027Q3"
    assert plan.tables["orders"]["order_quarter"].min() == "2027Q1"
    assert plan.tables["orders"]["service_quarter"].min() == "2027Q4"
    assert plan.tables["orders"]["last_responsible_date"].min() == "2027-03-31"


def test_options_can_be_taken_inside_the_lead_time_but_new_orders_cannot():
    near = [
        supply("alpha", 0, 10, 0.5, lead_time_quarters=2, option_racks=3, new_orders_can_arrive=False),
    ]
    plan = best(world(supply=near), RATE)
    assert plan.tables["orders"]["kind"].tolist() == ["option"]
    assert plan.racks("alpha") == 3


def test_orders_come_in_whole_lots_and_ceilings_are_rounded_down_to_them():
    plan = best(world(lifecycle={"lot_racks": {"alpha": 4}}, supply=[supply("alpha", 0, 7, 0.5)]), RATE)
    assert plan.racks("alpha") == 4
    assert plan.tables["orders"]["lots"].tolist() == [1.0]


def test_a_commitment_that_is_no_whole_number_of_lots_still_comes_whole():
    few = [supply("alpha", 0, 10, 0.5, committed_racks=3)]
    plan = best(world(asked=0.0, lifecycle={"lot_racks": {"alpha": 4}}, supply=few), RATE)
    assert plan.racks("alpha") == pytest.approx(3)


@pytest.mark.parametrize("lengths", [(4,), (2, 2), (1, 3), (3, 1)])
def test_constant_data_cost_the_same_on_any_grid(lengths):
    costly = {
        "finance": {
            "discount_rate": 0.1,
            "maintenance_share_per_year": ((0.0, 0.04),),
            "opex_musd_per_facility_mw_year": 1.0,
        },
        "sites": [site("east", energy_price_usd_per_mwh=80.0)],
        "supply": [],
        "asked": 8.0,
    }
    quarterly = best(world(**costly), RATE)
    other = best(world(lengths=lengths, **costly), RATE)
    assert other.objective == pytest.approx(quarterly.objective, rel=1e-9)


@pytest.mark.parametrize("life", [1, 4, 5])
def test_a_rack_serves_exactly_its_maximum_age(life):
    ages = {"maximum_age_quarters": life, "minimum_age_quarters": 1}
    plan = best(world(lifecycle=ages, fleet=[cohort("east-1", "east", "alpha", 5, 0)], supply=[]), RATE)
    served = plan.tables["fleet"]["period"].nunique()
    assert served == min(life, 4)
    ends = plan.tables["retirements"]
    assert ends["kind"].tolist() == (["end-of-life"] if life < 4 else [])


def test_racks_never_serve_beyond_their_age_on_a_coarse_grid():
    plan = best(
        world(
            lengths=(1, 3, 4),
            lifecycle={"maximum_age_quarters": 6, "minimum_age_quarters": 1},
            fleet=[cohort("east-1", "east", "alpha", 5, 0)],
            supply=[],
        ),
        RATE,
    )
    assert plan.tables["fleet"]["period"].tolist() == ["2027Q1", "2027Q2"]


def test_racks_delivered_inside_a_long_period_work_from_the_next_one():
    lots = [supply("alpha", 1, 10, 0.5)]
    plan = best(world(lengths=(4, 4), supply=lots, fleet=[]), RATE)
    assert plan.tables["fleet"][["vintage", "period"]].values.tolist() == [["2027Q3", "2028Q1"]]


def test_the_audit_passes_on_all_of_these():
    for plan_world in (world(), world(mw=0.0), world(lengths=(1, 3)), world(supply=[])):
        plan = best(plan_world, RATE)
        report = audit(plan.tables, plan_world, RATE, objective_musd=plan.objective)
        assert [c for c in report.checks if c.failures] == []


def test_the_ledger_sums_to_the_objective():
    plan = best(world(finance={"discount_rate": 0.08, "deploy_cost_share": 0.03}), RATE)
    assert plan.tables["ledger"]["npv_musd"].sum() == pytest.approx(plan.objective, rel=1e-12)
    assert isinstance(plan.tables["ledger"], pd.DataFrame)
