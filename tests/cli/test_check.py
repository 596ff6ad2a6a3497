"""Models of one's own under the checks, with the real Keras: what is said of each."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clonediff.harness.answers.checked_model.looking import look
from clonediff.harness.answers.checked_model.models import ModelError, parse
from clonediff.harness.answers.checked_model.record import CheckedModel, Status
from clonediff.harness.cli.text.check import checked_text
from clonediff.harness.subjects import SubjectProcess
from clonediff.reports.known import load
from clonediff.reports.markup import one_line


@pytest.fixture
def process(keras: SubjectProcess) -> SubjectProcess:
    return keras


def check(models: Path, name: str, process: SubjectProcess, **wanted: Any) -> CheckedModel:
    return look(parse(str(models / name)), process, load(), **wanted)


def verdicts(checked: CheckedModel) -> dict[str, str]:
    assert checked.status is Status.CHECKED, checked
    return {each.cloner: each.verdict for each in checked.clones}


def test_int_inputs_stay_within_the_vocabulary(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "several.keras", process)
    assert verdicts(checked) == {"upstream": "faithful", "fixed": "faithful"}
    assert checked.inputs == ("ids: int32 (2, 32), below 5", "rest: float32 (2, 3)")
    assert checked.layers == 6


def test_a_model_of_a_dict_is_fed_by_name(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "dict.keras", process)
    assert verdicts(checked) == {"upstream": "faithful", "fixed": "faithful"}
    assert checked.inputs == ("a: float32 (2, 2)", "b: float32 (2, 3)")


def test_a_compiled_sequential_keeps_all_but_the_paths_of_its_layers(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "sequential.keras", process)
    assert verdicts(checked) == {"upstream": "diverged", "fixed": "faithful"}
    assert {each.known for each in checked.breaks} == {"open-name-scope", "layer-path"}


def test_a_legacy_file_is_checked(models: Path, process: SubjectProcess) -> None:
    assert verdicts(check(models, "legacy.h5", process))["fixed"] == "faithful"


def test_a_file_with_code_is_not_loaded_without_leave(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "lambda.keras", process)
    assert checked.status is Status.NOT_LOADED
    assert "'double'" in checked.reason
    assert "--unsafe" in checked.advice[0]


@pytest.mark.parametrize("content", [b"PK\x05\x06" + bytes(18), b"\x89HDF\r\n\x1a\n cut"], ids=["zip", "HDF5"])
def test_a_file_that_may_hold_code_is_not_loaded_without_leave(
    content: bytes, process: SubjectProcess, tmp_path: Path
) -> None:
    (tmp_path / "unread.keras").write_bytes(content)
    checked = check(tmp_path, "unread.keras", process)
    assert checked.status is Status.NOT_LOADED
    assert "whether the file holds code cannot be told" in checked.reason
    assert "--unsafe" in checked.advice[-1]


def test_upstream_breaks_on_a_lambda_and_fixed_holds(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "lambda.keras", process, unsafe=True)
    assert verdicts(checked) == {"upstream": "crashed", "fixed": "faithful"}
    (found,) = checked.breaks
    assert (found.known, found.severity, found.blame) == ("lambda-refused", "it crashes", "upstream bug")
    text = "\n".join(checked_text(checked))
    assert "from clonediff import clone_model" in text
    assert "known: lambda-refused" in text
    assert "safe_mode=False" in found.script


def test_a_class_of_ones_own_is_asked_for(models: Path, process: SubjectProcess) -> None:
    without = check(models, "custom.keras", process)
    assert without.status is Status.NOT_LOADED
    assert "FILE.py:FUNCTION" in without.advice[0]


@pytest.mark.parametrize("name", ["junk.keras", "cut.keras"])
def test_a_damaged_file_is_said_to_be_damaged(name: str, models: Path, process: SubjectProcess) -> None:
    checked = check(models, name, process)
    assert checked.status is Status.NOT_LOADED
    assert "damaged" in checked.advice[0]


@pytest.mark.parametrize(
    ("function", "status", "said"),
    [
        pytest.param("unbuilt", Status.NOT_CHECKED, "has not been built", id="unbuilt"),
        pytest.param("Sub", Status.NOT_CHECKED, "Sub is a subclassed model", id="subclassed"),
        pytest.param("nothing", Status.NOT_CHECKED, "NoneType", id="nothing"),
        pytest.param("of_another", Status.NOT_CHECKED, "--subject tf_keras", id="another-keras"),
        pytest.param("nothing", Status.NOT_CHECKED, "let nothing return the model", id="nothing-is-returned"),
        pytest.param("absent", Status.NOT_LOADED, "the functions of theirs.py are unnamed, needs_four", id="absent"),
        pytest.param("needs_many", Status.NOT_CALLED, "sizes 32, 4036, 16, ", id="no-size"),
        pytest.param(
            "dies",
            Status.LOST,
            "SIGABRT",
            id="dies",
            marks=pytest.mark.slow(reason="Keras starts anew; tests/subjects has processes that are lost"),
        ),
    ],
)
def test_a_function_that_makes_nothing_to_check(
    function: str, status: Status, said: str, models: Path, process: SubjectProcess
) -> None:
    checked = check(models, f"theirs.py:{function}", process)
    assert checked.status is status, checked
    assert said in "\n".join((checked.reason, *checked.advice))


def test_a_function_makes_the_model(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "theirs.py:unnamed", process)
    assert verdicts(checked) == {"upstream": "diverged", "fixed": "faithful"}
    assert [each.known for each in checked.breaks] == ["input-name"]


def test_a_size_is_found_that_the_model_takes(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "theirs.py:needs_four", process)
    assert verdicts(checked)["fixed"] == "faithful"
    assert checked.inputs[0] == "x: float32 (2, 4, 4)"
    assert checked.inputs[1].startswith("size 4, found by trying: with 32, ")


def test_inputs_suit_a_mask_and_a_table_of_positions(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "theirs.py:masked", process)
    assert verdicts(checked)["fixed"] == "faithful"
    assert checked.inputs[:2] == ("token_ids: int32 (2, 12), below 7", "padding_mask: int32 (2, 12), 0 and 1")


def test_no_name_reaches_the_terminal_as_a_command(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "escapes.keras", process, unsafe=True)
    text = "\n".join(checked_text(checked))
    assert "\\x1b[31mred" in text
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\u202eb", "a\\x202eb"), ("a\n b", "a b"), ("naïve 層", "naïve 層")],
)
def test_plain_text_is_one_line_that_can_be_printed(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param("none.keras", "no such file", id="missing"),
        pytest.param(".", "no such file", id="folder"),
        pytest.param("theirs.py", "which function", id="no-function"),
        pytest.param("json.py:make", "installed", id="taken"),
    ],
)
def test_a_model_that_names_nothing_is_refused(
    spec: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text("")
    (tmp_path / "json.py").write_text("")
    with pytest.raises(ModelError) as raised:
        parse(spec)
    assert said in str(raised.value)


def test_nothing_is_said_of_a_compiled_model_of_tf_keras_that_is_not_compiled_again(
    warm: Callable[[str], SubjectProcess], tmp_path: Path
) -> None:
    (tmp_path / "compiled.py").write_text(
        "import tf_keras\n\n\ndef make():\n"
        "    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])\n"
        "    model.compile('sgd', 'mse')\n    return model\n"
    )
    checked = check(tmp_path, "compiled.py:make", warm("tf_keras"))
    assert verdicts(checked) == {"upstream": "faithful", "fixed": "faithful"}


def test_a_file_of_another_release_is_said_to_be_one(tmp_path: Path, process: SubjectProcess) -> None:
    with zipfile.ZipFile(tmp_path / "other.keras", "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.99.0"}))
        archive.writestr(
            "config.json", json.dumps({"class_name": "Dense", "module": "keras.layers", "config": {"no": 1}})
        )
    checked = check(tmp_path, "other.keras", process)
    assert checked.status is Status.NOT_LOADED
    assert "saved by Keras 3.99.0" in checked.advice[0]
