"""What a word of `clonediff check` stands for: a model, those of a file of Python, those of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.harness.answers.checked_model.models import ModelError
from clonediff.harness.answers.checked_model.several import gather

TOWERS = """
raise RuntimeError("it is read, and not run")


def make_plain(units=3, *, name="plain"):
    pass


def make_block(units, *, name):
    pass


async def make_later():
    pass


def helper():
    def make_inner():
        pass


class Towers:
    def make_of_a_class(self):
        pass


def make_wide():
    pass
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    models = tmp_path / "own_models"
    (models / "within").mkdir(parents=True)
    (models / "own_towers.py").write_text(TOWERS)
    (models / "constants.py").write_text("UNITS = 3\n")
    for name in ("b.keras", "a.h5", "a.weights.h5", ".hidden.keras", "notes.txt", "within/deeper.keras"):
        (models / name).write_bytes(b"")
    return tmp_path


def specs(*words: str) -> list[str]:
    return [each.spec for each in gather(words).models]


def test_a_file_of_python_is_its_functions_that_make_a_model() -> None:
    found = gather(["own_models/own_towers.py"])
    assert [each.spec for each in found.models] == [
        "own_models/own_towers.py:make_plain",
        "own_models/own_towers.py:make_wide",
    ]
    assert {(each.how, each.name) for each in found.models} == {("function", "make_plain"), ("function", "make_wide")}
    assert found.left_out == ("own_models/own_towers.py: make_block needs arguments (units, name), and is left out",)


@pytest.mark.parametrize("folder", ["own_models", "./own_models/", "{project}/own_models"])
def test_a_folder_is_the_models_that_lie_in_it(folder: str, project: Path) -> None:
    found = [Path(each).name for each in specs(folder.format(project=project))]
    assert found == ["a.h5", "b.keras", "own_towers.py:make_plain", "own_towers.py:make_wide"]


def test_the_folder_at_hand_is_a_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "own_models")
    assert specs(".")[:2] == ["a.h5", "b.keras"]


def test_a_model_that_is_named_twice_is_checked_once() -> None:
    words = ("own_models/b.keras", "own_models", "./own_models/b.keras", "own_models/own_towers.py:make_wide")
    assert len(specs(*words)) == 4
    assert specs("applications:VGG16", "applications:VGG16", "applications") == ["applications:VGG16", "applications"]


def test_a_file_that_is_typed_in_two_ways_is_checked_once(project: Path) -> None:
    folder = project / "own_models"
    words = ("own_models/b.keras", "own_models/../own_models/b.keras", f"{folder}/within/../b.keras")
    assert specs(*words) == ["own_models/b.keras"]
    towers = ("own_models/own_towers.py", "own_models/within/../own_towers.py:make_wide")
    assert len(specs(*towers)) == 2
    (project / "elsewhere" / "within").mkdir(parents=True)
    (project / "elsewhere" / "b.keras").write_bytes(b"")
    (folder / "link").symlink_to(project / "elsewhere" / "within")
    (folder / "named.keras").symlink_to("b.keras")
    words = ("own_models/b.keras", "own_models/link/../b.keras", "own_models/named.keras")
    assert len(specs(*words)) == 3, "another file behind a link, and another name"


@pytest.mark.parametrize(
    "files",
    [["saved_model.pb"], ["config.json", "metadata.json", "model.weights.h5"], ["checkpoint_metadata"]],
    ids=["SavedModel", "not zipped", "Orbax"],
)
def test_a_folder_that_is_a_model_is_one(files: list[str], project: Path) -> None:
    (project / "saved").mkdir()
    for name in files:
        (project / "saved" / name).write_bytes(b"")
    assert specs("saved") == ["saved"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("own_bare.py", "X = 1\n", "it has no function: write own_bare.py:FUNCTION, say", id="none"),
        pytest.param(
            "own_build.py",
            "def build():\n    pass\n",
            "the functions in it are build: write own_build.py:build, say",
            id="named",
        ),
        pytest.param("own_need.py", "def make_a(x):\n    pass\n", "give the arguments defaults", id="arguments"),
        pytest.param("own_cut.py", "def make_a(:\n", "in line 1: invalid syntax; mend it", id="syntax"),
        pytest.param("own_null.py", "def make_a(): 0\0", "null bytes", id="bytes"),
        pytest.param("own.dot.py", "def make_a():\n    pass\n", "rename the file", id="dot"),
        pytest.param("json.py", "def make_a():\n    pass\n", "rename the file", id="taken"),
        pytest.param("absent.py", None, "no such file", id="missing"),
    ],
)
def test_a_file_that_makes_no_model_says_what_to_do(name: str, text: str | None, said: str, project: Path) -> None:
    if text is not None:
        (project / name).write_text(text)
    with pytest.raises(ModelError) as raised:
        gather([name])
    assert name in str(raised.value)
    assert said in str(raised.value)


def test_a_folder_without_a_model_says_what_is_looked_for(project: Path) -> None:
    (project / "bare").mkdir()
    (project / "bare" / "own_need.py").write_text("def make_a(x):\n    pass\n")
    with pytest.raises(ModelError) as raised:
        gather(["bare"])
    assert str(raised.value).startswith("bare: no model in this folder (bare/own_need.py: make_a needs arguments (x), ")
    assert "expected files that end in .keras or .h5, or FILE.py" in str(raised.value)


def test_a_folder_with_python_that_cannot_be_read_hides_nothing(project: Path) -> None:
    (project / "own_models" / "own_cut.py").write_text("def make_a(:\n")
    with pytest.raises(ModelError, match="own_models/own_cut.py: which functions it has cannot be told in line 1"):
        gather(["own_models"])


def test_a_name_that_nobody_can_be_told_is_refused(project: Path) -> None:
    (project / "own_models" / "\udcff.keras").write_bytes(b"")
    with pytest.raises(ModelError, match="is no UTF-8: rename it"):
        gather(["own_models"])
