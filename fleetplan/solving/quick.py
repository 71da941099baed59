"""The short way from Pyomo to arrays: for models written in ``LinearExpression`` throughout.

Such expressions hold their coefficients and variables as plain lists, which can be read off without
Pyomo's expression walker, in a quarter of its time. Whatever does not look like that (other
expressions, parameters as coefficients, constants in rows, fixed variables, blocks) is left to the
walker: :func:`quick_form` then gives ``None``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fleetplan.errors import InfeasibleError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fleetplan.solving.arrays import Floats


@dataclass(frozen=True)
class LinearForm:
    """A model's numbers, with the Pyomo objects of its rows and columns."""

    matrix: sparse.csc_array
    lower: Floats
    upper: Floats
    constraints: Sequence[Any]
    columns: Sequence[Any]
    cost: Floats
    offset: float
    sign: float


class _OtherwiseError(Exception):
    """Something in the model needs the walker."""


def quick_form(model: pyo.ConcreteModel) -> LinearForm | None:
    """Read the model off its expressions; ``None`` where that does not do."""
    try:
        return _read(model)
    except _OtherwiseError:
        return None


def _read(model: pyo.ConcreteModel) -> LinearForm:
    import pyomo.environ as pyo

    if any(model.component_objects(pyo.Block, descend_into=True)):
        raise _OtherwiseError
    variables = [data for variable in model.component_objects(pyo.Var) for data in variable.values()]
    if any(variable.fixed for variable in variables):
        raise _OtherwiseError
    place = dict(zip(map(id, variables), range(len(variables)), strict=True))
    cost, sign = _cost(model, place)
    rows = [
        row
        for constraint in model.component_objects(pyo.Constraint, active=True)
        for row in constraint.values()
        if row.active
    ]
    bounded = [row.to_bounded_expression() for row in rows]
    counts, col, value = _terms([body for _, body, _ in bounded], place)
    lower = np.fromiter((-np.inf if low is None else _number(low) for low, _, _ in bounded), float, len(rows))
    upper = np.fromiter(
        (np.inf if high is None else _number(high) for _, _, high in bounded), float, len(rows)
    )
    return _without_the_empty(counts, col, value, lower, upper, rows, variables, cost, sign)


def _number(side: Any) -> float:
    if side.__class__ not in (float, int):
        raise _OtherwiseError
    return float(side)


def _cost(model: pyo.ConcreteModel, place: dict[int, int]) -> tuple[Floats, float]:
    import pyomo.environ as pyo

    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise _OtherwiseError
    _, col, value = _terms([objectives[0].expr], place)
    sign = float(objectives[0].sense)
    cost: Floats = np.bincount(col, weights=value * sign, minlength=len(place)).astype(float)
    return cost, sign


def _terms(bodies: Sequence[Any], place: dict[int, int]) -> tuple[Any, Any, Floats]:
    """Number of terms of each body; column and coefficient of all terms."""
    from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression

    if set(map(type, bodies)) - {LinearExpression}:
        raise _OtherwiseError
    parts = [body.args for body in bodies]
    terms = list(chain.from_iterable(parts))
    if set(map(type, terms)) - {MonomialTermExpression}:
        raise _OtherwiseError
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    if not terms:
        return counts, np.zeros(0, np.int64), np.zeros(0)
    coefficients, variables = zip(*map(attrgetter("_args_"), terms), strict=True)
    if set(map(type, coefficients)) - {float, int}:
        raise _OtherwiseError
    try:
        col = np.fromiter(map(place.__getitem__, map(id, variables)), np.int64, len(variables))
    except KeyError:
        raise _OtherwiseError from None
    return counts, col, np.fromiter(coefficients, float, len(coefficients))


def _without_the_empty(
    counts: Any,
    col: Any,
    value: Floats,
    lower: Floats,
    upper: Floats,
    rows: Any,
    variables: Any,
    cost: Floats,
    sign: float,
) -> LinearForm:
    """Leave out rows without variables (if they hold), rows without sides, and unused variables."""
    shape = (len(rows), len(variables))
    start = np.concatenate([[0], np.cumsum(counts)])
    matrix = sparse.csc_array(sparse.csr_array((value, col, start), shape=shape))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    broken = np.flatnonzero((counts == 0) & ((lower > 0) | (upper < 0)))
    if len(broken):
        raise InfeasibleError(f"{rows[broken[0]].name} cannot hold: no variable is left in it")
    keep = (counts > 0) & (np.isfinite(lower) | np.isfinite(upper) | np.isnan(lower) | np.isnan(upper))
    used = (np.diff(matrix.indptr) > 0) | (cost != 0)
    if not used.all():
        matrix, cost = matrix[:, np.flatnonzero(used)], cost[used]
        variables = [variable for variable, is_used in zip(variables, used.tolist(), strict=True) if is_used]
    if not keep.all():
        matrix = sparse.csc_array(sparse.csr_array(matrix)[np.flatnonzero(keep)])
        rows = [row for row, stays in zip(rows, keep.tolist(), strict=True) if stays]
    return LinearForm(matrix, lower[keep], upper[keep], rows, variables, cost, 0.0, sign)
