from __future__ import annotations

from pathlib import Path

import pytest

from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario
from tests.inputs.faults import SMALL, Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def small() -> Scenario:
    return load_scenario(SMALL)


@pytest.fixture(scope="session")
def public() -> Scenario:
    return load_scenario("public-2026")
