"""The command line: one file per verb, loaded only when the verb is called."""

from __future__ import annotations

import importlib
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from fleetplan.errors import FleetplanError, Interrupted, SolverError
from fleetplan.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS: dict[str, str] = {
    "init": "Write a scenario that runs, to start from.",
    "check": "Find every fault of a scenario in one pass.",
    "optimize": "Make the plan: tables, ledger, audit, report.",
    "report": "Write a stored plan as html, csv, xlsx, parquet, md or pdf.",
    "explain": "Say what binds, what more would be worth, and why not.",
    "diagnose": "Say why no plan is possible and what would mend it.",
    "compare": "Say what changed between two plans, and why.",
    "replay": "Solve a stored plan again and see whether it is the same.",
    "catalog": "Show accelerators, every figure with its source.",
    "step": "Predict one training step of a model on an accelerator.",
    "fit": "How many racks and samples/s fit under some megawatts.",
    "breakeven": "How good something must be for a decision to turn.",
    "accuracy": "Hold the step model against public measurements.",
    "calibrate": "Fit the step model to your own measurements or trace.",
    "trace": "Say where the steps of a profiler trace go.",
    "sweep": "Plan many cases of a scenario; resumable, on a cluster too.",
    "pareto": "Trade cost, carbon, work and megawatts against each other.",
    "alternatives": "Plans that cost nearly the same and differ most.",
    "commit": "What to order now, when the future is uncertain.",
    "rolling": "Re-plan every quarter while the world moves.",
    "schema": "JSON Schema of the input, for editors.",
    "migrate": "Bring an older scenario to today's form.",
}
"""Verb and its one line, in the order of ``--help``. Kept here so that help needs no verb's module."""


NUMPY_OUT_OF_MEMORY = "returned NULL without setting an exception"
"""How a call into numpy may end, as a ``SystemError``, when memory runs out in the middle of it."""
OUT_OF_MEMORY = """The memory of this machine is too small for this scenario. Nothing was written.
Longer periods later in the horizon (periods: [1, 1, 4] in scenario.yaml), fewer sites or fewer caps make it smaller.
exit 8"""


class VerbGroup(click.Group):
    """A group whose commands live in modules of their own and are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All verbs that are there, in the order of :data:`VERBS`."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the verb's module and hand out its ``command``."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"fleetplan.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Propose the nearest verbs where one is not known."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], VERBS, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            message = f"There is no verb {args[0]!r}.{hint}"
            raise click.UsageError(message, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, "--version", message="fleetplan %(version)s")
def root() -> None:
    """Plan a training fleet: what to order, where to land it, at which power, and what it costs.

    \b
    fleetplan init plans/mine          a scenario that runs, made from public figures
    fleetplan check plans/mine         every fault in one pass
    fleetplan optimize plans/mine      the plan, its audit and report.html
    fleetplan step dlrm-dcnv2 h100 --devices 8
    fleetplan fit --mw 150 --model gem-foundation

    Exit codes: 0 ok, 2 usage, 3 input, 4 infeasible, 5 unbounded, 6 limit without a plan,
    8 solver or environment, 130 interrupted.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; every expected error is one message and its own exit code."""
    try:
        code = root.main(args=args, prog_name="fleetplan", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("\nInterrupted before there was a result.", err=True)
        sys.exit(Interrupted.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except (MemoryError, SystemError) as error:
        if isinstance(error, SystemError) and NUMPY_OUT_OF_MEMORY not in str(error):
            raise
        click.echo(OUT_OF_MEMORY, err=True)
        sys.exit(SolverError.exit_code)
    except FleetplanError as error:
        click.echo(str(error), err=True)
        if error.exit_code != Interrupted.exit_code:
            click.echo(f"exit {error.exit_code}", err=True)
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
