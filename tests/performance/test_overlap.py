import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.performance.overlap import best_chunks, chunked, hidden_share, overlapped

times = st.floats(1e-6, 1e3)
shares = st.floats(0.05, 1.0)


def test_contention_of_meta_h100_alltoall_matches_its_closed_form():
    # Fig 16 of the MTIA 300 paper: compute keeps 81.5 %, the collective 71.5 %
    assert float(overlapped(10.0, 4.0, 0.815, 0.715)) == pytest.approx(10 + 0.185 / 0.715 * 4)
    assert hidden_share(0.815, 0.715) == pytest.approx(0.741, abs=1e-3)


def test_two_pieces_that_slow_each_other_finish_when_simulated_in_small_steps():
    a, m, kc, km, dt = 3.0, 5.0, 0.8, 0.6, 1e-4
    left, wire, clock = a, m, 0.0
    while left > 0 or wire > 0:
        both = left > 0 and wire > 0
        left -= dt * (kc if both else 1.0) * (left > 0)
        wire -= dt * (km if both else 1.0) * (wire > 0)
        clock += dt
    assert float(overlapped(a, m, kc, km)) == pytest.approx(clock, rel=1e-3)


@given(times, times, shares, shares)
def test_overlap_is_never_worse_than_serial_nor_better_than_the_longer(a, m, kc, km):
    both = float(overlapped(a, m, kc, km))
    assert max(a, m) - 1e-9 <= both <= (a + m) * (1 + 1e-12)


@given(times, times, shares, shares, st.floats(1.0, 3.0))
def test_overlap_never_falls_as_work_grows(a, m, kc, km, factor):
    base = float(overlapped(a, m, kc, km))
    assert float(overlapped(a * factor, m, kc, km)) >= base * (1 - 1e-12)
    assert float(overlapped(a, m * factor, kc, km)) >= base * (1 - 1e-12)


@given(times, times)
def test_without_contention_only_the_longer_counts(a, m):
    assert float(overlapped(a, m, 1.0, 1.0)) == pytest.approx(max(a, m))


@given(times, times, shares, shares, st.floats(0, 1))
def test_one_chunk_is_serial(a, m, kc, km, alpha):
    assert float(chunked(a, m, kc, km, 1, alpha)) == pytest.approx(a + m)


@given(times, times, shares, shares)
def test_many_free_chunks_are_full_overlap(a, m, kc, km):
    assert float(chunked(a, m, kc, km, 1e9, 0.0)) == pytest.approx(float(overlapped(a, m, kc, km)), rel=1e-6)


@given(times, times, shares, shares, st.floats(1e-4, 10))
def test_best_number_of_chunks_beats_its_neighbours(a, m, kc, km, alpha):
    best = float(best_chunks(a, m, kc, km, alpha))
    at = float(chunked(a, m, kc, km, best, alpha))
    for other in (1, max(1, best - 1), min(64, best + 1)):
        assert at <= float(chunked(a, m, kc, km, other, alpha)) * (1 + 1e-9)


def test_chunks_work_on_arrays():
    found = best_chunks(np.array([10.0, 1.0]), np.array([10.0, 1e-6]), 1.0, 1.0, 0.1)
    assert found.tolist() == [10.0, 1.0]
