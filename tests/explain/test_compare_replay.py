"""Two plans side by side, and a plan solved again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fleetplan.explain.compare import Held, compare
from fleetplan.explain.inputs_diff import input_changes
from fleetplan.explain.replay import replay
from fleetplan.inputs.scenario import Scenario
from fleetplan.plan.plan import Plan

Make = Callable[..., Plan]
MakeScenario = Callable[..., Scenario]

ORDER = ("new", "beta", "beta-air", "2027Q1", "new", "2026Q4", "2026Q4", "2026-12-31", 1, 4, 1.0, 4.0)
LATER = ("new", "beta", "beta-air", "2027Q2", "new", "2027Q1", "2027Q1", "2027-03-31", 1, 4, 1.0, 4.0)


def priced(plan: Plan, cost: float, gap: float = 0.03) -> Plan:
    manifest = plan.manifest.model_copy(
        update={"objective_musd": cost, "bound_musd": cost - gap, "gap_musd": gap}
    )
    return replace(plan, manifest=manifest)


def test_equal_plans_are_the_same(plan: Plan, plan_with: Make) -> None:
    found = compare(plan, plan_with())
    assert found.verdict == "same"
    assert (found.inputs, found.orders, found.power, found.money) == ((), (), (), ())


def test_input_changes_are_named_by_key_with_their_ratio(
    scenario: Scenario, scenario_with: MakeScenario
) -> None:
    supply = (scenario.supply[0].model_copy(update={"max_racks": 30}), *scenario.supply[1:])
    (change,) = input_changes(scenario, scenario_with(supply=supply))
    assert change.path == "supply[new,2026Q4].max_racks"
    assert str(change) == "supply[new,2026Q4].max_racks: 20 -> 30 (+50 %)"


def test_rows_that_come_or_go_are_named(scenario: Scenario, scenario_with: MakeScenario) -> None:
    changes = input_changes(scenario, scenario_with(demand=scenario.demand[:-1]))
    assert [(c.path, c.after) for c in changes] == [
        ("demand[ads,2027Q3]", None),
        ("demand[ads,2027Q3].samples_per_s", None),
    ]


def test_other_orders_at_equal_inputs_within_the_gap_are_a_tie(plan_with: Make) -> None:
    one, two = priced(plan_with(orders=[ORDER]), 6.0), priced(plan_with(orders=[LATER]), 6.02)
    found = compare(one, two)
    assert found.verdict == "tie"
    assert found.data_musd == 0.0
    assert [(c.key[2], c.by) for c in found.orders] == [("2027Q1", -4.0), ("2027Q2", 4.0)]


def test_other_orders_beyond_the_gap_are_real(plan_with: Make) -> None:
    one, two = priced(plan_with(orders=[ORDER]), 6.0), priced(plan_with(orders=[LATER]), 5.5)
    assert compare(one, two).verdict == "real"


def test_change_of_cost_is_split_in_data_and_decisions(
    plan_with: Make, scenario: Scenario, scenario_with: MakeScenario
) -> None:
    finance = scenario.finance.model_copy(update={"discount_rate": 0.05})
    one = priced(plan_with(orders=[ORDER]), 6.0)
    two = priced(plan_with(scenario_with(finance=finance), orders=[LATER]), 6.5)
    found = compare(one, two, lambda a, b: Held(7.0 if (a, b) == (one, two) else None, 0.01))
    assert (found.data_musd, found.decisions_musd) == (1.0, -0.5)
    assert found.verdict == "real"
    assert "+1 M USD is data" in " ".join(found.lines())
    assert compare(one, two, lambda _a, _b: Held(6.52, 0.01)).verdict == "tie"
    assert compare(one, two, lambda _a, _b: Held(None, 0.0)).verdict == "impossible"
    assert compare(one, two).verdict == "not asked"


def test_changed_training_options_count_as_inputs(plan: Plan) -> None:
    faster = replace(plan, options=plan.options.assign(net_samples_per_s_per_rack=1.0))
    assert compare(plan, faster).options_changed == 2


def test_a_replay_that_agrees_says_so(plan: Plan, plan_with: Make) -> None:
    found = replay(plan, lambda _plan: plan_with())
    assert found.same
    assert found.lines() == ["The plan comes out the same: 6 M USD, every order equal."]


@pytest.mark.parametrize(
    ("update", "word"),
    [
        ({"versions": {"highspy": "0.1"}}, "versions: highspy was 0.1"),
        ({"options_sha256": "0"}, "step model"),
        ({"content_sha256": "0"}, "stored scenario is not the one that was solved"),
        ({"solver": {"gap": 0.9}}, "options: gap was 0.9, now 0.005"),
        ({"reproducible": False}, "limits: the stored plan is not reproducible"),
        ({"python": "3.0"}, "machine: Python 3.0"),
        ({}, "please report"),
    ],
)
def test_a_replay_that_differs_says_why(
    plan: Plan, plan_with: Make, update: dict[str, object], word: str
) -> None:
    stored = replace(plan, manifest=plan.manifest.model_copy(update=update))
    found = replay(stored, lambda _plan: plan_with(orders=[LATER]))
    assert not found.same
    assert found.equally_good
    assert any(word in reason for reason in found.reasons)


def test_a_replay_with_another_cost_is_not_the_same(plan: Plan, plan_with: Make) -> None:
    found = replay(plan, lambda _plan: priced(plan_with(), 7.0))
    assert not found.same
    assert not found.equally_good
