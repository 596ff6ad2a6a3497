"""What `clonediff doctor` says of this machine, and of one that lacks something."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from msgspec.structs import replace

from clonediff.harness.answers.doctor import GIB, Diagnosis, Folder, SubjectHealth, advice, diagnose
from clonediff.harness.cli.doctor import diagnosis_text
from tests.command_line import Command, ran


def doctor(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return ran("doctor", *arguments, cwd=cwd, **environment)


@pytest.fixture(scope="module")
def here() -> Diagnosis:
    return diagnose(start=False)


def test_the_installed_keras_works(
    clonediff: Command, warm_commands: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    code, out, err = clonediff("doctor", "--json")
    assert code == 0, err
    said = json.loads(out)
    assert said["works"] is True
    by_name = {each["subject"]: each for each in said["subjects"]}
    assert by_name["keras"]["versions"]["keras"] == version("keras") == said["packages"]["keras"]
    assert by_name["keras"]["verdicts"] == {"upstream": "faithful", "fixed": "faithful"}
    assert by_name["tf_keras"]["works"] is True
    assert said["releases"] == {}
    assert said["folders"]["cache"]["path"] == str(tmp_path / "cache")
    assert said["cores"] == len(os.sched_getaffinity(0))
    # It only looks: no folder is made, and nothing is left in one.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(reason="it starts tf_keras as well; test_check_command has a Keras that does not start")
def test_a_keras_that_does_not_start_is_exit_code_2(tmp_path: Path) -> None:
    broken = tmp_path / "keras"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('half of it is missing')\n")
    done = doctor(cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2, done.stdout
    assert "keras does not work: does not start: ImportError: half of it is missing" in done.stdout
    assert done.stdout.rstrip().endswith("the installed Keras does not work")


def test_no_subject_is_started_where_that_is_not_wanted(here: Diagnosis) -> None:
    keras_here = next(each for each in here.subjects if each.subject == "keras")
    assert (keras_here.works, keras_here.seconds, here.works) == (None, 0.0, None)
    *lines, last = diagnosis_text(here)
    assert "is here, not started" in "\n".join(lines)
    assert f"git: {shutil.which('git') or 'none'}" in lines
    assert last == "the installed Keras is here; it was not started, so whether it works is not known"


def test_a_keras_that_was_not_started_is_exit_code_0_and_not_said_to_work(tmp_path: Path) -> None:
    done = doctor("--no-start", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["works"] is None


def test_no_keras_at_all_does_not_work(here: Diagnosis) -> None:
    others = tuple(each for each in here.subjects if each.subject != "keras")
    lacking = replace(here, subjects=(SubjectHealth("keras", False, "keras is not installed"), *others))
    assert lacking.works is False
    assert [*diagnosis_text(lacking)][-1] == "the installed Keras does not work"


def test_no_keras_is_imported_in_this_process(tmp_path: Path) -> None:
    diagnosed = "from clonediff.harness.answers.doctor import diagnose\ndiagnose(start=False)"
    code = f"import sys\n{diagnosed}\nprint('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    found = diagnose(start=False, runs=taken)
    assert found.folders["runs"].problem
    assert any(str(taken) in line and "--out" in line for line in found.advice)


LACKING = {
    "a-backend": ({"packages": {"jax": None}}, "pip install 'clonediff[jax]'"),
    "what-it-needs": ({"packages": {"hypothesis": None}}, "pip install --upgrade clonediff"),
    "a-broken-subject": (
        {"subjects": (SubjectHealth("keras", False, "does not start: ModuleNotFoundError: No module named 'scipy'"),)},
        "pip install scipy",
    ),
    "a-broken-release": ({"releases": {"keras==3.1.1": "cut"}}, "clonediff subjects remove keras==3.1.1"),
    "interpreters": (
        {"pythons": {"3.7": None, "3.8": None, "3.11": "here"}},
        "pyenv install 3.7 3.8, or uv python install 3.8",
    ),
    "a-gpu": ({"gpus": ()}, "@gpu"),
    "a-browser": ({"browser": None}, "chromium"),
    "git": ({"git": None}, "clonediff judge"),
    "memory": ({"available": GIB // 2}, "0.5 GiB of memory"),
    "a-full-disk": ({"folders": {"cache": Folder("/full", GIB // 4)}}, "0.2 GiB are free for /full"),
    "a-closed-cache": ({"folders": {"cache": Folder("/closed", GIB, "Read-only")}}, "CLONEDIFF_CACHE"),
}


@pytest.mark.parametrize(("lacking", "said"), LACKING.values(), ids=LACKING)
def test_what_is_missing_has_a_line_of_advice(lacking: dict[str, object], said: str) -> None:
    whole = Diagnosis(
        python="3.12.0",
        packages={"keras": "3.15.1"},
        subjects=(SubjectHealth("keras", True),),
        releases={"keras==3.1.1": None},
        pythons={"3.7": "here"},
        gpus=("GPU 0",),
        browser="here",
        git="here",
        cores=2,
        memory=8 * GIB,
        available=8 * GIB,
        folders={"cache": Folder("/cache", 50 * GIB)},
        advice=(),
    )
    assert list(advice(whole)) == []
    (line,) = advice(replace(whole, **lacking))
    assert said in line
