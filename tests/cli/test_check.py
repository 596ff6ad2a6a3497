"""Models of one's own under the checks, with the real Keras: what is said of each."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clonediff.harness.answers.checked_model.inputs import InputsError
from clonediff.harness.answers.checked_model.looking import CheckWanted, look
from clonediff.harness.answers.checked_model.models import ModelError, parse, source_of
from clonediff.harness.answers.checked_model.processes import LONG, Second, try_cloners
from clonediff.harness.answers.checked_model.record import CheckedModel, Status
from clonediff.harness.cli.text.check import checked_text
from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.triage import Verdict
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from tests.planted import planted
from tests.waiting import PATIENCE


@pytest.fixture
def process(keras: SubjectProcess) -> SubjectProcess:
    return keras


DICT_INPUTS = tuple({"shape": [size], "dtype": "float32"} for size in (2, 3))


def check(models: Path, name: str, process: SubjectProcess, **wanted: Any) -> CheckedModel:
    return look(parse(str(models / name)), process, CheckWanted(seconds=PATIENCE, **wanted), load())


def verdicts(checked: CheckedModel) -> dict[str, str]:
    assert checked.status is Status.CHECKED, checked
    return {each.cloner: each.verdict for each in checked.clones}


def test_int_inputs_stay_within_the_vocabulary(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "several.keras", process, size=6, batch=3)
    assert verdicts(checked) == {"upstream": "faithful", "fixed": "faithful"}
    assert checked.inputs == ("ids: int32 (3, 6), below 5", "rest: float32 (3, 3)")
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


def test_a_class_of_ones_own_is_asked_for_and_taken(models: Path, process: SubjectProcess) -> None:
    without = check(models, "custom.keras", process)
    assert without.status is Status.NOT_LOADED
    assert "--custom" in without.advice[0]
    checked = check(models, "custom.keras", process, custom=models / "theirs.py")
    assert verdicts(checked) == {"upstream": "faithful", "fixed": "faithful"}


def test_a_subclassed_model_is_said_to_have_no_graph(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "subclassed.keras", process, custom=models / "theirs.py")
    assert checked.status is Status.NOT_CHECKED
    assert "Sub is a subclassed model" in checked.reason


@pytest.mark.parametrize("name", ["junk.keras", "cut.keras"])
def test_a_damaged_file_is_said_to_be_damaged(name: str, models: Path, process: SubjectProcess) -> None:
    checked = check(models, name, process)
    assert checked.status is Status.NOT_LOADED
    assert "damaged" in checked.advice[0]


@pytest.mark.parametrize(
    ("function", "status", "said"),
    [
        pytest.param("unbuilt", Status.NOT_CHECKED, "has not been built", id="unbuilt"),
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
            marks=pytest.mark.slow(reason="Keras starts anew; one whose time is over is lost in test_check_command"),
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
    checked = check(models, "theirs.py:unnamed", process, size=5)
    assert verdicts(checked) == {"upstream": "diverged", "fixed": "faithful"}
    assert [each.known for each in checked.breaks] == ["input-name"]


def test_a_size_is_found_that_the_model_takes(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "theirs.py:needs_four", process)
    assert verdicts(checked)["fixed"] == "faithful"
    assert checked.inputs[0] == "x: float32 (2, 4, 4)"
    assert checked.inputs[1].startswith("size 4, found by trying: with 32, ")


def test_inputs_suit_a_mask_and_a_table_of_positions(models: Path, process: SubjectProcess) -> None:
    checked = check(models, "theirs.py:masked", process, costly=False)
    assert verdicts(checked)["fixed"] == "faithful"
    assert checked.inputs[:2] == ("token_ids: int32 (2, 12), below 7", "padding_mask: int32 (2, 12), 0 and 1")
    asked = check(models, "theirs.py:masked", process, costly=False, sizes=(("token_ids", 5), ("padding_mask", 5)))
    assert asked.inputs == ("token_ids: int32 (2, 5), below 7", "padding_mask: int32 (2, 5), 0 and 1")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [((("tokens", 4),), "it has 'ids' (open), 'rest' (3)"), ((("rest", 4),), "nothing is open in the input 'rest'")],
    ids=["no such input", "nothing open"],
)
def test_a_size_of_no_open_input_is_refused(
    sizes: tuple[tuple[str, int], ...], said: str, models: Path, process: SubjectProcess
) -> None:
    with pytest.raises(InputsError) as raised:
        check(models, "several.keras", process, sizes=sizes)
    assert said in str(raised.value)


def test_inputs_of_a_file_are_taken_by_name(models: Path, process: SubjectProcess, tmp_path: Path) -> None:
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, rest=np.ones((4, 3), "float32"), ids=np.full((4, 2), 4))
    checked = check(models, "several.keras", process, arrays=arrays)
    assert verdicts(checked)["fixed"] == "faithful"
    assert checked.inputs[0] == "ids: int32 (4, 2), ids of the file"


def test_the_numbers_of_a_file_are_what_the_model_is_given(
    models: Path, process: SubjectProcess, tmp_path: Path
) -> None:
    # A number beyond the vocabulary is refused by the model: so it was that number, not one that was drawn.
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, rest=np.ones((1, 3), "float32"), ids=np.full((1, 2), 99))
    checked = check(models, "several.keras", process, arrays=arrays)
    assert checked.status is Status.NOT_CALLED
    assert "99" in checked.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"ids": (4, 2)}, "one for each input", id="too-few"),
        pytest.param({"ids": (4, 2), "rest": (4, 9)}, "expected (None, 3)", id="shape"),
    ],
)
def test_inputs_that_do_not_fit_are_named(
    given: dict[str, tuple[int, ...]], said: str, models: Path, process: SubjectProcess, tmp_path: Path
) -> None:
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, **{name: np.zeros(shape) for name, shape in given.items()})
    with pytest.raises(InputsError) as raised:
        check(models, "several.keras", process, arrays=arrays)
    assert said in str(raised.value)


def test_a_long_check_has_a_process_for_each_half_of_its_cloners(models: Path, process: SubjectProcess) -> None:
    said: list[str] = []
    case = Case(source_of(parse(str(models / "dict.keras")), process.subject), DICT_INPUTS, seed=3)
    options = {"timeout": PATIENCE, "seconds": LONG}
    with Second(process) as second:
        cloners = ("upstream", "fixed")
        found = try_cloners(case, process, second, cloners, load(), ("again",), **options, tell=said.append)
    assert [[*each.clones] for each in found] == [["upstream"], ["fixed"]]
    originals = [each.original for each in found]
    assert originals[0] is not None
    assert originals[1] is not None
    assert originals[0].inference == originals[1].inference
    assert {each.verdict for tried in found for each in tried.clones.values()} == {Verdict.FAITHFUL}
    assert any(each.startswith("cloning again with fixed: ") and each.endswith(" s left") for each in said), said


def test_another_cloner_answers_for_itself(models: Path, process: SubjectProcess) -> None:
    broken = planted("layer_renamed")
    checked = check(models, "several.keras", process, cloners=(broken, "fixed"), costly=False)
    assert verdicts(checked) == {broken: "diverged", "fixed": "faithful"}
    assert {each.blame for each in checked.breaks} == {"the cloner's own"}
    assert "only a name differs (the cloner faults:layer_renamed); nothing to do" in checked_text(checked)[0]


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
        pytest.param("theirs.py", "which function", id="no-function"),
        pytest.param("applications:../x", "applications:NAME", id="application"),
        pytest.param("applications:MobileNetV2:alpha", "OPTION=VALUE", id="application-option"),
        pytest.param("applications:MobileNetV2:alpha=1:alpha=2", "twice 'alpha=2'", id="application-twice"),
        pytest.param("applications:MobileNetV2:alpha=open('x')", "is no number", id="application-code"),
        pytest.param("applications:MobileNetV2:weights=imagenet", "weights=None", id="application-weights"),
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


@pytest.mark.parametrize("subject", ["tf_keras"])
def test_a_compiled_model_is_known_not_to_be_compiled_again(
    subject: str, warm: Callable[[str], SubjectProcess], tmp_path: Path
) -> None:
    (tmp_path / "compiled.py").write_text(
        "import tf_keras\n\n\ndef make():\n"
        "    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])\n"
        "    model.compile('sgd', 'mse')\n    return model\n"
    )
    checked = check(tmp_path, "compiled.py:make", warm(subject))
    assert verdicts(checked) == {"upstream": "diverged", "fixed": "diverged"}
    assert {(each.known, each.blame) for each in checked.breaks} == {("not-compiled", "both break")}
    line, spec = 465, importlib.util.find_spec("tf_keras.src.models")
    assert f"cloning.py:{line} " in checked.breaks[0].because
    cloning = Path((spec.submodule_search_locations or [""])[0] if spec else "") / "cloning.py"
    assert cloning.read_text().splitlines()[line - 1].startswith("def clone_model(")


def test_a_file_of_another_release_is_said_to_be_one(models: Path, tmp_path: Path, process: SubjectProcess) -> None:
    with zipfile.ZipFile(tmp_path / "other.keras", "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.99.0"}))
        archive.writestr(
            "config.json", json.dumps({"class_name": "Dense", "module": "keras.layers", "config": {"no": 1}})
        )
    checked = check(tmp_path, "other.keras", process)
    assert checked.status is Status.NOT_LOADED
    assert "saved by Keras 3.99.0" in checked.advice[0]


def test_an_application_that_is_not_there_points_to_the_list(process: SubjectProcess) -> None:
    checked = look(parse("applications:NoSuchNet"), process, CheckWanted(), load())
    assert checked.status is Status.NOT_LOADED
    assert "--list" in checked.advice[0]


def test_an_application_takes_what_its_function_takes(process: SubjectProcess) -> None:
    spec = "applications:MobileNetV2:alpha=0.35:input_shape=32,32,3:classes=4:weights=None"
    source = source_of(parse(spec), process.subject)
    called = "MobileNetV2(weights=None, alpha=0.35, input_shape=(32, 32, 3), classes=4)"
    assert source.endswith(f"model = keras.applications.{called}\n")
    refused = look(parse("applications:MobileNetV2:alfa=0.35"), process, CheckWanted(), load())
    assert (refused.status, refused.advice[0][:24]) == (Status.NOT_LOADED, "MobileNetV2 takes input_")
    assert "alpha" in refused.advice[0]
