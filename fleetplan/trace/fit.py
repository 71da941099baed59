"""Fit the constants of the step model to a trace, and say which of them the trace does not tell.

Each group of constants is fitted to the part of the step that depends on it: kernels by family, calls
by collective, idle time, contention, overlap, spread between ranks. Times of kernels and calls beside
each other are first taken back to isolation with the contention that the trace shows (or, where it
does not, the published one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.tables import TableSpec, flag, number, text
from fleetplan.trace.measured_step import MeasuredStep

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.inputs.scenario import MeasuredRate
    from fleetplan.performance.evaluate import Settings
    from fleetplan.performance.layout import Layout
    from fleetplan.trace.report import TraceReport

FITTED = TableSpec(
    "fitted",
    "constants of the step model: before and after the trace, and whether it fixes them",
    (
        text("constant", "name in the constants file, or model.… for a property of the model", key=True),
        text("scope", "scope of the value that is replaced; empty for the model's"),
        number("prior", "", "value before"),
        number("value", "", "value after"),
        number("low", "", "two standard errors below"),
        number("high", "", "two standard errors above"),
        flag("identified", "whether the trace fixes it to within 20 %"),
        text("from_what", "what in the trace it was fitted to, or why it is not identified"),
    ),
)

LARGE_MISFIT = 0.1
"""Relative error of the fitted step above which the fit is not to be trusted."""

_MEASURED_HEADER = (
    *("workload", "accelerator", "devices", "local_batch", "cap_w", "samples_per_s"),
    *("status", "low", "high", "interval_of", "source_url", "note"),
)


@dataclass(frozen=True)
class FittedConstant:
    """One row of ``FITTED``."""

    name: str
    scope: str
    prior: float
    value: float
    low: float
    high: float
    identified: bool
    from_what: str

    @property
    def key(self) -> str:
        """As :meth:`Constants.with_values` takes it."""
        return f"{self.name}@{self.scope}"


@dataclass(frozen=True)
class TraceFit:
    """The step model fitted to a traced job; ``model`` holds its overlap and straggler factor."""

    model: Model
    accelerator: Accelerator
    settings: Settings
    devices: int
    local_batch: int
    constants: tuple[FittedConstant, ...]
    measured: MeasuredStep
    predicted_ms: float
    """The step by the model with the fitted constants."""
    before_ms: float
    """The step by the model as it was."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands against trusting the fit."""
        notes = []
        misfit = self.predicted_ms / self.measured_ms - 1
        if abs(misfit) > LARGE_MISFIT:
            notes.append(
                f"the fitted model misses the measured step by {misfit:+.0%}: the job's schedule or model is "
                "another, or the trace was thinned; do not carry these constants over"
            )
        impossible = [c.name for c in self.constants if "more than the device can do" in c.from_what]
        if impossible:
            notes.append(f"impossible, and left as they were: {', '.join(impossible)}")
        return tuple(notes)

    @property
    def measured_ms(self) -> float:
        """Mean whole step of the trace."""
        return self.measured.duration_ms

    @property
    def layout(self) -> Layout:
        """How the fitted model is spread: as the model says, tables in HBM."""
        from fleetplan.performance.layout import Layout

        return Layout(dense=self.model.dense_sync, sparse_replicas=self.model.sparse_replicas)

    def measured_rate(self, workload: str, cap_w: float | None = None) -> MeasuredRate:
        """The traced rate as a row of a scenario's ``measured`` table, which overrides the step model."""
        from fleetplan.figures import Origin
        from fleetplan.inputs.scenario import MeasuredRate

        return MeasuredRate(
            origin=Origin("trace", 1),
            status="derived",
            source="profiler trace of the job",
            workload=workload,
            accelerator=self.accelerator.name,
            devices=self.devices,
            local_batch=self.local_batch,
            cap_w=cap_w,
            samples_per_s=self.samples_per_s,
        )

    def measured_csv(self, workload: str, cap_w: float | None = None) -> str:
        """The same row as a ``measured.csv`` with its header; the interval is that of the traced steps."""
        ends = (self.measured.longest_ms, self.measured.shortest_ms)
        low, high = (self.samples_per_s * self.measured_ms / end for end in ends)
        cells = (
            *(
                workload,
                self.accelerator.name,
                self.devices,
                self.local_batch,
                "" if cap_w is None else cap_w,
            ),
            *(f"{self.samples_per_s:.6g}", "derived", f"{low:.6g}", f"{high:.6g}", "samples_per_s", ""),
            f"profiler trace; {self.measured.steps} whole steps of {self.measured.ranks} ranks",
        )
        return _csv_text([_MEASURED_HEADER, cells])

    @property
    def samples_per_s(self) -> float:
        """Measured rate of the whole job."""
        return self.devices * self.local_batch / self.measured_ms * 1e3

    @property
    def table(self) -> pd.DataFrame:
        """Rows of ``FITTED``."""
        return FITTED.frame(
            (c.name, c.scope, c.prior, c.value, c.low, c.high, c.identified, c.from_what)
            for c in self.constants
        )

    def constants_csv(self) -> str:
        """All constants with the fitted values, as a constants file that ``load_constants`` reads."""
        return self.settings.rates(self.model, self.accelerator).constants.to_csv()

    def lines(self) -> list[str]:
        """Text for a terminal."""
        known = [c for c in self.constants if c.identified]
        rest = [c for c in self.constants if not c.identified]
        error = self.predicted_ms / self.measured_ms - 1
        head = f"step measured {self.measured_ms:.2f} ms, model before {self.before_ms:.2f}"
        lines = [f"{head}, fitted {self.predicted_ms:.2f} ({error:+.1%})", ""]
        lines += [f"{'identified':<32}{'before':>12}{'fitted':>12}{'low':>12}{'high':>12}"]
        lines += [f"{c.name:<32}{c.prior:>12.4g}{c.value:>12.4g}{c.low:>12.4g}{c.high:>12.4g}" for c in known]
        lines += ["", "not identified by this trace"]
        lines += [f"{c.name:<32}{c.prior:>12.4g}  {c.from_what}" for c in rest]
        return [*lines, *(f"note: {note}" for note in self.notes)]


def fit_trace(
    report: TraceReport,
    model: Model,
    accelerator: Accelerator,
    *,
    local_batch: int | None = None,
    devices: int | None = None,
    settings: Settings | None = None,
) -> TraceFit:
    """Fit the step model to a traced job of ``model`` on ``accelerator``.

    ``devices`` default to the trace's world size, ``local_batch`` (samples per device and step) to the
    model's. Raises :class:`fleetplan.errors.UsageError` where neither the trace nor the caller says
    how many devices there are.
    """
    from fleetplan.trace.fitter import Fitter

    fitter = Fitter.of(report, model, accelerator, local_batch, devices, settings)
    before = fitter.step_ms()
    fitter.run()
    return TraceFit(
        model=fitter.model,
        accelerator=accelerator,
        settings=fitter.narrowed(),
        devices=fitter.devices,
        local_batch=fitter.local_batch,
        constants=tuple(sorted(fitter.found, key=lambda constant: constant.name)),
        measured=fitter.step,
        predicted_ms=fitter.step_ms(),
        before_ms=before,
    )


def _csv_text(rows: Sequence[Sequence[object]]) -> str:
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
