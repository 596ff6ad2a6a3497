"""A script for each cause: plain Keras with the proposed function put in place, and whether it fails on its own.

Owns how the proposal stands in a script, and what end of a script counts.
"""

from __future__ import annotations

import ast
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from clonediff.harness.inside.v1 import LINES as V1_LINES
from clonediff.harness.judge.reading import FilePart, first_line, parsed
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.scripts.run_alone import end_all, ended_so, run_alone, run_command
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import Difference

LIMIT = 60.0
ENDLESS = 25.0
"""The seconds that a script may take; one that should not end need not be waited for that long."""

WORKERS = 2

_CLONE = re.compile(r"^clone = .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ScriptToRun:
    """A script and how it has to end: `raises` an exception's type, `code` an exit code, or not at all."""

    script: Script
    code: int | None = None
    endless: bool = False

    @property
    def text(self) -> str:
        """The script."""
        return self.script.text


def script_for(
    source: str,
    dialect: str,
    root: Difference,
    module: str,
    proposed: str,
    name: str,
    place: ReleasePlace,
    note: str = "",
) -> ScriptToRun:
    """The script for a break of a candidate; `proposed` is its text, "" where a patched release is run."""
    plain = reproducer(source, dialect, root, "upstream")
    head = [V1_LINES] if place.how == "v1 mode" else []
    head += [f"# {note}\n"] if note else []
    text = _CLONE.sub(lambda match: _in_place(module, proposed, name), plain.text, count=1) if proposed else plain.text
    script = Script("\n".join((*head, text)), plain.raises, plain.sure)
    word = root.raised.type if root.path == "process" and root.raised else ""
    if word == "timed out":
        return ScriptToRun(Script(script.text, "", sure=True), endless=True)
    exited = re.fullmatch(r"exit code (\d+)", word)
    if exited:
        return ScriptToRun(Script(script.text, "", sure=True), code=int(exited[1]))
    if root.path == "process":
        return ScriptToRun(Script(script.text))
    return ScriptToRun(script)


def changed_statements(before: str, after: str) -> str:
    """The statements at the top of a module that a change made new, as text, in their order."""
    old, new = parsed(before), parsed(after)
    if old is None or new is None:
        return after
    known = {ast.dump(node) for node in old.body}
    lines = after.split("\n")
    parts = []
    for node in new.body:
        if ast.dump(node) in known:
            continue
        parts.append("\n".join(lines[first_line(node) - 1 : node.end_lineno]))
    return "\n\n\n".join(parts) + "\n" if parts else ""


def text_of(pieces: Sequence[FilePart]) -> str:
    """The pieces of a proposal as one text."""
    return "\n\n".join(piece.text.strip("\n") for piece in pieces) + "\n"


def _in_place(module: str, proposed: str, name: str) -> str:
    return (
        f"# What {name} proposes, in the place of the release's own.\n"
        f"PROPOSED = {_literal(proposed)}\n\n"
        "import importlib\n\n"
        f'cloning = importlib.import_module("{module}")\n'
        f'exec(compile(PROPOSED, {name!r}, "exec"), vars(cloning))\n\n'
        "clone = cloning.clone_model(model)"
    )


def _literal(text: str) -> str:
    for quotes in ("'''", '"""'):
        if quotes not in text and not text.rstrip("\n").endswith(("\\", quotes[0])):
            return f"r{quotes}\n{text.rstrip(chr(10))}\n{quotes}"
    return repr(text)


@dataclass(frozen=True, slots=True)
class RunEnded:
    """What a command wrote, None where it did not end in time, and how long it took."""

    said: str | None
    seconds: float


class ScriptRuns:
    """Scripts that are run, each in a process of its own, beside whatever else goes on."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="script")
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, to_run: ScriptToRun, subject: Subject, place: ReleasePlace) -> Future[bool | None]:
        """Whether a script fails in the way said; None where its end does not tell."""
        return self._pool.submit(self._fails, to_run, subject, place)

    def run(self, work: Sequence[str], folder: Path, environment: dict[str, str], limit: float) -> Future[RunEnded]:
        """Run a command; what became of it."""
        return self._pool.submit(self._run, list(work), folder, environment, limit)

    def close(self, *, at_once: bool) -> None:
        """Wait for what runs; `at_once`, end it."""
        with self._lock:
            self._closed = at_once
            running = list(self._running) if at_once else []
        for process in running:
            end_all(process)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fails(self, to_run: ScriptToRun, subject: Subject, place: ReleasePlace) -> bool | None:
        expects = to_run.script.raises or to_run.code is not None or to_run.endless
        if not expects:
            return None
        limit = ENDLESS if to_run.endless else LIMIT
        done = run_alone(to_run.text, subject, place, limit=limit, started=self._started)
        if to_run.endless:
            return done.code is None
        if to_run.code is not None and done.code is not None:
            return done.code == to_run.code and "Traceback" not in done.stderr
        return ended_so(to_run.script, done)

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.add(process)
            if self._closed:
                end_all(process)

    def _run(self, work: list[str], folder: Path, environment: dict[str, str], limit: float) -> RunEnded:
        began = time.monotonic()
        done = run_command(work, folder, environment, limit, self._started, both=True)
        return RunEnded(None if done.code is None else done.stderr, time.monotonic() - began)
