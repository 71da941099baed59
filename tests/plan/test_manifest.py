"""The manifest: hashes that see values and not their order, and honest words about proof."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest

from fleetplan.figures import Origin
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import content_hash
from fleetplan.plan.manifest import SolveFacts, content, frame_hash, make_manifest
from fleetplan.plan.plan import Plan

Make = Callable[..., Scenario]


def test_content_ignores_row_order_places_and_words(scenario: Scenario, scenario_with: Make) -> None:
    moved = [
        row.model_copy(update={"origin": Origin("other.csv", 99), "note": "said better", "source": "x"})
        for row in reversed(scenario.supply)
    ]
    other = scenario_with(
        folder="elsewhere",
        title="Other words",
        supply=tuple(moved),
        sites=dict(reversed(scenario.sites.items())),
        hashes={"supply.csv": "1"},
    )
    assert content(other) == content(scenario)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"supply": (s.supply[0].model_copy(update={"max_racks": 21}), *s.supply[1:])},
        lambda s: {"finance": s.finance.model_copy(update={"discount_rate": 0.0800001})},
        lambda s: {"finance": s.finance.model_copy(update={"maintenance_share_per_year": ((0.0, 0.04),)})},
        lambda s: {"demand": s.demand[:-1]},
        lambda s: {"rules": s.rules.model_copy(update={"allow_moves": True})},
        lambda s: {"carbon": s.carbon.model_copy(update={"method": "market_based"})},
    ],
)
def test_content_hash_sees_every_deciding_value(
    scenario: Scenario, scenario_with: Make, change: object
) -> None:
    assert callable(change)
    assert content_hash(scenario_with(**change(scenario))) != content_hash(scenario)


def test_order_within_a_price_curve_decides(scenario: Scenario, scenario_with: Make) -> None:
    def with_curve(*shares: float) -> str:
        curve = {"merchant": shares, "own": (0.0,)}
        finance = scenario.finance.model_copy(update={"salvage_share_by_age_year": curve})
        return content_hash(scenario_with(finance=finance))

    assert with_curve(0.5, 0.3) != with_curve(0.3, 0.5)


def test_frame_hash_ignores_row_order_only(options: pd.DataFrame) -> None:
    assert frame_hash(options.iloc[::-1]) == frame_hash(options)
    assert frame_hash(options.assign(goodput=0.96)) != frame_hash(options)


def test_gap_is_given_in_money_of_the_objective_and_of_gross_spend(plan: Plan) -> None:
    # objective 6, bound 5.97; positive ledger rows 6 + 1 = 7
    manifest = plan.manifest
    assert manifest.gap_musd == pytest.approx(0.03)
    assert manifest.gap == pytest.approx(0.005)
    assert manifest.gap_of_spend == pytest.approx(0.03 / 7)
    assert manifest.gross_spend_musd == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("facts", "reproducible", "word"),
    [
        (SolveFacts("optimal", 6.0, 5.9), True, "same plan"),
        (SolveFacts("limit", 6.0, 5.9, stopped_by_clock=True), False, "wall-clock"),
        (SolveFacts("optimal", 6.0, 5.9, threads=2), True, "2 threads"),
    ],
)
def test_the_manifest_says_whether_a_second_run_gives_the_same(
    plan: Plan, facts: SolveFacts, reproducible: bool, word: str
) -> None:
    manifest = make_manifest(plan.scenario, plan.options, plan.ledger, facts)
    assert manifest.reproducible is reproducible
    assert word in manifest.reproducible_note


def test_without_a_bound_nothing_is_claimed(plan: Plan) -> None:
    manifest = make_manifest(plan.scenario, plan.options, plan.ledger, SolveFacts("limit", 6.0, None))
    assert manifest.gap is None
    assert manifest.gap_musd is None


def test_json_keys_are_sorted_and_versions_are_named(plan: Plan) -> None:
    raw = json.loads(plan.manifest.to_json())
    assert list(raw) == sorted(raw)
    assert raw["versions"]["highspy"][0].isdigit()
    assert set(raw["versions"]) == {"fleetplan", "highspy", "numpy", "pandas", "pydantic", "pyomo"}
