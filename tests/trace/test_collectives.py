"""Collectives: which one, how many bytes, which group, and what a rank waits for the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_writer import TraceWriter, nccl_arguments

from fleetplan.trace.report import TraceReport, trace_report

GENERIC = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"


def report_of(tmp_path: Path, *writers: TraceWriter) -> TraceReport:
    return trace_report([writer.write(tmp_path / f"{i}.json") for i, writer in enumerate(writers)])


@pytest.mark.parametrize(
    ("collective", "elements", "group", "kind", "size", "crossing"),
    [
        ("allreduce", (1_000_000, 1_000_000), 8, "all-reduce", 4e6, 2 * 7 / 8 * 4e6),
        ("_allgather_base", (1_000_000, 8_000_000), 8, "all-gather", 32e6, 28e6),
        ("_reduce_scatter_base", (8_000_000, 1_000_000), 8, "reduce-scatter", 32e6, 28e6),
        ("all_to_allv", (2_000_000, 1_900_000), 8, "all-to-all", 8e6, 7e6),
    ],
)
def test_nccl_arguments_give_bytes_group_and_link_rate(
    tmp_path: Path,
    collective: str,
    elements: tuple[int, int],
    group: int,
    kind: str,
    size: float,
    crossing: float,
) -> None:
    """Float is 4 bytes; 100 us each; the rate is what crosses one link (nccl-tests, PERFORMANCE.md)."""
    writer = TraceWriter(world_size=64)
    writer.kernel(GENERIC, 0, 100, **nccl_arguments(collective, elements, "Float", group))
    call = report_of(tmp_path, writer).calls.iloc[0]
    assert (call["collective"], call["evidence"]) == (kind, "arguments")
    assert (call["bytes"], call["group_size"]) == (size, group)
    assert call["link_gb_per_s"] == pytest.approx(crossing / 100e-6 / 1e9)


def test_the_annotation_around_the_launch_tells_what_the_kernel_name_hides(tmp_path: Path) -> None:
    """Old traces name every collective SendRecv: the nccl annotation says all-reduce of 2 M floats."""
    writer = TraceWriter(world_size=128)
    writer.operator("c10d::allreduce_", 0, 100)
    writer.annotation("nccl:all_reduce", 10, 50, **{"Input Dims": [[2_000_000]], "Input type": ["float"]})
    writer.kernel(GENERIC, 40, 100, launched=20)
    writer.kernel(GENERIC, 400, 100, launched=300)
    calls = report_of(tmp_path, writer).calls
    assert calls["collective"].tolist() == ["all-reduce", "send-receive"]
    assert calls["evidence"].tolist() == ["annotation", "kernel name"]
    assert calls["bytes"].iloc[0] == 8e6
    assert calls["group_from"].iloc[0] == "world"


def test_the_group_of_an_all_gather_follows_from_its_sizes(tmp_path: Path) -> None:
    """Output 64 times the input: 64 ranks of the 128, and the gathered buffer is 64 MB."""
    writer = TraceWriter(world_size=128)
    shapes = {"Input Dims": [[64_000_000], [1_000_000], []], "Input type": ["signed char", "signed char", ""]}
    writer.operator("c10d::_allgather_base_", 0, 100, **shapes)
    inner = {"Input Dims": [[1_000_000]], "Input type": ["signed char"]}
    writer.annotation("nccl:_all_gather_base", 10, 50, **inner)
    writer.kernel(GENERIC, 40, 1000, launched=20)
    call = report_of(tmp_path, writer).calls.iloc[0]
    assert (call["collective"], call["bytes"], call["group_size"], call["group_from"]) == (
        "all-gather",
        64e6,
        64,
        "sizes",
    )
    assert call["link_gb_per_s"] == pytest.approx(64e6 * 63 / 64 / 1e-3 / 1e9)


def test_annotations_of_another_thread_do_not_count(tmp_path: Path) -> None:
    """The all-reduce annotation is on thread 5, the launch on thread 6."""
    writer = TraceWriter()
    writer.annotation("nccl:all_reduce", 0, 100, thread=5)
    writer.kernel(GENERIC, 40, 100, launched=20, thread=6)
    assert report_of(tmp_path, writer).calls["evidence"].tolist() == ["kernel name"]


def rank(number: int, compute: float, duration: float, *, elements: int = 1_000_000) -> TraceWriter:
    """Compute, then an all-reduce that ends at 1000 us on every rank."""
    writer = TraceWriter(rank=number, base_us=1e6 * (number + 1))
    writer.step(1, 0, 1000)
    writer.step(2, 1000, 1000)
    writer.kernel("gemm", 0, compute, launched=0)
    arguments = nccl_arguments("allreduce", (elements, elements), "Float", 2)
    writer.kernel(GENERIC, 1000 - duration, duration, stream=30, launched=1, **arguments)
    writer.kernel("gemm", 1000, 100, launched=1000)
    return writer


def test_waiting_is_what_a_rank_takes_longer_than_the_last_to_come(tmp_path: Path) -> None:
    """Rank 1 computes 800 us and reduces in 200; rank 0 waits 300 us for it. Clocks differ by 1 s."""
    report = report_of(tmp_path, rank(0, 500, 500), rank(1, 800, 200))
    calls = report.calls
    assert calls["transfer_ms"].tolist() == pytest.approx([0.2, 0.2])
    assert calls["ranks_seen"].tolist() == [2, 2]
    assert report.collectives["waiting_ms"].tolist() == pytest.approx([0.3, 0.0])
    spread = report.stragglers.iloc[0]
    assert spread["slowest_rank"] == 1
    assert spread["compute_spread"] == pytest.approx(800 / 650)
    assert spread["waiting_mean_ms"] == pytest.approx(0.15)


def test_calls_of_different_size_are_not_taken_for_the_same(tmp_path: Path) -> None:
    """Buffers of an all-reduce are equal on all ranks; these are not."""
    report = report_of(tmp_path, rank(0, 500, 500), rank(1, 800, 200, elements=5))
    assert report.calls["ranks_seen"].tolist() == [1, 1]
    assert any("could not be matched" in note for note in report.notes)
