import numpy as np
import pytest

from fleetplan.figures import Origin
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import MeasuredRate
from fleetplan.performance import performance_table
from fleetplan.performance.options import operating_caps
from fleetplan.performance.table import OPTIONS


@pytest.fixture(scope="module")
def scenario():
    whole = load_scenario("small-2026")
    names = list(whole.accelerators)[:3]
    return whole.model_copy(update={"accelerators": {name: whole.accelerators[name] for name in names}})


@pytest.fixture(scope="module")
def table(scenario):
    return performance_table(scenario)


def test_table_has_exactly_the_agreed_columns_and_unique_options(table):
    assert list(table.columns) == OPTIONS.names
    assert table["option"].is_unique
    assert not table.isna().any().any()


def test_every_workload_can_run_on_every_accelerator_or_says_what_it_needs(scenario, table):
    pairs = set(zip(table["workload"], table["accelerator"], strict=True))
    assert pairs == {(w, a) for w in scenario.workloads for a in scenario.accelerators}


def test_parts_add_to_the_step(table):
    parts = ["compute_ms", "embedding_ms", "exposed_alltoall_ms", "exposed_allreduce_ms", "floor_ms"]
    assert table[parts].sum(axis=1).to_numpy() == pytest.approx(table["step_ms"].to_numpy())
    assert (table[parts] >= -1e-9).all().all()


def test_rack_rate_re_adds_from_job_rate_and_goodput(scenario, table):
    per_rack = table["accelerator"].map({n: a.devices_per_rack for n, a in scenario.accelerators.items()})
    again = table["samples_per_s"] * table["goodput"] / table["devices"] * per_rack
    assert again.to_numpy() == pytest.approx(table["net_samples_per_s_per_rack"].to_numpy())


def test_lower_caps_need_less_power_and_are_slower(table):
    for _, group in table[table["fits"]].groupby(["workload", "accelerator", "devices", "local_batch"]):
        by_cap = group.sort_values("cap_w")
        assert (np.diff(by_cap["provisioned_facility_kw_per_rack"]) > 0).all()
        assert (np.diff(by_cap["samples_per_s"]) >= 0).all()


def test_pruning_counts_are_kept(table):
    pruning = table.attrs["pruning"]
    assert pruning.computed >= pruning.fit
    assert pruning.kept == len(table) < pruning.computed


def test_measured_rate_overrides_the_model(scenario, table):
    row = table[table["fits"]].sort_values("cap_w").iloc[-1]
    measured = MeasuredRate(
        origin=Origin("measured.csv", 2), workload=row["workload"], accelerator=row["accelerator"],
        devices=int(row["devices"]), local_batch=int(row["local_batch"]),
        cap_w=float(row["cap_w"]), samples_per_s=2 * float(row["samples_per_s"]),
    )  # fmt: skip
    made = performance_table(scenario.model_copy(update={"measured": (measured,)})).set_index("option")
    assert made.loc[row["option"], "evidence"] == "measured"
    assert made.loc[row["option"], "samples_per_s"] == pytest.approx(2 * row["samples_per_s"], rel=0.05)


def test_caps_nearest_the_provisioned_one_come_first(scenario):
    device = load_scenario("small-2026").accelerators
    for accelerator in device.values():
        caps = operating_caps(accelerator, 1)
        assert caps == [accelerator.provisioned_cap_w]
