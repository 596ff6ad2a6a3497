"""Diffs: what they mean, where they fit, and that they never leave the private copy."""

from __future__ import annotations

import compileall
import difflib
from pathlib import Path

import pytest

from clonediff.harness.judge.patching import PatchError, apply, read_diff

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
    applied = apply(read_diff(text), package, private)
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
    apply(read_diff(diff("a/keras/models.py", "b/keras/models.py")), package, private)
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
        apply(read_diff(text), package, package.parent / "private")
    assert "b/keras/models.py: hunk 1 (@@ -4,7 +4,7 @@) does not apply" in str(raised.value)
    assert "line 7 is `line 7`, and the hunk expects `line VII`" in str(raised.value)
    assert not (package.parent / "private").exists()


def test_the_second_hunk_is_named_as_such(package: Path) -> None:
    text = diff("a/keras/models.py", "b/keras/models.py").replace(" line 21\n", " line XXI\n")
    with pytest.raises(PatchError, match="hunk 2"):
        apply(read_diff(text), package, package.parent / "private")


def test_tests_and_docs_are_left_out_and_told(package: Path) -> None:
    text = diff("a/keras/models.py", "b/keras/models.py") + diff("a/tests/keras/a_test.py", "b/tests/keras/a_test.py")
    applied = apply(read_diff(text), package, package.parent / "private")
    assert applied.left_out == ("b/tests/keras/a_test.py",)
    assert [path.name for path in applied.changed] == ["models.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("nothing", "no diff in it", id="no diff"),
        pytest.param(diff("a/keras/other.py", "b/keras/other.py"), "the release has no such file", id="unknown file"),
        pytest.param(diff("a/tests/x.py", "b/tests/x.py"), "changes no file of the release", id="tests only"),
        pytest.param("--- a/keras/models.py\n+++ b/keras/models.py\n", "no hunk", id="no hunk"),
        pytest.param("--- a/keras/models.py\n+++ b/keras/models.py\n@@ nonsense\n", "its head is not", id="head"),
        pytest.param("--- a/keras/models.py\n+++ b/keras/models.py\n@@ -1,9 +1 @@\n line 1\n", "cut short", id="short"),
        pytest.param("--- /dev/null\n+++ b/keras/models.py\n@@ -0,0 +1 @@\n+a\n", "has it already", id="made anew"),
        pytest.param("GIT binary patch\nabc", "binary", id="binary"),
        pytest.param("rename from a\nrename to b\n", "renames", id="rename"),
    ],
)
def test_a_diff_that_cannot_be_applied_says_why(text: str, said: str, package: Path) -> None:
    with pytest.raises(PatchError, match=said):
        apply(read_diff(text), package, package.parent / "private")
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
    with pytest.raises(PatchError, match="refused"):
        apply(read_diff(text), package, package.parent / "private")
    assert sorted(package.parent.parent.rglob("*")) == before


def test_a_link_is_refused(package: Path) -> None:
    text = (
        "diff --git a/keras/out b/keras/out\nnew file mode 120000\n"
        "--- /dev/null\n+++ b/keras/out\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"
    )
    with pytest.raises(PatchError, match="link"):
        apply(read_diff(text), package, package.parent / "private")


def test_a_link_in_the_package_is_not_written_through(package: Path) -> None:
    outside = package.parent / "outside.py"
    outside.write_text(BEFORE)
    (package / "linked.py").symlink_to(outside)
    with pytest.raises(PatchError, match="the release has no such file"):
        apply(read_diff(diff("a/keras/linked.py", "b/keras/linked.py")), package, package.parent / "private")
    assert outside.read_text() == BEFORE


def test_the_copy_has_the_bytecode_of_what_no_patch_changes(package: Path) -> None:
    for path in (package / "models.py", package / "__init__.py", package / "engine" / "network.py"):
        path.write_text("" if path.name != "models.py" else "X = 1\n")
    compileall.compile_dir(package, quiet=1)
    private = package.parent / "private"
    change = diff("a/keras/models.py", "b/keras/models.py", "X = 1\n", "X = 2\n")
    applied = apply(read_diff(change), package, private)
    compiled = {path.name.partition(".")[0] for path in private.rglob("*.pyc")}
    assert compiled == {"__init__", "network"}, "that of a file as long and as old would be taken"
    assert applied.changed[0].read_text() == "X = 2\n"


def test_of_a_package_as_large_as_tensorflow_only_the_way_to_the_patch_is_copied(tmp_path: Path) -> None:
    package = tmp_path / "site" / "tensorflow"
    keras = package / "python" / "keras"
    keras.mkdir(parents=True)
    (package / "huge.so").write_text("")
    (package / "python" / "__init__.py").write_text("")
    (keras / "models.py").write_text(BEFORE)
    (keras / "backend.py").write_text(BEFORE)
    path = "tensorflow/python/keras/models.py"
    private = tmp_path / "private"
    applied = apply(read_diff(diff(f"a/{path}", f"b/{path}")), package, private)
    assert [changed.read_text() for changed in applied.changed] == [AFTER]
    assert (keras / "models.py").read_text() == BEFORE
    assert (private / "tensorflow" / "huge.so").is_symlink()
    assert (private / "tensorflow" / "python" / "keras" / "backend.py").is_symlink()
    assert not any(part.is_symlink() for part in (applied.changed[0], *list(applied.changed[0].parents)[:3]))
