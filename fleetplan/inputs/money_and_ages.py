"""Typed finance, lifecycle and carbon from the entries of their long tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleetplan.figures import Figure
from fleetplan.inputs.items import WORD, Entry
from fleetplan.inputs.scenario import Carbon, Finance, Lifecycle
from fleetplan.periods import Quarter


def _scalars(entries: Iterable[Entry]) -> dict[str, Any]:
    return {entry.item.name: entry.value for entry in entries if entry.item.scope == "all"}


def _by_scope(entries: Iterable[Entry], item: str) -> dict[str, Any]:
    return {
        entry.scope: entry.value for entry in sorted(entries, key=_scope_order) if entry.item.name == item
    }


def _scope_order(entry: Entry) -> tuple[str, int]:
    kind, _, age = entry.scope.partition(" year ")
    return (kind, int(age)) if age.isdigit() else (entry.scope, 0)


def build_finance(entries: list[Entry]) -> Finance:
    """Build the money rules; entries are checked to be complete before."""
    salvage: dict[str, list[float]] = {}
    for scope, share in _by_scope(entries, "salvage_share").items():
        salvage.setdefault(scope.partition(" ")[0], []).append(share)
    steps = _by_scope(entries, "maintenance_share_per_year")
    maps = ("income_tax_rate", "capex_budget_musd", "write_off_limit_musd", "depreciation_limit_musd")
    return Finance(
        **_scalars(entries),
        **{name: _by_scope(entries, name) for name in maps},
        salvage_share_by_age_year={kind: tuple(shares) for kind, shares in salvage.items()},
        maintenance_share_per_year=tuple(
            (float(scope.rpartition(" ")[2]), share) for scope, share in steps.items()
        ),
    )


def build_lifecycle(entries: list[Entry]) -> Lifecycle:
    """Build ages, lead times and failures."""
    maps = ("mass_production", "power_stage_factor", "lot_racks")
    return Lifecycle(**_scalars(entries), **{name: _by_scope(entries, name) for name in maps})


def build_carbon(entries: list[Entry]) -> Carbon:
    """Build emissions; the intensity of the chosen method is the one that counts."""
    scalars = _scalars(entries)
    maps = ("intensity_trend_per_year", "embodied_t_per_rack", "cap_mt_per_year")
    methods = {
        m: _by_scope(entries, f"intensity_{m}")
        for m in ("location_annual", "location_hourly_zone", "market_based")
    }
    return Carbon(
        **scalars,
        **{name: _by_scope(entries, name) for name in maps},
        intensity_g_per_kwh=methods[scalars["method"]],
        intensity_by_method={method: values for method, values in methods.items() if values},
    )


def entry_path(table: str, entry: Entry, method: str | None = None) -> str:
    """Return the path of an entry's value in the scenario, like ``finance.discount_rate``."""
    name, scope = entry.item.name, entry.scope
    if name == "salvage_share":
        kind, _, age = scope.partition(" year ")
        return f"finance.salvage_share_by_age_year[{kind},{age}]"
    if name == "maintenance_share_per_year":
        return f"finance.{name}[{scope.rpartition(' ')[2]}]"
    if name.startswith("intensity_") and name != "intensity_trend_per_year":
        own = name.removeprefix("intensity_")
        return (
            f"carbon.intensity_g_per_kwh[{scope}]"
            if own == method
            else f"carbon.intensity_by_method[{own},{scope}]"
        )
    return f"{table}.{name}" if entry.item.scope == "all" else f"{table}.{name}[{scope}]"


def entry_figure(path: str, entry: Entry) -> Figure:
    """Return an entry as a figure with its evidence."""
    value = str(entry.value) if isinstance(entry.value, Quarter) else entry.value
    unit = "" if entry.item.unit == WORD else entry.item.unit
    return Figure(
        path, value, unit, entry.status, entry.low, entry.high, entry.source, "", entry.note, entry.origin
    )
