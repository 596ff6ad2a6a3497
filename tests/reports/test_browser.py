"""The report in a real browser: what it shows, what it does, and what it does not let anything do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.reports.reading import read_run
from clonediff.reports.records import Run
from clonediff.reports.writing import write_reports
from tests.reports.hostile import PAYLOADS, hostile_folder
from tests.reports.making import HOSTILE, TWO, difference, drawn, finding, many, nightly, run_folder
from tests.waiting import PATIENCE

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OPENED = "document.querySelectorAll('#list .finding > details[open]').length"
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
"""What was set going is done, and drawn."""
FEW = 10
"""The times that sorting or searching lays the page out, at the most: once is enough, and once a finding is a wait."""
TITLES = "[...document.querySelectorAll('#list .finding:not([hidden]) .title')].map(each => each.textContent)"


@pytest.fixture(scope="module")
def driver() -> Iterator[playwright.Playwright]:
    with playwright.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(
    driver: playwright.Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[playwright.BrowserContext]:
    context = driver.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), executable_path=CHROMIUM, headless=True, args=OPTIONS
    )
    context.set_default_timeout(PATIENCE * 1000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def tab(browser: playwright.BrowserContext) -> Iterator[playwright.Page]:
    """A tab that fails the test where the page asks for anything, or complains."""
    page = browser.new_page()
    said: list[str] = []
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    yield page
    page.close()
    assert said == []


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("three")
    return written(run_folder(folder, [finding(0), finding(1), finding(2)], run=nightly(graphs=drawn())))


@pytest.fixture(scope="module")
def two_hundred(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("many")
    return written(run_folder(folder, many(200), run=nightly(graphs=drawn()), progress=range(100, 12_000, 100)))


def written(folder: Path) -> str:
    return write_reports(read_run(folder))[0].as_uri()


def test_nothing_found_is_shown_as_that(tab: playwright.Page, tmp_path: Path) -> None:
    tab.goto(written(run_folder(tmp_path)))
    assert tab.inner_text("h1").endswith("cloner is faithful on all 60 graphs: nothing new")
    assert tab.is_visible("text=Nothing new was found.")
    assert not tab.is_visible("#tools")


def test_a_finding_opens_with_all_that_is_known_of_it(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    tab.click(f"summary:has-text('{finding(2).title}')")
    opened = tab.locator("#list .finding:has(> details[open])")
    assert opened.count() == 1
    assert opened.locator("figure svg").count() == 2
    assert opened.locator("figure svg").first.is_visible()
    assert opened.locator("tr.root").inner_text().split("\t")[2:5] == ["trainable", "false", "true"]
    assert opened.locator("pre[aria-label='repro.py']").is_visible()
    assert not opened.locator("pre[aria-label='issue.md']").is_visible()
    opened.locator("summary:has-text('issue.md')").click()
    assert "## What should happen" in opened.locator("pre[aria-label='issue.md']").inner_text()


def test_findings_are_sorted_by_keyboard(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    first = tab.evaluate(TITLES)
    assert first == [finding(1).title, finding(0).title, finding(2).title]
    tab.focus("#sort")
    tab.keyboard.type("Title")
    assert tab.evaluate(TITLES) == sorted(first, key=str.lower)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate(TITLES) == sorted(first, key=str.lower, reverse=True)
    assert tab.get_attribute("#reverse", "aria-pressed") == "true"


def test_a_search_leaves_what_has_all_its_words(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    tab.keyboard.press("/")
    tab.keyboard.type("dense trainable")
    assert tab.evaluate(TITLES) == [finding(2).title]
    assert tab.inner_text("#shown") == "1 of 3 findings"
    tab.fill("#search", "print('lstm: value")
    assert tab.evaluate(TITLES) == [finding(0).title], "the script is searched too"
    tab.fill("#search", "no such thing")
    assert tab.evaluate(TITLES) == []
    assert tab.is_visible("#no-match")
    tab.keyboard.press("Escape")
    assert len(tab.evaluate(TITLES)) == 3


def test_a_finding_is_opened_by_the_keyboard_alone(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    tab.focus("#open-all")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate(OPENED) == 1
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "link to this finding"


def test_a_link_to_a_finding_opens_it(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    anchor = tab.evaluate("document.querySelectorAll('#list .finding')[2].id")
    tab.goto("about:blank")
    tab.goto(f"{three}#{anchor}")
    assert tab.evaluate(OPENED) == 1
    assert tab.evaluate("document.querySelector('#list .finding > details[open]').parentElement.id") == anchor
    top = tab.evaluate("document.querySelector('#list .finding > details[open]').getBoundingClientRect().top")
    assert 0 <= top < tab.viewport_size["height"]


def test_the_script_is_copied_as_it_is(tab: playwright.Page, tmp_path: Path) -> None:
    folder = run_folder(tmp_path, [finding(0)])
    script = "import keras\n\nprint('<b>&amp;')  # \u00e9\n"
    next((folder / "findings").iterdir()).joinpath("repro.py").write_text(script)
    tab.goto(written(folder))
    tab.click("#list .finding summary")
    tab.click("button[aria-label='Copy repro.py']")
    tab.wait_for_selector("text=Copied")
    assert tab.evaluate("navigator.clipboard.readText()") == script


def test_the_theme_is_the_system_s_until_another_is_chosen(tab: playwright.Page, three: str) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    tab.emulate_media(color_scheme="dark")
    tab.goto(three)
    dark = tab.evaluate(shade)
    tab.emulate_media(color_scheme="light")
    light = tab.evaluate(shade)
    assert dark != light
    tab.click("#theme")
    assert tab.evaluate(shade) == dark
    tab.reload()
    assert tab.evaluate(shade) == dark
    tab.click("#theme")
    assert tab.evaluate(shade) == light


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_without_scrolling_sideways(tab: playwright.Page, three: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    tab.goto(three)
    tab.click("#open-all")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    cut = """each => each.filter(one => !one.closest('.scroll, pre, svg') && one.scrollWidth > one.clientWidth + 1)
        .filter(one => getComputedStyle(one).display !== 'inline').map(one => one.outerHTML.slice(0, 80))"""
    assert tab.eval_on_selector_all("main *, header *", cut) == []


def test_a_table_is_sorted_by_its_heads(tab: playwright.Page, three: str) -> None:
    tab.goto(three)
    counts = "[...document.querySelectorAll('.matrix tbody tr')].map(row => Number(row.cells[1].dataset.sort))"
    tab.focus(".matrix thead th:nth-child(2) button")
    tab.keyboard.press("Enter")
    assert tab.evaluate(counts) == sorted(tab.evaluate(counts))
    tab.keyboard.press("Enter")
    found = tab.evaluate(counts)
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]
    assert tab.get_attribute(".matrix thead th:nth-child(2)", "aria-sort") == "descending"


def test_nothing_in_a_record_runs(tab: playwright.Page, tmp_path: Path) -> None:
    hostile = finding(0, title=HOSTILE, source=HOSTILE, versions={HOSTILE: HOSTILE})
    root = difference(0, path=HOSTILE, aspect=HOSTILE, expected=HOSTILE)
    run_folder(tmp_path, [hostile, finding(1, differences=(root,))], run=Run(HOSTILE, {HOSTILE: {HOSTILE: HOSTILE}}))
    folder = next((tmp_path / "findings").iterdir())
    (folder / "repro.py").write_text(HOSTILE)
    (folder / "issue.md").write_text(HOSTILE)
    tab.goto(written(tmp_path))
    tab.click("#open-all")
    tab.fill("#search", "onerror")
    assert tab.evaluate("window.hacked") is None
    assert tab.evaluate("document.images.length") == 0
    assert "<img src=x onerror" in tab.inner_text("body")


ONCE = ("script", "handler", "all of it")
OTHERS = pytest.mark.slow(reason="all of it has some of each; test_hostile looks for each in the files")


@pytest.mark.parametrize("payload", [each if each in ONCE else pytest.param(each, marks=OTHERS) for each in PAYLOADS])
def test_nothing_runs_whatever_stands_in_every_field(tab: playwright.Page, tmp_path: Path, payload: str) -> None:
    page = written(hostile_folder(tmp_path, PAYLOADS[payload]))
    tab.goto(page)
    tab.click("#open-all")
    tab.evaluate("document.querySelectorAll('details.more > summary').forEach(each => each.click())")
    for key in ("title", "subject", "check", "new"):
        tab.select_option("#sort", key)
    tab.fill("#search", PAYLOADS[payload][:30].replace("\n", " "))
    tab.fill("#search", "")
    tab.evaluate("document.querySelectorAll('th button, button.copy').forEach(each => each.click())")
    tab.evaluate("document.querySelectorAll('*').forEach(each => each.dispatchEvent(new MouseEvent('mouseover')))")
    tab.goto(f"{page}#<img src=x onerror=window.hacked=1>")
    tab.evaluate(SETTLED)
    # `tab` says so where a script was refused, something was asked for or a dialog opened.
    assert tab.evaluate("[window.hacked, window.onerror]") == [None, None]
    assert tab.evaluate("document.querySelectorAll('img, iframe, object, embed, base, form, link').length") == 0
    assert tab.evaluate("document.scripts.length") == 2
    assert tab.locator("a[href^='javascript:' i]").count() == 0
    attributes = tab.evaluate("[...document.querySelectorAll('*')].flatMap(each => each.getAttributeNames())")
    assert not [name for name in attributes if name.startswith("on")]
    assert tab.locator("#list .finding svg.g").count() >= 2, "there is a drawing, of a graph with these names"


def test_a_payload_that_ran_would_be_noticed(browser: playwright.BrowserContext, tmp_path: Path) -> None:
    """The test above can fail: without the policy and without escaping, the same payload runs."""
    page = browser.new_page()
    (tmp_path / "bare.html").write_text(f"<!doctype html><p>{PAYLOADS['handler']}</p>")
    page.goto((tmp_path / "bare.html").as_uri())
    page.wait_for_function("window.hacked === 1")
    page.close()


@pytest.mark.slow(reason="megabytes; test_hostile looks at how large a report of such texts gets")
def test_texts_of_a_megabyte_open_without_a_wait(tab: playwright.Page, tmp_path: Path) -> None:
    page = written(hostile_folder(tmp_path, (HOSTILE.replace("\x00", "") * 10_000)[:1_000_000]))
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(page)
    tab.click("#open-all")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.evaluate("window.hacked") is None


def test_the_policy_stops_what_would_run_all_the_same(browser: playwright.BrowserContext, three: str) -> None:
    # What escaping keeps out is put in by hand here: the policy is the second lock.
    page = browser.new_page()
    page.goto(three)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked=1'}))")
    page.wait_for_function("[...document.images].every(each => each.complete)")
    page.evaluate(SETTLED)
    assert page.evaluate("window.hacked") is None
    page.close()


def test_without_its_script_it_can_still_be_read(driver: playwright.Playwright, three: str, tmp_path: Path) -> None:
    context = driver.chromium.launch_persistent_context(
        tmp_path, executable_path=CHROMIUM, headless=True, args=OPTIONS, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(three)
    assert page.locator("#list .finding").count() == 3
    assert not page.is_visible("#tools")
    page.click("#list .finding summary")
    assert page.locator("#list .finding pre[aria-label='repro.py']").first.is_visible()
    context.close()


def layouts(session: playwright.CDPSession) -> int:
    """How often the page was laid out so far: work, and not time, of which a busy machine takes more."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(int(each["value"]) for each in metrics if each["name"] == "LayoutCount")


def test_two_hundred_findings_open_and_sort_without_a_wait(tab: playwright.Page, two_hundred: str) -> None:
    tab.goto(two_hundred)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    sorting = """key => {
        const sort = document.getElementById('sort');
        sort.value = key;
        sort.dispatchEvent(new Event('change'));
        document.body.getBoundingClientRect();
    }"""
    for key in ("title", "seen", "severity"):
        before = layouts(session)
        tab.evaluate(sorting, key)
        assert 0 < layouts(session) - before <= FEW, key
    assert len(tab.evaluate(TITLES)) == 200
    searching = """words => {
        const search = document.getElementById('search');
        search.value = words;
        search.dispatchEvent(new Event('input'));
        document.body.getBoundingClientRect();
    }"""
    for words in ("lambda", "dense"):
        before = layouts(session)
        tab.evaluate(searching, words)
        assert layouts(session) - before <= FEW, words
    assert 0 < len(tab.evaluate(TITLES)) < 200
    tab.fill("#search", "")
    tab.click("#open-all")
    tab.evaluate(SETTLED)
    assert tab.evaluate(OPENED) == 200


def test_the_last_of_two_hundred_is_where_its_link_leads(tab: playwright.Page, two_hundred: str) -> None:
    # Most of them are not laid out until they are seen: the way there is an estimate that has to come true.
    tab.goto(two_hundred)
    last = tab.evaluate("[...document.querySelectorAll('#list .finding')].at(-1).id")
    tab.goto("about:blank")
    tab.goto(f"{two_hundred}#{last}")
    tab.wait_for_function(
        """() => {
            const there = document.querySelector('#list .finding > details[open]')?.getBoundingClientRect();
            return there && there.top >= 0 && there.top < innerHeight;
        }"""
    )


def test_what_is_news_stands_before_what_is_not(tab: playwright.Page, tmp_path: Path) -> None:
    found = [finding(0, known="lambda-refused"), finding(1, proof=False), finding(3)]
    tab.goto(written(run_folder(tmp_path, found, proven=False)))
    assert tab.evaluate(TITLES) == [finding(3).title, finding(1).title, finding(0).title]
    tab.select_option("#sort", "severity")
    assert tab.evaluate(TITLES) == [finding(1).title, finding(0).title, finding(3).title]


@pytest.mark.parametrize("width", [320, 1280])
def test_the_words_of_a_chart_can_be_read(tab: playwright.Page, three: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    tab.goto(three)
    sizes = """each => each.map(text => {
        const box = text.getBoundingClientRect(), around = text.ownerSVGElement.getBoundingClientRect();
        return [box.height, box.left - around.left, around.right - box.right];
    })"""
    for height, left, right in tab.eval_on_selector_all(".chart text", sizes):
        assert height >= 9
        assert left >= -2 and right >= -2


def test_drawings_are_of_the_graph(tab: playwright.Page, tmp_path: Path) -> None:
    tab.goto(written(run_folder(tmp_path, [finding(3, TWO)])))
    tab.click("#list .finding summary")
    heights = "each => each.map(box => box.getBoundingClientRect().height)"
    boxes = tab.eval_on_selector_all("figure:first-child svg.g rect", heights)
    # An input, 7 calls, 2 outputs; an input, 2 calls and an output in the model; and a frame, for its name differs.
    assert len(boxes) == 15
    assert min(boxes) > 15
    assert tab.locator("figure:first-child .g-first text").first.text_content() == "Dense"
