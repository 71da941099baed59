"""Formats from a plan: each file whole, none over a stored plan's own."""

from __future__ import annotations

import stat
from dataclasses import replace

import pandas as pd
import pytest

from fleetplan.errors import MissingExtraError, SolverError, UsageError
from fleetplan.performance.table import OPTIONS
from fleetplan.plan.csvs import read_csv
from fleetplan.plan.schema import TABLES
from fleetplan.report import write_report
from fleetplan.report.pdf import browser


def test_formats_come_in_the_order_asked_for(small, tmp_path):
    paths = write_report(small, ["md", "csv", "html", "md"], tmp_path / "new")
    assert [p.name for p in paths] == ["report.md", "csv", "report.html"]
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["csv", "report.html", "report.md"]


def test_csv_reads_back_as_the_tables(hostile, tmp_path):
    (folder,) = write_report(hostile, ["csv"], tmp_path)
    for spec in (*TABLES, OPTIONS):
        frame = hostile.options if spec is OPTIONS else hostile.tables[spec.name]
        pd.testing.assert_frame_equal(read_csv(spec, folder / f"{spec.name}.csv"), frame)


def test_every_column_written_is_in_the_dictionary(small, tmp_path):
    (folder,) = write_report(small, ["csv"], tmp_path)
    words = pd.read_csv(folder / "datadictionary.csv", keep_default_na=False)
    described = set(zip(words["table"], words["column"], strict=True))
    for file in folder.glob("*.csv"):
        if file.stem != "datadictionary":
            columns = file.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
            assert {(file.stem, c) for c in columns} <= described, file.name
    assert (words["meaning"] != "").all()


def test_parquet_keeps_types_and_values(small, tmp_path):
    pytest.importorskip("pyarrow")
    (folder,) = write_report(small, ["parquet"], tmp_path)
    back = pd.read_parquet(folder / "ledger.parquet")
    pd.testing.assert_frame_equal(back, small.ledger, check_dtype=False)
    assert back["npv_musd"].dtype == "float64"
    assert back["sunk"].dtype == "bool"


def test_parquet_without_its_part_names_the_extra(small, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"fleetplan\[parquet\]"):
        write_report(small, ["parquet"], tmp_path)


def test_markdown_holds_the_decision_and_no_live_markup(hostile, tmp_path):
    (path,) = write_report(hostile, ["md"], tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "## What to do this quarter (2026Q4)" in text
    assert "<script" not in text.replace("\\<script", "")
    assert all(line.count(" | ") == 5 for line in text.splitlines() if line.startswith("| 4"))


@pytest.mark.parametrize("formats", [["docx"], [], ["html", "doc"]])
def test_unknown_formats_are_named_with_the_known_ones(small, tmp_path, formats):
    with pytest.raises(UsageError, match="write one or more of html, csv, xlsx, parquet, md, pdf"):
        write_report(small, formats, tmp_path)


def test_a_file_of_the_stored_plan_is_never_replaced(small, tmp_path):
    (tmp_path / "report.html").write_text("part of the plan", encoding="utf-8")
    manifest = small.manifest.model_copy(update={"files_sha256": {"report.html": "0"}})
    stored = replace(small, folder=tmp_path, manifest=manifest)
    with pytest.raises(UsageError, match="is part of the stored plan and would change"):
        write_report(stored, ["html"], tmp_path)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "part of the plan"
    assert write_report(stored, ["html"], tmp_path / "other")


def test_a_stored_report_that_comes_out_the_same_is_left_alone(small, tmp_path):
    from fleetplan.plan.store import read_plan, write_plan

    folder = write_plan(
        small, tmp_path / "plan", also=lambda partial: write_report(small, ["md", "xlsx"], partial)
    )
    before = (folder / "report.md").stat().st_mtime_ns
    assert write_report(folder, ["md", "xlsx"], folder) == [folder / "report.md", folder / "report.xlsx"]
    assert (folder / "report.md").stat().st_mtime_ns == before
    assert read_plan(folder).cost_musd == small.cost_musd


def test_a_folder_that_cannot_be_written_is_one_clear_line(small, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SolverError, match="cannot write the report to"):
        write_report(small, ["md"], tmp_path / "file")


def test_pdf_without_a_browser_says_what_to_install(small, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLEETPLAN_BROWSER", raising=False)
    with pytest.raises(SolverError, match="a PDF needs a browser"):
        write_report(small, ["pdf"], tmp_path / "out")


def test_a_browser_that_fails_leaves_nothing_behind(small, tmp_path, monkeypatch):
    fake = tmp_path / "browser"
    fake.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FLEETPLAN_BROWSER", str(fake))
    with pytest.raises(SolverError, match="could not print the report"):
        write_report(small, ["pdf"], tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.browser
def test_pdf_is_a_pdf(small, tmp_path):
    if browser() is None:
        pytest.skip("no browser is installed")
    (path,) = write_report(small, ["pdf"], tmp_path)
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_size > 50_000
