"""A script for each cause: plain Keras with the proposed function put in place, and whether it fails on its own."""

from __future__ import annotations

import re
import subprocess
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from clonediff.harness.judge.processes import Prepared
from clonediff.harness.scripts.comments import comment
from clonediff.harness.scripts.reproducer import Script, reproducer
from clonediff.harness.scripts.run_alone import end_all, ended_so, run_alone
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import Difference

LIMIT = 60.0
ENDLESS = 25.0
"""The seconds that a script may take; one that should not end need not be waited for that long."""

WORKERS = 2

_CLONE = re.compile(r"^clone = .*$", re.MULTILINE)


def script_for(source: str, dialect: str, root: Difference, module: str, prepared: Prepared, name: str) -> Script:
    """The script for a break of a candidate, which goes by that name; `module` is the release's that clones."""
    plain = reproducer(source, dialect, root, "upstream")
    text = plain.text
    if prepared.in_script:
        put = _in_place(module, prepared.in_script, name)
        text = _CLONE.sub(lambda match: put, text, count=1)
    head = [f"# {prepared.note}\n"] if prepared.note else []
    raises = root.raised.type if root.path == "process" and root.raised else plain.raises
    return Script("\n".join((*head, text)), raises, plain.sure)


def _in_place(module: str, proposed: str, name: str) -> str:
    return (
        f"# What {comment(name)} proposes, in the place of the release's own.\n"
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


class ScriptRuns:
    """Scripts that run, each in a process of its own, beside whatever else goes on."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="script")
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, script: Script, subject: Subject, place: ReleasePlace) -> Future[bool | None]:
        """Whether a script ends in the way that it should; None where its end does not tell."""
        return self._pool.submit(self._fails, script, subject, place)

    def close(self, *, at_once: bool) -> None:
        """Wait for what runs; `at_once`, end it."""
        with self._lock:
            self._closed = at_once
            running = list(self._running) if at_once else []
        for process in running:
            end_all(process)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fails(self, script: Script, subject: Subject, place: ReleasePlace) -> bool | None:
        if not script.raises or script.raises == "out of memory":
            return None
        endless = script.raises == "timed out"
        limit = ENDLESS if endless else LIMIT
        done = run_alone(script.text, subject, place, limit=limit, started=self._started)
        return done.code is None if endless else ended_so(script, done)

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.add(process)
            if self._closed:
                end_all(process)
