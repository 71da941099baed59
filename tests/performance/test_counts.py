"""Counts against published counts and against independent arithmetic."""

from __future__ import annotations

import pytest

from fleetplan.inputs.architecture import (
    Dot,
    Mlp,
    Model,
    Optimizers,
    Precisions,
    TableGroup,
)
from fleetplan.inputs.catalog import load_model, model_names
from fleetplan.performance.counts import count
from fleetplan.performance.measurements import load_measurements

MEASURED = {row.id: row for row in load_measurements()}
WUKONG = sorted(row.id for row in MEASURED.values() if row.metric == "gflop_per_example")


def counted(name: str) -> dict[str, float]:
    """What the step model's counter says, by the name of the measured metric."""
    counts = count(load_model(name))
    return {
        "dense_parameters": counts.dense_parameters,
        "embedding_rows": sum(g.tables * g.rows_per_table for g in counts.embeddings),
        "lookups_per_sample": counts.lookups_per_sample,
        "flop_per_sample_fwd_bwd": counts.flop_per_sample,
        "gflop_per_example": counts.flop_per_sample / 1e9,
        "total_params": (counts.dense_parameters + counts.sparse_parameters) / 1e9,
    }


@pytest.mark.parametrize("row", ["cnt-dcn-params", "cnt-dcn-rows", "cnt-dcn-lookups", "cnt-dcn-flops"])
def test_mlperf_dcnv2_is_counted_within_one_percent(row: str) -> None:
    measured = MEASURED[row]
    assert counted("dlrm-dcnv2")[measured.metric] == pytest.approx(measured.value, rel=0.01)


def test_dcnv2_dense_parameters_by_hand() -> None:
    mlps = 13 * 512 + 512 * 256 + 256 * 128 + 3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256
    cross, biases = 3 * 2 * 3456 * 512, 512 + 256 + 128 + 3 * 3456 + 1024 + 1024 + 512 + 256 + 1
    counts = count(load_model("dlrm-dcnv2"))
    assert counts.dense_parameters == mlps + cross + biases
    assert counts.flop_per_sample == 6 * (mlps + cross)


def test_dcnv2_all_reduce_is_counted_from_dense_part_and_small_tables() -> None:
    """Without the stated volume, replicated small tables and the dense part give what the log says."""
    model = load_model("dlrm-dcnv2")
    free = model.model_copy(
        update={"known": model.known.model_copy(update={"dense_allreduce_bytes_per_step": None})}
    )
    measured = MEASURED["cnt-dcn-arbytes"].value
    assert count(free).dense_allreduce_bytes_per_step == pytest.approx(measured, rel=0.01)
    assert count(model).dense_allreduce_bytes_per_step == measured


def test_hstu_flop_of_the_nvidia_run_within_a_fifth_of_a_percent() -> None:
    """26.41, 6.60 and 30.88 TFLOP per device and step of 32 sequences (NVIDIA recsys-examples)."""
    ops = {op.name: op for op in count(load_model("hstu-recsys-examples")).operators}
    for name, tera in (("hstu.uvqk", 26.41), ("hstu.out", 6.60), ("hstu.attention", 30.88)):
        op = ops[name]
        step = 32 * (op.flop_fwd_per_sample + op.flop_bwd_per_sample) / 1e12
        assert step == pytest.approx(tera, rel=0.002), name


def test_hstu_flop_of_the_mlcommons_reference() -> None:
    """54.9, 41.1 and 88.7 TFLOP per device and step of 1,024 samples; the gate widens the projection."""
    ops = {op.name: op for op in count(load_model("hstu-mlcommons")).operators}
    for name, tera in (("hstu.uvqk", 54.9), ("hstu.out", 41.1), ("hstu.attention", 88.7)):
        op = ops[name]
        step = 1024 * (op.flop_fwd_per_sample + op.flop_bwd_per_sample) / 1e12
        assert step == pytest.approx(tera, rel=0.005), name


@pytest.mark.parametrize("row", WUKONG)
def test_wukong_gflop_within_ten_percent(row: str) -> None:
    measured = MEASURED[row]
    assert counted(measured.model)["gflop_per_example"] == pytest.approx(measured.value, rel=0.10)


@pytest.mark.parametrize("row", [row.replace("-flops", "-params") for row in WUKONG])
def test_wukong_parameters_within_one_percent(row: str) -> None:
    measured = MEASURED[row]
    assert counted(measured.model)["total_params"] == pytest.approx(measured.value, rel=0.01)


def test_mtia300_production_dlrm_matches_what_the_paper_states() -> None:
    """150 B parameters, 99 % sparse, about 3 GFLOP per sample, 2.2 GB all-to-all per step and device."""
    model = load_model("mtia300-dlrm-150b")
    counts = count(model)
    total = counts.sparse_parameters + counts.dense_parameters
    assert total == pytest.approx(150e9, rel=0.02)
    assert counts.sparse_parameters / total == pytest.approx(0.99, abs=0.01)
    assert counts.flop_per_sample == pytest.approx(3e9, rel=0.05)
    wires = counts.alltoall_forward_bytes_per_sample + counts.alltoall_backward_bytes_per_sample
    assert wires * 6144 == pytest.approx(2.2e9, rel=0.05)
    assert counts.dense_allreduce_bytes_per_step == 1.57e9
    assert counts.dense_parameters * 4 == pytest.approx(1.57e9, rel=0.02)


@pytest.mark.parametrize(
    ("name", "giga"),
    [("zionex-a", 0.638), ("zionex-i", 0.060), ("zionex-f", 0.005)],
)
def test_zionex_forward_flop_as_published(name: str, giga: float) -> None:
    ops = count(load_model(name)).operators
    assert sum(op.flop_fwd_per_sample for op in ops) / 1e9 == pytest.approx(giga, rel=0.01)


@pytest.mark.parametrize(
    ("name", "billion"),
    [("zionex-a", 793), ("zionex-i", 332), ("zionex-f", 12000), ("dlrm-12t", 12000), ("hstu-gr-1500b", 1500)],
)
def test_parameters_as_published(name: str, billion: float) -> None:
    counts = count(load_model(name))
    assert (counts.sparse_parameters + counts.dense_parameters) / 1e9 == pytest.approx(billion, rel=0.01)


def small(**changes: object) -> Model:
    """A model of two tables and one layer, small enough to count on paper."""
    fields: dict[str, object] = {
        "name": "small",
        "title": "small",
        "family": "dlrm",
        "tables": (
            TableGroup(name="pooled", tables=3, rows=100, dim=8, pooling=5),
            TableGroup(name="plain", rows=10, dim=8, pooling=4, pooled=False),
        ),
        "dense": (Mlp(name="top", stage="top", widths=(10, 20)), Dot(vectors=4, dim=8)),
        "optimizers": Optimizers(dense="adam", sparse="adam"),
        "precisions": Precisions(
            embedding="fp32",
            communication="fp16",
            compute="bf16",
            gradient="fp32",
            communication_backward="fp32",
        ),
        "reference_devices": 8,
        "local_batch": 16,
    }
    return Model.model_validate({**fields, **changes})


def test_small_model_by_hand() -> None:
    counts = count(small())
    assert counts.dense_parameters == 10 * 20 + 20
    assert counts.sparse_parameters == 3 * 100 * 8 + 10 * 8
    assert counts.lookups_per_sample == 3 * 5 + 4
    assert counts.vectors_per_sample == 3 + 4
    assert counts.index_bytes_per_sample == 19 * 8
    assert counts.alltoall_forward_bytes_per_sample == 7 * 8 * 2
    assert counts.alltoall_backward_bytes_per_sample == 7 * 8 * 4
    assert counts.flop_per_sample == 3 * (2 * 10 * 20 + 2 * 4 * 4 * 8)
    assert [g.state_bytes for g in counts.embeddings] == [2400 * 2 * 4, 80 * 2 * 4]


@pytest.mark.parametrize(
    ("optimizer", "moments"), [("sgd", 0), ("rowwise_adagrad", 1 / 8), ("adagrad", 1), ("adam", 2)]
)
def test_optimizer_moments_per_weight(optimizer: str, moments: float) -> None:
    model = small(optimizers={"dense": "sgd", "sparse": optimizer})
    assert count(model).embeddings[0].moments == moments


def test_dense_synchronisation_volumes_follow_the_scheme() -> None:
    gradients, weights = 220 * 4, 220 * 2
    ddp, fsdp, hsdp = (count(small(dense_sync=sync)) for sync in ("ddp", "fsdp", "hsdp"))
    assert (ddp.dense_allreduce_bytes_per_step, ddp.dense_allgather_bytes_per_step) == (gradients, 0)
    assert fsdp.dense_allreduce_bytes_per_step == 0
    assert fsdp.dense_allgather_bytes_per_step == 2 * weights
    assert fsdp.dense_reducescatter_bytes_per_step == gradients
    assert hsdp.dense_allreduce_bytes_per_step == gradients
    assert hsdp.dense_allgather_bytes_per_step == 2 * weights


def test_replicated_tables_leave_the_all_to_all_and_join_the_all_reduce() -> None:
    tables = (TableGroup(name="a", rows=100, dim=8, pooling=1, data_parallel=True),)
    counts = count(small(tables=tables))
    assert counts.alltoall_forward_bytes_per_sample == 0
    assert counts.dense_allreduce_bytes_per_step == (220 + 800) * 4


def test_jagged_lengths_enter_attention_by_their_second_moment() -> None:
    model = load_model("hstu-gr-1500b")
    padded = model.dense[0].model_copy(update={"tokens_sq_ratio": 1.0})
    jagged, flat = count(model), count(model.model_copy(update={"dense": (padded,)}))
    assert jagged.flop_of_kind("attention") == pytest.approx(1.5 * flat.flop_of_kind("attention"))
    assert jagged.flop_of_kind("gemm") == flat.flop_of_kind("gemm")


def test_stated_elementwise_traffic_replaces_the_counted_one() -> None:
    stated = small(known={"elementwise_bytes_per_sample": 12345.0})
    assert count(stated).elementwise_bytes_per_sample == pytest.approx(12345.0)
    assert count(small()).elementwise_bytes_per_sample != pytest.approx(12345.0)


@pytest.mark.parametrize("name", model_names())
def test_every_model_in_the_catalog_can_be_counted(name: str) -> None:
    counts = count(load_model(name))
    assert counts.flop_per_sample > 0
    assert counts.sparse_parameters > 0
    assert counts.kernels_per_step >= 1
    assert all(op.flop_bwd_per_sample >= op.flop_fwd_per_sample for op in counts.operators)
