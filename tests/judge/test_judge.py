"""Verdicts on proposals and changes to Keras, compared with the installed release."""

from __future__ import annotations

import difflib
import importlib.util
import json
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from clonediff.harness.subjects import Subject
from clonediff.harness.subjects.child import scratch_folder
from clonediff.reports.known import KnownIssues, load
from tests.helpers.command_line import Command
from tests.helpers.git_repositories import commit, git, put_keras

KNOWN = KnownIssues(tuple(load().get(name) for name in ("lambda-refused", "compile-lambda")))
LINE = "return layer.__class__.from_config(layer.get_config())\n"
FILE = "keras/src/models/cloning.py"
RAISING_FIX = "def clone_model(model, *args, **kwargs):\n    raise KeyError('here')\n"
IDENTITY_ANSWER = """\
The cause:

```python
x = 1
```
What helps, and what uses it:

```python
def helper(model):
    return model
```

```python
def clone_model(model, *args, **kwargs):
    return old(model)
```
1. or rather

   ```
   def clone_model(model, *args, **kwargs):
       return helper(model)
"""
"""An answer with several blocks: the last definition counts, with the helpers that it uses."""


def cloning_file() -> Path:
    """Return the file of Keras that defines `clone_model`."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parents[1] / FILE


def repaired_text(module: str = "keras.src.saving.serialization_lib") -> str:
    """Return the text of that file, changed so that a layer with a lambda can be created from its config."""
    before = cloning_file().read_text()
    (call,) = [line for line in before.splitlines(True) if line.lstrip() == LINE]
    indent = call[: -len(LINE)]
    scope = f"{indent}from {module} import SafeModeScope\n{indent}with SafeModeScope(False):\n"
    return before.replace(call, f"{scope}    {call}")


def diff(old: str, new: str, after: str | None = None) -> str:
    """Return a diff that turns the text of `cloning_file()` into another text."""
    before, lines = cloning_file().read_text().splitlines(True), (after or repaired_text()).splitlines(True)
    return "".join(difflib.unified_diff(before, lines, old, new))


NEW_DEFINITIONS = """\
from pathlib import Path

from keras.src.saving.serialization_lib import SafeModeScope as SafeModeScope

less, more = (Path(__file__).with_name(name) for name in ("less.py", "more.py"))
assert not less.exists() or not less.read_text()
assert more.read_text() == "a = 1\\nb = 2\\nc = 3\\n"
"""
FOLDER = "keras/src/models"
FIX_DIFF = "".join(
    (
        diff("a/tests/a.py", "b/tests/a.py"),
        f"diff --git a/src/{FILE} b/src/{FILE}\nindex 123..456 100644\n",
        diff(f"a/src/keras/{FILE}", f"b/src/keras/{FILE}", repaired_text("keras.src.models.new")),
        diff(f"a/{FOLDER}/cloning_test.py", f"b/{FOLDER}/cloning_test.py"),
        f"--- a/{FOLDER}/more.py\n+++ b/{FOLDER}/more.py\n@@ -1,0 +2 @@\n+b = 2\n",
        f"--- a/{FOLDER}/less.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a = 1\n-b = 2\n",
        f"diff --git a/{FOLDER}/new.py b/{FOLDER}/new.py\nnew file mode 120000\n--- /dev/null\n+++ b/{FOLDER}/new.py\n",
        f"@@ -0,0 +1,{NEW_DEFINITIONS.count(chr(10))} @@\n",
        *(f"+{line}" for line in NEW_DEFINITIONS.splitlines(True)),
    )
)
"""A diff of deep files and of tests: with lines without context, a deleted file and a link."""


def copy_keras(folder: Path, text: str) -> Path:
    """Copy Keras; replace its `cloning.py` with a link to a file outside of the copy with this text."""
    source, copy = cloning_file().parents[2], folder / "keras"
    for part in ("src", "models", "cloning.py"):
        copy.mkdir(parents=True)
        for path in source.iterdir():
            if path.name not in (part, "__pycache__"):
                (copy / path.name).symlink_to(path) if path.is_dir() else shutil.copy(path, copy)
        source, copy = source / part, copy / part
    copy.with_name("less.py").write_text("a = 1\nb = 2\n")
    copy.with_name("more.py").write_text("a = 1\nc = 3\n")
    (folder / "outside.py").write_text(text)
    copy.symlink_to(folder / "outside.py")
    return copy


@pytest.fixture
def judge(clonediff: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return `clonediff judge` with two known issues and without drawn graphs."""
    monkeypatch.setattr("clonediff.harness.cli.judge.load", lambda: KNOWN)
    return lambda *arguments: clonediff("judge", "--minutes", "0", *arguments)


def test_each_proposed_fix_has_a_verdict(judge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = copy_keras(tmp_path / "site", cloning_file().read_text())
    paths = (str(tmp_path / "site"),)
    monkeypatch.setattr("clonediff.harness.judge.judging.search_path_of", {Subject.parse("keras"): paths}.__getitem__)
    for name, text in (("fix.diff", FIX_DIFF), ("raises.py", RAISING_FIX), ("itself.md", IDENTITY_ANSWER)):
        (tmp_path / name).write_text(text)
    code, out, _ = judge("fix.diff", "raises.py", "itself.md", "--fixes", "lambda-refused", "--json")
    fix, raises, itself = json.loads(out)
    assert code == 1
    assert (fix["summary"], fix["passes"], fix["refused"]) == ("passes", True, "")
    assert (fix["fixed"], fix["hidden"], fix["left"]) == (["lambda-refused"], [], ["compile-lambda"])
    assert raises["left"] == ["compile-lambda", "lambda-refused"] and not raises["passes"]
    assert {cause["actual"] for cause in raises["worse"]} <= {"KeyError: 'here'"}
    assert itself["summary"] == "causes regressions", "a clone that was refused is now wrong"
    worse = {cause["title"]: cause["script"] for cause in itself["worse"]}
    script = worse["The clone holds a layer of the original itself"]
    assert "clone_model(model)" in script and "cannot be cloned" not in script, "the script leaves out the known issue"
    assert link.is_symlink() and link.read_text() == cloning_file().read_text()
    assert {path.name for path in link.parent.glob("[lmn]e*.py")} == {"less.py"}


TF_KERAS_FIX = '# /// clonediff\n# releases = "tf_keras"\n# definitions = {file = ["ONE"]}\n# ///\nONE = 1\n'
OLD_KERAS_FIX = TF_KERAS_FIX.replace("tf_keras", "keras<3.3")
REFUSED_FILES = {
    "exits.py": ("import os\nclone_model = os._exit(3)\n", "keras: does not start: exit code 3"),
    "no-code.md": ("No idea.", "no code in it"),
    "of-tf-keras.py": (TF_KERAS_FIX, "it is for tf_keras: choose another --subject"),
    "of-older.py": (OLD_KERAS_FIX, "it is for keras<3.3: choose another --subject"),
}
"""By file: its text, and why it does not load. More reasons are in test_fixes.py."""


PARTIAL_FIX = """
def clone_model(model, *args, **kwargs):
    from keras.src.saving.serialization_lib import SafeModeScope
    with SafeModeScope(False):
        return _clone_functional_model(model, lambda layer: type(layer).from_config(layer.get_config()))
"""


def test_a_series_lists_the_issues_that_each_proposal_fixes(judge: Command, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text(f"ONE = 1\n\n\ndef clone_model(model):\n    return ONE\n{PARTIAL_FIX}")
    (tmp_path / "some.py").write_text(PARTIAL_FIX)
    (tmp_path / "older.py").write_text(OLD_KERAS_FIX)
    code, out, _ = judge("none.py", "older.py", "some.py", "--series", "--minutes", "1", "--trials", "3")
    first, older, second, total, *worse = out.splitlines()
    assert (code, first, second) == (1, "none fixes 2: compile-lambda, lambda-refused", "some fixes 0")
    assert older == "older.py: does not load: it is for keras<3.3"
    assert re.fullmatch(
        r"all of them: causes regressions: fixes 2 of 2 known issues; \d+ models tried; \d regressions?", total
    )
    at = "cloning.py:_clone_functional_model [made-raises-valueerror-adad5688]"
    line = f"  regression: crashes: A model cannot be cloned: ValueError in {at}: ValueError: Expected `model` argument"
    assert any(cause.startswith(line) for cause in worse)


def test_a_proposal_that_does_not_apply_has_a_verdict(
    judge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch_folder()  # remove the files of this process
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name, (text, _) in REFUSED_FILES.items():
        (tmp_path / name).write_text(text)
    code, out, _ = judge(*REFUSED_FILES)
    assert code == 1
    lines = out.splitlines()
    for name, (_, reason) in REFUSED_FILES.items():
        (line,) = [line for line in lines if line.startswith(f"{name}: does not load: ")]
        assert re.search(reason, line), line
    assert [*temporary.iterdir()] == [], "no file was written outside of the copy"


def test_a_change_is_judged_by_what_it_fixes_and_breaks(
    judge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "\n\ndef _clone_sequential_model(*args, **kwargs):\n    raise KeyError('sequential')\n"
    copy_keras(tmp_path, repaired_text() + broken)
    release, changed = Subject.parse("keras"), Subject.parse("keras==99")
    known = KnownIssues((*KNOWN.issues, load().get("own-sequential")))
    monkeypatch.setattr("clonediff.harness.cli.judge.load", lambda: known)
    monkeypatch.setattr("clonediff.harness.cli.judge.subjects_of_change", lambda *_: (release, changed))
    for module in ("judge.judging", "cli.judge"):
        search_paths = {release: (), changed: (str(tmp_path),)}
        monkeypatch.setattr(f"clonediff.harness.{module}.search_path_of", search_paths.__getitem__)
    code, out, _ = judge("--repo", "keras", "--base", "main", "--markdown")
    assert code == 1
    assert out.startswith("**clonediff**: causes regressions: fixes 1 of 3 known issues")
    assert "KeyError: 'sequential'" in out
    assert "    clone = keras.models.clone_model(model)" in out


@pytest.mark.no_keras
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name either FILEs to judge"),
        (("missing.py",), "'missing.py' does not exist"),
        (("--base", "main"), "or a change: --repo FOLDER --base BRANCH"),
        (("--repo", "nowhere", "--base", "main"), "there is no folder"),
        (("--repo", "keras", "--base", "main", "--subject", "keras"), "--subject needs proposed fixes"),
        (("--repo", "keras", "--base", "main", "--as-diff"), "--as-diff needs proposed fixes"),
        (("fix.py", "--fixes", "nothing"), "--fixes nothing: no known issue has that id"),
        (("other.py", "--as-diff"), "other.py: it defines none of the release's cloning functions"),
        (("--repo", "keras", "--base", "main"), "does not differ from main"),
    ],
)
def test_the_error_names_the_wrong_argument(
    arguments: tuple[str, ...], message: str, clonediff: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "fix.py").write_text(RAISING_FIX)
    (tmp_path / "other.py").write_text("def other(): ...\n")
    put_keras(tmp_path / "keras")
    git(tmp_path / "keras", "init", "-q", "-b", "main")
    commit(tmp_path / "keras")
    code, _, err = clonediff("judge", *arguments)
    assert code == 2
    assert message in " ".join(err.split())
