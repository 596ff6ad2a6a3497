"""What earlier nights found: kept whole and once, read back whatever else lies in the folder."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clonediff.harness.campaign import corpus
from clonediff.harness.campaign.corpus import About, NightlyCorpus
from clonediff.strategies import Graph, to_json
from clonediff.strategies.graph import Call, Input, Layer, Ref
from tests.example_counts import examples
from tests.reports.making import TWO, finding
from tests.waiting import PATIENCE
from tests.warm_keras import graphs_of

SMALL = Graph((Input((4,)),), (Layer("Activation", (("activation", "relu"),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
ABOUT = About(("outputs-value-1",), "Dense: value", "keras==3.15.1", "upstream")


def put(folder: Path, content: bytes | str, name: str = "put.json") -> Path:
    path = folder / "keras" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def many(count: int) -> list[Graph]:
    return [msgspec.structs.replace(SMALL, name=f"model_{number}") for number in range(count)]


@settings(max_examples=examples(20, 60), deadline=None)
@given(st.lists(graphs_of("keras"), max_size=4))
def test_any_graphs_come_back_equal_in_an_order_of_their_own(
    tmp_path_factory: pytest.TempPathFactory, graphs: list[Graph]
) -> None:
    one, other = (tmp_path_factory.mktemp("corpus") for _ in range(2))
    for graph in graphs:
        NightlyCorpus(one).keep("keras", graph)
    for graph in reversed(graphs):
        NightlyCorpus(other).keep("keras", graph)
    found = NightlyCorpus(one).graphs("keras")
    assert set(found) == set(graphs)
    assert found == NightlyCorpus(other).graphs("keras")


def test_a_graph_is_kept_once_with_all_that_it_showed(tmp_path: Path) -> None:
    kept = NightlyCorpus(tmp_path)
    path = kept.keep("keras", SMALL, ABOUT)
    assert kept.keep("keras", SMALL, About(("made-raises-2",), "it raises")) == path
    assert kept.keep("keras", SMALL, ABOUT) == path
    said = json.loads(path.read_text())["about"]
    assert said["fingerprints"] == ["outputs-value-1", "made-raises-2"]
    assert said["title"] == "Dense: value", "the first that it showed gives the title"
    assert kept.graphs("keras") == (SMALL,)


def test_a_graph_and_a_finding_put_there_by_hand_are_read(tmp_path: Path) -> None:
    put(tmp_path, to_json(SMALL), "mine.json")
    put(tmp_path, msgspec.json.encode(finding(0, TWO)), "finding.json")
    kept = NightlyCorpus(tmp_path)
    assert set(kept.graphs("keras")) == {SMALL, TWO}
    assert kept.problems == ()


HOSTILE = {
    "empty": (b"", "truncated"),
    "half a file": (to_json(SMALL)[:-20], "truncated"),
    "not UTF-8": (b'{"graph": "\xff"}', "utf-8"),
    "no graph": (b"{}", "inputs"),
    "a graph that is a word": (b'{"graph": "x"}', "Expected `object`"),
    "a later format": (json.dumps({"format": 9, "graph": {}}).encode(), "update it"),
    "a tensor that is none": (to_json(SMALL).replace(b'"node":1', b'"node":7'), "node 7"),
    "nested without end": (b'{"inputs":' + b"[" * 100_000, "nested too deep"),
    "a value nested without end": (
        to_json(SMALL).replace(b'"relu"', b'{"is":"seq","items":[' * 5_000 + b"1" + b"]}" * 5_000),
        "nested too deep",
    ),
    "too large": (b" " * (corpus.LARGEST + 1), "more than the 1,000,000"),
    "for another generation": (to_json(msgspec.structs.replace(SMALL, generation="tf_keras")), "a graph for tf_keras"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_named_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    content, says = HOSTILE[name]
    put(tmp_path, content, "bad.json")
    kept = NightlyCorpus(tmp_path)
    kept.keep("keras", TWO)
    assert kept.graphs("keras") == (TWO,)
    (problem,) = kept.problems
    assert says in problem
    assert "bad.json" in problem
    assert len(problem) <= 520
    kept.graphs("keras")
    assert kept.problems == (problem,), "a problem is told once"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    folder = put(tmp_path, to_json(SMALL)).parent
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "nowhere.json").symlink_to(folder / "gone")
    (folder / ".hidden.json.12ab").write_text("half")
    kept = NightlyCorpus(tmp_path)
    assert kept.graphs("keras") == (SMALL,)


def test_a_problem_is_a_line_without_control_characters(tmp_path: Path) -> None:
    put(tmp_path, "[]", "a\nb\x1b[31m.json")
    kept = NightlyCorpus(tmp_path)
    assert kept.graphs("keras") == ()
    assert kept.problems[0].isprintable()


def test_a_graph_is_dropped_unless_it_shows_more(tmp_path: Path) -> None:
    kept = NightlyCorpus(tmp_path)
    kept.keep("keras", SMALL, ABOUT)
    kept.keep("keras", TWO, ABOUT)
    kept.keep("keras", TWO, About(("made-raises-2",)))
    for graph in (SMALL, TWO, SMALL):
        kept.drop("keras", graph, ABOUT.fingerprints[0])
    assert kept.graphs("keras") == (TWO,)


@pytest.mark.parametrize("content", [b'{"graph": {"inputs"', b'{"graph": {}, "about": {"title": "\xff"}}'])
def test_a_file_that_cannot_be_read_where_a_graph_belongs_is_written_anew(tmp_path: Path, content: bytes) -> None:
    path = NightlyCorpus(tmp_path).keep("keras", SMALL, ABOUT)
    path.write_bytes(content)
    NightlyCorpus(tmp_path).keep("keras", SMALL, ABOUT)
    assert NightlyCorpus(tmp_path).graphs("keras") == (SMALL,)


def test_of_too_many_those_found_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MOST", 5)
    kept = NightlyCorpus(tmp_path)
    graphs = many(8)
    for number, graph in enumerate(graphs[:5]):
        os.utime(kept.keep("keras", graph, ABOUT), (1000 + number, 1000 + number))
    kept.keep("keras", graphs[0], ABOUT)  # found again, just now
    for graph in graphs[5:]:
        kept.keep("keras", graph)
    assert set(kept.graphs("keras")) == {graphs[0], *graphs[4:]}
    assert len(list((tmp_path / "keras").iterdir())) == 5


def test_a_full_disk_leaves_what_was_kept(tmp_path: Path) -> None:
    # No file may grow past 200 bytes, in a process of its own: writing a graph then fails half-way.
    NightlyCorpus(tmp_path).keep("keras", TWO, ABOUT)
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from clonediff.harness.campaign.corpus import NightlyCorpus\n"
        "from tests.campaign.test_corpus import SMALL\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "NightlyCorpus(Path(sys.argv[1])).keep('keras', SMALL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=root, capture_output=True, text=True)
    assert done.returncode == 1
    assert "OSError: [Errno 27] File too large" in done.stderr
    assert corpus.digest(SMALL) in done.stderr.splitlines()[-1], "the error names the file"
    after = NightlyCorpus(tmp_path)
    assert after.graphs("keras") == (TWO,)
    assert after.problems == ()
    assert len(list((tmp_path / "keras").iterdir())) == 1, "nothing half written is left"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200


KEEP_ALL = """
import sys
from pathlib import Path
from clonediff.harness.campaign.corpus import About, NightlyCorpus
from tests.campaign.test_corpus import many
folder, name, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(folder / name).touch()
while not (folder / other).exists():
    pass
for graph in many(80):
    NightlyCorpus(folder).keep("keras", graph, About((name,)))
"""


def test_two_processes_keep_at_once(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen([sys.executable, "-c", KEEP_ALL, str(tmp_path), *names], cwd=root)
        for names in (("one", "two"), ("two", "one"))
    ]
    assert [each.wait(PATIENCE) for each in processes] == [0, 0]
    kept = NightlyCorpus(tmp_path)
    assert set(kept.graphs("keras")) == set(many(80))
    files = list((tmp_path / "keras").iterdir())
    assert len(files) == 80
    assert all({*json.loads(each.read_text())["about"]["fingerprints"]} == {"one", "two"} for each in files)
