"""What a user points at, read: a campaign's corpus, its files, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.answers.replay_target import ReplayTarget, replay_targets
from clonediff.harness.campaign.corpus import About, NightlyCorpus
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import write
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref, to_json
from tests.reports.making import TWO, finding

ANY = Graph((Input((4,)),), (Layer("Dense", (("units", 3),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))


def items(*paths: Path) -> list[ReplayTarget]:
    found, problems = replay_targets(map(str, paths), KnownIssues())
    assert problems == []
    return found


def test_a_file_of_a_corpus_is_the_graph_in_it_as_it_was_found(tmp_path: Path) -> None:
    file = NightlyCorpus(tmp_path).keep("keras", ANY, About(("an-id",), "A title", "keras==3.14.1", "fixed"))
    [item] = items(file)
    assert (item.graph, item.title, item.id, item.problem) == (ANY, file.name, "", "")
    assert (item.generation, item.subject, item.cloner) == ("keras", "keras==3.14.1", "fixed")
    assert item.expected.cause is None


def test_a_corpus_is_all_its_graphs_and_nothing_else_of_it(tmp_path: Path) -> None:
    corpus = NightlyCorpus(tmp_path)
    files = [corpus.keep("keras", TWO), corpus.keep("keras", ANY), corpus.keep("tf_keras", ANY)]
    (tmp_path / "keras" / ".half.json").write_text('{"gra')
    found = items(tmp_path)
    assert {Path(item.where) for item in found} == set(files)
    assert {item.problem for item in found} == {""}
    assert {(item.generation, item.subject, item.cloner) for item in found} == {
        ("keras", "", "upstream"),
        ("tf_keras", "", "upstream"),
    }
    assert len(items(tmp_path / "keras")) == 2


def test_a_finding_under_another_name_is_still_one(tmp_path: Path) -> None:
    write(tmp_path / "kept.json", finding(0))
    (tmp_path / "graph.json").write_bytes(to_json(TWO))
    by_title = {item.title: item for item in items(tmp_path)}
    assert by_title.keys() == {"graph.json", finding(0).title}
    assert by_title[finding(0).title].expected.cause is not None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b'{"name": "\xff"}', "can't decode byte 0xff", id="not UTF-8"),
        pytest.param(b'{"graph": {"name": "\xff"}}', "can't decode byte 0xff", id="not UTF-8 in a corpus"),
        pytest.param(b"[" * 100_000, "expected the JSON of a finding or of a graph", id="deep"),
        pytest.param(b'{"graph": {"inputs": []}, "about": {}}', "graph: not a graph of version 1", id="no graph"),
        pytest.param(b'{"graph": 1, "format": 99}', "format 99, but this clonediff reads up to", id="of another day"),
        pytest.param(b'{"graph": 1, "about": 2}', "`$.about`", id="no corpus"),
    ],
)
def test_a_file_that_is_wrong_is_named_and_the_rest_is_read(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    (tmp_path / "b.json").write_bytes(to_json(TWO))
    wrong, right = items(tmp_path)
    assert said in wrong.problem
    assert wrong.where == str(tmp_path / "a.json")
    assert (right.graph, right.problem) == (TWO, "")
