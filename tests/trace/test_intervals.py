"""Sets of moments against a count of every nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.trace.intervals import Moments, union

pairs = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def made(intervals: list[tuple[int, int]]) -> tuple[Moments, set[int]]:
    start = np.array([s for s, _ in intervals], dtype=np.int64)
    end = np.array([s + n for s, n in intervals], dtype=np.int64)
    return union(start, end), {t for s, n in intervals for t in range(s, s + n)}


def seconds(moments: Moments) -> set[int]:
    ends = zip(moments.start.tolist(), moments.end.tolist(), strict=True)
    return {t for start, end in ends for t in range(start, end)}


@given(pairs, pairs)
def test_sets_of_moments_behave_as_sets(one: list[tuple[int, int]], two: list[tuple[int, int]]) -> None:
    """Union, intersection, difference and length."""
    (a, in_a), (b, in_b) = made(one), made(two)
    assert seconds(a) == in_a
    assert a.total == len(in_a)
    assert seconds(a | b) == in_a | in_b
    assert seconds(a & b) == in_a & in_b
    assert seconds(a - b) == in_a - in_b


@given(pairs, st.integers(-5, 90), st.integers(0, 40))
def test_length_within_a_window(intervals: list[tuple[int, int]], start: int, length: int) -> None:
    """As many nanoseconds as the window and the set share."""
    moments, inside = made(intervals)
    found = moments.within(np.array([start]), np.array([start + length]))
    assert found.tolist() == [len(inside & set(range(start, start + length)))]


@given(pairs)
def test_intervals_are_disjoint_and_do_not_touch(intervals: list[tuple[int, int]]) -> None:
    """Else a gap of no length would count."""
    moments, _ = made(intervals)
    assert (moments.end > moments.start).all()
    assert (moments.start[1:] > moments.end[:-1]).all()
