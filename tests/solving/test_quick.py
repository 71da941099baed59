"""The short way from Pyomo to arrays gives what the walker gives, or stands back."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.numeric_expr import LinearExpression

from fleetplan.errors import InfeasibleError
from fleetplan.solving.arrays import Labels
from fleetplan.solving.compile import _key, compile_model, walked_form
from fleetplan.solving.quick import quick_form


def linear(coefficients, variables, constant=None):
    return LinearExpression(constant=constant, linear_coefs=coefficients, linear_vars=variables)


def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], domain=pyo.NonNegativeIntegers, bounds=(None, 5))
    m.y = pyo.Var(bounds=(-2, None))
    m.unused = pyo.Var([1])
    m.c = pyo.Constraint([1, 2], rule=lambda m, i: (1.0, linear([2.0, -3.5], [m.x[i], m.y]), 9.0))
    m.twice = pyo.Constraint(rule=lambda m: (linear([1.0, 2.0, 0.0], [m.y, m.y, m.x[1]]), 4.0))
    m.cost = pyo.Objective(expr=linear([1.5, -2.0], [m.x[1], m.y]), sense=pyo.maximize)
    return m


def by_name(form):
    rows, columns = Labels(form.constraints, _key).names, Labels(form.columns, _key).names
    dense = form.matrix.toarray()
    return (
        {(r, c): dense[i, j] for i, r in enumerate(rows) for j, c in enumerate(columns)},
        {r: (form.lower[i], form.upper[i]) for i, r in enumerate(rows)},
        dict(zip(columns, form.cost.tolist(), strict=True)),
        form.offset,
        form.sign,
    )


def test_the_same_numbers_as_the_walker():
    assert by_name(quick_form(model())) == by_name(walked_form(model()))
    assert by_name(quick_form(model()))[0]["twice", "y"] == 3.0


def test_the_same_fleet_as_the_walker(fleet):
    m, compiled = fleet
    walked = walked_form(m)
    order = [compiled.rows.names.index(name) for name in Labels(walked.constraints, _key).names]
    across = [compiled.columns.names.index(name) for name in Labels(walked.columns, _key).names]
    assert abs(compiled.matrix[order][:, across] - walked.matrix).max() == 0
    assert np.array_equal(compiled.row_lower[order], walked.lower)
    assert np.array_equal(compiled.row_upper[order], walked.upper)
    assert np.array_equal(compiled.cost[across], walked.cost)


def _fix(m):
    m.x[2].fix(1)


def _sum(m):
    m.more = pyo.Constraint(expr=m.x[1] + m.x[2] <= 4)


def _param(m):
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.more = pyo.Constraint(rule=lambda m: (None, linear([m.p], [m.y]), 4.0))


def _side(m):
    m.q = pyo.Param(initialize=2.0, mutable=True)
    m.more = pyo.Constraint(rule=lambda m: (None, linear([1.0], [m.y]), m.q))


def _constant(m):
    m.more = pyo.Constraint(rule=lambda m: (None, linear([1.0], [m.y], constant=3.0), 4.0))


def _block(m):
    m.part = pyo.Block()
    m.part.v = pyo.Var()


def _no_cost(m):
    m.cost.deactivate()


@pytest.mark.parametrize("change", [_fix, _sum, _param, _side, _constant, _block, _no_cost])
def test_anything_else_is_left_to_the_walker(change):
    m = model()
    change(m)
    assert quick_form(m) is None
    assert compile_model(m).shape[0] >= 3


def test_what_is_switched_off_is_left_out():
    m = model()
    m.twice.deactivate()
    m.c[1].deactivate()
    assert compile_model(m).rows.names == ["c[2]"]


def test_rows_without_variables_hold_or_are_named():
    m = model()
    m.holds = pyo.Constraint(rule=lambda _: (None, linear([], []), 1.0))
    m.free = pyo.Constraint(rule=lambda m: (None, linear([1.0], [m.y]), float("inf")))
    assert compile_model(m).rows.names == ["c[1]", "c[2]", "twice"]
    m.broken = pyo.Constraint(rule=lambda _: (2.0, linear([], []), None))
    with pytest.raises(InfeasibleError, match="broken"):
        compile_model(m)


def test_bounds_are_the_tighter_of_own_and_domain():
    m = model()
    m.z = pyo.Var(domain=pyo.PercentFraction, bounds=(-3, 0.5))
    m.use = pyo.Constraint(rule=lambda m: (None, linear([1.0], [m.z]), 4.0))
    compiled = compile_model(m)
    z, x, y = (compiled.columns.position(*key) for key in (("z", None), ("x", 1), ("y", None)))
    assert (compiled.col_lower[z], compiled.col_upper[z]) == (0.0, 0.5)
    assert (compiled.col_lower[x], compiled.col_upper[x], compiled.integer[x]) == (0.0, 5.0, True)
    assert (compiled.col_lower[y], compiled.col_upper[y]) == (-2.0, np.inf)
