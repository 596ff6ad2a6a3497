"""Graphs kept in a database of Hypothesis': a folder, a Redis that machines share, an artefact of a repository's jobs.

Owns how it is named and the keys in it. A value is a graph as JSON, which means the same to every version that reads
it. Must not import Keras.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    GitHubArtifactDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)

from clonediff.strategies.graph import Graph, MalformedGraph, from_json, to_json

MOST = 1000
"""As many graphs are read, the smallest first; the others are forgotten."""

KEPT_DAYS = 90
"""For how long a Redis keeps what nobody asks for."""

ARTIFACT = "clonediff-graphs"
"""The name of the artefact on GitHub: the folder that `--database` names, as it is."""

_REDIS = ("redis://", "rediss://", "unix://")
_GITHUB = re.compile(r"github:([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class DatabaseError(ValueError):
    """The option for the database says nothing that there is; the message says what it may be."""


def opened(option: str, folder: Path) -> ExampleDatabase:
    """The database that an option names.

    A path is a folder; `redis://HOST:PORT/N` a Redis that several machines share; `github:OWNER/REPO` the newest
    artefact of that repository's jobs, to read, with the folder `examples` in `folder` to write.
    """
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
        raise DatabaseError(f"{path}: expected a folder for graphs, and it is a file")
    return DirectoryBasedExampleDatabase(path)


def rooted(option: str | None) -> str | None:
    """The same option from whichever folder it is read: a run may be gone on with from another one."""
    if option is None or _SCHEME.match(option):
        return option
    return str(Path(option).absolute())


class GraphDatabase:
    """The graphs in a database that were kept for `what`: a generation, or a subject.

    A database is a memory that may be lost: what goes wrong with it is told to `complain`, and the search goes on.
    Without one, nothing is kept.
    """

    def __init__(
        self, database: ExampleDatabase | None, what: str, complain: Callable[[str], None] = lambda said: None
    ) -> None:
        self._database = database
        self._key = f"clonediff/graphs/{what}".encode()
        self._complain = complain

    def graphs(self) -> Iterator[Graph]:
        """Each graph, the smallest first. What is none, or is one of a later version, is left as it is."""
        values: list[bytes] = []
        self._ask("give its graphs", lambda its: values.extend(its.fetch(self._key)))
        values.sort(key=lambda each: (len(each), each))
        for value in values[MOST:]:
            self._delete(value)
        yield from filter(None, map(_graph, values[:MOST]))

    def keep(self, graph: Graph) -> None:
        """Keep a graph, once."""
        self._ask("keep a graph", lambda its: its.save(self._key, to_json(graph)))

    def forget(self, graph: Graph) -> None:
        """Keep a graph no longer."""
        self._delete(to_json(graph))

    def _delete(self, value: bytes) -> None:
        self._ask("forget a graph", lambda its: its.delete(self._key, value))

    def _ask(self, what: str, ask: Callable[[ExampleDatabase], None]) -> None:
        if self._database is None:
            return
        try:
            ask(self._database)
        except Exception as error:  # it may speak to another machine, and each kind raises what it likes
            self._complain(f"the database cannot {what}: {type(error).__name__}: {error}")


def _graph(value: bytes) -> Graph | None:
    try:
        return from_json(value, "a graph of the database")
    except (MalformedGraph, RecursionError):
        return None


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
