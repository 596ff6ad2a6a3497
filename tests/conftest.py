"""Fixtures for warm subjects; which tests run, and on which worker."""

from __future__ import annotations

import gc
import os
import re
import sys
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from msgspec.structs import replace

from clonediff.harness.subjects.environment import SearchPath
from clonediff.harness.subjects.outcomes import NoDeviceError, ReleaseError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import pin
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from tests.helpers.command_line import Command, make_command
from tests.helpers.drawn_graphs import use_processes
from tests.helpers.example_counts import ALL_VARIABLE, GRAPHS, MANY_GRAPHS, SHARDS, example_count, runs_all_tests
from tests.helpers.required_releases import search_path_or_skip, why_missing

CPU_SUBJECTS = ("keras", "tf_keras", "keras/jax", "keras/torch")
SUBJECTS = (*CPU_SUBJECTS, *(f"{name}@gpu" for name in CPU_SUBJECTS))
"""The subjects of the property tests, unless the command line names others."""

WARM_FIXTURES = frozenset(("warm", "keras", "warm_commands", "property_trials"))
"""The fixtures that use a warm Keras process."""

KERAS_PACKAGES = frozenset(("keras", "tf_keras", "tensorflow"))
"""The packages that tests marked `no_keras` must not import."""

KNOWN_SCRIPTS = "tests/known/test_scripts.py"
"""A test module that starts its own Keras processes."""

MAX_PROCESSES = 3
"""The number of processes that `warm` keeps running: each takes half a gigabyte."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the slow tests, too, as CLONEDIFF_ALL=1 does; `-m slow` runs only those"
    )
    parser.addoption("--examples", type=int, metavar="N", help="graphs that the property test draws for each subject")
    parser.addoption("--seed", type=int, default=0, help="the seed of the drawn graphs (0)")
    parser.addoption(
        "--subject", action="append", default=[], help="a subject of the property tests, such as keras/jax, ../keras"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--all"):
        os.environ[ALL_VARIABLE] = "1"
    _allow_slow_tests(config)
    if config.option.examples is None:
        config.option.examples = example_count(GRAPHS, MANY_GRAPHS)
    try:
        config.option.subject = list(map(pin, config.option.subject))
    except ReleaseError as error:
        raise pytest.UsageError(str(error)) from None


def _allow_slow_tests(config: pytest.Config) -> None:
    """Let Hypothesis accept slow tests, since the machine may be busy."""
    if not config.getoption("--hypothesis-profile"):
        suppressed_checks = [HealthCheck.too_slow, *settings.default.suppress_health_check]
        settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=suppressed_checks)
        settings.load_profile("patient")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Split the graphs of each subject into shards; skip a missing subject unless it is named."""
    if "property_subject" not in metafunc.fixturenames:
        return
    names = metafunc.config.option.subject
    params: list[Any] = []
    for name in names or SUBJECTS:
        if not names and (reason := why_missing(name)):
            params.append(pytest.param(name, 0, marks=pytest.mark.skip(reason=reason), id=name))
        else:
            params += [pytest.param(name, shard, id=f"{name}-shard{shard}") for shard in range(SHARDS)]
    metafunc.parametrize(("property_subject", "shard"), params, scope="session")


def _selects_no_keras(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == "no_keras")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m no_keras`, skip modules without such a test, since many of them import Keras."""
    is_test = _selects_no_keras(config) and collection_path.name.startswith("test_")
    return True if is_test and "no_keras" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests unless they are asked for; choose the tests that share a worker."""
    excluded = [] if _wants_all(config) else [item for item in items if item.get_closest_marker("slow")]
    if _selects_no_keras(config):  # a marked module also has tests that use a warm Keras
        excluded += [item for item in items if _uses_warm_keras(item)]
    if excluded:
        config.hook.pytest_deselected(items=excluded)
        items[:] = [item for item in items if item not in excluded]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))


def _uses_warm_keras(item: pytest.Item) -> bool:
    return not WARM_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def _group(item: pytest.Item) -> str:
    """Name the group of a test; tests of a group run on one worker and share its Keras or its drawn graphs.

    Tests with a warm Keras 3 are split into two groups, so that two workers have equal shares.
    """
    module, _, test = item.nodeid.partition("::")
    generation = "tf_keras" if re.search(r"\[tf_keras[-\]@/]", test) else "keras"
    if module == KNOWN_SCRIPTS:
        return f"{module} of {generation}"
    if any(getattr(value, "__module__", "") == "tests.helpers.drawn_graphs" for value in vars(item.module).values()):  # type: ignore[attr-defined]
        return f"drawn graphs of {generation}"
    if _uses_warm_keras(item):
        return generation if generation == "tf_keras" else f"keras {zlib.crc32(module.encode()) % 2}"
    return f"{module} of {generation}"


def _wants_all(config: pytest.Config) -> bool:
    """Whether slow tests run: with --all, if a test is named, or if `-m` selects tests."""
    is_marked = config.option.markexpr and not _selects_no_keras(config)
    return bool(runs_all_tests() or is_marked or any("::" in argument for argument in config.args))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude imported modules from garbage collection, which would visit all of TensorFlow."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _wants_all(config):
        terminalreporter.write_line("slow tests are left out; --all runs them, too")


@pytest.fixture(scope="session")
def warm() -> Iterator[Callable[[str], SubjectProcess]]:
    """Return a function from the name of a subject to its process, which all tests of a worker share."""
    opened: dict[str, SubjectProcess] = {}
    running: OrderedDict[str, SubjectProcess] = OrderedDict()

    def process(name: str) -> SubjectProcess:
        if name not in opened:
            opened[name] = SubjectProcess(Subject.parse(name), search_path=search_path_or_skip(name))
        running[name] = opened[name]
        running.move_to_end(name)
        if len(running) > MAX_PROCESSES:  # never close Keras itself, which many fixtures use
            running.pop(next(name for name in running if name != "keras")).close()
        return running[name]

    yield process
    for process in opened.values():
        process.close()


@pytest.fixture
def property_trials(
    property_subject: str, warm: Callable[[str], SubjectProcess], request: pytest.FixtureRequest
) -> GraphTrials:
    """Return trials of the upstream and the fixed cloner on one subject of the property tests."""
    process = warm(property_subject)
    try:
        process.start()
    except NoDeviceError as error:  # the machine has a GPU, but the backend does not support it
        if property_subject in request.config.option.subject:
            raise
        pytest.skip(reason=str(error))
    return GraphTrials(process, load())


@pytest.fixture(autouse=True)
def without_keras(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Fail a test marked `no_keras` if the test, or a process that it starts, imports a Keras."""
    if not request.node.get_closest_marker("no_keras") or _uses_warm_keras(request.node):
        yield
        return
    folder = tmp_path_factory.mktemp("no_keras")
    for name in KERAS_PACKAGES:
        (folder / f"{name}.py").write_text('raise SystemExit("this test is marked no_keras")')
    monkeypatch.setenv("PYTHONPATH", str(folder))
    imported_before = set() if _selects_no_keras(request.config) else KERAS_PACKAGES & sys.modules.keys()
    yield
    assert KERAS_PACKAGES & sys.modules.keys() == imported_before


@pytest.fixture(scope="session", autouse=True)
def warm_processes(request: pytest.FixtureRequest) -> None:
    """Let the warm processes of the session draw graphs."""
    use_processes(lambda name: request.getfixturevalue("warm")(name))


@pytest.fixture(scope="session")
def keras(warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    """Return the warm process of the installed Keras."""
    return warm("keras")


class WarmProcess(SubjectProcess):
    """A warm process that stays open at the end of a `with` block."""

    def __init__(self, process: SubjectProcess) -> None:
        self.__dict__ = process.__dict__

    def __exit__(self, *ended: object) -> None:
        """Keep the process running."""


@pytest.fixture
def warm_commands(warm: Callable[[str], SubjectProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands in this process use the warm subjects instead of starting subjects."""

    def start(subject: Subject, *, search_path: SearchPath) -> SubjectProcess:
        shared = warm(str(subject if search_path else replace(subject, version=None)))
        is_warm = shared.search_path == search_path
        return WarmProcess(shared) if is_warm else SubjectProcess(subject, search_path=search_path)

    monkeypatch.setattr("clonediff.harness.answers.replay.SubjectProcess", start)


@pytest.fixture
def clonediff(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Return a function that runs the command line in this process."""
    return make_command(monkeypatch, capsys, tmp_path)
