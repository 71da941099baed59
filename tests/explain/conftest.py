"""The toy plan of the plan room serves here too."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("toy_plan", Path(__file__).parents[1] / "plan" / "conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_TOY = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_TOY)

scenario = _TOY.scenario
scenario_with = _TOY.scenario_with
options = _TOY.options
plan_with = _TOY.plan_with
plan = _TOY.plan
