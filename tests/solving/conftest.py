from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fleetplan.solving.compile import build_and_compile


@pytest.fixture(scope="session")
def fleet():
    """The small synthetic fleet, compiled, with its Pyomo model."""
    import arc_model

    return build_and_compile(lambda: arc_model.build(arc_model.instance("S", 0)))
