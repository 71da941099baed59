"""Small worlds of lots, halls and kinds, with every plan there is counted out."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from fleetplan.solving.arrays import Compiled, Labels

HALLS, KINDS = 3, 2
MW = np.array([0.9, 1.3])


def fleet(seed: int) -> Compiled:
    """Lots of two kinds in three halls: power by hall, supply by kind, demand that costs when it is short.

    Columns: lots[h, k], work[h, k], short. Minimise cost of lots and shortage.
    """
    rng = np.random.default_rng(seed)
    power, supply = rng.uniform(1.5, 3.5, HALLS), rng.integers(2, 4, KINDS)
    speed, price = np.array([10.0, 17.0]), np.array([1.0, 1.5]) * rng.uniform(0.8, 1.2, KINDS)
    demand = float(rng.uniform(25, 60))
    lots = HALLS * KINDS
    rows = [([h * KINDS + k for k in range(KINDS)], MW, -np.inf, power[h]) for h in range(HALLS)]
    rows += [
        ([h * KINDS + k for h in range(HALLS)], np.ones(HALLS), -np.inf, supply[k]) for k in range(KINDS)
    ]
    rows += [([j, lots + j], np.array([-speed[j % KINDS], 1.0]), -np.inf, 0.0) for j in range(lots)]
    rows.append(([*range(lots, 2 * lots + 1)], np.ones(lots + 1), demand, np.inf))
    matrix = sparse.lil_array((len(rows), 2 * lots + 1))
    for i, (columns, values, _, _) in enumerate(rows):
        matrix[i, columns] = values
    csc = sparse.csc_array(matrix)
    width = 2 * lots + 1
    cost = np.concatenate([np.tile(price, HALLS), np.full(lots, 0.001), [0.4]])
    return Compiled(
        start=csc.indptr.astype(np.int32), index=csc.indices.astype(np.int32), value=csc.data,
        row_lower=np.array([row[2] for row in rows]), row_upper=np.array([row[3] for row in rows]),
        col_lower=np.zeros(width), col_upper=np.concatenate([np.full(lots, 3.0), np.full(lots + 1, np.inf)]),
        cost=cost, offset=5.0, integer=np.arange(width) < lots,
        rows=Labels([("row", i) for i in range(len(rows))]),
        columns=Labels([("column", j) for j in range(width)]),
    )  # fmt: skip


def all_plans(compiled: Compiled) -> list[tuple[np.ndarray, float]]:
    """Every choice of lots with its least cost: power and supply by hand, the rest by arithmetic."""
    lots = HALLS * KINDS
    rows = compiled.by_rows[: HALLS + KINDS, :lots].toarray()
    speed = -compiled.by_rows[[HALLS + KINDS + j for j in range(lots)], :lots].toarray().diagonal()
    demand = compiled.row_lower[-1]
    plans = []
    for n in map(np.array, itertools.product(range(4), repeat=lots)):
        if (rows @ n <= compiled.row_upper[: HALLS + KINDS] + 1e-9).all():
            work = min(demand, float(speed @ n))
            plans.append((n, 5.0 + float(compiled.cost[:lots] @ n) + 0.001 * work + 0.4 * (demand - work)))
    return plans


def best_of_all(compiled: Compiled) -> float:
    """Cost of the cheapest plan over every whole number."""
    return min(cost for _, cost in all_plans(compiled))


def halls() -> tuple[np.ndarray, ...]:
    return tuple(np.arange(h * KINDS, (h + 1) * KINDS) for h in range(HALLS))
