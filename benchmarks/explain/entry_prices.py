"""The stated entry price of each accelerator that is offered and not bought, against solves on either side.

python -m benchmarks.explain.entry_prices reports/mine --seconds 600
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fleetplan.errors import LimitError
from fleetplan.explain.case import Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.entry import Entry, find_entry
from fleetplan.explain.held import solved_again
from fleetplan.explain.why_not import not_bought
from fleetplan.plan.plan import Plan

COLUMNS = (
    "accelerator", "today M USD", "enters at", "of today", "saves at most M USD, 1 % below",
    "racks, 1 % below", "racks, 1 % above", "seconds", "verdict",
)  # fmt: skip


def main() -> int:
    """Print one row per accelerator as it is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--seconds", type=float, default=None, help="time for each accelerator")
    asked = parser.parse_args()
    plan = Plan.load(asked.plan)
    case = Case.of_plan(plan)
    result = solved_again(case, plan)
    names = not_bought(case, result)
    print(
        f"plan {result.objective:,.3f} M USD, gap {result.gap_abs:,.3f} M USD; not bought: {', '.join(names)}"
    )
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for name in names:
        began = time.perf_counter()
        try:
            entry = find_entry(case, name, "price", Clock.of(asked.seconds))
        except LimitError:
            print(f"| {name} | no answer in the time given |", flush=True)
            continue
        print(_row(name, entry, time.perf_counter() - began), flush=True)
    return 0


def _row(name: str, entry: Entry, seconds: float) -> str:
    if entry.enters is None:
        return f"| {name} | {entry.today:.4g} | never, {entry} | | | | | {seconds:.0f} | no price |"
    inside, outside = ([f"{t.racks:,.0f}" for t in entry.around] + ["", ""])[:2]
    saves = "" if entry.saves_musd is None else f"{entry.saves_musd:,.3f}"
    verdict = "confirmed" if entry.confirmed else "within the gap of a search" if outside else "not finished"
    cells = [
        name,
        f"{entry.today:.4g}",
        f"{entry.today * entry.enters.factor:.4g}",
        f"{entry.enters.factor:.1%}",
        saves,
        inside,
        outside,
        f"{seconds:.0f}",
        verdict,
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
