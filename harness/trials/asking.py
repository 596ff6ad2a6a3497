"""A subject's process as a Keras that is asked what calls give, and what it answered before.

Owns how answers are remembered: in memory, and in the user's cache folder from one run to the next, for each release.
The file there may be deleted at any time, and several processes may use it at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.source import DIALECTS, written
from harness.source.questions import write_question
from harness.subjects.outcomes import Told
from harness.subjects.process import SubjectProcess
from harness.subjects.releases.store import cache
from strategies.asking import Question
from strategies.graph import Graph, MalformedGraph, to_json
from strategies.kinds.kind import Specs

MOST = 300_000
"""The answers that are kept for a release: some 60 MB."""
_AT_ONCE = 500
"""So many new answers are written at once."""
_VERSION = 2
"""Another number for other answers to the same questions."""

_ASKED: weakref.WeakKeyDictionary[SubjectProcess, AskedProcess] = weakref.WeakKeyDictionary()


def asked(process: SubjectProcess) -> AskedProcess:
    """The process, as what is asked; the same each time."""
    found = _ASKED.get(process)
    if found is None:
        found = _ASKED[process] = AskedProcess(process)
    return found


class AskedProcess:
    """A Keras in a child process. `refused` has what no call of a kind was accepted for, with the last exception."""

    def __init__(self, process: SubjectProcess) -> None:
        """Nothing is started yet."""
        self._process = weakref.proxy(process)
        self._dialect = DIALECTS[process.subject.dialect]
        self._known: dict[bytes, Told] = {}
        self._built: dict[bytes, str] = {}
        self._file: _Answers | None = None
        self.asked = 0
        self.tried = 0
        self.accepted: Counter[str] = Counter()
        self.refused: dict[str, str] = {}

    def first(self, questions: Sequence[Question]) -> tuple[int, Specs] | None:
        """Which of the questions is the first whose call Keras accepts, and what it gives."""
        waiting: list[tuple[int, bytes, dict[str, object]]] = []
        for number, question in enumerate(questions):
            self.asked += 1
            key, request = self._written(question)
            told = Told(why="it cannot be written") if request is None else self._remembered(key)
            if told is None and request is not None:
                waiting.append((number, key, request))
                continue
            if told is not None and told.gives is not None:
                # Those before it that nobody knows of come first.
                earlier = self._ask(waiting, questions)
                return earlier or self._accepted(number, questions[number], told.gives)
        return self._ask(waiting, questions)

    def _ask(
        self, waiting: list[tuple[int, bytes, dict[str, object]]], questions: Sequence[Question]
    ) -> tuple[int, Specs] | None:
        if not waiting:
            return None
        found = self._process.first([request for _, _, request in waiting])
        for (number, key, _), told in zip(waiting, found, strict=False):
            self.tried += 1
            self._known[key] = told
            self._answers.add(key, told)
            if told.gives is not None:
                return self._accepted(number, questions[number], told.gives)
            self.refused[questions[number].layer.kind] = told.why
        return None

    def _accepted(self, number: int, question: Question, gives: Specs) -> tuple[int, Specs]:
        self.accepted[question.layer.kind] += 1
        return number, gives

    def refuses(self, graph: Graph) -> str:
        """Why the graph's model cannot be built as it is to be cloned; "" where it can be."""
        key = to_json(graph)
        if key not in self._built:
            try:
                script = written(graph, self._dialect.name)
            except (MalformedGraph, KeyError) as error:
                return str(error)
            self._built[key] = self._process.refuses({"source": script.source, "asked": script.asked})
        return self._built[key]

    def keep(self) -> None:
        """Write what was answered since to the cache folder."""
        if self._file is not None:
            self._file.write()

    def _written(self, question: Question) -> tuple[bytes, dict[str, object] | None]:
        try:
            text = write_question(question, self._dialect)
        except (MalformedGraph, KeyError):
            return b"", None
        tensors = [_request(spec) for spec in question.tensors]
        key = hashlib.blake2b(msgspec.json.encode((text, tensors)), digest_size=16).digest()
        return key, {"text": text, "tensors": tensors}

    def _remembered(self, key: bytes) -> Told | None:
        found = self._known.get(key)
        if found is None and (found := self._answers.get(key)) is not None:
            self._known[key] = found
        return found

    @property
    def _answers(self) -> _Answers:
        if self._file is None:
            process = self._process
            versions = "-".join(f"{name}-{version}" for name, version in sorted(process.versions.items()))
            name = re.sub(r"[^A-Za-z0-9.-]", "-", f"{process.subject.dialect}-{versions}")
            self._file = _Answers(cache() / "answers" / f"{name}.{_VERSION}.sqlite")
        return self._file


def _request(spec: object) -> dict[str, object]:
    given: dict[str, object] = msgspec.to_builtins(spec)
    return {key: value for key, value in given.items() if value is not False}


class _Answers:
    """What a release answered, in a file. Without the file, nothing is remembered from one run to the next."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new: dict[bytes, bytes] = {}
        self._file: sqlite3.Connection | None = None
        with self._trouble():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=OFF")
            self._file.execute("CREATE TABLE IF NOT EXISTS answers (question BLOB PRIMARY KEY, answer BLOB)")

    def get(self, key: bytes) -> Told | None:
        """The answer, if it is known."""
        with self._trouble():
            if self._file is not None:
                row = self._file.execute("SELECT answer FROM answers WHERE question = ?", (key,)).fetchone()
                return None if row is None else msgspec.json.decode(row[0], type=Told)
        return None

    def add(self, key: bytes, told: Told) -> None:
        """Remember an answer."""
        self._new[key] = msgspec.json.encode(told)
        if len(self._new) >= _AT_ONCE:
            self.write()

    def write(self) -> None:
        """Write what is new to the file, and leave out the oldest where that is too much."""
        new, self._new = list(self._new.items()), {}
        with self._trouble():
            if self._file is None or not new:
                return
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", new)
            (count,) = self._file.execute("SELECT max(rowid) - min(rowid) FROM answers").fetchone()
            if (count or 0) > MOST:
                self._file.execute("DELETE FROM answers WHERE rowid <= (SELECT max(rowid) FROM answers) - ?", (MOST,))
            self._file.execute("COMMIT")

    @contextlib.contextmanager
    def _trouble(self) -> Iterator[None]:
        """A file that cannot be used is not used any more."""
        try:
            yield
        except (sqlite3.Error, OSError, msgspec.MsgspecError):
            self._file = None
