"""Version 0: no scenario.yaml, wide tables that repeat the catalog, free wording in the long ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fleetplan.errors import InputError, UsageError
from fleetplan.inputs.load import check_scenario, load_scenario
from fleetplan.inputs.migrate import migrate
from fleetplan.inputs.scenario import Scenario
from tests.inputs.faults import SMALL, Cells, to_csv

OLD_ITEMS = {
    "finance": {
        "discount_rate": ("wacc_nominal", "all", "per year"),
        "inflation_per_year": ("inflation_general", "opex", "per year"),
        "economic_life_years": ("economic_life", "accelerator racks", "years"),
        "opex_musd_per_facility_mw_year": ("opex_non_energy", "facility", "M USD per facility MW per year"),
        "deploy_cost_share": ("deploy_cost", "per rack", "fraction of price"),
        "move_cost_share": ("move_cost", "per rack between sites", "fraction of price"),
        "decommission_cost_share": ("decommission_cost", "per rack", "fraction of price"),
        "bonus_share": ("bonus_depreciation_first_year", "US equipment", "fraction"),
    },
    "lifecycle": {
        "install_quarters": ("install_and_burn_in", "all", "quarters"),
        "burn_in_loss_share": ("burn_in_early_failures", "first quarter", "fraction of racks"),
        "attrition_per_year": ("attrition", "accelerators years 1-4", "per year"),
        "attrition_multiplier": ("attrition_multiplier", "from year 5", "ratio"),
        "failures_per_1000_node_days": ("failures_node", "research clusters", "per 1000 node-days"),
        "spare_share": ("spare_share", "training jobs", "fraction"),
        "maintenance_share": ("maintenance_buffer", "all regions", "fraction"),
        "minimum_age_quarters": ("minimum_age_before_retirement", "all", "quarters"),
        "maximum_age_quarters": ("maximum_physical_age", "all", "quarters"),
        "diversity_factor": ("diversity_factor", "training only hall", "fraction"),
        "movable_work_share": ("data_gravity_share", "work that may move", "fraction"),
    },
    "carbon": {
        "price_usd_per_t": ("carbon_price_internal", "all", "USD/tCO2e"),
        "cap_mt_per_year": ("carbon_cap_fleet_location_based", "2027", "MtCO2e per year"),
    },
}
GONE = {"tax_depreciation", "attrition_multiplier_from_year", "method"}


def cells(table: str) -> Cells:
    with (SMALL / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def old_row(table: str, row: list[str]) -> list[str] | None:
    item, scope, value, unit, *rest = row
    if item in GONE:
        return None
    if item in OLD_ITEMS[table]:
        item, scope, unit = OLD_ITEMS[table][item]
    elif item == "discount_timing":
        value = "mid_quarter"
    elif item == "salvage_share":
        kind, _, year = scope.partition(" year ")
        item, scope = (
            f"salvage_share_year{year}",
            {"own": "own silicon", "merchant": "merchant accelerators"}[kind],
        )
    elif item == "maintenance_share_per_year":
        item, scope = (
            "maintenance_share",
            {"from year 0": "racks in years 1-3"}.get(scope, "racks from year 4"),
        )
    elif item == "capex_budget_musd":
        item, scope = "capex_budget_fleet", "per quarter 2027"
        return None if row[1] != "2027Q1" else [item, scope, value, "M USD", *rest]
    elif item == "mass_production":
        item, unit = "mass_production_quarter", "quarter"
    elif item == "power_stage_factor":
        item, scope = "power_budget_factor_synchronous_training", f"{scope} (some words)"
    elif item == "embodied_t_per_rack":
        item = "embodied_rack"
    elif item == "intensity_trend_per_year":
        item = "intensity_trend"
    return [item, scope, value, unit, *rest]


@pytest.fixture
def version_0(tmp_path: Path) -> Path:
    folder = tmp_path / "old"
    folder.mkdir()
    for table in (
        "sites",
        "halls",
        "power_by_quarter",
        "fleet_today",
        "supply",
        "workloads",
        "demand",
        "sites_sources",
    ):
        rows = cells(table)
        if table == "workloads":
            at = rows[0].index("model")
            rows = [[*row[:at], *row[at + 1 :]] for row in rows]
        if table == "fleet_today":
            rows = [[*rows[0], "devices"], *([*row, "1"] for row in rows[1:])]
        (folder / f"{table}.csv").write_text(to_csv(rows), encoding="utf-8")
    for table in OLD_ITEMS:
        header, *rows = cells(table)
        old = [found for row in rows if row[0] != "lot_racks" and (found := old_row(table, row))]
        if table == "lifecycle":
            lots = [
                ("mtia-300", "16"),
                ("rack-scale systems (72 devices)", "4"),
                ("air-cooled 8-GPU racks", "8"),
            ]
            old += [["lot_size", scope, n, "racks", "assumed", "", "", "", ""] for scope, n in lots]
            old.append(
                [
                    "grid_wait",
                    "US average",
                    "16",
                    "quarters",
                    "reported",
                    "8",
                    "28",
                    "https://example.org",
                    "",
                ]
            )
        (folder / f"{table}.csv").write_text(to_csv([header, *old]), encoding="utf-8")
    return folder


def test_a_scenario_of_version_0_becomes_one_that_says_the_same(
    version_0: Path, tmp_path: Path, small: Scenario
) -> None:
    report = migrate(version_0, tmp_path / "new")
    assert [one for one in report.faults if one.severity == "error"] == []
    again = load_scenario(tmp_path / "new")
    assert again.finance == small.finance
    assert again.lifecycle == small.lifecycle
    assert again.carbon == small.carbon
    assert [(r.accelerator, r.delivery, r.max_racks, r.price_musd_per_rack) for r in again.supply] == [
        (r.accelerator, r.delivery, r.max_racks, r.price_musd_per_rack) for r in small.supply
    ]
    assert len(again.horizon) == len(small.horizon)


def test_nothing_is_dropped_without_being_named(version_0: Path, tmp_path: Path) -> None:
    report = migrate(version_0, tmp_path / "new")
    assert any("fleet_today.csv" in line and "devices" in line for line in report.dropped)
    assert report.moved_to_evidence == 1
    assert "grid_wait" in (tmp_path / "new" / "evidence.csv").read_text()


def test_an_unmigrated_scenario_says_how_to_migrate(version_0: Path) -> None:
    with pytest.raises(InputError, match="fleetplan migrate"):
        check_scenario(version_0)


def test_migration_refuses_what_is_new_and_what_is_there(version_0: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already"):
        migrate(SMALL, tmp_path / "new")
    with pytest.raises(UsageError, match="exists"):
        migrate(version_0, version_0)
    with pytest.raises(InputError, match="no scenario of version 0"):
        migrate(tmp_path, tmp_path / "new")
    assert not (tmp_path / "new").exists()
