"""Graphs in a database: kept under our key, read back, and what a database that does not work does."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, InMemoryExampleDatabase

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.search import graph_database
from clonediff.harness.search.graph_database import DatabaseError, GraphDatabase, opened, rooted
from clonediff.strategies import Graph, to_json
from clonediff.strategies.graph import Call, Input, Layer, Ref
from tests.example_counts import examples
from tests.waiting import until

KEY = b"clonediff/graphs/keras"


def of(kind: str) -> Graph:
    return Graph((Input((4,)),), (Layer(kind),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))


RELU, SOFTMAX = of("ReLU"), of("Softmax")


def test_what_is_kept_is_read_by_another_one_the_smallest_first() -> None:
    inner = InMemoryExampleDatabase()
    for graph in (SOFTMAX, RELU, SOFTMAX):
        GraphDatabase(inner, "keras").keep(graph)
    assert list(GraphDatabase(inner, "keras").graphs()) == [RELU, SOFTMAX]
    assert list(GraphDatabase(inner, "tf_keras").graphs()) == []
    GraphDatabase(inner, "keras").forget(RELU)
    assert list(GraphDatabase(inner, "keras").graphs()) == [SOFTMAX]


def test_without_a_database_nothing_is_kept() -> None:
    none = GraphDatabase(None, "keras")
    none.keep(RELU)
    assert list(none.graphs()) == []


@settings(max_examples=examples(40, 100), deadline=None)
@given(st.lists(st.binary(max_size=60) | st.just(b"[" * 100_000) | st.just(to_json(RELU)[:-9]), max_size=4))
def test_what_is_no_graph_is_left_as_it_is(found: list[bytes]) -> None:
    inner = InMemoryExampleDatabase()
    for each in found:
        inner.save(KEY, each)
    kept = GraphDatabase(inner, "keras")
    kept.keep(RELU)
    assert list(kept.graphs()) == [RELU]
    assert set(inner.fetch(KEY)) == {*found, to_json(RELU)}


def test_of_too_many_the_largest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_database, "MOST", 1)
    inner = InMemoryExampleDatabase()
    kept = GraphDatabase(inner, "keras")
    kept.keep(SOFTMAX)
    kept.keep(RELU)
    assert list(kept.graphs()) == [RELU]
    assert list(inner.fetch(KEY)) == [to_json(RELU)]


class Broken(ExampleDatabase):
    """A database on a machine that does not answer."""

    def save(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("nobody there")

    def fetch(self, key: bytes) -> Iterable[bytes]:
        raise ConnectionError("nobody there")

    def delete(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("nobody there")


def test_a_database_that_does_not_answer_is_told() -> None:
    said: list[str] = []
    kept = GraphDatabase(Broken(), "keras", said.append)
    kept.keep(RELU)
    kept.forget(RELU)
    assert list(kept.graphs()) == []
    assert len(said) == 3
    assert {"nobody there" in each for each in said} == {True}


def test_a_corpus_without_one_is_its_files_alone(tmp_path: Path) -> None:
    NightlyCorpus(tmp_path).keep("keras", RELU)
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == ["keras"]


def test_a_graph_that_both_have_is_tried_once(tmp_path: Path) -> None:
    database = str(tmp_path / "elsewhere")
    NightlyCorpus(tmp_path / "corpus", database).keep("keras", RELU)
    assert NightlyCorpus(tmp_path / "corpus", database).graphs("keras") == (RELU,)
    assert NightlyCorpus(tmp_path / "other", database).graphs("keras") == (RELU,)
    assert not (tmp_path / "other").exists(), "nothing is written before there is something to keep"


@pytest.mark.parametrize("option", ["mysql://here", "github:keras-team", "github:a/b/c", "", " ", "http://x/y", "s3:x"])
def test_an_option_that_names_no_database_is_told_what_it_may_be(tmp_path: Path, option: str) -> None:
    with pytest.raises(DatabaseError, match=r"expected a folder, redis://HOST:PORT/NUMBER .*, or github:OWNER/REPO"):
        opened(option, tmp_path)


def test_a_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="expected a folder"):
        opened(str(tmp_path / "file"), tmp_path)


def test_an_artefact_is_read_and_a_folder_beside_it_written(tmp_path: Path) -> None:
    # The artefact of last night, as its job uploads it, is in the cache already: nothing is fetched.
    NightlyCorpus(tmp_path / "last", str(tmp_path / "graphs")).keep("keras", RELU)
    newest = time.strftime("%Y-%m-%dT%H_%M_%S.000000+00_00", time.gmtime())
    (tmp_path / "corpus" / "artifact").mkdir(parents=True)
    shutil.make_archive(str(tmp_path / "corpus" / "artifact" / newest), "zip", tmp_path / "graphs")
    tonight = NightlyCorpus(tmp_path / "corpus", "github:owner/repo")
    assert tonight.graphs("keras") == (RELU,)
    tonight.keep("keras", SOFTMAX)
    assert set(tonight.graphs("keras")) == {RELU, SOFTMAX}
    assert tonight.problems == ()
    folder = DirectoryBasedExampleDatabase(tmp_path / "corpus" / "examples")
    assert list(GraphDatabase(folder, "keras").graphs()) == [SOFTMAX]


def test_without_redis_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, "hypothesis.extra.redis", raising=False)
    with pytest.raises(DatabaseError, match=r"pip install 'clonediff\[redis\]'") as raised:
        opened("redis://me:secret@host:6379/0", tmp_path)
    assert "secret" not in str(raised.value)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("redis", reason="redis is not installed")
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip(reason="no redis-server on the path")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments: list[Any] = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    until(lambda: _answers(port), process)
    yield f"redis://127.0.0.1:{port}/0"
    process.kill()
    process.wait()


def test_a_redis_is_shared_by_machines(tmp_path: Path, redis_url: str) -> None:
    NightlyCorpus(tmp_path / "one", redis_url).keep("keras", RELU)
    other = NightlyCorpus(tmp_path / "other", redis_url)
    assert other.graphs("keras") == (RELU,)
    assert other.problems == ()
    assert not (tmp_path / "other").exists()


def test_a_redis_that_is_not_there_is_told_and_the_file_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("redis", reason="redis is not installed")
    kept = NightlyCorpus(tmp_path, "redis://me:secret@127.0.0.1:1/0")
    kept.keep("keras", RELU)
    assert kept.graphs("keras") == (RELU,)
    assert any("cannot keep a graph" in each for each in kept.problems)
    assert not any("secret" in each for each in kept.problems)


def test_a_folder_is_the_same_one_from_wherever_a_run_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rooted("kept") == str(tmp_path / "kept")
    for option in (None, "redis://127.0.0.1:6379/0", "github:somebody/something", str(tmp_path)):
        assert rooted(option) == option
