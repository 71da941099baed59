"""Fleet, retirements, roles and books: cohort by cohort, from the arcs that their racks take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.plan.solved import TRACE, Solved
from fleetplan.planning.form import mapped
from fleetplan.planning.roles import income_per_rack

if TYPE_CHECKING:
    from fleetplan.planning.form import Floats

COHORT = ["site", "hall", "accelerator", "vintage"]


def fleet(solved: Solved) -> pd.DataFrame:
    """Racks alive by cohort and period."""
    alive = _by_cohort(solved, solved.model.arc_money.stands)
    cohort, t = np.nonzero(alive > TRACE)
    frame = _labels(solved, cohort)
    frame["period"], frame["racks"] = solved.period(t), alive[cohort, t]
    return _summed(frame, [*COHORT, "period"])


def retirements(solved: Solved) -> pd.DataFrame:
    """Racks that leave, by kind, with the book value left and the income from resale."""
    frame = pd.concat([_exits(solved), _attrition(solved)], ignore_index=True)
    return _summed(frame, [*COHORT, "period", "kind"])


def roles(solved: Solved) -> pd.DataFrame:
    """Racks in roles outside training, by hand-over, with what they bring and what it cost."""
    alive = _by_cohort(solved, solved.model.arc_money.stands)
    alive[(solved.cohorts["kind"] != "role").to_numpy()] = 0.0
    cohort, t = np.nonzero(alive > TRACE)
    table = solved.cohorts.iloc[cohort]
    entry = table["entry"].to_numpy(dtype=np.int64)
    shares = {role.name: role.cost_share_of_price for role in solved.model.scenario.roles}
    paid = table["price"].to_numpy(dtype=float) * mapped(table["source"], shares)
    frame = _labels(solved, cohort)
    frame["role"], frame["since"] = table["source"].to_numpy(), solved.period(entry)
    frame["period"], frame["racks"] = solved.period(t), alive[cohort, t]
    frame["value_musd"] = income_per_rack(solved.ix)[cohort, t] * alive[cohort, t]
    frame["hand_over_musd"] = np.where(t == entry, paid * alive[cohort, t], 0.0)
    return _summed(frame, [*COHORT, "role", "since", "period"])


def books(solved: Solved, retired: pd.DataFrame) -> pd.DataFrame:
    """Book values by accelerator and period, rolled forward from the present fleet."""
    names = sorted(set(solved.cohorts["accelerator"]))
    rows = []
    opening = _opening(solved)
    added, lost = _additions(solved), _depreciation(solved)
    gone = (
        retired[retired["kind"] != "moved"]
        .groupby(["accelerator", "period"])["book_value_musd"]
        .sum()
        .to_dict()
    )
    for name in names:
        value = opening.get(name, 0.0)
        for t, period in enumerate(solved.ix.calendar.names):
            plus, minus = added.get((name, t), 0.0), lost.get((name, t), 0.0)
            written_off = float(gone.get((name, period), 0.0))
            closing = value + plus - minus - written_off
            rows.append((name, period, value, plus, minus, written_off, closing))
            value = closing
    columns = ["accelerator", "period", "opening_musd", "additions_musd", "depreciation_musd"]
    frame = pd.DataFrame(rows, columns=[*columns, "write_off_musd", "closing_musd"])
    return _without_rounding(frame, ["opening_musd", "closing_musd"])


def _without_rounding(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Book values that are 0 but for rounding are 0."""
    for column in columns:
        frame[column] = frame[column].where(frame[column].abs() > 1e-9, 0.0)
    return frame


def _by_cohort(solved: Solved, per_arc: Floats) -> Floats:
    """Sum a quantity per first rack over the arcs of each cohort: (cohorts, periods)."""
    cohort = solved.ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)
    totals = np.zeros((len(solved.cohorts), per_arc.shape[1]))
    np.add.at(totals, cohort, per_arc * solved.leave[:, None])
    return totals


def _labels(solved: Solved, cohort: np.ndarray) -> pd.DataFrame:
    table = solved.cohorts.iloc[cohort]
    frame = table[["site", "hall", "accelerator"]].reset_index(drop=True)
    frame["vintage"] = table["vintage_name"].to_numpy()
    return frame


def _summed(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return frame.groupby(keys, as_index=False, sort=True).sum()


def _exits(solved: Solved) -> pd.DataFrame:
    arcs, money = solved.ix.cohorts.arcs, solved.model.arc_money
    racks = money.leaving * solved.leave
    leaves_fleet = (arcs["exit"] < len(solved.ix.calendar)) & (arcs["kind"] != "role")
    chosen = np.flatnonzero((racks > TRACE) & leaves_fleet.to_numpy())
    cohort = arcs["cohort"].to_numpy(dtype=np.int64)[chosen]
    leaves = arcs["exit"].to_numpy(dtype=np.int64)[chosen]
    frame = _labels(solved, cohort)
    frame["period"], frame["kind"] = solved.period(leaves), arcs["kind"].to_numpy()[chosen]
    frame["racks"] = racks[chosen]
    frame["book_value_musd"] = money.book[cohort, leaves] * racks[chosen]
    resale = money.items["resale"]
    income = np.bincount(resale.arc, weights=-resale.amount, minlength=len(arcs))
    frame["resale_musd"] = income[chosen] * solved.leave[chosen]
    return frame


def _attrition(solved: Solved) -> pd.DataFrame:
    lost = _by_cohort(solved, solved.model.arc_money.lost[:, : len(solved.ix.calendar)])
    cohort, t = np.nonzero(lost > TRACE)
    frame = _labels(solved, cohort)
    frame["period"], frame["kind"] = solved.period(t), "attrition"
    frame["racks"] = lost[cohort, t]
    frame["book_value_musd"] = solved.model.arc_money.book[cohort, t] * lost[cohort, t]
    frame["resale_musd"] = 0.0
    return frame


def _entered(solved: Solved) -> Floats:
    """Racks that each cohort starts with."""
    arcs = solved.ix.cohorts.arcs["cohort"].to_numpy(dtype=np.int64)
    return np.bincount(arcs, weights=solved.leave, minlength=len(solved.cohorts)).astype(float)


def _opening(solved: Solved) -> dict[str, float]:
    """Book value of the present fleet at the start of the horizon."""
    cohorts = solved.cohorts
    there = (cohorts["kind"] == "present") & (cohorts["vintage"] <= solved.ix.calendar.boundary[0])
    value = solved.model.arc_money.book[:, 0] * cohorts["racks"].to_numpy(dtype=float) * there.to_numpy()
    return {str(k): float(v) for k, v in pd.Series(value).groupby(cohorts["accelerator"]).sum().items()}


def _additions(solved: Solved) -> dict[tuple[str, int], float]:
    """Price of racks that go into service: bought, swapped, or present racks that start later."""
    cohorts = solved.cohorts
    later = (cohorts["kind"] == "present") & (cohorts["vintage"] > solved.ix.calendar.boundary[0])
    new = cohorts["kind"].isin(["new", "upgrade"]) | later
    value = (_entered(solved) * cohorts["price"])[new]
    sums = value.groupby([cohorts.loc[new, "accelerator"], cohorts.loc[new, "entry"]]).sum()
    return {(str(k[0]), int(k[1])): float(v) for k, v in sums.items()}


def _depreciation(solved: Solved) -> dict[tuple[str, int], float]:
    alive = _by_cohort(solved, solved.model.arc_money.stands)
    value = pd.DataFrame(solved.model.arc_money.depreciation * alive)
    sums = value.groupby(solved.cohorts["accelerator"].to_numpy()).sum()
    table = sums.to_numpy(dtype=float)
    return {
        (str(name), t): float(table[i, t]) for i, name in enumerate(sums.index) for t in range(table.shape[1])
    }
