"""What several verbs do with their words: load a scenario, apply changes, read lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.errors import UsageError

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.progress import Progress


def load_changed(name: str, changes: tuple[str, ...], progress: Progress) -> Scenario:
    """Load a scenario and apply ``PATH=VALUE`` changes in order."""
    from fleetplan.errors import InputError
    from fleetplan.inputs.load import check_scenario, with_value
    from fleetplan.progress import Stopwatch

    with Stopwatch(progress).phase("inputs") as message:
        report = check_scenario(name)
        if report.scenario is None:
            raise InputError(report.errors)
        scenario = report.scenario
        for change in changes:
            path, value = split_change(change)
            scenario = with_value(scenario, path, value)
        message += [
            f"{report.tables} tables",
            f"{len(scenario.sites)} sites",
            f"{len(scenario.accelerators)} accelerators",
            f"{len(scenario.workloads)} workloads",
            f"{len(scenario.horizon)} periods",
        ]
        if report.warnings:
            message.append(f"{len(report.warnings)} warnings (fleetplan check)")
    return scenario


def split_change(text: str) -> tuple[str, str | float]:
    """Read ``PATH=VALUE``; a number stays a number."""
    path, sign, value = text.partition("=")
    if not sign or not path.strip() or not value.strip():
        message = f"{text!r} is not a change; write PATH=VALUE, like finance.discount_rate=0.08"
        raise UsageError(message)
    try:
        return path.strip(), float(value)
    except ValueError:
        return path.strip(), value.strip()


def parse_formats(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Read a comma list of known words."""
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [word for word in words if word not in known]
    if unknown:
        message = f"{', '.join(unknown)} is not a format; choose from {', '.join(known)}"
        raise UsageError(message)
    return words


def parse_solver_options(texts: tuple[str, ...]) -> dict[str, bool | int | float | str]:
    """Read ``NAME=VALUE`` pairs; values become bool, int or float where they look like it."""
    options: dict[str, bool | int | float | str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            message = f"{text!r} is not a solver option; write NAME=VALUE"
            raise UsageError(message)
        options[name.strip()] = _typed(value.strip())
    return options


def _typed(text: str) -> bool | int | float | str:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
