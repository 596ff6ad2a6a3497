"""The corpus: it keeps the latest finding of each cause, and reports files that it cannot read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.strategies.program import to_json
from tests.helpers.example_graphs import graph_of_layer
from tests.helpers.example_runs import SHARED, example_finding, write

pytestmark = pytest.mark.no_keras

LATER_FINDING = example_finding(0, replace(SHARED, source="later"))
OTHER_FINDING = example_finding(1, replace(SHARED, source="other"))
TF_KERAS_FINDING = example_finding(0, graph_of_layer("layers.ReLU()", generation="tf_keras"))


def test_the_latest_graph_of_a_cause_stays_in_the_corpus_until_removed(tmp_path: Path) -> None:
    corpus = NightlyCorpus(tmp_path)
    for item in (example_finding(0), example_finding(0), LATER_FINDING, OTHER_FINDING, replace(OTHER_FINDING, id="b")):
        corpus.write(item)
    assert corpus.graphs("keras") == (bytes(OTHER_FINDING.graph), bytes(LATER_FINDING.graph))
    corpus.remove(LATER_FINDING)
    corpus.remove(LATER_FINDING)
    assert corpus.graphs("keras") == (bytes(OTHER_FINDING.graph),), "another cause has the same graph"
    assert corpus.graphs("tf_keras") == ()


def test_a_finding_copied_by_hand_is_read(tmp_path: Path) -> None:
    write(tmp_path / "keras" / "finding.json", msgspec.json.encode(example_finding(0)))
    assert NightlyCorpus(tmp_path).graphs("keras") == (to_json(SHARED),)


FINDING_JSON = msgspec.json.encode(example_finding(0))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(FINDING_JSON[:-20], "truncated", id="half a file"),
        pytest.param(b"{}", "missing required field `id`", id="no finding"),
        pytest.param(FINDING_JSON.replace(b'"program"', b'"x"'), "missing required field `program`", id="no program"),
        pytest.param(msgspec.json.encode(TF_KERAS_FINDING), ": is not a graph of keras", id="another generation"),
    ],
)
def test_the_corpus_names_an_unreadable_file_and_reads_the_others(tmp_path: Path, content: bytes, message: str) -> None:
    corpus = NightlyCorpus(tmp_path)
    corpus.write(OTHER_FINDING)
    folder = tmp_path / "keras"
    (folder / "a\nb\x1b[31m.json").write_bytes(content)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "nowhere.json").symlink_to(folder / "gone")
    (folder / ".hidden.json").write_text("half")
    assert corpus.graphs("keras") == (bytes(OTHER_FINDING.graph),)
    (problem,) = corpus.problems
    assert message.lower() in problem.lower()
    assert problem.isprintable() and len(problem) <= 520


def test_only_the_graphs_of_the_latest_findings_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonediff.harness.campaign.corpus.MAX_GRAPHS", 3)
    corpus = NightlyCorpus(tmp_path)
    findings = [example_finding(number, replace(SHARED, source=f"model_{number}")) for number in range(5)]
    for number, item in enumerate(findings):
        corpus.write(item)
        (path,) = (tmp_path / "keras").glob(f"*{item.id}.json")
        os.utime(path, (1000 + number, 1000 + number))
    corpus.write(findings[0])  # the cause shows again
    assert set(corpus.graphs("keras")) == {bytes(findings[number].graph) for number in (0, 3, 4)}
