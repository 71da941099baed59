import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.performance.goodput import best_interval_days, effective_share
from fleetplan.performance.stragglers import (
    expected_maximum,
    jitter_factor,
    length_factor,
    zipf_length_moments,
)

MINUTE = 1 / 1440


# arXiv:2410.21680 rates with one minute to write and ten to restart
@pytest.mark.parametrize(("nodes", "share"), [(64, 0.973), (512, 0.912)])
def test_goodput_of_research_cluster_sizes(nodes, share):
    assert float(effective_share(nodes, 6.5e-3, 10 * MINUTE, MINUTE)) == pytest.approx(share, abs=2e-3)


@given(st.integers(1, 20000), st.floats(1e-4, 2e-2))
def test_goodput_is_a_share_and_falls_with_nodes(nodes, rate):
    one, more = (float(effective_share(n, rate, 10 * MINUTE, MINUTE)) for n in (nodes, nodes + 100))
    assert 0 <= more <= one <= 1


def test_checkpoint_interval_is_the_least_lossy():
    best = float(best_interval_days(128, 6.5e-3, MINUTE))
    loss = lambda dt: MINUTE / dt + 128 * 6.5e-3 * dt / 2  # noqa: E731
    assert loss(best) <= min(loss(best * 0.9), loss(best * 1.1))


@pytest.mark.parametrize(("devices", "z"), [(8, 1.5), (40, 2.2), (64, 2.4), (128, 2.6), (1024, 3.3)])
def test_slowest_of_many_matches_extreme_value_figures(devices, z):
    assert float(expected_maximum(devices)) == pytest.approx(z, abs=0.1)


def test_slowest_of_many_matches_draws():
    draws = np.random.default_rng(1).standard_normal((4000, 64)).max(axis=1).mean()
    assert float(expected_maximum(64)) == pytest.approx(draws, rel=0.03)


def test_one_device_has_no_straggler():
    assert float(jitter_factor(1, 0.02)) == 1.0


@given(st.integers(1, 5000), st.floats(0, 0.1))
def test_jitter_grows_with_devices(devices, variation):
    assert (
        1 <= float(jitter_factor(devices, variation)) <= float(jitter_factor(devices + 10, variation)) + 1e-12
    )


def test_more_sequences_per_device_even_out():
    few, many = length_factor(16, 1.5, np.array([8.0, 512.0]))
    assert many < few


def test_zipf_lengths_match_numpy_draws_clipped_at_the_longest():
    draws = np.minimum(np.random.default_rng(0).zipf(1.5, 400_000), 4096).astype(float)
    mean, ratio, _ = zipf_length_moments(1.5, 4096)
    assert mean == pytest.approx(draws.mean(), rel=0.05)
    assert ratio == pytest.approx((draws**2).mean() / draws.mean() ** 2, rel=0.1)
