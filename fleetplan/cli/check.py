"""``fleetplan check``: every fault of a scenario in one pass."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import mode_options, print_json, shows_examples
from fleetplan.errors import Fault, InputError

if TYPE_CHECKING:
    from fleetplan.inputs.load import CheckReport


@click.command(name="check")
@click.argument("scenario")
@click.option("--strict", is_flag=True, help="Warnings fail too (exit 3).")
@mode_options
@shows_examples(
    "fleetplan check public-2026",
    "fleetplan check plans/mine --json",
    "fleetplan check plans/mine.xlsx --strict",
)
def command(scenario: str, *, strict: bool, as_json: bool, quiet: bool) -> int:
    """Find every fault of SCENARIO (a folder, a workbook or a bundled name) in one pass.

    Each line says where (file:line:column), which field, which rule (docs/rules.md), what is wrong
    and what would be right. Exit 3 if there is an error.
    """
    from fleetplan.inputs.load import check_scenario

    report = check_scenario(scenario)
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report.faults)
        if not quiet:
            click.echo(_summary(report))
    failed = report.errors or (strict and report.faults)
    return InputError.exit_code if failed else 0


def _as_json(report: CheckReport) -> dict[str, object]:
    faults = [{**asdict(fault), "severity": fault.severity} for fault in report.faults]
    return {
        "faults": faults,
        "errors": len(report.errors),
        "warnings": len(report.warnings),
        "tables": report.tables,
        "rows": report.rows,
    }


def _print(faults: tuple[Fault, ...]) -> None:
    places = max((len(fault.place) for fault in faults), default=0)
    fields = max((len(fault.field) for fault in faults), default=0)
    for fault in faults:
        colour = "red" if fault.severity == "error" else "yellow"
        rule = click.style(fault.rule, fg=colour)
        click.echo(
            f"{fault.place:<{places}}  {fault.field:<{fields}}  {rule} {fault.message}  {fault.fix}".rstrip()
        )


def _summary(report: CheckReport) -> str:
    errors, warnings = len(report.errors), len(report.warnings)
    return (
        f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)} "
        f"in {report.tables} tables, {report.rows:,} rows ({report.seconds:.1f} s)"
    )
