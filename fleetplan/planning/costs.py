"""Cost terms: every M USD of the objective is noted once, with what it is, when, and what causes it.

The objective is the sum of these terms and the ledger is their value in a solution, so that the two
cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fleetplan.planning.form import Floats

Names = str | Sequence[str] | NDArray[Any]
"""One name for all columns, or one for each."""


@dataclass
class CostBook:
    """Cost terms by column. ``factors`` are present values by period; the last one is for the end.

    The period number equal to the count of periods stands for the end of the horizon.
    """

    factors: Floats
    _parts: list[pd.DataFrame] = field(default_factory=list)

    def add(
        self,
        item: str,
        cols: ArrayLike,
        period: ArrayLike,
        amount: ArrayLike,
        *,
        cause: Names,
        detail: Names = "",
    ) -> None:
        """Note nominal M USD per unit of each column in a period; income is negative."""
        part = pd.DataFrame({"col": np.asarray(cols, dtype=np.int64)})
        part["period"] = np.asarray(period, dtype=np.int64)
        part["amount"] = np.asarray(amount, dtype=float)
        part["item"] = item
        part["cause"] = cause
        part["detail"] = detail
        self._parts.append(part[part["amount"] != 0.0])

    def terms(self) -> pd.DataFrame:
        """All terms: col, period, amount, item, cause, detail."""
        parts = [part for part in self._parts if len(part)]
        if not parts:
            return pd.DataFrame(columns=["col", "period", "amount", "item", "cause", "detail"])
        return pd.concat(parts, ignore_index=True)

    def coefficients(self, terms: pd.DataFrame, count: int) -> Floats:
        """Present value per unit of each of ``count`` columns."""
        if terms.empty:
            return np.zeros(count)
        cols, period = terms["col"].to_numpy(), terms["period"].to_numpy()
        weights = terms["amount"].to_numpy() * self.factors[period]
        return np.bincount(cols, weights=weights, minlength=count).astype(float)
