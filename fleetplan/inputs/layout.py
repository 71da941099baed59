"""The tables of a scenario: which columns there are, what they mean and what a blank in them means.

Everything that knows the tables is made from these: reading, checking, the workbook, the JSON
Schema and the input reference.
"""

from __future__ import annotations

from fleetplan.inputs.fields import Field, InputTable, Kind, NameOf
from fleetplan.inputs.long_tables import (
    CARBON,
    EVIDENCE,
    FINANCE,
    LIFECYCLE,
    SITES_SOURCES,
    WORKLOADS_SOURCES,
)
from fleetplan.inputs.tables_of_sites import FLEET, HALLS, POWER, RENTALS, ROLES, SITES, SUPPLY, UPGRADES
from fleetplan.inputs.tables_of_work import ACCELERATORS, DEMAND, MEASURED, POWER_CAPS, WORKLOADS

__all__ = ["TABLES", "Field", "InputTable", "Kind", "NameOf"]

TABLES: dict[str, InputTable] = {
    table.name: table
    for table in (
        ACCELERATORS,
        POWER_CAPS,
        SITES,
        SITES_SOURCES,
        HALLS,
        POWER,
        FLEET,
        SUPPLY,
        RENTALS,
        ROLES,
        UPGRADES,
        WORKLOADS,
        WORKLOADS_SOURCES,
        DEMAND,
        MEASURED,
        FINANCE,
        LIFECYCLE,
        CARBON,
        EVIDENCE,
    )
}
"""All tables by name."""
