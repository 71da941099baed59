"""Objectives in order: each is held at its least while the next is minimised."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from fleetplan.errors import InfeasibleError
from fleetplan.solving.compile import compile_model
from fleetplan.solving.in_order import Goal, hold_in_order
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve


def compiled(least: float = 3.0):
    """Three amounts that sum to ``least``, the first at most 2: the third is cheapest."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0, 1, 2], bounds=(0, 10))
    model.x[0].setub(2)
    model.need = pyo.Constraint(expr=model.x[0] + model.x[1] + model.x[2] >= least)
    model.cost = pyo.Objective(expr=3 * model.x[0] + 2 * model.x[1] + model.x[2])
    return compile_model(model)


def goal(name: str, *cost: float, size: float = 10.0) -> Goal:
    return Goal(name, np.array(cost), size)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_goals_hold_in_their_order_whatever_their_unit(unit):
    third, second = goal("third", 0, 0, unit, size=10 * unit), goal("second", 0, unit, 0, size=10 * unit)
    held = hold_in_order(compiled(), [third, second], SolveOptions(gap_rel=1e-9))
    x = solve(held.compiled).x
    # None of the third, then as little of the second as the first, of which there are two, leaves.
    assert x == pytest.approx([2.0, 1.0, 0.0], abs=1e-4)
    assert [one.value for one in held.reached] == pytest.approx([0.0, unit], rel=1e-4, abs=1e-5 * unit)
    assert [one.bound for one in held.reached] == pytest.approx([0.0, unit], rel=1e-4, abs=1e-5 * unit)
    other = hold_in_order(compiled(), [second, third], SolveOptions(gap_rel=1e-9))
    assert solve(other.compiled).x == pytest.approx([2.0, 0.0, 1.0], abs=1e-4)


def test_without_goals_nothing_changes_and_without_a_plan_it_is_said():
    assert hold_in_order(compiled(), []).compiled.shape == compiled().shape
    with pytest.raises(InfeasibleError):
        hold_in_order(compiled(30.0), [goal("first", 1, 0, 0)])
