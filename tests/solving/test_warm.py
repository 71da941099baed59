"""A start changes the time of a solve, never what is proven about its result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fleetplan.solving.arrays import Compiled, Labels
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.warm import Start, make_start, run_from


def knapsack(prices: list[float], room: float = 7.5) -> Compiled:
    """Minimise -price x over whole 0 <= x <= 3 with sum of sizes within the room."""
    count = len(prices)
    matrix = sparse.csc_array(np.array([[1.0 + 0.5 * j for j in range(count)]]))
    return Compiled(
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data,
        row_lower=np.array([-np.inf]),
        row_upper=np.array([room]),
        col_lower=np.zeros(count),
        col_upper=np.full(count, 3.0),
        cost=-np.array(prices),
        offset=0.0,
        integer=np.ones(count, dtype=bool),
        rows=Labels([("room", None)]),
        columns=Labels([("take", j) for j in range(count)]),
    )


@pytest.mark.parametrize("recipe", ["mip", "restrict"])
def test_a_start_from_a_neighbour_gives_the_same_optimum(recipe):
    options = SolveOptions(gap_rel=0.0, recipe=recipe)
    start = make_start(knapsack([2.0, 3.0, 4.0, 4.5]), options)
    for prices in ([2.5, 2.0, 4.0, 4.5], [1.0, 5.0, 1.0, 9.0, 3.0], [7.0, 1.0]):
        cold, warm = solve(knapsack(prices), options), solve(knapsack(prices), options, start=start)
        assert warm.objective == pytest.approx(cold.objective)
        assert warm.bound == pytest.approx(cold.bound, abs=1e-5)


def test_a_start_without_a_basis_leaves_the_relaxation_to_the_usual_way():
    assert run_from(Start({}, {}), knapsack([1.0, 2.0]), SolveOptions(), None) is None
