"""keras#12202 in the real Keras 2.2.4: found from nothing, made small, and proposed fixes of it judged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clonediff.harness.cli.judge import command as judge_command
from clonediff.harness.keras_12202 import RELEASE, exhibit
from clonediff.harness.keras_12202.exhibit import REPORTED, Keras224, code_of
from clonediff.harness.keras_12202.models import HEAD
from clonediff.harness.keras_12202.release import environment, installed
from tests.keras_12202 import proposals
from tests.required_releases import had

MESSAGE = 'AssertionError: Could not compute output Tensor("'
TWO_OUTPUTS = f"""{HEAD}x0 = Input(shape=(3, 4))
x1, x2 = Lambda(lambda x: [x, x])(x0)
model = Model([x0], [x1, x2])
"""
ONE_OUTPUT = f"""{HEAD}x0 = Input(shape=(3, 4))
x1 = Dense(4)(x0)
model = Model([x0], [x1])
"""


@pytest.fixture(scope="module")
def folder() -> Path:
    return had(installed)


@pytest.fixture(scope="module")
def keras(folder: Path) -> Iterator[Keras224]:
    with closing(Keras224(folder)) as process:
        assert process.start()["versions"][0] == "2.2.4"
        yield process


@pytest.fixture(scope="module")
def verdicts(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    texts = {
        "mends.txt": proposals.answer(proposals.MENDS),
        "tensors.txt": proposals.answer(proposals.TENSORS),
        "hollow.txt": proposals.answer(proposals.HOLLOW),
        "maskless.txt": proposals.answer(proposals.MASKLESS),
        "shares.py": proposals.SHARES,
        "nothing.txt": "It cannot be mended.",
    }
    paths = []
    for name, text in texts.items():
        paths.append(tmp_path_factory.mktemp("proposals") / name)
        paths[-1].write_text(text)
    text, record, code = exhibit.judge(paths, 30, 0)
    assert code == 1
    assert record["repaired"] == record["built"] > record["upstream"] > 0
    assert all(str(path) in text for path in paths)
    return {path.name: verdict for path, verdict in zip(paths, record["verdicts"], strict=True)}


def effects(verdict: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {effect["effect"]: effect for effect in verdict["effects"]}


def body(source: str) -> list[str]:
    return source.removeprefix(HEAD).splitlines()


def test_a_release_is_installed_once_and_whole(folder: Path) -> None:
    before = (folder / "keras" / "__init__.py").stat()
    assert installed() == folder
    assert (folder / "keras" / "__init__.py").stat().st_ino == before.st_ino
    assert not list(folder.parent.glob(".keras_12202*"))


def test_the_reported_bug_is_found_and_cut_to_one_lambda_and_the_repaired_clone_is_faithful(folder: Path) -> None:
    text, record, code = exhibit.fuzz(None, 80, 1)
    assert code == 1
    assert record["models"] == record["built"] == record["repaired"] >= 80
    (finding,) = [finding for finding in record["findings"] if finding["text"].startswith(MESSAGE)]
    inputs, call, _ = body(finding["source"])
    assert inputs == "x0 = Input(shape=(3, 4))"
    assert call == "x1, x2 = Lambda(lambda x: [x, x])(x0)"
    assert finding["fails_alone"]
    assert finding["script"] in text
    (mask,) = [finding for finding in record["findings"] if "mask" in finding["effect"]]
    assert len(body(mask["source"])) == 3
    assert mask["fails_alone"]


def test_the_model_of_the_report_ends_in_the_reported_error(keras: Keras224) -> None:
    clones = keras.try_source(REPORTED)["clones"]
    assert clones["repaired"] is None
    assert clones["upstream"][1] == f'{MESSAGE}add_1/add:0", shape=(?, 3, 4), dtype=float32)'


def test_the_script_with_two_gpus_fails_as_reported(folder: Path) -> None:
    script = Path(exhibit.__file__).with_name("multi_gpu.py")
    command = [sys.executable, str(script)]
    ended = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False, timeout=120)
    assert ended.stderr.splitlines()[-1] == f'{MESSAGE}add_1/add:0", shape=(?, 1), dtype=float32)'


def test_a_correct_repair_holds_and_leaves_the_lost_mask_function(verdicts: dict[str, Any]) -> None:
    verdict = verdicts["mends.txt"]
    assert verdict["holds"]
    assert verdict["reported"] == "mends the reported model"
    assert set(effects(verdict)) == {"mends", "leaves"}
    assert "mask=" in effects(verdict)["leaves"]["source"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("tensors.txt", "object is not callable"), ("hollow.txt", "name 'tensors' is not defined")],
)
def test_a_proposal_that_clones_nothing_breaks_a_plain_model(name: str, text: str, verdicts: dict[str, Any]) -> None:
    verdict = verdicts[name]
    assert not verdict["holds"]
    assert verdict["reported"] == "does not mend the reported model"
    assert set(effects(verdict)) == {"breaks", "leaves"}
    assert text in effects(verdict)["breaks"]["text"]
    assert len(body(effects(verdict)["breaks"]["source"])) == 3


def test_a_proposal_that_mends_the_report_and_loses_masks_does_not_hold(verdicts: dict[str, Any]) -> None:
    verdict = verdicts["maskless.txt"]
    assert not verdict["holds"]
    assert verdict["reported"] == "mends the reported model"
    assert "mask" in "\n".join(body(effects(verdict)["breaks"]["source"])).lower()


def test_the_original_is_no_clone(verdicts: dict[str, Any]) -> None:
    assert not verdicts["shares.py"]["holds"]
    assert effects(verdicts["shares.py"])["breaks"]["text"] == "the clone has layers or weights of the original"


def test_a_text_without_code_has_no_chance(verdicts: dict[str, Any]) -> None:
    assert verdicts["nothing.txt"]["reported"].startswith("ValueError: it defines neither clone_model nor")
    assert not verdicts["nothing.txt"]["holds"]


def test_a_child_that_hangs_costs_one_model(folder: Path) -> None:
    with closing(Keras224(folder, proposals.HANGS, limit=1.0)) as keras:
        assert keras.try_source(TWO_OUTPUTS)["clones"]["proposal"] == ["process: ChildLate", "takes too long"]
        assert keras.try_source(ONE_OUTPUT)["clones"]["proposal"][0] == "weights: shared"


def test_a_child_that_dies_costs_one_model(keras: Keras224) -> None:
    dead = keras.try_source("import os\nos._exit(3)\n")
    assert dead["clones"]["upstream"] == ["process: ChildEnded", "ends its process"]
    assert keras.try_source(ONE_OUTPUT)["clones"] == {"upstream": None, "repaired": None}


def test_a_message_of_a_proposal_gives_a_terminal_no_command(folder: Path, tmp_path: Path) -> None:
    proposal = tmp_path / "prints.py"
    proposal.write_text(proposals.PRINTS)
    result = CliRunner().invoke(judge_command, [str(proposal), "--subject", RELEASE, "--trials", "2"])
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\\x1b[2J" in result.output


@pytest.mark.parametrize(
    "text",
    [
        proposals.HOLLOW,
        proposals.answer(proposals.HOLLOW),
        proposals.answer(proposals.HOLLOW).replace("```python", "~~~").replace("```", "~~~"),
        proposals.answer(proposals.HOLLOW).rpartition("```")[0],
        f"Replace the function by\n\n{proposals.HOLLOW}",
    ],
)
def test_the_code_of_a_text_is_found(text: str, tmp_path: Path) -> None:
    path = tmp_path / "proposal.txt"
    path.write_text(text)
    assert code_of(path) == proposals.HOLLOW
