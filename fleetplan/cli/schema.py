"""``fleetplan schema``: JSON Schema of the input, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from fleetplan.cli.ui import print_json, shows_examples


@click.command(name="schema")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; stdout without it.",
)
@shows_examples("fleetplan schema -o scenario.schema.json")
def command(*, output: Path | None) -> None:
    """Write the JSON Schema of scenario.yaml (tables under $defs), so that an editor completes it.

    In VS Code, put `# yaml-language-server: $schema=scenario.schema.json` in the first line.
    """
    from fleetplan.inputs.schema import json_schema

    if output is None:
        print_json(json_schema())
        return
    import json

    output.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    click.echo(str(output))
