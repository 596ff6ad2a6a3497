"""The pytest plugin in a project that uses clonediff: what it offers, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from hypothesis import settings

settings.register_profile("mine", max_examples=7)
settings.load_profile("mine")
"""
OWN = """
import sys
from hypothesis import given, settings, strategies

seen = []

@given(strategies.integers())
def test_of_its_own(number):
    seen.append(number)

def test_its_profile_is_its_own():
    assert settings.get_current_profile_name() == "mine"
    assert len(seen) <= 7
    assert "clonediff.strategies" not in sys.modules
    assert "clonediff.harness.campaign" not in sys.modules
"""
USING = """
import pytest
from hypothesis import settings

@pytest.fixture
def clonediff_shard():
    return 2

def test_draws(clonediff_draws):
    assert settings.default.max_examples == 7
    print("DRAWS", clonediff_draws, type(clonediff_draws.database).__name__, clonediff_draws.shard)
"""


def ran(folder: Path, *options: str, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:xdist", "--assert=plain", *options],
        cwd=folder,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    return tmp_path


@pytest.mark.parametrize("options", [[], ["--clonediff-profile", "nightly"]], ids=["plain", "nightly"])
def test_a_project_s_own_profile_stays(project: Path, options: list[str]) -> None:
    (project / "test_own.py").write_text(OWN)
    assert "2 passed" in ran(project, *options)


@pytest.mark.parametrize(
    ("options", "ci", "says"),
    [
        pytest.param([], "", "--clonediff-seed 0 --clonediff-examples 200 DirectoryBasedExampleDatabase 2", id="dev"),
        pytest.param([], "true", "--clonediff-seed 0 --clonediff-examples 200 NoneType 2", id="ci"),
        pytest.param(["--clonediff-profile", "ci"], "", "200 NoneType 2", id="ci by name"),
        pytest.param(
            ["--clonediff-profile", "nightly"], "true", "2000 DirectoryBasedExampleDatabase 2", id="nightly in CI"
        ),
        pytest.param(
            ["--clonediff-profile", "nightly", "--clonediff-seed", "5", "--clonediff-examples", "9"],
            "",
            "--clonediff-seed 5 --clonediff-examples 9 DirectoryBasedExampleDatabase 2",
            id="the command line goes first",
        ),
    ],
)
def test_what_is_drawn_is_what_the_profile_says(project: Path, options: list[str], ci: str, says: str) -> None:
    (project / "test_using.py").write_text(USING)
    assert says in ran(project, *options, CI=ci)


@pytest.mark.slow(reason="two runs of pytest more; tests/strategies/test_profiles has the seeds of a night")
def test_each_night_has_its_own_seed(project: Path) -> None:
    (project / "test_using.py").write_text(USING)
    one, other = (ran(project, "--clonediff-profile", "nightly").partition("DRAWS")[2] for _ in range(2))
    assert one.split()[1] != other.split()[1]
