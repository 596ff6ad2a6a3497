"""Whether a reproducer fails on its own: in a fresh process, where nothing of ours can be imported."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 180.0
"""The seconds that a script may take: importing TensorFlow on a loaded machine takes most of it."""

_ALONE = """\
import sys

for name in ("harness", "strategies", "reports"):
    sys.modules[name] = None
path = sys.argv[1]
exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__"})
"""


def fails_alone(script: str, backend: str) -> bool | None:
    """Run a script of plain Keras; whether it ended in an error, None where it did not end in time."""
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script, encoding="utf-8")
        environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        environment.pop("PYTHONPATH", None)
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", _ALONE, str(path)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
    return done.returncode != 0
