"""Prices and fast re-solves."""

from __future__ import annotations

import numpy as np
import pytest
from solving_models import INF, arrays

from fleetplan.errors import InfeasibleError, LimitError, SolverError, UnboundedError
from fleetplan.solving.linear import Sweep, fixed_lp, relaxation, resolve_lp
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve


def lots():
    """Lots of 4 racks at 8 each, at most 10 racks; work at 5 a unit short, 6 units asked for... per rack 1."""
    # columns: lots (whole), short. rows: supply 4 lots <= 10, work 4 lots + short >= 10.
    return arrays(
        [8.0, 5.0],
        [[4.0, 0.0], [4.0, 1.0]],
        [-INF, 10.0],
        [10.0, INF],
        high=[INF, INF],
        integer=[True, False],
    )


def test_the_relaxation_prices_what_a_limit_is_worth_when_the_plan_may_change():
    solution = relaxation(lots())
    # 2.5 lots serve all; one more rack of supply saves nothing more than what it is limited to:
    # the last unit of work costs 2 (a quarter lot) and supply is just enough.
    assert solution.objective == pytest.approx(20.0)
    assert solution.row_dual @ [10.0, 10.0] == pytest.approx(20.0)


def test_prices_with_the_lots_held_are_those_of_operation():
    compiled = lots()
    x = solve(compiled, SolveOptions(gap_rel=0.0)).x
    assert x.tolist() == [2.0, 2.0]
    held = fixed_lp(compiled, x)
    assert held.objective == pytest.approx(26.0)
    assert held.row_dual == pytest.approx([0.0, 5.0])  # supply is worth nothing, work the shortfall price


def test_re_solves_from_the_base_equal_solves_from_scratch_in_any_order(fleet):
    _, compiled = fleet
    rows = np.array(list(compiled.rows.positions("demand").values()))
    power = np.array(list(compiled.rows.positions("power").values()))
    short = np.array(list(compiled.columns.positions("short").values()))
    cases = [
        compiled.with_rhs(rows, lower=1.05 * compiled.row_lower[rows]),
        compiled.with_rhs(power, upper=0.97 * compiled.row_upper[power]),
        compiled.with_cost(short, 1.2 * compiled.cost[short], offset=7.0),
        compiled.with_bounds(short, upper=1e5),
        compiled,
    ]
    scratch = [relaxation(case).objective for case in cases]
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        sweep = Sweep(compiled)
        answers = {k: sweep.solve(cases[k]) for k in order}
        assert [answers[k].objective for k in range(5)] == pytest.approx(scratch, rel=1e-9)
        assert answers[4].iterations == 0  # the base itself: its basis was used
        assert answers[0].iterations < sweep.base.iterations


def test_one_re_solve_starts_from_a_basis(fleet):
    _, compiled = fleet
    base = relaxation(compiled, basis=True)
    assert resolve_lp(compiled, base, compiled).iterations == 0
    with pytest.raises(SolverError, match="basis"):
        resolve_lp(
            compiled, relaxation(compiled.fixed([0], [0.0])).__class__(base.x, 0, base.x, base.x, 0), compiled
        )


def test_a_sweep_refuses_another_matrix(fleet):
    _, compiled = fleet
    other = compiled.with_row(("more", None), np.ones(compiled.shape[1]), -INF, INF)
    with pytest.raises(SolverError, match="matrix"):
        Sweep(compiled).solve(other)


def test_ends_of_linear_solves_are_their_own_errors(fleet):
    with pytest.raises(InfeasibleError):
        relaxation(arrays([1.0], [[1.0]], [5.0], [INF], high=[2.0]))
    with pytest.raises(UnboundedError):
        relaxation(arrays([-1.0, 0.0], [[1.0, -1.0]], [-INF], [3.0]), SolveOptions(highs={"presolve": "off"}))
    _, compiled = fleet
    with pytest.raises(LimitError):
        relaxation(compiled, SolveOptions(time_limit_s=1e-6))
