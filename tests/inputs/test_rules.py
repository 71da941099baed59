from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from fleetplan.inputs.items import ITEMS
from fleetplan.inputs.layout import TABLES
from fleetplan.inputs.load import check_scenario
from fleetplan.inputs.reference import inputs_page
from fleetplan.inputs.rules import RULES, rules_page
from fleetplan.inputs.schema import json_schema
from fleetplan.inputs.suspicions import suspicions
from fleetplan.inputs.values import with_value
from tests.inputs.faults import SMALL, Workshop

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "data" / "scenarios" / "public-2026"


def test_every_rule_has_a_sentence_a_fix_and_a_place_in_the_docs() -> None:
    page = rules_page()
    for rule in RULES.values():
        assert re.fullmatch(r"E[079]\d\d|W1\d\d", rule.id)
        assert rule.sentence.endswith(".")
        assert rule.fix
        assert f"## {rule.id}\n" in page
        assert rule.anchor == f"docs/rules.md#{rule.id.lower()}"


def test_the_page_of_rules_is_the_one_in_the_docs() -> None:
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == rules_page()


def test_the_input_reference_is_current_and_names_every_column_and_item() -> None:
    page = (ROOT / "docs" / "inputs.md").read_text(encoding="utf-8")
    assert page == inputs_page()
    for spec in TABLES.values():
        assert all(f"`{column.name}`" in page for column in spec.fields)
    for items in ITEMS.values():
        assert all(f"`{item}`" in page for item in items)


def test_every_rule_of_the_register_is_used_and_every_used_rule_is_registered() -> None:
    used: set[str] = set()
    for path in (ROOT / "fleetplan").rglob("*.py"):
        if path.name != "rules.py":
            used |= set(re.findall(r'"([EW]\d\d\d)"', path.read_text(encoding="utf-8")))
    assert used == set(RULES)


@pytest.mark.parametrize("folder", [SMALL, PUBLIC])
def test_the_schema_accepts_the_bundled_scenarios(folder: Path) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load((folder / "scenario.yaml").read_text()), schema)


@pytest.mark.parametrize(
    "wrong",
    [{"horizon": {"start": "2026-10", "quarters": 4}}, {"colour": 1}, {"rules": {"site_dates": "late"}}],
)
def test_the_schema_refuses_what_the_check_refuses(wrong: dict[str, object]) -> None:
    data = yaml.safe_load((SMALL / "scenario.yaml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | wrong, json_schema())


def warned(shop: Workshop) -> set[tuple[str, str, int | None]]:
    report = check_scenario(shop.folder)
    assert report.errors == ()
    return {(one.rule, Path(one.file).stem, one.line) for one in report.warnings}


def test_power_that_falls_is_suspicious_unless_another_hall_of_the_site_takes_it(shop: Workshop) -> None:
    cells = shop.cells("power_by_quarter")
    row = next(i for i, line in enumerate(cells) if line[:2] == ["altoona-ia-air", "2027Q2"])
    at = cells[0].index("facility_mw")
    cells[row][at] = cells[row][cells[0].index("low")] = "1"
    shop.write("power_by_quarter", cells)
    assert ("W101", "power_by_quarter", row + 1) in warned(shop)
    other = next(i for i, line in enumerate(cells) if line[:2] == ["altoona-ia-aalc", "2027Q2"])
    cells[other][at] = "70"
    cells[other][cells[0].index("high")] = "70"
    shop.write("power_by_quarter", cells)
    assert "W101" not in {rule for rule, _, line in warned(shop) if line == row + 1}


def test_a_site_that_may_serve_nothing_and_a_workload_without_a_home_are_suspicious(shop: Workshop) -> None:
    cells = shop.cells("workloads")
    cells = [[*cells[0], "allowed_sites"], *([*line, "new-albany-oh"] for line in cells[1:])]
    shop.write("workloads", cells)
    assert ("W103", "sites", 3) in warned(shop)
    power = [
        [*line[:2], "0", *line[3:]] if line[0] == "new-albany-oh-liquid" else line
        for line in shop.cells("power_by_quarter")
    ]
    for column in ("low", "high", "interval_of"):
        at = power[0].index(column)
        power = [power[0], *([*line[:at], "", *line[at + 1 :]] for line in power[1:])]
    shop.write("power_by_quarter", power)
    found = warned(shop)
    assert {("W104", "workloads", 2), ("W104", "workloads", 3)} <= found
    assert "W111" in {rule for rule, _, _ in found}


def test_a_price_that_is_off_by_a_thousand_is_suspicious(shop: Workshop) -> None:
    cells = shop.cells("supply")
    row = next(i for i, line in enumerate(cells) if line[0] == "mtia-400")
    for name in ("price_musd_per_rack", "price_high_musd_per_rack"):
        at = cells[0].index(name)
        cells[row][at] = str(float(cells[row][at]) * 1000)
    shop.write("supply", cells)
    found = [one for one in check_scenario(shop.folder).warnings if one.rule == "W106"]
    assert [one.line for one in found] == [row + 1]
    assert "1e+03 times" in found[0].message


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("sites", "energy_price_usd_per_mwh", "0.079"),
        ("power_by_quarter", "facility_mw", "104000"),
        ("fleet_today", "purchase_price_musd_per_rack", "1050"),
        ("workloads", "deadline_days_per_run", "1209600"),
        ("demand", "demand_samples_per_s", "3e14"),
    ],
)
def test_a_value_in_what_is_probably_another_unit_is_suspicious(
    shop: Workshop, table: str, column: str, value: str
) -> None:
    cells = shop.cells(table)
    cells[1][cells[0].index(column)] = value
    for name in ("low", "high", "interval_of"):
        cells[1][cells[0].index(name)] = ""
    shop.write(table, cells)
    assert ("W114", table, 2) in warned(shop)


def test_supply_that_nobody_can_power_is_suspicious(shop: Workshop) -> None:
    shop.write("fleet_today", shop.cells("fleet_today")[:1])
    cells = shop.cells("halls")
    at = cells[0].index("cooling_class")
    shop.write("halls", [cells[0], *([*line[:at], "air", *line[at + 1 :]] for line in cells[1:])])
    assert {"W102"} <= {rule for rule, table, _ in warned(shop) if table == "supply"}


def test_gaps_old_racks_and_rows_beyond_the_horizon_are_suspicious(shop: Workshop) -> None:
    cells = shop.cells("supply")
    gap = [line for line in cells if line[:2] != ["mtia-400", "2027Q3"]]
    shop.write("supply", gap)
    assert "W108" in {rule for rule, _, _ in warned(shop)}
    path = shop.folder / "scenario.yaml"
    path.write_text(path.read_text().replace("quarters: 6", "quarters: 4"))
    assert {"W107"} <= {rule for rule, _, _ in warned(shop)}


def test_deliveries_before_availability_or_ordered_in_the_past_are_suspicious(shop: Workshop) -> None:
    cells = shop.cells("supply")
    row = next(i for i, line in enumerate(cells) if line[:2] == ["mtia-300", "2027Q1"])
    for name, value in {"new_orders_can_arrive": "yes", "committed_racks": "0", "option_racks": "0"}.items():
        cells[row][cells[0].index(name)] = value
    shop.write("supply", cells)
    path = shop.folder / "scenario.yaml"
    path.write_text(path.read_text().replace("    hbm_tb", "    available_from: 2027Q3\n    hbm_tb"))
    found = {(one.line, one.field) for one in check_scenario(shop.folder).warnings if one.rule == "W115"}
    assert (row + 1, "new_orders_can_arrive") in found
    early = next(i for i, line in enumerate(cells) if line[:2] == ["mtia-400", "2027Q1"])
    assert (early + 1, "max_racks") in found


def test_racks_beyond_their_maximum_age_are_suspicious(shop: Workshop) -> None:
    cells = shop.cells("lifecycle")
    row = next(i for i, line in enumerate(cells) if line[0] == "maximum_age_quarters")
    cells[row][2], cells[row][5], cells[row][6] = "10", "8", "12"
    shop.write("lifecycle", cells)
    assert "W109" in {rule for rule, _, _ in warned(shop)}


def test_evidence_that_says_something_else_is_suspicious(shop: Workshop) -> None:
    shop.set_cell("sites", 0, "pue_annual", "1.09")
    found = [one for one in check_scenario(shop.folder).warnings if one.rule == "W110"]
    assert len(found) == 1
    assert "sites.csv:2" in found[0].message


def test_a_wide_interval_of_a_price_is_named_with_its_path(shop: Workshop) -> None:
    cells = shop.cells("supply")
    row = next(i for i, line in enumerate(cells) if line[0] == "mtia-400")
    cells[row][cells[0].index("price_low_musd_per_rack")] = "0.2"
    shop.write("supply", cells)
    found = [one for one in check_scenario(shop.folder).warnings if one.rule == "W105"]
    assert len(found) == 1
    assert found[0].field.startswith("supply[mtia-400,")


def test_a_model_that_no_workload_uses_is_suspicious(shop: Workshop) -> None:
    path = shop.folder / "scenario.yaml"
    path.write_text(path.read_text().replace("models:\n", "models:\n  dlrm-dcnv2: {skew: 2}\n"))
    assert "W112" in {rule for rule, _, _ in warned(shop)}


def test_suspicions_follow_the_scenario(shop: Workshop) -> None:
    report = check_scenario(shop.folder)
    assert report.scenario is not None
    assert suspicions(report.scenario, {}) == []
    falling = with_value(report.scenario, "power[altoona-ia-air,2027Q4].facility_mw", 0.5)
    assert {one.rule for one in suspicions(falling, {})} >= {"W101"}
