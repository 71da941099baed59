"""From any linear Pyomo model to arrays, by Pyomo's standard-form compiler.

That is several times faster than the line-by-line hand-off of the stock solver interfaces. The
garbage collector rests meanwhile: building makes millions of small objects, none of them garbage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fleetplan.errors import InfeasibleError, SolverError
from fleetplan.solving.arrays import Bools, Compiled, Floats, Ints, Key, Labels
from fleetplan.solving.quick import LinearForm, quick_form

if TYPE_CHECKING:
    import pyomo.environ as pyo

UPPER_SIDE, LOWER_SIDE = 1, -1


def build_and_compile(build: Callable[[], pyo.ConcreteModel]) -> tuple[pyo.ConcreteModel, Compiled]:
    """Build a model and compile it under one pause of the garbage collector.

    With a pause for each step apart, the collection put off lands in the next step.
    """
    from pyomo.common.gc_manager import PauseGC

    with PauseGC():
        model = build()
        return model, compile_model(model)


def compile_model(model: pyo.ConcreteModel) -> Compiled:
    """Turn a linear Pyomo model with at most one objective into arrays.

    Fixed variables move to the right side, unused variables and rows that always hold are left
    out, a row with two sides stays one row. Raises ``InfeasibleError`` for a constant row that
    cannot hold and ``SolverError`` for what is not linear or not a finite number.
    """
    from pyomo.common.gc_manager import PauseGC

    with PauseGC():
        compiled = _arrays(quick_form(model) or walked_form(model), model)
    compiled.check()
    return compiled


def load_values(compiled: Compiled, model: pyo.ConcreteModel, x: Floats) -> None:
    """Write a plan back into the variables of its model; integers are written whole."""
    for (family, index), value, whole in zip(compiled.columns.keys, x, compiled.integer, strict=True):
        variable = model.find_component(family)
        if variable is None:
            raise SolverError(f"the model has no variable {family}")
        number = float(round(value)) if whole else float(value)
        variable[index].set_value(number, skip_validation=True)


def walked_form(model: pyo.ConcreteModel) -> LinearForm:
    """Any linear model, by Pyomo's expression walker."""
    form = _standard_form(model)
    matrix, rows, lower, upper = _rows(form)
    return LinearForm(
        matrix=matrix,
        lower=lower,
        upper=upper,
        constraints=rows,
        columns=form.columns,
        cost=_cost(form),
        offset=float(form.c_offset[0]) if form.objectives else 0.0,
        sign=-1.0 if form.objectives and form.objectives[0].sense < 0 else 1.0,
    )


def _standard_form(model: pyo.ConcreteModel) -> Any:
    from pyomo.common.errors import (
        InfeasibleConstraintException,
        InvalidConstraintError,
        InvalidExpressionError,
    )
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    try:
        form = LinearStandardFormCompiler().write(model, mixed_form=True)
    except InfeasibleConstraintException as error:
        raise InfeasibleError(f"{error}: no variable is left in it") from error
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise SolverError(f"only linear models can be solved: {error}") from error
    if len(form.objectives) > 1:
        names = ", ".join(objective.name for objective in form.objectives)
        raise SolverError(f"a model needs one active objective, this one has {names}")
    return form


def _arrays(form: LinearForm, model: pyo.ConcreteModel) -> Compiled:
    lower, upper, integer = _column_bounds(form.columns)
    matrix = form.matrix
    matrix.sort_indices()
    return Compiled(
        start=matrix.indptr.astype(np.int32),
        index=matrix.indices.astype(np.int32),
        value=matrix.data.astype(float),
        row_lower=form.lower,
        row_upper=form.upper,
        col_lower=lower,
        col_upper=upper,
        cost=form.cost,
        offset=form.offset,
        integer=integer,
        rows=Labels(form.constraints, _key, model),
        columns=Labels(form.columns, _key, model),
        sign=form.sign,
    )


def _cost(form: Any) -> Floats:
    if not form.objectives:
        return np.zeros(len(form.columns))
    return np.asarray(form.c.toarray(), dtype=float).reshape(-1)


def _rows(form: Any) -> tuple[sparse.csc_array, Sequence[Any], Floats, Floats]:
    """Sides of all rows; the two halves of a row with two sides become one again."""
    side = np.array([row.bound_type for row in form.rows], dtype=np.int8)
    constraints = [row.constraint for row in form.rows]
    rhs = np.array(form.rhs, dtype=float)
    lower = np.where(side == UPPER_SIDE, -np.inf, rhs)
    upper = np.where(side == LOWER_SIDE, np.inf, rhs)
    second = np.flatnonzero((side[1:] == LOWER_SIDE) & (side[:-1] == UPPER_SIDE)) + 1
    second = np.array([i for i in second if constraints[i] is constraints[i - 1]], dtype=np.int64)
    matrix = sparse.csc_array(form.A)
    matrix.eliminate_zeros()
    if not len(second):
        return matrix, constraints, lower, upper
    lower[second - 1] = lower[second]
    keep = np.ones(len(side), dtype=bool)
    keep[second] = False
    kept = [constraint for constraint, stays in zip(constraints, keep, strict=True) if stays]
    return _only_rows(matrix, keep), kept, lower[keep], upper[keep]


def _only_rows(matrix: sparse.csc_array, keep: Bools) -> sparse.csc_array:
    return sparse.csc_array(sparse.csr_array(matrix)[np.flatnonzero(keep)])


def _column_bounds(columns: Sequence[Any]) -> tuple[Floats, Floats, Bools]:
    """Bounds as numbers, with those of the domains, and which columns are whole."""
    domains = [column.domain for column in columns]
    count = len(columns)
    spans = {id(domain): _whole(domain) for domain in _distinct(domains)}
    integer = np.fromiter((spans[id(domain)] for domain in domains), bool, count)
    try:
        bounds = [column.bounds for column in columns]
    except ValueError as error:  # Pyomo's word for a bound that is no number
        raise SolverError(f"the model has unusable numbers: {error}") from error
    lower, upper = zip(*bounds, strict=True) if bounds else ((), ())
    return _sides(lower, -np.inf), _sides(upper, np.inf), integer


def _sides(sides: Sequence[float | None], absent: float) -> Floats:
    return np.array([absent if side is None else side for side in sides], dtype=float)


def _distinct(domains: Sequence[Any]) -> list[Any]:
    return list({id(domain): domain for domain in domains}.values())


def _whole(domain: Any) -> bool:
    """Whether a domain holds whole numbers only."""
    _, _, step = domain.get_interval() if hasattr(domain, "get_interval") else (0, 0, None)
    if step not in (0, 1):
        raise SolverError(f"variables may be continuous or whole numbers, not of domain {domain}")
    return bool(step == 1)


def _key(data: Any) -> Key:
    component = data.parent_component()
    index = data.index()
    return component.name, index


def family_positions(compiled: Compiled, component: Any) -> dict[Any, int]:
    """Row or column position by index of a Pyomo constraint or variable."""
    labels = compiled.columns if component.ctype.__name__ == "Var" else compiled.rows
    return labels.positions(component.name)


def vector(compiled: Compiled, component: Any, x: Floats) -> tuple[list[Any], Floats]:
    """Indices and values of one variable family in a solution."""
    positions = family_positions(compiled, component)
    places: Ints = np.fromiter(positions.values(), np.int64, len(positions))
    return list(positions), x[places]
