"""The one error tree of fleetplan, with an exit code for each kind.

::

    FleetplanError                 1   (never raised itself)
    ├── UsageError                 2   the command line is off
    ├── InputError                 3   faults in what the planner wrote; carries every Fault
    ├── InfeasibleError            4   no plan can satisfy the limits
    ├── UnboundedError             5   the cost has no lower bound
    ├── LimitError                 6   a limit was reached before there was a plan
    ├── SolverError                8   the solver or the machine failed
    │   └── MissingExtraError      8   an optional part is not installed
    ├── AuditError                 8   a plan does not re-add: a fault of fleetplan, never of the input
    └── Interrupted              130   stopped by the user
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong (or suspicious) in one place of the input.

    ``file`` is the path as the planner would type it; ``line`` and ``column`` count from 1 and are
    ``None`` where the fault is about a whole file. ``column`` may also be named by ``field``, the
    header or YAML key. ``rule`` is the id of the rule (``E…`` for errors, ``W…`` for warnings),
    ``message`` says what is wrong and ``fix`` what would be right.
    """

    file: str
    line: int | None
    column: int | None
    rule: str
    field: str
    message: str
    fix: str = ""

    @property
    def severity(self) -> Severity:
        """Errors stop the run; warnings do not."""
        return "warning" if self.rule.startswith("W") else "error"

    @property
    def place(self) -> str:
        """``file:line:column`` as far as known, in the form editors can open."""
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n is not None)])

    def __str__(self) -> str:
        """One line: place, field, rule, message, fix."""
        parts = [self.place, self.field, f"{self.rule} {self.message}", self.fix]
        return "  ".join(part for part in parts if part)


class FleetplanError(Exception):
    """Root of all errors that fleetplan raises on purpose."""

    exit_code = 1


class UsageError(FleetplanError):
    """A command or call was used wrongly."""

    exit_code = 2


class InputError(FleetplanError):
    """The input has faults; ``faults`` holds all of them, in reading order."""

    exit_code = 3

    def __init__(self, faults: Iterable[Fault] | Fault) -> None:
        """Take one fault or all that one pass found."""
        self.faults = [faults] if isinstance(faults, Fault) else sorted(faults, key=_reading_order)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    @classmethod
    def at(cls, file: str | Path, rule: str, message: str, fix: str = "") -> InputError:
        """Build an error about a whole file."""
        return cls(Fault(str(file), None, None, rule, "", message, fix))


class InfeasibleError(FleetplanError):
    """No plan satisfies the limits."""

    exit_code = 4


class UnboundedError(FleetplanError):
    """The objective has no lower bound: some income is not limited."""

    exit_code = 5


class LimitError(FleetplanError):
    """A time, node or memory limit was reached before any plan was found."""

    exit_code = 6


class SolverError(FleetplanError):
    """The solver, its options or the environment failed."""

    exit_code = 8


class MissingExtraError(SolverError):
    """A part that needs an optional dependency was used without it."""

    def __init__(self, what: str, extra: str) -> None:
        """Name the part and the extra that brings it."""
        super().__init__(f"{what} needs an optional part: pip install 'fleetplan[{extra}]'")


class AuditError(FleetplanError):
    """A plan's tables do not re-add; the plan must not be used."""

    exit_code = 8


class Interrupted(FleetplanError):  # noqa: N818 - an event, not an error
    """The user stopped the run."""

    exit_code = 130


def _reading_order(fault: Fault) -> tuple[str, int, int, str]:
    return (fault.file, fault.line or 0, fault.column or 0, fault.rule)
