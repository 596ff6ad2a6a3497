"""What `pytest` gets from clonediff: options for the property tests, and the fixtures they stand on.

It is loaded into every pytest that has clonediff installed, so it imports nothing heavy until a fixture is asked for.
The profile that it is told is for what `clonediff_draws` draws; Hypothesis' own stays what the project has made it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from clonediff.harness.search.property_draws import PropertyDraws
    from clonediff.harness.subjects.process import SubjectProcess
    from clonediff.harness.trials.graph_trials import GraphTrials

SHARDS = 4
"""In how many tests the examples of a subject are split, so that workers share them."""

SUBJECTS = (
    "keras",
    "tf_keras",
    "keras/jax",
    "keras/torch",
    "keras@gpu",
    "tf_keras@gpu",
    "keras/jax@gpu",
    "keras/torch@gpu",
)
"""What is tried where the command line does not say. A subject that this machine lacks is one skipped test."""

PROFILES = ("dev", "ci", "nightly")
"""The names of `clonediff.strategies.profiles`, which imports Hypothesis."""

AT_LEAST = ("crashes", "computes", "trains", "property", "name")
"""The names of `reports.records.AT_LEAST`, which imports more than Python's own."""

_LEFT_OUT = "clonediff left out"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clonediff", "property tests of model cloning")
    group.addoption(
        "--clonediff-profile",
        choices=PROFILES,
        help="dev: the same graphs each time, what failed before first; ci: the same, nothing remembered; nightly: "
        "other graphs each time, and more of them (ci where CI is set, dev elsewhere)",
    )
    group.addoption(
        "--clonediff-examples",
        type=int,
        metavar="N",
        help="graphs to draw for each subject (as the profile says: 200, nightly 2000)",
    )
    group.addoption(
        "--clonediff-subject",
        action="append",
        metavar="SUBJECT",
        help="a subject to try, such as keras/jax, keras==3.14.1, tf_keras@gpu or ../keras; may be repeated "
        "(keras and tf_keras, on JAX and torch and on a GPU where they are there)",
    )
    group.addoption(
        "--clonediff-cloner",
        action="append",
        metavar="NAME",
        help="a cloner to try, or module:function of one's own; may be repeated (upstream, fixed)",
    )
    group.addoption(
        "--clonediff-seed", type=int, metavar="SEED", help="the seed of the draws (as the profile says: 0, or any)"
    )
    group.addoption(
        "--clonediff-rate",
        type=int,
        metavar="N",
        help="give one graph in N the costly checks: again, training, saving (8); 0 for none, 1 for all",
    )
    group.addoption(
        "--clonediff-at-least",
        choices=AT_LEAST,
        default="name",
        help="leave out what is less severe: a clone that crashes, computes something else, trains differently, "
        "loses a property, changes a name (name: leave out nothing)",
    )
    group.addoption("--clonediff-private", action="store_true", help="compare private attributes, too")


def pytest_configure(config: pytest.Config) -> None:
    asked: list[str] = config.getoption("--clonediff-subject") or []
    if asked:
        from clonediff.harness.subjects.releases import ReleaseError, in_full

        try:
            config.option.clonediff_subject = list(map(in_full, asked))
        except ReleaseError as error:
            raise pytest.UsageError(str(error)) from None
    cloners: list[str] = config.getoption("--clonediff-cloner") or []
    if any(":" in each for each in cloners):
        from clonediff.harness.trials.users_cloners import named, trust_cloners

        try:
            config.option.clonediff_cloner = [named(each) if ":" in each else each for each in cloners]
        except ValueError as error:
            raise pytest.UsageError(f"--clonediff-cloner: {error}") from None
        trust_cloners(config.option.clonediff_cloner)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    sharded = "clonediff_shard" in metafunc.fixturenames
    shards = range(SHARDS) if sharded else (0,)
    if "clonediff_subject" in metafunc.fixturenames:
        names = ("clonediff_subject", "clonediff_shard") if sharded else ("clonediff_subject",)
        params = []
        for subject, reason in _subjects(metafunc.config):
            marks = [] if reason is None else [pytest.mark.skip(reason=reason)]
            for shard in shards if reason is None else shards[:1]:
                values = (subject, shard)[: len(names)]
                params.append(pytest.param(*values, marks=marks, id=f"{subject}-shard{shard}" if sharded else subject))
        metafunc.parametrize(names, params, scope="session")
    elif sharded:
        metafunc.parametrize("clonediff_shard", shards, ids=[f"shard{each}" for each in shards])


def _subjects(config: pytest.Config) -> list[tuple[str, str | None]]:
    """The subjects to try, each with why it is skipped. One that was asked for by name fails instead, and says why."""
    asked: list[str] = config.getoption("--clonediff-subject") or []
    if asked:
        return [(name, None) for name in asked]
    from clonediff.harness.subjects.presence import missing
    from clonediff.harness.subjects.subject import Subject

    return [(name, missing(Subject.parse(name))) for name in SUBJECTS]


@pytest.fixture(scope="session")
def clonediff_processes() -> Iterator[Callable[[str], SubjectProcess]]:
    """The warm process of a subject, by its name; each is started once a session, its release installed before."""
    from clonediff.harness.subjects.releases import open_subject
    from clonediff.harness.subjects.subject import Subject

    running: dict[str, SubjectProcess] = {}

    def process(name: str) -> SubjectProcess:
        if name not in running:
            running[name] = open_subject(Subject.parse(name))
        return running[name]

    yield process
    for each in running.values():
        each.close()


@pytest.fixture
def clonediff_trials(
    request: pytest.FixtureRequest, clonediff_subject: str, clonediff_processes: Callable[[str], SubjectProcess]
) -> Iterator[GraphTrials]:
    """Trials on one subject, with the cloners, the rate and the least severity that the command line asks for."""
    from clonediff.harness.subjects.case import RATE
    from clonediff.harness.subjects.outcomes import NoDeviceError
    from clonediff.harness.trials.graph_trials import GraphTrials
    from clonediff.reports.known import load
    from clonediff.reports.records import AT_LEAST, LEFT_OUT, UPSTREAM_AND_FIXED

    process = clonediff_processes(clonediff_subject)
    try:
        process.start()
    except NoDeviceError as error:  # the machine has a GPU, but this backend was built without
        if request.config.getoption("--clonediff-subject"):
            raise
        pytest.skip(reason=str(error))
    rate = request.config.getoption("--clonediff-rate")
    trials = GraphTrials(
        process,
        load(),
        cloners=request.config.getoption("--clonediff-cloner") or UPSTREAM_AND_FIXED,
        rate=RATE if rate is None else rate,
        at_least=AT_LEAST[request.config.getoption("--clonediff-at-least")],
        private=request.config.getoption("--clonediff-private"),
    )
    yield trials
    for (cloner, verdict), count in trials.tally.verdicts.items():
        if verdict == LEFT_OUT:
            request.node.user_properties.append((_LEFT_OUT, (cloner, count)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out; a worker of pytest-xdist sends what it counted with the reports of its tests."""
    least = config.getoption("--clonediff-at-least")
    if least == "name":
        return
    counts: Counter[str] = Counter()
    for each in (one for its in terminalreporter.stats.values() for one in its):
        if getattr(each, "when", "") == "teardown":
            for name, value in each.user_properties:
                if name == _LEFT_OUT:
                    counts[value[0]] += value[1]
    only = ", ".join(f"{count:,} with {cloner}" for cloner, count in sorted(counts.items()))
    said = f"graphs with nothing else: {only}" if only else "no graph had nothing else"
    terminalreporter.write_line(f"clonediff: left out, by --clonediff-at-least {least}: what is less severe; {said}")


@pytest.fixture
def clonediff_draws(request: pytest.FixtureRequest, clonediff_shard: int) -> PropertyDraws:
    """What to draw in one part of a property test: what the command line says, and otherwise the profile."""
    from clonediff.harness.search.property_draws import PropertyDraws
    from clonediff.strategies.profiles import profile

    option = request.config.getoption
    chosen = profile(option("--clonediff-profile") or ("ci" if _in_ci() else "dev"))
    examples, seed = option("--clonediff-examples"), option("--clonediff-seed")
    return PropertyDraws(
        chosen.settings.max_examples if examples is None else examples,
        chosen.some_seed() if seed is None else seed,
        chosen.settings.database,
        clonediff_shard,
        SHARDS,
    )


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")
