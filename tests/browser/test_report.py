"""The report in a real browser: drawn, filtered, downloaded, printed, read aloud."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fleetplan.report.palette import colour

pytestmark = pytest.mark.browser


def disk(folder, name):
    return list(csv.DictReader(io.StringIO((folder / "csv" / f"{name}.csv").read_text(encoding="utf-8"))))


def test_opens_offline_without_a_word_on_the_console(opened, folder):
    assert opened.said == []
    assert set(opened.asked) == {(folder / "report.html").as_uri()}


def test_first_paint_is_quick(opened):
    paints = opened.page.evaluate(
        "performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)"
    )
    assert paints[0] < 2000


def test_every_chart_is_drawn_in_its_colours(page, plan, pixels):
    drawn = page.eval_on_selector_all(".chart", "found => found.map(e => Number(e.dataset.drawn))")
    assert len(drawn) > 30
    assert min(drawn) > 0
    kinds = page.eval_on_selector_all(".chart", "found => [...new Set(found.map(e => e.dataset.chart))]")
    for kind in kinds:
        place = page.locator(f"[data-chart={kind}]").last
        seen = pixels(place.screenshot())
        background, most = seen.most_common(1)[0]
        assert most < 0.995 * sum(seen.values()), place.get_attribute("aria-label")
        assert background == "#ffffff" or place.get_attribute("data-chart") != "power_stack"
    last = plan.power_by_accelerator.query("period == '2031Q4'").groupby("accelerator")["used_mw"].sum()
    seen = pixels(page.locator("#plan .wide .chart").screenshot())
    for name, mw in last.items():
        if mw > 20:
            assert seen[colour(name)] > 50, name


def test_bars_are_as_high_as_the_tables_say(page, plan, folder):
    """Heights of the stacked bars of the last period, read from the drawing, in proportion to the MW."""
    every = sum(len(disk(folder, t)) for t in ("power_by_accelerator", "power", "orders", "retirements"))
    page.wait_for_selector(f"#plan .wide .chart[data-drawn='{every}']")  # a test before may have filtered it
    rows = plan.power_by_accelerator.query("period == '2031Q4'").groupby("accelerator")["used_mw"].sum()
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('#plan .wide .chart .mark-rect.role-mark path')].map(p => {
             const b = p.getBBox(), m = p.getCTM(); return [b.x + m.e, b.height, p.getAttribute('fill')] })"""
    )
    right = max(box[0] for box in boxes)
    heights = {fill: height for x, height, fill in boxes if abs(x - right) < 1}
    total = sum(heights.values())
    for name, mw in rows.items():
        assert heights[colour(name)] / total == pytest.approx(mw / rows.sum(), abs=0.004), name


def test_site_filter_changes_charts_and_tables(page, folder):
    page.locator("[data-filter=site] summary").click()
    page.get_by_role("button", name="none").first.click()
    page.locator("[data-filter=site] input[value=altoona-ia]").check()
    page.keyboard.press("Escape")
    wide = page.locator("#plan .wide .chart")
    tables = ("power_by_accelerator", "power", "orders", "retirements")
    expected = sum(len([r for r in disk(folder, t) if r["site"] == "altoona-ia"]) for t in tables)
    assert {r["kind"] for r in disk(folder, "retirements")} <= {"early", "end-of-life"}
    page.wait_for_selector(f"#plan .wide .chart[data-drawn='{expected}']")
    assert wide.get_attribute("data-drawn") == str(expected)
    assert page.locator("#plan [data-of-site]:visible").count() == 1
    mine = [r for r in disk(folder, "orders") if r["site"] == "altoona-ia"]
    note = page.locator("#orders .actions span").inner_text()
    assert note.startswith(f"{len(mine)} of {len(disk(folder, 'orders'))} rows pass")
    cells = page.locator("#orders [data-grid=orders] tbody tr td:nth-child(2)").all_inner_texts()
    assert set(cells) == {"altoona-ia"}
    assert page.locator("#said").inner_text().startswith("Charts and tables below show what is chosen")
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#plan [data-of-site]:visible").count() == 12


def test_accelerator_filter_takes_its_colour_out(page, pixels):
    wide = page.locator("#plan .wide .chart")
    assert pixels(wide.screenshot())[colour("gb300-nvl72")] > 50
    page.locator("[data-filter=accelerator] summary").click()
    page.locator("[data-filter=accelerator] input[value='gb300-nvl72']").uncheck()
    page.keyboard.press("Escape")
    page.wait_for_timeout(1500)
    seen = pixels(wide.screenshot())
    assert seen[colour("gb300-nvl72")] == 0
    assert seen[colour("mtia-400")] > 50


def test_workload_filter_limits_service_and_assignment(page, folder):
    page.locator("[data-filter=workload] summary").click()
    page.locator("[data-filter=workload]").get_by_role("button", name="none").click()
    page.locator("[data-filter=workload] input[value=retrieval]").check()
    page.keyboard.press("Escape")
    mine = len([r for r in disk(folder, "work") if r["workload"] == "retrieval"])
    page.locator("#work").scroll_into_view_if_needed()
    page.wait_for_selector(f"[data-chart=service][data-drawn='{mine}']")
    assert page.locator("#steps [data-of-workload]:visible").count() == 1


def test_period_choice_changes_the_assignment(page, folder):
    rows = disk(folder, "assignment")
    page.locator("[data-period=assignment]").select_option("2030Q1")
    expected = len([r for r in rows if r["period"] == "2030Q1"])
    page.wait_for_selector(f"[data-chart=assignment][data-drawn='{expected}']")


def test_every_download_is_the_file_on_disk(page, folder):
    names = page.eval_on_selector_all("[data-grid]", "found => [...new Set(found.map(e => e.dataset.grid))]")
    assert {p.stem for p in (folder / "csv").glob("*.csv")} - {"datadictionary"} == set(names)
    page.eval_on_selector_all("details.behind", "found => found.forEach(d => { d.open = true; })")
    for name in names:
        with page.expect_download() as started:
            page.get_by_role("button", name=f"Download {name}.csv").first.click()
        got = started.value
        assert got.suggested_filename == f"{name}.csv"
        assert Path(got.path()).read_bytes() == (folder / "csv" / f"{name}.csv").read_bytes(), name


def test_cells_shown_are_the_cells_on_disk(page, folder):
    page.locator("#money details.behind").first.evaluate("d => { d.open = true; }")
    grid = page.locator("#money [data-grid=ledger]")
    grid.locator("tbody tr").first.wait_for()
    got = grid.evaluate(
        "g => [...g.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.title || c.textContent))"
    )
    rows = [list(r.values()) for r in disk(folder, "ledger")][: len(got)]
    assert len(got) == 200
    for shown, real in zip(got, rows, strict=True):
        for a, b in zip(shown, real, strict=True):
            assert a in (b, {"True": "yes", "False": "no"}.get(b)) or float(a) == float(b), (a, b)
    grid.get_by_role("button", name="Show more").click()
    assert grid.locator("tbody tr").count() == len(disk(folder, "ledger"))


def test_sorting_by_a_header_tells_its_direction(page):
    head = page.locator("#orders [data-grid=orders] th").nth(9)
    cells = page.locator("#orders [data-grid=orders] tbody tr td:nth-child(10)")
    for direction in ("ascending", "descending"):
        head.get_by_role("button").click()
        page.wait_for_timeout(300)
        assert head.get_attribute("aria-sort") == direction
        values = [float(t.replace(",", "")) for t in cells.all_inner_texts()]
        assert values == sorted(values, reverse=direction == "descending")


def test_copy_gives_what_is_shown(page, folder):
    page.locator("#orders").get_by_role("button", name="Copy what is shown").click()
    page.get_by_role("button", name="Copied").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    rows = disk(folder, "orders")
    assert lines[0].split("\t") == list(rows[0])
    assert len(lines) == len(rows) + 1
    assert sum(float(line.split("\t")[9]) for line in lines[1:]) == sum(float(r["racks"]) for r in rows)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_serious_accessibility_fault(open_at, folder, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_at(folder / "report.html", width, scheme).page
    # what is inside a drawing is hidden from assistive programs: the drawing has a name and a table
    found = Axe().run(page, context={"exclude": [[".chart svg"]]}).response["violations"]
    serious = [
        (v["id"], [n["html"][:160] for n in v["nodes"][:3]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (768, "light"), (390, "dark")])
def test_no_width_needs_sideways_scrolling(open_at, folder, shots, width, scheme):
    page = open_at(folder / "report.html", width, scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=shots / f"report-{width}-{scheme}.png", full_page=True)


def test_dark_follows_the_system_and_the_button(open_at, folder, pixels):
    page = open_at(folder / "report.html", 1440, "dark").page
    assert pixels(page.screenshot()).most_common(1)[0][0] == "#10161d"
    assert pixels(page.locator("#plan .wide .chart").screenshot()).most_common(1)[0][0] == "#10161d"
    button = page.locator("#theme")
    button.click()
    assert button.inner_text() == "Theme: light"
    assert pixels(page.screenshot()).most_common(1)[0][0] == "#ffffff"


def test_print_is_light_and_without_controls(open_at, folder, pixels):
    page = open_at(folder / "report.html", 1000, "dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert pixels(page.screenshot()).most_common(1)[0][0] == "#ffffff"
    assert page.locator(".bar:visible, .tools:visible, .actions:visible").count() == 0
    assert page.locator("#plan .chart svg:visible").count() == 13
    assert page.pdf().startswith(b"%PDF")


def test_keyboard_reaches_and_works_the_filters(page):
    assert (
        page.evaluate("document.querySelector('a, button, summary, input').textContent") == "Skip to the plan"
    )
    page.locator("[data-filter=site] summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("[data-filter=site]").get_attribute("open") is not None
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.locator("[data-filter=site] .chosen").inner_text() == "11 of 12"
    page.keyboard.press("Escape")
    assert page.locator("[data-filter=site]").get_attribute("open") is None
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_filter_that_leaves_nothing_says_so(page):
    page.locator("[data-filter=accelerator] summary").click()
    page.locator("[data-filter=accelerator]").get_by_role("button", name="none").click()
    page.keyboard.press("Escape")
    page.locator("[data-chart=landings]").scroll_into_view_if_needed()
    page.locator("[data-chart=landings]").get_by_text("Nothing matches the filters.").wait_for()


@pytest.mark.parametrize("width", [1440, 390])
def test_hostile_names_are_safe_and_readable(open_at, hostile_folder, shots, width):
    opened = open_at(hostile_folder / "report.html", width)
    page = opened.page
    assert opened.said == []
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=shots / f"hostile-{width}.png", full_page=True)
    name = disk(hostile_folder, "orders")[0]["site"].removeprefix("'")
    assert page.locator("[data-filter=site] input").first.get_attribute("value").startswith("=cmd|")
    row = page.locator("#orders [data-grid=orders] tbody tr").first
    assert row.locator("td").nth(1).inner_text() in {
        r["site"].removeprefix("'") for r in disk(hostile_folder, "orders")
    }
    assert len(name) == 200


def test_the_page_for_the_printer_is_drawn_when_it_has_loaded(chromium, tmp_path):
    """A browser that prints from the command line does not wait for what comes later."""
    from fixture_plan import make_plan

    from fleetplan.report.contents import contents
    from fleetplan.report.page import page as whole_page

    small = make_plan(quarters=5, site_count=3, workload_count=2)
    (tmp_path / "print.html").write_text(whole_page(contents(small), for_print=True), encoding="utf-8")
    page = chromium.new_context(offline=True).new_page()
    page.goto((tmp_path / "print.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.ready") == "1"
    assert page.locator(".chart svg").count() == page.locator(".chart").count() > 10
    page.context.close()
