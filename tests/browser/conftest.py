"""A headless Chromium for the report. Without one these tests are skipped, but fail where ``CI`` is set."""

from __future__ import annotations

import os
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))

import fixture_plan

from fleetplan.report import write_report
from fleetplan.report.pdf import browser as find_browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


_PUT_BACK = """() => {
  document.activeElement.blur();
  for (const f of document.querySelectorAll('.filter')) f.open = false;
  for (const d of document.querySelectorAll('.behind')) d.open = !!d.closest('#orders, #assumptions');
}"""


@pytest.fixture(scope="session")
def chromium():
    path = find_browser()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("no browser is installed: apt-get install chromium")
        pytest.skip("no browser is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, headless=True, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def plan():
    return fixture_plan.make_plan()


@pytest.fixture(scope="session")
def folder(plan, tmp_path_factory):
    """A report's page and CSV files on disk."""
    path = tmp_path_factory.mktemp("report")
    write_report(plan, ["html", "csv"], path)
    return path


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile")
    hostile = fixture_plan.make_plan(quarters=5, site_count=3, workload_count=2, rename=fixture_plan.hostile)
    write_report(hostile, ["html", "csv"], path)
    return path


class Opened:
    """A page opened from disk with the network off; collects everything the console says."""

    def __init__(self, chromium, path, width=1440, scheme="light"):
        self.context = chromium.new_context(
            viewport={"width": width, "height": 1000},
            color_scheme=scheme,
            offline=True,
            accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def ready(self):
        self.page.wait_for_selector("html[data-ready='1']", state="attached", timeout=60_000)
        return self.page


@pytest.fixture(scope="session")
def opened(chromium, folder):
    """The page at 1440 pixels, all charts drawn; one for all tests that put back what they change."""
    one = Opened(chromium, folder / "report.html")
    one.ready()
    yield one
    one.context.close()


@pytest.fixture
def page(opened):
    yield opened.page
    reset = opened.page.locator("#reset")
    if reset.is_visible():
        reset.click()
    opened.page.evaluate(_PUT_BACK)


@pytest.fixture
def open_at(chromium):
    """Open any report at any width and colour scheme."""
    made = []

    def make(path, width=1440, scheme="light"):
        made.append(Opened(chromium, path, width, scheme))
        made[-1].ready()
        return made[-1]

    yield make
    for one in made:
        one.context.close()


def colours(png: bytes) -> Counter[str]:
    """Pixels of a picture by colour."""
    from PIL import Image

    with Image.open(BytesIO(png)) as picture:
        flat = picture.convert("RGB")
        found = flat.getcolors(flat.width * flat.height) or []
    return Counter({f"#{r:02x}{g:02x}{b:02x}": n for n, (r, g, b) in found})


@pytest.fixture(scope="session")
def pixels():
    return colours


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """Where screenshots go: ``FLEETPLAN_SHOTS``, or a temporary folder."""
    path = Path(os.environ.get("FLEETPLAN_SHOTS") or tmp_path_factory.mktemp("shots"))
    path.mkdir(parents=True, exist_ok=True)
    return path
