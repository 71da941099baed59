"""``fleetplan catalog``: accelerators, every figure with its evidence."""

from __future__ import annotations

import click

from fleetplan.cli.ui import mode_options, print_frame, print_json, shows_examples

OVERVIEW = {
    "peak_bf16_tflops": "BF16 TFLOP/s",
    "hbm_gb": "HBM GB",
    "hbm_tb_per_s": "HBM TB/s",
    "scaleup_domain_devices": "domain",
    "scaleup_gb_per_s": "scale-up GB/s",
    "scaleout_gb_per_s": "scale-out GB/s",
    "tdp_w": "TDP W",
    "devices_per_rack": "per rack",
    "price_musd_per_rack": "M USD/rack",
    "available_from": "from",
}


@click.command(name="catalog")
@click.argument("name", required=False)
@click.option(
    "--status",
    type=click.Choice(["published", "reported", "derived", "assumed", "unpublished"]),
    help="Only figures of this evidence.",
)
@mode_options
@shows_examples(
    "fleetplan catalog",
    "fleetplan catalog mtia-400",
    "fleetplan catalog gb300 --status assumed --json",
)
def command(name: str | None, *, status: str | None, as_json: bool, quiet: bool) -> None:
    """Show all accelerators side by side, or every figure of NAME with interval and source.

    A figure that nobody has published says so. Bandwidths are one direction per device, FLOP/s are
    dense, sizes are decimal.
    """
    from fleetplan.inputs.catalog import catalog_table

    rows = [row for row in catalog_table(name) if status in (None, row["status"])]
    if as_json:
        print_json(rows)
    elif name is None and status is None:
        _overview(rows)
    else:
        _figures(rows, quiet=quiet)


def _overview(rows: list[dict[str, str]]) -> None:
    import pandas as pd

    devices: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["field"] in OVERVIEW:
            mark = {"assumed": " *", "unpublished": ""}.get(row["status"], "")
            value = "–" if row["status"] == "unpublished" else row["value"]
            devices.setdefault(row["accelerator"], {})[OVERVIEW[row["field"]]] = value + mark
    frame = pd.DataFrame(
        [{"accelerator": n, **{c: v.get(c, "–") for c in OVERVIEW.values()}} for n, v in devices.items()]
    )
    print_frame(frame)
    click.echo("* assumed, – not published; `fleetplan catalog NAME` has intervals and sources")


def _figures(rows: list[dict[str, str]], *, quiet: bool) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows)
    if len({row["accelerator"] for row in rows}) == 1:
        frame = frame.drop(columns="accelerator")
    frame["interval"] = [
        f"{low} – {high}" if low else "" for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    columns = ["field", "value", "unit", "interval", "status"] + ([] if quiet else ["date", "source"])
    print_frame(frame[[c for c in ("accelerator", *columns) if c in frame]])
    notes = [(row["field"], row["note"]) for row in rows if row["note"]]
    if not quiet and notes:
        click.echo("\nNotes")
        for field, note in notes:
            click.echo(f"  {field}: {note}")
