"""``fleetplan fit``: what fits under some megawatts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleetplan.cli.ui import mode_options, print_frame, print_json, shows_examples

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "accelerator": "accelerator",
    "cap_w": "cap W",
    "racks": "racks",
    "samples_per_s": "samples/s",
    "samples_per_s_low": "low",
    "samples_per_s_high": "high",
    "cost_musd_per_year": "M USD/year",
    "usd_per_billion_samples": "USD per 1e9",
    "reason": "why not",
}


@click.command(name="fit")
@click.option("--mw", required=True, type=click.FloatRange(min=0, min_open=True), help="Facility megawatts.")
@click.option("--model", required=True, help="Name of models/ or a YAML file.")
@click.option("--accelerator", "names", multiple=True, help="Only these; may be repeated.  [default: all]")
@click.option("--energy-price", type=click.FloatRange(min=0), metavar="USD/MWH", help="Price of energy.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a chart.")
@mode_options
@shows_examples(
    "fleetplan fit --mw 150 --model gem-foundation",
    "fleetplan fit --mw 20 --model mtia300-dlrm-150b --accelerator mtia-300 --accelerator gb300 --html fit.html",
)
def command(
    *,
    mw: float,
    model: str,
    names: tuple[str, ...],
    energy_price: float | None,
    html: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how many racks of each accelerator fit under a site's facility power, and what they train.

    One row per accelerator and power cap, best first, with the band of the step model and the cost
    of a year. No scenario is needed.
    """
    from fleetplan.inputs.catalog import accelerator_names, load_accelerator, load_model
    from fleetplan.performance.fit_power import ENERGY_USD_PER_MWH, fit_power

    devices = [load_accelerator(name) for name in names or accelerator_names()]
    price = ENERGY_USD_PER_MWH if energy_price is None else energy_price
    table = fit_power(mw, load_model(model), devices, energy_usd_per_mwh=price)
    if html is not None:
        from fleetplan.performance.charts import fit_html

        html.write_text(fit_html(table, mw, model), encoding="utf-8")
    if as_json:
        print_json(table.astype(object).where(table.notna(), None).to_dict("records"))
        return
    shown = table[[name for name in COLUMNS if name in table]].rename(columns=COLUMNS)
    print_frame(shown.head(8) if quiet else shown)
    for line in verdict(table, mw, model):
        click.echo(line)


def verdict(table: pd.DataFrame, mw: float, model: str) -> list[str]:
    """The best, by how much, and whether the bands leave it open."""
    known = table.dropna(subset=["samples_per_s"])
    if known.empty:
        return [
            "",
            f"None of these has a published rack and facility power, so nothing can be said of {mw:g} MW.",
        ]
    best = known.iloc[0]
    others = known[known["accelerator"] != best["accelerator"]]
    lines = [
        "",
        f"Under {mw:g} MW {best['accelerator']} at {best['cap_w']:,.0f} W trains {model} fastest:"
        f" {best['racks']:,} racks, {best['samples_per_s']:,.3g} samples/s.",
    ]
    if len(others):
        second = others.iloc[0]
        lead = best["samples_per_s"] / second["samples_per_s"] - 1
        is_open = second["samples_per_s_high"] > best["samples_per_s_low"]
        how = (
            "the bands overlap: today's knowledge leaves this open" if is_open else "the bands do not overlap"
        )
        lines.append(f"That is {lead:.0%} ahead of {second['accelerator']}; {how}.")
    cheapest = known.sort_values("usd_per_billion_samples").iloc[0]
    if cheapest["usd_per_billion_samples"] == cheapest["usd_per_billion_samples"]:
        lines.append(
            f"Cheapest per sample is {cheapest['accelerator']} at {cheapest['cap_w']:,.0f} W:"
            f" {cheapest['usd_per_billion_samples']:,.3g} USD per billion samples."
        )
    return lines
