"""Whether a scenario has one plan: under three hash seeds, with shuffled inputs, from another folder.

    python -m benchmarks.planning.same_plan                     # the public scenario, to 0.1 %
    python -m benchmarks.planning.same_plan plans/mine --gap 0.005

Every way is a process of its own that loads, plans and audits; a line shows the fingerprint of all
tables of its plan, and the names of those that differ from the first. Exit code 1 if any does.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from fleetplan import optimize
from fleetplan.inputs.sources import find_scenario

Prints = dict[str, str]
HASH_SEEDS = ("0", "1", "2")


def fingerprints(folder: str, gap: float) -> Prints:
    """Fingerprint of each table of the folder's plan."""
    plan = optimize(folder, gap=gap)
    return {
        name: hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
        for name, frame in sorted(plan.tables.items())
    }


def shuffled(home: Path, folder: Path) -> Path:
    """A copy with the rows of every table in another order."""
    shutil.copytree(home, folder)
    for number, path in enumerate(sorted(folder.glob("*.csv"))):
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header, *rows = list(csv.reader(lines))
        Random(number).shuffle(rows)
        with path.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([header, *rows])
    return folder


def ways(home: Path, work: Path) -> Iterator[tuple[str, Path, str]]:
    """Name, folder and hash seed of every way."""
    yield from ((f"hash seed {seed}", home, seed) for seed in HASH_SEEDS)
    yield "rows shuffled", shuffled(home, work / "shuffled"), "0"
    shutil.copytree(home, work / "a folder elsewhere")
    yield "another folder", work / "a folder elsewhere", "0"


def run(folder: Path, seed: str, gap: float) -> Prints:
    """Fingerprints from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.planning.same_plan", str(folder), "--gap", str(gap), "--one"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    child = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{child.stderr}")
    made: Prints = json.loads(child.stdout.splitlines()[-1])
    return made


def compare(home: Path, gap: float) -> bool:
    """Print one line for each way; whether all plans are the same."""
    first: Prints | None = None
    same = True
    with tempfile.TemporaryDirectory() as work:
        for name, folder, seed in ways(home, Path(work)):
            prints = run(folder, seed, gap)
            first = first or prints
            other = [table for table in prints if prints[table] != first.get(table)]
            total = hashlib.sha256(json.dumps(prints, sort_keys=True).encode()).hexdigest()[:16]
            verdict = "differs in " + ", ".join(other) if other else "the same"
            print(f"{name:16} {len(prints)} tables {total} {verdict}", flush=True)
            same = same and not other
    return same


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenario", nargs="?", default="public-2026")
    parser.add_argument("--gap", type=float, default=0.001)
    parser.add_argument("--one", action="store_true", help="print the fingerprints of this one as JSON")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(fingerprints(args.scenario, args.gap)))
    elif not compare(find_scenario(args.scenario), args.gap):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
