"""An earlier plan to stay close to: its tables of orders, retirements and roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.periods import Quarter
from fleetplan.planning.calendar import Calendar
from fleetplan.planning.form import Floats, lookup

BOUGHT = ("new", "committed", "option")
EXITS = ("early", "moved", "role")
"""Ways in which a planner takes racks out of training; module swaps are orders of modules."""


@dataclass(frozen=True)
class Earlier:
    """Tables of an earlier plan; ``exits`` (hall, accelerator, vintage, quarter, kind, racks) where known."""

    orders: pd.DataFrame
    exits: pd.DataFrame | None = None

    @classmethod
    def of(cls, plan: Earlier | pd.DataFrame | Mapping[str, pd.DataFrame] | None) -> Earlier | None:
        """Read a plan's tables; of a table of orders alone, only orders are compared."""
        if plan is None or isinstance(plan, Earlier):
            return plan
        return cls(plan) if isinstance(plan, pd.DataFrame) else cls._of_tables(plan)

    @classmethod
    def _of_tables(cls, tables: Mapping[str, pd.DataFrame]) -> Earlier:
        left = tables["retirements"].rename(columns={"period": "quarter"})
        parts = [left[left["kind"].isin(EXITS)]]
        if "roles" in tables:
            roles = tables["roles"]
            handed = roles[roles["since"] == roles["period"]].rename(columns={"period": "quarter"})
            parts.append(handed.assign(kind="role"))
        on = ["hall", "accelerator", "vintage", "quarter", "kind"]
        rows = pd.concat([part[[*on, "racks"]] for part in parts], ignore_index=True)
        return cls(tables["orders"], rows.groupby(on)["racks"].sum().reset_index())

    def racks_bought(self, keys: pd.DataFrame) -> Floats:
        """Racks on order by hall, accelerator and delivery quarter."""
        return self._ordered(keys, BOUGHT)

    def racks_swapped(self, keys: pd.DataFrame) -> Floats:
        """Racks whose modules are swapped, by hall, new accelerator and delivery quarter."""
        return self._ordered(keys, ("upgrade",))

    def racks_left(self, keys: pd.DataFrame, calendar: Calendar) -> Floats:
        """Racks that leave by hall, accelerator, vintage, kind and period (number ``t``)."""
        if self.exits is None:
            return np.zeros(len(keys))
        quarter = np.array([Quarter.parse(name).ordinal for name in self.exits["quarter"]], dtype=np.int64)
        inside = (quarter >= calendar.boundary[0]) & (quarter < calendar.boundary[-1])
        rows = self.exits[inside].assign(t=[calendar.holding(q) for q in quarter[inside].tolist()])
        on = ["hall", "accelerator", "vintage", "kind", "t"]
        return _summed(rows, on, keys)

    def _ordered(self, keys: pd.DataFrame, kinds: tuple[str, ...]) -> Floats:
        orders = self.orders[self.orders["kind"].isin(kinds)]
        rows = orders.rename(columns={"delivery_quarter": "delivery"})
        return _summed(rows, ["hall", "accelerator", "delivery"], keys)


def _summed(rows: pd.DataFrame, on: list[str], keys: pd.DataFrame) -> Floats:
    """Racks of each key; 0 where there are none."""
    sums = rows.groupby(on)["racks"].sum().reset_index()
    row = lookup(sums[on], on, keys[on])
    return np.asarray(np.append(sums["racks"].to_numpy(dtype=float), 0.0)[row])
