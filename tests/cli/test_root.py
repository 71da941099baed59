"""The command line's root: help without heavy imports, near matches, exit codes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace

import pytest

from fleetplan.cli import VERBS
from fleetplan.cli.ui import solve_line, work_line
from fleetplan.progress import SolveState


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fleetplan", *args], capture_output=True, text=True, check=False
    )


def test_help_lists_every_verb_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom fleetplan.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as e:\n    assert e.code == 0\n"
        "heavy = {'pandas','numpy','pyomo','highspy','scipy','pydantic','altair','pint','rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for verb in VERBS:
        assert verb in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_its_file_and_answers_help_with_an_example(verb: str) -> None:
    assert importlib.util.find_spec(f"fleetplan.cli.{verb}") is not None
    done = run(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert f"fleetplan {verb}" in done.stdout.split("Examples:")[1]


def test_an_unknown_verb_is_usage_and_names_the_nearest() -> None:
    done = run("optimise")
    assert done.returncode == 2
    assert "Did you mean optimize?" in done.stderr
    assert "Traceback" not in done.stderr


def test_version_is_that_of_the_package() -> None:
    from fleetplan import __version__

    assert run("--version").stdout.strip() == f"fleetplan {__version__}"


def test_the_progress_line_of_a_solve_tells_plan_bound_gap_and_time_left() -> None:
    state = SolveState("search", 1000.0, 990.0, 0.01, 12.0, 0.002, 48.0)
    line = solve_line(state)
    assert "plan 1,000.0" in line
    assert "bound 990.0" in line
    assert "gap 1.00% (ends at 0.20%)" in line
    assert line.endswith("12 s, at most 48 s left")
    assert "left" not in solve_line(replace(state, seconds_left=None))


def test_the_progress_line_of_many_pieces_tells_the_time_left_once_one_is_done() -> None:
    assert work_line("sweep", 0, 8, "", 3.0) == "sweep    0 of 8  "
    assert work_line("sweep", 2, 8, "draw-3", 10.0) == "sweep    2 of 8, about 30 s left  draw-3"
    assert "left" not in work_line("sweep", 8, 8, "", 40.0)
