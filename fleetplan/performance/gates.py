"""Acceptance gates: how far predictions may be from measurements, and whether they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gate:
    """Limits of one gate, as shares of the measured value; ``None``: not limited.

    ``points`` limits the absolute difference instead. Advisory gates inform and never fail.
    """

    name: str
    each: float | None = None
    mean: float | None = None
    median: float | None = None
    total: float | None = None
    points: float | None = None
    factor: float | None = None
    """Predicted over measured, either way."""
    advisory: bool = False


GATES = {
    gate.name: gate
    for gate in (
        Gate("DCNv2 fitted rows", each=0.12, mean=0.06),
        Gate("DCNv2 microbenchmark-only, multi-node", each=0.30, mean=0.15),
        Gate("DCNv2 held out, one domain", each=0.10),
        Gate("DCNv2 held out, multi-node", each=0.25),
        Gate("scaling shape", each=0.15),
        Gate("counts", each=0.01),
        Gate("counts (Wukong)", each=0.10),
        Gate("memory", each=0.05),
        Gate("one-node all-reduce", each=0.25, mean=0.08),
        Gate("in-switch all-reduce", each=0.03),
        Gate("multi-node all-reduce", each=0.15, mean=0.06),
        Gate("HSTU step", each=0.10),
        Gate("HSTU parts", each=0.20),
        Gate("HSTU straggler", each=0.15),
        Gate("HSTU reference", each=0.30, advisory=True),
        Gate("embedding kernels", each=0.25),
        Gate("embedding, host tier", factor=2.0),
        Gate("MTIA over H100", each=0.25),
        Gate("MTIA over H100, all-to-all at 16", each=0.40),
        Gate("production all-to-all", median=0.20, total=0.25),
        Gate("overlap", points=5.0),
        Gate("node power", each=0.10),
        Gate("ZionEX A and I", each=0.15, advisory=True),
        Gate("ZionEX F", factor=2.0, advisory=True),
    )
}


def gate_table(table: pd.DataFrame) -> pd.DataFrame:
    """One row per gate: rows in it, its errors, its limits in words, and whether it passes."""
    import pandas as pd

    rows = [_gate_row(gate, table[table["gate"] == gate.name]) for gate in GATES.values()]
    return pd.DataFrame([row for row in rows if row["rows"]])


def row_passes(gate: Gate, predicted: float, measured: float) -> bool:
    """Whether one row is within the gate's limit for each row (mean and median limits apart)."""
    error = predicted / measured - 1
    if gate.points is not None:
        return abs(predicted - measured) <= gate.points
    if gate.factor is not None:
        return 1 / gate.factor <= predicted / measured <= gate.factor
    return gate.each is None or abs(error) <= gate.each


def _gate_row(gate: Gate, rows: pd.DataFrame) -> dict[str, object]:
    predicted = rows["predicted"].to_numpy(dtype=np.float64)
    measured = rows["measured"].to_numpy(dtype=np.float64)
    if not len(rows):
        return {"gate": gate.name, "rows": 0}
    error = np.abs(predicted / measured - 1)
    whole = float(abs(predicted.sum() / measured.sum() - 1))
    each = all(row_passes(gate, p, m) for p, m in zip(predicted, measured, strict=True))
    limits = ((gate.mean, error.mean()), (gate.median, float(np.median(error))), (gate.total, whole))
    passes = each and all(limit is None or value <= limit for limit, value in limits)
    return {
        "gate": gate.name,
        "rows": len(rows),
        "mean_error": float(error.mean()),
        "median_error": float(np.median(error)),
        "worst_error": float(error.max()),
        "sum_error": whole,
        "limits": _limits(gate),
        "advisory": gate.advisory,
        "passes": bool(passes),
    }


def _limits(gate: Gate) -> str:
    shares = (("each", gate.each), ("mean", gate.mean), ("median", gate.median), ("sum", gate.total))
    words = [f"{name} {limit:.0%}" for name, limit in shares if limit is not None]
    words += [f"{gate.points:g} points"] if gate.points is not None else []
    words += [f"factor {gate.factor:g}"] if gate.factor is not None else []
    return ", ".join(words)
