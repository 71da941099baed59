import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.errors import UsageError
from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.constants import load_constants
from fleetplan.performance.evaluate import Settings, evaluate
from fleetplan.performance.layout import Layout
from fleetplan.performance.one_step import step
from fleetplan.performance.schedule import COLLECTIVES
from fleetplan.performance.timeline import timeline_html

MODELS = ("dlrm-dcnv2", "mtia300-dlrm-150b", "hstu-recsys-examples", "wukong-637b")
DEVICES = ("h100", "gb200", "mtia-300", "mi355x")
SPECS = ("peak_bf16_tflops", "hbm_tb_per_s", "scaleup_gb_per_s", "scaleout_gb_per_s", "host_link_gb_per_s")
SHARES = (
    "gemm_peak_share", "gemm_workload_share", "hbm_stream_share", "embedding_forward_share",
    "embedding_backward_share", "alltoall_scaleup_share", "alltoall_scaleout_share", "ring_share",
    "gather_share", "scaleout_reduce_share", "compute_maturity",
)  # fmt: skip
modes = st.sampled_from(("coarse", "chunked", "none"))


# Rates of training, MLPerf v3.0 (A100, Dell), v4.0 (H100, H200, NVIDIA), v5.0 (B200, NVIDIA), samples/s
@pytest.mark.parametrize(
    ("name", "measured", "within"),
    [("h100", 15.6e6, 0.15), ("a100", 7.73e6, 0.2), ("h200", 17.04e6, 0.2), ("b200", 25.6e6, 0.2)],
)
def test_dcnv2_on_eight_devices_is_near_the_mlperf_rate(name, measured, within):
    made = step(load_model("dlrm-dcnv2"), load_accelerator(name), devices=8, global_batch=55296)
    assert made.samples_per_s == pytest.approx(measured, rel=within)
    assert made.samples_per_s_low < measured < made.samples_per_s_high * 1.05


@pytest.mark.parametrize("mode", ["coarse", "chunked", "none"])
@pytest.mark.parametrize("name", DEVICES)
def test_parts_add_to_the_step_and_exposed_is_at_most_isolated(name, mode):
    made = step(load_model("mtia300-dlrm-150b"), load_accelerator(name), devices=64, overlap=mode)
    assert sum(made.parts_ms.values()) == pytest.approx(made.step_ms)
    for collective in COLLECTIVES:
        assert made.exposed_ms[collective] <= made.isolated_ms[collective] * (1 + 1e-9)
    if mode == "none":
        assert sum(made.exposed_ms.values()) == pytest.approx(sum(made.isolated_ms.values()))


def test_result_is_plain_data_with_its_evidence():
    made = step(load_model("dlrm-dcnv2"), load_accelerator("mtia-400"), devices=16)
    assert json.loads(json.dumps(made.to_dict()))["devices"] == 16
    assert any(key.startswith("kernel_fixed_us@mtia-400") for key in made.weakest_evidence)
    assert made.critical_path[-1] == "floor"
    assert made.utilization.effective < made.utilization.kernel <= 1


def test_timeline_lanes_follow_the_engine_and_need_no_network():
    model = load_model("mtia300-dlrm-150b")
    offloaded = step(model, load_accelerator("mtia-300"), devices=40)
    assert {s.lane for s in offloaded.segments} == {"compute", "offload engine", "host"}
    gpu = step(model, load_accelerator("h100"), devices=40)
    assert "scale-out" in {s.lane for s in gpu.segments}
    assert max(s.end_ms for s in gpu.segments) == pytest.approx(gpu.step_ms)
    page = timeline_html(gpu)
    assert "<script src=" not in page
    assert "40 x h100" in page


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(MODELS), st.sampled_from(DEVICES), st.sampled_from(SPECS), st.floats(1.0, 6.0), modes)
def test_rate_never_falls_as_a_specification_grows(model, name, spec, factor, mode):
    device = load_accelerator(name)
    faster = device.model_copy(update={spec: getattr(device, spec) * factor})
    sizes = np.array([8, 64, 256])
    before, after = (
        evaluate(load_model(model), d, devices=sizes, settings=Settings(overlap=mode)).samples_per_s
        for d in (device, faster)
    )
    assert (after >= before * (1 - 1e-9)).all()


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(MODELS), st.sampled_from(DEVICES), st.sampled_from(SHARES), st.floats(1.0, 2.0), modes)
def test_rate_never_falls_as_an_efficiency_grows(model, name, constant, factor, mode):
    base = load_constants()
    better = base.with_values({row.key: row.value * factor for row in base.rows if row.name == constant})
    sizes = np.array([8, 64, 256])
    before, after = (
        evaluate(
            load_model(model),
            load_accelerator(name),
            devices=sizes,
            settings=Settings(overlap=mode, constants=c),
        )
        for c in (base, better)
    )
    assert (after.samples_per_s >= before.samples_per_s * (1 - 1e-9)).all()


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(MODELS), st.integers(2, 64), modes)
def test_offload_never_loses_to_the_same_fabric_without_it(model, nodes, mode):
    base = load_constants()
    gpu = {
        row.name: row.value
        for row in base.rows
        if row.scope == "compute-units" and row.name.startswith("overlap_")
    }
    without = base.with_values(gpu)
    with_engine, same_fabric = (
        evaluate(
            load_model(model),
            load_accelerator("mtia-300"),
            devices=nodes * 4,
            settings=Settings(overlap=mode, constants=c),
        )
        for c in (base, without)
    )
    assert with_engine.step_seconds[0] <= same_fabric.step_seconds[0] * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(MODELS), st.sampled_from(DEVICES), st.integers(1, 40))
def test_chunking_never_loses_to_coarse_nor_coarse_to_none(model, name, nodes):
    seconds = [
        evaluate(
            load_model(model), load_accelerator(name), devices=nodes * 8, settings=Settings(overlap=mode)
        ).step_seconds[0]
        for mode in ("chunked", "coarse", "none")
    ]
    assert seconds[0] <= seconds[1] * (1 + 1e-9) <= seconds[2] * (1 + 1e-6)


def test_one_chunk_is_the_serial_schedule():
    model, device = load_model("mtia300-dlrm-150b"), load_accelerator("h100")
    one = evaluate(model, device, devices=40, settings=Settings(overlap="chunked", chunks=1))
    none = evaluate(model, device, devices=40, settings=Settings(overlap="none"))
    assert one.step_seconds[0] == pytest.approx(none.step_seconds[0])


def test_vectorized_and_single_evaluations_agree():
    model, device = load_model("mtia300-dlrm-150b"), load_accelerator("gb200")
    sizes, batches = np.array([8, 72, 144]), np.array([1024, 6144, 2048])
    many = evaluate(model, device, devices=sizes, local_batch=batches, cap_w=1000.0)
    for i in range(3):
        one = evaluate(model, device, devices=sizes[i], local_batch=batches[i], cap_w=1000.0)
        assert one.step_seconds[0] == pytest.approx(many.step_seconds[i])
        assert one.device_watts[0] == pytest.approx(many.device_watts[i])


def test_pipeline_bubble_and_shards_enter_the_step():
    model, device = load_model("wukong-637b"), load_accelerator("h100")
    flat = evaluate(model, device, devices=64, layout=Layout(dense="ddp"))
    cut = evaluate(model, device, devices=64, layout=Layout(dense="ddp", stages=4, micro_batches=8))
    assert cut.memory_gb[0] < flat.memory_gb[0]
    # (p-1)/mb of the dense time stands idle: 3/8
    dense = cut.parts.dense_forward[0] + cut.parts.dense_backward[0]
    idle = cut.schedule.compute[0] - (
        dense
        + cut.parts.bottom_forward[0]
        + cut.parts.bottom_backward[0]
        + cut.embedding_seconds[0]
        + cut.parts.optimizer[0]
    )
    assert idle == pytest.approx(3 / 8 * dense)


def test_lower_cap_is_slower_and_draws_less():
    made = evaluate(
        load_model("dlrm-dcnv2"), load_accelerator("gb200"), devices=64, cap_w=np.array([1200, 1000, 960])
    )
    assert made.samples_per_s / made.samples_per_s[0] == pytest.approx([1, 0.95, 0.945], abs=0.01)
    assert (np.diff(made.device_watts) < 0).all()


@pytest.mark.parametrize(
    "sizes",
    [
        {"devices": 0},
        {"devices": 8, "local_batch": 4, "global_batch": 33},
        {"devices": 64, "global_batch": 32},
        {"devices": 8, "cap_w": 0.0},
    ],
)
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(UsageError):
        step(load_model("dlrm-dcnv2"), load_accelerator("h100"), **sizes)


@pytest.mark.parametrize(
    "layout",
    [
        Layout(),
        Layout("hsdp", 4, 2, 8, "cached"),
        Layout("fsdp", scheme="table-row-wise"),
        Layout(tier="host"),
    ],
)
def test_layout_names_read_back(layout):
    assert Layout.parse(layout.name) == layout


def test_default_layout_is_the_models_own_and_best_is_searched():
    model, device = load_model("mtia300-dlrm-150b"), load_accelerator("h100")
    own, best = (step(model, device, devices=64, layout=layout) for layout in (None, "best"))
    assert own.layout == "ddp+sharded"
    assert best.step_ms <= own.step_ms


def test_layout_that_fits_is_found_where_the_models_own_does_not_fit():
    made = step(load_model("dlrm-12t"), load_accelerator("h100"), devices=64)
    assert made.fits
    assert made.layout != "ddp+sharded"


def test_unknown_layout_is_refused_with_what_is_known():
    with pytest.raises(UsageError, match="2d<N>"):
        Layout.parse("ddp+magic")


def test_hardware_that_nobody_measured_resolves_through_its_relatives():
    rates = {
        n: evaluate(load_model("dlrm-dcnv2"), load_accelerator(n), devices=8).samples_per_s[0]
        for n in ("h100", "b200", "b300", "vr200")
    }
    assert rates["h100"] < rates["b200"] <= rates["b300"] < rates["vr200"]
    for name in ("tpu-v7", "trainium3", "maia-200", "mi455x"):
        assert evaluate(load_model("dlrm-dcnv2"), load_accelerator(name), devices=16).samples_per_s[0] > 1e6
