"""What stands in the way of a plan, in the limits' own names and units."""

from __future__ import annotations

import numpy as np
import pytest
from solving_models import INF, arrays

from fleetplan.errors import InfeasibleError, SolverError
from fleetplan.solving.infeasible import elastic, iis


def site():
    """Racks x0 draw 2 MW each of at most 7; 5 racks are asked for; x1 is unrelated."""
    return arrays(
        [1.0, 1.0], [[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [-INF, 5.0, 1.0], [7.0, INF, INF], high=[9.0, 9.0]
    )


def test_the_least_relief_of_a_named_limit_has_its_row_side_and_amount():
    answer = elastic(site(), {0: 1 / 7})
    assert [(r.key, r.side) for r in answer.reliefs] == [(("r", 0), "upper")]
    assert answer.reliefs[0].amount == pytest.approx(3.0)
    assert answer.reliefs[0].limit == 7.0


def test_asking_less_is_the_other_way_out():
    answer = elastic(site(), {1: 1 / 5})
    assert answer.reliefs[0].side == "lower"
    assert answer.reliefs[0].amount == pytest.approx(1.5)


def test_with_both_the_cheaper_relief_is_taken():
    assert elastic(site(), {0: 1.0, 1: 1.0}).reliefs[0].key == ("r", 1)
    assert elastic(site(), {0: 1.0, 1: 3.0}).reliefs[0].key == ("r", 0)


def test_rows_that_are_not_named_stay_hard():
    with pytest.raises(InfeasibleError):
        elastic(site(), {2: 1.0})
    with pytest.raises(SolverError, match="at least one"):
        elastic(site(), {})


def test_a_feasible_model_needs_no_relief():
    assert elastic(site().with_rhs([0], upper=[11.0]), {0: 1.0, 1: 1.0}).reliefs == ()


def test_the_clashing_set_holds_the_two_rows_and_not_the_unrelated_one():
    found = iis(site())
    assert found.rows == (("r", 0), ("r", 1))
    assert found.irreducible


def test_a_site_without_power_for_its_racks_is_named_in_the_fleet(fleet):
    _, compiled = fleet
    row = compiled.rows.position("power", (1, 1))
    dark = compiled.with_rhs([row], upper=[1.0])
    power = compiled.rows.positions("power")
    answer = elastic(dark, {i: 1 / max(1.0, dark.row_upper[i]) for i in power.values()})
    assert {r.key for r in answer.reliefs} == {("power", (1, 1))}
    assert ("power", (1, 1)) in iis(dark).rows


def test_a_feasible_model_has_no_clashing_set():
    with pytest.raises(SolverError, match="feasible"):
        iis(site().with_rhs([0], upper=[11.0]))


def test_relief_is_zero_dimensional_without_finite_sides():
    with pytest.raises(InfeasibleError):
        elastic(site().with_rhs([2], lower=[-INF]), {2: np.float64(1.0)})
