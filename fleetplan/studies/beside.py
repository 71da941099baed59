"""Solves side by side: each in a process of its own, for HiGHS uses one core.

The results are the same as one after the other: a solve has its own seed and one thread, and takes
nothing from the one before.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from fleetplan.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fleetplan.solving.arrays import Compiled
    from fleetplan.solving.options import SolveOptions
    from fleetplan.solving.result import Result
    from fleetplan.solving.warm import Start


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def solve_each(
    models: Sequence[Compiled], options: SolveOptions, start: Start | None, workers: int
) -> Iterator[Result]:
    """The result of each model in order, ``workers`` of them at a time.

    With several workers the caller's main module must be importable, as :mod:`multiprocessing` asks.
    Never raises for how a solve ends; raises ``SolverError`` where a process is lost.
    """
    work = functools.partial(solve_one, options=options, start=start)
    if min(workers, len(models)) <= 1:
        yield from map(work, models)
        return
    # HiGHS has threads of its own, which a forked process would not have.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(workers, len(models)), mp_context=context) as pool:
            yield from pool.map(work, models)
    except BrokenProcessPool as cause:
        message = f"a process was lost while {workers} solved side by side; is there memory for fewer?"
        raise SolverError(message) from cause


def solve_one(compiled: Compiled, *, options: SolveOptions, start: Start | None) -> Result:
    """One solve, as a worker does it."""
    from fleetplan.planning.rounding import whole_lots
    from fleetplan.solving.recipe import solve

    return solve(compiled, options, start=start, rounder=whole_lots)
