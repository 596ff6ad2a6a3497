"""The script of each known issue: what it does on upstream and with our `clone_model`, and what a trial finds.

By day, every script of Keras 3 and every second of `tf_keras` is run; by night, all.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clonediff.harness.scripts.alone import ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load

ROOT = Path(__file__).parents[2]
KNOWN = load()
BY_DAY = {"keras": 1, "tf_keras": 2}
"""Of so many scripts of a generation, one is run by day."""
REFUSED = "lambda-refused"
"""The issue whose script is that of each issue that refused a Lambda in an older release."""
LINE = re.compile(r"\b((?:keras|tf_keras)/src/[\w/]+\.py):(\d+)")
ODD = re.compile(r" differs|[{}]|  |, :| ,|\bfunctional\b(?! model|\.py)")
"""What stands in a sentence that has not become one."""
READ_IN = {"keras": "3.15.1", "tf_keras": "2.21.0"}
"""The releases whose lines the reasons name."""

PLAIN = {"keras", "tf_keras", "tensorflow", "numpy", "functools", "json", "re", "signal", "warnings"}
"""What a script may import."""


def _params() -> Iterator[Any]:
    for generation, step in BY_DAY.items():
        for number, issue in enumerate(KNOWN.on(generation).issues):
            night = pytest.mark.slow(reason="one of many scripts: by day every second is run")
            yield pytest.param(generation, issue, id=f"{generation}-{issue.id}", marks=[night] if number % step else [])


each_issue = pytest.mark.parametrize(("generation", "issue"), list(_params()))


@pytest.fixture(scope="module")
def scripts() -> Iterator[Callable[[str, bool], ScriptRunner]]:
    """Forks of a process that has imported a Keras, by its name, with the release's `clone_model` or with ours."""
    started: dict[tuple[str, bool], ScriptRunner] = {}

    def forks(generation: str, fixed: bool) -> ScriptRunner:
        if (generation, fixed) not in started:
            started[generation, fixed] = ScriptRunner(Subject.parse(generation), fixed=fixed)
        return started[generation, fixed]

    yield forks
    for one in started.values():
        with closing(one):
            pass


@each_issue
def test_the_script_fails_where_the_issue_is(
    generation: str, issue: Any, scripts: Callable[[str, bool], ScriptRunner]
) -> None:
    answer, last = scripts(generation, False).answer(Script(issue.script, issue.raises, sure=True))
    expected = ReplayAnswer.BREAKS if issue.is_in(version(generation)) else ReplayAnswer.GONE
    if expected is ReplayAnswer.GONE and issue.id.startswith(REFUSED) and KNOWN.get(REFUSED).is_in(version(generation)):
        expected = ReplayAnswer.BREAKS
    assert answer is expected, f"on {generation} {version(generation)}: {last}; `since` and `until` say otherwise"


@each_issue
def test_the_script_passes_with_our_clone_model(
    generation: str, issue: Any, scripts: Callable[[str, bool], ScriptRunner]
) -> None:
    answer, last = scripts(generation, True).answer(Script(issue.script, issue.raises, sure=True))
    assert answer is ReplayAnswer.GONE, last


@each_issue
def test_a_trial_of_the_model_finds_the_cause(
    generation: str, issue: Any, warm: Callable[[str], SubjectProcess]
) -> None:
    if issue.fingerprint is None:
        pytest.skip(reason="no trial shows it: the script alone does")
    process = warm(generation)
    if not issue.is_in(process.ready.keras):
        pytest.skip(reason=f"not an issue of {generation} {process.ready.keras}")
    trial = GraphTrials(process, KNOWN).try_case(case_of_script(issue), costly=True)
    assert trial.built, trial.refused or trial.lost
    assert [hit.title for hit in trial.hits if hit.cloner == "fixed"] == []
    assert [hit.title for hit in trial.hits if ODD.search(hit.title) or not hit.title[0].isupper()] == []
    causes = {hit.fingerprint: hit.cause for hit in trial.hits if hit.cloner == "upstream"}
    assert issue.fingerprint in causes, f"found {', '.join(causes)}"
    cause = causes[issue.fingerprint]
    assert cause is not None
    assert cause.severity is issue.severity
    explained = [known.id for known in KNOWN.on(generation, process.ready.keras).issues if known.explains(cause)]
    assert explained == [issue.id]


@pytest.mark.parametrize("issue", KNOWN.issues, ids=lambda issue: issue.id)
def test_the_reason_names_lines_that_are_there(issue: Any) -> None:
    """A line of another release stands behind the words "in RELEASE"."""
    if issue.because.startswith("in ") or issue.until or issue.since:
        return
    lines = LINE.findall(issue.because)
    assert lines, "the reason names no line of Keras"
    spec = find_spec(issue.generation)
    assert spec is not None
    folder = Path((spec.submodule_search_locations or [""])[0]).parent
    if version(issue.generation) != READ_IN[issue.generation]:
        pytest.skip(reason=f"{issue.generation} {READ_IN[issue.generation]} is not installed here")
    for file, number in lines:
        code = (folder / file).read_text(encoding="utf-8").splitlines()[int(number) - 1].strip()
        assert code.strip("()[]{},"), f"{file}:{number} is {code!r}"


def test_the_scripts_are_plain_keras() -> None:
    for issue in KNOWN.issues:
        imports = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(issue.script))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert imports <= PLAIN, issue.id


def test_the_index_is_that_of_the_scripts(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "clonediff", tmp_path / "clonediff")
    written = Path("reports", "known", "README.md")
    (tmp_path / "clonediff" / written).unlink()
    subprocess.run([sys.executable, "-m", "clonediff.reports.known_index"], cwd=tmp_path, check=True)
    text = (tmp_path / "clonediff" / written).read_text(encoding="utf-8")
    assert text == (ROOT / written).read_text(encoding="utf-8"), (
        "write it again: python -m clonediff.reports.known_index"
    )
