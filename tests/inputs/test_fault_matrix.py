"""Every column of every table, spoilt in every way: a located error, or a meaning that is documented."""

from __future__ import annotations

from collections import Counter

import pytest

from fleetplan.errors import InputError
from fleetplan.inputs.load import check_scenario
from fleetplan.inputs.rules import RULES
from fleetplan.inputs.values import content_hash
from tests.inputs.faults import SMALL, Cells, Workshop

TABLES = sorted(path.stem for path in SMALL.glob("*.csv"))
SPOILT = {
    "blank": "",
    "text": "abc",
    "negative": "-7",
    "nan": "NaN",
    "infinite": "inf",
    "wrong unit": "3 furlongs",
    "german decimal": "1,5",
    "unknown name": "no-such-thing",
}
# Cells in which a value that is wrong elsewhere has a meaning. Kept by hand, apart from the layout
# that the code reads: a column that silently starts to accept more must be entered here.
BLANK_MEANS = {
    "note": "no note",
    "source_url": "assumed and derived rows need no source",
    "low": "no interval",
    "high": "no interval",
    "interval_of": "no interval, if low and high are blank too",
    "halls.max_rack_it_kw": "not limited",
    "workloads.goodput": "from the failure model",
    "workloads.straggler_factor": "1",
    "rentals.lead_time_quarters": "0",
    "rentals.commitment_quarters": "1",
    "roles.down_quarters": "0",
    "roles.minimum_age_quarters": "0",
    "power_by_quarter.facility_mw_if_dates_slip": "as planned",
    "power_by_quarter.facility_mw_if_dates_early": "as planned",
    "supply.price_low_musd_per_rack": "no interval",
    "supply.price_high_musd_per_rack": "no interval",
    "accelerators.idle_w": "as in the catalog",
    "measured.cap_w": "the highest cap",
    "evidence.unit": "a word",
}
FREE_TEXT = {"note", "source_url", "sites.name", "workloads.name", "sites.country"}
NAMES_DECLARED_HERE = {"fleet_today.cohort", "rentals.rental", "roles.role"}
EVIDENCE_TABLES = {"sites_sources", "workloads_sources", "evidence"}


def has_meaning(table: str, column: str, kind: str) -> bool:
    keys = {column, f"{table}.{column}"}
    if kind == "blank":
        return bool(keys & BLANK_MEANS.keys())
    if keys & FREE_TEXT or f"{table}.{column}" in NAMES_DECLARED_HERE:
        return True
    # Evidence states words too, of which there is no order; it decides nothing.
    return table in EVIDENCE_TABLES and column in {"item", "scope", "value", "unit", "low", "high", "field"}


def spoil(shop: Workshop, table: str, row: int, column: str, kind: str, value: str) -> str:
    """Spoil one cell; return how it was answered, and fail unless that is right."""
    line = shop.set_cell(table, row, column, value)
    where = f"{table}.{column} row {row} {kind}"
    try:
        report = check_scenario(shop.folder)
    except InputError as error:  # pragma: no cover - tables never stop the check
        pytest.fail(f"{where}: {error}")
    own = [one for one in report.faults if one.file == str(shop.path(table))]
    for one in report.faults:
        assert one.rule in RULES, where
        assert one.message, where
    if report.scenario is None:
        assert any(one.line in {line, 1} or one.line is not None for one in own) or report.errors, where
        assert any(
            one.file == str(shop.path(table)) and one.severity == "error" for one in report.faults
        ) or (any(one.rule == "E007" for one in report.errors)), f"{where}: {report.errors}"
        return "error"
    assert has_meaning(table, column, kind), f"{where} was accepted: {value!r}"
    return "meaning"


@pytest.mark.parametrize("table", TABLES)
def test_every_spoilt_cell_is_an_error_with_a_place_or_has_a_documented_meaning(
    shop: Workshop, table: str, record_property: pytest.RecordProperty
) -> None:
    counts: Counter[str] = Counter()
    cells = shop.cells(table)
    row = (len(cells) - 1) // 2
    for column in cells[0]:
        for kind, value in SPOILT.items():
            counts[spoil(shop, table, row, column, kind, value)] += 1
    record_property("fault matrix", f"{table}: {dict(counts)}")
    print(f"fault matrix {table}: {dict(counts)}")  # noqa: T201 - the counts are asked for
    assert counts["error"] > 0


@pytest.mark.parametrize("table", ["finance", "lifecycle", "carbon"])
def test_every_item_of_a_long_table_refuses_spoilt_values_and_units(shop: Workshop, table: str) -> None:
    seen: set[str] = set()
    for row, cells in enumerate(shop.cells(table)[1:]):
        if cells[0] in seen:
            continue
        seen.add(cells[0])
        for column in ("scope", "value", "unit"):
            for kind in ("blank", "nan", "wrong unit"):
                assert spoil(shop, table, row, column, kind, SPOILT[kind]) == "error"


@pytest.mark.parametrize("table", TABLES)
def test_a_repeated_row_is_an_error_at_its_line(shop: Workshop, table: str) -> None:
    cells = shop.cells(table)
    shop.write(table, [*cells, cells[1]])
    found = [one for one in check_scenario(shop.folder).errors if one.rule == "E008"]
    assert [(one.file, one.line) for one in found] == [(str(shop.path(table)), len(cells) + 1)]


@pytest.mark.parametrize("table", TABLES)
def test_a_renamed_or_removed_column_is_an_error_unless_it_may_be_left_out(
    shop: Workshop, table: str
) -> None:
    cells = shop.cells(table)
    for index, column in enumerate(cells[0]):
        renamed = [[*cells[0][:index], f"{column}_furlong", *cells[0][index + 1 :]], *cells[1:]]
        shop.write(table, renamed)
        errors = check_scenario(shop.folder).errors
        assert any(one.file == str(shop.path(table)) and one.line == 1 for one in errors), (table, column)
        shop.write(table, [[*row[:index], *row[index + 1 :]] for row in cells])
        report = check_scenario(shop.folder)
        if report.scenario is not None:
            assert has_meaning(table, column, "blank"), f"{table} without {column} was accepted"


def _bom(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data


def _crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def _trailing_commas(data: bytes) -> bytes:
    return data.replace(b"\n", b",\n")


def _trailing_blank_lines(data: bytes) -> bytes:
    return data + b"\n,,,\n\n"


def _spaces(data: bytes) -> bytes:
    return data.replace(b",", b" , ") if b'"' not in data else data


@pytest.mark.parametrize("disguise", [_bom, _crlf, _trailing_commas, _trailing_blank_lines, _spaces])
def test_the_way_a_table_is_saved_changes_nothing(shop: Workshop, disguise: object) -> None:
    assert callable(disguise)
    before = check_scenario(SMALL).scenario
    assert before is not None
    for table in TABLES:
        shop.write_bytes(table, disguise(shop.path(table).read_bytes()))
    after = check_scenario(shop.folder).scenario
    assert after is not None
    assert content_hash(after) == content_hash(before)


def test_a_trailing_comma_in_one_row_changes_nothing_and_a_surplus_cell_is_an_error(shop: Workshop) -> None:
    lines = shop.path("supply").read_text().splitlines()
    shop.path("supply").write_text("\n".join([lines[0], lines[1] + ",", *lines[2:]]) + "\n")
    assert not check_scenario(shop.folder).errors
    shop.path("supply").write_text("\n".join([lines[0], lines[1] + ",surplus", *lines[2:]]) + "\n")
    assert [(one.rule, one.line) for one in check_scenario(shop.folder).errors] == [("E010", 2)]


def _shuffled(cells: Cells) -> Cells:
    return [cells[0], *reversed(cells[1:])]


def test_the_order_of_rows_changes_nothing(shop: Workshop) -> None:
    before = check_scenario(SMALL).scenario
    for table in TABLES:
        shop.write(table, _shuffled(shop.cells(table)))
    after = check_scenario(shop.folder).scenario
    assert before is not None
    assert after is not None
    assert content_hash(after) == content_hash(before)
    assert list(after.sites) == list(before.sites)
    assert [row.hall for row in after.power] == [row.hall for row in before.power]
