"""What is legal but suspicious: the ``W`` rules, on a scenario that has no errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from fleetplan.errors import Fault
from fleetplan.figures import Origin
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.cells import CellError, ParsedTable, read_number
from fleetplan.inputs.layout import Field
from fleetplan.inputs.physical import accepts
from fleetplan.inputs.rules import Place, fault
from fleetplan.inputs.scenario import Hall, HallPower, Scenario, Workload
from fleetplan.periods import Quarter

Tables = Mapping[str, ParsedTable]


def suspicions(scenario: Scenario, tables: Tables) -> list[Fault]:
    """Return all warnings about a scenario, each at the row that gives rise to it."""
    return [
        *_falling_power(scenario),
        *_unpowered_supply(scenario),
        *_idle_sites(scenario),
        *_homeless_workloads(scenario),
        *_outside_horizon(scenario),
        *_supply_gaps(scenario),
        *_old_cohorts(scenario),
        *_overfull_halls(scenario),
        *_contradicted(tables),
        *_wide_intervals(scenario),
        *_unlike_catalog(scenario),
        *_unusual(tables),
        *_too_early(scenario),
    ]


def _at(origin: Origin, field: str) -> Place:
    return Place(origin.file, origin.line, None, field)


def _power_by_hall(scenario: Scenario) -> dict[str, list[HallPower]]:
    by_hall: dict[str, list[HallPower]] = defaultdict(list)
    for row in scenario.power:
        by_hall[row.hall].append(row)
    return by_hall


def _falling_power(scenario: Scenario) -> Iterator[Fault]:
    """Halls may be converted, one into another; it is the site's sum that should not fall."""
    total: dict[str, dict[Quarter, float]] = defaultdict(lambda: defaultdict(float))
    for row in scenario.power:
        total[scenario.halls[row.hall].site][row.quarter] += row.facility_mw
    for rows in _power_by_hall(scenario).values():
        by_quarter = total[scenario.halls[rows[0].hall].site]
        for before, after in pairwise(rows):
            was, now = by_quarter[before.quarter], by_quarter[after.quarter]
            if after.facility_mw < before.facility_mw and now < was:
                message = f"{after.facility_mw:g} MW after {before.facility_mw:g} MW"
                fix = f"power falls in {after.quarter}; is this a decommissioning?"
                yield fault("W101", _at(after.origin, "facility_mw"), message, fix)


def _unpowered_supply(scenario: Scenario) -> Iterator[Fault]:
    powered = {row.hall for row in scenario.power if row.facility_mw > 0}
    seen: set[str] = set()
    for row in scenario.supply:
        if row.accelerator in seen or row.max_racks == 0:
            continue
        seen.add(row.accelerator)
        device = scenario.accelerators[row.accelerator]
        if not any(_fits(device, scenario.halls[name]) for name in powered):
            needs = f"{'|'.join(device.cooling)}, {device.rack_it_kw or 0:g} kW a rack"
            message = f"no powered hall takes {row.accelerator} ({needs})"
            yield fault("W102", _at(row.origin, "accelerator"), message)


def _fits(device: Accelerator, hall: Hall) -> bool:
    heavy = (
        hall.max_rack_it_kw is not None
        and device.rack_it_kw is not None
        and device.rack_it_kw > hall.max_rack_it_kw
    )
    return accepts(device, hall.cooling_class) and not heavy


def _served_sites(workload: Workload, scenario: Scenario) -> set[str]:
    return set(workload.allowed_sites) or set(scenario.sites)


def _idle_sites(scenario: Scenario) -> Iterator[Fault]:
    asked = {row.workload for row in scenario.demand if row.samples_per_s > 0}
    served = {site for name in asked for site in _served_sites(scenario.workloads[name], scenario)}
    for name, site in scenario.sites.items():
        if name not in served:
            yield fault("W103", _at(site.origin, "site"), f"no workload with demand may run at {name}")


def _homeless_workloads(scenario: Scenario) -> Iterator[Fault]:
    used = {row.accelerator for row in scenario.fleet} | {row.accelerator for row in scenario.supply}
    devices = [scenario.accelerators[name] for name in sorted(used)]
    powered = {row.hall for row in scenario.power if row.facility_mw > 0}
    for name, workload in scenario.workloads.items():
        sites = _served_sites(workload, scenario)
        halls = [hall for hall in scenario.halls.values() if hall.site in sites and hall.name in powered]
        if not any(_fits(device, hall) for device in devices for hall in halls):
            yield fault(
                "W104", _at(workload.origin, "workload"), f"no accelerator can serve {name} at its sites"
            )


def _outside_horizon(scenario: Scenario) -> Iterator[Fault]:
    """Rows beyond the end are what a shorter horizon leaves; one warning per table and side."""
    by_quarter = [(row.quarter, row.origin) for row in scenario.power]
    series: dict[str, list[tuple[Quarter, Origin]]] = {
        "quarter": by_quarter + [(row.quarter, row.origin) for row in scenario.demand],
        "delivery_quarter": [(row.delivery, row.origin) for row in scenario.supply],
    }
    for field, rows in series.items():
        outside: dict[str, list[tuple[Quarter, Origin]]] = defaultdict(list)
        for quarter, origin in rows:
            if scenario.horizon.index_of(quarter) is None:
                outside[origin.file].append((quarter, origin))
        for found in outside.values():
            message = (
                f"{len(found)} rows lie outside the horizon and have no effect; the first is {found[0][0]}"
            )
            yield fault("W107", _at(found[0][1], field), message)


def _too_early(scenario: Scenario) -> Iterator[Fault]:
    start = scenario.horizon.start
    for row in scenario.supply:
        available = scenario.accelerators[row.accelerator].available_from
        if row.max_racks and available and row.delivery < Quarter.parse(available):
            message = (
                f"{row.max_racks} racks in {row.delivery}, {row.accelerator} is available from {available}"
            )
            yield fault("W115", _at(row.origin, "max_racks"), message)
        free = row.max_racks - row.committed_racks - row.option_racks
        ordered = row.delivery + -row.lead_time_quarters
        if row.new_orders_can_arrive and free and ordered < start:
            message = (
                f"racks for {row.delivery} would be ordered in {ordered}, before planning starts in {start}"
            )
            yield fault("W115", _at(row.origin, "new_orders_can_arrive"), message)


def _supply_gaps(scenario: Scenario) -> Iterator[Fault]:
    for before, after in pairwise(scenario.supply):
        if before.accelerator == after.accelerator and after.delivery - before.delivery > 1:
            message = f"{after.accelerator} has no rows between {before.delivery} and {after.delivery}"
            yield fault("W108", _at(after.origin, "delivery_quarter"), message)


def _old_cohorts(scenario: Scenario) -> Iterator[Fault]:
    limit = scenario.lifecycle.maximum_age_quarters
    for cohort in scenario.fleet:
        age = scenario.horizon.start - cohort.commissioned
        if age >= limit:
            message = f"{cohort.name} is {age} quarters old when planning starts, the maximum age is {limit}"
            yield fault(
                "W109", _at(cohort.origin, "commissioned_quarter"), message, "Such racks count as retired."
            )


def _overfull_halls(scenario: Scenario) -> Iterator[Fault]:
    used: dict[str, float] = defaultdict(float)
    for cohort in scenario.fleet:
        device = scenario.accelerators[cohort.accelerator]
        lowest = min(
            (cap.cap_w for cap in device.power_caps), default=device.provisioned_cap_w or device.tdp_w
        )
        used[cohort.hall] += (
            cohort.racks * (device.devices_per_rack or 0) * device.facility_kw_per_device(lowest) / 1000
        )
    for hall, rows in _power_by_hall(scenario).items():
        now = next((row for row in rows if row.quarter == scenario.horizon.start), None)
        if now is not None and used[hall] > now.facility_mw * 1.001:
            need = f"need {used[hall]:.2f} MW at their lowest caps"
            message = f"racks in {hall} {need}, there are {now.facility_mw:g} MW"
            yield fault("W111", _at(now.origin, "facility_mw"), message)


def _contradicted(tables: Tables) -> Iterator[Fault]:
    """Compare the evidence tables with the tables that they explain."""
    for name in ("sites", "workloads"):
        sources, table = tables.get(f"{name}_sources"), tables.get(name)
        if sources is None or table is None or sources.spec.subject is None:
            continue
        rows = {str(row.values.get(table.spec.keys[0].name)): row for row in table.rows}
        for row in sources.rows:
            subject, column = str(row.values.get(sources.spec.subject)), str(row.values.get("field"))
            field = table.spec.by_name.get(column)
            if field is None:
                continue
            value, stated = rows[subject].values.get(column), str(row.values.get("value"))
            if field.is_numeric and not _same_number(value, stated):
                where = f"{table.raw.file}:{rows[subject].raw.line}"
                message = f"{column} of {subject} is {value} in {where}, here {stated}"
                yield fault("W110", sources.place(row, "value"), message)


def _same_number(value: object, stated: str) -> bool:
    if not isinstance(value, (int, float)):
        return False
    try:
        return abs(read_number(stated, "") - value) <= 1e-9 * max(1.0, abs(value))
    except CellError:
        return False


_WIDE = 4.0
"""High over low from which an assumed figure is called wide: a factor of two either way."""
_DECISIVE = (
    "price_musd_per_rack",
    "facility_mw",
    "samples_per_s",
    "discount_rate",
    "energy_price_usd_per_mwh",
)


def _wide_intervals(scenario: Scenario) -> Iterator[Fault]:
    """Name assumed figures that move money, power or work and may be off by a factor of two or more."""
    worst: dict[str, tuple[float, str]] = {}
    for path, figure in scenario.figures.items():
        last = path.rpartition(".")[2]
        if figure.status != "assumed" or last not in _DECISIVE or not figure.low or not figure.high:
            continue
        subject = path.split(",")[0]
        ratio = figure.high / figure.low
        if ratio >= _WIDE and ratio > worst.get(subject, (0.0, ""))[0]:
            worst[subject] = (ratio, path)
    for ratio, path in worst.values():
        figure = scenario.figures[path]
        place = _at(figure.origin, path) if figure.origin else Place(scenario.folder, field=path)
        message = (
            f"assumed {figure.value} may lie between {figure.low:g} and {figure.high:g} (factor {ratio:.1f})"
        )
        yield fault("W105", place, message)


_FAR = 30.0
"""A value this many times the catalog's is probably in another unit."""


def _unlike_catalog(scenario: Scenario) -> Iterator[Fault]:
    for row in scenario.supply:
        device = scenario.accelerators[row.accelerator]
        yield from _compare(
            row.origin, "price_musd_per_rack", row.price_musd_per_rack, device.price_musd_per_rack
        )
    for cohort in scenario.fleet:
        device = scenario.accelerators[cohort.accelerator]
        paid = cohort.purchase_price_musd_per_rack
        yield from _compare(cohort.origin, "purchase_price_musd_per_rack", paid, device.price_musd_per_rack)
    yield from _overridden(scenario)


def _compare(origin: Origin, field: str, value: float, usual: float | None) -> Iterator[Fault]:
    if usual and value and not 1 / _FAR <= value / usual <= _FAR:
        factor = value / usual
        message = f"{field} is {value:g}, the catalog says {usual:g}: {factor:.3g} times as much"
        yield fault("W106", _at(origin, field), message)


def _overridden(scenario: Scenario) -> Iterator[Fault]:
    from fleetplan.inputs.catalog import accelerator_names, load_accelerator

    known = set(accelerator_names())
    for name, device in scenario.accelerators.items():
        if name not in known:
            continue
        usual = load_accelerator(name)
        for key, figure in device.figures.items():
            value, other = figure.value, getattr(usual, key, None)
            if figure.origin and isinstance(value, float) and isinstance(other, (int, float)):
                yield from _compare(figure.origin, key, value, float(other))


def _unusual(tables: Tables) -> Iterator[Fault]:
    """Find values that are probably in another unit; one warning per column, at the first of them."""
    for table in tables.values():
        for column in table.spec.fields:
            if column.usual is not None:
                yield from _unusual_in(table, column, *column.usual)


def _unusual_in(table: ParsedTable, column: Field, low: float, high: float) -> Iterator[Fault]:
    found = [
        (row, value)
        for row in table.rows
        if isinstance(value := row.values.get(column.name), (int, float))
        and value
        and not low <= value <= high
    ]
    if found:
        row, value = found[0]
        more = f", and {len(found) - 1} more rows" if len(found) > 1 else ""
        message = f"{column.name} is {value:g}, usually {low:g} to {high:g} {column.unit}{more}"
        yield fault("W114", table.place(row, column.name), message)
