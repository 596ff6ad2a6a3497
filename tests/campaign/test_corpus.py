"""The corpus: it keeps the latest finding of each cause, and reports files that it cannot read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.strategies.program import to_json
from tests.helpers.example_graphs import of_layer
from tests.helpers.example_runs import SHARED, record, write

pytestmark = pytest.mark.no_keras

GRAPH = to_json(SHARED)
SMALL = record(0, msgspec.structs.replace(SHARED, source="small"))
LARGE = record(1, msgspec.structs.replace(SHARED, source="large"))
TF_KERAS = record(0, of_layer("layers.ReLU()", generation="tf_keras"))


def test_the_latest_graph_of_a_cause_stays_in_the_corpus_until_removed(tmp_path: Path) -> None:
    nightly = NightlyCorpus(tmp_path)
    for item in (record(0), record(0), SMALL, LARGE, record(2, msgspec.structs.replace(SHARED, source="large"))):
        nightly.write(item)
    assert nightly.graphs("keras") == (bytes(LARGE.graph), bytes(SMALL.graph))
    nightly.remove(SMALL)
    nightly.remove(SMALL)
    assert nightly.graphs("keras") == (bytes(LARGE.graph),), "another cause has the same graph"
    assert nightly.graphs("tf_keras") == ()


def test_a_finding_copied_by_hand_is_read(tmp_path: Path) -> None:
    write(tmp_path / "keras" / "finding.json", msgspec.json.encode(record(0)))
    assert NightlyCorpus(tmp_path).graphs("keras") == (GRAPH,)


FINDING = msgspec.json.encode(record(0))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(FINDING[:-20], "truncated", id="half a file"),
        pytest.param(b"{}", "missing required field `id`", id="no finding"),
        pytest.param(FINDING.replace(b'"program"', b'"sources"'), "missing required field `program`", id="no program"),
        pytest.param(msgspec.json.encode(TF_KERAS), ": is not a graph of keras", id="another generation"),
    ],
)
def test_the_corpus_names_an_unreadable_file_and_reads_the_others(tmp_path: Path, content: bytes, message: str) -> None:
    nightly = NightlyCorpus(tmp_path)
    nightly.write(LARGE)
    folder = tmp_path / "keras"
    (folder / "a\nb\x1b[31m.json").write_bytes(content)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "nowhere.json").symlink_to(folder / "gone")
    (folder / ".hidden.json").write_text("half")
    assert nightly.graphs("keras") == (bytes(LARGE.graph),)
    (problem,) = nightly.problems
    assert message.lower() in problem.lower()
    assert problem.isprintable() and len(problem) <= 520


def test_only_the_graphs_of_the_latest_findings_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonediff.harness.campaign.corpus.MAX_GRAPHS", 3)
    nightly = NightlyCorpus(tmp_path)
    findings = [record(number, msgspec.structs.replace(SHARED, source=f"model_{number}")) for number in range(5)]
    for number, item in enumerate(findings):
        nightly.write(item)
        (path,) = (tmp_path / "keras").glob(f"*{item.id}.json")
        os.utime(path, (1000 + number, 1000 + number))
    nightly.write(findings[0])  # the cause shows again
    assert set(nightly.graphs("keras")) == {bytes(findings[number].graph) for number in (0, 3, 4)}
