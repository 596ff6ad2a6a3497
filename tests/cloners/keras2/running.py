"""The child script run in the interpreter of a release, and what it said of each model."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from clonediff import harness
from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject
from tests.waiting import PATIENCE

CHILD = Path(__file__).with_name("child.py")
INSIDE = Path(harness.__file__).parent


def said_of_models(release: str, place: ReleasePlace, cloner: str, *models: str) -> dict[str, Any]:
    """What was not faithful of the clone of each model, by the model's name; None where nothing was."""
    how = cloner + " v1" if place.how == "v1 mode" else cloner
    return {line["model"]: line["said"] for line in _lines(release, place, CHILD, how, *models)}


def became_of_ways(release: str, place: ReleasePlace) -> dict[str, str]:
    """What became of each case in which tensors are given."""
    how = ["v1"] if place.how == "v1 mode" else []
    return dict(_lines(release, place, CHILD.with_name("ways.py"), *how))


def _lines(release: str, place: ReleasePlace, script: Path, *arguments: str) -> list[Any]:
    ended = subprocess.run(
        [place.python, str(script), str(INSIDE), *arguments],
        env=environment(Subject.parse(release), place, os.environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]
