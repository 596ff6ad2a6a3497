"""The environment in which uv and pip are run: nothing sends their work elsewhere, and they say what they do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from clonediff.harness.subjects.releases.installer import surroundings
from tests.waiting import PATIENCE


@pytest.mark.parametrize(
    "name",
    [
        *("PIP_QUIET", "PIP_VERBOSE", "PIP_LOG"),
        *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIRE_VIRTUALENV"),
        *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    ],
)
def test_what_would_change_where_or_what_is_dropped(name: str) -> None:
    assert name not in surroundings({name: "1", "PATH": "/bin"})


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_CERT", "UV_DEFAULT_INDEX", "PATH", "HOME", "HTTPS_PROXY"])
def test_how_an_index_is_reached_is_kept(name: str) -> None:
    assert surroundings({name: "x"})[name] == "x"


def test_pip_is_heard_where_it_was_told_to_be_quiet() -> None:
    told = {**os.environ, "PIP_QUIET": "3"}
    command = [sys.executable, "-m", "pip", "list", "--disable-pip-version-check"]

    def said(environment: dict[str, str]) -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True)
        return done.stdout

    assert "pytest" not in said(told)
    assert "pytest" in said(surroundings(told))
