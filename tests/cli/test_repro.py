"""`clonediff repro`: the script of a finding, by whatever names it, and what a run of it shows."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from clonediff.harness.cli import cli
from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.subjects import SubjectProcess, environment
from clonediff.reports.issue import issue
from clonediff.reports.records import Difference, Finding, Place, Severity
from tests.cli.finding_folders import folder_of, found, kept
from tests.command_line import imported_by
from tests.reports.making import finding, run_folder
from tests.waiting import PATIENCE

SCREEN = 45
"""The lines of a screen."""


def repro(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["repro", *map(str, arguments)])


@pytest.fixture(scope="module")
def refused(keras: SubjectProcess) -> Finding:
    return found(keras, "lambda-refused")


@pytest.fixture(scope="module")
def renamed(keras: SubjectProcess) -> Finding:
    return found(keras, "input-name")


@pytest.fixture
def run(refused: Finding, renamed: Finding, tmp_path: Path) -> Path:
    return kept(tmp_path / "run", refused, renamed)


def test_the_script_is_a_screen_with_the_versions_it_was_seen_on(
    run: Path, refused: Finding, keras: SubjectProcess
) -> None:
    done = repro(run, refused.id)
    assert done.exit_code == 0
    ast.parse(done.stdout)
    lines = done.stdout.splitlines()
    assert len(lines) <= SCREEN
    assert lines[0] == "import keras"
    assert "clone = keras.models.clone_model(model)" in lines
    assert lines[-1].startswith(f"# keras {keras.ready.keras}, tensorflow ")
    assert done.stdout == (folder_of(run, refused) / "repro.py").read_text()


@pytest.mark.parametrize("name", ["folder", "file", "id", "prefix", "name of the folder", "link"])
def test_a_finding_is_found_by_what_names_it(name: str, run: Path, refused: Finding) -> None:
    folder = folder_of(run, refused)
    (run.parent / "latest").symlink_to(run.name)
    arguments: dict[str, tuple[str | Path, ...]] = {
        "folder": (folder,),
        "file": (folder / "finding.json",),
        "id": (run, refused.id),
        "prefix": (run, "made-"),
        "name of the folder": (run, folder.name),
        "link": (run.parent / "latest", refused.id),
    }
    done = repro(*arguments[name])
    assert done.exit_code == 0, done.output
    assert "layers.Lambda(" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("zz",), "no finding begins with 'zz'; there are: keras-upstream-made-", id="no such id"),
        pytest.param((), "2 findings begin so: name one: keras-upstream-made-", id="no id"),
        pytest.param(("keras-upstream",), "2 findings begin so: name one: keras-upstream-made-", id="several"),
        pytest.param(("made", "--run", "--issue"), "choose one", id="both"),
    ],
)
def test_what_is_not_to_be_had_is_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str, run: Path) -> None:
    done = repro(run, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_run_of_one_finding_needs_no_id_and_one_of_none_has_none(renamed: Finding, tmp_path: Path) -> None:
    assert repro(kept(tmp_path / "one", renamed)).exit_code == 0
    done = repro(kept(tmp_path / "none"))
    assert done.exit_code == 2
    assert "no finding begins with ''; there are: none" in done.stderr


@pytest.mark.parametrize("content", [b"", b'{"id": 3}', b"[" * 5000], ids=["empty", "other", "deep"])
def test_a_finding_that_cannot_be_read_is_named(content: bytes, run: Path, refused: Finding) -> None:
    path = folder_of(run, refused) / "finding.json"
    path.write_bytes(content)
    for arguments in ((path,), (run, refused.id)):
        done = repro(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "finding.json: " in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_run_shows_the_break(run: Path, refused: Finding) -> None:
    done = repro(run, refused.id, "--run")
    assert (done.exit_code, done.stdout) == (
        0,
        f"{refused.id} on keras: reproduced: it ends in ValueError, as it should\n",
    )


@pytest.mark.slow(reason="it installs a release")
def test_a_run_says_that_a_release_does_not_break(
    run: Path, refused: Finding, release_place: Callable[[str], environment.Place]
) -> None:
    release_place("keras==3.10.0")
    done = repro(run, refused.id, "--run", "--subject", "keras==3.10.0")
    assert done.exit_code == 1
    assert "on keras==3.10.0: does not fail as it should: it should end in ValueError, and passes" in done.stdout


@pytest.mark.slow(reason="a Keras of its own; --run runs a script alone, too")
def test_a_comparison_that_fails_says_what_it_compared(run: Path, keras: SubjectProcess, tmp_path: Path) -> None:
    frozen = found(keras, "model-trainable")
    script = repro(kept(tmp_path / "frozen", frozen))
    path = tmp_path / "repro.py"
    path.write_text(script.stdout)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr.rstrip().endswith("AssertionError: True in the clone, False in the model")


def test_a_script_that_cannot_run_alone_is_exit_code_2(renamed: Finding, tmp_path: Path) -> None:
    done = repro(kept(tmp_path / "run", msgspec.structs.replace(renamed, cloner="fixed")), "--run")
    assert done.exit_code == 2
    assert ": cannot be run: " in done.stdout


@pytest.mark.parametrize(
    ("option", "stands"),
    [
        ("", "clone = keras.models.clone_model(model)\n"),
        ("--as-pytest", '\ndef test_lambda_refused():\n    """A Lambda'),
        ("--issue", "# A Lambda of a Python lambda cannot be cloned\n"),
    ],
)
def test_a_known_issue_has_its_script(option: str, stands: str) -> None:
    done = repro("lambda-refused", *filter(None, [option]))
    assert done.exit_code == 0, done.output
    assert stands in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lambda-refusd",), "no known issue of that id; did you mean lambda-refused"),
        (("nothing-like-it",), "name a finding's folder, a run and an id (runs/latest ID), or a known issue"),
    ],
)
def test_a_name_of_nothing_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = repro(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.slow(reason="a Keras of its own")
def test_a_finding_as_a_test_fails_as_it_is_expected_to(run: Path, refused: Finding, tmp_path: Path) -> None:
    done = repro(run, refused.id, "--as-pytest")
    assert done.exit_code == 0, done.output
    (tmp_path / "test_refused.py").write_text(done.stdout)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_refused.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "1 xfailed" in ran.stdout, ran.stdout


def test_the_issue_is_the_text_that_was_kept_or_is_made(run: Path, refused: Finding) -> None:
    folder = folder_of(run, refused)
    script = (folder / "repro.py").read_text()
    assert repro(folder, "--issue").stdout == issue(refused, script)
    (folder / "issue.md").write_text("# As I would put it\n")
    assert repro(folder, "--issue").stdout == "# As I would put it\n"


def test_a_name_with_braces_is_a_name() -> None:
    where = Place("a{b}{}", "Dense", 1)
    root = Difference("structure", "layers['a'].trainable", "trainable", "true", "false", Severity.TRAINS, where)
    text = reproducer("import keras\nmodel = keras.Sequential()\n", "keras", root).text
    ast.parse(text)
    assert 'it.get_layer("a{b}{}").trainable' in text


def test_nothing_in_a_file_ends_a_comment_or_does_anything_to_a_terminal(tmp_path: Path) -> None:
    hostile = "x\x1b[31m\x07\x9b2J\u202e\nimport os; os.abort()\n"
    root = finding(3).differences[0]
    bad = msgspec.structs.replace(root, path=hostile, expected=hostile, found=hostile, aspect=hostile)
    told = finding(3, differences=(bad,), versions={"keras\nimport os\n": hostile}, subject="keras", cloner=hostile)
    for cloner in (hostile, "upstream"):
        run = run_folder(tmp_path / cloner[0], [msgspec.structs.replace(told, cloner=cloner)])
        for option in ((), ("--issue",)):
            done = repro(run, *option)
            assert done.exit_code == 0, done.output
            assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*done.stdout, *done.stderr}
        tree = ast.parse(repro(run).stdout)
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "os"]


def test_reading_imports_neither_keras_nor_hypothesis(run: Path, refused: Finding) -> None:
    imported = imported_by("repro", str(run), refused.id)
    assert "msgspec" in imported
    assert not imported & {"keras", "tensorflow", "tf_keras", "hypothesis"}
