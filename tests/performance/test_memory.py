"""Memory: published totals, parts by hand, and what must hold as devices and batch grow."""

from __future__ import annotations

import numpy as np
import pytest

from fleetplan.inputs.architecture import Model, TableGroup
from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.counts import count
from fleetplan.performance.measurements import load_measurements
from fleetplan.performance.memory import memory_need, smallest_devices

GIB = 2**30
MEMORY_ROWS = [row for row in load_measurements() if row.metric == "training_memory"]
ONE = np.array([1.0])


def with_tables(model: Model, gib: float, optimizer: str) -> Model:
    """The model with FP32 tables of ``gib`` GiB in all and that sparse optimizer."""
    rows = round(gib * GIB / 4 / 128)
    table = TableGroup(name="all", rows=rows, dim=128, pooling=1, unique_ratio=1.0)
    optimizers = model.optimizers.model_copy(update={"sparse": optimizer})
    precisions = model.precisions.model_copy(update={"embedding": "fp32"})
    return model.model_copy(update={"tables": (table,), "optimizers": optimizers, "precisions": precisions})


@pytest.mark.parametrize("row", MEMORY_ROWS, ids=[row.id for row in MEMORY_ROWS])
def test_published_training_memory_within_five_percent(row: object) -> None:
    """Tables with their optimizer in the NVIDIA DLRM and DCNv2 examples: SGD 1x, Adam about 3x."""
    measured = next(each for each in MEMORY_ROWS if each is row)
    setting = measured.setting
    model = with_tables(load_model("dlrm-dcnv2"), setting["embedding_GiB"], setting["optimizer"])
    need = memory_need(model, count(model), load_accelerator("h100"), ONE, ONE)
    assert need.tables_gb[0] * 1e9 / GIB == pytest.approx(measured.value, rel=0.05)


def test_production_dlrm_of_150_b_parameters_is_held_by_two_mtia_300() -> None:
    """300 GB of FP16 tables: 2 devices of 216 GB (MTIA 300 paper), so capacity does not set 40."""
    model = load_model("mtia300-dlrm-150b")
    assert smallest_devices(model, count(model), load_accelerator("mtia-300"), 6144) == 2


def test_smallest_count_is_the_first_that_fits() -> None:
    for name, device in (("dlrm-dcnv2", "h100"), ("gem-foundation", "gb200"), ("hstu-gr-1500b", "mtia-300")):
        model, accelerator = load_model(name), load_accelerator(device)
        counts, batch = count(model), np.array(float(model.local_batch))
        found = smallest_devices(model, counts, accelerator, float(batch))
        assert found is not None
        around = np.array([found - 1.0, float(found)])
        assert memory_need(model, counts, accelerator, around, batch).fits.tolist() == [False, True]


def test_no_count_helps_where_a_device_cannot_hold_its_own_share() -> None:
    model = load_model("hstu-recsys-examples")
    assert smallest_devices(model, count(model), load_accelerator("tpu-v6e"), 4096) is None


def test_dense_part_is_copied_by_ddp_and_cut_by_the_sharded_schemes() -> None:
    model, accelerator = load_model("wukong-637b"), load_accelerator("h200")
    counts, devices = count(model), np.array([8.0, 64.0])
    ddp, fsdp, hsdp = (
        memory_need(model, counts, accelerator, devices, ONE, dense=scheme).dense_gb
        for scheme in ("ddp", "fsdp", "hsdp")
    )
    # BF16 weight and gradient, FP32 master and two Adam moments
    whole = counts.dense_parameters * (2 + 2 + 4 + 8) / 1e9
    gathered = 2 * 640 * 96 * 16384 * 2 / 1e9
    assert ddp.tolist() == pytest.approx([whole, whole])
    assert fsdp.tolist() == pytest.approx([whole / 8 + gathered, whole / 64 + gathered])
    assert hsdp.tolist() == pytest.approx([whole / 8 + gathered] * 2)


def test_need_falls_with_devices_and_grows_with_batch_and_imbalance() -> None:
    model, accelerator = load_model("video-ranking-800b"), load_accelerator("mtia-400")
    counts = count(model)
    devices, batch = np.meshgrid(np.array([16.0, 64.0, 256.0]), np.array([512.0, 1024.0, 4096.0]))
    need = memory_need(model, counts, accelerator, devices, batch).need_gb
    assert (np.diff(need, axis=1) < 0).all()
    assert (np.diff(need, axis=0) > 0).all()
    skewed = memory_need(model, counts, accelerator, devices, batch, imbalance=1.3)
    assert skewed.tables_gb == pytest.approx(1.3 * need_tables(model, devices, batch))


def need_tables(model: Model, devices: np.ndarray, batch: np.ndarray) -> np.ndarray:
    return memory_need(model, count(model), load_accelerator("mtia-400"), devices, batch).tables_gb


def test_copies_of_the_tables_cost_as_many_times_the_memory() -> None:
    model, accelerator = load_model("dlrm-dcnv2"), load_accelerator("gb200")
    one, two = (
        memory_need(model, count(model), accelerator, np.array([64.0]), ONE, sparse_replicas=r).tables_gb
        for r in (1, 2)
    )
    assert two == pytest.approx(2 * one)


def test_explanation_names_need_parts_and_limit() -> None:
    model = load_model("dlrm-dcnv2")
    need = memory_need(model, count(model), load_accelerator("h100"), np.array([1.0]), np.array([6912.0]))
    text = need.explain()
    assert not need.fits[0]
    assert text.startswith(f"needs {need.need_gb[0]:.1f} GB (tables ")
    assert text.endswith("has 68.0 GB (80 GB less 15%)")
