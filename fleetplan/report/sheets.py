"""The plan as an Excel workbook: one typed sheet per table, and a summary whose totals are live formulas.

XlsxWriter writes it, because it stores the result of a formula beside it: programs that show a
workbook without computing (previews, readers) see the totals too, which openpyxl cannot do. Texts are
always written as texts, so that no name can become a formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleetplan.errors import SolverError
from fleetplan.plan.csvs import guard
from fleetplan.report.contents import Contents
from fleetplan.report.embedded import Table
from fleetplan.tables import Column

if TYPE_CHECKING:
    from xlsxwriter import Workbook  # type: ignore[import-untyped]
    from xlsxwriter.format import Format  # type: ignore[import-untyped]
    from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

MAX_ROWS = 1_048_575
"""Rows of data that an Excel sheet holds below its header."""
_FORMATS = {"share": "0.0%", "M USD": "#,##0.00", "MW": "#,##0.00", "racks": "#,##0.##", "samples/s": "#,##0"}
_OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "default_date_format": "yyyy-mm-dd",
}


@dataclass
class _Book:
    """A workbook under construction, with its formats made once."""

    book: Workbook
    formats: dict[str, Format] = field(default_factory=dict)

    def format(self, name: str, **properties: Any) -> Format:
        if name not in self.formats:
            self.formats[name] = self.book.add_format(properties)
        return self.formats[name]

    @property
    def header(self) -> Format:
        return self.format("header", bold=True, text_wrap=True, valign="top", bottom=1)

    @property
    def bold(self) -> Format:
        return self.format("bold", bold=True)

    def number(self, unit: str) -> Format:
        code = _FORMATS.get(unit, "General")
        return self.format(code, num_format=code)

    @property
    def quoted(self) -> Format:
        """For texts that look like formulas: they stay texts when somebody edits the cell."""
        return self.format("quoted", quote_prefix=True)


def write_workbook(made: Contents, path: Path) -> None:
    """Write the workbook; a table that does not fit a sheet raises ``SolverError``."""
    import xlsxwriter

    for table in made.tables:
        if len(table.frame) > MAX_ROWS:
            what = f"table {table.name} has {len(table.frame):,} rows, an Excel sheet holds {MAX_ROWS:,}"
            raise SolverError(f"{what}: write it as parquet or csv")
    with xlsxwriter.Workbook(path, _OPTIONS) as workbook:
        workbook.set_properties(_properties(made))
        book = _Book(workbook)
        summary = workbook.add_worksheet("summary")
        for table in (*made.tables, made.dictionary()):
            _sheet(book, table)
        _Summary(book, summary, made).write()


def _properties(made: Contents) -> dict[str, Any]:
    """Fixed by the plan, so that the same plan gives the same file."""
    manifest = made.source.manifest
    return {
        "title": made.source.scenario.title,
        "created": datetime.fromisoformat(manifest["created_at"]).replace(tzinfo=None),
        "comments": "made by fleetplan",
    }


def _sheet(book: _Book, table: Table) -> None:
    """One table: header with unit and meaning in a comment-free way, frozen, filtered, typed."""
    sheet = book.book.add_worksheet(table.name)
    for at, column in enumerate(table.spec.columns):
        sheet.write_string(0, at, column.name, book.header)
        sheet.set_column(at, at, _width(table, column), book.number(column.unit))
        _cells(book, sheet, at, column, table.frame[column.name].tolist())
    sheet.freeze_panes(1, sum(1 for c in table.spec.columns[:2] if c.key))
    if len(table.frame):
        sheet.autofilter(0, 0, len(table.frame), len(table.spec.columns) - 1)


def _cells(book: _Book, sheet: Worksheet, at: int, column: Column, values: Sequence[Any]) -> None:
    if column.type == "text":
        for row, value in enumerate(values, start=1):
            risky = guard(value) != value
            sheet.write_string(row, at, value, book.quoted if risky else None)
    elif column.type == "bool":
        for row, value in enumerate(values, start=1):
            sheet.write_boolean(row, at, bool(value))
    else:
        form = book.number(column.unit)
        for row, value in enumerate(values, start=1):
            if math.isfinite(value):
                sheet.write_number(row, at, value, form)


def _width(table: Table, column: Column) -> float:
    if column.type != "text" or table.frame.empty:
        return max(10.0, min(26.0, len(column.name) * 0.9))
    return float(max(10, min(44, table.frame[column.name].str.len().max() + 1, 44)))


@dataclass
class _Summary:
    """The first sheet: the decision in words, then blocks whose numbers are formulas on the other sheets."""

    book: _Book
    sheet: Worksheet
    made: Contents
    row: int = 0

    def write(self) -> None:
        source = self.made.source
        self.sheet.set_column(0, 0, 46)
        self.sheet.set_column(1, 4, 18)
        self._line(source.scenario.title, self.book.format("title", bold=True, font_size=14))
        for sentence in source.summary.lines():
            self._line(sentence.strip())
        self._costs()
        self._racks()
        self._power()
        self.sheet.freeze_panes(1, 0)

    def _line(self, text: str, form: Format | None = None) -> None:
        self.sheet.write_string(self.row, 0, text, form or self._quoted_if_risky(text))
        self.row += 1

    def _quoted_if_risky(self, text: str) -> Format | None:
        return self.book.quoted if guard(text) != text else None

    def _heads(self, *heads: str) -> None:
        self.row += 1
        for at, head in enumerate(heads):
            self.sheet.write_string(self.row, at, head, self.book.header)
        self.row += 1

    def _costs(self) -> None:
        ledger = self.made.source.table("ledger")
        self._heads("cost item", "present value, M USD", "nominal, M USD")
        first = self.row
        for item in sorted(set(ledger["item"])):
            columns = ("npv_musd", "amount_musd")
            self._sums(item, "ledger", (("item", item),), columns, "M USD")
        self._totals("total of the ledger", first, ("npv_musd", "amount_musd"), "ledger")
        total = self.row - 1
        objective = float(self.made.source.manifest["objective_musd"])
        self._label("objective of the plan")
        self.sheet.write_number(self.row, 1, objective, self.book.number("M USD"))
        self.row += 1
        self._label("difference")
        value = float(ledger["npv_musd"].sum()) - objective
        formula = f"=ROUND(B{total + 1}-B{total + 2},6)"
        self.sheet.write_formula(self.row, 1, formula, self.book.number("M USD"), round(value, 6))
        self.row += 1

    def _racks(self) -> None:
        orders = self.made.source.table("orders")
        self._heads("accelerator", "racks, committed too", "capex, M USD")
        first = self.row
        for name in sorted(set(orders["accelerator"])):
            self._sums(name, "orders", (("accelerator", name),), ("racks", "capex_musd"), "M USD")
        self._totals("total of the orders", first, ("racks", "capex_musd"), "orders")

    def _power(self) -> None:
        self._heads("period", "MW used", "MW there", "MW free")
        columns = ("used_mw", "available_mw", "headroom_mw")
        for period in self.made.source.periods:
            self._sums(period.name, "power", (("period", period.name),), columns, "MW")

    def _label(self, text: str) -> None:
        self.sheet.write_string(self.row, 0, text, self._quoted_if_risky(text))

    def _sums(
        self, label: str, table: str, where: tuple[tuple[str, str], ...], columns: tuple[str, ...], unit: str
    ) -> None:
        """One row: the label, and for each column the sum over the rows that hold it exactly."""
        self._label(label)
        frame = self.made.source.table(table)
        for name, value in where:
            frame = frame[frame[name] == value]
        for at, column in enumerate(columns, start=1):
            tests = "*".join(f"EXACT({self._range(table, name)},$A{self.row + 1})" for name, _ in where)
            formula = f"=SUMPRODUCT({tests}*{self._range(table, column)})"
            form = self.book.number("racks" if column == "racks" else unit)
            self.sheet.write_formula(self.row, at, formula, form, float(frame[column].sum()))
        self.row += 1

    def _totals(self, label: str, first: int, columns: tuple[str, ...], table: str) -> None:
        self.sheet.write_string(self.row, 0, label, self.book.bold)
        form = self.book.format("total", bold=True, top=1, num_format="#,##0.00")
        for at, column in enumerate(columns, start=1):
            letter = "ABCDEFGH"[at]
            formula = f"=SUM({letter}{first + 1}:{letter}{self.row})" if self.row > first else "=0"
            value = float(self.made.source.table(table)[column].sum())
            self.sheet.write_formula(self.row, at, formula, form, value)
        self.row += 1

    def _range(self, table: str, column: str) -> str:
        from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]

        frame = self.made.source.table(table)
        letter = xl_col_to_name(list(frame.columns).index(column))
        return f"{table}!${letter}$2:${letter}${max(2, len(frame) + 1)}"
