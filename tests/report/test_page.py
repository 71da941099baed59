"""The page: every number equals the tables, it stands alone, and no name can harm it."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode

import pytest
from reading import Page, evaluate, rows, shown

from fleetplan.performance.table import OPTIONS
from fleetplan.plan.csvs import write_csv
from fleetplan.plan.schema import ROLES, TABLES


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_every_cited_number_follows_from_the_csv_files(page, plan):
    tables = {}
    summary = plan.summary().as_dict()
    manifest = plan.manifest.model_dump()
    assert len(page.cited) > 60
    for cited in page.cited:
        if cited.table == "unexplained":
            expected = (
                sum(float(r["npv_musd"]) for r in rows(page.csv("ledger"))) - manifest["objective_musd"]
            )
            assert cited.text == "0 M USD"
        elif cited.table in ("manifest", "summary"):
            expected = {"manifest": manifest, "summary": summary}[cited.table][cited.column]
        else:
            if cited.table not in tables:
                tables[cited.table] = rows(page.csv(cited.table))
            expected = evaluate(cited, tables[cited.table])
        assert cited.value == pytest.approx(expected, rel=1e-9, abs=1e-6), cited


def test_every_cited_number_reads_as_its_value(page):
    for cited in page.cited:
        value, half = shown(cited.text, cited.unit)
        assert abs(value - cited.value) <= half * 1.001 + 1e-12, cited


def test_numbers_of_the_first_screen_are_all_cited(html):
    """The five cards hold no digit outside a cited number, a period or a name."""
    cards = re.findall(r'<p class="value">(.*?)</p>', html, re.DOTALL)
    assert len(cards) == 5
    for card in cards:
        rest = re.sub(r"<data.*?</data>", "", card, flags=re.DOTALL)
        assert not re.search(r"\d", rest), card


ALWAYS = [*(spec for spec in TABLES if spec is not ROLES), OPTIONS]


@pytest.mark.parametrize("spec", ALWAYS, ids=lambda s: s.name)
def test_embedded_csv_is_byte_for_byte_the_file_on_disk(page, plan, tmp_path, spec):
    frame = plan.options if spec is OPTIONS else plan.tables[spec.name]
    write_csv(frame, spec, tmp_path / "table.csv")
    assert page.csv(spec.name) == (tmp_path / "table.csv").read_bytes()


def test_page_is_small_and_asks_for_nothing(html, page):
    assert len(html.encode()) < 5_000_000
    for tag, attrs in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base"), tag
        assert not (tag in ("script", "img", "source") and "src" in attrs), (tag, attrs)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_only_the_two_scripts_of_the_page_may_run(page):
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    running = [text for attrs, text in page.scripts if "type" not in attrs]
    hashes = {f"'sha256-{b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in running}
    assert hashes == set(re.findall(r"'sha256-[^']+'", policy))
    assert len(running) == 2


def test_same_plan_gives_the_same_page(html, plan):
    from fleetplan.report import report_html

    assert report_html(plan) == html


def test_every_chart_has_words_and_a_table(page):
    places = [attrs for tag, attrs in page.elements if tag == "div" and "data-chart" in attrs]
    assert len(places) > 30
    assert all(p["role"] == "img" and len(p["aria-label"]) > 20 for p in places)
    grids = {attrs["data-grid"] for _, attrs in page.elements if "data-grid" in attrs}
    charts = page.json("data")["charts"]
    for place in places:
        read = {d["table"] for d in charts[place["data-chart"]]["datasets"].values()}
        assert read & grids, place


def test_every_table_of_the_plan_is_offered(page):
    grids = {attrs["data-grid"] for _, attrs in page.elements if "data-grid" in attrs}
    assert {spec.name for spec in ALWAYS} <= grids
    assert ROLES.name not in grids


def test_roles_outside_training_are_shown_where_there_are_some(small):
    from fleetplan.report import report_html

    page = Page(report_html(small))
    grids = {attrs["data-grid"] for _, attrs in page.elements if "data-grid" in attrs}
    assert {spec.name for spec in (*TABLES, OPTIONS)} <= grids
    roles = small.tables["roles"]
    last = roles.loc[roles["period"] == roles["period"].max(), "racks"].sum()
    cited = {(one.table, one.column): one.value for one in page.cited if one.table == "roles"}
    assert cited["roles", "racks"] == pytest.approx(last)
    assert cited["roles", "value_musd"] == pytest.approx(roles["value_musd"].sum())
    assert cited["roles", "hand_over_musd"] == pytest.approx(roles["hand_over_musd"].sum())


def test_hostile_names_stay_text(hostile_html, hostile):
    page = Page(hostile_html)
    name = next(iter(hostile.scenario.sites))
    assert len(name) == 200
    running = [text for attrs, text in page.scripts if "type" not in attrs]
    assert len(running) == 2, "a name has opened a script"
    assert not any("window.broken" in text for text in running)
    assert any(attrs.get("value") == name for tag, attrs in page.elements if tag == "input")
    data = page.json("data")
    assert name in data["titles"]["site"]
    assert "49" not in "".join(page.text).replace("\n", "").split("{{7*7}}")[0][-10:], "a name was rendered"
    assert any("{{7*7}}" in text for text in page.text)


def test_hostile_numbers_still_follow_from_the_tables(hostile_html):
    page = Page(hostile_html)
    for cited in page.cited:
        if cited.table not in ("manifest", "summary", "unexplained"):
            again = evaluate(cited, rows(page.csv(cited.table)))
            assert cited.value == pytest.approx(again, rel=1e-9, abs=1e-9), cited


def test_script_json_cannot_leave_its_element():
    from fleetplan.report.embedded import script_json

    text = str(script_json({"a": "</script><!-- & \u2028"}))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!-- & \u2028"}


def test_what_was_not_asked_is_said(small):
    from fleetplan.report import report_html

    text = " ".join(Page(report_html(small)).text)
    for sentence in (
        "What one more megawatt, rack or dollar is worth was not asked: run fleetplan explain.",
        "Which orders are ties within the proven gap was not asked.",
        "How the first year would change with a longer horizon was not asked.",
        "Which of them would change it was not asked: run fleetplan explain.",
    ):
        assert sentence in text


def test_answers_fill_their_sections(small, answers):
    from fleetplan.report import report_html

    page = Page(report_html(small, answers))
    text = " ".join(" ".join(page.text).split())
    assert "was not asked" not in text
    assert "One more megawatt is worth most at New Albany OH in 2027Q2: 4.12 M USD ." in text
    assert "2 of 3 orders of the first year" in text.replace("  ", " ")
    assert "MTIA 500" in text
    grids = {attrs["data-grid"] for _, attrs in page.elements if "data-grid" in attrs}
    assert {"prices", "ties", "why_not", "turns", "longer_horizon"} <= grids
    price = rows(page.csv("prices"))
    assert [(r["kind"], r["site"], r["accelerator"], r["period"]) for r in price] == [
        ("demand", "", "", "2027Q1"),
        ("power", "new-albany-oh", "", "2027Q2"),
        ("supply", "", "mtia-400", "2027Q3"),
    ]
    assert float(price[1]["worth_musd"]) == 4.125
    assert (price[1]["confirmed_low_musd"], price[1]["confirmed_high_musd"]) == ("3.9", "4.3")
    entry = rows(page.csv("why_not"))[0]
    assert (float(entry["enters_at"]), float(entry["stays_out_at"])) == (2.6 * 0.8, 2.6 * 0.81)
    for cited in page.cited:
        if cited.table in ("prices", "ties"):
            assert cited.value == evaluate(cited, rows(page.csv(cited.table)))


def test_empty_plan_says_so_in_sentences(small):
    from dataclasses import replace

    from fleetplan.report import report_html

    tables = {
        name: frame if name in ("power", "energy", "work", "ledger") else frame.iloc[:0]
        for name, frame in small.tables.items()
    }
    page = " ".join(" ".join(Page(report_html(replace(small, tables=tables))).text).split())
    for sentence in (
        "Nothing is ordered in this plan.",
        "No rack retires within the horizon.",
        "There is nothing to order this quarter.",
        "no training option is in use",
    ):
        assert sentence in page
