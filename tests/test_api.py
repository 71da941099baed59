"""The public names: stable, documented, there."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import fleetplan

PUBLIC = {
    "FleetplanError",
    "Plan",
    "__version__",
    "accelerator_names",
    "load_accelerator",
    "load_model",
    "load_scenario",
    "model_names",
    "optimize",
    "performance_table",
    "step",
    "with_value",
}


def test_the_public_names_are_these_and_no_others() -> None:
    assert set(fleetplan.__all__) == PUBLIC
    assert set(dir(fleetplan)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC - {"__version__"}))
def test_every_public_name_is_there_typed_and_documented(name: str) -> None:
    value = getattr(fleetplan, name)
    assert inspect.getdoc(value)
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nosuch"):
        fleetplan.nosuch  # noqa: B018 - the access is the test


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, fleetplan; assert not {'pandas', 'pyomo', 'numpy', 'highspy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_step_from_names_to_samples_per_second() -> None:
    made = fleetplan.step(
        fleetplan.load_model("dlrm-dcnv2"), fleetplan.load_accelerator("h100"), devices=8, global_batch=55_296
    )
    # MLPerf Training v4.0, 8 x H100: 15.6 M samples/s
    assert made.samples_per_s == pytest.approx(15.6e6, rel=0.15)
    assert made.samples_per_s == pytest.approx(55_296 / (made.step_ms / 1e3), rel=1e-6)
