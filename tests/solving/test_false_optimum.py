"""A model on which the solver's presolve once ended with a dearer plan that it called optimal."""

from __future__ import annotations

import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from fleetplan.planning import build_model
from fleetplan.solving.compile import compile_model
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from tests.planning.random_worlds import random_world


def test_the_search_of_a_small_model_does_not_trust_presolve() -> None:
    compiled = compile_model(build_model(*random_world(226)).pyomo)
    rows = LinearConstraint(compiled.matrix, compiled.row_lower, compiled.row_upper)
    other = milp(
        compiled.cost,
        constraints=rows,
        bounds=Bounds(compiled.col_lower, compiled.col_upper),
        integrality=compiled.integer.astype(int),
        options={"mip_rel_gap": 0},
    )
    found = solve(compiled, SolveOptions(gap_rel=0.0, gap_abs=1e-7, recipe="mip"))
    assert found.objective == pytest.approx(other.fun + compiled.offset, rel=1e-7)
