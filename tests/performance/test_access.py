"""Distinct rows: against the exact sum, a measured count, and what must hold for any law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.inputs.architecture import TableGroup
from fleetplan.inputs.catalog import load_model
from fleetplan.performance.access import distinct_rows, unique_rows
from fleetplan.performance.counts import EmbeddingCount, count


def exact(rows: int, alpha: float, draws: float) -> float:
    """Sum over every rank."""
    share = np.arange(1, rows + 1, dtype=np.float64) ** -alpha
    share /= share.sum()
    return float((1 - (1 - share) ** draws).sum())


@pytest.mark.parametrize(
    ("rows", "alpha", "draws"),
    [(100, 1.0, 50), (300_000, 1.05, 20_000), (1_000_000, 0.8, 3_000_000), (500_000, 1.3, 10_000)],
)
def test_zipf_law_matches_the_exact_sum(rows: int, alpha: float, draws: float) -> None:
    got = distinct_rows(rows, alpha, np.array([draws]))[0]
    assert got == pytest.approx(exact(rows, alpha, draws), rel=1e-4)


def test_measured_distinct_rows_of_a_power_law_batch() -> None:
    """350,280 distinct of 1,048,570 lookups in 10 tables of 1,677,721 rows, exponent 1.05.

    Source: https://github.com/NVIDIA/recsys-examples (embedding benchmark on H100).
    """
    got = 10 * distinct_rows(1_677_721, 1.05, np.array([104_857.0]))[0]
    assert got == pytest.approx(350_280, rel=0.05)


def test_forty_million_rows_in_many_sizes_at_once() -> None:
    draws = np.geomspace(1, 1e9, 60).reshape(6, 10)
    got = distinct_rows(40_000_000, 1.05, draws)
    assert got.shape == (6, 10)
    assert got.ravel()[0] == pytest.approx(1.0, rel=1e-3)
    assert (np.diff(got.ravel()) > 0).all()
    assert got.max() <= 40_000_000


@settings(deadline=None)
@given(st.integers(1, 10_000_000), st.floats(0, 2), st.floats(1, 1e9))
def test_distinct_rows_are_no_more_than_rows_or_lookups(rows: int, alpha: float, draws: float) -> None:
    got = float(distinct_rows(rows, alpha, np.array(draws)))
    assert 0 < got <= min(rows, draws) * (1 + 1e-6)


@settings(deadline=None)
@given(st.integers(2, 1_000_000), st.floats(0, 1.5), st.floats(2, 1e7))
def test_skew_never_adds_distinct_rows(rows: int, alpha: float, draws: float) -> None:
    even, skewed, more = (float(distinct_rows(rows, a, np.array(draws))) for a in (0.0, alpha, alpha + 0.3))
    assert skewed <= even * (1 + 1e-6)
    assert more <= skewed * (1 + 1e-6)


def group(**changes: object) -> EmbeddingCount:
    model = load_model("retrieval-two-tower")
    table = TableGroup.model_validate(
        {"name": "t", "tables": 4, "rows": 1000, "dim": 8, "pooling": 2} | changes
    )
    return count(model.model_copy(update={"tables": (table,)})).embeddings[0]


def test_stated_ratio_is_taken_until_uniform_access_could_not_reach_it() -> None:
    lookups = np.array([40.0, 400.0, 4e6])
    got = unique_rows(group(unique_ratio=0.5), lookups)
    assert got[:2] == pytest.approx([20.0, 200.0])
    assert got[2] == pytest.approx(4000.0)


def test_groups_are_uniform_without_a_law_and_follow_it_with_one() -> None:
    lookups = np.array([4000.0])
    assert unique_rows(group(), lookups)[0] == pytest.approx(4 * 1000 * (1 - 0.999**1000))
    assert unique_rows(group(zipf_alpha=1.0), lookups)[0] == pytest.approx(4 * exact(1000, 1.0, 1000))
