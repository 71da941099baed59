"""The catalog: what it holds, how it is found, and what it says about bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetplan.errors import InputError
from fleetplan.figures import Figure
from fleetplan.inputs import catalog, paths
from fleetplan.inputs.accelerator import UNITS, Accelerator
from fleetplan.inputs.catalog import (
    accelerator_names,
    catalog_table,
    load_accelerator,
    load_model,
    model_names,
)

ASKED = [
    "mtia-300", "mtia-400", "mtia-450", "mtia-500", "a100", "h100", "h100-500w", "h200", "b200", "gb200",
    "b300", "gb300", "vr200", "mi300x", "mi325x", "mi355x", "mi455x", "tpu-v5p", "tpu-v6e", "tpu-v7",
    "trainium2", "trainium3", "maia-100", "maia-200",
]  # fmt: skip
HEADER = "field,value,low,high,status,source,date,note\n"


def test_catalog_holds_what_was_asked_for() -> None:
    assert sorted(ASKED) == accelerator_names()


@pytest.mark.parametrize("name", ASKED)
def test_every_figure_has_evidence_and_an_ordered_interval(name: str) -> None:
    device = load_accelerator(name)
    for key, figure in device.figures.items():
        assert figure.origin is not None
        if figure.value is not None and key != "power_caps":
            assert figure.source or figure.status == "assumed", key
        if figure.status in {"published", "reported"}:
            assert figure.source.startswith(("http", "Nomura", "Reuters")), key
        if figure.low is not None and figure.high is not None:
            assert figure.low <= figure.high, key
            assert isinstance(figure.value, float), key


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("a100-80g", "a100"), ("h100-sxm", "h100"), ("h200-sxm", "h200"), ("b200-hgx", "b200"),
        ("gb200-nvl72", "gb200"), ("gb300-nvl72", "gb300"), ("vr200-nvl72", "vr200"),
        ("mi455x-helios", "mi455x"), ("GB200", "gb200"), ("MTIA-300", "mtia-300"),
    ],
)  # fmt: skip
def test_other_names_of_a_device_find_it(alias: str, name: str) -> None:
    assert load_accelerator(alias).name == name


def test_mtia_300_as_published_at_isca() -> None:
    """https://aisystemcodesign.github.io/papers/MTIA300_ISCA2026.pdf"""
    device = load_accelerator("mtia-300")
    assert (device.peak_bf16_tflops, device.hbm_gb, device.hbm_tb_per_s) == (560, 216, 6.1)
    assert (device.scaleup_domain_devices, device.scaleup_gb_per_s, device.scaleout_gb_per_s) == (
        16,
        800,
        200,
    )
    assert (device.tdp_w, device.typical_w, device.node_w) == (912, 667, 1500)
    assert device.collective_engine == "message-engine"
    assert device.nic_on_package
    assert device.peak_fp4_tflops is None
    assert device.figures["peak_fp4_tflops"].value == "none"


def test_gb200_facility_power_follows_the_published_ratios() -> None:
    """2.14, 1.86 and 1.81 kW per device at 1200, 1000 and 960 W (arXiv:2605.24461), within 2 %."""
    device = load_accelerator("gb200")
    for cap, kilowatts, speed in ((1200, 2.14, 1.0), (1000, 1.86, 0.95), (960, 1.81, 0.945)):
        assert device.facility_kw_per_device(cap) == pytest.approx(kilowatts, rel=0.02)
        assert {point.cap_w: point.speed for point in device.power_caps}[cap] == pytest.approx(
            speed, abs=0.01
        )


def test_bandwidths_are_bytes_of_one_direction() -> None:
    """NVLink 4 is 900 GB/s both ways; a 400 Gb/s card moves 50 GB/s."""
    device = load_accelerator("h100")
    assert (device.scaleup_gb_per_s, device.scaleout_gb_per_s) == (450, 50)


def test_unpublished_figures_are_marked_as_such() -> None:
    rows = {row["field"]: row for row in catalog_table("maia-200")}
    assert rows["idle_w"]["value"] == rows["idle_w"]["status"] == "unpublished"
    assert load_accelerator("maia-200").idle_w is None
    assert rows["tdp_w"]["value"] == "750"
    assert rows["tdp_w"]["unit"] == "W"


def test_whole_catalog_is_one_table_with_equal_columns() -> None:
    rows = catalog_table()
    assert {row["accelerator"] for row in rows} == set(ASKED)
    assert all(tuple(row) == catalog.CATALOG_COLUMNS for row in rows)


def test_every_number_of_the_contract_has_a_unit() -> None:
    numbers = {
        name
        for name, field in Accelerator.model_fields.items()
        if field.annotation in (float, int, float | None, int | None)
    }
    assert numbers == set(UNITS)


def test_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"E007.*'gb20'.*did you mean 'gb200'\?"):
        load_accelerator("gb20")


def test_override_takes_quantities_numbers_and_figures() -> None:
    own = Figure("idle_w", 99.0, "W", "reported", source="https://example.org")
    device = load_accelerator("h100", {"price_musd_per_rack": "900 kUSD", "hbm_gb": 81, "idle_w": own})
    assert (device.price_musd_per_rack, device.hbm_gb, device.idle_w) == (0.9, 81, 99)
    assert device.figures["idle_w"] is own
    assert device.figures["hbm_gb"].status == "assumed"
    assert load_accelerator("h100").hbm_gb == 80


def test_faulty_overrides_are_all_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        load_accelerator("h100", {"price_musd_per_rack": "900", "hbm_tbs": 3, "hbm_gb": -1, "cooling": "ice"})
    assert {f.rule for f in caught.value.faults} == {"E003", "E005", "E015"}
    assert len(caught.value.faults) == 4


def write(folder: Path, text: str) -> Path:
    path = folder / "own.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    return path


GOOD = """title,Own chip,,,assumed,,,
vendor,We,,,assumed,,,
peak_bf16_tflops,1 PFLOP/s,900 TFLOP/s,1.1 PFLOP/s,assumed,,,
hbm_gb,0.1 TB,,,assumed,,,
hbm_tb_per_s,2000 GB/s,,,assumed,,,
scaleup_domain_devices,8 devices,,,assumed,,,
scaleup_gb_per_s,450 GB/s,,,assumed,,,
scaleout_gb_per_s,400 Gbit/s,,,assumed,,,
tdp_w,0.7 kW,,,assumed,,,
"""


def test_own_accelerator_comes_from_its_file_in_any_unit(tmp_path: Path) -> None:
    device = load_accelerator(write(tmp_path, GOOD))
    assert device.name == "own"
    assert (device.peak_bf16_tflops, device.hbm_gb, device.tdp_w) == (1000, 100, 700)
    assert device.figures["peak_bf16_tflops"].low == 900
    assert device.figures["tdp_w"].origin is not None
    assert device.figures["tdp_w"].origin.line == 10


@pytest.mark.parametrize(
    ("line", "rule", "field"),
    [
        ("idle_w,80,,,assumed,,,", "E003", "idle_w"),
        ("idle_w,80 GB,,,assumed,,,", "E003", "idle_w"),
        ("idle_w,,,,assumed,,,", "E012", "idle_w"),
        ("idle_w,80 W,90 W,100 W,assumed,,,", "E016", "idle_w"),
        ("idle_w,80 W,,,guessed,,,", "E017", "idle_w"),
        ("idle_w,80 W,,,published,,,", "E018", "idle_w"),
        ("idel_w,80 W,,,assumed,,,", "E005", "field"),
        ("tdp_w,80 W,,,assumed,,,", "E008", "field"),
        ("idle_w,80 W,,,assumed,,", "E010", ""),
        ("devices_per_node,8.5 devices,,,assumed,,,", "E015", "devices_per_node"),
        ("nic_on_package,maybe,,,assumed,,,", "E015", "nic_on_package"),
        ("available_from,2026-10,,,assumed,,,", "E015", "available_from"),
        ("power_caps,700 W: 1; 500 W: 1.1,,,assumed,,,", "E032", "power_caps"),
        ("power_caps,900 W: 1; 500 W: 0.9,,,assumed,,,", "E032", "power_caps"),
        ("power_caps,700: 1,,,assumed,,,", "E015", "power_caps"),
    ],
)
def test_each_bad_line_is_named_with_line_rule_and_field(
    tmp_path: Path, line: str, rule: str, field: str
) -> None:
    path = write(tmp_path, GOOD + line + "\n")
    with pytest.raises(InputError) as caught:
        load_accelerator(path)
    assert [(f.rule, f.field, f.line) for f in caught.value.faults] == [(rule, field, 11)]
    assert caught.value.faults[0].file == str(path)


def test_missing_required_figures_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_accelerator(write(tmp_path, "title,Own,,,assumed,,,\nhbm_gb,unpublished,,,,,,\n"))
    missing = {f.field for f in caught.value.faults}
    assert {"vendor", "peak_bf16_tflops", "hbm_gb", "tdp_w"} <= missing


def test_file_with_other_columns_or_no_file_is_one_fault(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="E004"):
        load_accelerator(other)
    with pytest.raises(InputError, match="E001"):
        load_accelerator(tmp_path / "none.csv")


def test_installed_package_uses_its_own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "fleetplan"
    (package / "_data" / "data" / "accelerators").mkdir(parents=True)
    (package / "_data" / "models").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", package)
    assert paths.data_dir() == package / "_data" / "data"
    assert paths.models_dir() == package / "_data" / "models"


def test_tree_uses_the_folders_beside_the_package() -> None:
    root = Path(__file__).resolve().parents[2]
    assert paths.data_dir() == root / "data"
    assert paths.models_dir() == root / "models"


def test_models_asked_for_are_there_by_name_and_workload_name() -> None:
    wanted = {
        "dlrm-dcnv2", "dlrm-v1", "mtia300-dlrm-150b", "dlrm-12t", "hstu-recsys-examples", "hstu-mlcommons",
        "wukong-637b", "gem-foundation", "zionex-a", "zionex-i", "zionex-f",
    }  # fmt: skip
    assert wanted <= set(model_names())
    for workload, name in (("ads-dlrm-150b", "mtia300-dlrm-150b"), ("rank-dcnv2-small", "dlrm-dcnv2")):
        assert load_model(workload).name == name


def test_unknown_model_comes_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"E007.*did you mean 'dlrm-dcnv2'\?"):
        load_model("dlrm-dcnv")
