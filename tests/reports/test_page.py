"""report.html as text: complete, alone, and with nothing in it that a record could run."""

from __future__ import annotations

import cProfile
import dataclasses
import hashlib
import json
import os
import re
import shutil
import sys
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from clonediff.reports.html import page
from clonediff.reports.reading import read_run
from clonediff.reports.records import Difference, KnownMet, Place, Raised, Run
from clonediff.reports.writing import write_reports
from clonediff.strategies import Graph, to_json
from clonediff.strategies.graph import Call, Input, Layer, Ref, Seq, Value
from tests.reports.making import HOSTILE, TWO, drawn, finding, many, nightly, run_folder


class Page(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self._open.append(tag)
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.inside:
            self.inside[self._open[-1]][-1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def ids(self) -> list[str]:
        return [attrs["id"] or "" for _, attrs in self.elements if "id" in attrs]


def parsed(path: Path) -> Page:
    return Page(page(read_run(path)))


def test_a_page_is_closed_as_it_was_opened(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, [finding(number) for number in range(5)], run=nightly(graphs=drawn())))
    assert found._open == []


def test_a_page_takes_nothing_from_anywhere(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, [finding(0)], run=nightly(graphs=drawn())))
    for name, attrs in found.elements:
        assert name not in ("link", "img", "iframe", "object", "embed", "base", "form", "use", "image"), name
        assert not {"src", "srcset", "style", "action", "xlink:href"} & set(attrs), (name, attrs)
        assert not [key for key in attrs if key.startswith("on")], (name, attrs)
    links = {attrs["href"] for _, attrs in found.elements if "href" in attrs}
    assert {link for link in links if link and not link.startswith("#")} == {
        "https://github.com/keras-team/keras/issues/1"
    }
    assert "url(" not in found.inside["style"][0]
    assert "@import" not in found.inside["style"][0]


def test_the_policy_allows_our_script_and_style_only(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, [finding(0)]))
    policy = next(
        attrs["content"] for _, attrs in found.elements if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    kinds = [attrs.get("type") for name, attrs in found.elements if name == "script"]
    assert kinds == ["application/json", None]
    assert len(found.inside["style"]) == 1
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src '{_hash(found.inside['script'][1])}'" in policy
    assert f"style-src '{_hash(found.inside['style'][0])}'" in policy
    assert "unsafe" not in policy


def test_links_within_a_page_lead_somewhere(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, many(40), run=nightly(graphs=drawn())))
    ids = found.ids()
    assert len(ids) == len(set(ids))
    links = {attrs["href"] or "" for _, attrs in found.elements if "href" in attrs}
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)


def test_a_finding_keeps_its_anchor_when_others_come(tmp_path: Path) -> None:
    alone = parsed(run_folder(tmp_path / "one", [finding(3)])).ids()
    among = parsed(run_folder(tmp_path / "many", [finding(number) for number in range(5)])).ids()
    anchors = [each for each in alone if each.startswith("finding-")]
    assert len(anchors) == 1
    assert anchors[0] in among


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_page_has_every_section_and_every_finding(tmp_path: Path, count: int) -> None:
    found = parsed(run_folder(tmp_path, [finding(number) for number in range(count)], run=nightly(graphs=drawn())))
    assert {"verdict", "broken", "ran", "findings", "time", "coverage", "known", "data"} <= set(found.ids())
    assert sum(name == "article" for name, _ in found.elements) == count + 2, "two known issues were met"
    assert len(json.loads(found.inside["script"][0])) == count
    assert ("2 known causes, nothing new" in found.text) == (count == 0)


def test_it_says_what_may_get_smaller_and_how_much_time_went_into_that(tmp_path: Path) -> None:
    run = replace(nightly(), drawing=30.0, reducing=10.0)
    text = parsed(run_folder(tmp_path, [finding(0), finding(1, smallest=False)], run=run)).text
    assert text.count("could be smaller: there was no time to make it so") == 1
    assert "25% of the workers' time" in text


def test_what_a_run_did_not_record_is_said_and_not_made_up(tmp_path: Path) -> None:
    text = parsed(run_folder(tmp_path)).text
    assert "did not record its coverage" in text
    assert "did not record which known issues it met" in text
    assert "Budgetnot recorded" in text
    assert "Jobsnot recorded" in text


def test_without_a_run_s_coverage_that_of_its_findings_is_shown(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, [finding(0)]))
    assert "Below is the coverage of the findings alone: 1 graph" in found.text
    titles = {attrs["title"] for name, attrs in found.elements if name == "td" and "title" in attrs}
    assert "Dense, called again: 1" in titles


def test_problems_with_files_are_in_the_page(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0), finding(1)])
    broken = next((tmp_path / "findings").iterdir())
    (broken / "finding.json").write_text("{")
    found = parsed(tmp_path)
    assert f"findings/{broken.name}/finding.json: " in found.text
    assert f"{broken.name}: cannot be read" in found.text


def test_hostile_text_is_text_wherever_it_stands(tmp_path: Path) -> None:
    graph = Graph(
        (Input((4,), name=HOSTILE),),
        (Layer(HOSTILE, (("units", HOSTILE),), name=HOSTILE + "2", marks=(HOSTILE,)),),
        (Call(0, (Ref(0),), ((HOSTILE, Ref(0)), ("by", HOSTILE))),),
        Ref(0),
        Ref(1),
        name=HOSTILE,
    )
    place = Place(HOSTILE + "2", HOSTILE, 1)
    found = Difference("made", HOSTILE, HOSTILE, HOSTILE, HOSTILE, 0, place, Raised(HOSTILE, HOSTILE, HOSTILE))  # type: ignore[arg-type]  # as read
    hostile = replace(
        finding(0, graph, title=HOSTILE, differences=(found,), source=HOSTILE, versions={HOSTILE: HOSTILE}),
        since=HOSTILE,
        history=HOSTILE,
        blame=HOSTILE,
        detail=HOSTILE,
        notes=(HOSTILE,),
        known=None,
    )
    run = Run(
        started=HOSTILE,
        subjects={HOSTILE: {HOSTILE: HOSTILE}},
        trials=3,
        verdicts={HOSTILE: 3},
        lost={HOSTILE: HOSTILE},
        known=(KnownMet(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, True, HOSTILE, "javascript:window.hacked=1"),),
    )
    run_folder(tmp_path, [hostile], run=run)
    folder = next((tmp_path / "findings").iterdir())
    (folder / "repro.py").write_text(HOSTILE)
    (folder / "issue.md").write_text(HOSTILE)
    with (tmp_path / "events.ndjson").open("a") as file:
        file.write(HOSTILE + "\n")
    text = page(read_run(tmp_path))
    read = Page(text)
    assert "\x00" not in text
    assert "\u202e" not in text
    assert not [name for name, _ in read.elements if name == "img"]
    assert [attrs.get("type") for name, attrs in read.elements if name == "script"] == ["application/json", None]
    assert not [attrs for _, attrs in read.elements if (attrs.get("href") or "").startswith("javascript")]
    assert not [key for _, attrs in read.elements for key in attrs if key.startswith("on")]
    assert [attrs for _, attrs in read.elements if HOSTILE[:40] in (attrs.get("title") or "")]
    assert json.loads(read.inside["script"][0])[0]["title"] == HOSTILE
    assert read.text.count("onerror") > 20


A_FINDING = 25_000
"""Twice the calls that a finding on the page takes."""


def test_four_times_as_many_findings_are_four_times_the_work(tmp_path: Path) -> None:
    """Counted in calls of functions, of which a busy machine makes no more."""
    calls = {}
    for count in (50, 200):
        folder = run_folder(tmp_path / str(count), many(count), run=nightly(graphs=drawn()))
        profile = cProfile.Profile()
        found = profile.runcall(lambda folder=folder: page(read_run(folder)))
        calls[count] = sum(each.callcount for each in profile.getstats())
        assert len(re.findall('<article id="finding-', found)) == count
    assert calls[200] < 5 * calls[50]
    assert calls[200] < 200 * A_FINDING
    assert len(found.encode()) < 6_400_000


def test_a_graph_too_large_to_draw_is_said(tmp_path: Path) -> None:
    layers = tuple(Layer("Dense", (("units", 4),)) for _ in range(400))
    calls = tuple(Call(number, (Ref(number),)) for number in range(400))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(400))
    found = parsed(run_folder(tmp_path, [replace(finding(0), graph=msgspec.Raw(to_json(graph)))]))
    assert "Not drawn: 401 boxes" in found.text


def test_a_graph_too_deep_to_draw_is_said_and_the_others_are_drawn(tmp_path: Path) -> None:
    deep = replace(finding(1), graph=msgspec.Raw(to_json(_nested(400))))
    run_folder(tmp_path, [finding(0), finding(1)])
    folder = next((tmp_path / "findings").glob(f"*{finding(1).id}"))
    (folder / "finding.json").write_bytes(msgspec.json.encode(deep))
    assert read_run(tmp_path).problems == (), "it can be read"
    write_reports(read_run(tmp_path))
    found = parsed(tmp_path)
    assert f"Not drawn: the arguments in the graph of {finding(1).id} are nested too deep" in found.text
    assert "Graph, original" in [attrs.get("aria-label") for _, attrs in found.elements]


def test_a_graph_too_deep_to_walk_is_left_out_of_the_coverage(tmp_path: Path) -> None:
    read = read_run(run_folder(tmp_path, [finding(0), finding(1)]))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        deep = dataclasses.replace(read.findings[0], graph=_nested(2_000))
    finally:
        sys.setrecursionlimit(before)
    found = Page(page(dataclasses.replace(read, findings=(deep, read.findings[1]))))
    assert f"Left out: {deep.finding.id}, whose arguments are nested too deep." in found.text
    assert "the coverage of the findings alone: 1 graph" in found.text


def _nested(depth: int) -> Graph:
    """A graph with an argument that is a list in a list in a list ..."""
    value: Value = 1
    for _ in range(depth):
        value = Seq((value,))
    return Graph((Input((4,)),), (Layer("Dense", (("units", value),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))


def test_findings_whose_folders_have_names_alike_have_anchors_of_their_own(tmp_path: Path) -> None:
    run_folder(tmp_path, [finding(0)])
    plain = next((tmp_path / "findings").iterdir())
    names = ["a b", "a-b", "a/b".replace("/", "\\"), os.fsdecode(b"a\xffb"), "a  b"]
    for name in names:
        shutil.copytree(plain, plain.with_name(name))
    found = parsed(tmp_path)
    ids = found.ids()
    assert len(ids) == len(set(ids))
    rows = [row["id"] for row in json.loads(found.inside["script"][0])]
    assert sorted(rows) == sorted(each for each in ids if each.startswith("finding-"))
    assert len(rows) == 1 + len(names)
    assert {f"finding-{plain.name}", "finding-a-b"} <= set(ids), "an ordinary name stays as it is"


def test_both_graphs_are_drawn_with_what_differs(tmp_path: Path) -> None:
    found = parsed(run_folder(tmp_path, [finding(2, TWO)]))
    labels = [attrs.get("aria-label") for _, attrs in found.elements]
    assert "Graph, original" in labels
    assert "Graph, clone" in labels
    assert "trainable: false" in found.text
    assert "trainable: true" in found.text


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
