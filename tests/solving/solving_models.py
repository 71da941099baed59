"""Small models given by plain lists, and their best plan by trying everything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from fleetplan.solving.arrays import Compiled, Labels

INF = float("inf")


def arrays(
    cost: Sequence[float],
    rows: Sequence[Sequence[float]],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    integer: Sequence[bool] | bool = True,
    offset: float = 0.0,
) -> Compiled:
    """A model from dense rows; columns are called x[0].., rows r[0].."""
    n, m = len(cost), len(rows)
    dense = np.array(rows, dtype=float).reshape(m, n)
    start, index, value = [0], [], []
    for j in range(n):
        used = np.flatnonzero(dense[:, j])
        index += used.tolist()
        value += dense[used, j].tolist()
        start.append(len(index))
    return Compiled(
        start=np.array(start, np.int32),
        index=np.array(index, np.int32),
        value=np.array(value, float),
        row_lower=np.array(lower, float),
        row_upper=np.array(upper, float),
        col_lower=np.array(low if low is not None else [0.0] * n, float),
        col_upper=np.array(high if high is not None else [INF] * n, float),
        cost=np.array(cost, float),
        offset=offset,
        integer=np.broadcast_to(np.array(integer, bool), n).copy(),
        rows=Labels([("r", i) for i in range(m)]),
        columns=Labels([("x", j) for j in range(n)]),
    )


def best_by_trying(cost, rows, lower, upper, high) -> float | None:
    """Least cost over all whole x with 0 <= x <= high; the last column is continuous in [0, high]."""
    best = None
    for whole in itertools.product(*(range(h + 1) for h in high[:-1])):
        least, most = 0.0, float(high[-1])
        for row, lo, up in zip(rows, lower, upper, strict=True):
            fixed = sum(a * v for a, v in zip(row, whole, strict=False))
            a = row[-1]
            if a == 0:
                if fixed < lo or fixed > up:
                    most = -1.0
                continue
            ends = sorted([(lo - fixed) / a, (up - fixed) / a])
            least, most = max(least, ends[0]), min(most, ends[1])
        if least > most + 1e-12:
            continue
        total = sum(c * v for c, v in zip(cost, whole, strict=False)) + min(cost[-1] * least, cost[-1] * most)
        best = total if best is None else min(best, total)
    return best


def hard() -> Compiled:
    """Market split (Cornuéjols and Dawande, 1998): plans are found at once, a proof takes hours."""
    rng = np.random.default_rng(1)
    m, n = 5, 40
    weights = rng.integers(0, 100, (m, n)).astype(float)
    half = np.floor(weights.sum(axis=1) / 2)
    rows = np.hstack([weights, np.eye(m), -np.eye(m)])
    return arrays(
        [0.0] * n + [1.0] * (2 * m),
        rows.tolist(),
        half.tolist(),
        half.tolist(),
        high=[1.0] * n + [INF] * (2 * m),
        integer=[True] * n + [False] * (2 * m),
        offset=10.0,
    )
