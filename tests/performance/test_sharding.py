"""Placement: what is conserved, what bounds it, and the published imbalance ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.inputs.architecture import Model, TableGroup
from fleetplan.inputs.catalog import load_model
from fleetplan.performance.counts import Counts, count
from fleetplan.performance.sharding import Scheme, holders, imbalance, place, sparse_volumes

SCHEMES: tuple[Scheme, ...] = ("table-wise", "column-wise", "row-wise", "table-row-wise", "auto")


def counts_of(*tables: TableGroup) -> Counts:
    base: Model = load_model("retrieval-two-tower")
    return count(base.model_copy(update={"tables": tables}))


def table(name: str, rows: int, pooling: float = 1, dim: int = 128, **more: bool) -> TableGroup:
    return TableGroup(name=name, rows=rows, pooling=pooling, dim=dim, **more)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 100)), min_size=1, max_size=40),
    st.sampled_from(SCHEMES),
    st.sampled_from([1, 2, 8, 24, 64]),
)
def test_no_byte_is_lost_or_made_by_any_scheme(
    shapes: list[tuple[int, int]], scheme: Scheme, ranks: int
) -> None:
    counts = counts_of(*(table(f"t{i}", rows, pool) for i, (rows, pool) in enumerate(shapes)))
    placed = place(counts, ranks, scheme)
    total = sum(g.weight_bytes + g.state_bytes for g in counts.embeddings)
    assert placed.ranks == ranks
    assert placed.memory_bytes.sum() == pytest.approx(total)
    assert placed.wire_bytes_per_sample.sum() >= counts.alltoall_forward_bytes_per_sample * (1 - 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 50)), min_size=1, max_size=60),
    st.sampled_from([2, 5, 16]),
)
def test_greedy_placement_stays_within_three_times_the_bound(
    shapes: list[tuple[int, int]], ranks: int
) -> None:
    """Greedy on two loads is at most 2 + 1 times the best, which is at least mean and largest item."""
    counts = counts_of(*(table(f"t{i}", rows, pool) for i, (rows, pool) in enumerate(shapes)))
    placed, single = place(counts, ranks, "table-wise"), place(counts, len(shapes), "table-wise")
    for load, alone in (
        (placed.memory_bytes, single.memory_bytes),
        (placed.work_bytes_per_sample, single.work_bytes_per_sample),
    ):
        assert load.max() <= load.mean() * 3 + alone.max()


def test_one_hot_table_makes_table_wise_slow_and_cutting_it_repairs_that() -> None:
    tables = (table("hot", 1000, 100), *(table(f"t{i}", 1000, 10) for i in range(14)))
    counts = counts_of(*tables)
    whole, cut = (place(counts, 8, scheme).work_imbalance for scheme in ("table-wise", "auto"))
    # 240 lookups over 8 ranks are 30 each; the hot table alone has 100
    assert whole == pytest.approx(100 / 30, rel=0.05)
    assert cut < 1.4


def test_column_shards_halve_a_table_of_128_columns_and_read_the_indices_twice() -> None:
    counts = counts_of(table("one", 1000, 10))
    placed = place(counts, 2, "column-wise")
    whole = place(counts, 1, "table-wise")
    assert placed.memory_imbalance == 1
    assert placed.work_bytes_per_sample.sum() == pytest.approx(whole.work_bytes_per_sample.sum() + 10 * 8)


def test_row_wise_is_even_and_sends_partial_sums() -> None:
    counts = counts_of(table("a", 10**6, 20), table("b", 10, 1))
    placed = place(counts, 16, "row-wise")
    assert placed.memory_imbalance == placed.work_imbalance == pytest.approx(1)
    volumes = sparse_volumes(counts, np.array([16.0]), np.array([100.0]), "row-wise")
    # of 16 ranks, 20 lookups meet 11.6 and one lookup meets one
    sums = 16 * (1 - (15 / 16) ** 20) + 1
    assert volumes.forward[0] == pytest.approx(100 * 128 * 2 * sums)


def test_row_wise_partial_sums_of_the_12_t_model_are_those_of_its_paper() -> None:
    """About 335 MB per device and step: 20 lookups of 64 tables, hardly two of them on one of 128 ranks.

    Source: https://arxiv.org/abs/2104.05158, model F.
    """
    model = load_model("zionex-f")
    volumes = sparse_volumes(count(model), np.array([128.0]), np.array([512.0]))
    assert volumes.forward[0] == pytest.approx(335e6, rel=0.10)


@pytest.mark.parametrize(("pooling", "ranks"), [(1, 8), (20, 1), (20, 128), (100, 8)])
def test_holders_lie_between_one_and_lookups_or_ranks(pooling: float, ranks: int) -> None:
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, ranks, size=(4000, pooling))
    met = np.mean([len(set(sample)) for sample in drawn])
    assert holders(pooling, np.array([float(ranks)]))[0] == pytest.approx(met, rel=0.02)


def test_table_row_wise_keeps_a_table_inside_one_domain() -> None:
    counts = counts_of(table("a", 10**6), table("b", 10**6))
    memory = place(counts, 16, "table-row-wise", domain=8).memory_bytes
    assert memory == pytest.approx(np.full(16, memory.mean()))
    alone = place(counts_of(table("a", 10**6)), 16, "table-row-wise", domain=8).memory_bytes
    assert (alone[:8] > 0).all()
    assert (alone[8:] == 0).all()
    many = counts_of(table("a", 10**6, 20))
    volumes = sparse_volumes(many, np.array([16.0]), np.array([1.0]), "table-row-wise", domain=8)
    sums = 8 * (1 - (7 / 8) ** 20)
    assert volumes.forward[0] == pytest.approx(128 * 2 * sums)
    assert volumes.forward[0] - volumes.inside_domain[0] == pytest.approx(128 * 2)


def test_two_dimensional_sparse_divides_the_group_and_adds_a_weight_exchange() -> None:
    counts = count(load_model("mtia300-dlrm-150b"))
    flat = sparse_volumes(counts, np.array([64.0]), np.array([1024.0]))
    two_d = sparse_volumes(counts, np.array([64.0]), np.array([1024.0]), replicas=4)
    assert (flat.ranks[0], two_d.ranks[0]) == (64, 16)
    assert flat.replica_sync[0] == 0
    # 148.5 B parameters in FP16 over 16 ranks
    assert two_d.replica_sync[0] == pytest.approx(148.48e9 * 2 / 16, rel=0.01)
    assert two_d.forward[0] == flat.forward[0]


def test_tables_marked_row_wise_are_cut_in_every_scheme_and_replicated_ones_in_none() -> None:
    counts = counts_of(table("wide", 10**6, row_wise=True), table("copy", 10, data_parallel=True))
    for scheme in SCHEMES:
        assert place(counts, 8, scheme).memory_imbalance == pytest.approx(1)
        total = place(counts, 8, scheme).memory_bytes.sum()
        wide = counts.embeddings[0]
        assert total == pytest.approx(wide.weight_bytes + wide.state_bytes)


def test_imbalance_comes_in_the_shape_of_the_devices() -> None:
    counts = count(load_model("mtia300-dlrm-150b"))
    devices = np.array([[8, 40], [64, 40]])
    got = imbalance(counts, devices)
    assert got.shape == devices.shape
    assert got[0, 1] == got[1, 1] == pytest.approx(1.0)  # 1,400 equal tables on 40 ranks: 35 each
    assert got[1, 0] == pytest.approx(22 / (1400 / 64))  # on 64 ranks some hold 22
