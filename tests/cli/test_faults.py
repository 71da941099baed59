"""Faults in a scenario, as a planner meets them: one pass, file, line and rule, exit code 3, no traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fleetplan.inputs.paths import data_dir


def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fleetplan", *args], capture_output=True, text=True, check=False, cwd=cwd
    )


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return Path(shutil.copytree(data_dir() / "scenarios" / "public-2026", tmp_path / "mine"))


def edit(path: Path, line: int, old: str, new: str) -> None:
    lines = path.read_text().splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n")


def column_of(path: Path, name: str) -> int:
    return path.read_text().splitlines()[0].split(",").index(name)


def test_unit_removed_price_blanked_site_misspelt_and_row_repeated_come_in_one_pass(scenario: Path) -> None:
    power, supply, halls = (scenario / f"{name}.csv" for name in ("power_by_quarter", "supply", "halls"))
    edit(power, 1, "facility_mw,", "facility,")
    price = column_of(supply, "price_musd_per_rack")
    rows = supply.read_text().splitlines()
    cells = rows[4].split(",")
    cells[price] = ""
    rows[4] = ",".join(cells)
    supply.write_text("\n".join(rows) + "\n")
    edit(halls, 4, "richland-la", "richland-l")
    demand = scenario / "demand.csv"
    lines = demand.read_text().splitlines()
    demand.write_text("\n".join([*lines, lines[9]]) + "\n")

    found = run("check", str(scenario), "--json")
    assert found.returncode == 3
    assert "Traceback" not in found.stderr
    faults = json.loads(found.stdout)["faults"]
    places = {(Path(f["file"]).name, f["line"], f["rule"]) for f in faults if f["severity"] == "error"}
    files = {(name, line) for name, line, _ in places}
    assert ("power_by_quarter.csv", 1) in files
    assert ("supply.csv", 5) in files
    assert ("halls.csv", 4) in files
    assert ("demand.csv", len(lines) + 1) in files
    text = run("check", str(scenario)).stdout
    assert "did you mean 'richland-la'?" in text

    planned = run("optimize", str(scenario), "-o", str(scenario.parent / "plan"))
    assert planned.returncode == 3
    assert "Traceback" not in planned.stderr
    for name, line in files:
        assert f"{name}:{line}" in planned.stderr
    assert not (scenario.parent / "plan").exists()


def test_a_good_scenario_is_checked_in_words_and_exits_with_zero(scenario: Path) -> None:
    done = run("check", str(scenario))
    assert done.returncode == 0
    assert "0 errors" in done.stdout


def test_an_unknown_scenario_names_the_bundled_one() -> None:
    done = run("check", "public-2027")
    assert done.returncode == 3
    assert "public-2026" in done.stderr
    assert "Traceback" not in done.stderr
