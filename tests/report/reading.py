"""Reading a report page back without any of the code that wrote it."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser

MULTIPLES = {
    "B USD": 1e3,
    "M USD": 1.0,
    "%": 0.01,
    "T samples/s": 1e12,
    "G samples/s": 1e9,
    "M samples/s": 1e6,
}


@dataclass
class Cited:
    value: float
    unit: str
    table: str
    column: str
    operation: str
    where: dict
    text: str = ""


class Page(HTMLParser):
    """Collects cited numbers, scripts, ids and every element with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.cited: list[Cited] = []
        self.scripts: list[tuple[dict, str]] = []
        self.elements: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.elements.append((tag, found))
        self._open.append(tag)
        if tag == "data":
            where = json.loads(found["data-where"])
            self.cited.append(
                Cited(
                    float(found["value"]),
                    found["data-unit"],
                    found["data-table"],
                    found["data-column"],
                    found["data-op"],
                    where,
                )
            )
        if tag == "script":
            self.scripts.append((found, ""))

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        top = self._open[-1] if self._open else ""
        if top == "data":
            self.cited[-1].text += data
        if top == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif top != "style":
            self.text.append(data)

    def json(self, name: str):
        return next(json.loads(text) for attrs, text in self.scripts if attrs.get("id") == name)

    def csv(self, table: str) -> bytes:
        return gzip.decompress(base64.b64decode(self.json("data")["tables"][table]["csv"]))


def rows(content: bytes) -> list[dict[str, str]]:
    """CSV as text cells, with the guard against formulas taken off."""
    found = list(csv.DictReader(io.StringIO(content.decode())))
    return [{k: v[1:] if re.match(r"'+[=+\-@\t\r]", v) else v for k, v in row.items()} for row in found]


def evaluate(cited: Cited, table: list[dict[str, str]]) -> float:
    """Compute a cited number again from CSV rows."""
    chosen = [r for r in table if all(r[k] in v for k, v in cited.where.items())]
    if cited.operation == "rows":
        return len(chosen)
    if cited.operation in ("ratio", "rest"):
        upper, lower = cited.column.split("/")
        share = sum(float(r[upper]) for r in chosen) / sum(float(r[lower]) for r in chosen)
        return share if cited.operation == "ratio" else 1 - share
    values = [float(r[cited.column]) for r in chosen]
    return {"sum": sum, "max": max, "min": min}[cited.operation](values) if values else 0.0


def shown(text: str, unit: str) -> tuple[float, float]:
    """The value that a reader takes from a text, and half of its last digit."""
    match = re.fullmatch(r"(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(.*)", text)
    assert match, text
    digits = match[1].replace(",", "")
    said = match[2]
    factor = MULTIPLES.get(said, 1.0)
    assert said in ("", unit) or said in MULTIPLES, (text, unit)
    mantissa, _, exponent = digits.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(digits) * factor, 0.5 * 10 ** (int(exponent or 0) - decimals) * factor
