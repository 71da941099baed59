"""Power: what racks may take of each hall, by cap, and what contracts bill.

Sets: cells ``(h, k, t)``, caps ``m`` of ``k``. Variables: ``capped[h, k, m, t]`` racks run at a cap (the
racks themselves where there is one cap), ``unused_take[s, t]`` MW billed and not used.

::

    caps    sum_m capped[h,k,m,t] = racks[h,k,t]
    power   sum_{k,m} kW_{h,k,m,t}/1000 capped[h,k,m,t]
            + sum_{k,r} kW_{h,k,m0,t}/1000 in_role[h,k,r,t] <= usable_MW[h,t]
    take    unused_take[s,t] + sum_{h in s} MW used >= minimum share x ramp_t x built MW[s,t]

``kW`` is facility power by cap and life stage; racks in a role outside training count at the cap ``m0``
that power is planned with. Halls carry the limit; a site's limit is the sum of its
halls. A contract's minimum share grows linearly over its ramp and ends with its term, both counted
from the first quarter of the horizon in which the site has power.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.inputs.accelerator import Accelerator
from fleetplan.lifecycle import minimum_take_share
from fleetplan.planning.choices import default_cap_w
from fleetplan.planning.cohorts import Fleet
from fleetplan.planning.form import Block, Entries, Floats, Form, Ints, lookup, mapped, numbered
from fleetplan.planning.indices import Indices
from fleetplan.planning.places import law_kw, rack_kw


@dataclass(frozen=True)
class Power:
    """``modes``: hall, site, accelerator, cap_w, t, col, kw (facility kW per rack); ``take`` by site, t."""

    modes: pd.DataFrame
    roles: pd.DataFrame
    """The same of racks in a role outside training, with the role and what a rack draws, average_kw."""
    take: Block
    take_keys: pd.DataFrame

    @property
    def standing(self) -> pd.DataFrame:
        """Every column that takes megawatts, racks in a role included."""
        return _standing(self.modes, self.roles)


def add_power(form: Form, ix: Indices, fleet: Fleet) -> Power:
    """Add caps, hall limits and contracts."""
    modes, roles = _modes(form, ix, fleet.racks), _roles(ix, fleet.in_role)
    standing = _standing(modes, roles)
    row = _hall_rows(ix, standing)
    halls = ix.places.halls["hall"].to_numpy()
    total = len(ix.calendar)
    keys = pd.DataFrame({"hall": np.repeat(halls, total), "period": np.tile(ix.calendar.names, len(halls))})
    entries = Entries.of(row, standing["col"], standing["kw"] / 1000)
    form.rows("power", keys, entries, upper=ix.places.usable_mw.reshape(-1))
    take, take_keys = _contracts(form, ix, standing)
    return Power(modes, roles, take, take_keys)


def _standing(modes: pd.DataFrame, roles: pd.DataFrame) -> pd.DataFrame:
    columns = ["hall", "site", "accelerator", "t", "col", "kw"]
    return pd.concat([modes[columns], roles[columns]], ignore_index=True) if len(roles) else modes


def _hall_rows(ix: Indices, modes: pd.DataFrame) -> Ints:
    hall = numbered(modes["hall"], ix.places.halls["hall"])
    return np.asarray(hall * len(ix.calendar) + modes["t"].to_numpy(dtype=np.int64))


def _modes(form: Form, ix: Indices, racks: Block) -> pd.DataFrame:
    """Racks by cap: own variables where a type has several caps, the racks themselves elsewhere."""
    cells = ix.cells.assign(cell=np.arange(len(ix.cells)))
    modes = cells.merge(ix.choices.caps, on="accelerator", how="left")
    modes = modes.sort_values(["cell", "cap_w"], ignore_index=True)
    several = modes.groupby("cell")["cap_w"].transform("size").to_numpy() > 1
    keys = modes.loc[several, ["hall", "accelerator", "cap_w"]]
    keys = keys.assign(period=ix.calendar.label(modes.loc[several, "t"]))
    capped = form.variables("capped", keys)
    cell = modes["cell"].to_numpy(dtype=np.int64)
    col = racks.cols[cell]
    col[several] = capped.cols
    with_caps = np.unique(cell[several])
    row = np.searchsorted(with_caps, cell[several])
    entries = Entries.of(row, capped.cols, 1.0)
    entries = entries + Entries.of(np.arange(len(with_caps)), racks.cols[with_caps], -1.0)
    form.rows("caps", racks.keys.iloc[with_caps], entries, lower=0.0, upper=0.0)
    modes["col"] = col
    modes["kw"] = rack_kw(ix.scenario, ix.calendar, modes)
    return modes.drop(columns="cell")


def _roles(ix: Indices, in_role: Block) -> pd.DataFrame:
    """Racks in a role, at the cap that power is planned with, and the facility kW that one draws."""
    roles, accelerators = ix.role_cells.copy(), ix.scenario.accelerators
    names = sorted(set(roles["accelerator"]))
    caps = {name: default_cap_w(accelerators[name]) for name in names}
    drawn = {name: role_kw(accelerators[name]) for name in names}
    roles["cap_w"], roles["average_kw"] = (mapped(roles["accelerator"], by) for by in (caps, drawn))
    roles["col"] = in_role.cols
    roles["kw"] = rack_kw(ix.scenario, ix.calendar, roles)
    return roles


def role_kw(accelerator: Accelerator) -> float:
    """Facility kW (at peak PUE) that a rack in a role draws on average."""
    ratio = accelerator.average_to_provisioned_power
    return law_kw(accelerator, default_cap_w(accelerator)) * (1.0 if ratio is None else ratio)


def contract_shares(ix: Indices) -> tuple[pd.DataFrame, Floats]:
    """Sites and periods with a minimum take, and the megawatts that are billed in any case."""
    rows, minimum = [], []
    halls = ix.places.halls
    for name, site in sorted(ix.scenario.sites.items()):
        built = ix.places.built_mw[(halls["site"] == name).to_numpy()].sum(axis=0)
        powered = np.flatnonzero(built > 0)
        if site.tariff_minimum_take_share <= 0 or not len(powered):
            continue
        start = int(ix.calendar.boundary[powered[0]])
        for t in range(int(powered[0]), len(ix.calendar)):
            years = float(ix.calendar.boundary[t] - start) / 4
            share = minimum_take_share(
                years, site.tariff_minimum_take_share, site.tariff_ramp_years, site.tariff_term_years
            )
            if share > 0:
                rows.append((name, t))
                minimum.append(share * float(built[t]))
    return pd.DataFrame(rows, columns=["site", "t"]), np.array(minimum)


def _contracts(form: Form, ix: Indices, modes: pd.DataFrame) -> tuple[Block, pd.DataFrame]:
    sites, minimum = contract_shares(ix)
    names = ix.calendar.names
    keys = pd.DataFrame({"site": sites["site"], "period": [names[t] for t in sites["t"].tolist()]})
    take = form.variables("unused_take", keys, upper=minimum)
    row = lookup(sites, ["site", "t"], modes)
    used = row >= 0
    entries = Entries.of(row[used], modes["col"].to_numpy()[used], modes["kw"].to_numpy()[used] / 1000)
    entries = entries + Entries.of(np.arange(len(take)), take.cols, 1.0)
    form.rows("take", keys, entries, lower=minimum)
    return take, sites
