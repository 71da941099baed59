"""On which stated figures the cost rests, and how much it would move over their intervals.

The moves are for the plan as it is (first order): the plan itself is not made again. Which figures
would turn a decision is asked in :mod:`fleetplan.explain.assumptions`, with real solves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.figures import Figure, Status, weakest

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Scenario


@dataclass(frozen=True)
class Leverage:
    """What one figure's interval does to the cost of the plan as it is, M USD of present value."""

    path: str
    subject: str
    """Accelerator, site, workload or rule whose figure it is."""
    figure: Figure
    at_low_musd: float
    at_high_musd: float

    @property
    def swing_musd(self) -> float:
        """Distance between the ends."""
        return abs(self.at_high_musd - self.at_low_musd)


def cost_by_status(ledger: pd.DataFrame, scenario: Scenario) -> dict[Status, float]:
    """Gross discounted cost (M USD) by the evidence for the price behind each row."""
    totals: dict[Status, float] = {}
    for cause, npv in zip(ledger["cause"], ledger["npv_musd"], strict=True):
        if npv > 0:
            status = status_of(str(cause), scenario)
            totals[status] = totals.get(status, 0.0) + float(npv)
    return totals


def status_of(cause: str, scenario: Scenario) -> Status:
    """Evidence for the price of a ledger row by its cause; what nobody states is assumed."""
    if cause in scenario.accelerators:
        figure = price_figure(scenario, cause)
        rows: list[Status] = [row.status for row in scenario.supply if row.accelerator == cause]
        if figure is not None:
            return figure.status
        return weakest(rows) if rows else "assumed"
    if cause in scenario.sites:
        return scenario.sites[cause].status
    if cause in scenario.workloads:
        return scenario.workloads[cause].status
    return "assumed"


def leverages(ledger: pd.DataFrame, scenario: Scenario) -> list[Leverage]:
    """Every open figure that scales a part of the cost, the largest swing first."""
    found = [*_prices(ledger, scenario), *_energy(ledger, scenario), *_discount(ledger, scenario)]
    return sorted(found, key=lambda leverage: (-leverage.swing_musd, leverage.path))


def _prices(ledger: pd.DataFrame, scenario: Scenario) -> list[Leverage]:
    found = []
    for name, accelerator in scenario.accelerators.items():
        figure = price_figure(scenario, name)
        spend = _total(ledger, name, "capex")
        if figure is not None and spend != 0:
            found += _scaled(f"supply[{name},*].price_musd_per_rack", accelerator.title, figure, spend)
    return found


def price_figure(scenario: Scenario, accelerator: str) -> Figure | None:
    """Evidence for an accelerator's price: the first stated offer's, else the catalog's."""
    for row in scenario.supply:
        figure = scenario.figures.get(f"supply[{accelerator},{row.delivery}].price_musd_per_rack")
        if row.accelerator == accelerator and figure is not None:
            return figure
    return scenario.accelerators[accelerator].figures.get("price_musd_per_rack")


def _energy(ledger: pd.DataFrame, scenario: Scenario) -> list[Leverage]:
    found = []
    for name, site in scenario.sites.items():
        path = f"sites[{name}].energy_price_usd_per_mwh"
        figure = scenario.figures.get(path)
        spend = _total(ledger, name, "energy")
        if figure is not None and spend != 0:
            found += _scaled(path, site.title, figure, spend)
    return found


def _discount(ledger: pd.DataFrame, scenario: Scenario) -> list[Leverage]:
    path = "finance.discount_rate"
    figure = scenario.figures.get(path)
    if figure is None or figure.low is None or figure.high is None or not figure.is_open:
        return []
    base = float(ledger["npv_musd"].sum())
    low = _rediscounted(ledger, scenario.finance.discount_rate, figure.low) - base
    high = _rediscounted(ledger, scenario.finance.discount_rate, figure.high) - base
    return [Leverage(path, "discount rate", figure, low, high)]


def _rediscounted(ledger: pd.DataFrame, rate: float, other: float) -> float:
    """Present value at another rate: factor = (1 + r)^-t, so factor' = factor^(ln(1+r')/ln(1+r))."""
    if rate <= 0:
        return float(ledger["npv_musd"].sum())
    power = math.log1p(other) / math.log1p(rate)
    return float((ledger["amount_musd"] * ledger["discount_factor"] ** power).sum())


def _total(ledger: pd.DataFrame, cause: str, item: str) -> float:
    chosen = (ledger["cause"] == cause) & ledger["item"].str.startswith(item)
    return float(ledger.loc[chosen, "npv_musd"].sum())


def _scaled(path: str, subject: str, figure: Figure, spend: float) -> list[Leverage]:
    if not figure.is_open or not isinstance(figure.value, int | float) or figure.value == 0:
        return []
    low, high = float(figure.low or 0.0), float(figure.high or 0.0)
    return [
        Leverage(path, subject, figure, spend * (low / figure.value - 1), spend * (high / figure.value - 1))
    ]
