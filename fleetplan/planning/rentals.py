"""Rented capacity: racks that work for money per quarter and take none of our megawatts.

Sets: rentals ``r``, arcs ``(r, a, e)`` from the period in which a rented rack starts to the one in which
it ends, at least its commitment apart. Variables: ``rented[r, a, e]`` racks, ``rented_use[r, o, t]``.

::

    rental_limit     sum_{a <= t < e} rented[r,a,e] <= racks offered
    rental_capacity  sum_o peak_w rented_use[r,o,t] <= sum_{a <= t < e} rented[r,a,e]

A commitment that outlasts the horizon is paid at its end. The owner of the racks keeps the spares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.inputs.scenario import Rental
from fleetplan.planning.calendar import Calendar
from fleetplan.planning.form import Bools, Entries, Form, Ints, mapped, numbered
from fleetplan.planning.indices import Indices


@dataclass(frozen=True)
class Rentals:
    """``arcs``: rental, start, stop, rest (quarters still due at the horizon's end), price, col."""

    arcs: pd.DataFrame
    uses: pd.DataFrame
    """rental, site (its name), accelerator, k, w, t, rate, peak, col."""


def add_rentals(form: Form, ix: Indices) -> Rentals:
    """Add rented racks, their use, and their limits."""
    rentals = Rentals(_arcs(form, ix), _uses(form, ix))
    names, total = ix.calendar.names, len(ix.calendar)
    ordered = _rentals(ix)
    keys = pd.DataFrame(
        {"rental": np.repeat([r.name for r in ordered], total), "period": names * len(ordered)}
    )
    spans = _spans(rentals.arcs)
    spanned = _row(ix, spans)
    most = np.repeat([float(r.max_racks) for r in ordered], total)
    form.rows("rental_limit", keys, Entries.of(spanned, spans["col"], 1.0), upper=most)
    uses = rentals.uses
    entries = Entries.of(_row(ix, uses), uses["col"], uses["peak"])
    entries = entries + Entries.of(spanned, spans["col"], -1.0)
    form.rows("rental_capacity", keys, entries, upper=np.zeros(len(keys)))
    return rentals


def _rentals(ix: Indices) -> list[Rental]:
    return sorted(ix.scenario.rentals, key=lambda rental: rental.name)


def _row(ix: Indices, frame: pd.DataFrame) -> Ints:
    number = {rental.name: i for i, rental in enumerate(_rentals(ix))}
    rental = np.array([number[name] for name in frame["rental"]], dtype=np.int64)
    return np.asarray(rental * len(ix.calendar) + frame["t"].to_numpy(dtype=np.int64))


def _arcs(form: Form, ix: Indices) -> pd.DataFrame:
    rows = [arc for rental in _rentals(ix) for arc in _arcs_of(ix.calendar, rental)]
    arcs = pd.DataFrame(rows, columns=["rental", "start", "stop", "rest", "price"])
    keys = pd.DataFrame(
        {
            "rental": arcs["rental"],
            "start": ix.calendar.label(arcs["start"]),
            "stop": ix.calendar.label(arcs["stop"]),
        }
    )
    arcs["col"] = form.variables("rented", keys).cols
    return arcs


def _arcs_of(calendar: Calendar, rental: Rental) -> list[tuple[str, int, int, int, float]]:
    """Every start after the lead time and inside the offer, with every end after the commitment."""
    total = len(calendar)
    first = calendar.first_from(
        max(rental.first.ordinal, int(calendar.boundary[0]) + rental.lead_time_quarters)
    )
    price = rental.price_musd_per_rack_quarter
    found = []
    for start in range(first, total):
        begins = int(calendar.boundary[start])
        if begins > rental.last.ordinal:
            break
        for stop in range(start + 1, total + 1):
            ends = int(calendar.boundary[stop])
            rest = max(0, begins + rental.commitment_quarters - ends)
            over = int(calendar.boundary[stop - 1]) > rental.last.ordinal
            if (rest == 0 or stop == total) and not over:
                found.append((rental.name, start, stop, rest, price))
    return found


def _spans(arcs: pd.DataFrame) -> pd.DataFrame:
    """One row for each arc and period that it covers."""
    lengths = (arcs["stop"] - arcs["start"]).to_numpy(dtype=np.int64)
    spans = arcs.loc[arcs.index.repeat(lengths)].copy()
    step = np.concatenate([np.arange(n) for n in lengths]) if len(lengths) else np.zeros(0, dtype=np.int64)
    spans["t"] = spans["start"].to_numpy(dtype=np.int64) + step
    return spans.reset_index(drop=True)


def rented_periods(rentals: Rentals) -> pd.DataFrame:
    """Arcs spread over the periods they cover: the columns of the arcs, and t."""
    return _spans(rentals.arcs)


def _uses(form: Form, ix: Indices) -> pd.DataFrame:
    options = ix.choices.options.assign(k=np.arange(len(ix.choices.options)))
    rented = pd.DataFrame(
        [(r.name, r.accelerator) for r in _rentals(ix)], columns=["rental", "accelerator"]
    ).astype("str")
    uses = rented.merge(_fastest(options[_may_leave(ix, options)]), on="accelerator")
    uses = uses.merge(pd.DataFrame({"t": np.arange(len(ix.calendar))}), how="cross")
    uses = uses.sort_values(["rental", "k", "t"], ignore_index=True)
    keys = uses[["rental", "option"]].assign(period=ix.calendar.label(uses["t"]))
    uses["col"] = form.variables("rented_use", keys).cols
    uses["w"] = numbered(uses["workload"], ix.choices.workloads)
    uses["peak"] = mapped(uses["workload"], ix.choices.peak)
    return uses


def _may_leave(ix: Indices, options: pd.DataFrame) -> Bools:
    """Work that is bound to sites is not done on racks that stand at none of them."""
    free = {name for name, workload in ix.scenario.workloads.items() if not workload.allowed_sites}
    return np.asarray(options["workload"].isin(free), dtype=bool)


def _fastest(options: pd.DataFrame) -> pd.DataFrame:
    """The fastest option of each workload and accelerator: rented racks cost no energy of ours."""
    ordered = options.sort_values(
        ["workload", "accelerator", "rate", "option"], ascending=[True, True, False, True]
    )
    return ordered.drop_duplicates(["workload", "accelerator"])
