"""Commit or wait against trying every first decision."""

from __future__ import annotations

import itertools
import os
import random

import pytest

from fleetplan.errors import InfeasibleError, SolverError, UsageError
from fleetplan.solving.options import SolveOptions
from fleetplan.studies.beside import solve_each
from fleetplan.studies.cases import Case
from fleetplan.studies.commit import commit
from fleetplan.studies.extensive import Risk, tail_mean
from fleetplan.studies.futures import Future, Tree, equally_likely
from tests.planning.worlds import START, supply
from tests.studies.small_worlds import MOST, PRESENT, PRICE, QUARTERS, workshop, world


def asks(name: str, rate: float) -> Case:
    return Case(name, {f"demand[rank,{START + i}].samples_per_s": rate for i in range(QUARTERS)})


def two_chances(late_price: float = 0.8):
    """Alpha can be ordered now, or a quarter later for more: both before they are needed or not."""
    rows = [supply("alpha", 0, MOST["alpha"], PRICE["alpha"]), supply("alpha", 1, MOST["alpha"], late_price)]
    return world(supply=rows)


def cost(now: int, late: int, asked: float, late_price: float) -> float:
    first, second = max(0.0, asked - PRESENT), max(0.0, asked - PRESENT - now)
    rest = max(0.0, asked - PRESENT - now - late)
    return PRICE["alpha"] * now + late_price * late + first + second + (QUARTERS - 2) * rest


def best_late(now: int, asked: float, late_price: float) -> float:
    return min(cost(now, late, asked, late_price) for late in range(MOST["alpha"] + 1))


def tree(rates: list[float], shares: list[float]) -> Tree:
    futures = [Future(asks(f"f{i}", r), p) for i, (r, p) in enumerate(zip(rates, shares, strict=True))]
    return Tree(tuple(futures), (START + 1,))


@pytest.mark.parametrize("seed", range(5))
def test_orders_now_are_those_of_trying_each_and_knowing_is_never_worth_less_than_nothing(seed):
    draw = random.Random(seed)
    rates = [draw.choice([2.0, 3.0, 4.5, 6.0, 8.0]) for _ in range(draw.randint(2, 3))]
    weights = [draw.randint(1, 5) for _ in rates]
    shares = [w / sum(weights) for w in weights]
    late_price, risk = draw.choice([0.6, 1.0, 1.6]), Risk(draw.choice([0.0, 0.5]), 0.3)
    made = commit(workshop(two_chances(late_price)), tree(rates, shares), risk=risk, regrets=False)

    def score(costs: list[float]) -> float:
        mean = sum(p * c for p, c in zip(shares, costs, strict=True))
        return (1 - risk.weight) * mean + risk.weight * tail_mean(costs, shares, risk.tail)

    by_order = {n: score([best_late(n, r, late_price) for r in rates]) for n in range(MOST["alpha"] + 1)}
    known = [min(best_late(n, r, late_price) for n in by_order) for r in rates]
    assert made.score == pytest.approx(min(by_order.values()))
    assert made.bound == pytest.approx(made.score)
    ordered = float(made.now["racks"].sum())
    assert by_order[int(ordered)] == pytest.approx(min(by_order.values()))
    assert made.evpi == pytest.approx(made.score - score(known), abs=1e-6)
    assert made.vss >= -1e-9
    assert made.evpi >= -1e-9


def test_value_of_the_stochastic_solution_is_what_the_middle_case_orders_too_little():
    # The middle case asks for 3: it buys 1 rack for 3 quarters of use. The high future needs 6.
    base = world(asked=3.0, supply=[supply("alpha", 0, 3, 0.5)])
    made = commit(workshop(base), tree([2.0, 6.0], [0.5, 0.5]))
    held = 0.5 * 0.5 + 0.5 * (0.5 + 4 + 3 * 3)
    best = 0.5 * 1.5 + 0.5 * (1.5 + 4 + 3 * 1)
    assert made.vss == pytest.approx(held - best)
    worst = made.regrets.groupby("candidate")["regret_musd"].max()
    assert worst["for the middle case"] == pytest.approx(held * 2 - 0.5 - (1.5 + 4 + 3))


def test_one_future_is_the_deterministic_plan():
    base = two_chances()
    made = commit(workshop(base), equally_likely([Case("as planned", {})], START + 1))
    assert made.score == pytest.approx(workshop(base).plan(base).cost_musd)
    assert made.evpi == pytest.approx(0.0, abs=1e-9)
    assert made.vss == pytest.approx(0.0, abs=1e-9)


def test_each_future_has_an_audited_plan_that_orders_the_same_now():
    made = commit(workshop(two_chances()), tree([2.0, 8.0], [0.5, 0.5]))
    now = []
    for plan in made.plans.values():
        first = plan.orders[plan.orders["order_quarter"] == str(START)]
        now.append(first.groupby("accelerator")["racks"].sum().to_dict())
        assert plan.audit.checks
    assert now[0] == now[1]


def test_commitments_are_no_order_of_now():
    # 4 more samples/s for 3 quarters: all 3 racks are worth it, and 2 of them come in any case.
    base = world(supply=[supply("alpha", 0, 3, 0.5, committed_racks=2)])
    made = commit(workshop(base), tree([6.0, 7.0], [0.5, 0.5]), regrets=False)
    assert made.now["racks"].tolist() == [1.0]


def test_a_tree_of_three_stages_shares_what_looks_alike():
    # f0 and f1 look alike until quarter 2; f2 is known from quarter 1.
    rates, labels = [3.0, 8.0, 2.0], [("up", "a"), ("up", "b"), ("down", "c")]
    futures = tuple(
        Future(asks(f"f{i}", r), 1 / 3, label) for i, (r, label) in enumerate(zip(rates, labels, strict=True))
    )
    made = commit(workshop(two_chances(1.0)), Tree(futures, (START + 1, START + 2)))
    best = min(
        sum(cost(now, up, r, 1.0) for r in rates[:2]) + cost(now, down, rates[2], 1.0)
        for now, up, down in itertools.product(range(4), repeat=3)
    )
    assert made.score == pytest.approx(best / 3)
    assert made.vss >= -1e-9
    assert made.evpi >= -1e-9


def test_a_future_without_a_plan_is_named():
    # 5 commitments of 100 kW each, and a future in which the hall has 0.3 MW.
    base = world(supply=[supply("alpha", 0, 5, 0.5, committed_racks=5)])
    dark = Case("dark", {f"power[east-1,{START + i}].facility_mw": 0.3 for i in range(QUARTERS)})
    with pytest.raises(InfeasibleError, match="future dark"):
        commit(workshop(base), equally_likely([Case("light", {}), dark], START + 1))


def test_trees_with_wrong_shares_or_labels_are_refused():
    with pytest.raises(UsageError, match="sum to 1"):
        Tree((Future(Case("a", {}), 0.5),), (START + 1,))
    with pytest.raises(UsageError, match="reveals"):
        Tree((Future(Case("a", {}), 1.0),), ())
    with pytest.raises(UsageError, match="label"):
        Tree((Future(Case("a", {}), 1.0, ("x",)),), (START + 1, START + 2))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_futures_solved_apart_bound_what_joined_ones_cost(seed, monkeypatch):
    draw = random.Random(100 + seed)
    rates = [draw.choice([2.0, 3.0, 4.5, 6.0, 8.0]) for _ in range(3)]
    asked = tree(rates, [0.5, 0.25, 0.25])
    joined = commit(workshop(two_chances()), asked, regrets=False)
    monkeypatch.setattr("fleetplan.studies.commit.JOINED_COLUMNS", 0)
    apart = commit(workshop(two_chances()), asked, regrets=False)
    assert apart.bound <= joined.score + 1e-6
    assert apart.score >= joined.score - 1e-6
    assert apart.score == pytest.approx(
        sum(p * c for p, c in zip([0.5, 0.25, 0.25], apart.costs, strict=True))
    )
    assert set(apart.plans) == {"f0", "f1", "f2"}


def test_futures_solved_side_by_side_give_the_same_answer(monkeypatch):
    asked = tree([2.0, 4.5, 8.0], [0.5, 0.25, 0.25])
    monkeypatch.setattr("fleetplan.studies.commit.JOINED_COLUMNS", 0)
    alone = commit(workshop(two_chances()), asked)
    beside = commit(workshop(two_chances()), asked, workers=2)
    assert beside.lines() == alone.lines()
    assert beside.regrets.equals(alone.regrets)


def dies(_: object, **__: object) -> None:
    os._exit(9)


def test_a_lost_process_is_said(monkeypatch):
    monkeypatch.setattr("fleetplan.studies.beside.solve_one", dies)
    with pytest.raises(SolverError, match="a process was lost"):
        list(solve_each([None, None], SolveOptions(), None, 2))
