"""Known issues: how their scripts are read, what is wrong with one, and what an issue explains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clonediff.reports.known import Pattern, load, matches
from clonediff.reports.records import Cause, Difference, Place, Raised, RecordError, Severity

GOOD = """\
\"\"\"A title.

keras/src/x.py:1 forgets.
\"\"\"

# /// clonediff
# generation = "keras"
# severity = "property"
# since = "3.4.0"
# until = "3.13.0"
# fingerprint = "structure-config"
#
# [[match]]
# check = "structure"
# aspect = ["config.a", "config.b*"]
# kind = "Lambda"
# ///

import keras

model = keras.Sequential()
clone = keras.models.clone_model(model)
"""


def written(folder: Path, text: str) -> Path:
    (folder / "one.py").write_text(text, encoding="utf-8")
    return folder


def cause(kind: str = "Lambda", **fields: Any) -> Cause:
    facts: dict[str, Any] = {
        "check": "structure",
        "path": "layers['a'].config.b",
        "aspect": "config.b",
        "expected": "1",
        "found": "2",
        "severity": Severity.PROPERTY,
        "first": Place("a", kind, inside="Functional"),
    }
    return Cause("f", Difference(**{**facts, **fields}), given=("clone_function",))


def test_a_script_is_read(tmp_path: Path) -> None:
    (issue,) = load(written(tmp_path, GOOD)).issues
    assert (issue.id, issue.title, issue.because) == ("one", "A title", "keras/src/x.py:1 forgets")
    assert (issue.severity, issue.raises, issue.script) == (Severity.PROPERTY, "AssertionError", GOOD)
    assert [issue.is_in(release) for release in ("3.3.3", "3.4.0", "3.13.0.dev1")] == [False, True, False]
    assert issue.explains(cause())


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        pytest.param(Pattern(check="structure"), True, id="check"),
        pytest.param(Pattern(check="structure", aspect=("config.a", "config.*")), True, id="one of several"),
        pytest.param(Pattern(check="structure", path="layers['*'].config.b"), True, id="brackets are no wildcards"),
        pytest.param(Pattern(check="structure", inside=""), False, id="inside nothing"),
        pytest.param(Pattern(check="structure", inside="?*"), True, id="inside something"),
        pytest.param(Pattern(check="structure", kind="Dense"), False, id="another class"),
        pytest.param(Pattern(check="structure", given="clone_function"), True, id="an argument"),
        pytest.param(Pattern(check="structure", given="input_tensors"), False, id="another argument"),
        pytest.param(Pattern(check="structure", exception="*Error"), False, id="an exception"),
    ],
)
def test_a_pattern_matches_in_every_field(pattern: Pattern, matched: bool) -> None:
    assert matches(pattern, cause()) is matched


def test_a_pattern_matches_an_exception_by_its_type_and_frame() -> None:
    raised = cause(check="made", raised=Raised("ValueError", "no", "keras/src/a.py:f"))
    assert matches(Pattern(check="made", exception="Value*", frame="keras/src/a.py:*"), raised)
    assert not matches(Pattern(check="made", exception="ValueError", frame="keras/src/b.py:f"), raised)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("A title.", "", "the docstring needs a title", id="no title"),
        pytest.param("keras/src/x.py:1 forgets.", "", "the docstring needs a title", id="no reason"),
        pytest.param("# /// clonediff", "# /// script", "found 0", id="no block"),
        pytest.param('"keras"', '"keras1"', "Invalid enum value 'keras1' - at `$.generation`", id="generation"),
        pytest.param('"property"', '"bad"', "`severity` is 'bad', expected one of crashes", id="severity"),
        pytest.param("since =", "sinse =", "unknown field `sinse`", id="unknown field"),
        pytest.param("kind =", "kidn =", "unknown field `kidn` - at `$.match[0]`", id="unknown field of a match"),
        pytest.param('"3.4.0"', '"soon"', "`since` is 'soon', expected a release", id="no release"),
        pytest.param('"3.13.0"', '"3.4.0"', "`until` 3.4.0 is not after `since` 3.4.0", id="an empty range"),
        pytest.param('# check = "structure"\n', "", "[[match]] 1 has no `check`", id="no check"),
        pytest.param('kind = "Lambda"', "kind = ", "is not TOML", id="no TOML"),
        pytest.param("import keras", "import", "not Python", id="no Python"),
    ],
)
def test_a_wrong_script_is_an_error_that_names_it(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(RecordError) as caught:
        load(written(tmp_path, GOOD.replace(old, new)))
    assert str(caught.value).startswith(f"{tmp_path / 'one.py'}: ")
    assert message in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nowhere: not a folder"):
        load(tmp_path / "nowhere")


def test_an_empty_folder_knows_nothing(tmp_path: Path) -> None:
    assert load(tmp_path).issues == ()
