"""The measurements file: complete, with evidence, and every name in it known."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetplan.errors import InputError
from fleetplan.inputs.catalog import accelerator_names, model_names
from fleetplan.performance.measurements import COLUMNS, load_measurements

ROWS = load_measurements()


def test_rows_are_unique_have_sources_and_known_names() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS) == 697
    assert all(row.source.startswith("http") for row in ROWS)
    assert {row.model for row in ROWS} - {""} <= set(model_names())
    assert {row.accelerator for row in ROWS} - {""} <= set(accelerator_names())


def test_mlperf_rates_are_global_batch_over_step_time() -> None:
    steps = {row.id.removesuffix("-step"): row.value for row in ROWS if row.id.endswith("-step")}
    rates = [row for row in ROWS if row.id.removesuffix("-trainrate") in steps]
    assert len(rates) >= 14
    for row in rates:
        assert row.global_batch is not None
        step_ms = row.global_batch / row.value * 1000
        assert step_ms == pytest.approx(steps[row.id.removesuffix("-trainrate")], rel=0.01)


def test_local_batch_times_devices_is_the_global_batch() -> None:
    rows = [row for row in ROWS if row.global_batch and row.local_batch and row.model == "dlrm-dcnv2"]
    assert rows
    assert all(row.local_batch * row.devices == row.global_batch for row in rows if row.local_batch)


def test_nothing_from_memory_or_a_model_can_fail_a_gate() -> None:
    advisory = [row for row in ROWS if row.is_advisory]
    assert {row.evidence for row in advisory} == {"modelled", "secondary", "recall-unverified"}
    assert not any(row.in_fit_set for row in advisory)


@pytest.mark.parametrize(
    ("cell", "bad", "text"),
    [("value", "fast", "not a number"), ("evidence", "hearsay", "hearsay"), ("setting", "{", "Expecting")],
)
def test_bad_cells_are_faults_with_their_line(tmp_path: Path, cell: str, bad: str, text: str) -> None:
    row = dict.fromkeys(COLUMNS, "") | {"id": "a", "devices": "8", "value": "1", "evidence": "derived"}
    row[cell] = bad
    path = tmp_path / "own.csv"
    path.write_text(",".join(COLUMNS) + "\n" + ",".join(row.values()) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=text) as caught:
        load_measurements(path)
    assert caught.value.faults[0].line == 2
