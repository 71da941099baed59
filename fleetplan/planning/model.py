"""The planning model as a whole: all families over one set of indices, and the objective.

::

    minimise  sum over cost terms of  discount factor x nominal amount x variable
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pyomo.common.gc_manager import PauseGC

from fleetplan.inputs.scenario import Scenario
from fleetplan.planning.arc_money import ArcMoney, make_arc_money
from fleetplan.planning.books import add_book_limits
from fleetplan.planning.carbon import add_carbon
from fleetplan.planning.cash import add_budgets, add_cash, constant_column, idle_commitments
from fleetplan.planning.cohorts import Fleet, add_cohorts, swaps_by_delivery
from fleetplan.planning.costs import CostBook
from fleetplan.planning.earlier import Earlier
from fleetplan.planning.form import Floats, Form
from fleetplan.planning.indices import Indices, make_indices
from fleetplan.planning.power import Power, add_power
from fleetplan.planning.rentals import Rentals, add_rentals
from fleetplan.planning.roles import add_roles
from fleetplan.planning.stability import Stability, add_stability, second_objective
from fleetplan.planning.supply import Supply, add_ceilings, add_supply, add_vendor_share
from fleetplan.planning.tax import add_tax
from fleetplan.planning.work import Work, add_work


@dataclass(frozen=True)
class PlanningModel:
    """A built model with all that is needed to read a solution back.

    ``pyomo`` is the Pyomo ``ConcreteModel``; ``terms`` are the cost terms (col, period, amount, item,
    cause, detail) whose discounted sum is the objective; columns are numbered as in ``form.columns``.
    """

    form: Form
    indices: Indices
    supply: Supply
    fleet: Fleet
    power: Power
    work: Work
    rentals: Rentals
    arc_money: ArcMoney
    stability: Stability
    terms: pd.DataFrame
    factors: Floats

    @property
    def pyomo(self) -> Any:
        """The Pyomo model."""
        return self.form.pyomo

    @property
    def scenario(self) -> Scenario:
        """The scenario that was modelled."""
        return self.indices.scenario

    def light(self) -> PlanningModel:
        """The same without Pyomo's objects, which take half of the memory: enough to read a solution."""
        return replace(self, form=self.form.light())

    def objective(self) -> Floats:
        """Present value per unit of each column."""
        book = CostBook(self.factors)
        return book.coefficients(self.terms, len(self.form.columns))

    def second_objective(self) -> Floats:
        """What the second pass minimises, by column."""
        count = len(self.form.columns)
        return second_objective(self.indices, self.supply, self.fleet, self.stability, count)

    def values(self, value_of: Callable[[str, Any], float | None]) -> Floats:
        """Values by column, asked by family and index; a column that was compiled away has its bound."""
        found = []
        for data in self.form.columns:
            value = value_of(data.parent_component().name, data.index())
            found.append(_resting(data) if value is None else value)
        return np.array(found, dtype=float)


def _resting(data: Any) -> float:
    """Value of a variable in no row and without cost: the end of its range that is nearest 0."""
    low = data.lb
    return 0.0 if low is None or low <= 0 else float(low)


def build_model(
    scenario: Scenario,
    options: pd.DataFrame,
    previous: Earlier | pd.DataFrame | None = None,
    *,
    form: Form | None = None,
) -> PlanningModel:
    """Build the planning model of a scenario with a table of training options.

    ``previous`` is an earlier plan to stay close to, or its table of orders alone. Units are MW, M USD and
    racks; work is in each workload's own scale. ``form`` is an empty form to write into, where Pyomo
    objects are not wanted. Raises ``InputError`` where something that the model
    needs is missing and ``InfeasibleError`` where a commitment has no place at all.
    """
    with PauseGC():
        return _build(scenario, options, Earlier.of(previous), form or Form(scenario.name))


def _build(scenario: Scenario, options: pd.DataFrame, earlier: Earlier | None, form: Form) -> PlanningModel:
    ix = make_indices(scenario, options)
    book = CostBook(ix.calendar.factor)
    supply = add_supply(form, ix)
    fleet = add_cohorts(form, ix, supply)
    add_ceilings(form, ix, supply, swaps_by_delivery(ix, fleet))
    add_vendor_share(form, ix, supply)
    power = add_power(form, ix, fleet)
    rentals = add_rentals(form, ix)
    work = add_work(form, ix, power, supply, rentals)
    arc_money = make_arc_money(ix)
    add_cash(
        book, ix, supply=supply, fleet=fleet, power=power, work=work, rentals=rentals, arc_money=arc_money
    )
    add_roles(form, book, ix, fleet)
    add_budgets(form, ix, supply, fleet)
    add_book_limits(form, ix, fleet, arc_money)
    add_carbon(form, book, ix, power=power, work=work, supply=supply, fleet=fleet)
    stability = add_stability(form, book, ix, supply=supply, fleet=fleet, earlier=earlier)
    for column in constant_column(form, ix).cols.tolist():
        idle_commitments(book, ix, column)
    add_tax(book, form, ix, fleet, arc_money)
    terms = book.terms()
    form.minimise(book.coefficients(terms, len(form.columns)))
    return PlanningModel(
        form, ix, supply, fleet, power, work, rentals, arc_money, stability, terms, ix.calendar.factor
    )
