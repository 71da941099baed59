import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.errors import InputError
from fleetplan.inputs.catalog import load_accelerator
from fleetplan.performance.collectives import (
    collective_time,
    in_switch_allreduce,
    ring_allreduce,
    tree_allreduce,
)
from fleetplan.performance.constants import context_of, load_constants
from fleetplan.performance.measured import MeasuredCollectives, load_measured_collectives
from fleetplan.performance.rates import Rates

NAMES = ("a100", "h100", "b200", "gb200", "mtia-300", "mi300x")
KINDS = ("alltoall", "allreduce", "allgather", "reducescatter")
sizes = st.floats(1.0, 1e11)
ranks = st.integers(2, 4096)


def rates(name, **changes):
    device = load_accelerator(name).model_copy(update=changes)
    return Rates(device, load_constants(), context_of(device))


@given(st.sampled_from(NAMES), st.sampled_from(KINDS), sizes, ranks, st.floats(1.0, 8.0))
def test_no_collective_gets_slower_as_links_get_faster(name, kind, size, count, factor):
    base = load_accelerator(name)
    before = collective_time(kind, rates(name), size, count).seconds
    for field in ("scaleup_gb_per_s", "scaleout_gb_per_s"):
        after = collective_time(
            kind, rates(name, **{field: getattr(base, field) * factor}), size, count
        ).seconds
        assert float(after) <= float(before) * (1 + 1e-12)


@given(st.sampled_from(NAMES), st.sampled_from(KINDS), sizes, ranks)
def test_time_grows_with_bytes(name, kind, size, count):
    small = float(collective_time(kind, rates(name), size, count).seconds)
    assert float(collective_time(kind, rates(name), 2 * size, count).seconds) >= small > 0


@pytest.mark.parametrize("kind", KINDS)
def test_one_rank_and_no_bytes_take_no_time(kind):
    made = collective_time(kind, rates("h100"), np.array([1e6, 0.0]), np.array([1.0, 8.0]))
    assert made.seconds.tolist() == [0.0, 0.0]


def test_alltoall_across_nodes_is_bound_by_the_nic():
    # 32 ranks in 4 nodes: 24 of 31 peers are off the node; 1 GB a rank over 50 GB/s at the stated share
    device = rates("h100")
    seconds = float(collective_time("alltoall", device, 1e9, 32).seconds)
    wire = 1e9 * 24 / 32 / (50e9 * device["alltoall_scaleout_share"])
    assert seconds == pytest.approx(wire, rel=0.01)


def test_one_domain_carries_what_would_cross_nics_elsewhere():
    wide, narrow = (float(collective_time("alltoall", rates(n), 1e9, 64).seconds) for n in ("gb200", "b200"))
    assert wide < narrow / 5


def test_switch_reduces_only_from_five_ranks_and_only_where_there_is_a_switch():
    size, count = np.array([1e9, 1e9]), np.array([4.0, 8.0])
    times = in_switch_allreduce(rates("h200"), size, count)
    assert np.isinf(times[0])
    assert times[1] < ring_allreduce(rates("h200"), size, count)[1]
    assert np.isinf(in_switch_allreduce(rates("a100"), size, count)).all()


def test_tree_beats_ring_of_nics_for_small_messages_only_in_latency():
    small, large = np.array([1e3]), np.array([1e9])
    device = rates("h100")
    assert tree_allreduce(device, small, np.array([64.0]))[0] < 1e-3
    assert tree_allreduce(device, large, np.array([64.0]))[0] > 2 * 1e9 / 50e9


def test_measured_table_overrides_the_law_and_says_so():
    table = MeasuredCollectives.of([("h100", "allreduce", 8, 1e6, 0.5), ("h100", "allreduce", 8, 1e8, 5.0)])
    made = collective_time("allreduce", rates("h100"), np.array([1e6, 1e7, 1e9]), 8, tables=table)
    law = collective_time("allreduce", rates("h100"), np.array([1e9]), 8)
    assert made.seconds[0] == pytest.approx(5e-4)
    # halfway in log size is halfway in log time
    assert made.seconds[1] == pytest.approx(np.sqrt(5e-4 * 5e-3))
    assert made.seconds[2] == pytest.approx(float(law.seconds[0]))
    assert "measured table (2 of 3)" in made.law
    assert "law" in law.law


def test_measured_table_file_reports_every_fault_with_its_line(tmp_path):
    file = tmp_path / "collectives.csv"
    file.write_text(
        "accelerator,collective,ranks,bytes,ms\nh100,allreduce,8,1e6,\nh100,gossip,8,1,1\nh100,alltoall,8,-1,1\n"
    )
    with pytest.raises(InputError) as caught:
        load_measured_collectives(file)
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]


def test_message_engine_and_compute_units_are_named_apart():
    assert "message engine" in collective_time("alltoall", rates("mtia-300"), 1e6, 16).law
    assert "compute units" in collective_time("alltoall", rates("h100"), 1e6, 16).law
