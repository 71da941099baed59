"""Options of a solve, checked before the solver sees them.

HiGHS answers an unknown or refused option with a return code that callers tend to drop, and goes
on without it; here each one is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from fleetplan.errors import SolverError

if TYPE_CHECKING:
    import highspy

OptionValue = bool | int | float | str
Recipe = Literal["auto", "mip", "restrict"]

OURS = {
    "time_limit": "time_limit_s",
    "threads": "threads",
    "random_seed": "seed",
    "mip_rel_gap": "gap_rel",
    "mip_abs_gap": "gap_abs",
    "objective_target": "gap_rel",
}
"""HiGHS options that :class:`SolveOptions` sets by itself, with the field to use instead."""

TIGHTEST_TOLERANCE = 1e-8
"""Tighter tolerances make feasible models infeasible
(https://github.com/ERGO-Code/HiGHS/issues/3258)."""

HIDDEN_OPTIONS = ("iis_strategy", "iis_time_limit")
"""Options that HiGHS has but does not list."""


@dataclass(frozen=True)
class SolveOptions:
    """How to solve. The defaults give the same plan on every machine."""

    gap_rel: float = 1e-3
    """Stop when objective - bound <= gap_rel x |objective|."""
    gap_abs: float = 1e-6
    """Stop when objective - bound <= gap_abs, in the unit of the objective."""
    time_limit_s: float | None = None
    """Wall-clock limit for the whole solve; one that is reached makes the result not reproducible."""
    threads: int = 1
    seed: int = 0
    recipe: Recipe = "auto"
    """``mip``: HiGHS' own search; ``restrict``: bound from the relaxation, then restricted search;
    ``auto``: by size."""
    small_columns: int = 2_500
    """Up to this number of columns ``auto`` means ``mip``."""
    grace_s: float = 20.0
    """Time after a limit or an interruption in which HiGHS must come back before it is left alone."""
    highs: Mapping[str, OptionValue] = field(default_factory=dict)
    """Further HiGHS options by name."""

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.gap_rel < 0 or self.gap_abs < 0:
            raise SolverError("a gap cannot be negative")
        if self.time_limit_s is not None and not self.time_limit_s > 0:
            raise SolverError(f"a time limit must be above 0 s, got {self.time_limit_s}")
        if self.threads < 1:
            raise SolverError(f"threads must be at least 1, got {self.threads}")
        if self.recipe not in ("auto", "mip", "restrict"):
            raise SolverError(f"recipe {self.recipe!r} is none of auto, mip, restrict")

    def allowed_gap(self, objective: float) -> float:
        """Largest distance between objective and bound that counts as proven."""
        return max(self.gap_abs, self.gap_rel * abs(objective))

    def asked_of_highs(self) -> dict[str, OptionValue]:
        """The planner's HiGHS options, checked against what this class sets by itself."""
        for name in self.highs:
            if name in OURS:
                raise SolverError(f"solver option {name} is set by {OURS[name]} of the solve options")
        return dict(self.highs)


def set_option(highs: highspy.Highs, name: str, value: OptionValue) -> None:
    """Set one HiGHS option, or raise ``SolverError`` that says why it was refused."""
    import highspy

    known, kind = highs.getOptionType(name)
    if known != highspy.HighsStatus.kOk:
        raise SolverError(f"HiGHS {highs.version()} has no option {name!r}{_nearest(name)}")
    if name.endswith("tolerance") and float(value) < TIGHTEST_TOLERANCE:
        raise SolverError(f"{name} = {value} is below {TIGHTEST_TOLERANCE}, where feasible models fail")
    if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
        wanted = str(kind).rpartition(".k")[2].lower()
        raise SolverError(
            f"HiGHS {highs.version()} refuses {name} = {value!r}: not a {wanted} in its range, "
            "or a part that this build lacks"
        )


def _nearest(name: str) -> str:
    import highspy

    names = [known for known in dir(highspy.HighsOptions()) if not known.startswith("_")]
    near = difflib.get_close_matches(name, [*names, *HIDDEN_OPTIONS], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
