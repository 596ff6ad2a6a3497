"""Hypothesis' own memory of what failed: where it is kept, under which key, and which graphs it draws now.

Owns the key, which is ours: Hypothesis makes one of the code of the test, and would forget everything at each edit of
it. Only what Hypothesis made smallest is kept; what it passed on the way there is a graph of the same finding. Must not
import Keras.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    GitHubArtifactDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)
from hypothesis.strategies import SearchStrategy

from clonediff.strategies.graph import Graph

MOST = 1000
"""As many examples are drawn again, the smallest first; the others are forgotten."""

KEPT_DAYS = 90
"""For how long a Redis keeps what nobody asks for."""

ARTIFACT = "hypothesis-example-db"
"""The name of the artefact on GitHub, which is Hypothesis' own: the folder `examples`, as it is."""

_SUFFIXES = (b".secondary", b".pareto")
_REDIS = ("redis://", "rediss://", "unix://")
_GITHUB = re.compile(r"github:([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class DatabaseError(ValueError):
    """The option for the database says nothing that there is; the message says what it may be."""


def opened(option: str | None, folder: Path) -> ExampleDatabase:
    """The database that an option names; without one, the folder `examples` in `folder`.

    A path is a folder; `redis://HOST:PORT/N` a Redis that several machines share; `github:OWNER/REPO` the newest
    artefact of that repository's jobs, to read, with the folder `examples` to write.
    """
    if option is None:
        return DirectoryBasedExampleDatabase(folder / "examples")
    if option.startswith(_REDIS):
        return _redis(option)
    found = _GITHUB.fullmatch(option)
    if found is not None:
        shared = GitHubArtifactDatabase(found[1], found[2], artifact_name=ARTIFACT, path=folder / "artifact")
        return MultiplexedDatabase(DirectoryBasedExampleDatabase(folder / "examples"), ReadOnlyDatabase(shared))
    if _SCHEME.match(option) or not option.strip():
        raise DatabaseError(
            f"{_without_password(option)!r}: expected a folder, redis://HOST:PORT/NUMBER (or rediss://, unix://), "
            "or github:OWNER/REPO"
        )
    path = Path(option)
    if path.exists() and not path.is_dir():
        raise DatabaseError(f"{path}: expected a folder for Hypothesis' examples, and it is a file")
    return DirectoryBasedExampleDatabase(path)


def shared(option: str | None) -> bool:
    """Whether an option names a database that several machines share."""
    return option is not None and option.startswith(_REDIS)


def rooted(option: str | None) -> str | None:
    """The same option from whichever folder it is read: a run may be gone on with from another one."""
    if option is None or _SCHEME.match(option):
        return option
    return str(Path(option).absolute())


class OwnKey(ExampleDatabase):
    """A database seen under one key, whatever the test is called that saves to it.

    A database is a memory that may be lost: what goes wrong with it is told to `complain`, and the search goes on.
    """

    def __init__(self, inner: ExampleDatabase, key: bytes, complain: Callable[[str], None] = lambda said: None) -> None:
        super().__init__()
        self._inner = inner
        self._key = key
        self._complain = complain

    def save(self, key: bytes, value: bytes) -> None:
        if not key.endswith(_SUFFIXES):
            self._asked(lambda: self._inner.save(self._key, value), "keep an example")

    def fetch(self, key: bytes) -> Iterable[bytes]:
        if key.endswith(_SUFFIXES):
            return ()
        found: list[bytes] = []
        self._asked(lambda: found.extend(self._inner.fetch(self._key)), "give its examples")
        return found

    def delete(self, key: bytes, value: bytes) -> None:
        if not key.endswith(_SUFFIXES):
            self._asked(lambda: self._inner.delete(self._key, value), "forget an example")

    def _asked(self, ask: Callable[[], None], what: str) -> None:
        try:
            ask()
        except Exception as error:  # it may speak to another machine, and each kind raises what it likes
            self._complain(f"Hypothesis' database cannot {what}: {type(error).__name__}: {error}")

    def __repr__(self) -> str:
        return f"OwnKey({self._key!r})"


def keyed(database: ExampleDatabase, what: str, complain: Callable[[str], None] = lambda said: None) -> OwnKey:
    """A database with one key for all that is found in a generation, or on a subject."""
    return OwnKey(database, f"clonediff/{what}".encode(), complain)


def drawn(database: ExampleDatabase, graphs: SearchStrategy[Graph]) -> tuple[Graph, ...]:
    """What the examples of a keyed database draw now: each graph once, what the smallest example draws first."""
    return tuple(dict.fromkeys(graph for _, graph in each_drawn(database, graphs)))


def each_drawn(database: ExampleDatabase, graphs: SearchStrategy[Graph]) -> Iterator[tuple[bytes, Graph]]:
    """Each example of a keyed database with the graph that it draws now, the smallest first.

    An example that draws nothing is forgotten. One that was saved by another version of Hypothesis, of the catalogue or
    for another release may draw another graph than it did, which is tried like any other.
    """
    examples = sorted(database.fetch(b""), key=lambda each: (len(each), each))
    for number, example in enumerate(examples):
        graph = _drawn(example, graphs) if number < MOST else None
        if graph is None:
            database.delete(b"", example)
        else:
            yield example, graph


class _One(ExampleDatabase):
    """A database of one example."""

    def __init__(self, example: bytes) -> None:
        super().__init__()
        self._example = example

    def save(self, key: bytes, value: bytes) -> None:
        """Nothing is to be kept of a replay."""

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return () if key.endswith(_SUFFIXES) else (self._example,)

    def delete(self, key: bytes, value: bytes) -> None:
        """Hypothesis forgets what fails no longer; whether it is forgotten here is not its to say."""


def _drawn(example: bytes, graphs: SearchStrategy[Graph]) -> Graph | None:
    found: list[Graph] = []

    # The settings stand above the seed, which takes the database away.
    @settings(
        max_examples=1,
        database=_One(example),
        derandomize=False,  # a profile for CI would have it, and forbid the database
        deadline=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.reuse,),
        suppress_health_check=list(HealthCheck),
    )
    @seed(0)  # an example with too few choices is completed at random
    @given(graphs)
    def replay(graph: Graph) -> None:
        found.append(graph)

    with contextlib.suppress(SkipTest):  # so says Hypothesis that no example was run: this one is none
        replay()
    return found[0] if found else None


def _redis(url: str) -> ExampleDatabase:
    try:
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis import Redis
    except ImportError as error:
        raise DatabaseError(
            f"{_without_password(url)}: redis is not installed ({error}): pip install 'clonediff[redis]'"
        ) from None
    from datetime import timedelta

    try:
        client = Redis.from_url(url, socket_timeout=10, socket_connect_timeout=10)
    except ValueError as error:
        raise DatabaseError(f"{_without_password(url)}: not the address of a Redis: {error}") from None
    return RedisExampleDatabase(client, expire_after=timedelta(days=KEPT_DAYS))


def _without_password(url: str) -> str:
    return re.sub(r"(//[^/@]*:)[^/@]*@", r"\1...@", url)
