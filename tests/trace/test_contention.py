"""Rates side by side, from events that ran alone and beside each other."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_writer import TraceWriter

from fleetplan.trace.contention import regress
from fleetplan.trace.report import trace_report

ALLREDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def test_a_kernel_that_takes_longer_beside_a_collective_tells_the_rate(tmp_path: Path) -> None:
    """100 us alone; 125 us wholly beside an all-reduce: rate 0.8. Half beside: 50 + 62.5."""
    writer = TraceWriter()
    for at in range(0, 600, 100):
        writer.kernel("gemm", at, 100)
    for at in range(1000, 1500, 125):
        writer.kernel("gemm", at, 125)
    writer.kernel("gemm", 1500, 112.5)
    writer.kernel(ALLREDUCE, 1000, 562.5, stream=30)
    table = trace_report([writer.write(tmp_path / "t.json")]).contention
    row = table[table["side"] == "compute"].iloc[0]
    assert row["collective"] == "all-reduce"
    assert row["rate"] == pytest.approx(0.8, abs=1e-6)
    assert row["standard_error"] < 1e-6
    assert row["events"] == 11


def test_kernels_that_never_run_both_ways_tell_nothing(tmp_path: Path) -> None:
    """All alone, or all beside: no rate."""
    writer = TraceWriter()
    for at in range(0, 600, 100):
        writer.kernel("gemm_a", at, 100)
        writer.kernel("gemm_b", 1000 + at, 100)
    writer.kernel(ALLREDUCE, 1000, 600, stream=30)
    table = trace_report([writer.write(tmp_path / "t.json")]).contention
    assert table["events"].tolist() == [0, 0]
    assert table["rate"].isna().all()


@given(st.floats(0.3, 1.0), st.floats(0.3, 1.0), st.integers(0, 1000))
def test_two_collectives_are_told_apart(first: float, second: float, seed: int) -> None:
    """Isolated = alone + k1 x beside1 + k2 x beside2, exactly, in groups of unlike size."""
    random = np.random.default_rng(seed)
    keys = np.repeat(np.arange(3), 12)
    isolated = np.array([50.0, 400.0, 3000.0])[keys]
    beside = random.random((36, 2)) * isolated[:, None] * 0.45
    alone = isolated - beside @ np.array([first, second])
    rates = regress(keys, alone, beside)
    assert [rate for rate, _, _ in rates] == pytest.approx([first, second], abs=1e-6)


def test_scattered_kernels_are_left_out() -> None:
    """One name for kernels of very different shape is no evidence."""
    random = np.random.default_rng(1)
    total = 10 ** random.uniform(0, 3, 40)
    beside = np.where(np.arange(40) % 2 == 0, total, 0.0)[:, None]
    rate, _, events = regress(np.zeros(40, dtype=np.int64), total - beside[:, 0], beside)[0]
    assert math.isnan(rate)
    assert events == 0
