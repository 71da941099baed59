"""What all verbs share: options, the terminal, progress and output modes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, JustifyMethod
    from rich.status import Status

    from fleetplan.progress import Progress, SolveState

F = TypeVar("F", bound=Callable[..., Any])
PIPE_WIDTH = 400


def console(*, stderr: bool = False) -> Console:
    """The terminal: colours only where a person looks (never when piped, never with NO_COLOR)."""
    from rich.console import Console

    # A pipe has no width: lines are not broken, so that grep and awk find whole rows.
    looked_at = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, width=None if looked_at else PIPE_WIDTH)


def mode_options(command: F) -> F:
    """Add ``--quiet`` and ``--json``; scripts read stdout, people read the rest on stderr."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout."),
        click.option("-q", "--quiet", is_flag=True, help="Print the result only, no progress."),
    ):
        command = option(command)
    return command


def changes_option(command: F) -> F:
    """Add ``--set PATH=VALUE``, to change any input for this run."""
    return click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="PATH=VALUE",
        help="Change an input for this run, like finance.discount_rate=0.08; may be repeated.",
    )(command)


def print_json(value: object) -> None:
    """Write JSON with stable key order."""
    click.echo(
        json.dumps(value, indent=2, sort_keys=True, default=_plain, ensure_ascii=False, allow_nan=False)
    )


def print_frame(frame: pd.DataFrame, *, title: str = "", limit: int | None = None) -> None:
    """Print a frame as a table that fits the terminal; numbers right, text left."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    numeric = {name: frame[name].dtype.kind in "iuf" for name in frame.columns}
    for place, name in enumerate(frame.columns):
        side: JustifyMethod = "right" if numeric[name] else "left"
        table.add_column(escape(str(name)), justify=side, overflow="fold", no_wrap=place == 0)
    shown = frame if limit is None else frame.head(limit)
    for row in shown.itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in row))
    console().print(table)
    if len(shown) < len(frame):
        click.echo(f"… {len(frame) - len(shown)} more rows; --json has them all")


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10000 else f"{value:,.0f}"
    return str(value)


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)


def solve_line(state: SolveState) -> str:
    """Best plan, bound, gap of the gap asked for, time gone and, where there is a limit, time left."""
    best = "no plan yet" if state.best is None else f"plan {state.best:,.1f}"
    bound = "" if state.bound is None else f"bound {state.bound:,.1f}  "
    gap = "" if state.gap is None else f"  gap {state.gap:.2%} (ends at {state.gap_asked:.2%})"
    left = "" if state.seconds_left is None else f", at most {state.seconds_left:.0f} s left"
    return f"solve    {state.phase}: {bound}{best}{gap}  {state.seconds:.0f} s{left}"


def work_line(phase: str, done: int, total: int, note: str, seconds: float) -> str:
    """Pieces finished, and the time left if the others take as long as those."""
    left = f", about {seconds / done * (total - done):.0f} s left" if 0 < done < total else ""
    return f"{phase:<8} {done} of {total}{left}  {note}"


class TerminalProgress:
    """Phases as lines on stderr; the running one with a spinner where a person looks."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._status: Status | None = None
        self._began = time.perf_counter()

    def start(self, phase: str) -> None:
        """Show the phase with a spinner."""
        self._began = time.perf_counter()
        if self._console.is_terminal:
            self._status = self._console.status(f"{phase} …")
            self._status.start()

    def solving(self, state: SolveState) -> None:
        """Show best plan, bound, gap and time left."""
        if self._status is not None:
            self._status.update(solve_line(state))

    def working(self, phase: str, done: int, total: int, note: str) -> None:
        """Show how many pieces are finished, and the time left."""
        if self._status is not None:
            self._status.update(work_line(phase, done, total, note, time.perf_counter() - self._began))

    def end(self, phase: str, message: str, seconds: float) -> None:
        """Leave one line behind."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        width = 82
        shown = message if len(message) <= width else message[: width - 1] + "…"
        self._console.print(f" {phase:<8} {shown:<{width}} {seconds:6.1f} s", markup=False)


def progress_for(*, quiet: bool, as_json: bool) -> Progress:
    """Progress for the chosen mode."""
    from fleetplan.progress import Silent

    return Silent() if quiet or as_json else TerminalProgress()


def shows_examples(*lines: str) -> Callable[[F], F]:
    """Append examples to a command's help, one line each."""

    def decorate(function: F) -> F:
        shown = "\n".join(f"  {line}" for line in lines)
        function.__doc__ = f"{cleandoc(function.__doc__ or '')}\n\n\b\nExamples:\n{shown}"
        return function

    return decorate
