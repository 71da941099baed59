"""Where a step goes: small traces with answers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_writer import TraceWriter

from fleetplan.trace.report import TraceReport, trace_report

PARTS = ("compute_ms", "exposed_ms", "copy_ms", "wait_ms", "host_bound_ms", "other_idle_ms")
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def two_steps(writer: TraceWriter) -> TraceWriter:
    """Two steps of 1000 us: 400 gemm, 300 all-reduce of which 100 behind it, 50 copy, rest idle.

    Idle in each step is 350 us: 150 before the copy, which was launched 100 us into that gap, and 200
    at the end, before the next step's kernel, which was launched when it started.
    """
    for step in range(2):
        at = 1000.0 * step
        writer.step(5 + step, at, 1000.0)
        writer.kernel("sm90_xmma_gemm_bf16", at, 400, launched=at)
        writer.kernel(ALLREDUCE, at + 300, 300, stream=30, launched=at + 10)
        writer.copy("Memcpy HtoD (Pinned -> Device)", at + 750, 50, launched=at + 700)
    return writer


def report_of(tmp_path: Path, *writers: TraceWriter, suffix: str = ".json") -> TraceReport:
    files = [writer.write(tmp_path / f"file{i}{suffix}") for i, writer in enumerate(writers)]
    return trace_report(files)


def test_a_step_is_split_into_parts_that_fill_it(tmp_path: Path) -> None:
    """Compute 400, exposed 200, copy 50, host-bound 100 + 200, other 50 of 1000 us."""
    report = report_of(tmp_path, two_steps(TraceWriter()))
    first = report.steps.iloc[0]
    assert first["step"] == 5
    assert first[list(PARTS)].tolist() == pytest.approx([0.4, 0.2, 0.05, 0.0, 0.3, 0.05])
    assert first["duration_ms"] == pytest.approx(1.0)
    assert first["communication_ms"] == pytest.approx(0.3)
    assert first["hidden_ms"] == pytest.approx(0.1)


def test_the_last_step_is_not_whole_and_ends_with_its_annotation(tmp_path: Path) -> None:
    """The profiler may stop while the last step's work runs, so it never is the typical step."""
    report = report_of(tmp_path, two_steps(TraceWriter()))
    assert report.steps["whole"].tolist() == [True, False]
    assert report.typical_step == 5
    assert report.steps["duration_ms"].tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("base_us", [0.0, 4_458_676_522_690.655, 1_682_725_898_236_567.0])
def test_clocks_and_packing_change_nothing(tmp_path: Path, suffix: str, base_us: float) -> None:
    """Microseconds since start, with nanosecond decimals, or since 1970: the same answer."""
    report = report_of(tmp_path, two_steps(TraceWriter(base_us=base_us)), suffix=suffix)
    parts = report.steps.iloc[0][list(PARTS)].tolist()
    assert parts == pytest.approx([0.4, 0.2, 0.05, 0.0, 0.3, 0.05], abs=2e-6)


def test_display_unit_does_not_scale_times(tmp_path: Path) -> None:
    """``displayTimeUnit`` is for viewers: ts stays in microseconds."""
    writer = two_steps(TraceWriter())
    writer.metadata = {"displayTimeUnit": "ns", "baseTimeNanoseconds": 1_700_000_000_000_000_000}
    assert report_of(tmp_path, writer).steps["duration_ms"].iloc[0] == pytest.approx(1.0)


def test_overlapping_streams_count_once(tmp_path: Path) -> None:
    """Two compute streams, 0 to 400 and 200 to 600, are 600 us of compute, not 800."""
    writer = TraceWriter()
    writer.kernel("gemm", 0, 400, stream=7)
    writer.kernel("elementwise_kernel", 200, 400, stream=8)
    step = report_of(tmp_path, writer).steps.iloc[0]
    assert step["compute_ms"] == pytest.approx(0.6)
    assert step["duration_ms"] == pytest.approx(0.6)


def test_nested_communication_counts_once_and_by_kind(tmp_path: Path) -> None:
    """An all-gather inside an all-reduce: 500 us in all, 500 and 100 by kind."""
    writer = TraceWriter()
    writer.kernel(ALLREDUCE, 0, 500, stream=30)
    writer.kernel("ncclDevKernel_AllGather_RING_LL", 100, 100, stream=31)
    writer.kernel("gemm", 500, 100)
    report = report_of(tmp_path, writer)
    assert report.steps["communication_ms"].iloc[0] == pytest.approx(0.5)
    by_kind = report.collectives.set_index("collective")["time_ms"]
    assert by_kind.to_dict() == pytest.approx({"all-reduce": 0.5, "all-gather": 0.1})


def test_amd_kernels_and_runtime_are_understood(tmp_path: Path) -> None:
    """Tensile GEMM, RCCL kernel under hipLaunchKernel: 300 compute, 200 exposed."""
    writer = TraceWriter(family="amd")
    writer.kernel("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", 0, 300, launched=0)
    writer.kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", 300, 200, launched=10)
    report = report_of(tmp_path, writer)
    assert report.ranks["platform"].tolist() == ["amd"]
    assert report.steps[["compute_ms", "exposed_ms"]].iloc[0].tolist() == pytest.approx([0.3, 0.2])
    assert report.collectives["collective"].tolist() == ["unknown"]
    assert report.kernels["family"].tolist() == ["gemm"]


def test_mtia_queue_waits_are_no_compute(tmp_path: Path) -> None:
    """pe_exe 0 to 500; dma 500 to 550; a queue waits 400 to 800, of which 250 with nothing running."""
    writer = TraceWriter(family="mtia", device=17)
    writer.kernel("pe_exe", 0, 500, stream=101)
    writer.copy("dma_request", 500, 50, stream=102)
    writer.kernel("event_wait", 400, 400, stream=103)
    writer.kernel("event_record", 800, 0.15, stream=103)
    writer.kernel("merge", 900, 100, stream=103, launched=850)
    report = report_of(tmp_path, writer)
    step = report.steps.iloc[0]
    assert report.ranks["platform"].tolist() == ["mtia"]
    assert step[list(PARTS)].tolist() == pytest.approx([0.6, 0.0, 0.05, 0.25, 0.05, 0.05])
    peer = report.peer.iloc[0]
    # the peer counts the wait as compute: 0-500, 400-800.15 and 900-1000 are 900.15 of 1000 us
    assert peer["compute_pct"] == pytest.approx(90.015)
    assert peer["idle_pct"] == pytest.approx(9.985)


def test_a_trace_without_steps_is_one_window_and_says_so(tmp_path: Path) -> None:
    """Three kernels with no rhythm and no annotations."""
    writer = TraceWriter()
    for i, name in enumerate(("gemm_a", "add", "gemm_b")):
        writer.kernel(name, 100 * i, 50)
    report = report_of(tmp_path, writer)
    assert report.ranks["steps_from"].tolist() == ["none"]
    assert report.ranks["steps"].tolist() == [0]
    assert report.steps["duration_ms"].tolist() == pytest.approx([0.25])
    assert any("no steps" in note for note in report.notes)


def test_steps_are_inferred_from_the_rhythm_of_kernels(tmp_path: Path) -> None:
    """Six repetitions of five kernels in 1000 us each; the last has no successor."""
    writer = TraceWriter()
    for step in range(6):
        for i, name in enumerate(("gemm", "add", "add", "norm", "gemm")):
            writer.kernel(name, 1000 * step + 100 * i, 80)
    report = report_of(tmp_path, writer)
    assert report.ranks["steps_from"].tolist() == ["repetition"]
    assert report.steps["whole"].tolist() == [True] * 5 + [False]
    assert report.steps["duration_ms"].iloc[:5].tolist() == pytest.approx([1.0] * 5)
    assert report.steps["compute_ms"].iloc[:5].tolist() == pytest.approx([0.4] * 5)


def test_missing_metadata_takes_the_rank_from_the_file_name(tmp_path: Path) -> None:
    """No distributedInfo: rank 3 by name, world size unknown, and a note."""
    writer = TraceWriter(world_size=None)
    writer.kernel("gemm", 0, 100)
    report = trace_report([writer.write(tmp_path / "job_rank3.json")])
    assert report.ranks[["rank", "world_size"]].iloc[0].tolist() == [3, 0]
    assert any("file's name" in note for note in report.notes)


def test_several_devices_in_one_file_are_ranks_of_their_own(tmp_path: Path) -> None:
    """Work of device 0 does not fill the idle time of device 1."""
    writer = TraceWriter(world_size=None)
    writer.kernel("gemm", 0, 100)
    writer.device = 1
    writer.kernel("gemm", 0, 40)
    writer.kernel("gemm", 90, 10)
    report = report_of(tmp_path, writer)
    assert report.steps["compute_ms"].tolist() == pytest.approx([0.1, 0.05])


def test_a_thinned_trace_is_told(tmp_path: Path) -> None:
    """The profiler numbered 1000 operators, the file holds 2."""
    writer = TraceWriter()
    writer.kernel("gemm", 0, 100)
    writer.operator("aten::mm", 0, 10, **{"Ev Idx": 0})
    writer.operator("aten::mm", 20, 10, **{"Ev Idx": 999})
    report = report_of(tmp_path, writer)
    assert report.ranks["kept_share"].iloc[0] == pytest.approx(0.002)
    assert any("thinned" in note for note in report.notes)


def test_the_gap_names_what_the_host_was_doing(tmp_path: Path) -> None:
    """A gap of 600 us, while the host prepares data and launches late."""
    writer = TraceWriter()
    writer.annotation("## data_load ##", 150, 500)
    writer.kernel("gemm", 0, 100, launched=0)
    writer.kernel("gemm", 700, 100, launched=660)
    gap = report_of(tmp_path, writer).gaps.iloc[0]
    assert gap[["start_ms", "length_ms", "host_bound_ms"]].tolist() == pytest.approx([0.1, 0.6, 0.56])
    assert gap["host"] == "## data_load ##"


def test_peer_shares_leave_out_the_last_step(tmp_path: Path) -> None:
    """By the peer's rule only step 5 counts: 0 to 800 us, busy 0-600 and 750-800."""
    peer = report_of(tmp_path, two_steps(TraceWriter())).peer.iloc[0]
    assert peer["idle_pct"] == pytest.approx(100 * 150 / 800)
    assert peer["compute_pct"] == pytest.approx(50.0)
    assert peer["other_pct"] == pytest.approx(100 * 250 / 800)
    assert peer["hidden_pct"] == pytest.approx(100 / 3)


def test_terminal_lines_mark_the_gap(tmp_path: Path) -> None:
    """40 % compute: the gap row is marked from 40 to 100 of 100 cells."""
    lines = report_of(tmp_path, two_steps(TraceWriter())).lines(126)
    gap = next(line for line in lines if line.startswith("  gap"))
    cells = gap.split("|")[1]
    assert cells == " " * 40 + "^" * 60
    assert any("exposed communication" in line and "20.0 %" in line for line in lines)
