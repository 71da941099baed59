"""Long tables, one figure a row: money, ages, carbon, and the evidence beside wide tables."""

from __future__ import annotations

from fleetplan.inputs.fields import HIGH, LOW, NOTE, SOURCE, STATUS, Field, InputTable, NameOf


def _long_table(name: str, meaning: str) -> InputTable:
    return InputTable(
        name,
        meaning,
        (
            Field("item", "text", "which figure", key=True),
            Field("scope", "text", "'all', or what it holds for", key=True),
            Field("value", "text", "number or word"),
            Field("unit", "text", "unit of value, low and high; 'name' for words and quarters"),
            STATUS,
            LOW,
            HIGH,
            SOURCE,
            NOTE,
        ),
    )


FINANCE = _long_table("finance", "money rules, one figure a row")
LIFECYCLE = _long_table("lifecycle", "ages, lead times, failures, lots, one figure a row")
CARBON = _long_table("carbon", "grid intensity by method and site, embodied carbon, price and cap")


def _evidence_table(name: str, subject: NameOf, meaning: str) -> InputTable:
    return InputTable(
        name,
        meaning,
        (
            Field(subject, "name", "whose figure", key=True, refers=subject),
            Field("field", "text", "column of the table it explains", key=True),
            Field("value", "text", "as in that table"),
            STATUS,
            LOW,
            HIGH,
            SOURCE,
            NOTE,
        ),
        needed=False,
        subject=subject,
    )


SITES_SOURCES = _evidence_table("sites_sources", "site", "evidence for each figure of sites")
WORKLOADS_SOURCES = _evidence_table("workloads_sources", "workload", "evidence for each figure of workloads")


EVIDENCE = InputTable(
    "evidence",
    "figures beside the plan: no computation reads them",
    (
        Field("item", "text", "which figure", key=True),
        Field("scope", "text", "what it holds for", key=True),
        Field("value", "text", "number or word"),
        Field("unit", "text", "unit", blank="a word"),
        STATUS,
        LOW,
        HIGH,
        SOURCE,
        NOTE,
    ),
    needed=False,
)
