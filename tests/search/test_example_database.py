"""Hypothesis' examples: saved under our key, drawn again, and what a database that does not work does to a search."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, InMemoryExampleDatabase

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.harness.search import example_database
from clonediff.harness.search.draw_and_shrink import search
from clonediff.harness.search.example_database import DatabaseError, drawn, keyed, opened
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials, Hit, Tally, TriedGraph
from clonediff.harness.trials.trial import Trial
from clonediff.strategies import Graph
from tests.asked import graphs_of
from tests.effort import examples
from tests.waiting import until

GRAPHS = graphs_of("keras", kinds=("Dense", "GRU", "LSTM"), features=(), max_instructions=3)
"""Few kinds and small graphs, since what is found is kept here, and not looked for."""


class Wanting(GraphTrials):
    """trials for graphs with a kind of layer: the search is what is under test, and no Keras has to run for it."""

    def __init__(self, kind: str) -> None:
        self.tally = Tally()
        self.rate = 0
        self.kind = kind

    def try_graph(self, graph: Graph, *, costly: bool | None = None) -> TriedGraph:
        there = any(layer.kind == self.kind for layer in graph.layers)
        return TriedGraph(Trial(), (Hit(self.kind, "upstream", "t", case_of(graph, "keras"), graph),) if there else ())


def find(kind: str, database: ExampleDatabase | None, seed: int = 0) -> Graph:
    found = search(Wanting(kind), GRAPHS, examples=2000, seed_=seed, database=database)
    assert found is not None
    return found.graph


def test_what_a_search_made_small_is_drawn_by_another_night(tmp_path: Path) -> None:
    lstm = find("LSTM", NightlyCorpus(tmp_path).database("keras"))
    dense = find("Dense", NightlyCorpus(tmp_path).database("keras"), seed=1)
    later = NightlyCorpus(tmp_path)
    assert set(later.drawn("keras", GRAPHS)) == {lstm, dense}
    assert later.drawn("tf_keras", GRAPHS) == ()
    assert later.drawn("keras", GRAPHS) == later.drawn("keras", GRAPHS), "drawing them forgets nothing"
    assert later.problems == ()


def test_a_search_finds_the_same_whatever_the_database_has(tmp_path: Path) -> None:
    database = NightlyCorpus(tmp_path).database("keras")
    alone = find("GRU", None, seed=3)
    for _ in range(2):
        assert find("GRU", database, seed=3) == alone


def test_only_the_smallest_is_kept(tmp_path: Path) -> None:
    find("LSTM", NightlyCorpus(tmp_path).database("keras"))
    plain = DirectoryBasedExampleDatabase(tmp_path / "examples")
    assert len(list(plain.fetch(b"clonediff/keras"))) == 1
    assert list(plain.fetch(b"clonediff/keras.secondary")) == []


@pytest.mark.parametrize("examples_", [[b""], [b"\xff\xff\xff"], [b"x" * 5000], [b"\x00" * 9, b"\x01\x02", b"\x82"]])
def test_an_example_that_draws_nothing_is_forgotten(examples_: list[bytes]) -> None:
    inner = InMemoryExampleDatabase()
    database = keyed(inner, "keras")
    lstm = find("LSTM", database)
    for each in examples_:
        database.save(b"", each)
    try:
        graphs = drawn(database, GRAPHS)
    except SkipTest:  # which is what Hypothesis raises where it has run nothing, and would skip this test
        pytest.fail("an example that draws nothing is no reason to end")
    assert lstm in graphs
    left = set(inner.fetch(b"clonediff/keras"))
    assert left
    drawn(database, GRAPHS)
    assert set(inner.fetch(b"clonediff/keras")) == left, "what draws a graph stays"


@settings(max_examples=examples(40, 100), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.binary(max_size=60), max_size=4))
def test_whatever_bytes_there_are_are_graphs_or_forgotten(found: list[bytes]) -> None:
    inner = InMemoryExampleDatabase()
    database = keyed(inner, "keras")
    for each in found:
        database.save(b"", each)
    graphs = drawn(database, GRAPHS)
    assert graphs == drawn(database, GRAPHS)
    assert len(graphs) <= len(set(inner.fetch(b"clonediff/keras")))


def test_two_examples_of_one_graph_are_one(tmp_path: Path) -> None:
    database = NightlyCorpus(tmp_path).database("keras")
    find("LSTM", database)
    (example,) = database.fetch(b"")
    database.save(b"", example + b"\x00")  # a choice more, which nothing reads
    assert len(drawn(database, GRAPHS)) == 1


def test_of_too_many_examples_the_largest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_database, "MOST", 1)
    database = keyed(InMemoryExampleDatabase(), "keras")
    find("LSTM", database)
    small = next(iter(database.fetch(b"")))
    database.save(b"", small + b"\x00")
    drawn(database, GRAPHS)
    assert list(database.fetch(b"")) == [small]


def test_the_key_is_the_same_for_every_test() -> None:
    inner = InMemoryExampleDatabase()

    def failing(message: str) -> None:
        @settings(database=keyed(inner, "keras"), derandomize=False, phases=[Phase.generate, Phase.shrink])
        @given(st.integers())
        def probe(number: int) -> None:
            assert number < 100, message

        with pytest.raises(AssertionError):
            probe()

    failing("one")
    before = set(inner.data)
    failing("other")
    assert set(inner.data) == before
    assert b"clonediff/keras" in before
    assert not any(key.endswith((b".secondary", b".pareto")) for key in before)


class Broken(ExampleDatabase):
    """A database on a machine that does not answer."""

    def save(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("nobody there")

    def fetch(self, key: bytes) -> Iterable[bytes]:
        raise ConnectionError("nobody there")

    def delete(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("nobody there")


def test_a_database_that_does_not_answer_is_told_and_the_search_goes_on() -> None:
    said: list[str] = []
    database = keyed(Broken(), "keras", said.append)
    assert find("LSTM", database) == find("LSTM", None)
    assert drawn(database, GRAPHS) == ()
    assert {"nobody there" in each for each in said} == {True}


def test_a_profile_for_ci_does_not_forbid_the_database(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; import sys\n"
        "from clonediff.harness.campaign.corpus import NightlyCorpus\n"
        "from tests.search.test_example_database import GRAPHS, find\n"
        "kept = NightlyCorpus(Path(sys.argv[1]))\n"
        "found = find('LSTM', kept.database('keras'))\n"
        "assert kept.drawn('keras', GRAPHS) == (found,), kept.problems\n"
    )
    root = Path(__file__).parents[2]
    environment = {"CI": "true", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("option", ["mysql://here", "github:keras-team", "github:a/b/c", "", " ", "http://x/y", "s3:x"])
def test_an_option_that_names_no_database_is_told_what_it_may_be(tmp_path: Path, option: str) -> None:
    with pytest.raises(DatabaseError, match=r"expected a folder, redis://HOST:PORT/NUMBER .*, or github:OWNER/REPO"):
        opened(option, tmp_path)


def test_a_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="expected a folder"):
        opened(str(tmp_path / "file"), tmp_path)


def test_a_path_is_a_folder_of_its_own(tmp_path: Path) -> None:
    kept = NightlyCorpus(tmp_path / "corpus", str(tmp_path / "elsewhere"))
    lstm = find("LSTM", kept.database("keras"))
    assert not (tmp_path / "corpus").exists()
    assert NightlyCorpus(tmp_path, str(tmp_path / "elsewhere")).drawn("keras", GRAPHS) == (lstm,)


def test_an_artefact_is_read_and_a_folder_beside_it_written(tmp_path: Path) -> None:
    # The artefact of last night, as its job uploads it, is in the cache already: nothing is fetched.
    lstm = find("LSTM", NightlyCorpus(tmp_path / "last").database("keras"))
    newest = time.strftime("%Y-%m-%dT%H_%M_%S.000000+00_00", time.gmtime())
    (tmp_path / "corpus" / "artifact").mkdir(parents=True)
    shutil.make_archive(str(tmp_path / "corpus" / "artifact" / newest), "zip", tmp_path / "last" / "examples")
    tonight = NightlyCorpus(tmp_path / "corpus", "github:owner/repo")
    assert tonight.drawn("keras", GRAPHS) == (lstm,)
    gru = find("GRU", tonight.database("keras"))
    assert set(tonight.drawn("keras", GRAPHS)) == {lstm, gru}
    assert NightlyCorpus(tmp_path / "corpus").drawn("keras", GRAPHS) == (gru,)
    assert tonight.problems == ()


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
    lstm = find("LSTM", NightlyCorpus(tmp_path / "one", redis_url).database("keras"))
    other = NightlyCorpus(tmp_path / "other", redis_url)
    assert other.drawn("keras", GRAPHS) == (lstm,)
    assert other.problems == ()
    assert not (tmp_path / "other").exists()


def test_a_redis_that_is_not_there_is_told_and_the_search_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("redis", reason="redis is not installed")
    kept = NightlyCorpus(tmp_path, "redis://me:secret@127.0.0.1:1/0")
    assert find("LSTM", kept.database("keras")) == find("LSTM", None)
    assert kept.drawn("keras", GRAPHS) == ()
    assert any("cannot keep an example" in each for each in kept.problems)
    assert not any("secret" in each for each in kept.problems)


def test_a_folder_is_the_same_one_from_wherever_a_run_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert example_database.rooted("kept") == str(tmp_path / "kept")
    for option in (None, "redis://127.0.0.1:6379/0", "github:somebody/something", str(tmp_path)):
        assert example_database.rooted(option) == option
