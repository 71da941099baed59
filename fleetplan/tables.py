"""What a table is: named columns with type, unit and meaning; the data dictionary is made of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

ColumnType = Literal["text", "int", "float", "bool"]
_DTYPE: dict[ColumnType, str] = {"text": "str", "int": "int64", "float": "float64", "bool": "bool"}


@dataclass(frozen=True)
class Column:
    """A column: ``unit`` is empty for names and counts of nothing; ``key`` columns identify a row."""

    name: str
    type: ColumnType
    unit: str
    meaning: str
    key: bool = False


@dataclass(frozen=True)
class TableSpec:
    """A table's name, purpose and columns in order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    @property
    def keys(self) -> list[str]:
        """Columns that identify a row."""
        return [column.name for column in self.columns if column.key]

    def frame(self, rows: Iterable[tuple[object, ...]] | pd.DataFrame) -> pd.DataFrame:
        """Make a typed frame with exactly these columns, sorted by key; missing columns raise."""
        import pandas as pd

        data = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=self.names)
        absent = [name for name in self.names if name not in data.columns]
        if absent:
            message = f"table {self.name} lacks {absent}"
            raise KeyError(message)
        typed = data[self.names].astype({c.name: _DTYPE[c.type] for c in self.columns})
        return typed.sort_values(self.keys, kind="stable", ignore_index=True) if self.keys else typed


def text(name: str, meaning: str, *, key: bool = False) -> Column:
    """A name or word."""
    return Column(name, "text", "", meaning, key)


def count(name: str, unit: str, meaning: str, *, key: bool = False) -> Column:
    """A whole number."""
    return Column(name, "int", unit, meaning, key)


def number(name: str, unit: str, meaning: str, *, key: bool = False) -> Column:
    """A real quantity."""
    return Column(name, "float", unit, meaning, key)


def flag(name: str, meaning: str) -> Column:
    """Yes or no."""
    return Column(name, "bool", "", meaning)
