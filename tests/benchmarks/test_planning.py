"""The benchmark's generators and its floor: the same problem by every path, and one worth solving."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.planning.forms import ArrayForm, add_core
from benchmarks.planning.generate import SIZES, scenario
from fleetplan.planning.form import Form
from fleetplan.planning.indices import make_indices
from fleetplan.planning.model import build_model
from fleetplan.solving.compile import compile_model
from fleetplan.solving.linear import relaxation
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve


@pytest.mark.parametrize("caps", [1, 3])
def test_floor_and_pyomo_hold_the_same_matrix(caps):
    ix = make_indices(*scenario("S", 0, caps))
    form, floor = Form("core"), ArrayForm()
    add_core(form, ix)
    add_core(floor, ix)
    ours, bare = compile_model(form.pyomo), floor.compiled()
    assert ours.entries == bare.entries
    assert np.sort(ours.value).tolist() == np.sort(bare.value).tolist()
    assert int(ours.integer.sum()) == int(bare.integer.sum())
    assert relaxation(ours).objective == pytest.approx(relaxation(bare).objective, rel=1e-9)


def test_generators_have_their_sizes_and_repeat():
    sites, parts, quarters, workloads = SIZES["S"]
    made, options = scenario("S", 3)
    assert (len(made.sites), len(made.accelerators), len(made.horizon), len(made.workloads)) == (
        sites,
        parts,
        quarters,
        workloads,
    )
    again, same = scenario("S", 3)
    assert made == again
    assert options.equals(same)
    assert scenario("S", 4)[0] != made


def test_limits_bind_and_some_work_stays_undone():
    compiled = compile_model(build_model(*scenario("S", 0)).pyomo)
    result = solve(compiled, SolveOptions(gap_rel=5e-3))
    activity = compiled.matrix @ result.x
    supply = np.array(list(compiled.rows.positions("supply").values()))
    assert (activity[supply] > compiled.row_upper[supply] - 1e-6).mean() > 0.05
    short = np.array(list(compiled.columns.positions("short").values()))
    undone = result.x[short].sum() / compiled.col_upper[short].sum()
    assert 0.005 < undone < 0.3
