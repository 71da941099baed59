"""Fit the few step-level constants to measured steps, with uncertainty and what stays unidentified.

Least squares on log(predicted/measured), with a prior on the log of each constant (its microbenchmark
value and spread): maximum a posteriori. The covariance is that of the linearised problem. A constant
whose spread the data do not narrow by at least a third is *not identified*: it keeps its prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import UsageError
from fleetplan.performance.constants import Constants, Context, load_constants
from fleetplan.performance.predict_steps import evaluated, rates_of, stack_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fleetplan.performance.evaluate import Evaluation
    from fleetplan.performance.measurements import Measurement


@dataclass(frozen=True)
class Prior:
    """A constant to fit: ``name@scope``, its value before the fit, and the spread of its logarithm."""

    key: str
    value: float
    spread: float


PRIORS = (
    Prior("step_floor_ms@stack:tuned", 0.78, 0.30),
    Prior("gemm_workload_share@compute-units", 0.87, 0.10),
    Prior("embedding_maturity@stack:tuned", 1.6, 0.30),
    Prior("elementwise_maturity@stack:tuned+family:dlrm", 1.0, 0.30),
    Prior("alltoall_scaleout_share@compute-units", 0.74, 0.15),
    Prior("alltoall_scaleout_share@compute-units+fabric:ethernet", 0.62, 0.30),
    Prior("alltoall_per_rank_us@compute-units", 0.5, 0.50),
)
"""The seven constants of the shipped fit: microbenchmark values and how far they may be off."""
OPERATOR_KEYS = (
    ("step_floor_ms@stack:production", 0.5),
    ("compute_maturity@all", 0.2),
    ("embedding_maturity@all", 0.3),
    ("training_alltoall_share@compute-units+stack:production", 0.3),
    ("training_reduce_share@compute-units+stack:production", 0.3),
    ("training_reduce_share@message-engine+stack:production", 0.5),
    ("alltoall_fixed_us@message-engine", 0.5),
    ("kernel_fixed_us@mtia-300", 0.2),
)
"""What an operator's own production steps may fix: maturity, floor, and collectives inside a step."""
MEASUREMENT_SPREAD = 0.04
"""Relative spread of a measured rate: equal systems differ by 0.7 to 4.5 %."""
IDENTIFIED = 2 / 3
"""Posterior over prior spread below which data have said something."""


@dataclass(frozen=True)
class Calibration:
    """The result of a fit."""

    table: pd.DataFrame
    """Per constant: prior, fitted value, low and high (two spreads), identified, rows."""
    residuals: pd.DataFrame
    """Per row: predicted, measured, error."""
    constants: Constants
    """Constants with the fitted values, ready for :func:`fleetplan.performance.step`."""

    @property
    def mean_error(self) -> float:
        """Mean absolute relative error over the rows."""
        return float(np.abs(self.residuals["error"].to_numpy(dtype=np.float64)).mean())


def calibrate(
    measurements: Iterable[Measurement],
    *,
    priors: Sequence[Prior] | None = None,
    constants: Constants | None = None,
) -> Calibration:
    """Fit ``priors`` to rows with a rate (``train_samples_per_s``) or a step time (``step_time``).

    Rows need a model and an accelerator of the catalog. Without ``priors``: the shipped seven for tuned
    rows, and for production rows those of :data:`OPERATOR_KEYS` that some row depends on, around the
    shipped values. Raises ``UsageError`` where no row can be used.
    """
    base = constants or load_constants()
    rows = [row for row in measurements if is_usable(row)]
    if not rows:
        message = "no row has a model, an accelerator and a rate or step time"
        raise UsageError(message)
    chosen = list(priors) if priors is not None else default_priors(rows, base)
    fitted, spreads = fit(rows, chosen, base)
    made = base.with_values(dict(zip((p.key for p in chosen), fitted.tolist(), strict=True)))
    return Calibration(_table(chosen, fitted, spreads, rows), residuals(rows, made), made)


def is_usable(row: Measurement) -> bool:
    """Whether a row states a step of a known model on a known accelerator."""
    metric = row.metric in {"train_samples_per_s", "step_time"}
    return metric and bool(row.model and row.accelerator)


def fit_set(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Rows that the shipped constants are fitted to: training rates marked for it."""
    return [row for row in measurements if row.in_fit_set and row.metric == "train_samples_per_s"]


def fit(
    rows: Sequence[Measurement], priors: Sequence[Prior], base: Constants
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fitted values and the spreads of their logarithms."""
    from scipy.optimize import least_squares

    start = np.log([prior.value for prior in priors])
    spread = np.array([prior.spread for prior in priors])

    def misfit(at: NDArray[np.float64]) -> NDArray[np.float64]:
        errors = log_errors(rows, priors, base, np.exp(at)[None, :])[0]
        return np.concatenate([errors / MEASUREMENT_SPREAD, (at - start) / spread])

    def slopes(at: NDArray[np.float64]) -> NDArray[np.float64]:
        points = np.exp(np.vstack([at, at + _NUDGE * np.eye(len(at))]))
        errors = log_errors(rows, priors, base, points)
        change = (errors[1:] - errors[0]) / _NUDGE / MEASUREMENT_SPREAD
        return np.vstack([change.T, np.diag(1 / spread)])

    solved = least_squares(misfit, start, jac=slopes, x_scale=spread)
    covariance = np.linalg.inv(solved.jac.T @ solved.jac)
    return np.exp(solved.x), np.sqrt(np.diag(covariance))


_NUDGE = 1e-4


def log_errors(
    rows: Sequence[Measurement], priors: Sequence[Prior], base: Constants, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """log(predicted/measured rate) of every row at every point (constants by column): points x rows."""
    made = [_row_errors(row, priors, base, points) for row in rows]
    return np.stack(made, axis=1)


def _row_errors(
    row: Measurement, priors: Sequence[Prior], base: Constants, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One evaluation for all points; a constant moves only where this row resolves to its scope."""
    rates = rates_of(row, base)
    names = [prior.key.partition("@")[0] for prior in priors]
    moved = {
        name: points[:, i]
        for i, (name, prior) in enumerate(zip(names, priors, strict=True))
        if base.get(name, rates.context).key == prior.key
    }
    evaluation = evaluated(row, base, moved)
    seconds = evaluation.step_seconds * np.ones(len(points))
    measured = row.value / 1e3 if row.metric == "step_time" else row.devices * _batch(evaluation) / row.value
    return np.log(measured / seconds)


def _batch(evaluation: Evaluation) -> float:
    return float(evaluation.local_batch[0])


def residuals(rows: Iterable[Measurement], constants: Constants) -> pd.DataFrame:
    """Predicted and measured value of each row, and the relative error."""
    import pandas as pd

    made = [(row.id, row.accelerator, row.devices, _predicted(row, constants), row.value) for row in rows]
    table = pd.DataFrame(made, columns=["id", "accelerator", "devices", "predicted", "measured"])
    return table.assign(error=table["predicted"] / table["measured"] - 1)


def leave_one_out(measurements: Iterable[Measurement], base: Constants | None = None) -> pd.DataFrame:
    """Errors of each accelerator's rows, predicted with constants fitted to the others'."""
    import pandas as pd

    rows, constants = fit_set(measurements), base or load_constants()
    frames = []
    for accelerator in sorted({row.accelerator for row in rows}):
        kept = [row for row in rows if row.accelerator != accelerator]
        values, _ = fit(kept, PRIORS, constants)
        made = constants.with_values(dict(zip((p.key for p in PRIORS), values.tolist(), strict=True)))
        frames.append(residuals([row for row in rows if row.accelerator == accelerator], made))
    return pd.concat(frames, ignore_index=True)


def prior_only(base: Constants | None = None) -> Constants:
    """Constants with every fitted one at its microbenchmark value."""
    return (base or load_constants()).with_values({prior.key: prior.value for prior in PRIORS})


def default_priors(rows: Sequence[Measurement], base: Constants) -> list[Prior]:
    """The constants that these rows can say something about."""
    shipped = {row.key: row.value for row in base.rows}
    operator = [Prior(key, shipped[key], spread) for key, spread in OPERATOR_KEYS]
    tuned = all(stack_of(row) == "tuned" for row in rows)
    contexts = [rates_of(row, base).context for row in rows]
    listed = PRIORS if tuned else operator
    return [prior for prior in listed if any(_bears(prior, base, context) for context in contexts)]


def _bears(prior: Prior, base: Constants, context: Context) -> bool:
    found = base.find(prior.key.partition("@")[0], context)
    return found is not None and found.key == prior.key


def _predicted(row: Measurement, constants: Constants) -> float:
    made = evaluated(row, constants)
    return float(made.step_seconds[0]) * 1e3 if row.metric == "step_time" else float(made.samples_per_s[0])


def _table(
    priors: Sequence[Prior],
    fitted: NDArray[np.float64],
    spreads: NDArray[np.float64],
    rows: Sequence[Measurement],
) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "constant": [p.key for p in priors],
            "prior": [p.value for p in priors],
            "prior_spread": [p.spread for p in priors],
            "fitted": fitted,
            "spread": spreads,
            "low": fitted * np.exp(-2 * spreads),
            "high": fitted * np.exp(2 * spreads),
            "identified": [s <= IDENTIFIED * p.spread for p, s in zip(priors, spreads, strict=True)],
            "rows": len(rows),
        }
    )
