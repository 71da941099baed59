"""Where a solved neighbour ended, as the start of another solve: by the names of rows and columns.

Cases of one study are alike but need not have the same rows and columns. A basis is therefore kept
by name: what both have starts where the neighbour ended, what is new starts at rest, and HiGHS
repairs the rest. A start changes how long a solve takes, never what is proven about its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy

from fleetplan.solving.highs import Outcome, Session
from fleetplan.solving.linear import INTERIOR_FROM_COLUMNS, relaxation
from fleetplan.solving.status import Status
from fleetplan.solving.tighten import with_whole_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fleetplan.solving.arrays import Compiled, Key
    from fleetplan.solving.options import SolveOptions

ITERATIONS_PER_ROW = 1.0
"""From this many simplex iterations per row on, a fresh interior-point run is the faster way."""
_BASIC = int(highspy.HighsBasisStatus.kBasic)
_LOWER = int(highspy.HighsBasisStatus.kLower)


@dataclass(frozen=True)
class Start:
    """The optimal basis of a neighbour's linear relaxation, as HiGHS' status numbers."""

    columns: Mapping[Key, int]
    rows: Mapping[Key, int]


def make_start(compiled: Compiled, options: SolveOptions) -> Start:
    """Solve the linear relaxation to a basis. Raises as :func:`.linear.relaxation` does.

    A large model gets no basis: crossover after the interior-point method takes longer (more than
    four minutes on 65 thousand columns) than all that a basis could save.
    """
    if compiled.shape[1] >= INTERIOR_FROM_COLUMNS:
        return Start({}, {})
    solution = relaxation(with_whole_limits(compiled), options, basis=True)
    basis = solution.basis
    columns = [int(status) for status in basis.col_status]
    rows = [int(status) for status in basis.row_status]
    return Start(
        dict(zip(compiled.columns.keys, columns, strict=True)),
        dict(zip(compiled.rows.keys, rows, strict=True)),
    )


def run_from(
    start: Start,
    compiled: Compiled,
    options: SolveOptions,
    time_limit_s: float | None,
    listener: Callable[[float, float], None] | None = None,
) -> Outcome | None:
    """Solve the relaxation from the start's basis; ``None`` without one and where it takes too long.

    The limit is on iterations, not on time, so that the result is the same on every machine.
    """
    if not start.columns:
        return None
    limit = max(500, int(ITERATIONS_PER_ROW * compiled.shape[0]))
    asked = {"solver": "simplex", "simplex_iteration_limit": limit, **options.asked_of_highs()}
    session = Session(compiled.relaxed(), asked, threads=options.threads, seed=options.seed)
    session.use_basis(_basis(start, compiled))
    outcome = session.run(time_limit_s, listener, options.grace_s)
    return outcome if outcome.status is Status.OPTIMAL else None


def _basis(start: Start, compiled: Compiled) -> highspy.HighsBasis:
    known = highspy.HighsBasisStatus
    words = {
        int(word): word for word in (known.kLower, known.kBasic, known.kUpper, known.kZero, known.kNonbasic)
    }
    basis = highspy.HighsBasis()
    basis.col_status = [words[start.columns.get(key, _LOWER)] for key in compiled.columns.keys]
    basis.row_status = [words[start.rows.get(key, _BASIC)] for key in compiled.rows.keys]
    basis.valid, basis.alien = True, True
    return basis
