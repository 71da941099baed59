"""What a study compares plans by: cost, carbon, work, megawatts and racks, from the plan's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.plan.plan import Plan

BOUGHT = ("new", "committed", "option", "upgrade")
"""Kinds of orders that are racks of our own."""


def measures(plan: Plan) -> dict[str, float]:
    """Numbers of one plan, by name with unit.

    ``cost_musd`` and its parts are present values; carbon is tonnes CO2e, operational and embodied;
    ``served_share`` is work trained over work asked; ``peak_mw`` is the largest facility power of
    all sites together in any period; ``racks[a]`` are the racks ordered of accelerator ``a``.
    """
    ledger, energy, work = plan.ledger, plan.tables["energy"], plan.tables["work"]
    parts = ledger.groupby("item")["npv_musd"].sum()
    asked = _weighted(plan, work, "demand_samples_per_s")
    served = _weighted(plan, work, "served_samples_per_s")
    found = {"cost_musd": plan.cost_musd}
    for item in ("capex", "energy", "shortfall"):
        found[f"{item}_musd"] = float(parts.get(item, 0.0))
    found["carbon_t"] = float(energy["operational_t"].sum() + energy["embodied_t"].sum())
    found["served_share"] = served / asked if asked else 1.0
    found["peak_mw"] = float(plan.tables["power"].groupby("period")["used_mw"].sum().max() or 0.0)
    return found | {f"racks[{name}]": racks for name, racks in ordered_racks(plan).items()}


def ordered_racks(plan: Plan) -> dict[str, float]:
    """Racks ordered (not rented) by accelerator that could be ordered, 0 where none was."""
    orders = plan.orders[plan.orders["kind"].isin(BOUGHT)]
    sums = orders.groupby("accelerator")["racks"].sum()
    offered = sorted({row.accelerator for row in plan.scenario.supply})
    return {name: float(sums.get(name, 0.0)) for name in offered}


def _weighted(plan: Plan, work: pd.DataFrame, column: str) -> float:
    """Sum over periods of a rate times the period's length; samples/s x quarters."""
    lengths = {period.name: period.quarters for period in plan.scenario.horizon}
    return float((work[column] * work["period"].map(lengths)).sum())
