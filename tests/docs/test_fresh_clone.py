"""A stranger clones the project and follows the README and the quick start by copy and paste."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is committed, beside an environment that is set up already."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not in a git checkout")
    folder = tmp_path_factory.mktemp("stranger") / "fleetplan"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True, capture_output=True)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(Path(sys.prefix) / "bin")
    for stamp in (".base", ".dev"):
        (folder / ".venv" / stamp).touch()
    return folder


def paste(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line as a shell does, with the clone's own code and environment."""
    path = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # A stranger's shell is not itself run by make: what `make test` hands down would change its output.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**own, "PYTHONPATH": str(folder), "PATH": path, "PYTHONWARNINGS": "default"}
    return subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.slow
def test_the_readmes_first_command_ends_with_a_report_that_is_there(clone: Path) -> None:
    block = re.search(r"```text\n(make plan.*?)```", (clone / "README.md").read_text(), re.DOTALL)
    assert block is not None
    command = block[1].splitlines()[0].split("  ")[0]
    assert command == "make plan"
    done = paste(command, clone)
    assert done.returncode == 0, done.stderr[-2000:]
    report = clone / done.stdout.split()[-1]
    assert report.name == "report.html"
    assert report.stat().st_size > 500_000


@pytest.mark.slow
def test_the_quick_start_runs_line_by_line(clone: Path) -> None:
    text = (clone / "docs" / "quickstart.md").read_text()
    lines = [
        line
        for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        for line in block.strip().splitlines()
    ]
    assert len(lines) >= 5
    for line in lines:
        done = paste(line, clone)
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
