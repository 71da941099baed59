"""The stated value of one more megawatt against re-runs from the changed input on.

python -m benchmarks.explain.next_mw reports/mine --pairs 10 --search 1
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fleetplan.explain.case import Case
from fleetplan.explain.clock import Clock
from fleetplan.explain.held import solved_again
from fleetplan.explain.prices import Confirmation, Value, more_of, prices, rerun
from fleetplan.plan.plan import Plan

if TYPE_CHECKING:
    from fleetplan.solving.result import Result

COLUMNS = (
    "site, quarter", "stated USD/MW", "re-run USD/MW", "lots held, stated", "lots held, re-run",
    "whole lots: from", "to", "seconds", "verdict",
)  # fmt: skip


def main() -> int:
    """Print one row per pair as it is found."""
    asked = _arguments()
    plan = Plan.load(asked.plan)
    case = Case.of_plan(plan)
    result = solved_again(case, plan)
    found = prices(case, result, confirm=0).of("power")[: asked.pairs]
    print(f"plan {result.objective:,.3f} M USD, gap {result.gap_abs:,.3f} M USD, {len(found)} pairs")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    agree = 0
    for value in found:
        began = time.perf_counter()
        confirmed = rerun(case, result, value, Clock())
        agree += confirmed.agrees
        print(_row(value, confirmed, time.perf_counter() - began), flush=True)
    print(f"{agree} of {len(found)} agree; the others are labelled in the answer")
    for value in found[: asked.search]:
        _searched(case, result, value)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--search", type=int, default=0, help="pairs that are searched again with whole lots")
    return parser.parse_args()


def _row(value: Value, found: Confirmation, seconds: float) -> str:
    free = found.fresh_relaxed_musd
    cells = [
        f"{value.place[0]}, {value.place[1]}",
        _usd(value.may_change_musd),
        "" if free is None else _usd(free),
        _usd(value.held_musd),
        _usd(found.observed_musd),
        _usd(found.low_musd),
        _usd(found.high_musd),
        f"{seconds:.0f}",
        "agrees" if found.agrees else "differs, and is labelled",
    ]
    return "| " + " | ".join(cells) + " |"


def _usd(musd: float) -> str:
    return f"{musd * 1e6:,.0f}"


def _searched(case: Case, before: Result, value: Value) -> None:
    """What a search with whole lots finds: anything within its gap."""
    began = time.perf_counter()
    after = case.with_inputs(more_of(case.scenario, value)).solve()
    assert before.objective is not None
    assert after.objective is not None
    low, high = before.bound - after.objective, before.objective - after.bound
    inside = low <= value.may_change_musd <= high
    print(
        f"search anew with one more MW at {value.place[0]} in {value.place[1]}: plan {after.objective:,.3f} M USD, "
        f"so that the MW is worth {low:,.3f} to {high:,.3f} M USD; stated {value.may_change_musd:,.3f} M USD is "
        f"{'inside' if inside else 'outside'}; {time.perf_counter() - began:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
