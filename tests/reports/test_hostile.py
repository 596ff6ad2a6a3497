"""A run made to hurt, through every writer: what stands in it is text, and is cut where it is too long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from clonediff.reports.markup import visible
from clonediff.reports.reading import read_run
from clonediff.reports.writing import write_reports
from tests.reports.hostile import POISON, hostile_folder
from tests.reports.test_page import parsed

MARKDOWN = {
    "heading_open", "heading_close", "inline", "text", "paragraph_open", "paragraph_close", "softbreak",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "text_special",
    "code_inline", "fence",
    *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
}  # fmt: skip
"""The tokens of Markdown that a report is made of: no link, image, HTML or emphasis."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a poisoned run, with its reports."""
    path = hostile_folder(tmp_path_factory.mktemp("run"))
    write_reports(read_run(path))
    return path


def test_the_page_shows_it_as_text(folder: Path) -> None:
    found = parsed(folder)
    assert found.text.count("onerror") > 20
    assert found.links == set()


def test_markdown_renders_as_text(folder: Path) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    texts = [path.read_text() for path in (folder / "summary.md", *folder.rglob("issue.md"))]
    texts.remove(next(text for text in texts if text.startswith(POISON[:40])))  # a person wrote that one
    assert len(texts) == 3
    for text in texts:
        tokens = [token for each in parser.parse(text) for token in (each, *(each.children or ()))]
        assert {token.type for token in tokens} <= MARKDOWN
        assert not [token for token in tokens if token.type == "text" and re.search(r"@\w", token.content)]
    assert not re.search(r"(?i)(https?|ftp)://|\bwww\.\w", texts[0]), "GitHub makes links of bare addresses"


def test_nothing_turns_or_hides_text(folder: Path) -> None:
    for name in ("report.html", "summary.md"):
        text = (folder / name).read_text()
        assert text == visible(text), name


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    write_reports(read_run(hostile_folder(tmp_path, (POISON.replace("\x00", "") * 10_000)[:1_000_000])))
    for name in ("report.html", "summary.md"):
        assert (tmp_path / name).stat().st_size < 10_000_000
        assert "cut: 1,000,000 characters in all" in (tmp_path / name).read_text()
