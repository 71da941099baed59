"""Other conditions: bounds from the trace alone, and the fitted model's cases against a simulation."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from step_writer import JobWriter
from test_breakdown import two_steps
from test_fit import fit, gpu, job, model
from trace_writer import TraceWriter

from fleetplan.errors import UsageError
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.architecture import Model
from fleetplan.inputs.catalog import load_accelerator
from fleetplan.inputs.paths import data_dir
from fleetplan.performance.constants import Context, load_constants
from fleetplan.trace.fit import TraceFit
from fleetplan.trace.page import html
from fleetplan.trace.replay import replay
from fleetplan.trace.report import trace_report
from fleetplan.trace.study import study_traces
from fleetplan.trace.utilization import utilization
from fleetplan.trace.what_if import what_if

__all__ = ["fit", "gpu", "job", "model"]


def test_replay_puts_the_step_together_anew(tmp_path: Path) -> None:
    """400 us of compute of which 100 beside an all-reduce of 300, 400 us of the rest; rates published."""
    table = replay(trace_report([two_steps(TraceWriter()).write(tmp_path / "t.json")])).set_index("case")
    constants = load_constants()
    gpu_side = Context("a GPU", "", "compute-units")
    kc = constants.get("overlap_compute_allreduce", gpu_side).value
    km = constants.get("overlap_comm_allreduce", gpu_side).value
    compute, wire = 400 - (1 - kc) * 100, 200 + km * 100
    steps = table["step_ms"] * 1e3
    assert steps["measured"] == pytest.approx(1000)
    assert steps["perfect overlap"] == pytest.approx(max(compute, wire) + 400)
    assert steps["perfect overlap, idle filled"] == pytest.approx(max(compute + 400, wire))
    assert (table["low_ms"] <= table["step_ms"] + 1e-12).all()
    assert (table["high_ms"] >= table["step_ms"] - 1e-12).all()
    offloaded, chunked = steps["offload engine, same schedule"], steps["offload engine, chunked"]
    assert steps["perfect overlap"] <= chunked <= offloaded < 1000


def test_without_communication_nothing_can_be_gained_by_overlap(tmp_path: Path) -> None:
    """Compute only: every case takes as long as the step."""
    writer = TraceWriter()
    writer.kernel("gemm", 0, 100)
    table = replay(trace_report([writer.write(tmp_path / "t.json")]))
    kept = table[table["case"] != "perfect overlap, idle filled"]
    assert kept["step_ms"].tolist() == pytest.approx([0.1] * len(kept))


@pytest.fixture(scope="module")
def cases(fit: TraceFit) -> pd.DataFrame:
    """The cases of the toy job, and the same job on two other accelerators."""
    return what_if(fit, [load_accelerator("mtia-300"), load_accelerator("gb300")]).set_index(
        ["case", "accelerator"]
    )


def test_an_offload_engine_gains_what_the_simulated_job_gains(
    cases: pd.DataFrame, job: JobWriter, tmp_path: Path
) -> None:
    """The same job, written without contention, is as fast as predicted, within the band."""
    free = [replace(phase, wires=[replace(w, kc=1.0, km=1.0) for w in phase.wires]) for phase in job.phases]
    faster = trace_report(replace(job, phases=free).write(tmp_path))
    real = trace_report(job.write(tmp_path))
    whole, quick = (r.steps[r.steps["whole"]]["duration_ms"].mean() for r in (real, faster))
    row = cases.loc[("offload engine, same schedule", "h100")]
    assert row["speedup"] == pytest.approx(whole / quick, rel=0.015)
    assert row["low_speedup"] <= whole / quick <= row["high_speedup"]


def test_cases_are_anchored_to_the_measured_step(cases: pd.DataFrame, fit: TraceFit) -> None:
    """The measured row is the trace; a domain larger than the job changes nothing."""
    assert cases.loc[("measured", "h100"), "step_ms"] == fit.measured_ms
    assert cases.loc[("scale-up domain of 72", "h100"), "speedup"] == pytest.approx(1.0)
    assert (cases["low_speedup"] <= cases["speedup"]).all()
    assert (cases["high_speedup"] >= cases["speedup"]).all()


def test_other_accelerators_come_with_wider_bands(cases: pd.DataFrame) -> None:
    """What is modelled is less sure than what is anchored to a measurement; watts are below the TDP."""
    width = cases["high_speedup"] / cases["low_speedup"]
    for name in ("mtia-300", "gb300"):
        assert width[("same job", name)] > width[("finer chunks, same engine", "h100")]
        assert 0 < cases.loc[("same job", name), "device_w"] <= load_accelerator(name).tdp_w


def test_the_traced_rate_can_override_the_model_in_a_scenario(fit: TraceFit) -> None:
    """8 devices x 16384 samples per measured step."""
    row = fit.measured_rate("ads")
    assert (row.workload, row.accelerator, row.devices, row.local_batch) == ("ads", "h100", 8, 16384)
    assert row.samples_per_s == pytest.approx(8 * 16384 / (fit.measured_ms / 1e3))
    table = pd.read_csv(io.StringIO(fit.measured_csv("ads")))
    shipped = next((data_dir() / "scenarios").glob("*/measured.csv"))
    assert list(table.columns) == list(pd.read_csv(shipped, nrows=0).columns)
    assert table["samples_per_s"].iloc[0] == pytest.approx(row.samples_per_s, rel=1e-5)
    assert table["low"].iloc[0] <= table["samples_per_s"].iloc[0] <= table["high"].iloc[0]


def test_utilization_is_a_product_of_factors(tmp_path: Path, model: Model, gpu: Accelerator) -> None:
    """40 % busy; unknown factors stay unknown; with all stated, the product."""
    report = trace_report([two_steps(TraceWriter()).write(tmp_path / "t.json")])
    alone = utilization(report).set_index("factor")["value"]
    assert alone["busy"] == pytest.approx(0.4)
    assert alone[["useful while busy", "goodput", "effective utilization"]].isna().all()
    whole = utilization(
        report, model=model, accelerator=gpu, local_batch=2, goodput=0.9, allocated_share=0.8
    ).set_index("factor")["value"]
    # forward + backward FLOP of the two MLPs per sample, 3 x 2 x in x out
    weights = 512 * 2048 + 2048 * 1024 + 8192 * 4096 + 4096 * 2048 + 2048
    useful = 6 * weights * 2 / (989e12 * 400e-6)
    assert whole["useful while busy"] == pytest.approx(useful, rel=0.01)
    assert whole["effective utilization"] == pytest.approx(useful * 0.4 * 0.9 * 0.8, rel=0.01)


def test_the_page_is_self_contained_and_escapes_what_it_shows(tmp_path: Path) -> None:
    """No script, no network; names from the trace cannot become markup."""
    writer = two_steps(TraceWriter())
    writer.annotation("<script>alert(1)</script>", 0, 2000)
    report = trace_report([writer.write(tmp_path / "<b>.json")])
    page = html(report, replay=replay(report), utilization=utilization(report))
    assert "<script" not in page
    assert "<b>.json" not in page
    assert "&lt;script&gt;" in page
    assert 'src="' not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "computes 40.0 %, waits for the network 20.0 %, does neither 40.0 %" in page
    assert "<svg" in page


def test_reports_are_plain_data(tmp_path: Path) -> None:
    """Every table as CSV and as JSON values, without NaN."""
    import json

    report = trace_report([two_steps(TraceWriter()).write(tmp_path / "t.json")])
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert json.loads(text)["steps"][0]["compute_ms"] == pytest.approx(0.4)
    files = report.write_csv(tmp_path)
    assert {file.name for file in files} == {f"{name}.csv" for name in report.tables}
    assert pd.read_csv(tmp_path / "steps.csv")["exposed_ms"].iloc[0] == pytest.approx(0.2)


def test_a_study_writes_all_it_says_and_never_over_an_older_one(
    job: JobWriter, model: Model, gpu: Accelerator, tmp_path: Path
) -> None:
    """HTML, JSON, a CSV per table, and constants that load again with the fitted values."""
    files = job.write(tmp_path)
    study = study_traces(files, model=model, accelerator=gpu, others=[load_accelerator("mtia-300")])
    written = study.write(tmp_path / "out")
    names = {file.name for file in written}
    assert {"trace.html", "trace.json", "constants.csv", "what_if.csv", "fitted.csv", "steps.csv"} <= names
    assert all(file.is_file() for file in written)
    again = load_constants(tmp_path / "out" / "constants.csv")
    assert study.fit is not None
    fitted = {c.key: c.value for c in study.fit.constants if c.identified and c.scope}
    kept = {row.key: row.value for row in again.rows if row.key in fitted}
    assert kept == pytest.approx(fitted)
    assert any("mtia-300" in line for line in study.lines())
    with pytest.raises(UsageError):
        study.write(tmp_path / "out")


def test_a_fit_needs_model_and_accelerator(gpu: Accelerator) -> None:
    """One of them alone is a mistake of the call, told before any file is read."""
    with pytest.raises(UsageError, match="both"):
        study_traces(["none.json"], accelerator=gpu)
