"""Supply: whole lots of new racks, by accelerator, delivery quarter and the hall where they land.

Sets: ``d`` deliveries (accelerator, quarter), ``h`` halls that accept the rack and have power then.
Variables: ``lots[h, d]`` whole, ``odd[h, d]`` racks of a commitment that is not a whole number of lots.

::

    committed   sum_h lots[h, d]               >= floor(committed_d / lot)
    odd_racks   sum_h odd[h, d]                 = committed_d - lot floor(committed_d / lot)
    supply      sum_h lots[h, d] + swaps_d/lot <= floor(committed/lot) + floor((ceiling_d - committed_d)/lot)
    vendor      sum_{k of vendor} kW_k n_k - share sum_k kW_k n_k <= excess of the commitments alone

``ceiling`` is the maximum where new orders can still arrive, else committed plus options. Limits are
in whole lots before the relaxation sees them, which is what keeps it tight. ``swaps`` are module
upgrades, which use up the new part's supply. ``declined[d]`` exists only where the rules allow that
commitments beyond the lead time are declined for the take-or-pay share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.planning.calendar import quarter_names
from fleetplan.planning.form import Block, Entries, Floats, Form, Ints, mapped, numbered
from fleetplan.planning.indices import Indices
from fleetplan.planning.places import law_kw, rack_kw


@dataclass(frozen=True)
class Supply:
    """Columns of new racks: ``lots`` by landing, ``odd`` by landing (-1 where there is none)."""

    lots: Block
    odd: Block
    odd_of: Ints
    lot: Floats
    declined: Block
    declined_of: Ints
    """Column in ``declined`` by delivery; -1 where nothing can be declined."""

    def arrivals(self, row: Ints, factor: Floats | float = 1.0) -> Entries:
        """Racks that arrive, with one row number and factor for each landing; -1 leaves one out."""
        factors = np.broadcast_to(np.asarray(factor, dtype=float), row.shape)
        used = row >= 0
        lots = Entries.of(row[used], self.lots.cols[used], (self.lot * factors)[used])
        odd = used & (self.odd_of >= 0)
        return lots + Entries.of(row[odd], self.odd.offset + self.odd_of[odd], factors[odd])


def add_supply(form: Form, ix: Indices) -> Supply:
    """Add the variables of supply and the rows that do not need other families."""
    landings, table = ix.deliveries.landings, ix.deliveries.table
    d = landings["delivery"].to_numpy(dtype=np.int64)
    keys = pd.DataFrame(
        {
            "hall": landings["hall"],
            "accelerator": table["accelerator"].to_numpy()[d],
            "delivery": quarter_names(table["delivery"].to_numpy()[d]),
        }
    )
    lot = table["lot"].to_numpy(dtype=float)[d]
    lots = form.variables("lots", keys, integer=True, upper=_most_lots(ix))
    has_odd = table["odd"].to_numpy()[d] > 0
    odd = form.variables("odd", keys[has_odd], integer=True)
    odd_of = np.where(has_odd, np.cumsum(has_odd) - 1, -1)
    declined, declined_of = _declined(form, ix)
    supply = Supply(lots, odd, odd_of, lot, declined, declined_of)
    _commitments(form, ix, supply)
    return supply


def _most_lots(ix: Indices) -> Floats:
    """Most lots of a delivery that a hall could ever power, and that can be had."""
    landings, table, places = ix.deliveries.landings, ix.deliveries.table, ix.places
    d = landings["delivery"].to_numpy(dtype=np.int64)
    keys = pd.DataFrame({"hall": landings["hall"], "accelerator": table["accelerator"].to_numpy()[d]})
    keys["cap_w"] = mapped(keys["accelerator"], ix.choices.lowest_cap_w)
    keys["t"] = table["entry"].to_numpy(dtype=np.int64)[d]
    room_kw = places.usable_mw[numbered(keys["hall"], places.halls["hall"]), keys["t"]] * 1000
    lots = room_kw / (rack_kw(ix.scenario, ix.calendar, keys) * table["lot"].to_numpy()[d])
    return np.asarray(np.minimum(np.floor(lots + 1e-9), table["most_lots"].to_numpy(dtype=float)[d]))


def _declined(form: Form, ix: Indices) -> tuple[Block, Ints]:
    """Committed lots that may be declined for a price: only beyond the lead time, only by rule."""
    table = ix.deliveries.table
    free = (table["orderable"] & (table["least_lots"] > 0)).to_numpy(dtype=bool)
    allowed = free & ix.scenario.rules.decline_committed
    keys = _delivery_keys(table[allowed])
    block = form.variables("declined", keys, upper=table.loc[allowed, "least_lots"].to_numpy(dtype=float))
    return block, np.where(allowed, np.cumsum(allowed) - 1, -1)


def _delivery_keys(table: pd.DataFrame) -> pd.DataFrame:
    quarters = quarter_names(table["delivery"])
    return pd.DataFrame({"accelerator": table["accelerator"].to_numpy(), "delivery": quarters})


def _commitments(form: Form, ix: Indices, supply: Supply) -> None:
    table = ix.deliveries.table
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    keys = _delivery_keys(table)
    least = table["least_lots"].to_numpy(dtype=float)
    due = np.flatnonzero(least > 0)
    row = np.full(len(table), -1)
    row[due] = np.arange(len(due))
    lots = _by_delivery(row[d], supply.lots.cols, 1.0)
    given_up = due[supply.declined_of[due] >= 0]
    declined = Entries.of(row[given_up], supply.declined.offset + supply.declined_of[given_up], 1.0)
    form.rows("committed", keys.iloc[due], lots + declined, lower=least[due])
    odd = np.flatnonzero(table["odd"].to_numpy() > 0)
    row = np.full(len(table), -1)
    row[odd] = np.arange(len(odd))
    with_odd = supply.odd_of >= 0
    entries = Entries.of(row[d[with_odd]], supply.odd.cols, 1.0)
    count = table["odd"].to_numpy(dtype=float)[odd]
    form.rows("odd_racks", keys.iloc[odd], entries, lower=count, upper=count)


def _by_delivery(row: Ints, cols: Ints, value: float) -> Entries:
    used = row >= 0
    return Entries.of(row[used], cols[used], value)


def add_ceilings(form: Form, ix: Indices, supply: Supply, swaps: Entries) -> None:
    """Add the supply ceilings; ``swaps`` are the racks of module upgrades, by delivery row."""
    table = ix.deliveries.table
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    lots = Entries.of(d, supply.lots.cols, 1.0)
    per_lot = 1.0 / table["lot"].to_numpy(dtype=float)
    in_lots = Entries.of(swaps.row, swaps.col, swaps.value * per_lot[swaps.row])
    most = table["most_lots"].to_numpy(dtype=float)
    form.rows("supply", _delivery_keys(table), lots + in_lots, upper=most)


def add_vendor_share(form: Form, ix: Indices, supply: Supply) -> None:
    """Limit each vendor's share of the facility power of a year's new racks.

    Commitments are made already: where they alone break the limit, it grows by their excess.
    """
    finance, rules = ix.scenario.finance, ix.scenario.rules
    if not rules.limit_vendor_share or finance.vendor_share_max is None:
        return
    table, share = ix.deliveries.table, finance.vendor_share_max
    accelerators = ix.scenario.accelerators
    vendor = np.array([accelerators[name].vendor for name in table["accelerator"]])
    year = table["delivery"].to_numpy(dtype=np.int64) // 4
    kw = np.array([_default_kw(ix, name) for name in table["accelerator"]]) / 1000
    committed = table["committed"].to_numpy(dtype=float) * kw
    d = ix.deliveries.landings["delivery"].to_numpy(dtype=np.int64)
    keys, entries, limits = list[tuple[str, str]](), Entries.none(), list[float]()
    for y in np.unique(year).tolist():
        for name in np.unique(vendor).tolist():
            weight = ((vendor == name).astype(float) - share) * (year == y)
            if not (weight > 0).any():
                continue
            row = np.where(year[d] == y, len(keys), -1)
            entries = entries + supply.arrivals(row, (weight * kw)[d])
            limits.append(max(0.0, float((weight * committed).sum())))
            keys.append((name, str(y)))
    frame = pd.DataFrame(keys, columns=["vendor", "year"])
    form.rows("vendor", frame, entries, upper=limits)


def _default_kw(ix: Indices, accelerator: str) -> float:
    caps = ix.choices.caps
    top = caps.loc[caps["accelerator"] == accelerator, "cap_w"]
    own = ix.scenario.accelerators[accelerator]
    cap = own.provisioned_cap_w if own.provisioned_cap_w is not None else float(top.max())
    return law_kw(own, cap)
