from __future__ import annotations

import shutil
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from fleetplan.errors import InputError, UsageError
from fleetplan.inputs.init import init_scenario
from fleetplan.inputs.load import check_scenario, load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import content_hash
from tests.inputs.faults import SMALL, Workshop


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return init_scenario(tmp_path / "plan", SMALL, xlsx=True)


def test_a_workbook_reads_back_to_the_same_scenario(book: Path, small: Scenario) -> None:
    report = check_scenario(book)
    assert report.faults == ()
    assert report.scenario is not None
    assert report.scenario.name == "plan"
    assert content_hash(report.scenario) == content_hash(small)
    assert {p: (f.value, f.low, f.high, f.source) for p, f in report.scenario.figures.items()} == {
        p: (f.value, f.low, f.high, f.source) for p, f in small.figures.items()
    }


def test_a_workbook_offers_the_declared_names(book: Path) -> None:
    sheets = openpyxl.load_workbook(book)
    names = {
        cells[0].value: [cell.value for cell in cells[1:] if cell.value] for cells in sheets["names"].columns
    }
    assert names["site"] == ["altoona-ia", "new-albany-oh"]
    assert names["accelerator"] == ["gb300", "h100-500w", "mtia-300", "mtia-400"]
    lists = {
        str(rule.sqref).split(":")[0]: rule.formula1
        for rule in sheets["fleet_today"].data_validations.dataValidation
    }
    header = [cell.value for cell in sheets["fleet_today"][1]]
    letter = openpyxl.utils.get_column_letter(header.index("hall") + 1)
    assert lists[f"{letter}2"].startswith("names!$")
    status = openpyxl.utils.get_column_letter(header.index("status") + 1)
    assert lists[f"{status}2"] == '"published,reported,derived,assumed"'


def test_faults_in_a_workbook_name_sheet_row_and_column(book: Path) -> None:
    sheets = openpyxl.load_workbook(book)
    sheet = sheets["supply"]
    header = [cell.value for cell in sheet[1]]
    column = header.index("price_musd_per_rack") + 1
    sheet.cell(3, column).value = None
    sheet.cell(4, column).value = "=1+1"
    sheet.cell(5, header.index("accelerator") + 1).value = "mtia-4000"
    sheets.save(book)
    found = {(one.file, one.line, one.column, one.rule) for one in check_scenario(book).errors}
    name = f"{book}[supply]"
    assert (name, 3, column, "E012") in found
    assert (name, 4, column, "E033") in found
    assert (name, 5, 1, "E007") in found


def test_a_name_that_starts_with_an_equals_sign_is_no_formula(shop: Workshop, tmp_path: Path) -> None:
    shop.set_cell("sites", 0, "name", "=cmd|' /C calc'!A0")
    book = init_scenario(tmp_path / "evil.xlsx", shop.folder, xlsx=True)
    sheet = openpyxl.load_workbook(book)["sites"]
    assert sheet.cell(2, 2).data_type == "s"
    assert load_scenario(book).sites["new-albany-oh"].title == "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a workbook", b"\xd0\xcf\x11\xe0" * 200])
def test_what_is_no_workbook_is_one_clear_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "plan.xlsx"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert [one.rule for one in caught.value.faults] == ["E002"]


def test_parquet_tables_read_as_csv_tables_do(shop: Workshop, small: Scenario) -> None:
    for table in shop.tables():
        frame = pd.read_csv(shop.path(table), keep_default_na=False, dtype=str)
        if table == "supply":
            frame["max_racks"] = frame["max_racks"].astype(int)
            frame["price_musd_per_rack"] = frame["price_musd_per_rack"].astype(float)
        frame.to_parquet(shop.folder / f"{table}.parquet")
        shop.path(table).unlink()
    assert content_hash(load_scenario(shop.folder)) == content_hash(small)


def test_a_null_in_parquet_is_a_blank_with_its_row(shop: Workshop) -> None:
    frame = pd.read_csv(shop.path("supply"), keep_default_na=False)
    frame["price_musd_per_rack"] = frame["price_musd_per_rack"].astype(float)
    frame.loc[2, "price_musd_per_rack"] = None
    frame.to_parquet(shop.folder / "supply.parquet")
    shop.path("supply").unlink()
    assert [(one.rule, one.line) for one in check_scenario(shop.folder).errors] == [("E012", 4)]


def test_what_is_no_parquet_file_is_one_clear_error(shop: Workshop) -> None:
    shop.path("supply").unlink()
    (shop.folder / "supply.parquet").write_bytes(b"PAR1 nonsense")
    assert [one.rule for one in check_scenario(shop.folder).errors] == ["E002"]


def test_init_copies_a_scenario_that_loads(tmp_path: Path, public: Scenario) -> None:
    folder = init_scenario(tmp_path / "new" / "plan")
    assert content_hash(load_scenario(folder)) == content_hash(public)
    assert (folder / "README.md").is_file()
    assert load_scenario(folder).name == "plan"


def test_init_never_writes_over_anything(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        init_scenario(tmp_path / "plan", SMALL)
    assert list((tmp_path / "plan").iterdir()) == []


def test_a_failed_init_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(SMALL, broken)
    (broken / "scenario.yaml").write_text("[")
    with pytest.raises(InputError):
        init_scenario(tmp_path / "plan.xlsx", broken, xlsx=True)
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]
