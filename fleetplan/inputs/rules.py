"""Every rule that inputs, traces and stored plans are checked by: id, sentence and fix, once. ``docs/rules.md`` is made of it.

``E`` rules stop a run, ``W`` rules are legal but suspicious. Ids are never reused.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetplan.errors import Fault


@dataclass(frozen=True)
class Rule:
    """A rule in the planner's words: ``sentence`` says what must hold, ``fix`` what to do otherwise."""

    id: str
    sentence: str
    fix: str

    @property
    def anchor(self) -> str:
        """Page and anchor in the docs."""
        return f"docs/rules.md#{self.id.lower()}"


@dataclass(frozen=True)
class Place:
    """A place in an input: file as typed, line and column from 1, field (header or key)."""

    file: str
    line: int | None = None
    column: int | None = None
    field: str = ""


_ALL = (
    Rule("E001", "A file that the scenario needs can be read.", "Check the path and the permissions."),
    Rule(
        "E002",
        "A table is comma-separated UTF-8 text (with or without BOM).",
        "Save as 'CSV UTF-8 (comma delimited)'.",
    ),
    Rule(
        "E003",
        "A quantity carries its unit in the value or in the column name, and it is the right one.",
        "Write the unit in the column name (price_musd_per_rack) or in every value (1.9 MUSD/rack).",
    ),
    Rule("E004", "A table has every column that has no documented meaning when absent.", "Add the column."),
    Rule("E005", "Columns, keys and items are known.", "Use the nearest known name, or remove it."),
    Rule("E006", "A column, key or file is given once.", "Keep one of them."),
    Rule("E007", "A name that is used is declared.", "Use the nearest declared name, or declare it."),
    Rule(
        "E008",
        "A row is given once: no two rows have the same key.",
        "Keep one of them; rows are neither added nor overwritten.",
    ),
    Rule("E009", "A number is one finite number with a decimal point.", "Write it like 1234.5."),
    Rule(
        "E010",
        "A row has as many cells as the header.",
        "Quote cells that hold commas; remove surplus commas.",
    ),
    Rule("E011", "A number lies in the range in which it has a meaning.", "Write a value in the range."),
    Rule(
        "E012",
        "A cell is blank only where a blank has a documented meaning. Blank is not zero.",
        "Write the value; 0 if it is zero.",
    ),
    Rule("E013", "A count is a whole number.", "Write a whole number."),
    Rule("E014", "A quarter is written like 2026Q4.", "Write it like 2026Q4."),
    Rule("E015", "A word is one of those that have a meaning.", "Use one of the words."),
    Rule(
        "E016",
        "What is stated in order is in order: low, value and high in a catalog or model file; first and last.",
        "Put them in order.",
    ),
    Rule(
        "E017",
        "A figure says how it is known: published, reported, derived or assumed.",
        "Write one of the four words.",
    ),
    Rule(
        "E018",
        "What is published or reported names its source.",
        "Give a URL or document, or call the figure assumed.",
    ),
    Rule(
        "E019",
        "Names have no blanks around them and do not differ only in upper and lower case.",
        "Write the name in one way.",
    ),
    Rule(
        "E020",
        "A series by quarter has a row for every quarter of the horizon.",
        "Add the missing quarters; 0 if it is zero.",
    ),
    Rule(
        "E021",
        "Committed and optional racks together are no more than can be delivered.",
        "Raise max_racks, or lower the others.",
    ),
    Rule(
        "E022", "Racks stand in halls whose cooling they accept.", "Use another hall, or correct the cooling."
    ),
    Rule(
        "E023",
        "A rack's IT power is no more than the hall takes per rack.",
        "Use another hall, or correct the limit.",
    ),
    Rule(
        "E024",
        "Racks are commissioned after their accelerator became available, and before planning starts.",
        "Correct the quarter; racks that come later belong in supply as committed_racks.",
    ),
    Rule(
        "E025", "A scenario reads only files inside its folder.", "Move the file into the scenario's folder."
    ),
    Rule(
        "E026",
        "The scenario is written for this version of the input.",
        "Run: fleetplan migrate SCENARIO NEW_FOLDER",
    ),
    Rule("E027", "A value is given in one place.", "Keep one of the two."),
    Rule("E028", "scenario.yaml is plain YAML: mappings, lists and text, without tags.", "Write plain YAML."),
    Rule(
        "E029",
        "An item that decides money, ages or emissions is given.",
        "Add the row; nothing of this has a default.",
    ),
    Rule("E030", "A table that the plan needs has rows.", "Add rows, or correct the table's file name."),
    Rule(
        "E031",
        "A figure that the plan computes with is known for every accelerator used.",
        "Give the value in accelerators.csv or in scenario.yaml, with its unit.",
    ),
    Rule("E032", "Figures that depend on each other agree.", "Correct the one that is wrong."),
    Rule(
        "E033",
        "A workbook holds values, not formulas without a stored result.",
        "Open it, let it calculate, and save it.",
    ),
    Rule(
        "E701",
        "A constant of the step model is given once per scope, and its value lies in its interval.",
        "Keep one row per scope, with the value within low..high.",
    ),
    Rule(
        "E702",
        "A row of measured steps can be held against a run of the step model.",
        "Correct the row, or remove it.",
    ),
    Rule("E901", "A CSV file of a stored plan or of a study can be read as a table.", "Write it again."),
    Rule(
        "E902",
        "A table of a stored plan or of a study has the columns that are documented, in that order.",
        "Make the plan again with this version, or write the columns that are named.",
    ),
    Rule(
        "E903",
        "A cell of a stored plan, or a probability of a future, has the type of its column.",
        "Restore the file, or correct the cell.",
    ),
    Rule("E904", "A stored plan has all its files.", "Restore the file, or make the plan again."),
    Rule(
        "E905",
        "The files of a stored plan are those that were written with it.",
        "Work on a copy elsewhere; restore the file, or make the plan again.",
    ),
    Rule(
        "E906",
        "A stored plan has a manifest of a form that this version reads.",
        "Read it with the version it names, or make the plan again.",
    ),
    Rule("E907", "A stored plan holds the scenario it was made from.", "Make the plan again."),
    Rule("E951", "A trace file can be opened.", "Name a readable trace file."),
    Rule(
        "E952",
        "A trace is JSON of the PyTorch profiler, plain or gzipped, one file per rank.",
        "Export it with export_chrome_trace.",
    ),
    Rule("E953", "A trace is whole.", "Copy the whole file again."),
    Rule("E954", "The events of a trace are well-formed JSON.", "Write the trace again."),
    Rule(
        "E955",
        "Events and the record of a trace are of a size that profilers write.",
        "Record fewer steps, or fewer arguments per event.",
    ),
    Rule(
        "E956",
        "An event of a trace has the times and names that its category needs.",
        "Write times in microseconds; record the trace again.",
    ),
    Rule("E957", "A trace holds work of the accelerator.", "Profile with ProfilerActivity.CUDA, or .MTIA."),
    Rule("W101", "A site's power rises or stays.", "If this is a decommissioning, nothing is to be done."),
    Rule(
        "W102",
        "What can be delivered can be powered somewhere.",
        "Give a hall that accepts the rack, or remove the supply.",
    ),
    Rule("W103", "A site has demand that it may serve.", "Widen allowed_sites, or remove the site."),
    Rule(
        "W104",
        "A workload's sites have halls that take an accelerator of the scenario.",
        "Widen allowed_sites, or add halls.",
    ),
    Rule(
        "W105",
        "An assumed figure that decides much has a narrow interval.",
        "Find a source, and look at this figure in the report's tornado.",
    ),
    Rule(
        "W106",
        "A value is near the catalog's (within a factor of 30).",
        "Check the unit: a factor of 1000 is usually one.",
    ),
    Rule(
        "W107",
        "Rows of a series lie inside the horizon.",
        "Nothing is to be done if the horizon was cut on purpose.",
    ),
    Rule(
        "W108",
        "A supply series has no gaps.",
        "Add the quarter; without a row nothing can be delivered in it.",
    ),
    Rule(
        "W109",
        "Racks of the present fleet are younger than the maximum age.",
        "Remove racks that are gone, or raise the maximum age.",
    ),
    Rule(
        "W110",
        "A table's value and the evidence beside it agree.",
        "Correct the value, or the row in the *_sources table.",
    ),
    Rule("W111", "The present fleet fits the power of its hall.", "Check racks, power law and megawatts."),
    Rule("W112", "A figure is used.", "Remove it, or correct its name."),
    Rule(
        "W114", "A value lies in the usual range of its column.", "Check the unit; if it is meant, leave it."
    ),
    Rule(
        "W115",
        "Racks are delivered when their accelerator is available, and ordered after planning starts.",
        "Correct the quarter, max_racks, lead_time_quarters or new_orders_can_arrive.",
    ),
    Rule(
        "W116",
        "An interval runs from low to high, and the value lies inside; one that does not is set aside: "
        "the value holds, and bands and studies treat it as exact.",
        "Put low, value and high in order.",
    ),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}
"""All rules by id."""


def fault(rule: str, place: Place, message: str, fix: str | None = None) -> Fault:
    """Make a fault of a known rule; the rule's own fix stands in where none is given."""
    text = RULES[rule].fix if fix is None else fix
    return Fault(place.file, place.line, place.column, rule, place.field, message, text)


def rules_page() -> str:
    """Return the text of ``docs/rules.md``."""
    lines = [
        "# Rules that inputs are checked by",
        "",
        "Made by `make docs` from `fleetplan/inputs/rules.py`.",
        "",
    ]
    for rule in _ALL:
        kind = "warning" if rule.id.startswith("W") else "error"
        lines += [f"## {rule.id}", "", f"{rule.sentence} ({kind})", "", f"*What to do:* {rule.fix}", ""]
    return "\n".join(lines)
