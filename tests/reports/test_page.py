"""report.html as text: complete, alone, and with nothing in it that a record could run."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from clonediff.reports.page import page
from clonediff.reports.reading import read_run
from tests.reports.making import finding, many, nightly, run_folder

LOADS = {"link", "img", "iframe", "object", "embed", "base", "form", "script", "svg"}
"""Elements that load or run something."""


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> set[str | None]:
        return {attrs["href"] for _, attrs in self.elements if "href" in attrs}


def parsed(path: Path) -> Page:
    found = Page(page(read_run(path)))
    assert found.open == []
    assert not LOADS & {name for name, _ in found.elements}
    assert not [key for _, attrs in found.elements for key in attrs if key.startswith("on") or key in ("src", "style")]
    return found


@pytest.mark.parametrize("count", [0, 1, 40])
def test_a_page_has_every_cause_with_its_script_and_issue(tmp_path: Path, count: int) -> None:
    found = parsed(run_folder(tmp_path, many(count), run=nightly()))
    assert found.links == {"https://github.com/keras-team/keras/issues/1"}
    assert found.text.count("import keras\n\nprint(") == 2 * count, "the script, and again in the text of the issue"
    assert found.text.count("## What should happen") == count
    assert sum(attrs.get("class") == "cause" for _, attrs in found.elements) == count + 2, "two known issues were met"
    assert ("2 known causes, nothing new" in found.text) is (count == 0)
    for text in ("12,000 trials in 1 h", "A Lambda of a lambda is refused", "jax is not installed", "11,300"):
        assert text in found.text


def test_new_causes_come_first_and_the_worst_of_them_first(tmp_path: Path) -> None:
    findings = [finding(3), finding(0, smallest=False), finding(2, proof=False), finding(4, known="lambda-refused")]
    text = parsed(run_folder(tmp_path, findings)).text
    places = [text.index(findings[number].title) for number in (1, 0, 2, 3)]
    assert places == sorted(places)
    assert text.count("there was no time to make it smaller") == 1


def test_an_issue_that_somebody_changed_is_shown(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    next((tmp_path / "findings").iterdir()).joinpath("issue.md").write_text("# As I would put it\n")
    assert "# As I would put it" in parsed(tmp_path).text


def test_problems_with_files_are_in_the_page(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    broken = next((tmp_path / "findings").iterdir())
    (broken / "finding.json").write_text("{")
    assert f"findings/{broken.name}/finding.json: " in parsed(tmp_path).text
