"""What of a file is the proposal, and what a diff means: nothing is run, and nothing is written outside the copy."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from clonediff.harness.judge.proposals import (
    ProposalError,
    apply,
    read_proposal,
)

FUNCTIONS = ("_clone_functional_model", "_clone_sequential_model", "clone_model")
FIX = "def clone_model(model):\n    return helped(model)\n"
HELPER = "def helped(model):\n    return model\n"
OLD = FIX.replace("helped", "old")
DIFF = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1 +1 @@\n-a\n+b\n"
BEFORE = "\n".join(f"line {number}" for number in range(1, 31)) + "\n"
AFTER = BEFORE.replace("line 7\n", "line seven\n").replace("line 20\n", "line 20\nline 20 and a half\n")


def fenced(*blocks: str) -> str:
    return "The cause:\n\n" + "\n\nand\n\n".join(f"```python\n{block}```" for block in blocks)


@pytest.mark.parametrize(
    ("name", "text", "is_diff", "proposed"),
    [
        pytest.param("fix.py", FIX, False, FIX, id="a Python file"),
        pytest.param("fix.patch", DIFF, True, DIFF, id="a diff"),
        pytest.param("answer.txt", f"Apply this:\n\n{DIFF}", True, f"Apply this:\n\n{DIFF}", id="a diff in a text"),
        pytest.param("answer.md", fenced("x = 1\n", FIX), False, FIX, id="the block that defines it"),
        pytest.param("answer.md", fenced(OLD, FIX), False, OLD + FIX, id="the last of several counts"),
        pytest.param("answer.md", fenced(HELPER, FIX), False, HELPER + FIX, id="with what it uses"),
        pytest.param("answer.md", f"```diff\n{DIFF}```\n", True, DIFF, id="a diff in a block"),
        pytest.param(
            "answer.md", "1. so:\n\n    ```\n    def clone_model(model):\n        pass\n    ```\n", False,
            "def clone_model(model):\n    pass\n", id="a block that is indented",
        ),
        pytest.param("answer.md", f"```\n{FIX}", False, FIX, id="a block without an end"),
    ],
)  # fmt: skip
def test_what_is_proposed(name: str, text: str, is_diff: bool, proposed: str) -> None:
    proposal = read_proposal(name, text, FUNCTIONS)
    assert proposal.is_diff is is_diff
    if is_diff or text == proposed:
        assert proposal.text == proposed
    else:
        lines = {number: line for number, line in enumerate(proposal.text.splitlines()) if line}
        assert "".join(f"{line}\n" for line in lines.values()) == proposed
        file = text.splitlines()
        assert all(file[number].strip() == line.strip() for number, line in lines.items()), "at its line of the file"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("No idea.", "no code in it", id="no code"),
        pytest.param(fenced(HELPER), "it defines none of the release's cloning functions (_clone_", id="others"),
    ],
)
def test_nothing_to_put_anywhere_is_a_verdict(text: str, reason: str) -> None:
    with pytest.raises(ProposalError) as raised:
        read_proposal("answer.md", text, FUNCTIONS)
    assert reason in str(raised.value)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A release's package, beside which nothing may appear."""
    package = tmp_path / "site" / "keras"
    (package / "engine").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "models.py").write_text(BEFORE)
    (package / "engine" / "network.py").write_text("a\nb\nc\n")
    (package.parent / "outside.py").write_text(BEFORE)
    (package / "linked.py").symlink_to(package.parent / "outside.py")
    return package


def diff(old: str, new: str, after: str = AFTER) -> str:
    return "".join(difflib.unified_diff(BEFORE.splitlines(True), after.splitlines(True), old, new))


GIT = diff("a/keras/models.py", "b/keras/models.py")
HEAD = "diff --git a/keras/models.py b/keras/models.py\nindex 123..456 100644\n"
APPLIED = {
    "git": (GIT, {"models.py": AFTER}),
    "with its head": (HEAD + GIT, {"models.py": AFTER}),
    "deep": (diff("a/src/keras/keras/models.py", "b/src/keras/keras/models.py"), {"models.py": AFTER}),
    "no context": (
        "--- a/keras/engine/network.py\n+++ b/keras/engine/network.py\n@@ -2,0 +3 @@\n+new\n",
        {"engine/network.py": "a\nb\nnew\nc\n"},
    ),
    "a new file": ("--- /dev/null\n+++ b/keras/new.py\n@@ -0,0 +1 @@\n+one\n", {"new.py": "one\n"}),
    "a file less": (
        "--- a/keras/engine/network.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", {"engine/network.py": ""}
    ),
    "tests and docs beside it": (
        diff("a/tests/a.py", "b/tests/a.py") + GIT + diff("a/keras/models_test.py", "b/keras/models_test.py"),
        {"models.py": AFTER},
    ),
    "a link in the package": (GIT.replace("models", "linked"), {"linked.py": AFTER}),
    "a new link is a file": (
        "diff --git a/keras/out.py b/keras/out.py\nnew file mode 120000\n--- /dev/null\n+++ b/keras/out.py\n"
        "@@ -0,0 +1 @@\n+/etc\n",
        {"out.py": "/etc\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APPLIED)
def test_a_diff_changes_a_copy(name: str, package: Path, tmp_path: Path) -> None:
    text, files = APPLIED[name]
    before = {path: path.read_text() for path in tmp_path.rglob("*.py")}
    private = tmp_path / "private"
    apply(text, package, private)
    assert {path: path.read_text() for path in before} == before
    for file, content in files.items():
        path = private / "keras" / file
        assert (path.read_text() if path.exists() else "") == content
        assert not path.is_symlink()


REFUSED = {
    "no diff": ("nothing", "no diff in it"),
    "no hunk": ("--- a/keras/models.py\n+++ b/keras/models.py\n", "no diff in it"),
    "other lines": (GIT.replace("-line 7\n", "-line VII\n"), r"^keras/models\.py:4: the release has other lines there"),
    "an unknown file": (diff("a/keras/other.py", "b/keras/other.py"), "keras/other.py: No such file"),
    "tests only": (diff("a/tests/x.py", "b/tests/x.py"), "it changes no line of the release"),
    "a file that is there": ("--- /dev/null\n+++ b/keras/models.py\n@@ -0,0 +1 @@\n+a\n", "already exists"),
    "a short hunk": ("--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1,9 +1 @@\n line 1\n", "corrupt patch"),
    **{
        f"a path that leads out: {path}": (
            f"--- {old}\n+++ {path}\n@@ -1 +1 @@\n-line 1\n+owned\n", "invalid path|changes no line|No such file"
        )
        for path in ("/etc/passwd", "../outside.py", "keras/../../outside.py", "a/keras/../outside.py")
        for old in ("/dev/null", path)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_diff_that_cannot_be_applied_says_why_and_changes_nothing(name: str, package: Path, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    before = {path: path.read_text() for path in tmp_path.rglob("*.py")}
    with pytest.raises(ProposalError, match=reason):
        apply(text, package, tmp_path / "private")
    after = {path: path.read_text() for path in tmp_path.rglob("*.py") if tmp_path / "private" not in path.parents}
    assert after == before
