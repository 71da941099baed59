"""Rules that need several tables or the catalog: what must be known, and what can stand where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from fleetplan.errors import Fault
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.cells import ParsedRow, ParsedTable
from fleetplan.inputs.cross import Tables
from fleetplan.inputs.header import Header
from fleetplan.inputs.items import Entry
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.scenario import LifeStage
from fleetplan.money import resale_kind
from fleetplan.periods import Quarter

_PLANNED_WITH = (
    "devices_per_rack",
    "facility_fixed_w_per_device",
    "facility_slope_w_per_cap_w",
    "average_to_provisioned_power",
    "provisioned_cap_w",
    "power_caps",
    "cooling",
    "book_life_years",
)
"""Figures of an accelerator without which a rack cannot be planned."""


def check_completeness(
    tables: Tables,
    entries: Mapping[str, list[Entry]],
    devices: Mapping[str, Accelerator],
    names: Mapping[str, set[str]],
) -> Iterator[Fault]:
    """Find what is missing by accelerator, site, stage or age (E029)."""
    wanted = [
        ("lifecycle", "lot_racks", names["accelerator"]),
        ("carbon", "embodied_t_per_rack", names["accelerator"]),
        ("lifecycle", "power_stage_factor", set(get_args(LifeStage))),
        ("finance", "maintenance_share_per_year", {"from year 0"}),
        *_by_method(entries, names["site"]),
        *_by_taxes(entries),
        *_by_age(entries, devices),
    ]
    for table, item, scopes in wanted:
        if table in tables:
            yield from _missing_scopes(tables[table], item, scopes)


def _missing_scopes(table: ParsedTable, item: str, scopes: set[str]) -> Iterator[Fault]:
    rows = [row for row in table.rows if row.values.get("item") == item]
    given = {str(row.values.get("scope")) for row in rows}
    place = table.place(rows[-1], "scope") if rows else table.raw.place(table.raw.header, 0, "item")
    for scope in sorted(scopes - given):
        yield fault("E029", place, f"item {item!r} has no row for {scope!r}")


def _by_method(entries: Mapping[str, list[Entry]], sites: set[str]) -> Iterator[tuple[str, str, set[str]]]:
    for entry in entries["carbon"]:
        if entry.item.name == "method":
            yield "carbon", f"intensity_{entry.value}", sites


def _by_taxes(entries: Mapping[str, list[Entry]]) -> Iterator[tuple[str, str, set[str]]]:
    needs = {"bonus": "bonus_share", "straight_line": "tax_life_years"}
    for entry in entries["finance"]:
        if entry.item.name == "tax_depreciation" and entry.value in needs:
            yield "finance", needs[str(entry.value)], {"all"}


def _by_age(
    entries: Mapping[str, list[Entry]], devices: Mapping[str, Accelerator]
) -> Iterator[tuple[str, str, set[str]]]:
    """Resale shares must run from year 1 without a gap, for each kind of accelerator in use."""
    kinds = {resale_kind(device.vendor) for device in devices.values()}
    last = dict.fromkeys(kinds, 1)
    for entry in entries["finance"]:
        if entry.item.name == "salvage_share":
            kind, _, age = entry.scope.partition(" year ")
            last[kind] = max(last.get(kind, 1), int(age))
    yield (
        "finance",
        "salvage_share",
        {f"{kind} year {age}" for kind, top in last.items() for age in range(1, top + 1)},
    )


def check_physics(header: Header, tables: Tables, devices: Mapping[str, Accelerator]) -> Iterator[Fault]:
    """Check accelerators' figures, and what the present fleet's racks need (E022 to E024, E031)."""
    for name, device in devices.items():
        place = header.accelerators[name].place
        for field in _PLANNED_WITH:
            if getattr(device, field) in (None, ()):
                yield fault("E031", place, f"{name} has no {field}")
    if "fleet_today" not in tables:
        return
    halls = {str(row.values.get("hall")): row for row in tables["halls"].rows} if "halls" in tables else {}
    for row in tables["fleet_today"].rows:
        found = devices.get(str(row.values.get("accelerator")))
        if found is not None:
            yield from _check_cohort(
                header, tables["fleet_today"], row, found, halls.get(str(row.values.get("hall")))
            )


def _check_cohort(
    header: Header, table: ParsedTable, row: ParsedRow, device: Accelerator, hall: ParsedRow | None
) -> Iterator[Fault]:
    quarter = row.values.get("commissioned_quarter")
    place = table.place(row, "commissioned_quarter")
    if isinstance(quarter, Quarter):
        yield from _check_dates(header, place, quarter, device)
    if hall is None:
        return
    cooling, limit = hall.values.get("cooling_class"), hall.values.get("max_rack_it_kw")
    place = table.place(row, "hall")
    if cooling is not None and device.cooling and not accepts(device, str(cooling)):
        message = f"{device.name} racks accept {' or '.join(device.cooling)}, the hall is {cooling}"
        yield fault("E022", place, message)
    if isinstance(limit, (int, float)) and device.rack_it_kw is not None and device.rack_it_kw > limit:
        message = (
            f"a {device.name} rack has {device.rack_it_kw:g} kW of IT power, the hall takes {limit:g} kW"
        )
        yield fault("E023", place, message)


def _check_dates(header: Header, place: Place, quarter: Quarter, device: Accelerator) -> Iterator[Fault]:
    if header.horizon is not None and quarter > header.horizon.start:
        yield fault(
            "E024", place, f"commissioned in {quarter}, after planning starts in {header.horizon.start}"
        )
    if device.available_from and quarter < Quarter.parse(device.available_from):
        yield fault(
            "E024",
            place,
            f"commissioned in {quarter}, before {device.name} is available ({device.available_from})",
        )


def accepts(device: Accelerator, cooling_class: str) -> bool:
    """Whether the device's racks can stand in a hall of that class."""
    return cooling_class in device.cooling
