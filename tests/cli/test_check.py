"""`clonediff check`: what is said of a model of one's own, with the real Keras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clonediff.harness.answers.check import Checked, ModelError, check
from clonediff.harness.answers.text import checked_text
from clonediff.reports.markup import one_line
from tests.command_line import ran


def verdicts(checked: Checked) -> dict[str, list[str | None]]:
    """The known issues that each cloner shows."""
    return {name: [cause.known for cause in causes] for name, causes in checked.clones.items()}


FAITHFUL: dict[str, list[str | None]] = {"upstream": [], "fixed": []}


@pytest.mark.parametrize(
    ("model", "expected", "inputs"),
    [
        pytest.param("several.keras", FAITHFUL, ("ids: int32 (2, 32), below 5", "rest: float32 (2, 3)"), id="several"),
        pytest.param("dict.keras", FAITHFUL, ("a: float32 (2, 2)", "b: float32 (2, 3)"), id="a dict"),
        pytest.param("theirs.py:unnamed", {**FAITHFUL, "upstream": ["input-name"]}, None, id="a name"),
        pytest.param("theirs.py:needs_four", FAITHFUL, ("x: float32 (2, 4, 4)",), id="a size that is tried"),
        pytest.param(
            "theirs.py:masked",
            FAITHFUL,
            ("token_ids: int32 (2, 12), below 7", "padding_mask: int32 (2, 12), 0 and 1"),
            id="a mask and a table of positions",
        ),
        pytest.param("theirs.py:of_tf_keras", FAITHFUL, None, id="tf_keras"),
        pytest.param("tf.keras", FAITHFUL, None, id="saved by tf_keras"),
    ],
)
def test_a_model_is_fed_what_suits_it(
    model: str, expected: dict[str, list[str | None]], inputs: tuple[str, ...] | None, models: Path
) -> None:
    checked = check(str(models / model))
    assert verdicts(checked) == expected
    assert not checked.fails()
    assert inputs is None or checked.inputs == inputs
    assert ("tf_keras" in checked.versions) == ("tf" in model)


def test_what_upstream_breaks_fails_unless_it_is_ignored(models: Path) -> None:
    checked = check(str(models / "sequential.keras"))
    assert {cause.known for cause in checked.causes} == {"open-name-scope", "layer-path"}
    ids = [cause.id for cause in checked.causes]
    assert not checked.fails(ids) and not checked.fails(["open-name-scope", "layer-path"])


def test_a_crash_hides_nothing(models: Path) -> None:
    """A refused Lambda, beside a layer, a loss and a metric whose configs lose an argument."""
    checked = check(str(models / "theirs.py:loses_more"))
    assert verdicts(checked) == {"upstream": ["lambda-refused"], "fixed": []}
    assert {(cause.known, cause.root.expected, cause.root.found) for cause in checked.alone} == {
        ("config-tells-a-part", "0.25", "1.0"),
        ("compile-huber", "0.5", "1.0"),
        ("recurrent-use-cudnn", "False", "'auto'"),
    }
    assert checked.fails(["lambda-refused"])
    text = "\n".join(checked_text(checked))
    assert "revived alone from their configs:" in text and "loss.Huber.delta (known: compile-huber)" in text
    assert "1 more: model.compiled.metrics[0].CosineSimilarity.axis" in text


@pytest.mark.parametrize(
    ("model", "said"),
    [
        pytest.param("none.keras", "no such file", id="missing"),
        pytest.param("legacy.h5", "expected FILE.keras or FILE.py:FUNCTION", id="another format"),
        pytest.param("theirs.py", "expected FILE.keras or FILE.py:FUNCTION", id="no function"),
        pytest.param("theirs.py:absent", "has no attribute 'absent'", id="another function"),
        pytest.param("theirs.py:nothing", "found NoneType", id="nothing"),
        pytest.param("theirs.py:unbuilt", "is not built", id="unbuilt"),
        pytest.param("theirs.py:Sub", "Sub is subclassed", id="subclassed"),
        pytest.param("theirs.py:needs_many", "it cannot be called on the inputs", id="no size"),
        pytest.param("junk.keras", "junk.keras is damaged", id="junk"),
        pytest.param("cut.keras", "cut.keras is damaged", id="cut"),
        pytest.param("custom.keras", "check FILE.py:FUNCTION", id="a class of one's own"),
        pytest.param("lambda.keras", "Requested the deserialization of a `Lambda`", id="a lambda"),
    ],
)
def test_what_cannot_be_checked_is_said(model: str, said: str, models: Path) -> None:
    with pytest.raises(ModelError) as raised:
        check(str(models / model))
    assert said in str(raised.value)


def test_a_cloner_of_ones_own(models: Path) -> None:
    (models / "cloners_of_mine.py").write_text("def itself(model):\n    return model\n")
    checked = check(str(models / "dict.keras"), [f"{models}/cloners_of_mine:itself"])
    assert checked.fails() and checked.causes[0].happens == "the clone trains differently"
    with pytest.raises(ModelError, match="there is no clones in cloners_of_mine; it has itself"):
        check(str(models / "dict.keras"), [f"{models}/cloners_of_mine:clones"])


def test_no_name_reaches_the_terminal_as_a_command(models: Path) -> None:
    text = "\n".join(checked_text(check(str(models / "theirs.py:escapes"))))
    assert "\\x1b[31mred" in text
    assert not {"\x1b", "\x07"} & {*text}


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\u202eb", "a\\x202eb"), ("a\n b", "a b"), ("naïve 層", "naïve 層")],
)
def test_plain_text_is_one_line_that_can_be_printed(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_the_command_prints_a_script_that_fails_alone(models: Path, tmp_path: Path) -> None:
    done = ran("check", "theirs.py:loses_more", "--script", cwd=models)
    assert done.returncode == 1 and "theirs.py:loses_more: cannot be cloned (upstream)" in done.stderr
    script = tmp_path / "repro.py"
    script.write_text(done.stdout)
    alone = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert "ValueError: Requested the deserialization of a `Lambda`" in alone.stderr


def test_the_exit_codes_of_the_command(models: Path) -> None:
    done = ran("check", "dict.keras", "--json", cwd=models)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["clones"] == {"fixed": [], "upstream": []}
    done = ran("check", "junk.keras", cwd=models)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("clonediff: junk.keras is damaged") and len(done.stderr.splitlines()) == 1
