"""Cohorts and the arcs on which their racks leave: index tables only, no model.

A cohort is racks of one accelerator in one hall that count from one vintage and entered at one
period: present racks, deliveries, module upgrades in place, moved racks, racks handed on to a role
outside training. An arc is a cohort and the period at whose start racks leave it: ``early``,
``end-of-life``, ``upgrade``, ``moved``, ``role``, or ``horizon`` for those still alive at the end. Ages
that are not allowed have no arc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.inputs.scenario import Scenario
from fleetplan.lifecycle import survival_by_age
from fleetplan.planning.calendar import Calendar, quarter_names
from fleetplan.planning.choices import Choices
from fleetplan.planning.deliveries import Deliveries
from fleetplan.planning.form import Bools, Floats, Ints, mapped, records
from fleetplan.planning.places import Places, accepts, rack_kw

COHORT = [
    "kind",
    "hall",
    "site",
    "accelerator",
    "vintage",
    "entry",
    "price",
    "life",
    "racks",
    "landing",
    "source",
]
"""``landing`` is the row in landings of a new cohort, and the delivery of an upgrade's modules; ``source``
is the part that an upgrade starts from, and the role that racks were handed on to."""
ARC = ["cohort", "exit", "kind", "target"]


@dataclass(frozen=True)
class Cohorts:
    """``cohorts`` has the columns :data:`COHORT`, ``arcs`` those of :data:`ARC`.

    ``alive[c, t]`` is the share of a cohort's first racks that attrition leaves in period ``t``
    (the end of the horizon last); 0 before entry.
    """

    cohorts: pd.DataFrame
    arcs: pd.DataFrame
    alive: Floats

    @property
    def role(self) -> list[str]:
        """Role of each cohort outside training; empty for racks that train."""
        kinds = zip(self.cohorts["kind"], self.cohorts["source"], strict=True)
        return [source if kind == "role" else "" for kind, source in kinds]

    def age(self, calendar: Calendar, cohort: Ints, boundary: Ints) -> Ints:
        """Age in quarters of cohorts at period starts."""
        return np.asarray(calendar.boundary[boundary] - self.cohorts["vintage"].to_numpy()[cohort])


def make_cohorts(
    scenario: Scenario, calendar: Calendar, places: Places, choices: Choices, deliveries: Deliveries
) -> Cohorts:
    """List every cohort that can exist, and every arc on which its racks can leave."""
    present = _present(scenario, calendar)
    landed = _landed(scenario, deliveries)
    base = pd.concat([present, landed], ignore_index=True)
    upgraded = _upgraded(scenario, deliveries, base)
    moved = _moved(scenario, calendar, places, base)
    in_role = _in_role(scenario, calendar, base)
    cohorts = pd.concat([base, upgraded, moved, in_role], ignore_index=True)[COHORT]
    released = _released(scenario, calendar, places, choices, present)
    arcs = _arcs(scenario, calendar, cohorts, released)
    return Cohorts(cohorts, arcs, _alive(scenario, calendar, cohorts))


def _frame(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=COHORT)
    whole = ["vintage", "entry", "landing"]
    real = ["price", "life", "racks"]
    return frame.astype({**dict.fromkeys(whole, "int64"), **dict.fromkeys(real, "float64")})


def _present(scenario: Scenario, calendar: Calendar) -> pd.DataFrame:
    ordered = sorted(scenario.fleet, key=lambda c: (c.site, c.hall, c.accelerator, c.commissioned, c.name))
    return _frame(
        [
            (
                "present",
                c.hall,
                c.site,
                c.accelerator,
                c.commissioned.ordinal,
                calendar.first_from(c.commissioned.ordinal),
                c.purchase_price_musd_per_rack,
                c.book_life_years,
                float(c.racks),
                -1,
                "",
            )
            for c in ordered
            if calendar.first_from(c.commissioned.ordinal) < len(calendar)
        ]
    )


def _landed(scenario: Scenario, deliveries: Deliveries) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    table = deliveries.table.to_dict("records")
    for i, landing in enumerate(records(deliveries.landings)):
        d = table[landing.delivery]
        life = scenario.accelerators[d["accelerator"]].book_life_years
        site = scenario.halls[landing.hall].site
        kind = (d["accelerator"], d["service"], d["entry"], d["price"], life)
        rows.append(("new", landing.hall, site, *kind, 0.0, i, ""))
    return _frame(rows)


def _upgraded(scenario: Scenario, deliveries: Deliveries, base: pd.DataFrame) -> pd.DataFrame:
    """Cohorts that module swaps can make: the new part's delivery must exist and be orderable."""
    if not scenario.rules.allow_upgrades:
        return _frame([])
    made: list[tuple[object, ...]] = []
    table = deliveries.table.to_dict("records")
    orderable = deliveries.orderable_by_entry()
    cells = sorted(set(zip(base["hall"], base["accelerator"], strict=True)))
    for hall, source, name, share in _swaps(scenario, cells):
        life, site = scenario.accelerators[name].book_life_years, scenario.halls[hall].site
        for t, d in sorted(orderable.get(name, {}).items()):
            delivery = table[d]
            price = float(delivery["price"]) * share
            made.append(("upgrade", hall, site, name, delivery["service"], t, price, life, 0.0, d, source))
    return _frame(made)


def _swaps(scenario: Scenario, cells: list[tuple[str, str]]) -> list[tuple[str, str, str, float]]:
    """Hall, old part, new part and price share of every module swap, also of swapped racks."""
    reachable, found = list(cells), []
    for hall, name in reachable:
        for upgrade in scenario.upgrades:
            target = scenario.accelerators[upgrade.to_accelerator]
            if upgrade.from_accelerator == name and accepts(scenario.halls[hall], target):
                found.append((hall, name, target.name, upgrade.price_share_of_new_rack))
                if (hall, target.name) not in reachable:
                    reachable.append((hall, target.name))
    return sorted(found)


def _moved(scenario: Scenario, calendar: Calendar, places: Places, base: pd.DataFrame) -> pd.DataFrame:
    """Cohorts that moved racks can make: same vintage and price, another hall, once in a life."""
    if not scenario.rules.allow_moves:
        return _frame([])
    kinds = base[["accelerator", "vintage", "price", "life"]].drop_duplicates()
    entries = base.groupby(["accelerator", "vintage", "price", "life"])["entry"].min()
    made: list[tuple[object, ...]] = []
    for kind in sorted(kinds.itertuples(index=False, name=None)):
        name, vintage, price, life = kind
        for hall in places.halls["hall"].tolist():
            if not accepts(scenario.halls[hall], scenario.accelerators[name]):
                continue
            site = scenario.halls[hall].site
            first = int(entries.loc[kind]) + 1
            made += [
                ("moved", hall, site, name, vintage, t, price, life, 0.0, -1, "")
                for t in range(first, len(calendar))
                if vintage + scenario.lifecycle.maximum_age_quarters > calendar.boundary[t]
            ]
    return _frame(made)


def _in_role(scenario: Scenario, calendar: Calendar, base: pd.DataFrame) -> pd.DataFrame:
    """Cohorts of racks handed on to a role: same hall, vintage and price, once in a life."""
    on = ["hall", "site", "accelerator", "vintage", "price", "life"]
    entries = base.groupby(on, sort=True)["entry"].min().reset_index()
    oldest = scenario.lifecycle.maximum_age_quarters
    made: list[tuple[object, ...]] = []
    for role in sorted(scenario.roles, key=lambda role: role.name):
        for kind in records(entries[entries["accelerator"] == role.accelerator]):
            youngest = max(role.first.ordinal, kind.vintage + role.minimum_age_quarters)
            first = max(calendar.first_from(youngest), kind.entry + 1)
            last = min(role.last.ordinal, kind.vintage + oldest - 1)
            place = (kind.hall, kind.site, kind.accelerator, kind.vintage)
            made += [
                ("role", *place, t, kind.price, kind.life, 0.0, -1, role.name)
                for t in range(first, len(calendar))
                if calendar.boundary[t] <= last and role.max_racks > 0
            ]
    return _frame(made)


def _released(
    scenario: Scenario, calendar: Calendar, places: Places, choices: Choices, present: pd.DataFrame
) -> set[tuple[str, int]]:
    """Halls and periods whose power cannot carry the present racks that may not leave yet.

    There the minimum age does not hold for present racks: they cannot run anyway. Racks that are
    bought or committed never get this way out; if they cannot be powered, no plan exists.
    """
    if present.empty:
        return set()
    keys = present.merge(pd.DataFrame({"t": range(len(calendar))}), how="cross")
    keys["cap_w"] = mapped(keys["accelerator"], choices.lowest_cap_w)
    keys["mw"] = rack_kw(scenario, calendar, keys) * keys["racks"] / 1000
    age = calendar.boundary[keys["t"]] - keys["vintage"]
    may_leave = (keys["t"] > 0) & (age >= scenario.lifecycle.minimum_age_quarters)
    locked = keys[~(may_leave & scenario.rules.allow_early_retirement)]
    locked = locked[age[locked.index] < scenario.lifecycle.maximum_age_quarters]
    need = locked.groupby(["hall", "t"])["mw"].sum()
    number = {hall: i for i, hall in enumerate(places.halls["hall"])}
    return {
        (hall, t) for (hall, t), mw in need.items() if mw > places.usable_mw[number[hall], t] * (1 + 1e-9)
    }


def _arcs(
    scenario: Scenario, calendar: Calendar, cohorts: pd.DataFrame, released: set[tuple[str, int]]
) -> pd.DataFrame:
    natural = _natural_exits(scenario, calendar, cohorts)
    between = _periods_between(cohorts, cohorts["entry"] + 1, natural["exit"])
    early = between[_may_retire(scenario, calendar, between)].assign(kind="early", target=-1)
    parts = [natural, early, _let_go(scenario, calendar, cohorts, natural, released)]
    parts += [_upgrade_arcs(cohorts, between), _move_arcs(cohorts, between), _role_arcs(cohorts, between)]
    arcs = pd.concat([part[ARC] for part in parts if len(part)] or [natural[ARC]], ignore_index=True)
    return arcs.sort_values(ARC, ignore_index=True)


def _natural_exits(scenario: Scenario, calendar: Calendar, cohorts: pd.DataFrame) -> pd.DataFrame:
    """The last boundary within the maximum age: end of life, or the end of the horizon."""
    oldest = cohorts["vintage"].to_numpy() + scenario.lifecycle.maximum_age_quarters
    last = np.searchsorted(calendar.boundary, oldest, side="right") - 1
    survives = last >= len(calendar)
    leaves = np.where(survives, len(calendar), np.maximum(last, cohorts["entry"].to_numpy()))
    kind = np.where(survives, "horizon", "end-of-life")
    return pd.DataFrame({"cohort": np.arange(len(cohorts)), "exit": leaves, "kind": kind, "target": -1})


def _periods_between(cohorts: pd.DataFrame, first: pd.Series, stop: pd.Series) -> pd.DataFrame:
    """For each cohort the periods from ``first`` to before ``stop``, as exits."""
    lengths = np.maximum(stop.to_numpy() - first.to_numpy(), 0)
    c = np.repeat(np.arange(len(cohorts)), lengths)
    step = np.arange(len(c)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    vintage = cohorts["vintage"].to_numpy()[c]
    return pd.DataFrame({"cohort": c, "exit": first.to_numpy()[c] + step, "vintage": vintage})


def _may_retire(scenario: Scenario, calendar: Calendar, exits: pd.DataFrame) -> Bools:
    age = calendar.boundary[exits["exit"].to_numpy()] - exits["vintage"].to_numpy()
    old_enough = age >= scenario.lifecycle.minimum_age_quarters
    return np.asarray(old_enough & scenario.rules.allow_early_retirement)


def _let_go(
    scenario: Scenario,
    calendar: Calendar,
    cohorts: pd.DataFrame,
    natural: pd.DataFrame,
    released: set[tuple[str, int]],
) -> pd.DataFrame:
    """Early arcs of present racks below the minimum age, where their hall cannot power them."""
    present = cohorts[cohorts["kind"] == "present"]
    exits = _periods_between(present, present["entry"], natural["exit"].iloc[: len(present)])
    places = zip(present["hall"].iloc[exits["cohort"]].tolist(), exits["exit"].tolist(), strict=True)
    free = np.array([place in released for place in places], dtype=bool)
    at_entry = exits["exit"].to_numpy() == present["entry"].to_numpy()[exits["cohort"]]
    locked = at_entry | ~_may_retire(scenario, calendar, exits)
    chosen = np.asarray(free & locked)
    return exits.loc[chosen].assign(kind="early", target=-1)


def _upgrade_arcs(cohorts: pd.DataFrame, between: pd.DataFrame) -> pd.DataFrame:
    """Arcs into the cohorts that module upgrades make; racks in a role keep their modules."""
    made = cohorts.loc[cohorts["kind"] == "upgrade", ["hall", "source", "entry"]]
    made = made.set_axis(["hall", "accelerator", "exit"], axis="columns").assign(target=made.index)
    old = cohorts[["hall", "accelerator"]].assign(cohort=np.arange(len(cohorts)))
    old = old[cohorts["kind"] != "role"]
    leave = between.merge(old, on="cohort") if len(made) else between.iloc[:0].assign(hall="", accelerator="")
    return leave.merge(made, on=["hall", "accelerator", "exit"]).assign(kind="upgrade")


def _move_arcs(cohorts: pd.DataFrame, between: pd.DataFrame) -> pd.DataFrame:
    """Arcs into the cohorts that moves make; racks that moved or were upgraded stay where they are."""
    on = ["accelerator", "vintage", "price", "life"]
    made = cohorts.loc[cohorts["kind"] == "moved", [*on, "entry", "hall"]]
    made = made.rename(columns={"entry": "exit", "hall": "to"}).assign(target=made.index)
    old = cohorts[["accelerator", "price", "life", "hall"]].assign(cohort=np.arange(len(cohorts)))
    old = old[cohorts["kind"].isin(["present", "new"])] if len(made) else old.iloc[:0]
    moves = between.merge(old, on="cohort").merge(made, on=[*on, "exit"])
    leaves = (moves["hall"] != moves["to"]).to_numpy()
    return moves.loc[leaves].assign(kind="moved")


def _role_arcs(cohorts: pd.DataFrame, between: pd.DataFrame) -> pd.DataFrame:
    """Arcs into the cohorts in a role; racks that moved or were upgraded go on training."""
    on = ["hall", "accelerator", "vintage", "price", "life"]
    made = cohorts.loc[cohorts["kind"] == "role", [*on, "entry"]]
    made = made.rename(columns={"entry": "exit"}).assign(target=made.index)
    old = cohorts[["hall", "accelerator", "price", "life"]].assign(cohort=np.arange(len(cohorts)))
    old = old[cohorts["kind"].isin(["present", "new"])] if len(made) else old.iloc[:0]
    return between.merge(old, on="cohort").merge(made, on=[*on, "exit"]).assign(kind="role")


def _alive(scenario: Scenario, calendar: Calendar, cohorts: pd.DataFrame) -> Floats:
    """Share of a cohort's first racks alive in each period."""
    life = scenario.lifecycle
    vintage = cohorts["vintage"].to_numpy(dtype=np.int64)[:, None]
    entry = cohorts["entry"].to_numpy(dtype=np.int64)[:, None]
    age = calendar.boundary[None, :] - vintage
    oldest = max(int(age.max(initial=0)), 0)
    by_age = np.array(
        survival_by_age(
            oldest, life.attrition_per_year, life.attrition_multiplier, life.attrition_multiplier_from_year
        )
    )
    at_entry = by_age[np.maximum(calendar.boundary[entry] - vintage, 0)]
    now = by_age[np.maximum(age, 0)]
    share = np.divide(now, at_entry, out=np.zeros_like(now), where=at_entry > 0)
    return np.where(np.arange(len(calendar) + 1)[None, :] >= entry, share, 0.0)


def vintage_names(cohorts: pd.DataFrame) -> list[str]:
    """Vintage of each cohort as a quarter's name."""
    return quarter_names(cohorts["vintage"])
