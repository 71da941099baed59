"""Other solvers by their Pyomo name."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from fleetplan.errors import SolverError
from fleetplan.solving import others
from fleetplan.solving.compile import compile_model
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.others import installed_solvers, solve_with_pyomo
from fleetplan.solving.recipe import solve
from fleetplan.solving.status import Status


def model(sense=pyo.minimize, need=7.5):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], domain=pyo.NonNegativeIntegers, bounds=(0, 3))
    m.y = pyo.Var(bounds=(0, 9))
    m.unused = pyo.Var()
    m.c = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] + m.y >= need)
    m.cost = pyo.Objective(expr=sense * (3 * m.x[1] + 4 * m.x[2] + 5 * m.y + 1), sense=sense)
    return m


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_the_stock_highs_interface_gives_the_same_result(sense):
    theirs = solve_with_pyomo(model(sense), "appsi_highs", SolveOptions(gap_rel=0.0))
    ours = solve(compile_model(model(sense)), SolveOptions(gap_rel=0.0))
    assert theirs.status is Status.OPTIMAL
    assert theirs.objective == pytest.approx(ours.objective)
    assert theirs.bound == pytest.approx(ours.objective)
    assert theirs.x[:2].round().tolist() == theirs.x[:2].tolist()
    assert theirs.solver == "appsi_highs"


def test_infeasible_is_a_status_not_a_crash():
    assert solve_with_pyomo(model(need=99), "appsi_highs").status is Status.INFEASIBLE


def test_a_solver_that_is_not_there_is_an_error_with_the_list_of_those_that_are():
    with pytest.raises(SolverError, match=r"'gurobbi' is not installed here; there are: highs, appsi_highs"):
        solve_with_pyomo(model(), "gurobbi")
    assert installed_solvers()[:2] == ["highs", "appsi_highs"]


def test_a_time_limit_under_an_unknown_name_is_refused():
    with pytest.raises(SolverError, match="time limit"):
        others._common("baron", SolveOptions(time_limit_s=3.0))


def test_every_end_that_pyomo_knows_has_our_word():
    from pyomo.opt import TerminationCondition

    assert {str(word) for word in TerminationCondition} == set(others._OF_PYOMO)
