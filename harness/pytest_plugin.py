"""What `pytest` gets from clonediff: options for the property tests, and the fixtures they stand on.

It is loaded into every pytest that has clonediff installed, so it imports nothing heavy until a fixture is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.campaign.hunt import Hunt
    from harness.subjects.process import SubjectProcess

SHARDS = 4
"""In how many tests the examples of a subject are split, so that workers share them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clonediff", "property tests of model cloning")
    group.addoption(
        "--clonediff-examples", type=int, default=200, metavar="N", help="graphs to draw for each subject (200)"
    )
    group.addoption(
        "--clonediff-subject",
        action="append",
        metavar="SUBJECT",
        help="a subject to try, such as keras or tf_keras/tensorflow; may be repeated (keras and tf_keras)",
    )
    group.addoption(
        "--clonediff-cloner", action="append", metavar="NAME", help="a cloner to try; may be repeated (upstream, fixed)"
    )
    group.addoption("--clonediff-seed", type=int, default=0, metavar="SEED", help="the seed of the draws (0)")
    group.addoption(
        "--clonediff-rate",
        type=int,
        default=8,
        metavar="N",
        help="give one graph in N the costly checks: again, training, saving (8); 0 for none, 1 for all",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "clonediff_subject" in metafunc.fixturenames:
        names = metafunc.config.getoption("--clonediff-subject") or ["keras", "tf_keras"]
        metafunc.parametrize("clonediff_subject", names, scope="session")
    if "clonediff_shard" in metafunc.fixturenames:
        metafunc.parametrize("clonediff_shard", range(SHARDS), ids=[f"shard{each}" for each in range(SHARDS)])


@pytest.fixture(scope="session")
def clonediff_processes() -> Iterator[Callable[[str], SubjectProcess]]:
    """The warm process of a subject, by its name; each is started once a session."""
    from harness.subjects.process import SubjectProcess
    from harness.subjects.subject import Subject

    running: dict[str, SubjectProcess] = {}

    def process(name: str) -> SubjectProcess:
        if name not in running:
            running[name] = SubjectProcess(Subject.parse(name))
        return running[name]

    yield process
    for each in running.values():
        each.close()


@pytest.fixture
def clonediff_hunt(
    request: pytest.FixtureRequest, clonediff_subject: str, clonediff_processes: Callable[[str], SubjectProcess]
) -> Hunt:
    """A hunt on one subject, with the cloners and the rate that the command line asks for."""
    from harness.campaign.hunt import Hunt
    from reports.known import load

    return Hunt(
        clonediff_processes(clonediff_subject),
        load(),
        cloners=request.config.getoption("--clonediff-cloner") or ("upstream", "fixed"),
        rate=request.config.getoption("--clonediff-rate"),
    )
