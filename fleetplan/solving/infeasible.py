"""What stands in the way of a plan: the least relief of named limits, or a small set that clashes.

:func:`elastic` is quick and answers in the limits' own units; :func:`iis` names a set of rows and
bounds that cannot hold together, and takes longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fleetplan.errors import SolverError
from fleetplan.solving.arrays import Compiled, Floats, Ints, Key
from fleetplan.solving.highs import Session
from fleetplan.solving.linear import linear_options
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve
from fleetplan.solving.result import Result, require_plan

FROM_RELAXATION = 2
"""HiGHS' ``iis_strategy`` bit: a set from the elastic relaxation, not minimal."""
IRREDUCIBLE = 4
"""HiGHS' ``iis_strategy`` bit: drop rows until none can be spared."""
NOTICED = 1e-7
"""Relief below this, relative to the row's side, is rounding."""


@dataclass(frozen=True)
class Relief:
    """By how much one row has to give."""

    row: int
    key: Key
    side: str
    """``upper``: the limit must rise by ``amount``; ``lower``: the demand must fall by it."""
    amount: float
    """In the row's own unit, above 0."""
    limit: float
    """The side as it stands."""


@dataclass(frozen=True)
class Elastic:
    """The least relief of the named rows that makes a plan possible."""

    reliefs: tuple[Relief, ...]
    """Largest first, relative to the limits; empty where the model is feasible as it stands."""
    result: Result


@dataclass(frozen=True)
class Conflict:
    """Rows and column bounds that cannot hold together."""

    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    irreducible: bool
    """Whether none of them can be spared."""


def elastic(compiled: Compiled, scales: Mapping[int, float], options: SolveOptions | None = None) -> Elastic:
    """Least weighted relief of the given rows (by position); all other rows stay hard.

    ``scales`` gives each row's weight of one unit of relief; 1 / |side| makes reliefs relative.
    Whole numbers are relaxed, which can only make the relief smaller. Raises ``InfeasibleError``
    where even full relief of these rows allows no plan.
    """
    if not scales:
        raise SolverError("elastic limits need at least one row that may give")
    softened, row, sign = _softened(compiled.relaxed(), scales)
    result = require_plan(solve(softened, options))
    assert result.x is not None
    slack = result.x[compiled.shape[1] :]
    return Elastic(_reliefs(compiled, row, sign, slack), result)


def _softened(compiled: Compiled, scales: Mapping[int, float]) -> tuple[Compiled, Ints, Floats]:
    """The model with a slack column for each finite side of each named row, and only their cost."""
    rows = np.array(sorted(scales), dtype=np.int64)
    above = rows[np.isfinite(compiled.row_upper[rows])]
    below = rows[np.isfinite(compiled.row_lower[rows])]
    row = np.concatenate([above, below])
    sign = np.concatenate([-np.ones(len(above)), np.ones(len(below))])
    shape = (compiled.shape[0], len(row))
    slack = sparse.csc_array((sign, (row, np.arange(len(row)))), shape=shape)
    keys: list[Key] = [
        (f"relief.{'upper' if s < 0 else 'lower'}", compiled.rows.keys[i])
        for i, s in zip(row.tolist(), sign.tolist(), strict=True)
    ]
    weight = np.array([scales[i] for i in row.tolist()], dtype=float)
    free = compiled.with_objective(np.zeros(compiled.shape[1]))
    return free.with_columns(keys, slack, weight, np.full(len(row), np.inf)), row, sign


def _reliefs(compiled: Compiled, row: Ints, sign: Floats, slack: Floats) -> tuple[Relief, ...]:
    limit = np.where(sign < 0, compiled.row_upper[row], compiled.row_lower[row])
    relative = slack / np.maximum(1.0, np.abs(limit))
    order = np.lexsort((row, -relative))
    return tuple(
        Relief(
            row=int(row[k]),
            key=compiled.rows.keys[row[k]],
            side="upper" if sign[k] < 0 else "lower",
            amount=float(slack[k]),
            limit=float(limit[k]),
        )
        for k in order
        if relative[k] > NOTICED
    )


def iis(compiled: Compiled, time_limit_s: float = 60.0) -> Conflict:
    """A clashing set: a quick one first, then, in the time left, one where each member is needed.

    The relaxation is looked at; raises ``SolverError`` where it is feasible or nothing was found.
    """
    relaxed = compiled.relaxed()
    quick = _clash(relaxed, FROM_RELAXATION, time_limit_s)
    sharp = _clash(relaxed, FROM_RELAXATION + IRREDUCIBLE, time_limit_s)
    best, irreducible = (sharp, True) if sharp is not None else (quick, False)
    if best is None:
        raise SolverError("no clashing set was found: the model is feasible, or the time was too short")
    return Conflict(
        rows=tuple(compiled.rows.keys[i] for i in best[0]),
        columns=tuple(compiled.columns.keys[j] for j in best[1]),
        irreducible=irreducible,
    )


def _clash(compiled: Compiled, strategy: int, time_limit_s: float) -> tuple[list[int], list[int]] | None:
    options = {
        **linear_options(compiled, basis=True),
        "iis_strategy": strategy,
        "iis_time_limit": time_limit_s,
    }
    return Session(compiled, options).clash(time_limit_s)
