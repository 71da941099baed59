"""The page of known pains: each id once, each link a public address, each named test a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlparse

ROOT = Path(__file__).parents[1]
# Ids of the collection; the numbers that are missing were left out of it as doubles.
IDS = re.findall(
    r"\d+",
    """
2 3 5 6 7 8 10 12 13 15 16 18 19 20 24 26 27 29 30 31 33 34 35 36 39 40 41 42 43 44 46 47 49 50 51 52 54 55
56 57 60 61 62 63 66 67 68 70 71 73 74 75 76 77 78 80 81 82 83 84 86 87 88 89 90 91 92 93 94 96 97 98 99 101
103 104 105 107 108 109 110 112 113 115 117 119 120 121 122 123 124 125 126 127 128 129 130 131 132 134 136
137 138 139 140 141 142 147 148 150 151 152 153 156 157 158 160 162 163 164 165
""",
)
ROW = re.compile(r"^\| (P\d{3}) \| \[([^\]]+)\]\(([^)]+)\) \| ([^|]+) \| ([^|]+) \|$")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[tuple[str, ...]]:
    lines = (ROOT / "docs" / "pains.md").read_text(encoding="utf-8").splitlines()
    found = [ROW.match(line) for line in lines if line.startswith("| P")]
    assert all(found)
    return [match.groups() for match in found if match is not None]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_pain_has_one_row() -> None:
    assert [row[0] for row in rows()] == [f"P{int(number):03}" for number in IDS]


def test_every_link_is_a_public_address() -> None:
    for number, _, link, _, _ in rows():
        parts = urlparse(link)
        assert parts.scheme == "https", number
        assert "." in parts.netloc, number


def test_every_row_names_tests_that_exist_or_a_reason() -> None:
    for number, _, _, _, held_by in rows():
        named = NAMED.findall(held_by)
        for path, name in named:
            assert name.startswith("test_"), number
            assert name in names_in(path), f"{number}: {path}::{name}"
        assert held_by.count("tests/") == len(named), number
        assert named or held_by.startswith(("does not apply: ", "open: ")), number


def test_the_counts_in_the_text_are_those_of_the_table() -> None:
    text = " ".join((ROOT / "docs" / "pains.md").read_text(encoding="utf-8").split())
    held = [row[4] for row in rows()]
    no, later = (sum(one.startswith(word) for one in held) for word in ("does not apply: ", "open: "))
    tested = len(held) - no - later
    assert (
        f"Of {len(held)} reports {tested} are held by tests, {no} do not apply and {later} are open." in text
    )
