"""An audit as a page: what is lost first, and no name from a package as markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from clonediff.harness.answers.audit.page import audit_page
from clonediff.harness.answers.audit.record import ArgumentAudited, Audited, ClassAudited
from clonediff.harness.subjects.outcomes import Lost
from tests.reports.hostile import PAYLOADS

VOID = {"meta", "br", "input", "hr"}
VERSIONS = {"keras": "3.15.1", "python": "3.11.7"}


class Reading(HTMLParser):
    """The elements of a page, with whether each that opens is closed; and its text, section by section."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.sections: dict[str, str] = {"": ""}
        self._section = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "section":
            self._section = dict(attrs)["id"] or ""
            self.sections[self._section] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.sections[self._section] += data


def lost(name: str, how: str = "computes", script: str = "assert False\n") -> ArgumentAudited:
    told = (Lost(how, f".{name}", "0.5", "1.0"),)
    return ArgumentAudited(name, "lost", tried="0.5", lost=told, script=script, proven=True)


def audited(*classes: ClassAudited) -> Audited:
    return Audited("mine.layers", "keras", VERSIONS, classes)


SOME = audited(
    ClassAudited(
        "mine.layers.Fade",
        "layer",
        (
            lost("note", "holds", "assert 'note'\n"),
            ArgumentAudited("rate", "kept", tried="0.1"),
            ArgumentAudited("floor", "cannot tell", reason="no value is known"),
        ),
    ),
    ClassAudited("mine.layers.Scale", "layer", (lost("factor", "computes", "assert 'factor'\n"),)),
    ClassAudited("mine.layers.Odd", "layer", reason="it cannot be made"),
)


def test_the_worst_is_first_with_its_script_then_what_cannot_be_told_then_the_counts() -> None:
    read = Reading(audit_page(SOME))
    assert read.open == []
    assert list(read.sections) == ["", "lost", "not-told", "counts"]
    assert "mine.layers: 2 arguments of 2 classes lost" in read.sections[""]
    told = read.sections["lost"]
    assert told.index("computes something else") < told.index("assert 'factor'") < told.index("an attribute differs")
    assert told.index("an attribute differs") < told.index("note=0.5") < told.index("assert 'note'")
    assert "an attribute differs: .note is 1.0, not 0.5" in told
    for said in ("mine.layers.Fade", "floor", "no value is known", "mine.layers.Odd", "it cannot be made"):
        assert said in read.sections["not-told"]
    assert "Arguments of each class" in read.sections["counts"]
    assert "Scalelayer100" in read.sections["counts"].replace("mine.layers.", "")


def test_what_a_baseline_lists_is_said_to_be_listed() -> None:
    read = Reading(audit_page(SOME, {"mine.layers.Scale.factor"}))
    assert "1 of the lost ones are in the baseline" in read.sections[""]
    assert read.sections["lost"].count("in the baseline") == 1


def test_what_is_lost_is_bad_unless_a_baseline_lists_all_of_it() -> None:
    assert "is-broken" in _verdict(audit_page(SOME, {"mine.layers.Scale.factor"}))
    assert "is-nothing" in _verdict(audit_page(SOME, {"mine.layers.Scale.factor", "mine.layers.Fade.note"}))


def _verdict(page: str) -> str:
    return page.partition('<div class="verdict ')[2].partition('"')[0]


def test_nothing_lost_is_said() -> None:
    kept = ClassAudited("mine.layers.Fade", "layer", (ArgumentAudited("rate", "kept", tried="0.1"),))
    read = Reading(audit_page(audited(kept)))
    assert "mine.layers: no argument is lost" in read.sections[""]
    assert "Nothing." in read.sections["lost"]
    assert "Nothing." in read.sections["not-told"]


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=list(PAYLOADS))
def test_no_text_of_a_package_is_markup(payload: str) -> None:
    argument = ArgumentAudited(
        payload, "lost", payload, payload, (Lost("computes", payload, payload, payload),), payload, script=payload
    )
    told = ArgumentAudited(payload, "cannot tell", reason=payload)
    page = audit_page(
        Audited(payload, payload, {payload: payload}, (ClassAudited(payload, payload, (argument, told), payload),))
    )
    read = Reading(page)
    assert read.open == []
    assert not {"script", "img", "svg", "iframe"}.intersection(read.elements)
    assert not any(name.startswith("on") or name in ("href", "src", "style") for name in read.attributes - {"href"})
    assert "javascript:" not in "".join(part for part in page.split('"') if part.startswith("javascript"))
    assert "\x1b" not in page


def test_the_page_takes_nothing_from_anywhere() -> None:
    page = audit_page(SOME)
    assert "default-src &#x27;none&#x27;" in page
    assert "script-src" not in page
    assert "<script" not in page
