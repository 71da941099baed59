"""The planning model: one family of constraints per file, see ``docs/planning-model.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.planning.earlier import Earlier
    from fleetplan.planning.model import PlanningModel


def build_model(
    scenario: Scenario, options: pd.DataFrame, previous: Earlier | pd.DataFrame | None = None
) -> PlanningModel:
    """Build the planning model; see :func:`fleetplan.planning.model.build_model`."""
    from fleetplan.planning.model import build_model as build

    return build(scenario, options, previous)
