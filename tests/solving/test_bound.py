"""The own bound: never above the optimum, whatever the prices, and tight at the right ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solving_models import INF, arrays, best_by_trying

from fleetplan.solving.bound import Box, dual_bound, implied_box
from fleetplan.solving.linear import relaxation

small = st.integers(-4, 4).map(float)


@settings(max_examples=200, deadline=None)
@given(
    cost=st.lists(small, min_size=3, max_size=3),
    matrix=st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=2),
    rhs=st.lists(st.integers(-3, 6).map(float), min_size=2, max_size=2),
    price=st.lists(st.floats(-5, 5), min_size=2, max_size=2),
)
def test_any_prices_give_a_bound_that_no_plan_beats(cost, matrix, rhs, price):
    lower, upper, high = [-INF, rhs[1]], [rhs[0], rhs[1] + 2.0], [3, 3, 3]
    best = best_by_trying(cost, matrix, lower, upper, high)
    compiled = arrays(cost, matrix, lower, upper, high=high)
    bound = dual_bound(compiled, np.array(price), implied_box(compiled))
    if best is not None:
        assert bound.value <= best + 1e-12 * max(1.0, abs(best))


def test_the_relaxations_prices_give_its_optimum():
    # min 3a + 2b, a + b >= 4, a <= 3, b <= 2: b = 2, a = 2, so 10.
    compiled = arrays([3.0, 2.0], [[1.0, 1.0]], [4.0], [INF], high=[3.0, 2.0])
    prices = relaxation(compiled).row_dual
    assert dual_bound(compiled, prices, implied_box(compiled)).value == pytest.approx(10.0, rel=1e-12)


def test_a_price_of_the_wrong_sign_counts_as_nothing():
    compiled = arrays([3.0, 2.0], [[1.0, 1.0]], [4.0], [INF], high=[3.0, 2.0])
    assert dual_bound(compiled, np.array([-7.0]), implied_box(compiled)).value == pytest.approx(0.0)


def test_rows_imply_bounds_for_columns_without():
    # x0 + x1 <= 6 and x2 - 2 x0 <= 0: x0 <= 6, x1 <= 6, x2 <= 12; a second row is needed for x2.
    compiled = arrays(
        [1.0, 1.0, -1.0], [[1.0, 1.0, 0.0], [-2.0, 0.0, 1.0]], [-INF, -INF], [6.0, 0.0], integer=False
    )
    box = implied_box(compiled)
    assert box.upper == pytest.approx([6.0, 6.0, 12.0], abs=1e-6)
    assert (box.upper >= [6.0, 6.0, 12.0]).all()


def test_equalities_and_lower_sides_bound_free_columns_from_both_sides():
    compiled = arrays(
        [1.0, 0.0], [[1.0, -2.0]], [3.0], [3.0], low=[-INF, -1.0], high=[INF, 5.0], integer=False
    )
    box = implied_box(compiled)
    assert box.lower[0] == pytest.approx(1.0, abs=1e-6)
    assert box.upper[0] == pytest.approx(13.0, abs=1e-6)


def test_a_known_plan_bounds_what_costs():
    # Shortfall has no bound in the rows, but a plan of cost 8 needs no more than 8 / 2 of it.
    compiled = arrays([2.0, 1.0], [[1.0, 1.0]], [3.0], [INF], integer=False)
    assert implied_box(compiled).upper[0] == INF
    assert implied_box(compiled, best_known=8.0).upper == pytest.approx([4.0, 8.0], abs=1e-6)


def test_prices_are_nudged_for_columns_without_any_bound():
    # The column without bound is basic: its reduced cost is 0 up to rounding, of either sign.
    compiled = arrays([0.1, 0.7], [[0.3, 0.1]], [1.0], [INF], high=[1.0, INF], integer=False)
    price = np.array([0.7 / 0.1 * (1 + 1e-15)])
    value = dual_bound(compiled, price, Box(compiled.col_lower, compiled.col_upper)).value
    exact = 0.1 * 1.0 + 0.7 * (1.0 - 0.3) / 0.1
    assert value <= exact
    assert value == pytest.approx(exact, rel=1e-9)


def test_a_column_that_pays_off_without_end_has_no_bound():
    compiled = arrays([-1.0], [[1.0]], [0.0], [INF], integer=False)
    assert dual_bound(compiled, np.zeros(1), implied_box(compiled)).value == -INF


def test_the_bound_of_the_fleet_is_its_relaxation_to_eight_digits(fleet):
    _, compiled = fleet
    solution = relaxation(compiled)
    bound = dual_bound(compiled, solution.row_dual, implied_box(compiled))
    assert bound.value == pytest.approx(solution.objective, rel=1e-8)
    assert bound.value <= solution.objective + 1e-9 * abs(solution.objective)
