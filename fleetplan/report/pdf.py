"""The report as PDF, printed by a Chromium that is already on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from fleetplan.errors import SolverError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
BROWSER_VARIABLE = "FLEETPLAN_BROWSER"
"""Path of the browser to print with, if it is not found by its name."""
_SECONDS = 120


def browser() -> str | None:
    """Path of a Chromium-like browser; ``None`` where there is none."""
    named = os.environ.get(BROWSER_VARIABLE)
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, into: Path) -> None:
    """Print a report page; raises ``SolverError`` without a browser, or where it fails."""
    program = browser()
    if program is None:
        names = ", ".join(BROWSERS[:3])
        what = f"a PDF needs a browser ({names}); install one or set {BROWSER_VARIABLE}"
        raise SolverError(what)
    with TemporaryDirectory() as profile:
        command = [
            program,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            *(["--no-sandbox"] if _is_root() else []),
            f"--user-data-dir={profile}",
            "--virtual-time-budget=20000",
            "--no-pdf-header-footer",
            f"--print-to-pdf={into.absolute()}",
            page.absolute().as_uri(),
        ]
        _run(command, into)


def _run(command: list[str], into: Path) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)  # noqa: S603 - no shell
    except (OSError, subprocess.SubprocessError) as cause:
        what = f"{command[0]} could not print the report: {cause}"
        raise SolverError(what) from cause
    if not into.is_file() or not into.stat().st_size:
        what = f"{command[0]} wrote no PDF"
        raise SolverError(what)


def _is_root() -> bool:
    """Chromium's sandbox refuses the superuser (containers)."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
