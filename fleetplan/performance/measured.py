"""A planner's own collective measurements, which override the laws where they hold a cell."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_COLUMNS = ("accelerator", "collective", "ranks", "bytes", "ms")


@dataclass(frozen=True)
class MeasuredCollectives:
    """Times by (accelerator, collective, ranks), each a sweep over message size.

    Sizes between two measured ones are interpolated (linear in both logarithms); sizes outside the
    sweep and rank counts that were not measured are not answered.
    """

    sweeps: dict[tuple[str, str, int], tuple[NDArray[np.float64], NDArray[np.float64]]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, int, float, float]]) -> MeasuredCollectives:
        """Build from (accelerator, collective, ranks, bytes, milliseconds)."""
        groups: dict[tuple[str, str, int], dict[float, float]] = {}
        for accelerator, collective, ranks, size, ms in rows:
            groups.setdefault((accelerator, collective, ranks), {})[size] = ms
        return cls({key: _sorted(points) for key, points in groups.items()})

    def seconds(
        self, accelerator: str, collective: str, size: NDArray[np.float64], ranks: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Seconds per option; NaN where nothing was measured."""
        out = np.full(size.shape, np.nan)
        for (name, kind, count), (sizes, times) in self.sweeps.items():
            if name == accelerator and kind == collective:
                here = (ranks == count) & (size >= sizes[0]) & (size <= sizes[-1])
                safe = np.log(np.maximum(size, 1.0))
                out = np.where(here, np.exp(np.interp(safe, np.log(sizes), np.log(times))), out)
        return out


def _sorted(points: dict[float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sizes = np.array(sorted(points), dtype=np.float64)
    return sizes, np.array([points[size] * 1e-3 for size in sizes])


def load_measured_collectives(path: str | Path) -> MeasuredCollectives:
    """Read a CSV with columns accelerator, collective, ranks, bytes, ms. All faults come at once."""
    file = Path(path)
    rows: list[tuple[str, str, int, float, float]] = []
    faults: list[Fault] = []
    with file.open(encoding="utf-8-sig", newline="") as stream:
        for line, row in enumerate(csv.DictReader(stream), start=2):
            made = _row(row)
            if isinstance(made, str):
                faults.append(
                    Fault(str(file), line, None, "E702", "", made, f"columns are {', '.join(_COLUMNS)}")
                )
            else:
                rows.append(made)
    if faults:
        raise InputError(faults)
    return MeasuredCollectives.of(rows)


def _row(row: dict[str, str | None]) -> tuple[str, str, int, float, float] | str:
    absent = [name for name in _COLUMNS if not row.get(name)]
    if absent:
        return f"{', '.join(absent)} missing"
    if row["collective"] not in {"alltoall", "allreduce", "allgather", "reducescatter"}:
        return f"unknown collective {row['collective']!r}"
    try:
        size, ms, ranks = float(row["bytes"] or ""), float(row["ms"] or ""), int(row["ranks"] or "")
    except ValueError:
        return "ranks, bytes and ms must be numbers"
    if size <= 0 or ms <= 0 or ranks < 2:
        return "bytes and ms must be above 0 and ranks at least 2"
    return str(row["accelerator"]), str(row["collective"]), ranks, size, ms
