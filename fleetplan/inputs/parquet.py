"""Tables from Parquet files, as text: the same rules as for CSV. Needs the extra ``parquet``."""

from __future__ import annotations

import io
from typing import Any

from fleetplan.errors import Fault, MissingExtraError
from fleetplan.inputs.reader import RawRow, RawTable
from fleetplan.inputs.rules import Place, fault


def read_parquet(data: bytes, shown: str) -> tuple[RawTable | None, list[Fault]]:
    """Read a Parquet file's bytes to text cells; lines count as if the header were line 1.

    Raises ``MissingExtraError`` if pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        return None, [fault("E002", Place(shown), f"this is no Parquet file: {str(error).splitlines()[0]}")]
    columns = [column.to_pylist() for column in table.columns]
    header = RawRow(1, tuple(str(name).strip() for name in table.column_names))
    rows = zip(*columns, strict=True)
    return RawTable(
        shown, header, tuple(RawRow(n, tuple(map(cell_text, row))) for n, row in enumerate(rows, 2))
    ), []


def cell_text(value: Any) -> str:
    """Return a typed cell as the text that a CSV file would hold; nothing is lost and null is blank."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value).strip()
