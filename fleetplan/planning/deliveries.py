"""What can be delivered: one row per accelerator and delivery quarter, in whole lots, and where it lands.

A rack delivered in quarter ``q`` is paid in ``q`` and goes into service in ``q + install``; it works
from the first period that starts then or later. Committed racks come in any case; contracted options
may be taken; new orders can come only where the lead time still allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import pandas as pd

from fleetplan.errors import InfeasibleError, InputError
from fleetplan.inputs.scenario import Scenario, Supply
from fleetplan.planning.calendar import Calendar, quarter_name
from fleetplan.planning.form import records
from fleetplan.planning.places import Places, accepts

TABLE = [
    "accelerator",
    "delivery",
    "lead",
    "service",
    "entry",
    "pay",
    "price",
    "lot",
    "committed",
    "options",
    "odd",
    "least_lots",
    "most_lots",
    "orderable",
    "take_or_pay",
]


@dataclass(frozen=True)
class Deliveries:
    """``table`` has the columns :data:`TABLE` (quarters as ordinals); ``landings``: delivery, hall.

    ``idle`` are committed deliveries that never work in the horizon: paid, and valued at its end.
    """

    table: pd.DataFrame
    landings: pd.DataFrame
    idle: pd.DataFrame

    def orderable_by_entry(self) -> dict[str, dict[int, int]]:
        """Latest orderable delivery by accelerator and entry period."""
        found: dict[str, dict[int, int]] = {}
        for d, row in self.table.iterrows():
            if row["orderable"]:
                found.setdefault(row["accelerator"], {})[int(row["entry"])] = int(str(d))
        return found


def make_deliveries(scenario: Scenario, calendar: Calendar, places: Places) -> Deliveries:
    """Read the supply table in whole lots and list the halls where each delivery can land."""
    first, last = int(calendar.boundary[0]), int(calendar.boundary[-1])
    rows = [
        _row(scenario, calendar, supply)
        for supply in sorted(scenario.supply, key=lambda s: (s.accelerator, s.delivery))
        if first <= supply.delivery.ordinal < last and supply.max_racks > 0
    ]
    table = pd.DataFrame(rows, columns=TABLE)
    dark = not (places.usable_mw > 0).any()
    works = (table["entry"] < len(calendar)) & (not dark)
    idle = table[~works & (table["committed"] > 0)].reset_index(drop=True)
    working = table[works].reset_index(drop=True)
    landings = _landings(scenario, places, working)
    return Deliveries(working, landings, idle)


def _row(scenario: Scenario, calendar: Calendar, supply: Supply) -> tuple[object, ...]:
    q = supply.delivery.ordinal
    lot = scenario.lifecycle.lot_racks.get(supply.accelerator, 1)
    orderable = supply.new_orders_can_arrive and q - supply.lead_time_quarters >= calendar.boundary[0]
    ceiling = (
        supply.max_racks if orderable else min(supply.max_racks, supply.committed_racks + supply.option_racks)
    )
    least = supply.committed_racks // lot
    most = least + floor(max(0, ceiling - supply.committed_racks) / lot)
    service = q + scenario.lifecycle.install_quarters
    return (
        supply.accelerator,
        q,
        supply.lead_time_quarters,
        service,
        calendar.first_from(service),
        calendar.holding(q),
        supply.price_musd_per_rack,
        lot,
        supply.committed_racks,
        supply.option_racks,
        supply.committed_racks - least * lot,
        least,
        most,
        orderable,
        supply.take_or_pay_share_of_price,
    )


def _landings(scenario: Scenario, places: Places, table: pd.DataFrame) -> pd.DataFrame:
    """Halls that accept the rack and have power when it arrives."""
    rows = []
    for d, row in enumerate(records(table)):
        accelerator = scenario.accelerators[row.accelerator]
        if accelerator.book_life_years is None:
            raise InputError.at(
                scenario.folder,
                "E-book-life-missing",
                f"{row.accelerator} can be ordered and has no book life",
                "book_life_years of the accelerator",
            )
        halls = [
            hall
            for h, hall in enumerate(places.halls["hall"].tolist())
            if places.usable_mw[h, row.entry] > 0 and accepts(scenario.halls[hall], accelerator)
        ]
        if row.committed and not halls:
            message = (
                f"{row.committed} committed racks of {row.accelerator} delivered in "
                f"{quarter_name(row.delivery)} find no hall with power that accepts them"
            )
            raise InfeasibleError(message)
        rows += [(d, hall) for hall in halls]
    return pd.DataFrame(rows, columns=["delivery", "hall"]).astype({"delivery": "int64"})
