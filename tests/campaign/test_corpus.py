"""What earlier nights found: kept whole and once, read back whatever else lies in the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign import corpus
from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.strategies.program import to_json
from tests.example_graphs import of_layer
from tests.reports.making import TWO, record
from tests.waiting import PATIENCE

GRAPH = to_json(TWO)
FINDING = record(0)
OTHER = record(1, msgspec.structs.replace(TWO, source="other"))


def test_a_graph_is_kept_once_with_all_that_it_showed_and_dropped_with_the_last(tmp_path: Path) -> None:
    kept = NightlyCorpus(tmp_path)
    again = record(1)
    path = kept.keep(FINDING)
    assert kept.keep(again) == kept.keep(FINDING) == path
    kept.keep(OTHER)
    about = json.loads(path.read_text())["about"]
    assert about["fingerprints"] == [FINDING.id, again.id]
    assert about["title"] == FINDING.title, "the first that it showed gives the title"
    assert set(kept.graphs("keras")) == {GRAPH, bytes(OTHER.graph)}
    kept.drop(FINDING)
    assert path.exists()
    kept.drop(again)
    assert kept.graphs("keras") == (bytes(OTHER.graph),)
    assert kept.graphs("tf_keras") == ()


def test_a_finding_that_is_put_there_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "finding.json").write_bytes(msgspec.json.encode(FINDING))
    assert NightlyCorpus(tmp_path).graphs("keras") == (GRAPH,)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "truncated", id="empty"),
        pytest.param(b'{"graph": ' + GRAPH[:-20], "truncated", id="half a file"),
        pytest.param(b'{"graph": {}, "about": {"title": "\xff"}}', "utf-8", id="not UTF-8"),
        pytest.param(b"{}", "missing required field `graph`", id="no graph"),
        pytest.param(b'{"graph": {"source": ""}}', "missing required field `program`", id="no program"),
        pytest.param(b'{"graph": "x"}', "Expected `object`", id="a word"),
        pytest.param(b'{"format": 9, "graph": {}}', "update it", id="a later format"),
        pytest.param(b'{"graph": {"program":' + b"[" * 100_000, "nested too deep", id="nested without end"),
        pytest.param(
            b'{"graph": ' + to_json(of_layer("layers.ReLU()", generation="tf_keras")) + b"}",
            "it is not a graph of keras",
            id="another generation",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path, content: bytes, says: str) -> None:
    kept = NightlyCorpus(tmp_path)
    kept.keep(OTHER)
    folder = tmp_path / "keras"
    (folder / "a\nb\x1b[31m.json").write_bytes(content)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "nowhere.json").symlink_to(folder / "gone")
    (folder / ".hidden.json").write_text("half")
    assert kept.graphs("keras") == (bytes(OTHER.graph),)
    (problem,) = kept.problems
    assert says in problem
    assert problem.isprintable() and len(problem) <= 520


def test_a_file_that_cannot_be_read_where_a_graph_belongs_is_written_anew(tmp_path: Path) -> None:
    kept = NightlyCorpus(tmp_path)
    kept.keep(FINDING).write_bytes(b'{"graph": {"inputs"')
    kept.keep(FINDING)
    assert kept.graphs("keras") == (GRAPH,)


def test_of_too_many_graphs_those_found_last_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MOST", 3)
    kept = NightlyCorpus(tmp_path)
    graphs = [record(0, msgspec.structs.replace(TWO, source=f"model_{number}")) for number in range(5)]
    for number, graph in enumerate(graphs):
        os.utime(kept.keep(graph), (1000 + number, 1000 + number))
    kept.keep(graphs[0])  # found again, just now
    assert set(kept.graphs("keras")) == {bytes(graphs[number].graph) for number in (0, 3, 4)}


KEEP_ALL = """
import sys
from pathlib import Path
from msgspec.structs import replace
from clonediff.harness.campaign.corpus import NightlyCorpus
from tests.reports.making import TWO, record
folder, name, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(folder / name).touch()
while not (folder / other).exists():
    pass
for number in range(80):
    NightlyCorpus(folder).keep(record(0, replace(TWO, source=f"model_{number}"), id=name))
"""


def test_two_processes_keep_at_once(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    keepers = [
        subprocess.Popen([sys.executable, "-c", KEEP_ALL, str(tmp_path), *names], cwd=root)
        for names in (("one", "two"), ("two", "one"))
    ]
    assert [keeper.wait(PATIENCE) for keeper in keepers] == [0, 0]
    files = list((tmp_path / "keras").iterdir())
    assert len(files) == len(NightlyCorpus(tmp_path).graphs("keras")) == 80
    assert all({*json.loads(file.read_text())["about"]["fingerprints"]} == {"one", "two"} for file in files)
