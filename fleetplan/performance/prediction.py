"""A predicted measurement, and the acceptance gate it counts in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prediction:
    """Value in the row's unit; ``gate`` is empty where the row is shown but gates nothing."""

    value: float
    gate: str
