"""What a planner gets wrong, and what is answered: place, rule and fix, all in one pass."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fleetplan.errors import Fault, InputError
from fleetplan.inputs.items import ITEMS
from fleetplan.inputs.load import check_scenario, load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.periods import Quarter
from tests.inputs.faults import SMALL, Workshop


def errors(shop: Workshop) -> list[Fault]:
    return list(check_scenario(shop.folder).errors)


def test_the_public_scenario_has_no_errors_and_is_as_large_as_its_sources_say(public: Scenario) -> None:
    # Counts of the planning case: 12 sites, 21 halls, 21 quarters, 16 accelerators, 8 workloads.
    assert len(public.sites) == 12
    assert len(public.halls) == 21
    assert len(public.horizon) == 21
    assert len(public.accelerators) == 16
    assert len(public.workloads) == 8
    assert len(public.power) == 21 * 21
    assert len(public.demand) == 8 * 21
    assert len(public.fleet) == 49
    assert len(public.supply) == 210


def test_the_public_scenario_adds_up_to_its_stated_totals(public: Scenario) -> None:
    def megawatts(quarter: str) -> float:
        return sum(row.facility_mw for row in public.power if row.quarter == Quarter.parse(quarter))

    assert megawatts("2026Q4") == pytest.approx(436.5)
    assert megawatts("2031Q4") == pytest.approx(1051.5)
    devices = dict.fromkeys(public.accelerators, 0)
    for cohort in public.fleet:
        devices[cohort.accelerator] += cohort.racks * (
            public.accelerators[cohort.accelerator].devices_per_rack or 0
        )
    assert devices["gb200"] == 34_848
    assert devices["mtia-300"] == 36_608
    assert devices["a100"] == 24_576
    used = sum(
        cohort.racks
        * (device.devices_per_rack or 0)
        * device.facility_kw_per_device(device.provisioned_cap_w or 0)
        for cohort in public.fleet
        if (device := public.accelerators[cohort.accelerator])
    )
    assert used / 1000 == pytest.approx(397.4, abs=0.1)


def test_every_figure_has_a_status_and_published_ones_have_a_source(public: Scenario) -> None:
    assert len(public.figures) > 3000
    for path, figure in public.figures.items():
        if figure.status in {"published", "reported"}:
            assert figure.source, path
    price = public.figures["supply[mtia-400,2027Q1].price_musd_per_rack"]
    assert (price.status, price.low is not None, price.unit) == ("assumed", True, "MUSD/rack")
    pue = public.figures["sites[sarpy-ne].pue_annual"]
    assert (pue.value, pue.low, pue.high, pue.status) == (1.08, 1.06, 1.1, "published")


def test_four_faults_of_four_kinds_come_in_one_pass_with_file_line_and_rule(shop: Workshop) -> None:
    shop.set_cell("supply", 2, "price_musd_per_rack", "")
    shop.set_cell("halls", 1, "site", "altoona")
    cells = shop.cells("fleet_today")
    shop.write("fleet_today", [*cells, cells[3]])
    cells = shop.cells("demand")
    cells[0][cells[0].index("demand_samples_per_s")] = "demand"
    shop.write("demand", cells[:2] + cells[2:])
    found = {(Path(one.file).name, one.line, one.rule) for one in errors(shop)}
    assert ("supply.csv", 4, "E012") in found
    assert ("halls.csv", 3, "E007") in found
    assert ("fleet_today.csv", 10, "E008") in found
    assert ("demand.csv", 1, "E003") in found
    near = next(one for one in errors(shop) if one.rule == "E007")
    assert "altoona-ia" in near.fix


def test_faults_name_the_character_column_that_editors_open(shop: Workshop) -> None:
    shop.path("sites").write_text(
        shop.path("sites").read_text().replace(",1.08,", ",one,", 1), encoding="utf-8"
    )
    fault = errors(shop)[0]
    line = shop.path("sites").read_text().splitlines()[(fault.line or 0) - 1]
    assert line[(fault.column or 0) - 1 :].startswith("one")


def test_a_column_without_unit_is_right_if_every_value_has_one(shop: Workshop, small: Scenario) -> None:
    cells = shop.cells("demand")
    index = cells[0].index("demand_samples_per_s")
    cells[0][index] = "demand"
    for row in cells[1:]:
        row[index] += " samples/s"
    shop.write("demand", cells)
    assert load_scenario(shop.folder).demand[0].samples_per_s == small.demand[0].samples_per_s


def test_a_column_in_which_only_some_values_have_a_unit_is_told_value_by_value(shop: Workshop) -> None:
    cells = shop.cells("demand")
    index = cells[0].index("demand_samples_per_s")
    cells[0][index] = "demand"
    cells[2][index] += " samples/s"
    shop.write("demand", cells)
    found = [one.line for one in errors(shop) if one.rule == "E003"]
    assert found == [2, *range(4, len(cells) + 1)]


def test_a_value_in_another_unit_of_the_same_kind_is_converted(shop: Workshop) -> None:
    shop.set_cell("power_by_quarter", 0, "facility_mw", "0.104 GW")
    changed = load_scenario(shop.folder)
    assert changed.power[-6].facility_mw == 104.0 or 104.0 in {row.facility_mw for row in changed.power}
    shop.set_cell("power_by_quarter", 0, "facility_mw", "104 MWh")
    assert [one.rule for one in errors(shop)] == ["E003"]


def test_a_header_in_another_unit_is_an_error_that_names_both(shop: Workshop) -> None:
    cells = shop.cells("power_by_quarter")
    cells[0][cells[0].index("facility_mw")] = "facility_kw"
    shop.write("power_by_quarter", cells)
    fault = next(one for one in errors(shop) if one.rule == "E003")
    assert "kW" in fault.message
    assert "MW" in fault.message


def test_a_blank_limit_is_no_limit_and_zero_is_zero(shop: Workshop) -> None:
    shop.set_cell("halls", 0, "max_rack_it_kw", "")
    assert load_scenario(shop.folder).halls["new-albany-oh-liquid"].max_rack_it_kw is None
    shop.set_cell("halls", 0, "max_rack_it_kw", "0")
    assert {one.rule for one in errors(shop)} == {"E023"}


@pytest.mark.parametrize("name", ["NA", "null", "None", "nan", "True", "1e5", "007", "Luleå"])
def test_words_that_other_tools_swallow_are_names(shop: Workshop, name: str) -> None:
    for table in ("sites", "sites_sources", "halls", "carbon"):
        text = shop.path(table).read_text(encoding="utf-8").replace("altoona-ia,", f"{name},")
        shop.path(table).write_text(text, encoding="utf-8")
    scenario = load_scenario(shop.folder)
    assert name in scenario.sites
    assert {hall.site for hall in scenario.halls.values()} == {name, "new-albany-oh"}


def test_names_that_differ_only_in_case_are_an_error(shop: Workshop) -> None:
    cells = shop.cells("sites")
    twin = ["Altoona-IA", *cells[2][1:]]
    shop.write("sites", [*cells, twin])
    assert "E019" in {one.rule for one in errors(shop)}


def test_a_missing_quarter_names_hall_and_quarter(shop: Workshop) -> None:
    cells = shop.cells("power_by_quarter")
    shop.write("power_by_quarter", [row for row in cells if row[:2] != ["altoona-ia-air", "2027Q2"]])
    assert [(one.rule, "altoona-ia-air" in one.message, "2027Q2" in one.message) for one in errors(shop)] == [
        ("E020", True, True)
    ]


@pytest.mark.parametrize(
    ("table", "row", "changes", "rule"),
    [
        ("supply", 0, {"committed_racks": "300", "option_racks": "300"}, "E021"),
        ("fleet_today", 0, {"hall": "altoona-ia-aalc"}, "E022"),
        ("fleet_today", 0, {"commissioned_quarter": "2021Q1"}, "E024"),
        ("fleet_today", 0, {"commissioned_quarter": "2027Q1"}, "E024"),
        ("demand", 0, {"status": "guessed"}, "E017"),
        ("sites", 0, {"status": "published", "source_url": ""}, "E018"),
        ("fleet_today", 0, {"racks": "2.5"}, "E013"),
        ("demand", 0, {"quarter": "2027-03-01"}, "E014"),
        ("rentals", 0, {"first_quarter": "2029Q1"}, "E016"),
        ("roles", 0, {"first_quarter": "2029Q1"}, "E016"),
        ("workloads", 0, {"allowed_sites": "atlantis"}, "E007"),
        ("power_caps", 0, {"speed_factor": "0.5"}, "E032"),
        ("accelerators", 0, {"accelerator": "mtia-500"}, "E007"),
    ],
)
def test_rules_between_cells(
    shop: Workshop, table: str, row: int, changes: dict[str, str], rule: str
) -> None:
    cells = shop.cells(table)
    for column, value in changes.items():
        if column not in cells[0]:
            cells = [[*cells[0], column], *([*line, ""] for line in cells[1:])]
        cells[row + 1][cells[0].index(column)] = value
    shop.write(table, cells)
    found = errors(shop)
    assert rule in {one.rule for one in found}
    assert all(one.line is not None for one in found)


@pytest.mark.parametrize(
    ("table", "item", "column", "value", "rule"),
    [
        ("lifecycle", "lot_racks", "value", "2.5", "E013"),
        ("lifecycle", "lot_racks", "value", "0", "E011"),
        ("lifecycle", "lot_racks", "scope", "mtia-4000", "E007"),
        ("lifecycle", "install_quarters", "unit", "racks", "E003"),
        ("finance", "discount_rate", "value", "9", "E011"),
        ("finance", "discount_timing", "value", "mid_quarter", "E015"),
        ("finance", "discount_timing", "unit", "fraction", "E003"),
        ("finance", "salvage_share", "scope", "merchants 1", "E015"),
        ("finance", "capex_budget_musd", "scope", "2027-01", "E015"),
        ("finance", "discount_rate", "item", "discount_rates", "E005"),
        ("carbon", "method", "value", "average", "E015"),
        ("carbon", "intensity_location_annual", "scope", "atlantis", "E007"),
        ("lifecycle", "mass_production", "value", "2027-01", "E014"),
    ],
)
def test_items_of_long_tables(
    shop: Workshop, table: str, item: str, column: str, value: str, rule: str
) -> None:
    cells = shop.cells(table)
    row = next(i for i, line in enumerate(cells) if line[0] == item)
    cells[row][cells[0].index(column)] = value
    shop.write(table, cells)
    assert (rule, row + 1) in {(one.rule, one.line) for one in errors(shop)}


def test_a_unit_of_the_same_kind_is_converted_in_a_long_table(shop: Workshop, small: Scenario) -> None:
    cells = shop.cells("lifecycle")
    row = next(i for i, line in enumerate(cells) if line[0] == "minimum_age_quarters")
    cells[row][2], cells[row][3], cells[row][5], cells[row][6] = "3", "years", "2", "4"
    shop.write("lifecycle", cells)
    assert load_scenario(shop.folder).lifecycle == small.lifecycle


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("supply", "price_low_musd_per_rack", "9"),
        ("demand", "low", "9e12"),
        ("power_by_quarter", "facility_mw", "0"),
    ],
)
def test_a_value_outside_its_interval_is_a_warning_and_the_value_holds(
    shop: Workshop, table: str, column: str, value: str
) -> None:
    shop.set_cell(table, 0, column, value)
    report = check_scenario(shop.folder)
    assert not report.errors
    assert [one.line for one in report.warnings if one.rule == "W116"] == [2]


def test_an_interval_that_is_upside_down_is_called_so_and_set_aside(shop: Workshop) -> None:
    cells = shop.cells("demand")
    low, high = cells[0].index("low"), cells[0].index("high")
    cells[1][low], cells[1][high] = cells[1][high], cells[1][low]
    shop.write("demand", cells)
    warned = [one for one in check_scenario(shop.folder).warnings if one.rule == "W116"]
    assert [("upside down" in one.message, one.line) for one in warned] == [(True, 2)]
    scenario = load_scenario(shop.folder)
    path = f"demand[{cells[1][0]},{cells[1][1]}].samples_per_s"
    assert not scenario.figures[path].is_open


def test_an_interval_of_a_stated_item_or_an_override_that_misses_its_value_is_a_warning(
    shop: Workshop,
) -> None:
    cells = shop.cells("finance")
    row = next(i for i, line in enumerate(cells) if line[0] == "discount_rate")
    cells[row][cells[0].index("low")] = "0.2"
    shop.write("finance", cells)
    path = shop.folder / "scenario.yaml"
    path.write_text(path.read_text().replace("value: 9.2 TB/s", "value: 99 TB/s", 1))
    report = check_scenario(shop.folder)
    assert not report.errors
    assert len([one for one in report.warnings if one.rule == "W116"]) == 2
    scenario = load_scenario(shop.folder)
    assert not scenario.figures["finance.discount_rate"].is_open


def test_whole_quarters_may_be_written_as_2027_0_racks_and_not_as_2027_5(shop: Workshop) -> None:
    shop.set_cell("fleet_today", 0, "racks", "256.0")
    assert load_scenario(shop.folder).fleet[2].racks == 256
    shop.set_cell("fleet_today", 0, "racks", "256.5")
    assert [one.rule for one in errors(shop)] == ["E013"]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("schema: 1", "schema: 7", "E026"),
        ("schema: 1", "", "E026"),
        ("name: small-2026", "name: ../up", "E019"),
        ("quarters: 6", "quarters: six", "E013"),
        ("quarters: 6", "quarters: 0", "E011"),
        ("quarters: 6", "quarters: 7", "E020"),
        ("start: 2026Q4", "start: 2026-10", "E014"),
        ("site_dates: planned", "site_dates: late", "E015"),
        ("site_dates: planned", "site_date: planned", "E005"),
        ("caps_per_accelerator: 3", "caps_per_accelerator: 0", "E011"),
        ("  gb300:", "  gb3000:", "E007"),
        ("value: 9.2 TB/s", "value: 9.2", "E003"),
        ("value: 9.2 TB/s", "value: 9.2 TB", "E003"),
        ("hbm_tb_per_s", "hbm_tb_per_z", "E005"),
        ("skew: 1.2", "skew: flat", "E011"),
        ("skew: 1.2", "skewed: 1.2", "E005"),
        ("  gb300:", "  gb300:\n  gb300:", "E006"),
        ("  gb300:", "  gb300: !!python/object/apply:os.system ['true']", "E028"),
        ("rules:", "rulez:", "E005"),
        ("rules:", "tables: {sites: ../../sites.csv}\nrules:", "E025"),
        ("rules:", "tables: {sites: /etc/hostname}\nrules:", "E025"),
        ("rules:", "tables: {sites: nowhere.csv}\nrules:", "E001"),
        ("  mtia-400:", "  mtia-400:\n    idle_w: 200 W", "E027"),
    ],
)
def test_faults_of_the_yaml_file_have_line_and_rule(shop: Workshop, old: str, new: str, rule: str) -> None:
    path = shop.folder / "scenario.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        found = errors(shop)
    except InputError as error:
        found = error.faults
    assert rule in {one.rule for one in found}, found
    assert all(one.line is not None or one.rule == "E001" for one in found)


def test_a_yaml_bomb_is_refused_at_once(shop: Workshop) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    (shop.folder / "scenario.yaml").write_text("\n".join(levels))
    with pytest.raises(InputError) as caught:
        load_scenario(shop.folder)
    assert {one.rule for one in caught.value.faults} <= {"E028", "E005", "E026"}


@pytest.mark.parametrize("text", ["", "- a\n", "a: [", "\t", "a: *a", "x" * 10, "[" * 5000])
def test_yaml_that_is_no_scenario_is_one_clear_error(shop: Workshop, text: str) -> None:
    (shop.folder / "scenario.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_scenario(shop.folder)
    assert {one.rule for one in caught.value.faults} & {"E028", "E026"}


def test_files_that_cannot_be_read_are_named(shop: Workshop) -> None:
    shop.path("sites").write_bytes("site,name\nluleå,x\n".encode("latin-1"))
    shop.path("demand").unlink()
    shop.path("halls").write_text('site,"hall\n')
    shop.path("supply").write_text("accelerator;delivery_quarter;max_racks\na;b;c\n")
    found = {(Path(one.file).name, one.rule) for one in errors(shop)}
    assert {
        ("sites.csv", "E002"),
        ("demand.csv", "E001"),
        ("halls.csv", "E002"),
        ("supply.csv", "E002"),
    } <= found


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_clear_line(shop: Workshop) -> None:
    shop.path("sites").chmod(0)
    assert "E001" in {one.rule for one in errors(shop)}


@pytest.mark.parametrize("table", ["finance", "lifecycle", "carbon"])
def test_every_item_without_which_there_is_no_plan_is_asked_for(shop: Workshop, table: str) -> None:
    cells = shop.cells(table)
    needed = [item.name for item in ITEMS[table].values() if item.needed]
    assert len(needed) >= 3
    for name in needed:
        shop.write(table, [row for row in cells if row[0] != name])
        found = [one for one in errors(shop) if one.rule == "E029"]
        assert any(repr(name) in one.message for one in found), name
        assert all(one.line is not None for one in found)


def test_a_symlink_out_of_the_folder_is_refused(shop: Workshop, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(shop.path("sites").read_text())
    shop.path("sites").unlink()
    shop.path("sites").symlink_to(outside)
    assert "E025" in {one.rule for one in errors(shop)}


def test_a_misspelt_file_name_is_told_with_the_right_one(shop: Workshop) -> None:
    shop.path("rentals").rename(shop.folder / "rental.csv")
    fault = next(one for one in errors(shop) if one.rule == "E005")
    assert "rentals" in fault.fix


def test_an_unknown_scenario_is_told_with_near_names() -> None:
    with pytest.raises(InputError, match="public-2026"):
        load_scenario("public-2027")


def test_a_scenario_may_start_from_nothing(shop: Workshop) -> None:
    cells = shop.cells("fleet_today")
    shop.write("fleet_today", cells[:1])
    assert load_scenario(shop.folder).fleet == ()


def test_longer_periods_are_read(shop: Workshop) -> None:
    path = shop.folder / "scenario.yaml"
    path.write_text(path.read_text().replace("quarters: 6", "periods: [1, 1, 4]"))
    assert load_scenario(shop.folder).horizon.lengths == (1, 1, 4)


def test_a_folder_may_have_blanks_and_letters_of_any_language(shop: Workshop, tmp_path: Path) -> None:
    folder = shop.folder.rename(tmp_path / "Pläne 2027 (ü)")
    shop_path = folder / "sites.csv"
    shop_path.write_text(shop_path.read_text().replace("Altoona IA", "Luleå 特"), encoding="utf-8")
    assert load_scenario(folder).sites["altoona-ia"].title == "Luleå 特"


def test_reading_does_not_depend_on_the_locale(shop: Workshop) -> None:
    text = shop.path("sites").read_text(encoding="utf-8").replace("Altoona IA", "Luleå")
    shop.path("sites").write_text(text, encoding="utf-8")
    code = f"from fleetplan.inputs.load import load_scenario as l; assert l({str(shop.folder)!r}).sites['altoona-ia'].title == 'Lule\\xe5'"
    env = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": str(SMALL.parents[2]),
    }
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_zero_of_everything_is_a_scenario(shop: Workshop) -> None:
    for table, columns in {
        "power_by_quarter": ["facility_mw", "facility_mw_if_dates_slip", "facility_mw_if_dates_early"],
        "demand": ["demand_samples_per_s"],
        "supply": ["max_racks", "committed_racks", "option_racks"],
    }.items():
        cells = shop.cells(table)
        for row in cells[1:]:
            for column in [*columns, "low", "high"]:
                row[cells[0].index(column)] = "0"
        shop.write(table, cells)
    scenario = load_scenario(shop.folder)
    assert {row.facility_mw for row in scenario.power} == {0.0}
    assert {row.samples_per_s for row in scenario.demand} == {0.0}
    assert {row.max_racks for row in scenario.supply} == {0}


def test_a_bundled_scenario_is_named_as_in_the_project_and_not_by_the_machine(public: Scenario) -> None:
    files = {row.origin.file for row in public.supply}
    assert files == {str(Path("data/scenarios/public-2026/supply.csv"))}


def test_small_is_the_scenario_that_the_fault_tests_spoil() -> None:
    assert check_scenario(SMALL).faults == ()


def test_an_interval_that_does_not_hold_its_value_leaves_nothing_open(small: Scenario) -> None:
    figure = next(f for f in small.figures.values() if f.is_open and isinstance(f.value, float))
    assert figure.high is not None
    assert not replace(figure, value=figure.high + 1.0).is_open
