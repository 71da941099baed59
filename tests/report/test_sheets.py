"""The workbook opens clean, its totals are live and equal the ledger, and no name becomes a formula."""

from __future__ import annotations

import warnings

import openpyxl
import pytest

from fleetplan.errors import SolverError
from fleetplan.performance.table import OPTIONS
from fleetplan.plan.schema import TABLES
from fleetplan.report import write_report


@pytest.fixture(scope="module")
def path(small, tmp_path_factory):
    return write_report(small, ["xlsx"], tmp_path_factory.mktemp("sheets"))[0]


@pytest.fixture(scope="module")
def hostile_path(hostile, tmp_path_factory):
    return write_report(hostile, ["xlsx"], tmp_path_factory.mktemp("hostile"))[0]


@pytest.fixture(scope="module")
def book(path):
    return openpyxl.load_workbook(path)


@pytest.mark.parametrize("spec", [*TABLES, OPTIONS], ids=lambda s: s.name)
def test_every_table_is_a_typed_sheet_with_frozen_header(book, small, spec):
    frame = small.options if spec is OPTIONS else small.tables[spec.name]
    sheet = book[spec.name]
    assert [cell.value for cell in sheet[1]] == spec.names
    assert sheet.freeze_panes is not None
    assert sheet.freeze_panes.endswith("2")
    assert sheet.max_row == len(frame) + 1
    types = {"text": (str, type(None)), "int": (int,), "float": (int, float), "bool": (bool,)}
    for at, column in enumerate(spec.columns):
        got = [row[at] for row in sheet.iter_rows(min_row=2, values_only=True)]
        assert all(isinstance(v, types[column.type]) for v in got), column.name
        expected = frame[column.name].tolist()
        assert [v or "" if column.type == "text" else v for v in got] == pytest.approx(
            expected
        ) or got == expected


def test_stored_totals_equal_the_ledger(path, small):
    values = _labelled(openpyxl.load_workbook(path, data_only=True)["summary"])
    assert values["total of the ledger"] == pytest.approx(small.ledger["npv_musd"].sum(), rel=1e-12)
    assert values["objective of the plan"] == pytest.approx(small.cost_musd, rel=1e-12)
    assert values["total of the orders"] == small.orders["racks"].sum()


def test_totals_are_formulas_over_the_sheets(book):
    sheet = book["summary"]
    formulas = [c.value for row in sheet.iter_rows() for c in row if c.data_type == "f"]
    assert len(formulas) > 20
    assert any("ledger!" in f for f in formulas)
    assert any("orders!" in f for f in formulas)
    assert any("power!" in f for f in formulas)


@pytest.mark.parametrize("which", ["path", "hostile_path"])
def test_recomputed_totals_equal_the_tables(which, request):
    """Computed from scratch by an independent spreadsheet engine, not read from what was stored."""
    path = request.getfixturevalue(which)
    plan = request.getfixturevalue({"path": "small", "hostile_path": "hostile"}[which])
    values = _computed(path)
    assert values["total of the ledger"] == pytest.approx(plan.ledger["npv_musd"].sum(), rel=1e-9)
    assert values["difference"] == pytest.approx(0, abs=1e-6)
    for item, total in plan.ledger.groupby("item")["npv_musd"].sum().items():
        assert values[item] == pytest.approx(total, rel=1e-9), item
    for name, racks in plan.orders.groupby("accelerator")["racks"].sum().items():
        assert values[name] == pytest.approx(racks), name
    for period, used in plan.power.groupby("period")["used_mw"].sum().items():
        assert values[period] == pytest.approx(used), period


def test_hostile_names_are_quoted_text(hostile_path, hostile):
    book = openpyxl.load_workbook(hostile_path)
    sheet = book["orders"]
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert {c.value for c in cells} == set(hostile.orders["accelerator"])
    assert all(c.data_type == "s" and c.quotePrefix for c in cells)
    for name in book.sheetnames:
        for row in book[name].iter_rows():
            for cell in row:
                assert cell.data_type != "f" or name == "summary"
    for row in book["summary"].iter_rows():
        for cell in row:
            assert cell.data_type != "f" or "cmd" not in cell.value


def test_a_table_too_long_for_a_sheet_is_one_clear_line(small, tmp_path, monkeypatch):
    monkeypatch.setattr("fleetplan.report.sheets.MAX_ROWS", 10)
    with pytest.raises(SolverError, match="rows, an Excel sheet holds 10: write it as parquet or csv"):
        write_report(small, ["xlsx"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def _labelled(sheet):
    return {row[0]: row[1] for row in sheet.iter_rows(values_only=True) if row[1] is not None}


def _computed(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import formulas

        cells = formulas.ExcelModel().loads(str(path)).finish().calculate()
    labels, numbers = {}, {}
    for key, cell in cells.items():
        sheet, _, place = str(key).rpartition("!")
        if sheet.endswith("SUMMARY'") and place[:1] in "AB" and place[1:].isdigit():
            into = labels if place[0] == "A" else numbers
            into[int(place[1:])] = cell.value[0, 0]
    return {labels[row]: value for row, value in numbers.items() if row in labels}
