"""From trace to model: the constants of a job that follows the step model come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from step_writer import JobWriter, PhaseWork, Wire
from trace_writer import TraceWriter, nccl_arguments

from fleetplan.errors import UsageError
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.architecture import Mlp, Model, Optimizers, Precisions, TableGroup
from fleetplan.performance.collectives import collective_time
from fleetplan.performance.constants import load_constants
from fleetplan.performance.evaluate import Evaluation, Settings, evaluate
from fleetplan.trace.fit import TraceFit, fit_trace
from fleetplan.trace.report import trace_report

DEVICES, BATCH = 8, 16384
TRUTH = {
    "gemm_workload_share": 0.62,
    "embedding_forward_share": 0.41,
    "embedding_backward_share": 0.36,
    "elementwise_maturity": 1.35,
    "alltoall_scaleup_share": 0.55,
    "overlap_compute_alltoall": 0.86,
    "overlap_comm_alltoall": 0.78,
    "step_floor_ms": 1.9,
}
FREE = 0.6


@pytest.fixture(scope="module")
def model() -> Model:
    """A small DLRM with enough of everything to be seen."""
    return Model(
        name="toy",
        title="toy",
        family="dlrm",
        tables=(TableGroup(name="t", tables=64, rows=1_000_000, dim=128, pooling=20, unique_ratio=0.5),),
        dense=(
            Mlp(name="bottom", stage="bottom", widths=(512, 2048, 1024)),
            Mlp(name="top", stage="top", widths=(8192, 4096, 2048, 1), elementwise_passes=4),
        ),
        optimizers=Optimizers(dense="adam", sparse="rowwise_adagrad"),
        precisions=Precisions(embedding="fp16", communication="fp16", compute="bf16", gradient="fp32"),
        reference_devices=DEVICES,
        local_batch=BATCH,
    )


@pytest.fixture(scope="module")
def gpu() -> Accelerator:
    """A made-up GPU with eight in a domain and no in-switch reduction."""
    return Accelerator(
        name="h100",
        title="toy",
        vendor="NVIDIA",
        peak_bf16_tflops=989,
        peak_fp32_tflops=67,
        hbm_gb=80,
        hbm_tb_per_s=3.35,
        scaleup_domain_devices=8,
        scaleup_gb_per_s=450,
        scaleout_gb_per_s=50,
        tdp_w=700,
        devices_per_node=8,
    )


def true_settings(model: Model, gpu: Accelerator) -> Settings:
    base = Settings(constants=load_constants())
    context = base.rates(model, gpu).context
    constants = load_constants()
    return replace(
        base, constants=constants.with_values({constants.get(n, context).key: v for n, v in TRUTH.items()})
    )


def phases(made: Evaluation) -> list[PhaseWork]:
    """The model's coarse schedule as work: isolated microseconds of each part."""
    p, rates, counts = made.parts, made.rates, made.counts
    us = {
        name: float(getattr(p, name)[0]) * 1e6
        for name in ("lookup", "sparse_update", "optimizer", "gemm", "elementwise")
    }
    dense = us["gemm"] + us["elementwise"]

    def split(name: str) -> dict[str, float]:
        whole = float(getattr(p, name)[0]) * 1e6 / dense
        return {"gemm": whole * us["gemm"], "elementwise": whole * us["elementwise"]}

    def exchange(name: str, per_sample: float) -> Wire:
        kc, km = TRUTH["overlap_compute_alltoall"], TRUTH["overlap_comm_alltoall"]
        return Wire("all_to_all", float(getattr(p, name)[0]) * 1e6, per_sample * BATCH, kc, km, stays=True)

    reduce = Wire(
        "allreduce",
        float(p.allreduce[0]) * 1e6,
        counts.dense_allreduce_bytes_per_step,
        float(rates["overlap_compute_allreduce"]),
        float(rates["overlap_comm_allreduce"]),
    )
    ahead = exchange("alltoall_forward", counts.alltoall_forward_bytes_per_sample)
    back = exchange("alltoall_backward", counts.alltoall_backward_bytes_per_sample)
    return [
        PhaseWork("lookup", {"embedding": us["lookup"]}),
        PhaseWork("bottom", split("bottom_forward"), [ahead], wait_share=1 - FREE),
        PhaseWork("forward", split("dense_forward")),
        PhaseWork("bottom_back", split("bottom_backward"), [back], wait_share=1 - FREE),
        PhaseWork("backward", {"embedding backward": us["sparse_update"], **split("dense_backward")}, [reduce]),
        PhaseWork("optimizer", {"elementwise": us["optimizer"]}),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def job(model: Model, gpu: Accelerator) -> JobWriter:
    """Eight ranks, six steps, 1 % noise, the slowest rank's compute 4 % above the mean."""
    true = true_settings(model, gpu)
    made = evaluate(
        model.model_copy(update={"alltoall_overlap_share": FREE}),
        gpu,
        devices=DEVICES,
        local_batch=BATCH,
        settings=true,
    )
    barrier = float(collective_time("allreduce", made.rates, 1024.0, DEVICES).seconds) * 1e6
    speeds = [0.96, 0.98, 0.99, 1.0, 1.0, 1.01, 1.02, 1.04]
    return JobWriter(phases(made), speeds, DEVICES, DEVICES, TRUTH["step_floor_ms"] * 1e3, barrier)


@pytest.fixture(scope="module")
def fit(job: JobWriter, model: Model, gpu: Accelerator, tmp_path_factory: pytest.TempPathFactory) -> TraceFit:
    """The model fitted to the job's traces, from the published constants."""
    return fit_trace(trace_report(job.write(tmp_path_factory.mktemp("job"))), model, gpu)


@pytest.mark.parametrize("name", TRUTH)
def test_constants_come_back_within_five_percent(fit: TraceFit, name: str) -> None:
    """Written with these values, started from the published ones."""
    found = {constant.name: constant for constant in fit.constants}[name]
    assert found.identified, found.from_what
    assert found.value == pytest.approx(TRUTH[name], rel=0.05)
    assert found.low <= TRUTH[name] * 1.02
    assert found.high >= TRUTH[name] * 0.98


def test_overlap_shares_and_stragglers_come_back(fit: TraceFit, job: JobWriter) -> None:
    """60 % of the exchange may run beside compute; the slowest rank computes 4 % longer than the mean."""
    assert fit.model.alltoall_overlap_share == pytest.approx(FREE, rel=0.05)
    assert fit.model.dense_sync_overlap_share == pytest.approx(1.0, abs=0.05)
    assert fit.model.straggler_factor == pytest.approx(job.straggler, abs=0.01)


def test_what_a_trace_cannot_tell_is_named(fit: TraceFit) -> None:
    """One batch size, one group, one size of all-reduce: these stay as they were, and say why."""
    missed = {constant.name: constant for constant in fit.constants if not constant.identified}
    for name in (
        "kernel_fixed_us",
        "gemm_peak_share",
        "alltoall_per_rank_us",
        "overlap_comm_allreduce",
        "jitter_cv",
    ):
        assert name in missed
        assert missed[name].value == missed[name].prior
        assert missed[name].from_what


def test_the_fitted_model_predicts_the_traced_step(fit: TraceFit) -> None:
    """Within 4 %, where the published constants were off by more than 15 %."""
    assert fit.predicted_ms == pytest.approx(fit.measured_ms, rel=0.04)
    assert abs(fit.before_ms / fit.measured_ms - 1) > 0.15


def test_noise_is_what_the_interval_says(fit: TraceFit) -> None:
    """No identified constant claims to be known better than the clocks and definitions allow."""
    for constant in fit.constants:
        if constant.identified and not constant.name.startswith("model."):
            assert np.log(constant.high / constant.low) / 4 >= 0.004


def test_a_model_that_does_not_match_is_told(
    job: JobWriter, model: Model, gpu: Accelerator, tmp_path: Path
) -> None:
    """Three times the batch that the job had: its kernels would have to beat the device's peak."""
    report = trace_report(job.write(tmp_path))
    wrong = fit_trace(report, model, gpu, local_batch=3 * BATCH)
    share = {constant.name: constant for constant in wrong.constants}["gemm_workload_share"]
    assert not share.identified
    assert "more than the device can do" in share.from_what
    assert any("gemm_workload_share" in note for note in wrong.notes)
    assert any("misses the measured step" in note for note in wrong.notes)
    assert not fit_trace(report, model, gpu).notes


def test_the_number_of_devices_must_be_known(model: Model, gpu: Accelerator, tmp_path: Path) -> None:
    """Neither the trace nor the caller says it."""
    writer = TraceWriter(world_size=None)
    writer.kernel("gemm", 0, 100)
    report = trace_report([writer.write(tmp_path / "t.json")])
    with pytest.raises(UsageError, match="devices"):
        fit_trace(report, model, gpu)


def test_link_constants_come_back_from_a_sweep_of_sizes(
    model: Model, gpu: Accelerator, tmp_path: Path
) -> None:
    """All-reduce, all-gather and all-to-all of five sizes: fixed cost, half size and shares, 0.5 % noise."""
    truth = {
        "allreduce_fixed_us": 61.0,
        "allreduce_half_size_mb": 9.0,
        "ring_share": 0.7,
        "gather_share": 0.66,
        "alltoall_fixed_us": 31.0,
        "alltoall_scaleup_share": 0.5,
    }
    constants = load_constants()
    context = Settings().rates(model, gpu).context
    keyed = {constants.get(name, context).key: value for name, value in truth.items()}
    rates = Settings(constants=constants.with_values(keyed)).rates(model, gpu)
    random = np.random.default_rng(3)
    writer = TraceWriter(world_size=DEVICES)
    clock = 0.0
    for size in (1e5, 1e6, 8e6, 64e6, 512e6) * 4:
        for law, name in (
            ("allreduce", "allreduce"),
            ("allgather", "_allgather_base"),
            ("alltoall", "all_to_all"),
        ):
            seconds = float(collective_time(law, rates, size, DEVICES).seconds)
            length = seconds * 1e6 * float(np.exp(0.005 * random.standard_normal()))
            arguments = nccl_arguments(name, (int(size / 4), int(size / 4)), "Float", DEVICES)
            writer.kernel("ncclDevKernel_Generic", clock, length, stream=30, **arguments)
            clock += length + 1
    writer.kernel("gemm", clock, 100)
    fit = fit_trace(trace_report([writer.write(tmp_path / "t.json")]), model, gpu)
    found = {constant.name: constant for constant in fit.constants}
    for name, value in truth.items():
        assert found[name].identified, name
        assert found[name].value == pytest.approx(value, rel=0.05), name
