"""Effective utilization as its four factors, reported apart.

EU = [FLOP / (F · t_busy)] x [t_busy / t_step] x ETTR x [allocated / owned]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.evaluate import Evaluation


@dataclass(frozen=True)
class Utilization:
    """Shares of the compute precision's dense peak; the product of the four is ``effective``."""

    kernel: float
    """FLOP over peak while compute is busy."""
    busy: float
    """Busy share of the step."""
    goodput: float
    allocated: float
    """Share of owned devices that jobs hold; 1 where no fleet is given."""

    @property
    def effective(self) -> float:
        """Product of the four."""
        return self.kernel * self.busy * self.goodput * self.allocated

    @property
    def model_flop_utilization(self) -> float:
        """FLOP over peak of the whole step (MFU)."""
        return self.kernel * self.busy


def utilization(made: Evaluation, model: Model, allocated: float = 1.0) -> Utilization:
    """Factors of one option at its cap."""
    flop = made.counts.flop_per_sample * float(made.local_batch[0])
    peak = made.rates.peak_flops(model.precisions.compute)
    busy_seconds = float(made.compute_seconds[0]) / float(made.speed[0])
    kernel = flop / (peak * busy_seconds) if busy_seconds > 0 else 0.0
    return Utilization(kernel, float(made.busy_share[0]), float(made.goodput[0]), allocated)
