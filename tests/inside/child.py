"""A child process that serves, as a parent sees it: lines out, lines in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clonediff import harness

HARNESS = Path(harness.__file__).parent
COMMAND = f"""
import sys
sys.path.insert(0, {str(HARNESS)!r})
import fixed
from inside.serve import main
sys.path.pop(0)
sys.exit(main())
"""
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}


class Child:
    """A running child. `line` sends a line as it is, `ask` a request."""

    def __init__(self, generation: str, **environment: str) -> None:
        self.generation = generation
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", COMMAND, generation],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ENVIRONMENT, **environment},
        )
        self.first: dict[str, Any] = json.loads(self._read())

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def line(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._read()

    def ask(self, **request: Any) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self.line(json.dumps(request)))
        return reply

    def answer(self, case: dict[str, Any], cloners: list[str], costly: bool = False) -> dict[str, Any]:
        reply = self.ask(do="trial", id=1, cloners=cloners, costly=costly, **case)
        assert "answer" in reply, reply
        answer: dict[str, Any] = reply["answer"]
        return answer


@contextmanager
def serving(generation: str, **environment: str) -> Iterator[Child]:
    child = Child(generation, **environment)
    try:
        yield child
    finally:
        child.process.kill()
        child.process.wait()


def without_idents(value: Any) -> Any:
    """The same data, objects no longer told apart, nor what else they are used for, nor seeds that were drawn."""
    if isinstance(value, dict):
        return {key: without_idents(item) for key, item in value.items() if key not in ("ident", "nodes", "attributes")}
    if isinstance(value, list):
        return [without_idents(item) for item in value]
    return value
