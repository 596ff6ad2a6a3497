"""Proposals and changes of Keras, judged beside the release that is installed."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import pytest

from clonediff.harness.judge import judging
from clonediff.harness.judge.judging import JudgeBudget, Judged, judge_change, judge_proposals
from clonediff.harness.judge.text import comment, terminal_lines
from clonediff.harness.subjects.environment import BESIDE
from clonediff.harness.subjects.process import GIB, Limits
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KnownIssues, load
from tests.command_line import Command
from tests.repositories import commit, git, put_keras
from tests.waiting import PATIENCE

KERAS = Subject.parse("keras")
BUDGET = JudgeBudget(seconds=0.0, limits=Limits(trial=PATIENCE, memory=2 * GIB, cloning=0))
KNOWN = KnownIssues(tuple(load()[name] for name in ("lambda-refused", "compile-lambda")))
LINE = "return layer.__class__.from_config(layer.get_config())\n"
RAISES = "def clone_model(model, *args, **kwargs):\n    raise KeyError('here')\n"
ITSELF = "The fix:\n\n```python\ndef clone_model(model, *args, **kwargs):\n    return model\n```\n"


def cloning() -> Path:
    """The file of Keras that clones."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "src" / "models" / "cloning.py"


def mended() -> str:
    """That file, where a layer is made of its config with lambdas allowed."""
    before = cloning().read_text()
    (at,) = [line for line in before.splitlines(True) if line.lstrip() == LINE]
    indent = at[: -len(LINE)]
    scope = (
        f"{indent}from keras.src.saving.serialization_lib import SafeModeScope\n{indent}with SafeModeScope(False):\n"
    )
    return before.replace(at, f"{scope}    {at}")


def diff() -> str:
    """The same as a diff."""
    file = "keras/src/models/cloning.py"
    before, after = cloning().read_text().splitlines(True), mended().splitlines(True)
    return "".join(difflib.unified_diff(before, after, f"a/{file}", f"b/{file}"))


@pytest.fixture(scope="module")
def verdicts() -> Mapping[str, Judged]:
    texts = {
        "fix.diff": diff(),
        "raises.py": RAISES,
        "itself.md": ITSELF,
        "exits.py": "import os\nos._exit(3)\n",
        "other.py": "def other(model):\n    pass\n",
        "elsewhere.patch": "--- a/keras/none.py\n+++ b/keras/none.py\n@@ -1 +1 @@\n-a\n+b\n",
    }
    found = judge_proposals(texts, KERAS, KNOWN, BUDGET, lambda what: None)
    return {judged.name: judged for judged in found}


def test_a_fix_mends_what_it_mends_and_leaves_the_rest(verdicts: Mapping[str, Judged]) -> None:
    judged = verdicts["fix.diff"]
    assert judged.holds and judged.word == "holds, leaves others broken"
    assert (judged.mends, judged.leaves, judged.reported) == (("lambda-refused",), ("compile-lambda",), True)
    assert [cause.known for cause in judged.left] == ["compile-lambda"]
    assert "clone_model(model)" in judged.left[0].script


def test_what_raises_does_not_fix_the_report(verdicts: Mapping[str, Judged]) -> None:
    judged = verdicts["raises.py"]
    assert not judged.reported and not judged.holds
    assert {cause.found for cause in (*judged.worse, *judged.left)} == {"KeyError: 'here'"}


def test_an_exception_that_becomes_a_wrong_clone_is_worse(verdicts: Mapping[str, Judged]) -> None:
    judged = verdicts["itself.md"]
    assert judged.word == "makes something worse"
    assert "The clone holds a layer of the original itself" in {cause.title for cause in judged.worse}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exits.py", "it ends its process: exit code 3"),
        ("other.py", "replaces none of the release's functions"),
        ("elsewhere.patch", "keras/none.py: No such file"),
    ],
)
def test_what_cannot_be_put_in_place_is_a_verdict(name: str, said: str, verdicts: Mapping[str, Judged]) -> None:
    judged = verdicts[name]
    assert judged.word == "does not load" and said in judged.refused
    assert said in next(terminal_lines(judged))


def test_a_change_is_told_by_what_it_mends_and_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below, its = cloning().parents[2], tmp_path / "keras"
    for part in ("src", "models", "cloning.py"):
        its.mkdir(parents=True)
        for path in below.iterdir():
            if path.name not in (part, "__pycache__"):
                (its / path.name).symlink_to(path)
        below, its = below / part, its / part
    broken = "\n\ndef _clone_sequential_model(*args, **kwargs):\n    raise KeyError('sequential')\n"
    its.write_text(mended() + broken)
    changed = Subject.parse("keras==99")
    places = {KERAS: BESIDE, changed: (str(tmp_path),)}
    monkeypatch.setattr(judging, "place_of", places.__getitem__)
    known = KnownIssues((*KNOWN.issues, load()["own-sequential"]))
    judged = judge_change(KERAS, changed, known, BUDGET, lambda what: None)
    assert judged.mends == ("lambda-refused",)
    assert [cause.found for cause in judged.worse] == ["KeyError: 'sequential'"]
    assert not judged.holds and judged.reported is None
    said = comment(judged)
    assert said.startswith("**clonediff**: makes something worse: mends 1 known issue, leaves 1")
    assert "    clone = keras.models.clone_model(model)" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name proposed fixes"),
        (("missing.py",), "missing.py: cannot be read"),
        (("--base", "main"), "or a change: --repo FOLDER --base BRANCH"),
        (("--repo", "nowhere", "--base", "main"), "there is no folder"),
        (("--repo", "keras", "--base", "main"), "has no change since it left main"),
    ],
)
def test_a_bad_argument_is_said(
    arguments: tuple[str, ...], said: str, clonediff: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "fix.py").write_text(RAISES)
    put_keras(tmp_path / "keras")
    git(tmp_path / "keras", "init", "-q", "-b", "main")
    commit(tmp_path / "keras")
    code, _, err = clonediff("judge", *arguments)
    assert code == 2
    assert said in " ".join(err.split())
