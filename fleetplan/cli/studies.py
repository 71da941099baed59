"""What the verbs of studies share: options, futures from a file, and how a study is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleetplan.cli.ui import print_frame, print_json
from fleetplan.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from fleetplan.figures import Figure
    from fleetplan.inputs.scenario import Scenario
    from fleetplan.studies.cases import Case
    from fleetplan.studies.futures import Tree
    from fleetplan.studies.workshop import Workshop

STUDY_GAP = 0.002
"""Cases differ by more than plans within this gap of their best do, and a study has many of them."""
FUTURE_COLUMNS = ["future", "probability", "path", "value"]


def study_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``-o`` and ``--gap``."""
    for option in (
        click.option(
            "--gap",
            default=STUDY_GAP,
            show_default=True,
            type=click.FloatRange(min=0),
            help="Proven distance from the best plan, as a share of its cost, for every plan of the study.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            help="Folder for the study.  [default: reports/NAME-VERB]",
        ),
    ):
        command = option(command)
    return command


def folder_of(output: Path | None, scenario: str, verb: str, *, new: bool = True) -> Path:
    """The study's folder; a new study never overwrites what is there (``UsageError``)."""
    folder = output or Path("reports") / f"{Path(scenario).stem}-{verb}"
    if new and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} is there already; choose a new folder with -o"
        raise UsageError(message)
    return folder


def workshop_for(scenario: Scenario, gap: float) -> Workshop:
    """A workshop on a scenario."""
    from fleetplan.api import Settings
    from fleetplan.studies.workshop import Workshop

    return Workshop(scenario, Settings(gap=gap))


def base_values(scenario: Scenario) -> dict[str, Any]:
    """Every path of a scenario with its value."""
    from fleetplan.inputs.paths_of_values import scenario_paths
    from fleetplan.inputs.values import value_at

    return {path: value_at(scenario, path) for path in scenario_paths(scenario)}


def open_figures(scenario: Scenario, only: Sequence[str] = ()) -> dict[str, Figure]:
    """Figures whose interval is open, of the patterns given; ``UsageError`` where none is."""
    from fleetplan.studies.cases import matching

    known = {
        path: figure
        for path, figure in scenario.figures.items()
        if figure.is_open and isinstance(figure.value, (int, float))
    }
    chosen = {path for pattern in only for path in matching(pattern, known)} if only else set(known)
    if not chosen:
        message = "no figure of this scenario has an open interval"
        raise UsageError(message)
    return {path: known[path] for path in sorted(chosen)}


def one_case(scenario: Scenario, name: str, changes: Sequence[str]) -> Case:
    """One case from ``PATH=VALUE`` and ``PATH*=FACTOR`` texts."""
    from dataclasses import replace

    from fleetplan.studies.cases import grid, parse_vary

    varies = [parse_vary(text) for text in changes]
    if any(len(vary.values) != 1 for vary in varies):
        message = "each change of one case has one value"
        raise UsageError(message)
    return replace(grid(varies, base_values(scenario))[0], name=name)


def read_futures(path: Path, scenario: Scenario, reveal: int) -> Tree:
    """A two-stage tree from a CSV with the columns future, probability, path, value.

    A value ``*1.2`` is a factor; a path may hold ``*``; a future without changes has an empty path.
    """
    import pandas as pd

    from fleetplan.studies.futures import Future, Tree

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as cause:
        raise InputError.at(path, "E901", f"cannot be read: {cause}", "write a CSV table") from cause
    if list(frame.columns) != FUTURE_COLUMNS:
        expected = ", ".join(FUTURE_COLUMNS)
        raise InputError.at(path, "E902", f"has the columns {', '.join(frame.columns)}", f"write {expected}")
    futures = []
    for name, rows in frame.groupby("future", sort=False):
        changes = [
            f"{place}*={value[1:]}" if value.startswith("*") else f"{place}={value}"
            for place, value in zip(rows["path"], rows["value"], strict=True)
            if place
        ]
        futures.append(
            Future(one_case(scenario, str(name), changes), _probability(path, rows["probability"]))
        )
    return Tree(tuple(futures), (scenario.horizon.start + reveal,))


def _probability(path: Path, texts: pd.Series[Any]) -> float:
    try:
        found = {float(text) for text in texts}
    except ValueError as cause:
        raise InputError.at(path, "E903", f"has a probability that is no number: {cause}") from cause
    if len(found) != 1:
        raise InputError.at(path, "E903", "gives one future several probabilities", "repeat the same one")
    return found.pop()


def tell(
    lines: Sequence[str], frame: pd.DataFrame, folder: Path | None, *, as_json: bool, **more: Any
) -> None:
    """Print a study: sentences and table for people, one object for scripts."""
    if as_json:
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        print_json({"lines": list(lines), "rows": _plain(rows), "folder": str(folder or ""), **more})
        return
    click.echo("")
    for line in lines:
        click.echo(f" {line}")
    click.echo("")
    print_frame(frame, limit=30)
    if folder is not None:
        click.echo(f" {folder / 'study.html'}")


def _plain(value: Any) -> Any:
    """Infinite numbers become text: JSON has none."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return str(value) if isinstance(value, float) and value in (float("inf"), -float("inf")) else value


def write_page(
    folder: Path,
    title: str,
    lines: Sequence[str],
    charts: Mapping[str, Mapping[str, Any]],
    tables: Mapping[str, pd.DataFrame],
) -> None:
    """Write ``study.html`` into the study's folder."""
    from fleetplan.studies.folder import write_whole
    from fleetplan.studies.page import study_page

    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "study.html", study_page(title, lines, charts, tables))
