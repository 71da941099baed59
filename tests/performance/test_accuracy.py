import numpy as np
import pandas as pd
import pytest

from fleetplan.errors import UsageError
from fleetplan.performance.accuracy import accuracy_report
from fleetplan.performance.calibrate import PRIORS, calibrate, fit_set, leave_one_out
from fleetplan.performance.charts import accuracy_html
from fleetplan.performance.gates import GATES, Gate, gate_table, row_passes
from fleetplan.performance.measurements import load_measurements


@pytest.fixture(scope="module")
def report():
    return accuracy_report(held_out=False)


@pytest.mark.parametrize(
    "gate", [name for name, gate in GATES.items() if not gate.advisory and "held out" not in name]
)
def test_gate_holds_on_public_measurements(report, gate):
    row = report.gates[report.gates["gate"] == gate]
    assert len(row) == 1, f"no row is in gate {gate}"
    assert bool(row["passes"].iloc[0]), report.rows[report.rows["gate"] == gate][
        ["id", "predicted", "measured", "error"]
    ]


def test_every_measurement_has_a_line_and_a_prediction_or_a_reason(report):
    ids = {row.id for row in load_measurements()}
    assert ids <= set(report.rows["id"])
    silent = report.rows[report.rows["predicted"].isna() & (report.rows["reason"] == "")]
    assert silent.empty


def test_recalled_rows_never_fail_a_gate(report):
    recalled = report.rows[report.rows["evidence"] == "recall-unverified"]
    assert recalled["advisory"].all()


def test_hardware_left_out_is_predicted_within_its_gates():
    left = leave_one_out(load_measurements())
    assert len(left) == len(fit_set(load_measurements()))
    many = left["devices"] > 8
    assert left[~many]["error"].abs().max() <= 0.10
    assert left[many]["error"].abs().max() <= 0.25


def test_shipped_constants_are_what_the_fit_gives():
    made = calibrate(fit_set(load_measurements()))
    assert made.mean_error < 0.06
    shipped = {
        row.key: row.value
        for row in __import__("fleetplan.performance.constants", fromlist=["x"]).load_constants().rows
    }
    for row in made.table.to_dict("records"):
        assert shipped[row["constant"]] == pytest.approx(row["fitted"], rel=0.02)


def test_single_node_rows_do_not_identify_the_nic():
    rows = [row for row in fit_set(load_measurements()) if row.devices <= 8]
    table = calibrate(rows, priors=PRIORS).table.set_index("constant")
    nic = table.loc["alltoall_scaleout_share@compute-units"]
    assert not nic["identified"]
    assert nic["fitted"] == pytest.approx(nic["prior"], rel=0.01)
    assert bool(table.loc["step_floor_ms@stack:tuned"]["identified"])


def test_calibration_needs_rows():
    with pytest.raises(UsageError, match="no row"):
        calibrate([])


def test_gates_compare_as_they_say():
    assert row_passes(Gate("g", each=0.1), 1.09, 1.0)
    assert not row_passes(Gate("g", each=0.1), 0.89, 1.0)
    assert row_passes(Gate("g", factor=2.0), 0.51, 1.0)
    assert not row_passes(Gate("g", factor=2.0), 2.1, 1.0)
    assert row_passes(Gate("g", points=5.0), 95.0, 100.0)


def test_mean_limit_fails_a_gate_whose_rows_all_pass():
    rows = pd.DataFrame({"gate": "DCNv2 fitted rows", "predicted": [1.1, 1.1], "measured": [1.0, 1.0]})
    assert not gate_table(rows)["passes"].iloc[0]
    assert np.isclose(gate_table(rows)["mean_error"].iloc[0], 0.1)


def test_accuracy_page_is_self_contained(report):
    page = accuracy_html(report.rows)
    assert "<script src=" not in page
    assert "public measurements" in page
