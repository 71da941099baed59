"""Rewriting a model without losing its best plan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solving_models import INF, arrays, best_by_trying

from fleetplan.solving.bound import dual_bound, implied_box
from fleetplan.solving.linear import relaxation
from fleetplan.solving.tighten import around, with_whole_limits, within_reach


def test_limits_on_whole_lots_of_one_size_are_rounded_to_whole_lots():
    compiled = arrays(
        [1.0, 1.0, 1.0],
        [[4.0, 4.0, 0.0], [4.0, -4.0, 0.0], [4.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.1, 0.1, 0.0]],
        [-INF, 3.0, -INF, -INF, -INF],
        [10.0, 10.0, 7.0, 2.5, 0.3],
        integer=[True, True, False],
    )
    tight = with_whole_limits(compiled)
    assert tight.row_upper == pytest.approx([8.0, 8.0, 7.0, 2.5, 0.3])
    assert tight.row_lower.tolist() == [-INF, 4.0, -INF, -INF, -INF]


def test_a_limit_that_is_whole_up_to_rounding_keeps_its_lot():
    compiled = arrays([1.0], [[0.1]], [-INF], [0.1 + 0.2])  # 0.30000000000000004
    assert with_whole_limits(compiled).row_upper[0] == pytest.approx(0.3)
    below = arrays([1.0], [[3.0]], [-INF], [8.9999999999999])
    assert with_whole_limits(below).row_upper[0] == pytest.approx(9.0)


def test_narrowing_by_reduced_cost_keeps_every_better_plan():
    # min 5a + 9b, a + b >= 3, a <= 3: bound 15; a plan of 20 allows b one unit (9 - 5 = 4 dearer) only.
    compiled = arrays([5.0, 9.0], [[1.0, 1.0]], [3.0], [INF], high=[3.0, 8.0])
    box = implied_box(compiled)
    bound = dual_bound(compiled, np.array([5.0]), box)
    narrow = within_reach(compiled, bound, box, best_known=20.0)
    assert narrow.col_upper.tolist() == [3.0, 1.0]


small = st.integers(-4, 4).map(float)


@settings(max_examples=100, deadline=None)
@given(
    cost=st.lists(small, min_size=3, max_size=3),
    matrix=st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=2),
    rhs=st.lists(st.integers(0, 6).map(float), min_size=2, max_size=2),
    price=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    worse=st.floats(0, 5),
)
def test_narrowing_never_loses_the_optimum(cost, matrix, rhs, price, worse):
    lower, upper, high = [-INF, -2.0], rhs, [2, 2, 2]
    best = best_by_trying(cost, matrix, lower, upper, high)
    if best is None:
        return
    integer = [True, True, False]
    compiled = arrays(cost, matrix, lower, upper, high=high, integer=integer)
    box = implied_box(compiled, best + worse)
    bound = dual_bound(compiled, np.array(price), box)
    narrow = within_reach(compiled, bound, box, best + worse)
    whole = [narrow.col_lower[:2].max(initial=0.0), *narrow.col_upper.tolist()]
    assert min(whole) >= 0
    moved = [[*row] for row in matrix]
    # Try everything inside the narrowed box by adding its sides as rows.
    for j in range(3):
        unit = [0.0] * 3
        unit[j] = 1.0
        moved.append(unit)
    inside = best_by_trying(cost, moved, [*lower, *narrow.col_lower], [*upper, *narrow.col_upper], high)
    assert inside == pytest.approx(best, abs=1e-6)


def test_the_neighbourhood_holds_whole_numbers_around_the_relaxed_plan_and_cheap_columns():
    compiled = arrays(
        [1.0, 1.0, 2.0, 3.0, 0.0],
        [[1.0, 1.0, 1.0, 1.0, 1.0]],
        [-INF],
        [99.0],
        high=[9.0] * 5,
        integer=[True, True, False, False, False],
    )
    x = np.array([2.4, 3.0000000001, 0.0, 0.0, 5.0])
    reduced = np.array([0.0, 0.0, 7.0, 1.0, 0.0])
    near = around(compiled, x, reduced, cheapest=1)
    assert near.col_lower.tolist() == [2.0, 3.0, 0.0, 0.0, 0.0]
    assert near.col_upper.tolist() == [3.0, 3.0, 0.0, 9.0, 9.0]
    wider = around(compiled, x, reduced, cheapest=2, tie=0.5)
    assert wider.col_lower[:2].tolist() == [2.0, 3.0]
    assert wider.col_upper.tolist() == [3.0, 4.0, 9.0, 9.0, 9.0]


def test_the_neighbourhood_keeps_each_rows_way_out():
    # Work 10 = lots x 4 + short: rounding 2.5 lots down needs the shortfall that the relaxed plan lacks.
    compiled = arrays(
        [8.0, 90.0, 1.0, 1.1, 1.2],
        [[4.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]],
        [10.0, -INF],
        [10.0, 99.0],
        high=[9.0] * 5,
        integer=[True, False, False, False, False],
    )
    near = around(
        compiled, np.array([2.5, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, 88.0, 1.0, 1.1, 1.2]), cheapest=1
    )
    assert near.col_upper.tolist() == [3.0, 9.0, 9.0, 0.0, 0.0]


def test_whole_limits_close_part_of_the_gap_of_lots():
    # 8-rack lots, 20 racks to be had: the relaxation buys 2.5 lots, a plan at most 2.
    compiled = arrays([-1.0], [[8.0]], [-INF], [20.0], high=[5.0])
    assert relaxation(compiled).objective == pytest.approx(-2.5)
    assert relaxation(with_whole_limits(compiled)).objective == pytest.approx(-2.0)
