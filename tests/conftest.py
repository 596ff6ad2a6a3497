"""Fixtures for warm subjects, and the choice of the tests that run, and of their workers."""

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
from clonediff.harness.subjects.releases import pinned
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from tests.helpers.command_line import Command, command
from tests.helpers.drawn_graphs import processes
from tests.helpers.example_counts import ALL, GRAPHS, MANY_GRAPHS, SHARDS, everything, examples
from tests.helpers.required_releases import missing, place_or_skip

ON_CPU = ("keras", "tf_keras", "keras/jax", "keras/torch")
SUBJECTS = (*ON_CPU, *(f"{name}@gpu" for name in ON_CPU))
"""The subjects of the property tests, where the command line names none."""

WARM = frozenset(("warm", "keras", "warm_commands", "property_trials"))
"""The fixtures that use a warm Keras process."""

KERAS = frozenset(("keras", "tf_keras", "tensorflow"))
"""The packages that a test marked `no_keras` may not import."""

KNOWN_SCRIPTS = "tests/known/test_scripts.py"
"""A module with Keras processes of its own."""

MOST = 3
"""The number of subjects that `warm` keeps: each takes half a gigabyte."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the slow tests, too, as CLONEDIFF_ALL=1 does; `-m slow` runs them alone"
    )
    parser.addoption("--examples", type=int, metavar="N", help="graphs that the property test draws for each subject")
    parser.addoption("--seed", type=int, default=0, help="the seed of these graphs (0)")
    parser.addoption(
        "--subject", action="append", default=[], help="a subject of the property tests, such as keras/jax, ../keras"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--all"):
        os.environ[ALL] = "1"
    _be_patient(config)
    if config.option.examples is None:
        config.option.examples = examples(GRAPHS, MANY_GRAPHS)
    try:
        config.option.subject = list(map(pinned, config.option.subject))
    except ReleaseError as error:
        raise pytest.UsageError(str(error)) from None


def _be_patient(config: pytest.Config) -> None:
    """Let Hypothesis fail no test for being slow: the machine may be busy."""
    if not config.getoption("--hypothesis-profile"):
        slow = [HealthCheck.too_slow, *settings.default.suppress_health_check]
        settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=slow)
        settings.load_profile("patient")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Split the graphs of each subject into shards; skip a missing subject unless it is named."""
    if "property_subject" not in metafunc.fixturenames:
        return
    named = metafunc.config.option.subject
    params: list[Any] = []
    for name in named or SUBJECTS:
        reason = "" if named else missing(name)
        if reason:
            params.append(pytest.param(name, 0, marks=pytest.mark.skip(reason=reason), id=name))
        else:
            params += [pytest.param(name, shard, id=f"{name}-shard{shard}") for shard in range(SHARDS)]
    metafunc.parametrize(("property_subject", "shard"), params, scope="session")


def _only_without_keras(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == "no_keras")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m no_keras`, import no module without such a test: many of them import Keras."""
    tests = _only_without_keras(config) and collection_path.name.startswith("test_")
    return True if tests and "no_keras" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests unless they are asked for; choose the tests that share a worker."""
    left_out = [] if _wants_all(config) else [item for item in items if item.get_closest_marker("slow")]
    if _only_without_keras(config):  # a marked module has tests with a warm Keras, too
        left_out += [item for item in items if _asks_for_keras(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))


def _asks_for_keras(item: pytest.Item) -> bool:
    return not WARM.isdisjoint(getattr(item, "fixturenames", ()))


def _group(item: pytest.Item) -> str:
    """Name the tests that share a worker: by their Keras, by the drawn graphs, or by their module.

    Two groups share Keras 3, so that two workers have as much to do.
    """
    module, _, test = item.nodeid.partition("::")
    generation = "tf_keras" if re.search(r"\[tf_keras[-\]@/]", test) else "keras"
    if module == KNOWN_SCRIPTS:
        return f"{module} of {generation}"
    if any(getattr(value, "__module__", "") == "tests.helpers.drawn_graphs" for value in vars(item.module).values()):  # type: ignore[attr-defined]
        return f"drawn graphs of {generation}"
    if _asks_for_keras(item):
        return generation if generation == "tf_keras" else f"keras {zlib.crc32(module.encode()) % 2}"
    return f"{module} of {generation}"


def _wants_all(config: pytest.Config) -> bool:
    """Whether slow tests run: they were asked for, or a test is named, or `-m` says which are wanted."""
    marked = config.option.markexpr and not _only_without_keras(config)
    return bool(everything() or marked or any("::" in argument for argument in config.args))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep imported modules out of garbage collection, which would go through all of TensorFlow."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _wants_all(config):
        terminalreporter.write_line("slow tests are left out; --all runs them, too")


@pytest.fixture(scope="session")
def warm() -> Iterator[Callable[[str], SubjectProcess]]:
    """The process of a subject, by its name, which all tests of a worker share."""
    opened: dict[str, SubjectProcess] = {}
    running: OrderedDict[str, SubjectProcess] = OrderedDict()

    def process(name: str) -> SubjectProcess:
        if name not in opened:
            opened[name] = SubjectProcess(Subject.parse(name), search_path=place_or_skip(name))
        running[name] = opened[name]
        running.move_to_end(name)
        if len(running) > MOST:  # never Keras itself, which many fixtures hold on to
            running.pop(next(name for name in running if name != "keras")).close()
        return running[name]

    yield process
    for process in opened.values():
        process.close()


@pytest.fixture
def property_trials(
    property_subject: str, warm: Callable[[str], SubjectProcess], request: pytest.FixtureRequest
) -> GraphTrials:
    """Trials of upstream and fixed on one subject of the property tests."""
    process = warm(property_subject)
    try:
        process.start()
    except NoDeviceError as error:  # the machine has a GPU, but this backend was built without
        if property_subject in request.config.option.subject:
            raise
        pytest.skip(reason=str(error))
    return GraphTrials(process, load())


@pytest.fixture(autouse=True)
def without_keras(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Fail a test marked `no_keras` if it, or a process that it starts, imports a Keras."""
    if not request.node.get_closest_marker("no_keras") or _asks_for_keras(request.node):
        yield
        return
    folder = tmp_path_factory.mktemp("no_keras")
    for name in KERAS:
        (folder / f"{name}.py").write_text('raise SystemExit("this test is marked no_keras")')
    monkeypatch.setenv("PYTHONPATH", str(folder))
    before = set() if _only_without_keras(request.config) else KERAS & sys.modules.keys()
    yield
    assert KERAS & sys.modules.keys() == before


@pytest.fixture(scope="session", autouse=True)
def warm_processes(request: pytest.FixtureRequest) -> None:
    """Let the warm processes of the session draw graphs."""
    processes(lambda name: request.getfixturevalue("warm")(name))


@pytest.fixture(scope="session")
def keras(warm: Callable[[str], SubjectProcess]) -> SubjectProcess:
    """The warm process of the Keras that is installed."""
    return warm("keras")


class Lent(SubjectProcess):
    """A warm process that `with` does not close."""

    def __init__(self, process: SubjectProcess) -> None:
        self.__dict__ = process.__dict__

    def __exit__(self, *ended: object) -> None:
        """Keep it running."""


@pytest.fixture
def warm_commands(warm: Callable[[str], SubjectProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of this process use the warm subjects, and start none."""

    def started(subject: Subject, *, search_path: SearchPath) -> SubjectProcess:
        shared = warm(str(subject if search_path else replace(subject, version=None)))
        return Lent(shared) if shared.search_path == search_path else SubjectProcess(subject, search_path=search_path)

    monkeypatch.setattr("clonediff.harness.answers.replay.SubjectProcess", started)


@pytest.fixture
def clonediff(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """The command line, run in this process."""
    return command(monkeypatch, capsys, tmp_path)
