"""The bundled small scenario in other units and with other seeds: the same plan's cost; no huge stand-ins."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from fleetplan.api import prepare
from fleetplan.inputs.load import load_scenario
from fleetplan.solving.arrays import Compiled
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.result import require_plan

GAP = 1e-4


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return prepare(load_scenario("small-2026")).compiled


def test_seeds_agree_within_the_gap(compiled: Compiled) -> None:
    made = [require_plan(solve(compiled, SolveOptions(gap_rel=GAP, seed=seed))) for seed in range(5)]
    for one, other in combinations(made, 2):
        assert one.objective is not None
        assert other.objective is not None
        assert one.objective >= other.bound - 1e-6
        assert other.objective >= one.bound - 1e-6


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_another_unit_of_money_changes_only_the_unit(compiled: Compiled, factor: float) -> None:
    plain = require_plan(solve(compiled, SolveOptions(gap_rel=GAP)))
    money = replace(compiled.with_objective(compiled.cost * factor), offset=compiled.offset * factor)
    scaled = require_plan(solve(money, SolveOptions(gap_rel=GAP)))
    assert plain.objective is not None
    assert scaled.objective == pytest.approx(plain.objective * factor, rel=2 * GAP)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_power_rows_in_another_unit_allow_the_same_plan(compiled: Compiled, factor: float) -> None:
    names = [str(compiled.rows.name(row)) for row in range(compiled.shape[0])]
    power = np.array([factor if name.startswith("power") else 1.0 for name in names])
    assert 0 < (power != 1.0).sum() < len(names)
    other = replace(
        compiled,
        value=compiled.value * power[compiled.index],
        row_lower=compiled.row_lower * power,
        row_upper=compiled.row_upper * power,
        _cache={},
    )
    plain = require_plan(solve(compiled, SolveOptions(gap_rel=GAP)))
    scaled = require_plan(solve(other, SolveOptions(gap_rel=GAP)))
    assert scaled.objective == pytest.approx(plain.objective, rel=2 * GAP)


def test_no_limit_is_no_number(compiled: Compiled) -> None:
    for sides in (compiled.row_lower, compiled.row_upper, compiled.col_lower, compiled.col_upper):
        assert np.abs(sides[np.isfinite(sides)]).max(initial=0.0) < 1e7
