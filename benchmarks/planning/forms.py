"""Other ways to write down the same families: plain arrays (the floor), textbook Pyomo, and linopy.

The families of the planning model describe their rows as (row, column, value) entries. Here the same
entries become a scipy matrix, ordinary Pyomo rules, or linopy expressions, so that what is compared is
the modelling layer and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fleetplan.planning.cohorts import add_cohorts, swaps_by_delivery
from fleetplan.planning.form import Block, Bools, Entries, Floats, Form
from fleetplan.planning.indices import Indices
from fleetplan.planning.power import add_power
from fleetplan.planning.rentals import add_rentals
from fleetplan.planning.supply import add_ceilings, add_supply
from fleetplan.planning.work import add_work
from fleetplan.solving.arrays import Compiled
from fleetplan.studies import arrayform


def add_core(form: Form, ix: Indices) -> Floats:
    """The core families: supply, cohorts, power and work; a plain cost of lots and shortfall."""
    supply = add_supply(form, ix)
    fleet = add_cohorts(form, ix, supply)
    add_ceilings(form, ix, supply, swaps_by_delivery(ix, fleet))
    power = add_power(form, ix, fleet)
    work = add_work(form, ix, power, supply, add_rentals(form, ix))
    cost = np.zeros(len(form.columns))
    landing = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    cost[supply.lots.cols] = ix.deliveries.table["price"].to_numpy(dtype=float)[landing] * supply.lot
    cost[work.short.cols] = 10.0
    form.minimise(cost)
    return cost


class ArrayForm(arrayform.ArrayForm):
    """The floor: entries straight into a scipy matrix."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__("core")

    def compiled(self) -> Compiled:
        """The arrays, without names."""
        return self.bare()


class TextbookForm(Form):
    """The same in Pyomo as its documentation writes it: a bounds rule, and Python sums over the terms."""

    def variables(
        self,
        name: str,
        keys: pd.DataFrame,
        *,
        integer: ArrayLike = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> Block:
        """Add an indexed variable."""
        block = Block(name, len(self.columns), keys.reset_index(drop=True))
        self.blocks[name] = block
        if keys.empty:
            return block
        index = _index(keys)
        lows = np.broadcast_to(np.asarray(lower, dtype=float), len(keys)).tolist()
        highs = np.broadcast_to(np.asarray(upper, dtype=float), len(keys)).tolist()
        sides = {key: (low, high) for key, low, high in zip(index, lows, highs, strict=True)}
        whole = dict(zip(index, np.broadcast_to(np.asarray(integer, dtype=bool), len(keys)), strict=True))
        variable = pyo.Var(
            index,
            within=lambda _m, *key: pyo.Integers if whole[_one(key)] else pyo.Reals,
            bounds=lambda _m, *key: sides[_one(key)],
        )
        setattr(self.pyomo, name, variable)
        self.columns.extend(variable[key] for key in index)
        return block

    def rows(
        self,
        name: str,
        keys: pd.DataFrame,
        entries: Entries,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        """Add an indexed constraint."""
        merged, filled = entries.merged(), np.unique(entries.row)
        low = np.broadcast_to(np.asarray(-np.inf if lower is None else lower, dtype=float), len(keys))
        high = np.broadcast_to(np.asarray(np.inf if upper is None else upper, dtype=float), len(keys))
        index = _index(keys.iloc[filled])
        terms: dict[Any, list[tuple[float, Any]]] = {key: [] for key in index}
        for row, col, value in zip(
            np.searchsorted(filled, merged.row), merged.col.tolist(), merged.value.tolist(), strict=True
        ):
            terms[index[row]].append((value, self.columns[col]))
        sides = dict(zip(index, zip(low[filled].tolist(), high[filled].tolist(), strict=True), strict=True))

        def rule(_model: Any, *key: Any) -> Any:
            least, most = sides[_one(key)]
            body = sum(value * variable for value, variable in terms[_one(key)])
            if least == most:
                return body == most
            return body <= most if least == -np.inf else body >= least

        setattr(self.pyomo, name, pyo.Constraint(index, rule=rule))

    def minimise(self, coefficients: Floats) -> None:
        """Set the objective."""
        costs = zip(coefficients.tolist(), self.columns, strict=True)
        self.pyomo.cost = pyo.Objective(expr=sum(cost * variable for cost, variable in costs if cost))


def _index(keys: pd.DataFrame) -> list[Any]:
    columns = [keys[name].tolist() for name in keys]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _one(key: tuple[Any, ...]) -> Any:
    return key[0] if len(key) == 1 else key


class LinopyForm(ArrayForm):
    """The same in linopy: one flat variable per family, rows by ``groupby``."""

    def __init__(self) -> None:
        """Start with an empty linopy model."""
        import linopy

        super().__init__()
        self.model: Any = linopy.Model()
        self.flat: dict[str, Any] = {}

    def variables(
        self,
        name: str,
        keys: pd.DataFrame,
        *,
        integer: bool | Bools = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> Block:
        """Add a flat variable."""
        block = super().variables(name, keys, integer=integer, lower=lower, upper=upper)
        if len(keys):
            index = pd.RangeIndex(len(keys), name=f"i_{name}")
            low, high = pd.Series(self.lower[-1], index), pd.Series(self.upper[-1], index)
            # A linopy variable is of one kind: a mixed family stays continuous, which costs it nothing.
            whole = bool(self.integer[-1].all())
            self.flat[name] = self.model.add_variables(low, high, name=name, integer=whole)
        return block

    def rows(
        self,
        name: str,
        keys: pd.DataFrame,
        entries: Entries,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        """Add rows: each family's part by groupby, then their sum."""
        super().rows(name, keys, entries, lower=lower, upper=upper)
        low, high = self.families[-1].lower, self.families[-1].upper
        if not len(keys):
            return
        total = self._expression(entries)
        labels = total.indexes["row"]
        equal, sign = np.array_equal(low, high), "<=" if lower is None else ">="
        side = (high if lower is None or equal else low)[labels]
        rhs = pd.Series(side, pd.Index(labels, name="row"))
        self.model.add_constraints(total, "=" if equal else sign, rhs, name=name)

    def _expression(self, entries: Entries) -> Any:
        import linopy

        parts = []
        for name, variable in self.flat.items():
            block = self.blocks[name]
            chosen = np.flatnonzero((entries.col >= block.offset) & (entries.col < block.offset + len(block)))
            if not len(chosen):
                continue
            entry = pd.RangeIndex(len(chosen), name="entry")
            picked = variable.isel({f"i_{name}": entries.col[chosen] - block.offset})
            picked = picked.rename({f"i_{name}": "entry"}).assign_coords(entry=entry)
            value = pd.Series(entries.value[chosen], entry)
            group = pd.Series(entries.row[chosen], entry, name="row")
            parts.append((value.to_xarray() * picked).groupby(group).sum())
        return parts[0] if len(parts) == 1 else linopy.merge(parts, join="outer")

    def minimise(self, coefficients: Floats) -> None:
        """Set the objective."""
        super().minimise(coefficients)
        total = 0
        for name, variable in self.flat.items():
            cost = coefficients[self.blocks[name].cols]
            if cost.any():
                index = pd.RangeIndex(len(cost), name=f"i_{name}")
                total = total + (pd.Series(cost, index).to_xarray() * variable).sum()
        self.model.add_objective(total)
