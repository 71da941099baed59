"""The main job through the command line, on the small bundled scenario."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

Change = dict[str, str]


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fleetplan", *args], capture_output=True, text=True, check=False
    )


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    made = run("init", str(tmp_path / "mine"), "--from", "small-2026")
    assert made.returncode == 0, made.stderr
    return tmp_path / "mine"


def set_everywhere(path: Path, change: Change, where: Change | None = None) -> int:
    """Set cells in all rows, or in those that match; the number of rows changed."""
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    hit = [row for row in rows if all(row[k] == v for k, v in (where or {}).items())]
    for row in hit:
        row.update({name: value for name, value in change.items() if name in row})
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return len(hit)


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_plan_is_a_folder_with_tables_manifest_audit_and_report(scenario: Path) -> None:
    folder = scenario.parent / "plan"
    done = run("optimize", str(scenario), "-o", str(folder))
    assert done.returncode == 0, done.stderr
    assert "report.html" in done.stdout
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["gap"] <= 0.001
    total = sum(float(row["npv_musd"]) for row in table(folder, "ledger"))
    assert total == pytest.approx(manifest["objective_musd"], rel=1e-9)
    assert manifest["audit_identities"] > 0
    again = run("optimize", str(scenario), "-o", str(folder))
    assert again.returncode == 2
    assert "never overwrites" in again.stderr


def test_no_power_anywhere_still_gives_a_plan_and_all_of_the_work_is_short(scenario: Path) -> None:
    none = dict.fromkeys(
        ("facility_mw", "facility_mw_if_dates_slip", "facility_mw_if_dates_early", "low", "high"), "0"
    )
    assert set_everywhere(scenario / "power_by_quarter.csv", none)
    (scenario / "rentals.csv").unlink(missing_ok=True)
    folder = scenario.parent / "plan"
    done = run("optimize", str(scenario), "-o", str(folder))
    assert done.returncode == 0, done.stderr
    work = table(folder, "work")
    assert all(float(row["served_samples_per_s"]) == pytest.approx(0, abs=1e-6) for row in work)
    assert sum(float(row["shortfall_samples_per_s"]) for row in work) > 0


def test_committed_racks_that_cannot_be_powered_are_infeasible(scenario: Path) -> None:
    supply = scenario / "supply.csv"
    row = table(scenario, "supply")[0]
    many = {
        "committed_racks": "4000",
        "max_racks": "4000",
        "option_racks": "0",
        "low": "4000",
        "high": "4000",
    }
    where = {name: row[name] for name in ("accelerator", "delivery_quarter")}
    assert set_everywhere(supply, many, where) == 1
    folder = scenario.parent / "plan"
    done = run("optimize", str(scenario), "-o", str(folder))
    assert done.returncode == 4, done.stderr
    assert "fleetplan diagnose" in done.stderr
    assert "Traceback" not in done.stderr
    assert not folder.exists()


def test_a_change_on_the_command_line_reaches_the_plan(scenario: Path) -> None:
    folder = scenario.parent / "plan"
    done = run("optimize", str(scenario), "-o", str(folder), "--set", "finance.discount_rate=0", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["scenario"] == "mine"
    assert {float(row["discount_factor"]) for row in table(folder, "ledger")} == {1.0}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("optimize", "small-2026", "--solver-option", "mip_rel_gapp=1", "-o", "{}/a"), 8),
        (("optimize", "small-2026", "--solver", "nosuch", "-o", "{}/b"), 8),
        (("optimize", "small-2026", "--set", "finance.discont_rate=0.1", "-o", "{}/c"), 2),
        (("optimize", "small-2026", "--format", "docx", "-o", "{}/d"), 2),
        (("report", "{}"), 2),
        (("step", "nosuch", "h100", "--devices", "8"), 3),
        (("step", "dlrm-dcnv2", "h100", "--devices", "0"), 2),
    ],
)
def test_each_kind_of_mistake_has_its_exit_code_and_no_traceback(
    args: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    done = run(*(part.format(tmp_path) for part in args))
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
