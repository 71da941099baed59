"""Model files: what is read, the evidence by path, and every fault in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetplan.errors import InputError
from fleetplan.inputs.catalog import load_model, model_names

GOOD = """\
name: own
title: Own model
family: dlrm
tables:
  - {name: big, tables: 2, rows: 1000, dim: 16, pooling: 5}
dense:
  - {block: mlp, name: top, stage: top, widths: [32, 8, 1]}
optimizers: {dense: adam, sparse: rowwise_adagrad}
precisions: {embedding: fp16, communication: fp8, compute: bf16, gradient: bf16}
reference_devices: 8
local_batch: 128
known: {dense_allreduce_bytes_per_step: 1.5 GB}
evidence:
  default: {status: assumed, note: ours}
  tables.big: {status: reported, source: https://example.org}
  tables.big.rows: {status: derived, low: 500, high: 2000}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_fields_units_and_evidence_are_read(tmp_path: Path) -> None:
    model = load_model(write(tmp_path, GOOD))
    assert model.tables[0].rows == 1000
    assert model.known.dense_allreduce_bytes_per_step == 1.5e9
    assert model.dense_sync == "ddp"
    rows, pooling, batch = (
        model.figures[path] for path in ("tables.big.rows", "tables.big.pooling", "local_batch")
    )
    assert (rows.status, rows.value, rows.low, rows.high) == ("derived", 1000, 500, 2000)
    assert (pooling.status, pooling.low) == ("reported", None)
    assert (batch.status, batch.note) == ("assumed", "ours")
    assert rows.origin is not None
    assert rows.origin.line == 16


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("rows: 1000", "rows: many", "E011", 5),
        ("rows: 1000", "row: 1000", "E005", 5),
        ("rows: 1000, ", "", "E012", 5),
        ("stage: top", "stage: topp", "E015", 7),
        ("block: mlp", "block: mpl", "E015", 7),
        ("local_batch: 128", "local_batch: 0", "E011", 11),
        ("local_batch: 128", "local_bach: 128", "E005", 11),
        ("1.5 GB", "1.5", "E003", 12),
        ("1.5 GB", "1.5 GW", "E003", 12),
        ("status: derived", "status: guessed", "E017", 16),
        ("low: 500", "low: 1500", "E016", 16),
        ("low: 500", "low: few", "E009", 16),
        ("source: https://example.org", "note: x", "E018", 15),
        ("tables.big.rows:", "tables.bag.rows:", "E007", 16),
        ("low: 500", "lowest: 500", "E005", 16),
        ("source: https://example.org", "source: https://example.org, low: 1, high: 9", "E032", 15),
        ("note: ours", "note: ours, low: 1, high: 9", "E032", 14),
    ],
)
def test_each_fault_is_named_with_its_line(tmp_path: Path, old: str, new: str, rule: str, line: int) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        load_model(write(tmp_path, GOOD.replace(old, new)))
    assert (rule, line) in {(f.rule, f.line) for f in caught.value.faults}


def test_faults_of_all_parts_come_in_one_pass(tmp_path: Path) -> None:
    text = GOOD.replace("rows: 1000", "rows: x").replace("1.5 GB", "1.5").replace("derived", "guessed")
    with pytest.raises(InputError) as caught:
        load_model(write(tmp_path, text))
    assert {f.rule for f in caught.value.faults} == {"E011", "E003", "E017"}


def test_misspelt_key_comes_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'poolin' is not known.*did you mean 'pooling'\?"):
        load_model(write(tmp_path, GOOD.replace("pooling", "poolin")))


@pytest.mark.parametrize("text", ["", "- a list\n", "name: [unclosed\n", "name: x\nname: y\n"])
def test_files_that_are_no_model_are_one_clear_fault(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"E028|E006"):
        load_model(write(tmp_path, text))


@pytest.mark.parametrize("name", model_names())
def test_every_model_states_its_evidence(name: str) -> None:
    model = load_model(name)
    assert model.name == name
    assert model.figures
    for path, figure in model.figures.items():
        assert figure.source.startswith("http") or figure.status == "assumed", path
        if figure.low is not None and figure.high is not None:
            assert isinstance(figure.value, float), path
            assert figure.low <= figure.value <= figure.high, path


@pytest.mark.parametrize("name", ["gem-foundation", "video-ranking-800b", "retrieval-two-tower"])
def test_sizes_that_are_not_public_are_assumed_with_a_range(name: str) -> None:
    figures = load_model(name).figures
    assert all(figure.status in {"assumed", "reported"} for figure in figures.values())
    assert sum(figure.is_open for figure in figures.values()) >= 3
