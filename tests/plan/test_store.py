"""A plan's folder: whole or not at all, never over another, and read back without loss."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.errors import InputError, SolverError, UsageError
from fleetplan.inputs.scenario import Scenario
from fleetplan.plan import store
from fleetplan.plan.csvs import guard, read_csv, unguard, write_csv
from fleetplan.plan.plan import Plan
from fleetplan.plan.schema import LEDGER, TABLES
from fleetplan.plan.store import read_plan, write_plan


def partials(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_a_plan_comes_back_as_it_was_written(plan: Plan, tmp_path: Path) -> None:
    folder = plan.save(tmp_path / "deep" / "plan")
    again = Plan.load(folder)
    for spec in TABLES:
        pd.testing.assert_frame_equal(again.tables[spec.name], plan.tables[spec.name], check_exact=True)
    pd.testing.assert_frame_equal(again.options, plan.options, check_exact=True)
    assert again.scenario.folder == str(folder / "inputs" / "files")
    assert again.scenario.model_copy(update={"folder": plan.scenario.folder}) == plan.scenario
    assert again.manifest.model_copy(update={"files_sha256": {}}) == plan.manifest
    assert again.audit.identities == plan.audit.identities
    assert again.folder == folder


def test_every_file_but_the_manifest_is_named_in_the_manifest(plan: Plan, tmp_path: Path) -> None:
    folder = plan.save(tmp_path / "plan")
    on_disk = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {"manifest.json"}
    assert set(json.loads((folder / "manifest.json").read_text("utf-8"))["files_sha256"]) == on_disk
    assert {"orders.csv", "options.csv", "datadictionary.csv", "inputs/scenario.json"} <= on_disk


def test_the_dictionary_explains_every_column_that_is_written(plan: Plan, tmp_path: Path) -> None:
    folder = plan.save(tmp_path / "plan")
    words = pd.read_csv(folder / "datadictionary.csv", keep_default_na=False)
    for table, rows in words.groupby("table"):
        assert list(pd.read_csv(folder / f"{table}.csv", nrows=0).columns) == list(rows["column"]) or set(
            pd.read_csv(folder / f"{table}.csv", nrows=0).columns
        ) == set(rows["column"])
    assert (words["meaning"] != "").all()


def test_a_folder_that_holds_anything_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="already holds files"):
        plan.save(tmp_path / "plan")
    assert [p.name for p in (tmp_path / "plan").iterdir()] == ["notes.txt"]


def test_an_empty_folder_is_used(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    assert Plan.load(plan.save(tmp_path / "plan")).cost_musd == plan.cost_musd


def test_a_file_in_the_way_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        plan.save(tmp_path / "plan")


def test_replace_keeps_every_older_plan_beside_the_new_one(plan: Plan, tmp_path: Path) -> None:
    target = plan.save(tmp_path / "plan")
    (target / "mark").write_text("first")
    plan.save(target, replace=True)
    (target / "mark").write_text("second")
    plan.save(target, replace=True)
    assert (tmp_path / "plan.1" / "mark").read_text() == "first"
    assert (tmp_path / "plan.2" / "mark").read_text() == "second"
    assert not (target / "mark").exists()


def test_what_fails_midway_leaves_nothing(plan: Plan, tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "report.html").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(SolverError, match="No space left on device"):
        write_plan(plan, tmp_path / "plan", also=fails)
    assert list(tmp_path.iterdir()) == []


def test_further_files_appear_together_with_the_plan(plan: Plan, tmp_path: Path) -> None:
    folder = write_plan(plan, tmp_path / "plan", also=lambda f: (f / "report.html").write_text("x") and None)
    assert "report.html" in Plan.load(folder).manifest.files_sha256


def test_a_folder_that_cannot_be_made_is_one_clear_error(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SolverError, match="cannot write the plan"):
        plan.save(tmp_path / "file" / "plan")


def test_leftovers_of_killed_runs_go_and_those_of_living_ones_stay(plan: Plan, tmp_path: Path) -> None:
    import socket

    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    dead = tmp_path / f".plan.partial-{socket.gethostname()}-{child.pid}-aaaa"
    alive = tmp_path / f".plan.partial-{socket.gethostname()}-{os.getppid()}-bbbb"
    elsewhere = tmp_path / f".plan.partial-otherhost-{child.pid}-cccc"
    for path in (dead, alive, elsewhere):
        path.mkdir()
    plan.save(tmp_path / "plan")
    assert partials(tmp_path) == sorted([alive.name, elsewhere.name])


@pytest.mark.parametrize("name", ["orders.csv", "ledger.csv", "inputs/scenario.json", "options.csv"])
def test_a_changed_or_missing_file_is_named(plan: Plan, tmp_path: Path, name: str) -> None:
    folder = plan.save(tmp_path / "plan")
    with (folder / name).open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match=f"(?s){name.rsplit('/', 1)[-1]}.*E905"):
        read_plan(folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"(?s){name.rsplit('/', 1)[-1]}.*E904"):
        read_plan(folder)


def test_a_folder_without_a_plan_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no plan"):
        read_plan(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}'])
def test_a_broken_manifest_is_an_input_error(plan: Plan, tmp_path: Path, content: str) -> None:
    folder = plan.save(tmp_path / "plan")
    (folder / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="E906"):
        read_plan(folder)


def test_a_plan_of_another_format_is_refused(plan: Plan, tmp_path: Path) -> None:
    folder = plan.save(tmp_path / "plan")
    raw = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**raw, "format": 99}))
    with pytest.raises(InputError, match="plan format 99"):
        read_plan(folder)


def test_the_planners_files_are_kept_as_they_were_read(
    plan_with: Callable[..., Plan], scenario_with: Callable[..., Scenario], tmp_path: Path
) -> None:
    inputs = tmp_path / "in"
    inputs.mkdir()
    (inputs / "supply.csv").write_text("same")
    (inputs / "power.csv").write_text("changed since")
    hashes = {"supply.csv": store._hash(inputs / "supply.csv"), "power.csv": "0" * 64}
    folder = plan_with(scenario_with(folder=str(inputs), hashes=hashes)).save(tmp_path / "plan")
    kept = folder / "inputs" / "files"
    assert [(p.name, p.read_text()) for p in kept.iterdir()] == [("supply.csv", "same")]


def test_a_stored_plan_does_not_tell_where_its_inputs_were(
    plan_with: Callable[..., Plan], scenario_with: Callable[..., Scenario], tmp_path: Path
) -> None:
    secret = tmp_path / "home-of-somebody"
    folder = plan_with(scenario_with(folder=str(secret / "plans"))).save(tmp_path / "plan")
    assert "home-of-somebody" not in "".join(p.read_text("utf-8") for p in folder.rglob("*") if p.is_file())


def test_the_manifest_does_not_depend_on_where_the_folder_is(plan: Plan, tmp_path: Path) -> None:
    one = plan.save(tmp_path / "one") / "manifest.json"
    two = plan.save(tmp_path / "elsewhere" / "two") / "manifest.json"
    assert one.read_bytes() == two.read_bytes()


@settings(deadline=None)
@given(st.text())
def test_guarded_text_comes_back_and_never_starts_a_formula(text: str) -> None:
    assert unguard(guard(text)) == text
    assert guard(text)[:1] not in ("=", "+", "-", "@", "\t", "\r")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["NA", "null", "", "=cmd|x", "'=a", "a,b", 'q"q', "línea\n2", "007", "1e5", "True"]
            ),
            st.floats(allow_nan=False, allow_infinity=False),
            st.booleans(),
        ),
        max_size=5,
    )
)
def test_names_and_numbers_survive_a_csv_round_trip(rows: list[tuple[str, float, bool]]) -> None:
    import tempfile

    frame = LEDGER.frame([(n, "2026Q4", str(i), n, x, 1.0, x, b) for i, (n, x, b) in enumerate(rows)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.csv"
        write_csv(frame, LEDGER, path)
        pd.testing.assert_frame_equal(read_csv(LEDGER, path), frame, check_exact=True)


@pytest.mark.parametrize(
    ("text", "rule"),
    [("", "E901"), ("a,b\n1,2\n", "E902")],
)
def test_a_file_that_is_not_the_table_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "ledger.csv").write_text(text)
    with pytest.raises(InputError, match=rule):
        read_csv(LEDGER, tmp_path / "ledger.csv")


def test_a_cell_that_is_not_a_number_is_named_with_its_line(tmp_path: Path) -> None:
    head = ",".join(LEDGER.names)
    (tmp_path / "ledger.csv").write_text(
        f"{head}\ncapex,2026Q4,x,,1,1,1,True\ncapex,2026Q4,y,,1.0,1,one,True\n"
    )
    with pytest.raises(InputError, match=r"ledger.csv:3  npv_musd  E903 'one' is not float"):
        read_csv(LEDGER, tmp_path / "ledger.csv")


KILLED = """
import sys, pickle
from fleetplan.plan.plan import Plan
plan = Plan.load(sys.argv[1])
print("ready", flush=True)
for number in range(10_000):
    plan.save(f"{sys.argv[2]}/plan{number}")
"""


def test_a_kill_at_any_moment_leaves_only_whole_folders(plan: Plan, tmp_path: Path) -> None:
    source, out = plan.save(tmp_path / "source"), tmp_path / "out"
    seen = 0
    for wait_s in (0.02, 0.11, 0.23):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(source), str(out / str(wait_s))], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        while not (out / str(wait_s) / "plan0").exists():
            time.sleep(0.01)
        time.sleep(wait_s)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        for folder in out.glob("*/plan*"):
            assert Plan.load(folder).cost_musd == plan.cost_musd
            seen += 1
    assert seen > 0
