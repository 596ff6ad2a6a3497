"""Records made to hurt: what stands in them is text in every report, runs nowhere, and is cut where it is too long."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt

from clonediff.reports.markup import visible
from clonediff.reports.reading import read_run
from clonediff.reports.shortening import LONGEST, shortened
from clonediff.reports.writing import write_reports
from tests.reports.hostile import PAYLOADS, everywhere, hostile_folder
from tests.reports.making import HOSTILE, TWO, finding, run_folder


@pytest.fixture(params=PAYLOADS)
def reports(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """The page and the summary of a run with one of the payloads everywhere."""
    page, summary = write_reports(read_run(hostile_folder(tmp_path, PAYLOADS[request.param])))
    return page, summary


def test_the_summary_renders_as_text_in_tables(reports: tuple[Path, Path]) -> None:
    text = reports[1].read_text()
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = [token for each in parser.parse(text) for token in (each, *(each.children or ()))]
    kinds = {token.type for token in tokens}
    assert kinds <= {
        "heading_open", "heading_close", "inline", "text", "paragraph_open", "paragraph_close", "softbreak",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "text_special",
        *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
    }, kinds  # fmt: skip
    assert not re.search(r"(?i)(https?|ftp)://|\bwww\.\w", text), "GitHub makes links of bare addresses"
    assert not re.search(r"@\w", text)


def test_nothing_is_left_that_turns_or_hides_text(reports: tuple[Path, Path]) -> None:
    for path in reports:
        text = path.read_text()
        assert text == visible(text), path.name


@pytest.mark.parametrize("text", ["x", "y" * (LONGEST // 2 - 9)], ids=["short", "long"])
def test_what_fits_is_left_as_it_is(text: str) -> None:
    made, run = everywhere(text)
    assert shortened(made) is made
    assert shortened(run) is run


def test_what_is_too_long_is_cut_and_says_so() -> None:
    made, run = everywhere("z" * (LONGEST + 1))
    for record in (shortened(made), shortened(run)):
        assert any("zz" in text for text in texts(record))
        for text in texts(record):
            assert len(text) <= LONGEST
            assert "zz" not in text or re.search(r"\[cut: (4|8),00\d characters in all\]$", text)
        assert shortened(record) is record, "what is cut already fits"


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts(pair)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            if name not in ("id", "generation", "cloner", "subject"):
                yield from texts(getattr(value, name))


def test_texts_of_a_megabyte_make_no_report_of_a_hundred(tmp_path: Path) -> None:
    took = {}
    for size in (100_000, 1_000_000):
        read = read_run(hostile_folder(tmp_path / str(size), (HOSTILE.replace("\x00", "") * 10_000)[:size]))
        began = time.process_time()
        reports = write_reports(read)
        took[size] = time.process_time() - began
    assert took[1_000_000] < 40 * took[100_000], "ten times as long is as it should be, and a hundred times is not"
    assert max(path.stat().st_size for path in reports) < 10_000_000
    assert "characters in all]" in reports[0].read_text()


def test_a_finding_of_another_run_is_not_cut(tmp_path: Path) -> None:
    page = write_reports(read_run(run_folder(tmp_path, [finding(0, TWO)])))[0]
    assert "characters in all]" not in page.read_text()
