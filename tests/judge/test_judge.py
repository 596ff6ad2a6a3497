"""Proposals and changes of Keras, judged beside the release that is installed."""

from __future__ import annotations

import difflib
import importlib.util
import json
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject
from clonediff.reports.known import KnownIssues, load
from tests.command_line import Command
from tests.repositories import commit, git, put_keras

KNOWN = KnownIssues(tuple(load().get(name) for name in ("lambda-refused", "compile-lambda")))
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


@pytest.fixture
def judge(clonediff: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`clonediff judge` with few known issues, and nothing drawn."""
    monkeypatch.setattr("clonediff.harness.cli.judge.load", lambda: KNOWN)
    return lambda *arguments: clonediff("judge", *arguments, "--minutes", "0")


def test_each_proposed_fix_has_a_verdict(judge: Command, tmp_path: Path) -> None:
    for name, text in (("fix.diff", diff()), ("raises.py", RAISES), ("itself.md", ITSELF)):
        (tmp_path / name).write_text(text)
    code, out, _ = judge("fix.diff", "raises.py", "itself.md", "--json")
    fix, raises, itself = json.loads(out)
    assert code == 1
    assert fix["holds"] and fix["word"] == "holds, leaves others broken"
    assert (fix["mends"], fix["leaves"], fix["reported"]) == (["lambda-refused"], ["compile-lambda"], True)
    assert [cause["known"] for cause in fix["left"]] == ["compile-lambda"]
    assert "clone_model(model)" in fix["left"][0]["script"]
    assert not raises["reported"] and not raises["holds"]
    assert {cause["actual"] for cause in (*raises["worse"], *raises["left"])} == {"KeyError: 'here'"}
    assert itself["word"] == "makes something worse", "an exception has become a wrong clone"
    assert "The clone holds a layer of the original itself" in {cause["title"] for cause in itself["worse"]}


def test_what_cannot_be_put_in_place_is_a_verdict(judge: Command, tmp_path: Path) -> None:
    texts = {
        "exits.py": ("import os\nos._exit(3)\n", "with it, keras: its process ends: exit code 3"),
        "other.py": ("def other(model):\n    pass\n", "replaces none of the release's functions"),
        "elsewhere.patch": (
            "--- a/keras/none.py\n+++ b/keras/none.py\n@@ -1 +1 @@\n-a\n+b\n",
            "keras/none.py: No such file",
        ),
    }
    for name, (text, _) in texts.items():
        (tmp_path / name).write_text(text)
    code, out, _ = judge(*texts)
    assert code == 1
    for name, (_, said) in texts.items():
        (line,) = [line for line in out.splitlines() if line.startswith(name)]
        assert "does not load" in line and said in line


def test_a_change_is_told_by_what_it_mends_and_breaks(
    judge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below, its = cloning().parents[2], tmp_path / "keras"
    for part in ("src", "models", "cloning.py"):
        its.mkdir(parents=True)
        for path in below.iterdir():
            if path.name not in (part, "__pycache__"):
                (its / path.name).symlink_to(path)
        below, its = below / part, its / part
    broken = "\n\ndef _clone_sequential_model(*args, **kwargs):\n    raise KeyError('sequential')\n"
    its.write_text(mended() + broken)
    release, changed = Subject.parse("keras"), Subject.parse("keras==99")
    known = KnownIssues((*KNOWN.issues, load().get("own-sequential")))
    monkeypatch.setattr("clonediff.harness.cli.judge.load", lambda: known)
    monkeypatch.setattr("clonediff.harness.cli.judge.change_of", lambda *_: (release, changed))
    monkeypatch.setattr(
        "clonediff.harness.judge.judging.place_of", {release: (), changed: (str(tmp_path),)}.__getitem__
    )
    code, out, _ = judge("--repo", "keras", "--base", "main", "--markdown")
    assert code == 1
    assert out.startswith("**clonediff**: makes something worse: mends 1 known issue, leaves 1")
    assert "KeyError: 'sequential'" in out
    assert "    clone = keras.models.clone_model(model)" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name proposed fixes"),
        (("missing.py",), "'missing.py' does not exist"),
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
