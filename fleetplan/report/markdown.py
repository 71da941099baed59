"""The plan in brief as Markdown: for a chat, a ticket or a merge request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleetplan.report import decision
from fleetplan.report.source import ReportSource

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def report_markdown(source: ReportSource) -> str:
    """The decision, the five numbers, what to do this quarter, and how it was proven."""
    lines = [f"# {safe(source.scenario.title)}", "", f"**{safe(decision.headline(source))}**", ""]
    lines += [*(f"- {safe(line.strip())}" for line in source.summary.lines()[1:]), ""]
    lines += ["## Five numbers", ""]
    cards = decision.cards(source)
    lines += _table(("number", "value", "trend"), [(c.name, str(c.value), str(c.trend)) for c in cards])
    lines += ["", f"## What to do this quarter ({source.first})", ""]
    todo = [
        (
            f"{a.racks} {source.title('accelerator', a.accelerator)} racks",
            source.title("site", a.site),
            a.by,
            a.service,
            str(a.why),
            str(a.sure),
        )
        for a in decision.actions(source)
    ]
    head = ("order", "site", "last responsible date", "in service", "why", "how sure")
    lines += _table(head, todo) if todo else ["There is nothing to order this quarter."]
    return "\n".join(lines) + "\n"


def safe(text: object) -> str:
    """Text that Markdown shows as it is: marks escaped, line ends taken out."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head)]
    shown = [[safe(cell) for cell in row] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in (*lines, *shown)]
