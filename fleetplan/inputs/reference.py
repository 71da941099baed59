"""The input reference (``docs/inputs.md``), made from the layouts that the reader itself uses."""

from __future__ import annotations

from collections.abc import Iterator

from fleetplan.inputs.items import ITEMS, WORD, Item
from fleetplan.inputs.layout import TABLES, Field, InputTable
from fleetplan.inputs.scenario import Rules

_INTRO = """# What a planner writes

Made by `make docs` from the layouts in `fleetplan/inputs/`. The rules that are checked: [rules.md](rules.md).

A scenario is a folder: `scenario.yaml` and CSV tables beside it (or Parquet files of the same names), or one workbook
with a sheet per table and the lines of `scenario.yaml` in the sheet `scenario`. `fleetplan init NAME [--xlsx]` writes one to
start from.

- **Units** stand in the column name (`price_musd_per_rack`) or in every value of a column named without it (`price`: `1.9 MUSD/rack`).
  A value with a unit of the same kind is converted (`0.104 GW` in `facility_mw` is 104). No unit, or one of another kind, is an error.
- **Blank is not zero.** A blank, or a column that is left out, has a meaning only where the tables below say so.
- **Numbers** are written `1234.5`. Decimal commas, grouped thousands, NaN and infinity are errors. `1_000` is 1000.
- **Names** are taken as written (`NA`, `NO`, `007` are names), without blanks around them; several are joined by `|`.
- **Quarters** are written `2026Q4`.
- **Every row says how it is known**: `status` is published, reported, derived or assumed; the first two need a source.
  `low` and `high` bound the column that `interval_of` names.
- **Order** of rows and columns, a byte-order mark, Windows line ends, trailing commas and blank lines at the end change nothing.
- A power row whose facility megawatts are 0 has no power; a `max_racks` of 0 forbids; a limit that is left out does not exist.
"""
_YAML = """## scenario.yaml

| key | meaning |
|---|---|
| `schema` | version of the input: 1 |
| `name`, `title` | short name (letters, digits, `-_.`), title for people |
| `horizon` | `{start: 2026Q4, quarters: 21}`, or `{start: 2026Q4, periods: [1, 1, 4]}` with lengths in quarters |
| `accelerators` | names from the catalog; below each, figures that override it: `hbm_tb_per_s: 9.2 TB/s`, or with evidence: `{value: 9.2 TB/s, low: …, high: …, status: …, source: …}`; `catalog: NAME` where your name differs |
| `models` | overrides of models by path: `hstu-gr-1500b: {skew: 1.2, dense.stack.layers: 8}`; `model: NAME` where your name differs |
| `rules` | which limits hold, below |
| `tables` | file names where they differ from `<table>.csv`; they stay inside the folder |
"""


def inputs_page() -> str:
    """Return the text of ``docs/inputs.md``."""
    lines = [_INTRO, _YAML, *_rules(), ""]
    for spec in TABLES.values():
        lines += [*_table(spec), ""]
    return "\n".join(lines).rstrip() + "\n"


def _rules() -> Iterator[str]:
    yield "### rules"
    yield ""
    yield "| rule | default |"
    yield "|---|---|"
    for name, info in Rules.model_fields.items():
        default = info.default
        if default is None or isinstance(default, bool):
            default = str(default).lower()  # 0 is a number, not false
        yield f"| `{name}` | {default} |"


def _table(spec: InputTable) -> Iterator[str]:
    yield f"## {spec.name}"
    yield ""
    yield f"{spec.meaning[0].upper()}{spec.meaning[1:]}." + ("" if spec.needed else " May be left out.")
    yield ""
    yield "| column | holds | meaning | unit | a blank means |"
    yield "|---|---|---|---|---|"
    yield from (_column(column) for column in spec.fields)
    if spec.name in ITEMS:
        yield ""
        yield "| item | scope | meaning | unit or words | needed |"
        yield "|---|---|---|---|---|"
        yield from (_item(item) for item in ITEMS[spec.name].values())


def _column(column: Field) -> str:
    name = f"**`{column.name}`**" if column.key else f"`{column.name}`"
    holds = _range(column) if column.is_numeric else _holds(column)
    return f"| {name} | {holds} | {column.meaning} | {column.unit} | {column.blank or 'error'} |"


def _holds(column: Field) -> str:
    if column.words:
        return ", ".join(column.words)
    if column.refers:
        return f"{column.refers} names joined by a bar" if column.kind == "names" else f"{column.refers} name"
    return {"quarter": "quarter", "yesno": "yes, no", "name": "new name"}.get(column.kind, "text")


def _range(column: Field) -> str:
    kind = "whole number" if column.kind == "count" else "number"
    low = "" if column.minimum is None else f" {'above' if column.positive else 'from'} {column.minimum:g}"
    high = "" if column.maximum is None else f" up to {column.maximum:g}"
    return kind + low + high


def _item(item: Item) -> str:
    unit = ", ".join(item.words) if item.words else "a quarter" if item.unit == WORD else item.unit
    return f"| `{item.name}` | {item.scope} | {item.meaning} | {unit} | {'yes' if item.needed else 'no'} |"
