"""What waiting for the slowest device costs: three causes, kept apart.

Byte and work imbalance of sharding enter as the slowest rank's bytes (``rho``, the embedding
imbalance). Here: jitter between equal devices, and unequal sequence lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EULER = 0.5772156649


def expected_maximum(devices: ArrayLike) -> NDArray[np.float64]:
    """Mean of the largest of D standard normal draws (extreme-value expansion); 0 for one device.

    z = sqrt(2 ln D) - (ln ln D + ln 4pi)/(2 sqrt(2 ln D)) + 0.577/sqrt(2 ln D): 1.5 at 8, 2.4 at 64,
    3.3 at 1,024. Source: Fisher and Tippett (1928), doi:10.1017/S0305004100015681.
    """
    count = np.maximum(np.asarray(devices, dtype=np.float64), 1.0)
    safe = np.maximum(count, 3.0)
    root = np.sqrt(2 * np.log(safe))
    value = root - (np.log(np.log(safe)) + np.log(4 * np.pi)) / (2 * root) + EULER / root
    at_three = value * (safe > 3) + (safe <= 3) * 0.846
    return np.where(count <= 1, 0.0, np.where(count < 3, 0.564, at_three))


def jitter_factor(devices: ArrayLike, variation: float) -> NDArray[np.float64]:
    """Step time over the mean device's, from a coefficient of variation per step."""
    return 1 + variation * expected_maximum(devices)


def length_factor(devices: ArrayLike, variation: float, sequences: ArrayLike) -> NDArray[np.float64]:
    """Slowest over mean work where sequence work varies by ``variation`` and a device takes ``sequences``.

    The sum over b sequences varies by variation/sqrt(b); the slowest of D devices sets the step.
    Balanced batches bring it to 1.
    """
    spread = variation / np.sqrt(np.maximum(np.asarray(sequences, dtype=np.float64), 1.0))
    return 1 + spread * expected_maximum(devices)


def zipf_length_moments(exponent: float, longest: int) -> tuple[float, float, float]:
    """(mean, E[T^2]/E[T]^2, coefficient of variation of T^2) of Zipf lengths clipped at ``longest``.

    p(T) ~ T^-exponent over all whole numbers; what is longer counts as ``longest``, as generators of
    benchmark batches do.
    """
    from scipy.special import zeta

    lengths = np.arange(1, longest + 1, dtype=np.float64)
    weights = lengths**-exponent / zeta(exponent)
    weights[-1] += 1 - weights.sum()
    mean, second, fourth = (float(weights @ lengths**power) for power in (1, 2, 4))
    return mean, second / mean**2, float(np.sqrt(fourth / second**2 - 1))
