"""Options with a part of the offload benefit: all of it is the usual table, none of it costs speed."""

from __future__ import annotations

import pytest

from fleetplan.errors import UsageError
from fleetplan.inputs.load import load_scenario
from fleetplan.performance import performance_table
from fleetplan.performance.constants import context_of
from fleetplan.studies.offload import options_with_offload, with_offload


@pytest.fixture(scope="module")
def base():
    return load_scenario("small-2026")


def test_all_of_the_benefit_is_the_usual_table(base):
    usual, whole = performance_table(base), options_with_offload(base, "mtia-300", 1.0)
    columns = [name for name in usual.columns if name not in {"low_factor", "high_factor"}]
    assert whole[columns].equals(usual[columns])


def test_without_it_that_accelerator_alone_is_slower(base):
    usual, none = performance_table(base), options_with_offload(base, "mtia-300", 0.0)

    def best(table, mine):
        here = table[(table["accelerator"] == "mtia-300") == mine]
        return here.groupby(["workload", "accelerator", "cap_w"])["net_samples_per_s_per_rack"].max()

    assert best(none, False).equals(best(usual, False))
    assert (best(none, True) <= best(usual, True) + 1e-9).all()
    assert (best(none, True) < best(usual, True) - 1e-9).any()


def test_half_of_it_is_half_way_between_the_published_rates(base):
    device = base.accelerators["mtia-300"]
    found = with_offload(device, 0.5).get("overlap_compute_alltoall", context_of(device, stack="production"))
    assert found.value == pytest.approx((0.815 + 1.0) / 2)  # Fig 16 of the MTIA 300 paper: H100, MTIA 300


@pytest.mark.parametrize(("name", "share"), [("gb300", 0.5), ("mtia-300", 1.2), ("mtia-3", 0.5)])
def test_what_has_no_engines_or_no_such_share_is_refused(base, name, share):
    with pytest.raises(UsageError):
        options_with_offload(base, name, share)
