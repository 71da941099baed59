"""The outcome of an audit: which identities were checked, how far each is off, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import AuditError
from fleetplan.tables import TableSpec, count, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

AUDIT = TableSpec(
    "audit",
    "checks of the plan that were made without the optimizer",
    (
        text("check", "name of the check", key=True),
        text("meaning", "what must hold"),
        count("identities", "equations", "how many equations or limits were checked"),
        number("worst_violation", "ratio", "largest violation as a multiple of the tolerance allowed there"),
        count("failures", "equations", "how many do not hold"),
        text("first_failure", "where the first one is and what was found"),
    ),
)


@dataclass(frozen=True)
class Failure:
    """One identity that does not hold: where, what the table says, and what it should say."""

    place: str
    found: float
    expected: str

    def __str__(self) -> str:
        """``orders altoona, mtia-400, 2027Q2: 3 instead of 2``."""
        return f"{self.place}: {self.found:.9g} instead of {self.expected}"


@dataclass(frozen=True)
class Check:
    """One kind of identity over all its places; ``worst`` is a multiple of the tolerance, 1 is the limit."""

    name: str
    meaning: str
    identities: int
    worst: float
    failures: tuple[Failure, ...] = ()
    failure_count: int = 0
    first_failure: str = ""

    @property
    def passed(self) -> bool:
        """Whether every identity holds."""
        return self.failure_count == 0


@dataclass(frozen=True)
class AuditReport:
    """All checks of one audit."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed; an audit without checks has proven nothing."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def identities(self) -> int:
        """Number of equations and limits that were checked."""
        return sum(check.identities for check in self.checks)

    def lines(self) -> list[str]:
        """Say the outcome in words: one line if all holds, else one per failed check."""
        if self.passed:
            return [f"audit: {len(self.checks)} checks, {self.identities:,} identities hold"]
        return [
            f"audit: {check.name} fails in {check.failure_count} of {check.identities} places; "
            f"{check.first_failure}"
            for check in self.checks
            if not check.passed
        ] or ["audit: nothing was checked"]

    def frame(self) -> pd.DataFrame:
        """Return the report as the table :data:`AUDIT`."""
        return AUDIT.frame(
            (c.name, c.meaning, c.identities, c.worst, c.failure_count, c.first_failure) for c in self.checks
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> AuditReport:
        """Inverse of :meth:`frame`; the list of single failures is not kept."""
        return cls(
            tuple(
                Check(row[0], row[1], int(row[2]), float(row[3]), (), int(row[4]), row[5])
                for row in frame.itertuples(index=False, name=None)
            )
        )


class Checker:
    """Collects the identities of one check, with one tolerance rule for all.

    An identity holds when the difference is at most ``absolute + relative x`` the larger side.
    """

    def __init__(self, name: str, meaning: str, *, absolute: float = 1e-6, relative: float = 1e-6) -> None:
        self._name, self._meaning = name, meaning
        self._absolute, self._relative = absolute, relative
        self._identities = 0
        self._worst = 0.0
        self._failures: list[Failure] = []

    def equal(self, place: str, found: float, expected: float) -> None:
        """Check that both sides are the same number; NaN never is."""
        self._judge(place, found, f"{expected:.9g}", abs(found - expected), max(abs(found), abs(expected)))

    def at_most(self, place: str, found: float, limit: float) -> None:
        """Check that the found value does not exceed the limit."""
        size = max(abs(found), abs(limit))
        self._judge(place, found, f"at most {limit:.9g}", 0.0 if found <= limit else found - limit, size)

    def at_least(self, place: str, found: float, limit: float) -> None:
        """Check that the found value is not below the limit."""
        size = max(abs(found), abs(limit))
        self._judge(place, found, f"at least {limit:.9g}", 0.0 if found >= limit else limit - found, size)

    def true(self, place: str, found: float, expected: str, *, holds: bool) -> None:
        """Check a statement that has no tolerance."""
        self._identities += 1
        if not holds:
            self._worst = float("inf")
            self._failures.append(Failure(place, found, expected))

    def result(self) -> Check:
        """Return the finished check."""
        first = str(self._failures[0]) if self._failures else ""
        count_ = len(self._failures)
        return Check(
            self._name, self._meaning, self._identities, self._worst, tuple(self._failures), count_, first
        )

    def _judge(self, place: str, found: float, expected: str, off: float, size: float) -> None:
        self._identities += 1
        ratio = off / (self._absolute + self._relative * size)
        if not ratio <= 1.0:  # also NaN
            self._failures.append(Failure(place, found, expected))
            ratio = ratio if ratio > 1.0 else float("inf")
        self._worst = max(self._worst, ratio)


def require(report: AuditReport) -> None:
    """Raise ``AuditError`` unless every check passed."""
    if not report.passed:
        raise AuditError("\n".join(report.lines()))


def merge(reports: Iterable[AuditReport]) -> AuditReport:
    """One report of several."""
    return AuditReport(tuple(check for report in reports for check in report.checks))
