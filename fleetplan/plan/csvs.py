"""A table as a CSV file and back, without loss: UTF-8, ``.`` decimals, shortest exact numbers.

A text that a spreadsheet would run as a formula gets one apostrophe in front, and loses it on reading.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fleetplan.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from fleetplan.tables import Column, TableSpec

_RISKY = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_BOOLS = {"True": True, "False": False}
_MAKE: dict[str, Callable[[str], object]] = {"int": int, "float": float, "bool": _BOOLS.__getitem__}


def guard(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{text}" if _RISKY.match(text) else text


def unguard(text: str) -> str:
    """Take back what :func:`guard` did."""
    return text[1:] if _GUARDED.match(text) else text


def write_csv(frame: pd.DataFrame, spec: TableSpec, path: Path) -> None:
    """Write a table with exactly the columns of its specification, rows in key order."""
    ordered = spec.frame(frame)
    for column in spec.columns:
        if column.type == "text":
            ordered[column.name] = ordered[column.name].map(guard)
    ordered.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def read_csv(spec: TableSpec, path: Path) -> pd.DataFrame:
    """Read a table that :func:`write_csv` wrote; raise ``InputError`` where it is not of that form."""
    import pandas as pd

    try:
        texts = pd.read_csv(path, dtype="str", keep_default_na=False, encoding="utf-8")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as cause:
        raise InputError.at(path, "E901", f"is not a table: {cause}", "write the plan again") from cause
    if list(texts.columns) != spec.names:
        what = f"has columns {list(texts.columns)}, table {spec.name} has {spec.names}"
        raise InputError.at(path, "E902", what, "write the plan again with this version of fleetplan")
    return spec.frame(pd.DataFrame({c.name: _typed(texts[c.name], c, path) for c in spec.columns}))


def _typed(texts: pd.Series[str], column: Column, path: Path) -> pd.Series[str] | list[object]:
    if column.type == "text":
        return texts.map(unguard)
    make = _MAKE[column.type]
    values: list[object] = []
    for line, cell in enumerate(texts, start=2):
        try:
            values.append(make(cell))
        except (ValueError, KeyError) as cause:
            fault = Fault(str(path), line, None, "E903", column.name, f"{cell!r} is not {column.type}")
            raise InputError(fault) from cause
    return values
