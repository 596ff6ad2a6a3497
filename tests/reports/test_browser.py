"""The report in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.making import finding
from tests.reports.test_reports import hostile, reports
from tests.waiting import PATIENCE

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")

OPEN_ALL = "document.querySelectorAll('details').forEach(details => details.open = true)"


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[playwright.Page]:
    """A tab that fails the test where the page asks for anything, or complains."""
    said: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        yield page
        browser.close()
    assert said == []


@pytest.mark.parametrize("width", [400, 1200])
def test_a_page_opens_without_scrolling_sideways(tab: playwright.Page, tmp_path: Path, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    reports(tmp_path, [finding(number) for number in range(40)])
    tab.goto((tmp_path / "report.html").as_uri())
    assert not tab.locator("pre").first.is_visible()
    tab.locator("summary").first.click()
    assert tab.locator("pre").first.is_visible()
    tab.evaluate(OPEN_ALL)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_in_a_record_runs(tab: playwright.Page, tmp_path: Path) -> None:
    hostile(tmp_path)
    tab.goto((tmp_path / "report.html").as_uri())
    tab.evaluate(OPEN_ALL)
    tab.evaluate("document.querySelectorAll('*').forEach(each => each.dispatchEvent(new MouseEvent('mouseover')))")
    assert tab.evaluate("window.hacked") is None
    assert tab.evaluate("document.querySelectorAll('img, iframe, object, embed, base, form, link, script').length") == 0
    assert "<img src=x onerror" in tab.inner_text("body")
