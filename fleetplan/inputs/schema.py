"""JSON Schema of the inputs, so that editors complete and check while a planner types."""

from __future__ import annotations

from typing import Any

from fleetplan.figures import STATUSES
from fleetplan.inputs.header import MAX_PERIODS, SCHEMA_VERSION
from fleetplan.inputs.items import ITEMS, WORD
from fleetplan.inputs.layout import TABLES, Field, InputTable
from fleetplan.inputs.scenario import Rules

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_QUARTER = {"type": "string", "pattern": r"^\d{4}Q[1-4]$"}
Schema = dict[str, Any]


def json_schema() -> Schema:
    """Return the JSON Schema of ``scenario.yaml``; the tables' rows are under ``$defs``."""
    return {
        "$schema": DRAFT,
        "title": "fleetplan scenario",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema", "name", "title", "horizon", "accelerators"],
        "properties": {
            "schema": {"const": SCHEMA_VERSION, "description": "version of the input"},
            "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"},
            "title": {"type": "string", "minLength": 1},
            "horizon": _horizon(),
            "accelerators": _accelerators(),
            "models": {"type": ["object", "null"], "additionalProperties": {"type": ["object", "null"]}},
            "rules": _rules(),
            "tables": {
                "type": ["object", "null"],
                "additionalProperties": False,
                "properties": {
                    name: {"type": "string", "description": spec.meaning} for name, spec in TABLES.items()
                },
            },
        },
        "$defs": {"accelerator": _accelerator()} | {name: table_schema(s) for name, s in TABLES.items()},
    }


def _horizon() -> Schema:
    length = {"type": "integer", "minimum": 1, "maximum": MAX_PERIODS}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["start"],
        "properties": {
            "start": _QUARTER,
            "quarters": {**length, "description": "number of single quarters"},
            "periods": {
                "type": "array",
                "items": length,
                "minItems": 1,
                "description": "lengths in quarters",
            },
        },
        "oneOf": [{"required": ["quarters"]}, {"required": ["periods"]}],
    }


def _accelerators() -> Schema:
    from fleetplan.inputs.catalog import accelerator_names

    one = {"$ref": "#/$defs/accelerator"}
    names = {"type": "array", "items": {"type": "string"}}
    known: Schema = dict.fromkeys(accelerator_names(), one)
    return {"anyOf": [names, {"type": "object", "properties": known, "additionalProperties": one}]}


def _accelerator() -> Schema:
    from fleetplan.inputs.accelerator_file import FIELDS
    from fleetplan.inputs.catalog import accelerator_names

    scalar = {"type": ["string", "number", "boolean"]}
    figure = {
        "type": "object",
        "additionalProperties": False,
        "required": ["value"],
        "properties": {
            "value": scalar,
            "low": scalar,
            "high": scalar,
            "source": {"type": "string"},
            "note": {"type": "string"},
            "status": {"enum": list(STATUSES)},
        },
    }
    fields: Schema = {name: {"anyOf": [scalar, figure]} for name in FIELDS}
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {"catalog": {"enum": accelerator_names()}, **fields},
    }


def _rules() -> Schema:
    schema = Rules.model_json_schema()
    return {**schema, "type": ["object", "null"], "description": Rules.__doc__}


def table_schema(spec: InputTable) -> Schema:
    """Return the JSON Schema of one row of a table."""
    schema: Schema = {
        "type": "object",
        "description": spec.meaning,
        "additionalProperties": False,
        "required": [column.name for column in spec.fields if column.blank is None],
        "properties": {column.name: _column(column) for column in spec.fields},
    }
    if spec.name in ITEMS:
        schema["properties"]["item"]["enum"] = list(ITEMS[spec.name])
        schema["x-items"] = {
            item.name: {
                "unit": item.unit,
                "meaning": item.meaning,
                "scope": item.scope,
                "words": list(item.words),
            }
            for item in ITEMS[spec.name].values()
        }
        schema["properties"]["unit"]["description"] += f" ({WORD!r} for words)"
    return schema


def _column(column: Field) -> Schema:
    schema: Schema = {"description": column.meaning}
    if column.is_numeric:
        schema["type"] = "integer" if column.kind == "count" else "number"
        if column.minimum is not None:
            schema["exclusiveMinimum" if column.positive else "minimum"] = column.minimum
        if column.maximum is not None:
            schema["maximum"] = column.maximum
    elif column.kind == "quarter":
        schema |= _QUARTER
    elif column.kind in {"word", "yesno"}:
        schema["enum"] = list(column.words) or ["yes", "no"]
    else:
        schema["type"] = "string"
    if column.unit:
        schema["x-unit"] = column.unit
    if column.blank is not None:
        schema["x-blank-means"] = column.blank
    return schema
