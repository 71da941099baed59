"""From Pyomo to arrays: what is kept, merged, left out and refused."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.numeric_expr import LinearExpression
from solving_models import arrays

from fleetplan.errors import InfeasibleError, SolverError
from fleetplan.solving.compile import build_and_compile, compile_model, load_values, vector
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve

INF = float("inf")


def model(demand=7.0, price=3.0, most=5.0):
    m = pyo.ConcreteModel()
    m.buy = pyo.Var(["a", "b"], [1, 2], domain=pyo.NonNegativeIntegers, bounds=(0, most))
    m.short = pyo.Var(bounds=(0, None))
    m.unused = pyo.Var([1, 2])
    m.need = pyo.Constraint(expr=sum(m.buy.values()) + m.short + 1 >= demand)
    m.window = pyo.Constraint([1, 2], rule=lambda m, t: (1, m.buy["a", t] + m.buy["b", t], 4))
    m.same = pyo.Constraint(expr=m.buy["a", 1] - m.buy["b", 1] == 0)
    m.cost = pyo.Objective(expr=price * sum(m.buy.values()) + 10 * m.short + 5)
    return m


def test_rows_sides_and_columns_are_the_models():
    c = compile_model(model())
    assert c.rows.names == ["need", "window[1]", "window[2]", "same"]
    assert c.row_lower.tolist() == [6.0, 1.0, 1.0, 0.0]
    assert c.row_upper.tolist() == [INF, 4.0, 4.0, 0.0]
    buy, short = c.columns.positions("buy"), c.columns.position("short")
    assert c.integer[list(buy.values())].all()
    assert not c.integer[short]
    assert c.col_upper[short] == INF
    assert c.cost[short] == 10.0
    assert c.offset == 5.0
    dense = c.matrix.toarray()
    assert dense[c.rows.position("window", 2)].sum() == 2.0
    assert dense[c.rows.position("same"), buy["b", 1]] == -1.0
    assert "unused" not in c.columns.families


def test_two_sided_rows_keep_their_place_between_others():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 9))
    m.y = pyo.Var(bounds=(0, 9))
    m.p = pyo.Constraint(expr=m.x <= 8)
    m.q = pyo.Constraint(expr=m.y >= 1)  # not the second half of p
    m.r = pyo.Constraint(expr=(2, m.x + m.y, 5))
    m.s = pyo.Constraint(expr=m.x - m.y <= 3)
    c = compile_model(m)
    assert c.rows.names == ["p", "q", "r", "s"]
    assert c.row_lower.tolist() == [-INF, 1.0, 2.0, -INF]
    assert c.row_upper.tolist() == [8.0, INF, 5.0, 3.0]
    assert c.matrix.toarray().tolist() == [[1, 0], [0, 1], [1, 1], [1, -1]]


def test_fixed_variables_move_to_the_right_side():
    m = model()
    m.buy["a", 1].fix(2)
    c = compile_model(m)
    assert ("buy", ("a", 1)) not in c.columns.keys
    assert c.row_lower[c.rows.position("need")] == 4.0
    assert c.offset == 11.0
    assert solve(c, SolveOptions(gap_rel=0.0)).objective == pytest.approx(5 + 3 * 6)


def test_maximising_is_minimising_the_negative():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 4))
    m.c = pyo.Constraint(expr=m.x <= 3)
    m.o = pyo.Objective(expr=2 * m.x + 1, sense=pyo.maximize)
    c = compile_model(m)
    assert c.sign == -1.0
    assert c.sign * solve(c).objective == pytest.approx(7.0)


def test_a_model_without_objective_asks_only_for_a_plan():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Binary)
    m.c = pyo.Constraint(expr=m.x >= 1)
    assert solve(compile_model(m)).x.tolist() == [1.0]


def test_several_objectives_are_refused():
    m = model()
    m.second = pyo.Objective(expr=m.short)
    with pytest.raises(SolverError, match="cost, second"):
        compile_model(m)


def test_products_of_variables_are_refused_by_name():
    m = model()
    m.bad = pyo.Constraint(expr=m.short * m.buy["a", 1] <= 3)
    with pytest.raises(SolverError, match="bad"):
        compile_model(m)


def test_variables_with_holes_in_their_domain_are_refused():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Set(initialize=[0, 5]))
    m.c = pyo.Constraint(expr=m.x >= 1)
    with pytest.raises(SolverError, match="domain"):
        compile_model(m)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_bound_that_is_no_number_names_its_column(bad):
    m = model()
    m.buy["a", 1].setlb(bad)
    with pytest.raises(SolverError, match=r"buy\[a,1\]"):
        compile_model(m)


def test_a_row_that_lost_its_variables_and_cannot_hold_is_infeasible_by_name():
    m = model()
    m.empty = pyo.Constraint(rule=lambda _: (2.0, LinearExpression(constant=1.0), None))
    with pytest.raises(InfeasibleError, match="empty"):
        compile_model(m)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_coefficient_that_is_no_finite_number_names_its_row_and_column(bad):
    m = model()
    m.power = pyo.Constraint(
        [7],
        rule=lambda m, _: (
            None,
            LinearExpression(linear_coefs=[bad, 1.0], linear_vars=[m.short, m.buy["a", 1]]),
            3.0,
        ),
    )
    with pytest.raises(SolverError, match=r"short in row power\[7\]"):
        compile_model(m)


def test_a_cost_or_side_that_is_no_number_is_named():
    m = model()
    m.cost.set_value(m.short * float("nan"))
    with pytest.raises(SolverError, match="cost nan of short"):
        compile_model(m)
    with pytest.raises(SolverError, match="need"):
        compile_model(model(demand=float("nan")))


def test_changed_arrays_equal_a_rebuilt_model():
    base = compile_model(model())
    need, short = base.rows.position("need"), base.columns.position("short")
    buy = list(base.columns.positions("buy").values())
    changed = base.with_rhs([need], lower=[11.0]).with_cost(buy, 4.0).with_bounds(buy, upper=2.0)
    rebuilt = compile_model(model(demand=12.0, price=4.0, most=2.0))
    for name in ("row_lower", "row_upper", "col_lower", "col_upper", "cost", "value", "index", "start"):
        assert np.array_equal(getattr(changed, name), getattr(rebuilt, name)), name
    assert base.row_lower[need] == 6.0
    assert changed.cost[short] == 10.0
    exact = SolveOptions(gap_rel=0.0)
    assert solve(changed, exact).objective == solve(rebuilt, exact).objective


def test_changes_are_checked_too():
    base = compile_model(model())
    with pytest.raises(SolverError, match="need"):
        base.with_rhs([base.rows.position("need")], lower=[float("nan")])
    with pytest.raises(SolverError, match=r"not in the compiled model"):
        base.rows.position("need", 3)


def test_added_rows_and_columns_take_part():
    base = compile_model(model())
    least = np.zeros(base.shape[1])
    least[base.columns.position("short")] = 1.0
    more = base.with_row(("least", None), least, 2.5, INF)
    assert more.rows.names[-1] == "least"
    x = solve(more, SolveOptions(gap_rel=0.0)).x
    assert x[base.columns.position("short")] >= 2.5


def test_pickled_arrays_leave_the_model_behind(fleet):
    _, compiled = fleet
    copy = pickle.loads(pickle.dumps(compiled))
    assert copy.columns.keys == compiled.columns.keys
    assert copy.rows.name(3) == compiled.rows.name(3)
    assert np.array_equal(copy.value, compiled.value)


def test_a_plan_goes_back_into_its_model():
    m, c = build_and_compile(model)
    result = solve(c, SolveOptions(gap_rel=0.0))
    load_values(c, m, result.x)
    assert pyo.value(m.cost) == pytest.approx(result.objective)
    indices, values = vector(c, m.buy, result.x)
    assert dict(zip(indices, values, strict=True))["a", 1] == m.buy["a", 1].value


def test_a_cost_is_the_exact_sum_and_so_the_same_in_every_process():
    rng = np.random.default_rng(7)
    width = 30_000  # a BLAS shares out what is so long, and then adds in another order
    cost, x = rng.normal(size=width), rng.normal(size=width)
    compiled = arrays(cost.tolist(), [[1.0] * width], [0.0], [1.0], offset=3.0)
    assert compiled.objective(x) == float(sum(map(Fraction, (cost * x).tolist()))) + 3.0
