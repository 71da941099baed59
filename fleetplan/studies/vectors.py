"""What a plan is judged by, as one coefficient per column: tonnes, samples, megawatts, racks.

The coefficients come from the planning model's own terms and rows, so that what a study limits is
what the plan's tables say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.errors import AuditError

if TYPE_CHECKING:
    from fleetplan.api import Problem
    from fleetplan.solving.arrays import Compiled, Floats
    from fleetplan.solving.result import Result
    from fleetplan.studies.workshop import Workshop


def compiled_order(problem: Problem, by_column: Floats) -> Floats:
    """Coefficients by the model's columns, in the order of the arrays."""
    place = {key: j for j, key in enumerate(problem.compiled.columns.keys)}
    made = np.zeros(problem.compiled.shape[1])
    for value, column in zip(by_column.tolist(), problem.model.form.columns, strict=True):
        at = place.get((column.parent_component().name, column.index()))
        if at is not None:
            made[at] = value
        elif value:
            message = f"{column.parent_component().name} has a coefficient and is not in the arrays"
            raise AuditError(message)
    return made


def carbon_tonnes(workshop: Workshop, problem: Problem) -> Floats:
    """Tonnes CO2e, operational and embodied, per unit of each column of the arrays.

    Read from the cost terms of the same model at a price of 1 M USD per tonne.
    """
    scenario = problem.scenario
    priced = scenario.model_copy(
        update={
            "carbon": scenario.carbon.model_copy(update={"price_usd_per_t": 1e6}),
            "rules": scenario.rules.model_copy(update={"price_carbon": True, "use_tax": False}),
        }
    )
    model = workshop.problem(priced, options=problem.options).model
    terms = model.terms[model.terms["item"] == "carbon"]
    total = np.zeros(len(problem.model.form.columns))
    np.add.at(total, terms["col"].to_numpy(dtype=np.int64), terms["amount"].to_numpy(dtype=float))
    return compiled_order(problem, total)


def short_samples(problem: Problem) -> Floats:
    """Samples never trained, in units of samples/s x quarters, per unit of each column."""
    ix, short = problem.model.indices, problem.model.work.short
    lengths = {period.name: period.quarters for period in ix.calendar.horizon}
    scale = short.keys["workload"].map(ix.choices.scale) * short.keys["period"].map(lengths)
    total = np.zeros(len(problem.model.form.columns))
    total[short.cols] = scale.to_numpy(dtype=float)
    return compiled_order(problem, total)


def megawatts(problem: Problem) -> list[Floats]:
    """Facility MW of all sites together per unit of each column, one vector for each period."""
    modes = problem.model.power.modes
    found = []
    for _, rows in modes.groupby("t", sort=True):
        total = np.zeros(len(problem.model.form.columns))
        np.add.at(total, rows["col"].to_numpy(dtype=np.int64), rows["kw"].to_numpy(dtype=float) / 1000)
        found.append(compiled_order(problem, total))
    return found


def landed(problem: Problem) -> pd.DataFrame:
    """Where each landing's lots are in the arrays: hall, accelerator, delivery, lot (racks), column.

    ``committed`` are the lots of the delivery (over all halls) that come in any case; ``orderable`` says whether a new order can still arrive, ``order`` is the last quarter (ordinal)
    in which it can be placed.
    """
    model = problem.model
    table, landings = model.indices.deliveries.table, model.indices.deliveries.landings
    d = landings["delivery"].to_numpy(dtype=np.int64)
    frame = model.supply.lots.keys[["hall", "accelerator", "delivery"]].copy()
    frame["lot"] = model.supply.lot
    frame["orderable"] = table["orderable"].to_numpy(dtype=bool)[d]
    frame["committed"] = table["least_lots"].to_numpy(dtype=float)[d]
    frame["order"] = (table["delivery"] - table["lead"]).to_numpy(dtype=np.int64)[d]
    places = problem.compiled.columns.positions("lots")
    keys = zip(frame["hall"], frame["accelerator"], frame["delivery"], strict=True)
    frame["column"] = [places.get(key, -1) for key in keys]
    return frame[frame["column"] >= 0].reset_index(drop=True)


def as_plan_result(compiled: Compiled, result: Result) -> Result:
    """A solution of a bent problem (more rows, columns or another objective) as one of the plain one.

    Objective and bound are cost again; the bound holds where the bent problem's objective was cost,
    and is left out otherwise.
    """
    assert result.x is not None
    x = result.x[: compiled.shape[1]]
    return replace(result, x=x, objective=compiled.objective(x), bound=-np.inf, bound_source="none")
