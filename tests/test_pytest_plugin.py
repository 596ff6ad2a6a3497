"""The pytest plugin in a project that uses clonediff: what it offers, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clonediff.harness import pytest_plugin
from clonediff.reports import records

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


LEAVING_OUT = """
import pytest
from clonediff.harness.subjects.subject import Subject

class Played:
    subject = Subject.parse("keras")
    def start(self): pass

@pytest.fixture(scope="session")
def clonediff_processes():
    return lambda name: Played()

@pytest.mark.parametrize("count", [2, 3])
def test_trials(clonediff_trials, count):
    print("LEAST", clonediff_trials.at_least.name)
    clonediff_trials.tally.verdicts.update({("upstream", "left out"): count, ("fixed", "faithful"): 9})
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


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["here", "in workers"])
def test_what_is_left_out_is_counted_and_told(project: Path, workers: tuple[str, ...]) -> None:
    (project / "test_using.py").write_text(LEAVING_OUT)
    told = ran(project, "--clonediff-subject", "keras", "--clonediff-at-least", "trains", *workers)
    assert "LEAST TRAINS" in told or workers
    line = "clonediff: left out, by --clonediff-at-least trains: what is less severe; graphs with nothing else: "
    assert f"{line}5 with upstream\n" in told


def test_nothing_is_left_out_where_nobody_asks_for_it(project: Path) -> None:
    (project / "test_using.py").write_text(LEAVING_OUT)
    told = ran(project, "--clonediff-subject", "keras")
    assert "LEAST NAME" in told
    assert "clonediff: left out" not in told


def test_the_costs_of_the_option_are_those_that_there_are() -> None:
    assert tuple(records.AT_LEAST) == pytest_plugin.AT_LEAST


def test_a_tree_that_cannot_be_had_is_told_in_a_line(project: Path) -> None:
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--clonediff-subject", "./nowhere"]
    done = subprocess.run(arguments, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.startswith("ERROR: ./nowhere: there is no folder ")
