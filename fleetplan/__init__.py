"""fleetplan: what to order, where to land it, at which power cap to run it, and what it costs.

The public names below are stable; everything else may move. They are imported on first use, so
that ``import fleetplan`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from fleetplan.version import __version__

if TYPE_CHECKING:
    from fleetplan.api import optimize as optimize
    from fleetplan.errors import FleetplanError as FleetplanError
    from fleetplan.inputs.catalog import accelerator_names as accelerator_names
    from fleetplan.inputs.catalog import load_accelerator as load_accelerator
    from fleetplan.inputs.catalog import load_model as load_model
    from fleetplan.inputs.catalog import model_names as model_names
    from fleetplan.inputs.load import load_scenario as load_scenario
    from fleetplan.inputs.load import with_value as with_value
    from fleetplan.performance import performance_table as performance_table
    from fleetplan.performance.one_step import step as step
    from fleetplan.plan.plan import Plan as Plan

_HOMES = {
    "FleetplanError": "fleetplan.errors",
    "Plan": "fleetplan.plan.plan",
    "accelerator_names": "fleetplan.inputs.catalog",
    "load_accelerator": "fleetplan.inputs.catalog",
    "load_model": "fleetplan.inputs.catalog",
    "load_scenario": "fleetplan.inputs.load",
    "model_names": "fleetplan.inputs.catalog",
    "optimize": "fleetplan.api",
    "performance_table": "fleetplan.performance",
    "step": "fleetplan.performance.one_step",
    "with_value": "fleetplan.inputs.load",
}

__all__ = ["__version__", *sorted(_HOMES)]  # noqa: PLE0604 - the map above is the one list of names


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        message = f"module 'fleetplan' has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, for completion."""
    return list(__all__)
