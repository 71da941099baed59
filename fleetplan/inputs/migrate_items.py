"""How the free wording of version 0's long tables becomes the items of version 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Row = dict[str, str]
Mapped = dict[str, str]
"""Columns of a row that change."""


@dataclass(frozen=True)
class Devices:
    """Accelerators of the scenario, and those for which version 0 gave a lot of their own."""

    names: tuple[str, ...]
    with_own_lot: frozenset[str]


_NO_INTERVAL = {"low": "", "high": ""}
_FINANCE_ALL: dict[str, tuple[str, str]] = {
    "wacc_nominal": ("discount_rate", "1/year"),
    "inflation_general": ("inflation_per_year", "1/year"),
    "opex_non_energy": ("opex_musd_per_facility_mw_year", "MUSD/MW/year"),
    "deploy_cost": ("deploy_cost_share", "fraction"),
    "move_cost": ("move_cost_share", "fraction"),
    "decommission_cost": ("decommission_cost_share", "fraction"),
    "vendor_share_max": ("vendor_share_max", "fraction"),
}
_LIFECYCLE_ALL: dict[str, tuple[str, str]] = {
    "install_and_burn_in": ("install_quarters", "quarter"),
    "burn_in_early_failures": ("burn_in_loss_share", "fraction"),
    "attrition": ("attrition_per_year", "1/year"),
    "failures_node": ("failures_per_1000_node_days", "1/1000/node/day"),
    "spare_share": ("spare_share", "fraction"),
    "maintenance_buffer": ("maintenance_share", "fraction"),
    "minimum_age_before_retirement": ("minimum_age_quarters", "quarter"),
    "maximum_physical_age": ("maximum_age_quarters", "quarter"),
    "diversity_factor": ("diversity_factor", "fraction"),
    "data_gravity_share": ("movable_work_share", "fraction"),
}


def _renamed(names: dict[str, tuple[str, str]], row: Row) -> list[Mapped] | None:
    found = names.get(row["item"])
    return [{"item": found[0], "scope": "all", "unit": found[1]}] if found else None


def finance(row: Row, _devices: Devices) -> list[Mapped] | None:
    """Map a row of version 0's finance; ``None``: no computation reads it."""
    item, scope = row["item"], row["scope"]
    if item in {"discount_timing", "end_value_rule"}:
        value = "mid_period" if row["value"] == "mid_quarter" else row["value"]
        return [{"scope": "all", "value": value, "unit": "name", **_NO_INTERVAL}]
    if item == "income_tax_rate":
        return [{"unit": "fraction"}]
    if item == "economic_life" and "racks" in scope:
        return [{"item": "economic_life_years", "scope": "all", "unit": "year"}]
    if item == "bonus_depreciation_first_year":
        kind = {"item": "tax_depreciation", "scope": "all", "value": "bonus", "unit": "name", **_NO_INTERVAL}
        return [kind, {"item": "bonus_share", "scope": "all", "unit": "fraction"}]
    if item.startswith("salvage_share_year"):
        kind_of = "merchant" if "merchant" in scope else "own"
        return [{"item": "salvage_share", "scope": f"{kind_of} year {item[-1]}", "unit": "fraction"}]
    if item == "maintenance_share":
        age = "from year 0" if "1-3" in scope else "from year 3"
        return [{"item": "maintenance_share_per_year", "scope": age, "unit": "1/year"}]
    if item == "capex_budget_fleet":
        return _budget(scope)
    return _renamed(_FINANCE_ALL, row)


def _budget(scope: str) -> list[Mapped] | None:
    years = [int(word) for word in scope.split() if word.isdigit()]
    if not scope.startswith("per quarter") or not years:
        return None
    quarters = [f"{year}Q{number}" for year in range(years[0], years[-1] + 1) for number in (1, 2, 3, 4)]
    return [{"item": "capex_budget_musd", "scope": quarter, "unit": "MUSD"} for quarter in quarters]


def lifecycle(row: Row, devices: Devices) -> list[Mapped] | None:
    """Map a row of version 0's lifecycle."""
    item, scope = row["item"], row["scope"]
    if item == "attrition_multiplier":
        age = {"item": "attrition_multiplier_from_year", "scope": "all", "unit": "year", **_NO_INTERVAL}
        return [{"scope": "all", "unit": "fraction"}, {**age, "value": scope.rpartition(" ")[2]}]
    if item == "mass_production_quarter":
        return [{"item": "mass_production", "unit": "name", **_NO_INTERVAL}]
    if item == "power_budget_factor_synchronous_training":
        return [{"item": "power_stage_factor", "scope": scope.partition(" ")[0], "unit": "fraction"}]
    if item == "lot_size":
        return _lots(scope, devices)
    return _renamed(_LIFECYCLE_ALL, row)


def _lots(scope: str, devices: Devices) -> list[Mapped]:
    """Version 0 gave lots by kind of rack: those of 72 devices, and the others."""
    from fleetplan.inputs.catalog import load_accelerator

    names = [scope]
    if scope not in devices.names:
        others = [name for name in devices.names if name not in devices.with_own_lot]
        names = [n for n in others if (load_accelerator(n).devices_per_rack == 72) == ("72" in scope)]
    return [{"item": "lot_racks", "scope": name, "unit": "rack"} for name in names]


def carbon(row: Row, _devices: Devices) -> list[Mapped] | None:
    """Map a row of version 0's carbon."""
    item = row["item"]
    if item == "intensity_trend":
        return [{"item": "intensity_trend_per_year", "unit": "1/year"}]
    if item == "intensity_location_annual":
        return [{"unit": "gCO2e/kWh"}]
    if item in {"intensity_location_hourly_zone", "intensity_market_based"}:
        return [{"unit": "gCO2e/kWh"}]
    if item == "carbon_price_internal":
        method = {
            "item": "method",
            "scope": "all",
            "value": "location_annual",
            "unit": "name",
            **_NO_INTERVAL,
        }
        note = {"status": "assumed", "source_url": "", "note": "version 0 named no method"}
        return [{**method, **note}, {"item": "price_usd_per_t", "scope": "all", "unit": "USD/tCO2e"}]
    if item == "carbon_cap_fleet_location_based":
        return [{"item": "cap_mt_per_year", "unit": "MtCO2e/year"}]
    return [{"item": "embodied_t_per_rack", "unit": "tCO2e/rack"}] if item == "embodied_rack" else None


LONG_TABLES: dict[str, Callable[[Row, Devices], list[Mapped] | None]] = {
    "finance": finance,
    "lifecycle": lifecycle,
    "carbon": carbon,
}
"""How each long table is mapped."""
