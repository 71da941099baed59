"""Which inputs the step model reads: cases that change none of them share one table of options."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario

NOT_OF_A_DEVICE = frozenset(
    {
        "title",
        "vendor",
        "aliases",
        "available_from",
        "cooling",
        "price_musd_per_rack",
        "book_life_years",
        "embodied_kgco2e_per_device",
        "lead_time_weeks",
        "figures",
    }
)
"""Fields of an accelerator that only the plan reads; all others may move its speed or power."""
OF_A_WORKLOAD = (
    "name",
    "model",
    "training_samples_per_run",
    "deadline_days_per_run",
    "goodput",
    "straggler_factor",
    "reference_devices",
    "local_batch",
)
"""Fields of a workload that decide its training options; demand, price and priority do not."""
_EVIDENCE = frozenset({"figures", "origin", "status", "source", "note"})


def step_key(scenario: Scenario) -> str:
    """Hash of everything that the table of training options depends on."""
    content = {
        "accelerators": {
            name: device.model_dump(mode="json", exclude=set(NOT_OF_A_DEVICE))
            for name, device in scenario.accelerators.items()
        },
        "models": {name: _bare(model.model_dump(mode="json")) for name, model in scenario.models.items()},
        "workloads": [
            [getattr(one, field) for field in OF_A_WORKLOAD] for one in scenario.workloads.values()
        ],
        "caps": scenario.rules.caps_per_accelerator,
        "measured": [_bare(row.model_dump(mode="json")) for row in scenario.measured],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _bare(value: Any) -> Any:
    """The values without their evidence."""
    if isinstance(value, dict):
        return {key: _bare(child) for key, child in value.items() if key not in _EVIDENCE}
    return [_bare(child) for child in value] if isinstance(value, list) else value
