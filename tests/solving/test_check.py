"""The own check of plans, and whole numbers made whole."""

from __future__ import annotations

import numpy as np
import pytest
from solving_models import INF, arrays

from fleetplan.solving.check import made_whole, worst_violation


def test_nearly_whole_numbers_become_whole_and_the_rest_follows_exactly():
    # 10 racks' power per lot; work y is limited by the lots: with 1 lot exactly 10, not 9.999991.
    compiled = arrays([1.0, -1.0], [[-10.0, 1.0]], [-INF], [0.0], high=[5, INF], integer=[True, False])
    whole = made_whole(compiled, np.array([0.9999991, 9.999991]))
    assert whole.x.tolist() == [1.0, 10.0]
    assert whole.objective == -9.0
    assert whole.violation.size == 0.0


def test_rounding_is_to_the_nearest_not_down():
    compiled = arrays([1.0], [[1.0]], [2.0], [INF], high=[5])
    assert made_whole(compiled, np.array([1.9999999])).x.tolist() == [2.0]


def test_a_plan_that_whole_numbers_make_impossible_is_none():
    compiled = arrays([1.0], [[2.0]], [3.0], [3.0], high=[5])
    assert made_whole(compiled, np.array([1.5])) is None


def test_a_loose_continuous_part_is_solved_again():
    compiled = arrays([0.0, 1.0], [[2.0, 3.0]], [3.0], [INF], high=[1, 9], low=[1, 0], integer=[True, False])
    whole = made_whole(compiled, np.array([1.0, 0.333333]))
    assert 2 + 3 * whole.x[1] >= 3 - 1e-12


@pytest.mark.parametrize(
    ("x", "size", "where"),
    [
        ([1.0, 2.0], 0.0, ""),
        ([3.0, 2.0], 1.0 / 5.0, "row r[0]"),  # 3 + 2 = 5 > 4, of terms that add up to 5
        ([-1.0, 2.0], 1.0, "column x[0]"),
        ([1.25, 2.0], 0.25, "column x[0]"),
    ],
)
def test_the_worst_violation_is_measured_and_named(x, size, where):
    compiled = arrays([1.0, 1.0], [[1.0, 1.0]], [-INF], [4.0], high=[9, 9], integer=[True, False])
    violation = worst_violation(compiled, np.array(x))
    assert violation.size == pytest.approx(size)
    assert violation.where == where
    assert violation.small == (size == 0)
