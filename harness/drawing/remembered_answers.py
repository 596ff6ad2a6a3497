"""Who is asked what calls give: the process of a subject, or the Keras of this process; and what was answered before.

Owns how answers are remembered: in memory, and in the user's cache folder from one run to the next, for each release.
A checkout that is imported as it lies there may be another one in the next run: nothing is kept of it.
The file there may be deleted at any time, and several processes may use it at once.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib.util
import platform
import re
import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from clonediff.harness.source import DIALECTS, written
from clonediff.harness.source.other_layers import is_other, other_kinds
from clonediff.harness.source.tensors import packed_in
from clonediff.harness.source.writer import write_question
from clonediff.harness.subjects.environment import HARNESS
from clonediff.harness.subjects.outcomes import Capabilities, Told
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import cache as cache_folder
from clonediff.strategies.asking import Question
from clonediff.strategies.graph import Graph, Layer, MalformedGraph, made_layers, to_json
from clonediff.strategies.kinds.kind import Generation, Specs
from clonediff.strategies.kinds.of_release import Signature
from clonediff.strategies.kinds.operations import is_operation

MOST = 300_000
"""The answers that are kept for a release: some 60 MB."""
_HELD = 50_000
"""So many answers are held in memory, and a hundredth of the models that were built."""
_AT_ONCE = 50
"""So many new answers are written at once, so that the workers of a campaign soon know what one of them asked."""
_PROGRAM = (HARNESS / "inside" / "try_call.py", *sorted((HARNESS / "inside" / "frameworks").glob("*.py")))
_ASKS = hashlib.blake2b(b"".join(each.read_bytes() for each in _PROGRAM), digest_size=4).hexdigest()
"""What asks: another program may give other answers to the same questions."""

_ASKED: weakref.WeakKeyDictionary[SubjectProcess, AskedProcess] = weakref.WeakKeyDictionary()


def asked(process: SubjectProcess) -> AskedProcess:
    """The process, as what is asked; the same each time."""
    found = _ASKED.get(process)
    if found is None:
        found = _ASKED[process] = AskedProcess(process)
    return found


class Asked:
    """A Keras that is asked, and remembers. `tried` is how many questions it was put.

    `accepted` counts its calls by kind, `refused` has the last exceptions.
    """

    def __init__(self, dialect: str) -> None:
        """Nothing is started yet."""
        self.dialect = DIALECTS[dialect]
        self._known: dict[bytes, Told] = {}
        self._built: dict[bytes, str] = {}
        self._file: _Answers | None = None
        self.tried = 0
        self.accepted: Counter[str] = Counter()
        self.refused: dict[str, str] = {}
        self._said: set[str] = set()
        self._on: dict[str, set[Specs]] = {}
        self._new: Counter[str] = Counter()

    def gives(self, question: Question) -> Specs | None:
        """What the call gives; None where Keras refuses it."""
        told = self._told(question)
        self._count(question, told)
        return told.gives

    def _told(self, question: Question) -> Told:
        """The answer, remembered or asked for."""
        key = msgspec.json.encode(question)  # 1, 1.0 and True are equal, their texts are not
        told = self._known.get(key)
        if told is None:
            try:
                request = self._written(question)
            except (MalformedGraph, KeyError):
                return Told(why="it cannot be written")  # until its layer is allowed, perhaps: not remembered
            if len(self._known) > _HELD:
                self._known.clear()
            told = self._known[key] = self._found_out(question, request)
        return told

    def _found_out(self, question: Question, request: dict[str, object]) -> Told:
        """The answer that is kept from another run, or asked for."""
        kept = not _of_others(question.layer) and not _in_checkout(self._package)
        key = hashlib.blake2b(msgspec.json.encode(request), digest_size=16).digest()
        told = self._answers.get(key) if kept else None
        if told is None:
            self.tried += 1
            told = self._tell({**request, "packed_in": packed_in(question.layer)})
            if kept:
                self._answers.add(key, told)
        return told

    def _count(self, question: Question, told: Told) -> None:
        """Count the tensors that a kind was proposed on, as long as no call of it was accepted."""
        kind = question.layer.kind
        if told.gives is not None:
            self.accepted[kind] += 1
            self._on.pop(kind, None)
        elif kind not in self.accepted:
            self.refused[kind] = told.why
            met = self._on.setdefault(kind, set())
            self._new[kind] += question.tensors not in met
            met.add(question.tensors)

    def why(self, question: Question) -> str:
        """The exception with which Keras refuses the call, "" where it accepts it."""
        return self._told(question).why

    def refuses(self, graph: Graph) -> str:
        """Why the graph's model cannot be built as it is to be cloned; "" where it can be."""
        key = to_json(graph)
        if len(self._built) > _HELD // 100:
            self._built.clear()
        if key not in self._built:
            try:
                # What images of another format do shows only when the model runs.
                session = any(each.does == "session" for each in graph.preparations)
                script = written(graph, self.dialect.name, called=session)
            except (MalformedGraph, KeyError) as error:
                return str(error)
            self._built[key] = self._tell_refusal({"source": script.source, "asked": script.asked})
        return self._built[key]

    @property
    def capabilities(self) -> Capabilities:
        """What it has."""
        raise NotImplementedError

    def layers(self, names: Sequence[str]) -> Mapping[str, Signature]:
        """What layers take that are not Keras' own; see `inside.other_layers` for their names."""
        raise NotImplementedError

    def since(self) -> tuple[tuple[str, ...], dict[str, tuple[int, str]]]:
        """The kinds of which a call was accepted first since this was asked last; and those of which none ever was.

        Each of these with the number of tensors on which it was proposed first since then, and the last exception.
        """
        new = tuple(sorted(self.accepted.keys() - self._said))
        self._said.update(new)
        counted, self._new = self._new, Counter()
        waiting = {kind: (counted[kind], why) for kind, why in sorted(self.refused.items()) if counted[kind]}
        return new, {kind: told for kind, told in waiting.items() if kind not in self.accepted}

    def keep(self) -> None:
        """Write what was answered since to the cache folder."""
        if self._file is not None:
            self._file.write()

    def _written(self, question: Question) -> dict[str, object]:
        text = write_question(question, self.dialect)
        return {"text": text, "tensors": [_request(spec) for spec in question.tensors]}

    @property
    def _answers(self) -> _Answers:
        if self._file is None:
            versions = "-".join(f"{name}-{version}" for name, version in sorted(self._versions().items()))
            name = re.sub(r"[^A-Za-z0-9.-]", "-", f"{self.dialect.name}-{versions}")
            self._file = _Answers(cache_folder() / "answers", name)
            weakref.finalize(self, self._file.write)
        return self._file

    @property
    def _package(self) -> str:
        """The package beside clonediff that is asked; "" where none of these is."""
        return ""

    def _versions(self) -> dict[str, str]:
        raise NotImplementedError

    def _tell(self, request: dict[str, object]) -> Told:
        raise NotImplementedError

    def _tell_refusal(self, request: dict[str, object]) -> str:
        raise NotImplementedError


class AskedProcess(Asked):
    """A Keras in a child process."""

    def __init__(self, process: SubjectProcess) -> None:
        """Nothing is started yet."""
        super().__init__(process.subject.generation)
        self._process: SubjectProcess = weakref.proxy(process)

    @property
    def capabilities(self) -> Capabilities:
        """What the release has."""
        return self._process.ready.capabilities

    def layers(self, names: Sequence[str]) -> Mapping[str, Signature]:
        """What layers take that are not Keras' own."""
        return self._process.layers(names)

    @property
    def _package(self) -> str:
        return self._process.subject.package if not self._process.place else ""

    def _versions(self) -> dict[str, str]:
        return self._process.versions

    def _tell(self, request: dict[str, object]) -> Told:
        return self._process.gives(request)

    def _tell_refusal(self, request: dict[str, object]) -> str:
        return self._process.refuses(request)


class AskedHere(Asked):
    """The Keras of this process, of which nothing is changed."""

    def __init__(self, generation: Generation) -> None:
        """Keras is imported when it is asked first."""
        super().__init__(generation)
        self._generation = generation

    @cached_property
    def framework(self) -> Any:
        """The Keras, as what runs beside it sees it."""
        from clonediff.harness.inside.frameworks import framework

        return framework(self._generation)

    @cached_property
    def capabilities(self) -> Capabilities:
        """What it has."""
        from clonediff.harness.inside.capabilities import capabilities

        with self.framework.scratch():
            return msgspec.convert(capabilities(self.framework), Capabilities)

    def layers(self, names: Sequence[str]) -> Mapping[str, Signature]:
        """What layers take that are not Keras' own."""
        from clonediff.harness.inside.other_layers import other_layers

        return msgspec.convert(other_layers(list(names), self.framework), dict[str, Signature]) if names else {}

    @property
    def _package(self) -> str:
        return self._generation

    def _versions(self) -> dict[str, str]:
        return {
            **self.framework.versions(),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "in": "this process",
        }

    def _tell(self, request: dict[str, object]) -> Told:
        from clonediff.harness.inside.try_call import answer

        with self.framework.scratch():
            return msgspec.convert(answer(request, self.framework), Told)

    def _tell_refusal(self, request: dict[str, object]) -> str:
        from clonediff.harness.inside.try_call import refusal

        with self.framework.scratch():
            return refusal(request, self.framework)


@cache
def here(generation: Generation) -> AskedHere:
    """The Keras of this process; the same each time."""
    return AskedHere(generation)


@cache
def _in_checkout(package: str) -> bool:
    """Whether a package is imported from a folder with the files of a repository around it."""
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return False
    around = Path(spec.origin).resolve().parent.parent
    return any((around / each).exists() for each in (".git", "pyproject.toml", "setup.py"))


def _of_others(layer: Layer) -> bool:
    """Whether it is or has a layer that is not Keras' own: what that answers may be another thing in the next run."""
    if is_other(layer.kind) and not is_operation(layer.kind):
        return True
    return any(map(_of_others, made_layers(layer))) or (layer.graph is not None and bool(other_kinds(layer.graph)))


def _request(spec: object) -> dict[str, object]:
    given: dict[str, object] = msgspec.to_builtins(spec)
    return {key: value for key, value in given.items() if value is not False}


class _Answers:
    """What a release answered, in a file. Without the file, nothing is remembered from one run to the next."""

    def __init__(self, folder: Path, release: str) -> None:
        path = folder / f"{release}.{_ASKS}.sqlite"
        self._new: dict[bytes, bytes] = {}
        self._file: sqlite3.Connection | None = None
        with self._trouble():
            folder.mkdir(parents=True, exist_ok=True)
            for other in folder.glob(f"{glob.escape(release)}.*.sqlite*"):
                if not other.name.startswith(path.name):
                    other.unlink(missing_ok=True)
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
