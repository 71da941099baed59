"""The benchmarks that need nothing but the project: ``python -m benchmarks``.

Longer ones and those that need an environment of their own are called by name, see each module's
first lines: ``benchmarks.planning.run``, ``benchmarks.performance.planner_comparison``,
``benchmarks.studies.warm_cases``, ``benchmarks.trace.large_trace``, ``benchmarks.report.large_page``.
"""

from __future__ import annotations

import subprocess
import sys

QUICK = (
    ("benchmarks.performance.evaluations",),
    ("benchmarks.planning.run", "build", "S", "M"),
    ("benchmarks.planning.run", "solve", "S", "M"),
)


def main() -> int:
    """Run each in a process of its own; the first failure's code, or 0."""
    codes = []
    for words in QUICK:
        print(f"\n== {' '.join(words)}", flush=True)
        codes.append(subprocess.run([sys.executable, "-m", *words], check=False).returncode)
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
