"""How large a report is, how long it takes to make, to open and to filter, at two sizes.

Run ``python -m benchmarks.report.large_page``; it needs a Chromium and the development extra.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "report"))

_T = TypeVar("_T")
SIZES = {"public size": (21, 12, 8), "L": (24, 30, 30)}
"""Quarters, sites and workloads of the simulated plans."""
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_BUSY = "window.fleetplan.charts.some(c => (c.stale || c.busy) && c.place.offsetParent)"
_WATCH = """window.longest = 0;
new PerformanceObserver(list => { for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration); })
  .observe({ type: 'longtask', buffered: true });"""


def main() -> None:
    """Print one block of figures per size."""
    from fixture_plan import make_plan  # type: ignore[import-not-found]

    from fleetplan.report import report_html

    for name, (quarters, sites, workloads) in SIZES.items():
        plan = make_plan(quarters=quarters, site_count=sites, workload_count=workloads)
        rows = sum(len(frame) for frame in plan.tables.values())
        html, seconds = timed(lambda plan=plan: report_html(plan))  # type: ignore[misc]
        print(f"{name}: {rows:,} rows, {len(html.encode()) / 1e6:.2f} MB, made in {seconds:.1f} s")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            path.write_text(html, encoding="utf-8")
            in_browser(path)


def in_browser(path: Path) -> None:
    """Open the page, filter it, and print what that took."""
    from playwright.sync_api import sync_playwright

    from fleetplan.report.pdf import browser

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser(), args=_ARGUMENTS)
        page = running.new_context(viewport={"width": 1440, "height": 1000}, offline=True).new_page()
        page.add_init_script(_WATCH)
        _, seconds = timed(lambda: opened(page, path))
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        longest = page.evaluate("window.longest")
        print(
            f"  first paint {paint:.0f} ms, all charts after {seconds:.1f} s, longest stall {longest:.0f} ms"
        )
        page.evaluate("window.longest = 0")
        _, seconds = timed(lambda: filtered(page))
        longest = page.evaluate("window.longest")
        print(f"  filter by site: all charts again after {seconds:.1f} s, longest stall {longest:.0f} ms")
        running.close()


def opened(page: Any, path: Path) -> None:
    """Open a page and wait until every chart is drawn."""
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready='1']", state="attached", timeout=120_000)


def filtered(page: Any) -> None:
    """Take one site out and wait until every chart shows it."""
    page.locator("[data-filter=site] summary").click()
    page.locator("[data-filter=site] input").first.uncheck()
    while page.evaluate(_BUSY):
        time.sleep(0.05)


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    """A result and the seconds that it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
