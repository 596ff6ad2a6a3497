"""The child script run in the interpreter of a release, and what it said of each model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from clonediff import harness
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from tests.waiting import PATIENCE

CHILD = Path(__file__).with_name("child.py")
INSIDE = Path(harness.__file__).parent


Said = dict[str, dict[str, list[str]]]
"""What was not as it should be of the clone of each model, by its table and its name."""


def said_of(release: str, place: ReleasePlace, *tables: str, cloner: str = "fixed", names: Iterable[str] = ()) -> Said:
    """What the child says of the models of these tables, or of those of these names."""
    how = cloner + " v1" if place.how == "v1 mode" else cloner
    ended = subprocess.run(
        [place.python, str(CHILD), str(INSIDE), how, ",".join(tables), *names],
        env=environment(Subject.parse(release), place, os.environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    said: Said = {table: {} for table in tables}
    for line in ended.stdout.splitlines():
        table, name, lines = json.loads(line)
        said[table][name] = lines
    return said
