"""A solved planning model: its columns' values, ready to be read into tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fleetplan.planning.calendar import quarter_name

if TYPE_CHECKING:
    from fleetplan.planning.form import Block, Floats, Ints
    from fleetplan.planning.indices import Indices
    from fleetplan.planning.model import PlanningModel
    from fleetplan.solving.arrays import Compiled

TRACE = 1e-7
"""Racks (or rack equivalents) below this are rounding of the solver and get no row."""


@dataclass(frozen=True)
class Solved:
    """A model and the value of each of its columns."""

    model: PlanningModel
    x: Floats

    @property
    def ix(self) -> Indices:
        """The index tables."""
        return self.model.indices

    def of(self, block: Block) -> Floats:
        """Values of one family."""
        return self.x[block.offset : block.offset + len(block)]

    def at(self, cols: pd.Series) -> Floats:
        """Values of global columns."""
        return np.asarray(self.x[cols.to_numpy(dtype=np.int64)])

    def period(self, t: pd.Series | Ints) -> list[str]:
        """Names of periods by number."""
        return self.ix.calendar.name_at(np.asarray(t, dtype=np.int64))

    @cached_property
    def cohorts(self) -> pd.DataFrame:
        """The cohort table with the vintage's name."""
        cohorts = self.ix.cohorts.cohorts
        return cohorts.assign(vintage_name=[quarter_name(v) for v in cohorts["vintage"].tolist()])

    @cached_property
    def leave(self) -> Floats:
        """First racks of a cohort that take each arc."""
        return self.of(self.model.fleet.leave)


def solved(model: PlanningModel, compiled: Compiled, x: Floats) -> Solved:
    """Put a solver's values in the order of the model's columns; whole numbers are made whole.

    Columns that were compiled away take the value that they rest at.
    """
    rounded = np.where(compiled.integer, np.round(x), x)
    values = dict(zip(compiled.columns.keys, rounded.tolist(), strict=True))
    found = model.values(lambda family, index: values.get((family, index)))
    return Solved(model, np.maximum(found, 0.0))


def to_compiled(model: PlanningModel, compiled: Compiled, by_column: Floats) -> Floats:
    """Put figures by column of the model in the order of the compiled columns."""
    given = {
        (data.parent_component().name, data.index()): value
        for data, value in zip(model.form.columns, by_column.tolist(), strict=True)
    }
    return np.array([given[key] for key in compiled.columns.keys], dtype=float)
