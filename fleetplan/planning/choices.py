"""What the optimizer may choose from when it runs racks: caps, and training options that can win.

An option is dropped only if another of the same workload, accelerator and cap is at least as fast
per rack and takes no more energy: whatever it can do, the other does as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.scenario import Scenario, Workload
from fleetplan.planning.calendar import Calendar
from fleetplan.planning.form import Floats, mapped
from fleetplan.planning.places import has_law, law_kw


@dataclass(frozen=True)
class Choices:
    """Options that can win, caps by accelerator, and demand.

    ``options`` columns: option, workload, accelerator, cap_w, rate (useful samples/s per rack, in
    the workload's scale), average_kw, job_racks. ``caps``: accelerator, cap_w. ``scale`` is the
    number of samples/s that counts as one unit of work, by workload, so that rates are near 1.
    """

    options: pd.DataFrame
    caps: pd.DataFrame
    idle_kw: dict[str, float]
    scale: dict[str, float]
    demand: dict[str, Floats]
    """Average demand in units of ``scale`` by workload; one figure per period."""
    peak: dict[str, float]
    """Racks that must be ready per rack in use on average."""

    @property
    def lowest_cap_w(self) -> dict[str, float]:
        """Lowest cap of each accelerator."""
        least: dict[str, float] = {}
        for name, cap in zip(self.caps["accelerator"], self.caps["cap_w"], strict=True):
            least[name] = min(cap, least.get(name, cap))
        return least

    @property
    def workloads(self) -> list[str]:
        """Names, sorted."""
        return sorted(self.demand)


def make_choices(scenario: Scenario, calendar: Calendar, table: pd.DataFrame) -> Choices:
    """Prune the options table to what can win, and put work in scale."""
    caps = _caps(scenario, table)
    usable = _usable(scenario, table).merge(caps, on=["accelerator", "cap_w"])
    winners = _undominated(usable)
    scale = {name: _scale(winners[winners["workload"] == name]) for name in sorted(scenario.workloads)}
    winners["rate"] = winners["net_samples_per_s_per_rack"] / mapped(winners["workload"], scale)
    winners["average_kw"] = winners["average_facility_kw_per_rack"]
    per_rack = {name: float(a.devices_per_rack or 1) for name, a in scenario.accelerators.items()}
    winners["job_racks"] = winners["devices"] / mapped(winners["accelerator"], per_rack)
    keep = ["option", "workload", "accelerator", "cap_w", "rate", "average_kw", "job_racks"]
    ordered = winners[keep].sort_values(["workload", "accelerator", "cap_w", "option"], ignore_index=True)
    return Choices(
        options=ordered,
        caps=caps,
        idle_kw=_idle(scenario, ordered, caps),
        scale=scale,
        demand=_demand(scenario, calendar, scale),
        peak={name: peak_share(w) for name, w in sorted(scenario.workloads.items())},
    )


def peak_share(workload: Workload) -> float:
    """Racks to hold per rack in use on average: at a peak only the part that cannot wait is served."""
    return max(1.0, workload.peak_to_average * (1 - workload.deferrable_share))


def _usable(scenario: Scenario, table: pd.DataFrame) -> pd.DataFrame:
    """Options that fit, meet the deadline, and belong to this scenario."""
    known = table["workload"].isin(list(scenario.workloads)) & table["accelerator"].isin(
        list(scenario.accelerators)
    )
    works = table["fits"] & table["meets_deadline"] & (table["net_samples_per_s_per_rack"] > 0)
    return table[known & works].copy()


def _undominated(table: pd.DataFrame) -> pd.DataFrame:
    """Per workload, accelerator and cap: each option that is faster, or takes less, than all before."""
    ordered = table.sort_values(
        [
            "workload",
            "accelerator",
            "cap_w",
            "net_samples_per_s_per_rack",
            "average_facility_kw_per_rack",
            "option",
        ],
        ascending=[True, True, True, False, True, True],
        ignore_index=True,
    )
    on = [ordered[name] for name in ("workload", "accelerator", "cap_w")]
    least = ordered["average_facility_kw_per_rack"].groupby(on, sort=False).cummin()
    least_before = least.groupby(on, sort=False).shift()
    keeps = least_before.isna() | (ordered["average_facility_kw_per_rack"] < least_before)
    return ordered[keeps].reset_index(drop=True)


def _caps(scenario: Scenario, table: pd.DataFrame) -> pd.DataFrame:
    """Caps that each accelerator may run at: those with options, nearest the provisioned one first."""
    rows = []
    for name, accelerator in sorted(scenario.accelerators.items()):
        offered = sorted(set(table.loc[table["accelerator"] == name, "cap_w"].tolist()))
        default = default_cap_w(accelerator)
        near = sorted(offered or [default], key=lambda cap: (abs(cap - default), cap))
        rows += [(name, cap) for cap in sorted(near[: scenario.rules.caps_per_accelerator])]
    return pd.DataFrame(rows, columns=["accelerator", "cap_w"])


def default_cap_w(accelerator: Accelerator) -> float:
    """The cap that power is planned with."""
    return accelerator.tdp_w if accelerator.provisioned_cap_w is None else accelerator.provisioned_cap_w


def _idle(scenario: Scenario, options: pd.DataFrame, caps: pd.DataFrame) -> dict[str, float]:
    """Facility kW of a rack that stands idle: the power law at idle watts, never above any use.

    Where idle power is not known, an idle rack draws what the least hungry option does.
    """
    least = options.groupby("accelerator")["average_kw"].min().to_dict()
    lowest_cap = caps.groupby("accelerator")["cap_w"].min().to_dict()
    idle = {}
    for name, accelerator in scenario.accelerators.items():
        if not has_law(accelerator):
            continue
        ratio = (
            1.0
            if accelerator.average_to_provisioned_power is None
            else accelerator.average_to_provisioned_power
        )
        use = least.get(name, law_kw(accelerator, lowest_cap[name]) * ratio)
        idle[name] = use if accelerator.idle_w is None else min(use, law_kw(accelerator, accelerator.idle_w))
    return idle


def _scale(options: pd.DataFrame) -> float:
    """A power of ten near the median rate, so that coefficients of work are near 1."""
    if options.empty:
        return 1.0
    return float(10.0 ** round(float(np.log10(options["net_samples_per_s_per_rack"].median()))))


def _demand(scenario: Scenario, calendar: Calendar, scale: dict[str, float]) -> dict[str, Floats]:
    """Mean demand of each period's quarters; a quarter that is not stated asks for nothing."""
    stated = {(row.workload, row.quarter.ordinal): row.samples_per_s for row in scenario.demand}
    demand = {}
    for name in sorted(scenario.workloads):
        by_period = [
            np.mean([stated.get((name, q), 0.0) for q in range(int(first), int(last))])
            for first, last in zip(calendar.boundary[:-1], calendar.boundary[1:], strict=True)
        ]
        demand[name] = np.array(by_period) / scale[name]
    return demand
