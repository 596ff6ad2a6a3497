"""The scripts of known bugs: with upstream, with our `clone_model`, and with models built again or loaded.

By day, every script of Keras 3 and every second script of `tf_keras` runs on the installed releases; at night, all
scripts run, also on each release in the index.
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

from clonediff.harness.scripts.known_scripts import case_of_script, cloning_line
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.scripts.runner import ReplayAnswer, ScriptRunner
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import ROOTS, KnownIssue, load
from clonediff.reports.known_index import RELEASES
from tests.helpers.required_releases import search_path_or_skip
from tests.helpers.trials import unclear_titles

ROOT = Path(__file__).parents[2]
KNOWN = load()
DAY_STRIDES = {"keras": 1, "tf_keras": 2}
"""By generation: by day, one script in this many is run."""
EXPLAINED_BY = {"lambda-refused-inside": "lambda-refused", "patches-name": "operation-names"}
"""By script: another bug; the script also fails on the releases with that bug."""
EARLIER_RELEASES = {"quantized-inside": ["3.3.3"]}
"""By script: releases before `since` with the bug; releases in between cannot build the model."""
LINE_LINK = re.compile(r"/blob/v([\w.]+)/((?:keras|tf_keras)/src/[\w/]+\.py)#L(\d+)$")
LINKED_RELEASES = {"keras": "3.15.1", "tf_keras": "2.21.0"}
"""The releases to which links lead, except for bugs of older releases."""

ALLOWED_IMPORTS = {
    *("keras", "tf_keras", "tensorflow", "numpy", "functools", "gc", "os", "signal", "tempfile", "warnings"),
    "weakref",
}
"""The modules that a script may import."""

BUILD_AGAIN = """
import keras as package

def rebuild(model, *arguments, **options):
    package.backend.clear_session(**({{"free_memory": False}} if package.__name__ == "keras" else {{}}))
    names = {{"__name__": "__main__"}}
    exec({source!r}, names)
    return names["model"]

package.models.clone_model = rebuild
"""
"""`clone_model` that builds the model again: if a script still fails, its bug is not in cloning."""
SAVE_AND_LOAD = """
import os
import tempfile

import keras as package

def save_and_load(model, *arguments, **options):
    file = os.path.join(tempfile.mkdtemp(), "model.keras")
    model.save(file)
    return package.models.load_model(file)

package.models.clone_model = save_and_load
"""
ARGUMENT_ERRORS = ("clone-function-uncallable", "tf-given-more")
"""Bugs whose scripts expect an error from `clone_model` itself."""
REJECTED_BY_LOADING = ("compile-lambda", "compile-own-function", "lambda-globals", "lambda-refused", "tf-lambda-nested")
"""Bugs whose model `load_model` rejects by design, because anyone could have written the file."""


def _params() -> Iterator[Any]:
    for generation, step in DAY_STRIDES.items():
        for number, issue in enumerate(KNOWN.select(generation).bugs):
            slow = pytest.mark.slow(reason="by day, only every second script is run")
            yield pytest.param(generation, issue, id=f"{generation}-{issue.id}", marks=[slow] if number % step else [])


for_each_issue = pytest.mark.parametrize(("generation", "issue"), list(_params()))
RunnerOf = Callable[..., ScriptRunner]


@pytest.fixture(scope="module")
def runner_of() -> Iterator[RunnerOf]:
    """Yield a function that returns a runner: of a generation, with its own `clone_model` or ours."""
    runners: dict[tuple[str, bool], ScriptRunner] = {}

    def start(generation: str, fixed: bool = False) -> ScriptRunner:
        if (generation, fixed) not in runners:
            runners[generation, fixed] = ScriptRunner(Subject.parse(generation), fixed=fixed)
        return runners[generation, fixed]

    yield start
    for runner in runners.values():
        with closing(runner):
            pass


def expected_answer(issue: KnownIssue, release: str) -> ReplayAnswer:
    other = KNOWN.get(EXPLAINED_BY.get(issue.id, ""))
    breaks = issue.is_in(release) or other and other.is_in(release) or release in EARLIER_RELEASES.get(issue.id, [])
    return ReplayAnswer.BREAKS if breaks else ReplayAnswer.GONE


@for_each_issue
def test_the_script_fails_on_a_release_with_the_bug(generation: str, issue: Any, runner_of: RunnerOf) -> None:
    answer, reason = runner_of(generation).answer(Script(issue.script, issue.raises, must_fail=True))
    release = version(generation)
    assert answer is expected_answer(issue, release), f"on {generation} {release}: {reason}; correct `since` or `until`"


@pytest.mark.slow(reason="it installs releases")
@pytest.mark.parametrize(
    "name", [f"{generation}=={release}" for generation, releases in RELEASES.items() for release in releases]
)
def test_each_release_has_the_bugs_of_its_row_in_the_index(name: str) -> None:
    subject = Subject.parse(name)
    with closing(ScriptRunner(subject, search_path_or_skip(name))) as runner:
        for issue in KNOWN.select(subject.generation).bugs:
            answer, reason = runner.answer(Script(issue.script, issue.raises, must_fail=True))
            breaks = expected_answer(issue, str(subject.version)) is ReplayAnswer.BREAKS
            assert (answer is ReplayAnswer.BREAKS) is breaks, f"{issue.id}: {reason}"


@for_each_issue
def test_the_script_passes_with_our_clone_model(generation: str, issue: Any, runner_of: RunnerOf) -> None:
    answer, reason = runner_of(generation, fixed=True).answer(Script(issue.script, issue.raises, must_fail=True))
    assert answer is ReplayAnswer.GONE, reason


@pytest.mark.slow(reason="it runs all scripts of Keras on another backend")
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_scripts_fail_on_the_backends_that_their_headers_name(backend: str) -> None:
    pytest.importorskip(backend)
    wrong_answers: dict[str, str] = {}
    with closing(ScriptRunner(Subject.parse(f"keras/{backend}"))) as runner:
        for issue in KNOWN.select("keras", version("keras")).bugs:
            answer, reason = runner.answer(Script(issue.script, issue.raises, must_fail=True))
            if (answer is ReplayAnswer.BREAKS) != (not issue.backends or backend in issue.backends):
                wrong_answers[issue.id] = f"{answer}: {reason}"
    assert wrong_answers == {}


@for_each_issue
def test_the_script_passes_when_the_model_is_rebuilt(generation: str, issue: Any, runner_of: RunnerOf) -> None:
    if issue.id in ARGUMENT_ERRORS:
        pytest.skip(reason="the script expects an error from clone_model itself")
    source = "".join(issue.script.splitlines(keepends=True)[: cloning_line(issue.script) - 1])
    head = BUILD_AGAIN.replace("keras as", f"{generation} as").format(source=source)
    ended = runner_of(generation).run(head + issue.script)
    assert ended.code == 0, f"the script fails without cloning: {ended.summary}"


@for_each_issue
def test_the_header_says_whether_loading_has_the_same_bug(generation: str, issue: Any, runner_of: RunnerOf) -> None:
    if issue.id in ARGUMENT_ERRORS + REJECTED_BY_LOADING or issue.until:
        pytest.skip(reason="load_model rejects the model by design or has no such argument, or the bug was fixed")
    ended = runner_of(generation).run(SAVE_AND_LOAD.replace("keras as", f"{generation} as") + issue.script)
    assert (ended.code != 0) is issue.loading, ended.summary


@for_each_issue
def test_a_trial_of_the_model_finds_the_cause(
    generation: str, issue: Any, warm: Callable[[str], SubjectProcess]
) -> None:
    if issue.fingerprint is None:
        pytest.skip(reason="only the script shows the bug, and no trial does")
    process = warm(generation)
    if not issue.is_in(process.start_message.keras):
        pytest.skip(reason=f"not an issue of {generation} {process.start_message.keras}")
    trial = GraphTrials(process, KNOWN).try_case(case_of_script(issue), costly=True)
    assert trial.is_built, trial.refusal or trial.lost
    assert [found.title for found in trial.found_causes if found.cloner == "fixed"] == []
    assert unclear_titles(found.title for found in trial.found_causes) == []
    causes = {found.fingerprint: found.cause for found in trial.found_causes if found.cloner == "upstream"}
    assert issue.fingerprint in causes, f"found {', '.join(causes)}"
    cause = causes[issue.fingerprint]
    assert cause is not None
    assert issue.severity <= cause.severity, "the issue is less severe than the cause in the trial"
    on_release = KNOWN.select(generation, process.start_message.keras).bugs
    assert [known.id for known in on_release if known.explains(cause)] == [issue.id]


@pytest.mark.no_keras
@pytest.mark.parametrize("issue", KNOWN.bugs, ids=lambda issue: issue.id)
def test_links_lead_to_lines_of_the_installed_release(issue: Any) -> None:
    spec = find_spec(issue.generation)
    assert spec is not None
    folder = Path((spec.submodule_search_locations or [""])[0]).parent
    for line in issue.lines:
        match = LINE_LINK.search(line)
        assert match, line
        if match[1] == version(issue.generation):
            code = (folder / match[2]).read_text(encoding="utf-8").splitlines()[int(match[3]) - 1].strip()
            assert code.strip("()[]{},"), f"{line} is {code!r}"
        else:
            assert issue.until or version(issue.generation) != LINKED_RELEASES[issue.generation], line


@pytest.mark.no_keras
def test_scripts_are_plain_keras_and_their_assertions_have_messages() -> None:
    for issue in KNOWN.bugs:
        tree = ast.parse(issue.script)
        names = re.findall(r"(?m)^ *(?:import|from) ([\w.]+)(?= import| as|$)", issue.script)
        imports = {name.partition(".")[0] for name in names}
        assert imports <= ALLOWED_IMPORTS, issue.id
        assert all(node.msg for node in ast.walk(tree) if isinstance(node, ast.Assert)), f"{issue.id}: no message"
        assert issue.script.endswith("# ///\n"), f"{issue.id}: the header comes last"
        assert "# ///" not in issue.code


@pytest.mark.no_keras
def test_titles_begin_with_the_class_or_function() -> None:
    assert [bug.id for bug in KNOWN.bugs if not re.match("`[^`]+`", bug.title) or len(bug.title.split()) > 15] == []
    assert {bug.root for bug in KNOWN.bugs} == {*ROOTS}


@pytest.mark.no_keras
def test_only_one_script_reads_a_private_name() -> None:
    private = {bug.id for bug in KNOWN.bugs if re.search(r"(?<!self)\._[a-z]", bug.code)}
    assert private == {"flash-attention"}


@pytest.mark.no_keras
def test_the_index_of_known_issues_is_up_to_date(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "clonediff", tmp_path / "clonediff")
    written = Path("reports", "known", "README.md")
    (tmp_path / "clonediff" / written).unlink()
    subprocess.run([sys.executable, "-m", "clonediff.reports.known_index"], cwd=tmp_path, check=True)
    text = (tmp_path / "clonediff" / written).read_text(encoding="utf-8")
    assert text == (ROOT / written).read_text(encoding="utf-8"), (
        "the index is out of date: run python -m clonediff.reports.known_index"
    )
    assert len(text.splitlines()) <= 250


@pytest.mark.no_keras
def test_the_readme_counts_the_bugs_of_the_newest_releases() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for generation, words in (
        ("keras", "{} bugs in Keras 3.15.1 and .* would accept {} and"),
        ("tf_keras", "{} in `tf_keras` 2.21.0. A maintainer would accept .* and {} of them"),
    ):
        bugs = KNOWN.select(generation, LINKED_RELEASES[generation]).bugs
        assert re.search(words.format(len(bugs), sum(bug.verdict == "accept" for bug in bugs)), text)
