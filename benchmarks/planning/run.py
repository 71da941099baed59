"""Tables of build, hand-off and solve, each measurement in a process of its own.

python -m benchmarks.planning.run build M L                 # our path, Pyomo's own paths, the floor
python -m benchmarks.planning.run build L --linopy PYTHON   # and linopy, in an environment that has it
python -m benchmarks.planning.run solve M L --seeds 5       # to 0.1 % (XL: 1 %)
python -m benchmarks.planning.run solve L --caps 3 --seeds 1
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

Facts = dict[str, Any]


def measured(path: str, size: str, seed: int, caps: int, python: str, limit_s: float | None = None) -> Facts:
    """Run one measurement in a child process."""
    command = [python, "-m", "benchmarks.planning.measure", path, size, str(seed), str(caps)]
    command += [] if limit_s is None else [str(limit_s)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{child.stderr}")
    facts: Facts = json.loads(child.stdout.splitlines()[-1])
    return facts


def median(runs: list[Facts], key: str) -> float:
    return float(statistics.median(run[key] for run in runs))


def build(args: argparse.Namespace) -> None:
    """Core families: CPU seconds of index tables, rows and hand-off; memory over the start."""
    paths = dict.fromkeys(["floor", "ours", "appsi", "textbook"], sys.executable)
    paths |= {"linopy": args.linopy} if args.linopy else {}
    print("| size | path | nonzeros | index s | build s | hand-off s | total s | µs/nonzero | MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in args.sizes:
        totals = {}
        for path, python in paths.items():
            runs = [measured(path, size, seed, args.caps, python) for seed in range(args.seeds)]
            parts = [median(runs, f"{phase}_cpu_s") for phase in ("index", "build", "handoff")]
            entries, memory = median(runs, "entries"), median(runs, "over_start_mb")
            cells = [f"{part:.2f}" for part in [*parts, sum(parts)]]
            totals[path] = sum(parts)
            per_entry = 1e6 * sum(parts) / entries
            print(
                f"| {size} | {path} | {entries:,.0f} | {' | '.join(cells)} | {per_entry:.1f} | {memory:.0f} |",
                flush=True,
            )
        print(f"\n{size}: ours takes " + ", ".join(_ratios(totals)) + "\n", flush=True)


RIVALS = {
    "textbook": "Pyomo's own default path (textbook rules, appsi_highs)",
    "appsi": "our rules handed over by appsi_highs",
    "linopy": "linopy",
    "floor": "the floor (numpy and scipy)",
}


def _ratios(totals: dict[str, float]) -> list[str]:
    """What our path takes of each of the others."""
    return [f"{totals['ours'] / totals[path]:.2f} of {RIVALS[path]}" for path in RIVALS if path in totals]


def solve(args: argparse.Namespace) -> None:
    """The whole model: how good, proven by what, and how long."""
    print(
        "| size | caps | seed | columns | integer gap | proven by | build s | solve s | CPU s | peak MB | phases |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for size in args.sizes:
        runs = []
        for seed in range(args.seeds):
            run = measured("solve", size, seed, args.caps, sys.executable, args.limit)
            runs.append(run)
            gap = "none" if run["gap"] is None else f"{run['gap']:.4%}"
            phases = " ".join(f"{name} {seconds}" for name, seconds in run["phases_s"].items())
            seconds = " | ".join(f"{run[key]:.1f}" for key in ("build_s", "solve_s", "solve_cpu_s"))
            print(
                f"| {size} | {args.caps} | {seed} | {run['columns']:,} | {gap} | {run['bound_source']} "
                f"| {seconds} | {run['peak_mb']:.0f} | {phases} |",
                flush=True,
            )
        wall, cpu = median(runs, "solve_s"), median(runs, "solve_cpu_s")
        print(f"| {size} | {args.caps} | median | | | | | {wall:.1f} | {cpu:.1f} | | |", flush=True)


def main() -> None:
    """Read the command line and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["build", "solve"])
    parser.add_argument("sizes", nargs="+", choices=["S", "M", "L", "XL"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--caps", type=int, choices=[1, 3], default=1)
    parser.add_argument("--linopy", metavar="PYTHON", help="a Python that has linopy and the project's needs")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds per solve")
    args = parser.parse_args()
    {"build": build, "solve": solve}[args.what](args)


if __name__ == "__main__":
    main()
