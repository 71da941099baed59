"""The long tables (finance, lifecycle, carbon): which items there are, and how a row becomes a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from fleetplan.errors import Fault
from fleetplan.figures import Origin, Status
from fleetplan.inputs.cells import CellError, ParsedRow, ParsedTable, Value, parse_quarter
from fleetplan.inputs.cross import bound_faults, evidence_of, order_faults
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.rules import fault
from fleetplan.inputs.scenario import CarbonMethod, LifeStage
from fleetplan.periods import Quarter
from fleetplan.units import conversion_factor, parse_number

Scope = str
"""What an item's scope column holds: ``all``, the name of a kind of thing, or a fixed form."""
WORD = "name"
"""Unit of items whose value is a word or a quarter."""

_FORMS: dict[Scope, tuple[str, str]] = {
    "all": (r"all", "write 'all'"),
    "country": (r"[A-Z]{2}", "write an ISO 3166 code like 'US'"),
    "year": (r"\d{4}", "write a year like '2027'"),
    "year or quarter": (r"\d{4}(Q[1-4])?", "write a year like '2027' or a quarter like '2027Q1'"),
    "stage": ("|".join(get_args(LifeStage)), "write 'forecast', 'initial' or 'refined'"),
    "kind and age": (r"(merchant|own) year [1-9]\d?", "write it like 'merchant year 1' or 'own year 1'"),
    "age": (r"from year \d{1,2}", "write the age from which it holds like 'from year 0'"),
}


@dataclass(frozen=True)
class Item:
    """An item of a long table. ``needed``: without it there is no plan. ``words``: its values."""

    name: str
    unit: str
    meaning: str
    scope: Scope = "all"
    needed: bool = False
    minimum: float = 0.0
    maximum: float = float("inf")
    whole: bool = False
    words: tuple[str, ...] = ()


def _share(name: str, meaning: str, *, scope: Scope = "all", needed: bool = True) -> Item:
    return Item(name, "fraction", meaning, scope, needed, maximum=1.0)


FINANCE_ITEMS = (
    Item("discount_rate", "1/year", "nominal cost of capital", needed=True, minimum=-0.5, maximum=1.0),
    Item(
        "discount_timing",
        WORD,
        "when in a period cash flows",
        needed=True,
        words=("mid_period", "start_of_period", "end_of_period"),
    ),
    _share("income_tax_rate", "tax on income, by country", scope="country", needed=False),
    Item(
        "tax_depreciation",
        WORD,
        "how purchases are written off for taxes",
        needed=True,
        words=("straight_line", "macrs5", "bonus", "none"),
    ),
    _share("bonus_share", "share written off at once under 'bonus'", needed=False),
    Item("tax_life_years", "year", "tax life under 'straight_line'", minimum=0.25, maximum=50.0),
    _share("salvage_share", "resale share of price at the end of each year of age", scope="kind and age"),
    Item(
        "maintenance_share_per_year",
        "1/year",
        "share of price per year, by age",
        "age",
        needed=True,
        maximum=1.0,
    ),
    Item("opex_musd_per_facility_mw_year", "MUSD/MW/year", "operation beside energy", needed=True),
    Item(
        "inflation_per_year",
        "1/year",
        "rise of operation and decommissioning",
        needed=True,
        minimum=-0.5,
        maximum=1.0,
    ),
    _share("deploy_cost_share", "installation, share of price"),
    _share("move_cost_share", "move between sites, share of price"),
    _share("decommission_cost_share", "removal, share of price"),
    Item(
        "end_value_rule",
        WORD,
        "value of racks that live beyond the horizon",
        needed=True,
        words=("resale", "economic_annuity", "book", "none"),
    ),
    Item("economic_life_years", "year", "life for the annuity", needed=True, minimum=0.25, maximum=50.0),
    Item("capex_budget_musd", "MUSD", "limit on purchases", "year or quarter"),
    Item("write_off_limit_musd", "MUSD", "limit on book write-offs", "year"),
    Item("depreciation_limit_musd", "MUSD", "limit on book depreciation", "year"),
    _share("vendor_share_max", "most of one vendor in the power of new racks", needed=False),
)
LIFECYCLE_ITEMS = (
    Item("install_quarters", "quarter", "delivery to service", needed=True, maximum=20.0, whole=True),
    Item("minimum_age_quarters", "quarter", "no retirement before", needed=True, maximum=400.0, whole=True),
    Item(
        "maximum_age_quarters",
        "quarter",
        "retirement at the latest",
        needed=True,
        minimum=1.0,
        maximum=400.0,
        whole=True,
    ),
    Item("attrition_per_year", "1/year", "racks lost after repair", needed=True, maximum=1.0),
    Item("attrition_multiplier", "fraction", "on attrition of old racks", needed=True, maximum=100.0),
    Item("attrition_multiplier_from_year", "year", "age from which it holds", needed=True, maximum=100.0),
    _share("spare_share", "racks kept as spares"),
    _share("maintenance_share", "racks out for maintenance"),
    _share("burn_in_loss_share", "racks that fail in their first quarter and come back"),
    Item(
        "failures_per_1000_node_days",
        "1/1000/node/day",
        "interruptions of a job per node",
        needed=True,
        maximum=1000.0,
    ),
    Item("mass_production", WORD, "quarter from which power stages count", "accelerator"),
    Item(
        "power_stage_factor",
        "fraction",
        "provisioned power by life stage",
        "stage",
        needed=True,
        minimum=0.05,
        maximum=2.0,
    ),
    Item(
        "lot_racks",
        "rack",
        "racks bought and placed together",
        "accelerator",
        needed=True,
        minimum=1.0,
        maximum=1e6,
        whole=True,
    ),
    _share("movable_work_share", "work at a site that may leave it per quarter", needed=False),
    Item(
        "diversity_factor",
        "fraction",
        "peak of the sum over sum of peaks",
        needed=True,
        minimum=0.05,
        maximum=1.0,
    ),
)
_METHODS = get_args(CarbonMethod)
CARBON_ITEMS = (
    Item("method", WORD, "which intensity counts", needed=True, words=_METHODS),
    *(
        Item(f"intensity_{method}", "gCO2e/kWh", "grid intensity in the first year", "site", maximum=3000.0)
        for method in _METHODS
    ),
    Item("intensity_trend_per_year", "1/year", "change of intensity", "site", minimum=-0.9, maximum=1.0),
    Item("embodied_t_per_rack", "tCO2e/rack", "manufacturing", "accelerator", needed=True),
    Item("price_usd_per_t", "USD/tCO2e", "internal price", needed=True),
    Item("cap_mt_per_year", "MtCO2e/year", "limit on operational emissions", "year"),
)
ITEMS: dict[str, dict[str, Item]] = {
    "finance": {item.name: item for item in FINANCE_ITEMS},
    "lifecycle": {item.name: item for item in LIFECYCLE_ITEMS},
    "carbon": {item.name: item for item in CARBON_ITEMS},
}


@dataclass(frozen=True)
class Entry:
    """One row of a long table as a value in the item's unit, with its evidence."""

    item: Item
    scope: str
    value: float | int | str | Quarter
    low: float | None
    high: float | None
    status: Status
    source: str
    note: str
    origin: Origin


def read_entries(table: ParsedTable, known: Mapping[str, set[str]]) -> tuple[list[Entry], list[Fault]]:
    """Read a long table's rows; ``known`` holds the declared names by kind."""
    items = ITEMS[table.spec.name]
    entries: list[Entry] = []
    faults: list[Fault] = []
    for row in table.rows:
        if not {"item", "scope", "value", "unit", "status"} <= row.values.keys():
            continue
        item = items.get(str(row.values["item"]))
        if item is None:
            name = str(row.values["item"])
            place = table.place(row, "item")
            faults.append(fault("E005", place, f"unknown item {name!r}", did_you_mean(name, items)))
            continue
        entry = _read_entry(table, row, item, known, faults)
        if entry is not None:
            entries.append(entry)
    return entries, faults + _missing(table)


def _read_entry(
    table: ParsedTable, row: ParsedRow, item: Item, known: Mapping[str, set[str]], faults: list[Fault]
) -> Entry | None:
    values: dict[str, Any] = {}
    for column in ("scope", "value", "low", "high"):
        try:
            values[column] = _read_part(column, row, item, known)
        except CellError as error:
            faults.append(fault(error.rule, table.place(row, column), str(error), error.fix))
    if len(values) < 4:
        return None
    value, low, high = values["value"], values["low"], values["high"]
    for column, bound in (("low", low), ("high", high)):
        faults.extend(bound_faults(table.place(row, column), bound, item.minimum, item.maximum, item.name))
    faults.extend(order_faults(table.place(row, "low"), value, low, high, item.name))
    status, source, note = evidence_of(row)
    return Entry(item, values["scope"], value, low, high, status, source, note, table.origin(row))


def _read_part(column: str, row: ParsedRow, item: Item, known: Mapping[str, set[str]]) -> Value:
    text = row.values.get(column)
    if column == "scope":
        return _read_scope(str(text), item, known)
    unit = str(row.values["unit"])
    if column == "value":
        return _read_value(str(text), unit, item)
    if text is not None and item.unit == WORD:
        raise CellError("E016", f"{item.name} is a word, which has no {column}", "Leave low and high blank.")
    return None if text is None else _in_unit(str(text), unit, item)


def _read_scope(text: str, item: Item, known: Mapping[str, set[str]]) -> str:
    if item.scope in known:
        if text not in known[item.scope]:
            raise CellError("E007", f"unknown {item.scope} {text!r}", did_you_mean(text, known[item.scope]))
        return text
    pattern, fix = _FORMS[item.scope]
    if not re.fullmatch(pattern, text):
        raise CellError("E015", f"scope {text!r} does not fit {item.name}", fix)
    return text


def _read_value(text: str, unit: str, item: Item) -> Value:
    if item.unit == WORD:
        if unit != WORD:
            raise CellError(
                "E003", f"{item.name} is a word; its unit is 'name', not {unit!r}", "write 'name'"
            )
        if not item.words:
            return parse_quarter(text)
        if text not in item.words:
            raise CellError(
                "E015", f"{text!r} is none of: {', '.join(item.words)}", did_you_mean(text, item.words)
            )
        return text
    number = _in_unit(text, unit, item)
    if not item.minimum <= number <= item.maximum:
        limits = f"from {item.minimum:g}" + (f" to {item.maximum:g}" if item.maximum < float("inf") else "")
        raise CellError("E011", f"{item.name} is {text}", f"{item.meaning}: {limits} {item.unit}")
    if item.whole and number != int(number):
        raise CellError("E013", f"{text!r} is not a whole number of {item.unit}s")
    return int(number) if item.whole else number


def _in_unit(text: str, unit: str, item: Item) -> float:
    try:
        number = parse_number(text)
    except ValueError as error:
        raise CellError("E009", str(error)) from None
    if unit == item.unit:
        return number
    try:
        return float(f"{number * conversion_factor(unit, item.unit):.15g}")
    except ValueError as error:
        raise CellError("E003", str(error), f"write {item.unit!r} in column unit") from None


def _missing(table: ParsedTable) -> list[Fault]:
    """Find needed items without a row; items with a faulty row are not named again."""
    given = {str(row.values.get("item")) for row in table.rows}
    absent = [item for item in ITEMS[table.spec.name].values() if item.needed and item.name not in given]
    place = table.raw.place(table.raw.header, 0, "item")
    return [
        fault(
            "E029",
            place,
            f"item {item.name!r} is missing ({item.meaning})",
            f"add a row: {item.name}, {_scope_example(item)}, ..., unit {item.unit}",
        )
        for item in absent
    ]


def _scope_example(item: Item) -> str:
    return "all" if item.scope == "all" else f"<{item.scope}>"
