"""Traces to answers in one call: report, replay, utilization, and with a model the fit and what-if."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from fleetplan.errors import SolverError, UsageError
from fleetplan.trace.report import TraceReport, records, trace_report

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.evaluate import Settings
    from fleetplan.trace.fit import TraceFit


@dataclass(frozen=True)
class TraceStudy:
    """All that fleetplan says of a job's traces. ``fit`` and ``what_if`` need the model and the device."""

    report: TraceReport
    replay: pd.DataFrame
    utilization: pd.DataFrame
    fit: TraceFit | None = None
    what_if: pd.DataFrame | None = None

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by name."""
        tables = {**self.report.tables, "replay": self.replay, "utilization": self.utilization}
        if self.fit is not None:
            tables["fitted"] = self.fit.table
        if self.what_if is not None:
            tables["what_if"] = self.what_if
        return tables

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        added = {
            name: records(table) for name, table in self.tables.items() if name not in self.report.tables
        }
        return {**self.report.to_dict(), **added}

    def lines(self, width: int = 100) -> list[str]:
        """Text for a terminal."""
        lines = [*self.report.lines(width), "", *_replay_lines(self.replay)]
        if self.fit is not None:
            lines += ["", *self.fit.lines()]
        if self.what_if is not None:
            lines += ["", *_what_if_lines(self.what_if)]
        return lines

    def html(self) -> str:
        """The self-contained page."""
        from fleetplan.trace.page import html

        return html(
            self.report,
            replay=self.replay,
            utilization=self.utilization,
            fit=self.fit,
            what_if=self.what_if,
        )

    def write(self, folder: str | Path) -> list[Path]:
        """Write ``trace.html``, ``trace.json`` and a CSV per table into a new folder, whole or not at all.

        Raises :class:`fleetplan.errors.UsageError` where the folder exists already, and
        :class:`fleetplan.errors.SolverError` where the disk is full or read-only.
        """
        target = Path(folder).absolute()
        if target.exists():
            message = f"{target} exists already: name a new folder"
            raise UsageError(message)
        partial = target.with_name(f".{target.name}.partial-{os.getpid()}-{uuid4().hex[:8]}")
        try:
            partial.mkdir(parents=True)
            names = self._write_files(partial)
            partial.rename(target)
        except OSError as cause:
            message = f"cannot write {target}: {cause.strerror or cause}"
            raise SolverError(message) from cause
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return [target / name for name in names]

    def _write_files(self, folder: Path) -> list[str]:
        (folder / "trace.html").write_text(self.html(), encoding="utf-8")
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        (folder / "trace.json").write_text(text + "\n", encoding="utf-8")
        for name, table in self.tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
        names = ["trace.html", "trace.json", *(f"{name}.csv" for name in self.tables)]
        if self.fit is not None:
            (folder / "constants.csv").write_text(self.fit.constants_csv(), encoding="utf-8", newline="")
            names.append("constants.csv")
        return names


def study_traces(
    files: Sequence[str | Path],
    *,
    model: Model | None = None,
    accelerator: Accelerator | None = None,
    local_batch: int | None = None,
    devices: int | None = None,
    others: Sequence[Accelerator] = (),
    settings: Settings | None = None,
) -> TraceStudy:
    """Read traces, one file per rank, and say all that can be said of them.

    With ``model`` and ``accelerator`` the step model is fitted (``local_batch`` samples per device and
    step, ``devices`` of the job) and cases are computed, also on ``others``. Raises ``InputError`` for
    broken files, ``MissingExtraError`` without the extra ``trace``, ``UsageError`` where sizes lack.
    """
    from fleetplan.trace.replay import replay
    from fleetplan.trace.utilization import utilization

    if (model is None) != (accelerator is None):
        message = "a fit needs both the model and the accelerator"
        raise UsageError(message)
    report = trace_report(files)
    factors = utilization(report, model=model, accelerator=accelerator, local_batch=local_batch)
    bounds = replay(report, accelerator)
    if model is None or accelerator is None:
        return TraceStudy(report, bounds, factors)
    from fleetplan.trace.fit import fit_trace
    from fleetplan.trace.what_if import what_if

    fit = fit_trace(report, model, accelerator, local_batch=local_batch, devices=devices, settings=settings)
    return TraceStudy(report, bounds, factors, fit, what_if(fit, others))


def _replay_lines(table: pd.DataFrame) -> list[str]:
    lines = [f"{'the step with another overlap':<34}{'ms':>10}{'low':>10}{'high':>10}{'speed-up':>10}"]
    for row in table.to_dict(orient="records"):
        times = "".join(f"{row[name]:>10.2f}" for name in ("step_ms", "low_ms", "high_ms"))
        lines.append(f"{row['case']:<34}{times}{row['speedup']:>10.3f}")
    return lines


def _what_if_lines(table: pd.DataFrame) -> list[str]:
    heads = "".join(f"{head:>11}" for head in ("step ms", "samples/s", "low", "high", "W/device"))
    lines = [f"{'what if':<34}{'accelerator':<14}{heads}"]
    for row in table.to_dict(orient="records"):
        rates = (row["samples_per_s"], row["low_samples_per_s"], row["high_samples_per_s"])
        numbers = "".join(f"{value:>11,.0f}" for value in rates)
        fits = "" if row["fits"] else "  does not fit in memory"
        lines.append(
            f"{row['case']:<34}{row['accelerator']:<14}{row['step_ms']:>11.2f}{numbers}{row['device_w']:>11.0f}{fits}"
        )
    return lines
