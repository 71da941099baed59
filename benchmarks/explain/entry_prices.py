"""The stated entry prices of each accelerator that is offered and not bought, against solves on either side.

python -m benchmarks.explain.entry_prices reports/mine

Both statements are made again from the changed price on, a hundredth below and above: what the relaxation buys,
and what one lot more costs on top of the plan.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from fleetplan.explain.case import WHOLE, Case, parts
from fleetplan.explain.clock import Clock
from fleetplan.explain.entry import CLOSE, Entry, changed, find_entry
from fleetplan.explain.first_lot import FirstLot, first_lot
from fleetplan.explain.held import relaxed_from, solved_again
from fleetplan.explain.why_not import not_bought
from fleetplan.plan.plan import Plan
from fleetplan.solving.result import Result

COLUMNS = (
    "accelerator", "today, M USD", "all orders may change: enters at, M USD", "of today", "saves at most there, M USD",
    "racks 1 % below", "racks 1 % above", "verdict", "other orders stay: one lot pays from, M USD", "of today",
    "which lot", "1 % below it costs, M USD", "1 % above it costs, M USD", "verdict", "CPU seconds",
)  # fmt: skip
SIDES = (1 / CLOSE, CLOSE)


def main() -> int:
    """Print one row per accelerator as it is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("accelerators", nargs="*", help="all that are not bought, if none is named")
    asked = parser.parse_args()
    plan = Plan.load(asked.plan)
    case = Case.of_plan(plan)
    result = solved_again(case, plan)
    names = not_bought(case, result)
    gap = f"gap {result.gap_abs:,.3f} M USD"
    print(f"plan {result.objective:,.3f} M USD, {gap}; not bought: {', '.join(names)}")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    checks = _Checks(case, result)
    for name in asked.accelerators or names:
        began = time.process_time()
        entry, first = find_entry(case, name, "price"), first_lot(case, result, name, Clock())
        cells = [name, f"{entry.today:.4g}", *_entry(checks, name, entry), *_first(checks, name, first)]
        print("| " + " | ".join([*cells, f"{time.process_time() - began:.0f}"]) + " |", flush=True)
    return 0


def _entry(checks: _Checks, name: str, entry: Entry) -> list[str]:
    if entry.enters is None:
        return [str(entry), "", "", "", "", "no price"]
    below, above = (checks.racks(name, entry.enters.factor * side) for side in SIDES)
    return [
        f"{entry.today * entry.enters.factor:.4g}",
        f"{entry.enters.factor:.1%}",
        "" if entry.saves_musd is None else f"{entry.saves_musd:,.3f}",
        f"{below:,.1f}",
        f"{above:,.1f}",
        "right" if below > WHOLE >= above else "wrong",
    ]


def _first(checks: _Checks, name: str, first: FirstLot | None) -> list[str]:
    if first is None or first.factor is None:
        return [str(first), "", "", "", "", "no price"]
    place = (first.hall, name, first.delivery)
    below, above = (checks.costs(place, first.factor * side) for side in SIDES)
    return [
        f"{first.today_musd * first.factor:.4g}",
        f"{first.factor:.1%}",
        f"{first.racks} racks, {first.hall}, {first.delivery}",
        f"{below:+,.4f}",
        f"{above:+,.4f}",
        "right" if first.confirmed and below < 0 < above else "wrong",
    ]


class _Checks:
    """The two statements from models made anew at a changed price."""

    def __init__(self, case: Case, result: Result) -> None:
        assert result.x is not None
        self._case = case
        self._whole = np.flatnonzero(case.compiled.integer)
        self._lots = np.round(result.x[self._whole])
        self._held = case.with_arrays(case.compiled.fixed(self._whole, self._lots))

    def racks(self, name: str, factor: float) -> float:
        """Racks beyond the commitments in the relaxation."""
        again = changed(self._case, name, "price", factor)
        x = relaxed_from(self._case, again.compiled).x
        lots = again.compiled.columns.positions("lots")
        table = again.model.indices.deliveries.table
        least = float(table.loc[table["accelerator"] == name, "least_lots"].sum())
        found = sum(float(x[at]) for key, at in lots.items() if parts(key)[1] == name) - least
        return found * again.lot_racks(name)

    def costs(self, place: tuple[str, str, str], factor: float) -> float:
        """What one lot more costs with all other lots of the plan held, M USD."""
        again = changed(self._case, place[1], "price", factor).compiled
        one = self._lots + (self._whole == again.columns.position("lots", place))
        with_it, without = (
            relaxed_from(self._held, again.fixed(self._whole, lots)).objective for lots in (one, self._lots)
        )
        return with_it - without


if __name__ == "__main__":
    sys.exit(main())
