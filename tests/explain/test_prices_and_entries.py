"""Prices, entry points, ties, assumptions and the horizon, each held against solves of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rough_options import options_for

from fleetplan.errors import InfeasibleError, UsageError
from fleetplan.explain import explain, hold_decisions
from fleetplan.explain.assumptions import (
    Assumption,
    _most_at_stake_first,
    assumptions,
    candidates,
    changed,
)
from fleetplan.explain.case import Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.compare import compare
from fleetplan.explain.entry import changed as with_lever
from fleetplan.explain.entry import find_entry, times
from fleetplan.explain.first_lot import first_lot
from fleetplan.explain.first_year import first_year_orders
from fleetplan.explain.held import solved_again, with_lots
from fleetplan.explain.horizon import horizon_effect, longer
from fleetplan.explain.prices import prices
from fleetplan.explain.ties import NEAR, ties
from fleetplan.explain.why_not import not_bought, unit_cost, why_not
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import value_at, with_factor, with_value
from fleetplan.periods import Horizon
from fleetplan.plan.audit import audit
from fleetplan.plan.manifest import SolveFacts, make_manifest
from fleetplan.plan.plan import Plan
from fleetplan.plan.tables import extract
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.result import Result

SETTINGS = SolveOptions(gap_rel=1e-3)


def world(**factors: float) -> Scenario:
    """One workload on three types for four quarters; new orders come at once, MTIA 300 is dear."""
    scenario = load_scenario("small-2026")
    scenario = scenario.model_copy(
        update={
            "horizon": Horizon.of_quarters(scenario.horizon.start, 4),
            "workloads": {"hstu-gr-1500b": scenario.workloads["hstu-gr-1500b"]},
            "demand": tuple(row for row in scenario.demand if row.workload == "hstu-gr-1500b"),
            "rentals": (),
            "upgrades": (),
            "supply": tuple(
                row.model_copy(update={"committed_racks": 0, "option_racks": 0, "max_racks": 80})
                for row in scenario.supply
            ),
        }
    )
    scenario = with_value(scenario, "supply[*,*].new_orders_can_arrive", True)
    scenario = with_value(scenario, "supply[*,*].lead_time_quarters", 0)
    for path, factor in {"demand[*,*].samples_per_s": 3.0, **factors}.items():
        scenario = with_factor(scenario, path, factor)
    return scenario


@cache
def solved() -> tuple[Case, Result]:
    scenario = world(**{"power[*,*].facility_mw": 0.35})
    options = options_for(load_scenario("small-2026"))
    case = Case.of(scenario, options[options["workload"] == "hstu-gr-1500b"], SETTINGS)
    return case, case.solve()


def plan_of(case: Case, result: Result) -> Plan:
    assert result.x is not None
    assert result.objective is not None
    tables = extract(case.model, case.compiled, result.x)
    facts = SolveFacts("optimal", result.objective, result.bound, {"gap": case.settings.gap_rel})
    manifest = make_manifest(case.scenario, case.options, tables["ledger"], facts)
    return Plan(tables, case.options, case.scenario, manifest, audit(tables, case.scenario, case.options))


def test_value_of_a_megawatt_agrees_with_a_plan_made_with_one_more() -> None:
    case, result = solved()
    found = prices(case, result, confirm=2)
    power = found.of("power")
    assert power
    confirmed = [v for v in found.values if v.confirmed is not None]
    assert len(confirmed) == 2
    for value in (v for v in power if v.confirmed is not None):
        site, period = value.place
        assert case.scenario.halls[value.where].site == site
        path = f"power[{value.where},{period}].facility_mw"
        more = case.with_inputs(with_value(case.scenario, path, value_at(case.scenario, path) + 1.0)).solve()
        assert result.objective is not None
        assert more.objective is not None
        assert value.confirmed is not None
        low, high = result.bound - more.objective, result.objective - more.bound
        assert low - 1e-4 <= value.confirmed.observed_musd <= high + 1e-4
        assert value.confirmed.agrees is (low - 1e-4 <= value.confirmed.relaxed_musd <= high + 1e-4)
        assert value.confirmed.relaxed_musd == value.may_change_musd


def test_a_value_is_what_one_whole_unit_more_saves_in_the_relaxation() -> None:
    from fleetplan.solving.linear import relaxation

    case, result = solved()
    base = relaxation(case.compiled).objective
    found = prices(case, result, confirm=0)
    for value in (*found.of("power")[:2], *found.of("supply")[:2]):
        side = case.compiled.row_upper[value.row] + value.step * value.together
        more = relaxation(case.compiled.with_rhs([value.row], upper=[side])).objective
        # a contract may bill a part of the megawatt: then it saves a little less than this
        worth = value.may_change_musd * value.together
        assert worth <= base - more + 1e-4
        assert worth == pytest.approx(base - more, rel=0.2, abs=1e-3)


def test_a_linear_rerun_from_the_changed_input_bears_out_the_stated_value() -> None:
    """The way of large models, on a small one."""
    from fleetplan.explain.prices import _held_and_free, more_of
    from fleetplan.solving.linear import fixed_lp, relaxation

    case, result = solved()
    assert result.x is not None
    value = prices(case, result, confirm=0).of("power")[0]
    after = case.with_inputs(more_of(case.scenario, value))
    found = _held_and_free(case, result, value, after)
    assert not found.searched
    saved = relaxation(case.compiled).objective - relaxation(after.compiled).objective
    assert found.fresh_relaxed_musd == pytest.approx(saved, abs=1e-5)
    held = fixed_lp(case.compiled, result.x).objective
    assert found.observed_musd == pytest.approx(value.held_musd, abs=1e-5 + abs(held - result.objective))
    assert found.agrees
    assert "re-runs agree" in str(replace(value, confirmed=found))
    off = replace(found, relaxed_musd=found.relaxed_musd * 1.01 + 0.01)
    assert not off.agrees


def test_a_stored_plan_is_solved_again_with_its_own_lots() -> None:
    case, result = solved()
    plan = plan_of(case, result)
    again = solved_again(case, plan)
    assert again.x is not None
    assert result.x is not None
    whole = np.flatnonzero(case.compiled.integer)
    assert np.array_equal(np.round(again.x[whole]), np.round(result.x[whole]))
    assert again.objective == pytest.approx(result.objective, rel=1e-6)
    assert again.bound <= result.bound + 1e-6
    # a plan whose cost is another one is searched for again
    stranger = replace(plan, manifest=plan.manifest.model_copy(update={"objective_musd": -1e6}))
    assert solved_again(case, stranger).timings


def test_what_the_clock_left_open_is_counted() -> None:
    case, result = solved()
    over = Clock.of(0.0)
    priced = prices(case, result, confirm=2, clock=over)
    assert priced.unconfirmed == 2
    assert all(value.confirmed is None for value in priced.values)
    assert "2 of the largest values without a re-run" in priced.lines()[-1]
    ranges = ties(case, result, clock=over)
    assert (ranges.orders, ranges.left > 0) == ((), True)
    tried = assumptions(case, result, clock=over)
    assert (tried.turns, tried.left) == ((), len(candidates(case)))
    reason = why_not(case, result, "mtia-300", levers=("price",), clock=over)
    assert reason.left == ("price", "first lot")
    assert "its entry by price and the price of its first lot" in reason.lines()[-1]
    unanswered = explain(plan_of(case, result), questions=("horizon",), time_s=0.0)
    assert unanswered.horizon is None
    assert unanswered.lines() == ["Not answered in the time given: horizon."]


def test_what_does_not_bind_is_worth_nothing() -> None:
    case, result = solved()
    found = prices(case, result, confirm=0)
    assert found.value("power", "altoona-ia", "1999Q1") == 0.0
    assert all(value.may_change_musd > 0 or value.held_musd > 0 for value in found.values)


def test_entry_price_is_right_a_hundredth_either_side() -> None:
    case, result = solved()
    out = not_bought(case, result)
    assert "mtia-300" in out
    assert "h100-500w" not in out  # it cannot be ordered: that is another answer
    entry = find_entry(case, "mtia-300", "price")
    assert entry.enters is not None
    ratio = entry.stays_out.factor / entry.enters.factor
    assert 1.0 < ratio <= 1.01
    middle = (entry.stays_out.factor * entry.enters.factor) ** 0.5
    for factor, bought in ((middle / 1.01, True), (middle * 1.01, False)):
        again = with_lever(case, "mtia-300", "price", factor).solve(1e-4)
        assert again.x is not None
        assert (case.racks_bought(again.x)["mtia-300"] > 0.5) is bought
    assert entry.today == pytest.approx(0.34)


def test_entry_of_the_relaxation_brackets_and_is_near_that_with_whole_lots() -> None:
    """The way of large models, on a small one: here the solves with whole lots can tell."""
    from fleetplan.explain.entry import _entry_of_the_relaxation, _Search

    case, _ = solved()
    found = _entry_of_the_relaxation(_Search(case, "mtia-300", "price", Clock()))
    exact = find_entry(case, "mtia-300", "price")
    assert found.enters is not None
    assert exact.enters is not None
    assert found.by == "relaxation"
    assert found.enters.racks > 0.5 >= found.stays_out.racks
    assert 1.0 < found.stays_out.factor / found.enters.factor <= 1.01
    assert found.saves_musd is not None
    assert found.saves_musd > 0
    assert found.enters.factor == pytest.approx(exact.enters.factor, rel=0.05)
    assert "if all orders may change" in str(found)


def dearer_by(case: Case, result: Result, accelerator: str, factor: float) -> dict[int, float]:
    """What each single lot more costs at a price, this plan's other lots held: models made anew, all lots tried."""
    assert result.x is not None
    again = with_lever(case, accelerator, "price", factor)
    whole = np.flatnonzero(case.compiled.integer)
    lots = np.round(result.x[whole])
    none = with_lots(again, whole, lots).objective
    found = {}
    for at, position in enumerate(whole.tolist()):
        family, key = case.compiled.columns.keys[position]
        if family == "lots" and isinstance(key, tuple) and key[1] == accelerator:
            try:
                one = with_lots(again, whole, lots + np.eye(len(whole))[at]).objective
            except InfeasibleError:
                continue
            found[position] = one - none
    return found


@pytest.mark.parametrize("name", ["mtia-300", "gb300", "mtia-400"])
def test_the_first_lot_pays_below_its_price_and_no_lot_does_above(name: str) -> None:
    case, result = solved()
    found = first_lot(case, result, name, Clock())
    assert found is not None
    assert found.factor is not None
    assert found.confirmed
    column = case.compiled.columns.position("lots", (found.hall, name, found.delivery))
    below = dearer_by(case, result, name, found.factor / 1.01)
    above = dearer_by(case, result, name, found.factor * 1.01)
    assert below[column] == pytest.approx(-found.saves_musd, abs=1e-4)
    assert above[column] == pytest.approx(found.costs_musd, abs=1e-4)
    assert min(below.values()) < 0 < min(above.values())
    assert found.hall in str(found)


def test_where_a_free_lot_costs_more_than_none_no_price_makes_it_pay() -> None:
    """A rack that nobody needs is not worth its operation."""
    case, _ = solved()
    dear = case.with_inputs(with_factor(case.scenario, "finance.opex_musd_per_facility_mw_year", 1000.0))
    found = first_lot(dear, dear.solve(), "mtia-300", Clock())
    assert found is not None
    assert found.factor is None
    assert "no price makes a lot of it pay" in str(found)


def test_far_factors_are_said_as_people_say_them() -> None:
    assert times(64.0) == "64 times"
    assert times(1 / 64) == "1/64 of"


def test_why_not_names_what_is_cheaper_and_what_cannot_be_ordered() -> None:
    case, result = solved()
    found = why_not(case, result, "mtia-300", levers=())
    own, *cheaper = found.costs
    assert own.accelerator == "mtia-300"
    assert cheaper
    assert all(c.usd_per_billion_samples < own.usd_per_billion_samples for c in cheaper)
    assert "mtia-300 is not bought" in found.lines()[0]
    assert "cannot be bought" in why_not(case, result, "h100-500w").lines()[0]


def test_unit_cost_is_the_yearly_cost_over_the_yearly_work() -> None:
    case, _ = solved()
    finance = case.scenario.finance
    cost = unit_cost(case, "mtia-400", "hstu-gr-1500b")
    assert cost is not None
    # lower bound by hand: price over life without interest, resale or running cost
    table = case.model.indices.deliveries.table
    price = float(table.loc[table["accelerator"] == "mtia-400", "price"].iloc[0])
    least = price / finance.economic_life_years * 1e6 / (1.2e4 * 31557600 / 1e9)
    assert least < cost < 3 * least
    assert unit_cost(case, "h100-500w", "hstu-gr-1500b") is None


def test_ranges_hold_this_plan_and_every_plan_within_the_limit() -> None:
    case, result = solved()
    found = ties(case, result, within_musd=5.0, whole=1)
    assert found.orders
    for order in found.orders:
        assert order.low - 1e-6 <= order.racks <= order.high + 1e-6
    sought = [o for o in found.orders if o.whole_low is not None]
    assert len(sought) == 1
    low, high = sought[0].found
    assert sought[0].low - 1e-6 <= low <= high <= sought[0].high + 1e-6
    # an end of a range is a plan: hold the order there and the cost stays within the limit
    lots = case.lot_racks(sought[0].accelerator)
    weights = np.zeros(case.compiled.shape[1])
    for key, at in case.compiled.columns.positions("lots").items():
        if isinstance(key, tuple) and key[1:] == (sought[0].accelerator, sought[0].delivery):
            weights[at] = lots
    held = case.compiled.with_row(("held", None), weights, high, high)
    again = case.with_arrays(held).solve()
    assert again.objective is not None
    assert again.bound <= found.limit_musd + 1e-6


def test_a_wider_limit_never_narrows_a_range() -> None:
    case, result = solved()
    near, far = ties(case, result, within_musd=1.0), ties(case, result, within_musd=20.0)
    for one, two in zip(near.orders, far.orders, strict=True):
        assert two.low <= one.low + NEAR
        assert two.high >= one.high - NEAR


def test_a_range_is_that_of_a_model_with_a_limit_on_its_cost() -> None:
    from fleetplan.solving.linear import relaxation

    case, result = solved()
    found = ties(case, result, within_musd=8.0)
    assert any(order.high - order.low > 1 for order in found.orders)
    limit = found.limit_musd - case.compiled.offset
    near = case.compiled.with_row(("within", None), case.compiled.cost, -np.inf, limit)
    for order in found.orders:
        racks = np.zeros(near.shape[1])
        for key, at in near.columns.positions("lots").items():
            if isinstance(key, tuple) and key[1:] == (order.accelerator, order.delivery):
                racks[at] = case.lot_racks(order.accelerator)
        low = relaxation(near.with_objective(racks)).objective
        high = -relaxation(near.with_objective(-racks)).objective
        assert low - NEAR <= order.low <= low + 1e-4
        assert high - 1e-4 <= order.high <= high + NEAR


def test_assumptions_try_both_ends_of_open_figures_and_say_what_turns() -> None:
    case, result = solved()
    found = assumptions(case, result, confirm=1)
    tried = {turn.assumption.path for turn in found.turns}
    assert "supply[mtia-400,*].price_musd_per_rack" in tried
    assert "options[gb300].speed" in tried
    assert all(turn.factor != 1.0 for turn in found.turns)
    dearer = [t for t in found.turns if "price" in t.assumption.path and t.end == "high"]
    assert all(turn.cost_musd >= -1e-6 for turn in dearer)
    assert "tried" in found.lines()[0] or "turn an order" in found.lines()[0]


def test_what_has_most_money_at_stake_is_tried_first() -> None:
    case, result = solved()
    assert result.x is not None
    order = [one.path for one in _most_at_stake_first(case, result.x, candidates(case))]
    assert sorted(order) == sorted(one.path for one in candidates(case))
    racks = case.racks_bought(result.x)
    most = max(racks, key=lambda name: racks[name])
    assert racks["mtia-300"] == 0
    assert order.index(f"supply[{most},*].price_musd_per_rack") < order.index(
        "supply[mtia-300,*].price_musd_per_rack"
    )


def test_an_assumption_is_changed_in_all_its_rows() -> None:
    case, _ = solved()
    names = [candidate.path for candidate in candidates(case)]
    assert len(names) == len(set(names))
    speed = changed(case, Assumption("options[gb300].speed", "", "derived", 0.5, 2.0, ""), 0.5)
    own = case.options["accelerator"] == "gb300"
    ratio = speed.options["net_samples_per_s_per_rack"] / case.options["net_samples_per_s_per_rack"]
    assert set(ratio[own].round(9)) == {0.5}
    assert set(ratio[~own].round(9)) == {1.0}


def test_a_longer_horizon_repeats_the_last_year_and_commits_nothing() -> None:
    scenario = load_scenario("small-2026")
    more = longer(scenario)
    assert len(more.horizon) == len(scenario.horizon) + 4
    start = scenario.horizon.start
    old = {(r.workload, r.quarter): r.samples_per_s for r in scenario.demand}
    new = {(r.workload, r.quarter): r.samples_per_s for r in more.demand}
    assert new["ads-dlrm-150b", start + 9] == old["ads-dlrm-150b", start + 5]
    assert all(r.committed_racks == 0 for r in more.supply if r.delivery >= scenario.horizon.end)
    halls = {(r.hall, r.quarter) for r in more.power}
    assert all((h, start + t) in halls for h in scenario.halls for t in range(10))


def test_horizon_effect_compares_first_year_orders() -> None:
    case, result = solved()
    found = horizon_effect(case, result)
    assert (found.end, found.longer_end) == ("2027Q3", "2028Q3")
    assert found.stable is not any(move.matters for move in found.moved)
    assert found.lines()


def test_first_year_orders_are_whole_lots_of_the_plan() -> None:
    case, result = solved()
    assert result.x is not None
    plan = plan_of(case, result)
    bought = plan.orders[plan.orders["kind"] != "rental"].groupby("accelerator")["racks"].sum().to_dict()
    racks = {name: count for name, count in first_year_orders(case, result.x).items() if count}
    assert racks == pytest.approx(bought)


def test_the_first_plans_orders_cost_more_under_other_inputs() -> None:
    case, result = solved()
    one = plan_of(case, result)
    assert result.x is not None
    racks = case.racks_bought(result.x)
    most = max(racks, key=lambda name: racks[name])
    other = case.with_inputs(with_factor(case.scenario, f"supply[{most},*].price_musd_per_rack", 2.0))
    two = plan_of(other, other.solve())
    found = compare(one, two, hold_decisions)
    assert found.data_musd is not None
    assert found.decisions_musd is not None
    assert found.data_musd > 0
    # deciding anew cannot cost more than the old orders, but for the gap
    assert found.decisions_musd <= (two.manifest.gap_musd or 0.0) + 1e-6
    assert found.data_musd + found.decisions_musd == pytest.approx(two.cost_musd - one.cost_musd)
    assert compare(one, one, hold_decisions).verdict == "same"


def test_orders_that_cannot_be_had_are_impossible() -> None:
    case, result = solved()
    one = plan_of(case, result)
    none = tuple(row.model_copy(update={"max_racks": 0}) for row in case.scenario.supply)
    other = case.with_inputs(case.scenario.model_copy(update={"supply": none}))
    found = compare(one, plan_of(other, other.solve()), hold_decisions)
    assert found.verdict == "impossible"


def test_a_plan_explains_itself_and_refuses_unknown_questions() -> None:
    case, result = solved()
    plan = plan_of(case, result)
    found = plan.explain(questions=("prices", "ties"), confirm=0)
    assert found.prices is not None
    assert found.ties is not None
    assert found.horizon is None
    assert found.lines()
    with pytest.raises(UsageError, match="unknown question 'weather'"):
        explain(plan, questions=("weather",))
    with pytest.raises(UsageError, match="unknown accelerator 'abacus'"):
        explain(plan, questions=("why-not",), accelerators=("abacus",))


def test_settings_follow_the_manifest() -> None:
    case, result = solved()
    plan = plan_of(case, result)
    loose = replace(plan, manifest=plan.manifest.model_copy(update={"solver": {"gap": 0.25}}))
    assert Case.of_plan(loose).settings.gap_rel == 0.25
