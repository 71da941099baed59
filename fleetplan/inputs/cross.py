"""Rules between cells: keys, names, intervals, series by quarter, dates, cooling, commitments.

They work on parsed rows, of which cells with a fault are absent: what cannot be judged is not judged,
so that one fault is reported once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from fleetplan.errors import Fault
from fleetplan.figures import STATUSES, Status
from fleetplan.inputs.cells import CellError, ParsedRow, ParsedTable, Value, read_number
from fleetplan.inputs.layout import Field, InputTable, NameOf
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.rules import Place, fault
from fleetplan.periods import Horizon, Quarter

Tables = Mapping[str, ParsedTable]
Names = dict[str, set[str]]


class AnyName(set[str]):
    """Names of a kind whose table could not be read: every name may be one of them."""

    def __contains__(self, _name: object) -> bool:
        """Judge nothing, so that one missing table is one fault and not a thousand."""
        return True


def declared_names(tables: Tables, specs: Mapping[str, InputTable]) -> Names:
    """Return the names that the tables declare, by kind; ``specs`` are all tables there could be."""
    kinds = {
        (spec.name, column.declares) for spec in specs.values() for column in spec.fields if column.declares
    }
    names: Names = {kind: set() if table in tables else AnyName() for table, kind in kinds}
    for table in tables.values():
        for column in table.spec.fields:
            if column.declares:
                names[column.declares] |= {
                    str(row.values[column.name]) for row in table.rows if column.name in row.values
                }
    return names


def check_keys(table: ParsedTable) -> Iterator[Fault]:
    """Find rows with the same key, and names that differ only in case (E008, E019)."""
    seen: dict[tuple[Value, ...], int] = {}
    folded: dict[tuple[str, ...], tuple[tuple[Value, ...], int]] = {}
    for row in table.rows:
        key = row.key(table.spec)
        if key is None or not key:
            continue
        shown = ", ".join("blank" if part is None else str(part) for part in key)
        place = table.place(row, table.spec.keys[-1].name)
        if key in seen:
            yield fault("E008", place, f"{shown} was given before, in line {seen[key]}")
            continue
        seen[key] = row.raw.line
        other = folded.setdefault(tuple(str(part).casefold() for part in key), (key, row.raw.line))
        if other[0] != key:
            yield fault("E019", place, f"{shown} differs only in case from line {other[1]}")


def check_references(table: ParsedTable, names: Names) -> Iterator[Fault]:
    """Find names that are used and nowhere declared (E007)."""
    for column in table.spec.fields:
        if column.refers is None:
            continue
        for row in table.rows:
            value = row.values.get(column.name)
            parts = value if isinstance(value, tuple) else () if value is None else (str(value),)
            for part in parts:
                if part not in names[column.refers]:
                    yield _unknown(table, row, column, column.refers, part, names)


def _unknown(
    table: ParsedTable, row: ParsedRow, column: Field, kind: NameOf, name: str, names: Names
) -> Fault:
    place = table.place(row, column.name)
    return fault("E007", place, f"unknown {kind} {name!r}", did_you_mean(name, names[kind]))


def check_evidence(table: ParsedTable, specs: Mapping[str, InputTable]) -> Iterator[Fault]:
    """Check status against source, and intervals (E011, E016, E018, W116, E005 for interval_of)."""
    explained = specs.get(table.spec.name.removesuffix("_sources"))
    if "status" not in table.spec.by_name:
        return
    for row in table.rows:
        status = row.values.get("status")
        if status in {"published", "reported"} and row.values.get("source_url", "?") is None:
            yield fault("E018", table.place(row, "source_url"), f"a {status} figure has no source")
        if "interval_of" in table.spec.by_name:
            yield from _check_interval(table, row)
        elif table.spec.subject is not None:
            yield from _check_value_interval(table, row, explained)


def interval(table: ParsedTable, row: ParsedRow) -> tuple[str, float | None, float | None] | None:
    """Return which column a row's ``low`` and ``high`` bound, and both; ``None`` if there are none.

    Raises :class:`CellError` where they are no numbers or the column is not a number.
    """
    column, low, high = (row.values.get(name) for name in ("interval_of", "low", "high"))
    if column is None and low is None and high is None:
        return None
    if column is None:
        raise CellError("E016", "low and high do not say which column they bound", "write it in interval_of")
    spec = table.spec.by_name.get(str(column))
    numeric = [c.name for c in table.spec.fields if c.is_numeric]
    if spec is None or not spec.is_numeric:
        raise CellError(
            "E005", f"interval_of {column!r} is no column with numbers", did_you_mean(str(column), numeric)
        )
    bounds = [None if b is None else read_number(str(b), spec.unit) for b in (low, high)]
    return spec.name, bounds[0], bounds[1]


def evidence_of(row: ParsedRow) -> tuple[Status, str, str]:
    """Return a row's status, source and note."""
    word = row.values.get("status")
    status: Status = next((known for known in STATUSES if known == word), "assumed")
    return status, str(row.values.get("source_url") or ""), str(row.values.get("note") or "")


def _check_interval(table: ParsedTable, row: ParsedRow) -> Iterator[Fault]:
    try:
        found = interval(table, row)
    except CellError as error:
        name = "interval_of" if error.rule == "E005" else "low"
        yield fault(error.rule, table.place(row, name), str(error), error.fix)
        return
    if found is None:
        return
    for name, bound in zip(("low", "high"), found[1:], strict=True):
        yield from _range_faults(table.place(row, name), bound, table.spec.by_name[found[0]])
    if found[0] in row.values:
        value = row.values[found[0]]
        yield from order_faults(table.place(row, "low"), value, found[1], found[2], found[0])


def bound_faults(
    place: Place, bound: float | None, minimum: float | None, maximum: float | None, name: str
) -> Iterator[Fault]:
    """Check that an interval stays in the range in which its figure has a meaning (E011)."""
    low, high = (-math.inf if minimum is None else minimum), (math.inf if maximum is None else maximum)
    if bound is not None and not low <= bound <= high:
        limits = f"from {low:g}" + (f" to {high:g}" if high < math.inf else "")
        yield fault("E011", place, f"{name} cannot be {bound:g}", f"{name} runs {limits}")


def _range_faults(place: Place, bound: float | None, column: Field) -> Iterator[Fault]:
    yield from bound_faults(place, bound, column.minimum, column.maximum, column.name)
    if column.positive and bound is not None and bound == column.minimum:
        yield fault("E011", place, f"{column.name} cannot be {bound:g}", f"{column.name} is above {bound:g}")


def order_faults(
    place: Place, value: Value, low: float | None, high: float | None, name: str
) -> Iterator[Fault]:
    """Check ``low <= value <= high`` as far as they are numbers (W116)."""
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if low is not None and high is not None and low > high:
        yield fault(
            "W116", place, f"the interval of {name} is upside down: {low:g} to {high:g}", "Swap low and high."
        )
    elif number is not None and ((low is not None and number < low) or (high is not None and number > high)):
        lower, upper = ("?" if b is None else f"{b:g}" for b in (low, high))
        yield fault("W116", place, f"{name} is {number:g}, outside its interval {lower} to {upper}")


def _check_value_interval(
    table: ParsedTable, row: ParsedRow, explained: InputTable | None
) -> Iterator[Fault]:
    """Check evidence rows; their values may be words, of which there is no order."""
    numbers = []
    for name in ("value", "low", "high"):
        text = row.values.get(name)
        try:
            numbers.append(None if text is None else read_number(str(text), ""))
        except CellError:
            numbers.append(None)
    value, low, high = numbers
    column = explained.by_name.get(str(row.values.get("field"))) if explained else None
    if column is not None and column.is_numeric:
        yield from _range_faults(table.place(row, "low"), low, column)
        yield from _range_faults(table.place(row, "high"), high, column)
    if value is not None:
        yield from order_faults(table.place(row, "low"), value, low, high, str(row.values.get("field")))


def check_series(table: ParsedTable, subject: str, names: set[str], horizon: Horizon) -> Iterator[Fault]:
    """Find subjects with quarters of the horizon for which there is no row (E020)."""
    given: dict[str, set[Quarter]] = {name: set() for name in names}
    for row in table.rows:
        name, quarter = row.values.get(subject), row.values.get("quarter")
        if name not in given:
            continue
        if not isinstance(quarter, Quarter):
            del given[str(name)]  # a quarter that cannot be read is reported already
            continue
        given[str(name)].add(quarter)
    needed = [horizon.start + i for i in range(sum(horizon.lengths))]
    for name, quarters in sorted(given.items()):
        missing = [quarter for quarter in needed if quarter not in quarters]
        if missing:
            shown = ", ".join(str(q) for q in missing[:4]) + (
                f" and {len(missing) - 4} more" if len(missing) > 4 else ""
            )
            place = table.raw.place(table.raw.header, table.headers.index.get(subject, 0), subject)
            yield fault("E020", place, f"{name} has no row for {shown}")


def check_supply(table: ParsedTable) -> Iterator[Fault]:
    """Check that commitments fit what can be delivered, and the price's interval (E021, W116)."""
    for row in table.rows:
        numbers = [row.values.get(name) for name in ("committed_racks", "option_racks", "max_racks")]
        if all(isinstance(number, int) for number in numbers):
            committed, option, most = (int(str(number)) for number in numbers)
            if committed + option > most:
                message = f"{committed} committed and {option} optional racks are more than max_racks {most}"
                yield fault("E021", table.place(row, "committed_racks"), message)
        low, high = (row.values.get(f"price_{end}_musd_per_rack") for end in ("low", "high"))
        price = row.values.get("price_musd_per_rack")
        bounds = [None if b is None else float(str(b)) for b in (low, high)]
        yield from order_faults(
            table.place(row, "price_low_musd_per_rack"), price, bounds[0], bounds[1], "price"
        )


def check_first_and_last(table: ParsedTable) -> Iterator[Fault]:
    """Check that the first quarter of a rental or role is not after its last (E016)."""
    for row in table.rows:
        first, last = row.values.get("first_quarter"), row.values.get("last_quarter")
        if isinstance(first, Quarter) and isinstance(last, Quarter) and last < first:
            yield fault(
                "E016",
                table.place(row, "last_quarter"),
                f"last quarter {last} is before first quarter {first}",
            )
