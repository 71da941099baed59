"""Estimate constants from measured times, and say which of them the measurements fix.

Gauss-Newton in logarithms with a weak prior at the present values (a factor 1.65 either way): what the
data do not fix stays where it was, with a wide interval. A constant counts as identified where the data
fix it to within 20 % (two standard errors).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fleetplan.trace.columns import Float

PRIOR_SD = 0.5
IDENTIFIED_SD = 0.1
_SCAN_WIDTH = 1.4
_SCAN_POINTS = 15
LEAST_NOISE = 0.005
"""Relative error of a measured mean that is never undercut: clocks and definitions."""


@dataclass(frozen=True)
class Estimate:
    """One constant after the fit; ``log_sd`` is the standard error of its logarithm."""

    name: str
    prior: float
    value: float
    log_sd: float

    @property
    def is_identified(self) -> bool:
        """Whether the data fix it."""
        return self.log_sd <= IDENTIFIED_SD

    @property
    def low(self) -> float:
        """Two standard errors below."""
        return self.value * math.exp(-2 * self.log_sd)

    @property
    def high(self) -> float:
        """Two standard errors above."""
        return self.value * math.exp(2 * self.log_sd)


def estimate(
    names: Sequence[str],
    start: Sequence[float],
    predict: Callable[[dict[str, float]], Float],
    measured: Float,
    noise: Float,
) -> list[Estimate]:
    """Fit positive constants so that ``predict`` meets ``measured`` (both positive, same shape).

    ``noise`` is the relative standard error of each measurement.
    """
    from scipy.optimize import least_squares

    first = np.log(np.asarray(start, dtype=np.float64))
    error = np.maximum(noise, LEAST_NOISE)
    goal = np.log(measured)

    def misfit(logs: Float) -> Float:
        values = dict(zip(names, np.exp(logs).tolist(), strict=True))
        modelled = np.log(np.maximum(predict(values), 1e-300))
        return np.concatenate([(modelled - goal) / error, (logs - first) / PRIOR_SD])

    found = least_squares(misfit, _scan(misfit, first), x_scale=0.1, max_nfev=60)
    information = found.jac.T @ found.jac
    covariance = np.linalg.inv(information)
    rest = found.fun[: len(goal)]
    # a model that does not meet its data is less sure than the data's own scatter says
    stretch = max(1.0, float(rest @ rest) / max(len(goal) - len(names), 1))
    deviation = np.sqrt(np.diag(covariance) * stretch)
    return [
        Estimate(name, float(np.exp(first[i])), float(np.exp(found.x[i])), float(min(deviation[i], PRIOR_SD)))
        for i, name in enumerate(names)
    ]


def _scan(misfit: Callable[[Float], Float], first: Float) -> Float:
    """The best of a coarse scan, one constant after the other: laws have flat stretches (ceilings)."""
    best = first.copy()
    for place in range(len(first)):
        trials = []
        for move in np.linspace(-_SCAN_WIDTH, _SCAN_WIDTH, _SCAN_POINTS):
            trial = best.copy()
            trial[place] += move
            trials.append((float(np.square(misfit(trial)).sum()), trial))
        best = min(trials, key=lambda pair: pair[0])[1]
    return best
