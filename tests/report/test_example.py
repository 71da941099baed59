"""The committed example is the report that today's code makes: same sections, charts, tables and columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import Page, evaluate, rows

EXAMPLE = Path(__file__).parents[2] / "reports" / "example" / "report.html"


@pytest.fixture(scope="module")
def example():
    return Page(EXAMPLE.read_text(encoding="utf-8"))


def structure(page):
    data = page.json("data")
    return {
        "sections": [a["id"] for tag, a in page.elements if tag == "section"],
        "charts": {name: sorted(chart["datasets"]) for name, chart in data["charts"].items()},
        "tables": {name: [c["name"] for c in table["columns"]] for name, table in data["tables"].items()},
        "titles_and_cards": sum(1 for tag, a in page.elements if a.get("class") == "card"),
    }


def test_example_has_the_structure_of_today(example, html):
    """After a change of the report: make example."""
    assert structure(example) == structure(Page(html))


def test_example_is_of_the_public_scenario_and_adds_up(example):
    data = example.json("data")
    assert len(data["titles"]["site"]) == 12
    assert len(data["titles"]["accelerator"]) == 16
    assert len(data["periods"]) == 21
    for cited in example.cited:
        if cited.table in data["tables"]:
            again = evaluate(cited, rows(example.csv(cited.table)))
            assert cited.value == pytest.approx(again, rel=1e-9, abs=1e-9), cited
