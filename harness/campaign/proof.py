"""Whether a reproducer fails on its own: in a fresh process, where nothing of ours can be imported."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.source.reproducer import Script
from harness.subjects.environment import environment
from harness.subjects.subject import Subject

LIMIT = 180.0
"""The seconds that a script may take: importing TensorFlow on a loaded machine takes most of it."""

_ALONE = """\
import sys

for name in ("harness", "strategies", "reports"):
    sys.modules[name] = None
path = sys.argv[1]
exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__"})
"""


def fails_alone(script: Script, subject: Subject) -> bool | None:
    """Run a script of plain Keras: whether it ends in the exception that it should.

    None where that cannot be said: it did not end in time, or it does not make the very comparison that differed.
    """
    if not script.raises:
        return None
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script.text, encoding="utf-8")
        surroundings = environment(subject)
        surroundings.pop("PYTHONPATH", None)
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", _ALONE, str(path)],
                cwd=folder,
                env=surroundings,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    raised = raised_in(done.stderr.decode(errors="replace"))
    if done.returncode != 0 and script.raises in raised:
        return True
    return False if script.sure else None


def raised_in(stderr: str) -> tuple[str, ...]:
    """The types of the exceptions that tracebacks end in, without their modules."""
    found = re.findall(r"^([A-Za-z_][\w.]*)(?::|$)", stderr, re.MULTILINE)
    return tuple(name.rpartition(".")[2] for name in found)
