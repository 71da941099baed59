"""Training options if only a part of what message engines spare compute were real."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fleetplan.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.performance.constants import Constant, Constants

COLLECTIVES = ("alltoall", "allreduce", "allgather")
OVERLAP = tuple(f"overlap_{side}_{name}" for side in ("compute", "comm") for name in COLLECTIVES)
"""Rates of compute and of collectives while both run, over their rates alone."""
WITHOUT = "compute-units"
"""The engine of accelerators whose collectives run on the units that compute."""


def options_with_offload(scenario: Scenario, accelerator: str, share: float) -> pd.DataFrame:
    """The scenario's table with this share (0 to 1) of one accelerator's offload benefit.

    Raises ``UsageError`` for an unknown accelerator, one without engines of its own, or another share.
    """
    from fleetplan.inputs.names import did_you_mean
    from fleetplan.performance import performance_table
    from fleetplan.performance.options import PLANNING

    device = scenario.accelerators.get(accelerator)
    if device is None:
        near = did_you_mean(accelerator, sorted(scenario.accelerators))
        message = f"unknown accelerator {accelerator!r}: {near}"
        raise UsageError(message)
    if device.collective_engine == WITHOUT or not 0 <= share <= 1:
        message = f"offload[{accelerator}] needs message engines and a share in 0..1, got {share:g}"
        raise UsageError(message)
    failures = scenario.lifecycle.failures_per_1000_node_days
    settings = replace(PLANNING, failures_per_1000_node_days=failures, constants=with_offload(device, share))
    return performance_table(scenario, settings)


def with_offload(device: Accelerator, share: float) -> Constants:
    """The constants with the device's overlap between that of compute units (0) and its own (1)."""
    from fleetplan.performance.constants import Constants, context_of, load_constants

    known = load_constants()
    own = context_of(device, stack="production")
    bare = replace(own, accelerator="", vendor="", engine=WITHOUT)

    def between(name: str) -> Constant:
        with_engine, without = known.get(name, own), known.get(name, bare)
        value = without.value + share * (with_engine.value - without.value)
        low, high = min(with_engine.low, value), max(with_engine.high, value)
        return replace(with_engine, scope=device.name, value=value, low=low, high=high)

    ours = {row.key: row for row in map(between, OVERLAP)}
    return Constants([*(row for row in known.rows if row.key not in ours), *ours.values()], known.analogues)
