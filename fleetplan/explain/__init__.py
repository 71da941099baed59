"""Why a plan is as it is, why there is none, and what would change it.

``explain(plan)`` answers for a plan, ``diagnose`` for a scenario without one; :mod:`.compare` and
:mod:`.replay` set plans beside each other. All answers are structured, with ``lines()`` in words.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleetplan.explain.diagnosis import diagnose as diagnose
    from fleetplan.explain.explanation import Explanation as Explanation
    from fleetplan.explain.explanation import explain as explain
    from fleetplan.explain.held import hold_decisions as hold_decisions

_HOMES = {
    "Explanation": "explanation",
    "diagnose": "diagnosis",
    "explain": "explanation",
    "hold_decisions": "held",
}
__all__ = ["Explanation", "diagnose", "explain", "hold_decisions"]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
