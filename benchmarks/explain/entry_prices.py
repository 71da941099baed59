"""The stated entry price of each accelerator that is offered and not bought, against solves on either side.

python -m benchmarks.explain.entry_prices reports/mine --search vr200

Each is made again from the changed price on, a hundredth below and above: by the relaxation, and for those named
with ``--search`` by a search with whole lots too.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fleetplan.explain.case import WHOLE, Case, parts
from fleetplan.explain.entry import CLOSE, Entry, changed, find_entry
from fleetplan.explain.held import solved_again
from fleetplan.explain.why_not import not_bought
from fleetplan.plan.plan import Plan
from fleetplan.solving.linear import relaxation

COLUMNS = (
    "accelerator", "today, M USD", "enters at, M USD", "of today", "saves at most there, M USD",
    "racks 1 % below", "racks 1 % above", "whole lots: 1 % below", "1 % above", "seconds", "verdict",
)  # fmt: skip


def main() -> int:
    """Print one row per accelerator as it is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--search", nargs="*", default=[], help="accelerators that are searched for too")
    asked = parser.parse_args()
    plan = Plan.load(asked.plan)
    case = Case.of_plan(plan)
    result = solved_again(case, plan)
    names = not_bought(case, result)
    gap = f"gap {result.gap_abs:,.3f} M USD"
    print(f"plan {result.objective:,.3f} M USD, {gap}; not bought: {', '.join(names)}")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for name in names:
        began = time.perf_counter()
        entry = find_entry(case, name, "price", whole=name in asked.search)
        fresh = [] if entry.enters is None else [_racks(case, name, entry.enters.factor * f) for f in SIDES]
        print(_row(name, entry, fresh, time.perf_counter() - began), flush=True)
    return 0


SIDES = (1 / CLOSE, CLOSE)


def _racks(case: Case, name: str, factor: float) -> float:
    """Racks beyond the commitments in the relaxation of a model made anew at the changed price."""
    again = changed(case, name, "price", factor)
    x = relaxation(again.compiled, again.settings, basis=True).x
    lots = again.compiled.columns.positions("lots")
    table = again.model.indices.deliveries.table
    least = float(table.loc[table["accelerator"] == name, "least_lots"].sum())
    found = sum(float(x[at]) for key, at in lots.items() if parts(key)[1] == name) - least
    return found * again.lot_racks(name)


def _row(name: str, entry: Entry, fresh: list[float], seconds: float) -> str:
    if entry.enters is None:
        return f"| {name} | {entry.today:.4g} | {entry} |" + " |" * 6 + f" {seconds:.0f} | no price |"
    right = fresh[0] > WHOLE >= fresh[1]
    whole = [f"{trial.racks:,.0f}" for trial in entry.around] if entry.by == "relaxation" else []
    cells = [
        name,
        f"{entry.today:.4g}",
        f"{entry.today * entry.enters.factor:.4g}",
        f"{entry.enters.factor:.1%}",
        "" if entry.saves_musd is None else f"{entry.saves_musd:,.3f}",
        *(f"{racks:,.1f}" for racks in fresh),
        *[*whole, "", ""][:2],
        f"{seconds:.0f}",
        "right" if right else "wrong",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
