"""The per-step performance model: counts x rates -> schedule -> time, power, goodput."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleetplan.performance.evaluate import Settings as Settings
    from fleetplan.performance.one_step import StepResult as StepResult
    from fleetplan.performance.options import performance_table as performance_table

_HOMES = {
    "Settings": "fleetplan.performance.evaluate",
    "StepResult": "fleetplan.performance.one_step",
    "performance_table": "fleetplan.performance.options",
}
__all__ = ["Settings", "StepResult", "performance_table"]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(_HOMES[name]), name)
