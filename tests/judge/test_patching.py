"""Diffs: what they mean, where they fit, and that they never leave the private copy."""

from __future__ import annotations

import compileall
import difflib
import subprocess
from pathlib import Path

import pytest

from clonediff.harness.judge.candidate import Prepared, prepare
from clonediff.harness.judge.patching import PatchError, apply
from clonediff.harness.judge.reading import FilePart, Proposal, read_proposal
from clonediff.harness.subjects.environment import BESIDE
from clonediff.harness.subjects.outcomes import CloningFunctions

BEFORE = "\n".join(f"line {number}" for number in range(1, 31)) + "\n"
AFTER = BEFORE.replace("line 7\n", "line seven\n").replace("line 20\n", "line 20\nline 20 and a half\n")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A release's package, beside which nothing may appear."""
    package = tmp_path / "site" / "keras"
    (package / "engine").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "models.py").write_text(BEFORE)
    (package / "engine" / "network.py").write_text("a\nb\nc\n")
    return package


def diff(old: str, new: str, before: str = BEFORE, after: str = AFTER) -> str:
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, new))


def patched(text: str, package: Path, name: str = "models.py") -> str:
    private = package.parent.parent / "private"
    applied = apply(text, package, private)
    assert applied.folder == private
    assert (package / "models.py").read_text() == BEFORE
    return (private / "keras" / name).read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("a/keras/models.py", "b/keras/models.py", id="git"),
        pytest.param("keras/models.py", "keras/models.py", id="plain"),
        pytest.param("models.py", "models.py", id="in the package"),
        pytest.param("a/src/checkout/keras/models.py", "b/src/checkout/keras/models.py", id="deep"),
        pytest.param("./keras/models.py\t2018-09-01", "./keras/models.py\t2018-09-02", id="dates"),
    ],
)
def test_the_file_is_found_by_its_path(old: str, new: str, package: Path) -> None:
    assert patched(diff(old, new), package) == AFTER


def test_a_hunk_that_has_moved_is_found_nearby(package: Path) -> None:
    (package / "models.py").write_text(moved := "one\ntwo\n" + BEFORE)
    private = package.parent / "private"
    apply(diff("a/keras/models.py", "b/keras/models.py"), package, private)
    assert (private / "keras" / "models.py").read_text() == "one\ntwo\n" + AFTER
    assert (package / "models.py").read_text() == moved


def test_lines_are_put_in_where_there_is_no_context(package: Path) -> None:
    text = "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -2,0 +3 @@\n+new\n"
    assert patched(text, package).startswith("line 1\nline 2\nnew\nline 3\n")


def test_files_are_made_and_taken_away(package: Path) -> None:
    text = (
        "--- /dev/null\n+++ b/keras/new.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        "--- a/keras/engine/network.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n"
    )
    assert patched(text, package, "new.py") == "one\ntwo\n"
    assert not (package.parent.parent / "private" / "keras" / "engine" / "network.py").exists()


def test_a_hunk_that_does_not_apply_is_named(package: Path) -> None:
    text = diff("a/keras/models.py", "b/keras/models.py").replace("-line 7\n", "-line VII\n")
    with pytest.raises(PatchError) as raised:
        apply(text, package, package.parent / "private")
    assert str(raised.value) == "keras/models.py:4: the release has other lines there; make the diff against it"
    assert not (package.parent / "private").exists()


def test_a_second_hunk_that_does_not_apply_is_named_and_the_first_is_not_applied(package: Path) -> None:
    text = diff("a/keras/models.py", "b/keras/models.py").replace(" line 21\n", " line XXI\n")
    with pytest.raises(PatchError, match=r"keras/models\.py:18"):
        apply(text, package, package.parent / "private")
    assert not (package.parent / "private").exists()


def test_whitespace_that_was_lost_at_the_end_of_lines_does_not_matter(package: Path) -> None:
    spaced = BEFORE.replace("line 6\n", "line 6  \n").replace("line 21\n", "line 21\r\n")
    (package / "models.py").write_text(spaced, newline="")
    applied = apply(diff("a/keras/models.py", "b/keras/models.py"), package, package.parent / "private")
    assert [line.rstrip() for line in applied.changed[0].read_text().splitlines()] == AFTER.splitlines()


SPACED = "def clone_model(model):\n    return model\n\n\ndef other():\n    pass\n"


@pytest.mark.parametrize("lines", [0, 1, 2], ids=["no blank line", "one blank line", "two blank lines"])
@pytest.mark.parametrize("form", ["{}", "Apply this:\n```diff\n{}```\n"], ids=["a file", "a block"])
def test_the_blank_lines_that_end_a_diff_may_have_lost_their_spaces_or_be_lost(
    form: str, lines: int, package: Path
) -> None:
    after = SPACED.replace("return model", "return 2")
    (package / "models.py").write_text(SPACED)
    change = diff("a/keras/models.py", "b/keras/models.py", SPACED, after).partition(" def other")[0]
    change = change.replace("-1,5 +1,5", "-1,4 +1,4").rstrip() + "\n" * (lines + 1)
    text = read_proposal("answer.txt", form.format(change), ("clone_model",)).text
    applied = apply(text, package, package.parent / "private")
    assert applied.changed[0].read_text() == after


def test_a_folder_within_somebodys_repository_is_patched_too(package: Path) -> None:
    subprocess.run(["git", "init", "-q", str(package.parent.parent)], check=True)
    text = f"diff --git a/keras/models.py b/keras/models.py\n{diff('a/keras/models.py', 'b/keras/models.py')}"
    assert patched(text, package) == AFTER


def test_a_file_is_renamed(package: Path) -> None:
    text = (
        "diff --git a/keras/models.py b/keras/model.py\nsimilarity index 90%\nrename from keras/models.py\n"
        f"rename to keras/model.py\n{diff('a/keras/models.py', 'b/keras/model.py')}"
    )
    assert patched(text, package, "model.py") == AFTER
    assert not (package.parent.parent / "private" / "keras" / "models.py").exists()


def test_without_git_it_is_said_what_to_do(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(package))
    with pytest.raises(OSError, match="git is not on PATH, and a diff is applied with `git apply`: install git, or"):
        apply(diff("a/keras/models.py", "b/keras/models.py"), package, package.parent / "private")
    assert not (package.parent / "private").exists()


def test_tests_and_docs_are_left_out_and_told(package: Path) -> None:
    text = diff("a/keras/models.py", "b/keras/models.py") + diff("a/tests/keras/a_test.py", "b/tests/keras/a_test.py")
    applied = apply(text, package, package.parent / "private")
    assert applied.left_out == ("b/tests/keras/a_test.py",)
    assert [path.name for path in applied.changed] == ["models.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("nothing", "no diff in it", id="no diff"),
        pytest.param(diff("a/keras/other.py", "b/keras/other.py"), "the release has no such file", id="unknown file"),
        pytest.param(diff("a/tests/x.py", "b/tests/x.py"), "changes no file of the release", id="tests only"),
        pytest.param("--- a/keras/models.py\n+++ b/keras/models.py\n", "No valid patches", id="no hunk"),
        pytest.param("--- a/keras/models.py\n+++ b/keras/models.py\n@@ nonsense\n", "No valid patches", id="head"),
        pytest.param(
            "--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1,9 +1 @@\n line 1\n",
            "its last hunk has fewer lines than its head says",
            id="short",
        ),
        pytest.param("--- /dev/null\n+++ b/keras/models.py\n@@ -0,0 +1 @@\n+a\n", "already exists", id="made anew"),
        pytest.param("GIT binary patch\nabc", "no diff in it", id="binary"),
    ],
)
def test_a_diff_that_cannot_be_applied_says_why(text: str, said: str, package: Path) -> None:
    with pytest.raises(PatchError, match=said):
        apply(text, package, package.parent / "private")
    assert not (package.parent / "private").exists()


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../outside.py", "a/../../outside.py", "keras/../../outside.py", "..\\outside.py", "C:/outside.py"],
)
@pytest.mark.parametrize("new_file", [False, True], ids=["changed", "made"])
def test_a_path_that_leads_out_is_refused(path: str, new_file: bool, package: Path) -> None:
    old = "/dev/null" if new_file else path
    text = f"--- {old}\n+++ {path}\n@@ -0,0 +1 @@\n+owned\n"
    before = sorted(package.parent.parent.rglob("*"))
    with pytest.raises(PatchError, match="invalid path|the release has no such file"):
        apply(text, package, package.parent / "private")
    assert sorted(package.parent.parent.rglob("*")) == before


@pytest.mark.parametrize("old", ["keras/../../site/outside.py", "keras/models.py"], ids=["changed", "renamed"])
def test_the_bytecode_of_a_file_outside_stays(old: str, package: Path) -> None:
    (package.parent / "outside.py").write_text("X = 1\n")
    compileall.compile_dir(package.parent, quiet=1)
    before = sorted(package.parent.parent.rglob("*"))
    text = f"--- {old}\n+++ keras/../../site/outside.py\n@@ -1 +1 @@\n-X = 1\n+X = 2\n"
    with pytest.raises(PatchError, match="invalid path|the release has no such file"):
        apply(text, package, package.parent.parent / "private")
    assert sorted(package.parent.parent.rglob("*")) == before


def test_a_file_that_a_diff_has_twice_is_one_that_it_changed(package: Path) -> None:
    halves = BEFORE.replace("line 7\n", "line seven\n"), BEFORE.replace("line 20\n", "line twenty\n")
    text = "".join(diff("a/keras/models.py", "b/keras/models.py", BEFORE, half) for half in halves)
    private = package.parent / "private"
    assert apply(text, package, private).changed == (private / "keras" / "models.py",)


def test_a_link_is_refused(package: Path) -> None:
    text = (
        "diff --git a/keras/out b/keras/out\nnew file mode 120000\n"
        "--- /dev/null\n+++ b/keras/out\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"
    )
    with pytest.raises(PatchError, match="link"):
        apply(text, package, package.parent / "private")


def test_a_link_in_the_package_is_not_written_through(package: Path) -> None:
    outside = package.parent / "outside.py"
    outside.write_text(BEFORE)
    (package / "linked.py").symlink_to(outside)
    applied = apply(diff("a/keras/linked.py", "b/keras/linked.py"), package, package.parent / "private")
    assert applied.changed[0].read_text() == AFTER
    assert not applied.changed[0].is_symlink()
    assert outside.read_text() == BEFORE


def test_the_copy_has_the_bytecode_of_what_no_patch_changes(package: Path) -> None:
    for path in (package / "models.py", package / "__init__.py", package / "engine" / "network.py"):
        path.write_text("" if path.name != "models.py" else "X = 1\n")
    compileall.compile_dir(package, quiet=1)
    private = package.parent / "private"
    change = diff("a/keras/models.py", "b/keras/models.py", "X = 1\n", "X = 2\n")
    applied = apply(change, package, private)
    compiled = {path.name.partition(".")[0] for path in private.rglob("*.pyc")}
    assert compiled == {"__init__", "network"}, "that of a file as long and as old would be taken"
    assert applied.changed[0].read_text() == "X = 2\n"


@pytest.fixture
def cloning(package: Path) -> CloningFunctions:
    """A release that clones with one function of two."""
    (package / "models.py").write_text("def clone_model(model):\n    return 1\n\n\ndef other():\n    return 1\n")
    return CloningFunctions("keras.models", str(package / "models.py"), str(package), ("clone_model",))


def prepared(text: str, cloning: CloningFunctions, folder: Path) -> Prepared:
    return prepare(Proposal("diff", (FilePart(text),)), BESIDE, cloning, folder)


def test_a_diff_of_the_file_that_clones_runs_on_a_patched_copy_and_its_script_has_what_changed(
    package: Path, cloning: CloningFunctions, tmp_path: Path
) -> None:
    before = (package / "models.py").read_text()
    change = diff("a/keras/models.py", "b/keras/models.py", before, before.replace("return 1", "return 2", 1))
    found = prepared(change, cloning, tmp_path)
    assert found.place == (str(tmp_path.resolve() / "patched"),)
    assert found.parts == ()
    assert found.code == "def clone_model(model):\n    return 2\n"


def test_a_diff_of_another_file_has_scripts_that_run_on_the_patched_copy(
    cloning: CloningFunctions, tmp_path: Path
) -> None:
    change = diff("a/keras/engine/network.py", "b/keras/engine/network.py", "a\nb\nc\n", "a\nB\nc\n")
    found = prepared(change, cloning, tmp_path)
    assert (found.parts, found.code) == ((), "")
    assert found.in_script("clone = 1\n", "keras.models").startswith("# Run it on the patched release.")
