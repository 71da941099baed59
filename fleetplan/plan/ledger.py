"""The ledger: every cost term of the objective times its column's value, summed by item and cause."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fleetplan.plan.orders_table import committed_share
from fleetplan.plan.solved import Solved

KEYS = ["item", "t", "cause", "detail"]
AT_THE_END = "at the end of the horizon"


def ledger(solved: Solved) -> pd.DataFrame:
    """Rows of :data:`fleetplan.plan.schema.LEDGER`; ``npv_musd`` sums to the objective."""
    terms = solved.model.terms
    rows = pd.DataFrame(
        {
            "item": terms["item"],
            "t": terms["period"],
            "cause": terms["cause"],
            "detail": terms["detail"],
            "amount_musd": terms["amount"].to_numpy(dtype=float) * solved.at(terms["col"]),
        }
    )
    rows["sunk"] = False
    rows = _sunk_apart(solved, terms, rows)
    rows = rows[rows["amount_musd"] != 0.0]
    sums = rows.groupby([*KEYS, "sunk"])["amount_musd"].sum().reset_index()
    return _discounted(solved, sums)


def _sunk_apart(solved: Solved, terms: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Split what buys commitments, which no decision changes, from what buys more."""
    lots, odd = solved.model.supply.lots, solved.model.supply.odd
    share = np.zeros(len(solved.x))
    share[lots.cols] = committed_share(solved)
    share[odd.cols] = 1.0
    if "sunk" in solved.model.form.blocks:
        share[solved.model.form.blocks["sunk"].cols] = 1.0
    bought = rows["item"].isin(["capex", "deployment", "end value"]).to_numpy()
    part = np.where(bought, share[terms["col"].to_numpy(dtype=np.int64)], 0.0)
    sunk = rows[part > 0].copy()
    sunk["amount_musd"] *= part[part > 0]
    sunk["detail"] = [text if text == "not in service" else f"{text}, committed" for text in sunk["detail"]]
    sunk["sunk"] = True
    free = rows.copy()
    free["amount_musd"] *= 1 - part
    return pd.concat([free, sunk], ignore_index=True)


def _discounted(solved: Solved, sums: pd.DataFrame) -> pd.DataFrame:
    t = sums["t"].to_numpy(dtype=np.int64)
    end = (t == len(solved.ix.calendar)) & (sums["item"] != "end value").to_numpy()
    plain = sums["detail"].tolist()
    sums["detail"] = [
        ", ".join(filter(None, [text, AT_THE_END])) if late else text
        for text, late in zip(plain, end, strict=True)
    ]
    sums["period"] = solved.period(t)
    sums["discount_factor"] = solved.model.factors[t]
    sums["npv_musd"] = sums["amount_musd"] * sums["discount_factor"]
    return sums.drop(columns="t")
