"""The wheel carries data and models and works from any folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own: the wheel is installed, the dependencies are borrowed."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # After the wheel's own files on the path; its .pth files (the editable install) are not read.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def fleetplan(python: Path, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-m", "fleetplan", *args], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_the_catalog_the_models_and_the_scenario(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in (
        "_data/data/accelerators/",
        "_data/models/",
        "_data/data/scenarios/public-2026/scenario.yaml",
        "py.typed",
    ):
        assert any(part in name for name in names), part


@pytest.mark.slow
def test_an_installed_wheel_makes_a_scenario_and_plans_it_from_any_folder(
    installed: Path, tmp_path: Path
) -> None:
    where = subprocess.run(
        [str(installed), "-c", "import fleetplan; print(fleetplan.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(ROOT) not in where
    made = fleetplan(installed, "init", "demo", "--from", "small-2026", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    planned = fleetplan(installed, "optimize", "demo", "--output", "plan", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert (tmp_path / "plan" / "report.html").stat().st_size > 100_000


def test_no_lock_file_or_configuration_holds_a_registrys_address() -> None:
    assert not (ROOT / "uv.lock").exists()
    for name in ("constraints.txt", "pyproject.toml", "Makefile", ".ci/run"):
        lines = (ROOT / name).read_text().splitlines()
        assert not [line for line in lines if "index-url" in line or "simple/" in line or "pypi." in line]


def test_every_dependency_is_pinned() -> None:
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(d for extra in project["optional-dependencies"].values() for d in extra),
    ]
    names = {d.split("[")[0].split(">")[0].strip().lower().replace("_", "-") for d in wanted} - {"fleetplan"}
    assert names <= pinned, names - pinned
