"""Several futures as one model, held against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fleetplan.errors import UsageError
from fleetplan.solving.arrays import Compiled, Labels
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.studies.extensive import Risk, extensive_form, tail_mean

BUY, RENT, SHORT = 10.0, 17.0, 60.0
MOST = 4


def newsvendor(demand: int, rent_limit: int = 2) -> Compiled:
    """Buy now (shared), rent later, go short: buy + rent + short >= demand."""
    matrix = sparse.csc_array(np.array([[1.0, 1.0, 1.0]]))
    return Compiled(
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
        row_lower=np.array([float(demand)]),
        row_upper=np.array([np.inf]),
        col_lower=np.zeros(3),
        col_upper=np.array([MOST, rent_limit, np.inf]),
        cost=np.array([BUY, RENT, SHORT]),
        offset=1.0,
        integer=np.array([True, True, False]),
        rows=Labels([("demand", None)]),
        columns=Labels([("buy", None), ("rent", None), ("short", None)]),
    )


def cost_of(buy: int, demand: int, rent_limit: int = 2) -> float:
    rent = min(max(demand - buy, 0), rent_limit)
    return 1 + BUY * buy + RENT * rent + SHORT * max(demand - buy - rent, 0)


def share_buy(_: int, key: tuple[str, object]) -> str | None:
    return "buy" if key[0] == "buy" else None


cases = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=5)


@settings(deadline=None, max_examples=40)
@given(cases, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.1, 0.5, 1.0]))
def test_the_joined_optimum_is_that_of_trying_every_first_decision(
    drawn: list[tuple[int, int]], weight: float, tail: float
) -> None:
    demands = [d for d, _ in drawn]
    total = sum(w for _, w in drawn)
    shares = [w / total for _, w in drawn]
    joined = extensive_form([newsvendor(d) for d in demands], shares, share_buy, Risk(weight, tail))
    found = solve(joined.compiled, SolveOptions(gap_rel=0.0))

    def score(buy: int) -> float:
        costs = [cost_of(buy, d) for d in demands]
        mean = sum(p * c for p, c in zip(shares, costs, strict=True))
        return (1 - weight) * mean + weight * tail_mean(costs, shares, tail)

    assert found.objective == pytest.approx(min(score(buy) for buy in range(MOST + 1)), rel=1e-7)


def test_shared_decisions_are_equal_in_all_futures_and_others_are_free() -> None:
    joined = extensive_form([newsvendor(1), newsvendor(5)], [0.5, 0.5], share_buy)
    x = solve(joined.compiled, SolveOptions(gap_rel=0.0)).x
    first, second = (joined.values_of(i, x) for i in (0, 1))
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert sum(0.5 * c for c in joined.costs(x)) == pytest.approx(joined.compiled.objective(x))


def test_one_future_is_the_deterministic_plan() -> None:
    joined = extensive_form([newsvendor(3)], [1.0], share_buy)
    assert solve(joined.compiled, SolveOptions()).objective == pytest.approx(cost_of(3, 3))


def test_probabilities_must_be_positive_and_sum_to_one() -> None:
    for shares in ([0.5, 0.6], [1.0, 0.0], [1.0]):
        with pytest.raises(UsageError, match="sum to 1"):
            extensive_form([newsvendor(1), newsvendor(2)], shares, share_buy)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8))
def test_the_tail_mean_lies_between_the_mean_and_the_worst(costs: list[float]) -> None:
    shares = [1 / len(costs)] * len(costs)
    mean = sum(costs) / len(costs)
    for tail in (0.05, 0.3, 1.0):
        assert mean - 1e-9 <= tail_mean(costs, shares, tail) <= max(costs) + 1e-9
    assert tail_mean(costs, shares, 1.0) == pytest.approx(mean, abs=1e-9)


def test_tail_mean_by_hand() -> None:
    for costs in itertools.permutations([10.0, 20.0, 40.0]):
        assert tail_mean(list(costs), [1 / 3] * 3, 0.5) == pytest.approx((40 / 3 + 20 / 6) / 0.5)
