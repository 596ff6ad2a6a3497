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
from clonediff.harness.keras_12202.exhibit import REPORTED, ExhibitProcess, installed
from clonediff.harness.keras_12202.models import HEAD, source_of
from clonediff.harness.subjects.environment import Place, environment
from clonediff.harness.subjects.subject import Subject
from tests.keras_12202.proposals import (
    ANSWER,
    CLEARS_THE_TERMINAL,
    HANGS_ON_THREE_LAYERS,
    HOLLOW,
    MASKLESS,
    MENDS,
    SHARES,
    TENSORS,
)
from tests.required_releases import had

MESSAGE = 'AssertionError: Could not compute output Tensor("'
ONE_OUTPUT = source_of([((1, 1, "Dense(4)"), [0])])


NIGHT = pytest.mark.slow(reason="it installs Keras 2.2.4")


@pytest.fixture(scope="module")
def place() -> Place:
    return had(installed)


@pytest.fixture(scope="module")
def keras(place: Place) -> Iterator[ExhibitProcess]:
    with closing(ExhibitProcess(place)) as process:
        yield process


@pytest.fixture(scope="module")
def verdicts(place: Place, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    texts = {
        "mends.txt": ANSWER.format(MENDS),
        "tensors.txt": ANSWER.format(TENSORS),
        "hollow.txt": ANSWER.format(HOLLOW),
        "maskless.txt": ANSWER.format(MASKLESS),
        "shares.py": SHARES,
    }
    paths = [tmp_path_factory.getbasetemp() / name for name in texts]
    for path, proposal in zip(paths, texts.values(), strict=True):
        path.write_text(proposal)
    _, record, code = exhibit.judge(paths, 60, 0)
    assert code == 1
    assert record["repaired"] == record["built"] > record["upstream"] > 0
    return {path.name: verdict for path, verdict in zip(paths, record["verdicts"], strict=True)}


def effects(verdict: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {effect["effect"]: effect for effect in verdict["effects"]}


def body(source: str) -> list[str]:
    return source.removeprefix(HEAD).splitlines()


@NIGHT
def test_a_release_is_installed_once_and_whole(place: Place) -> None:
    folder = Path(*place)
    before = (folder / "keras").stat().st_ino
    assert "__version__ = '2.2.4'" in (folder / "keras/__init__.py").read_text()
    assert Path(*installed(), "keras").stat().st_ino == before
    assert not list(folder.parent.glob(".keras_12202*"))


@NIGHT
def test_the_reported_bug_is_found_and_cut_to_one_lambda_and_the_repaired_clone_is_faithful(place: Place) -> None:
    text, record, code = exhibit.fuzz(None, 80, 1)
    assert code == 1
    assert record["models"] == record["built"] == record["repaired"] >= 80
    (finding,) = [finding for finding in record["findings"] if finding["text"].startswith(MESSAGE)]
    assert body(finding["source"])[:2] == ["x0 = Input(shape=(3, 4))", "x1, x2 = Lambda(lambda x: [x, x])(x0)"]
    assert finding["fails_alone"]
    assert finding["script"] in text
    (mask,) = [finding for finding in record["findings"] if "mask" in finding["effect"]]
    assert len(body(mask["source"])) == 3
    assert mask["fails_alone"]


@NIGHT
def test_the_model_of_the_report_ends_in_the_reported_error(keras: ExhibitProcess) -> None:
    clones = keras.try_source(REPORTED)["clones"]
    assert clones["repaired"] is None
    assert clones["upstream"][1] == f'{MESSAGE}add_1/add:0", shape=(?, 3, 4), dtype=float32)'


@NIGHT
def test_the_script_with_two_gpus_fails_as_reported(place: Place) -> None:
    command = [sys.executable, str(Path(exhibit.__file__).with_name("multi_gpu.py"))]
    ended = subprocess.run(
        command, env=environment(Subject("keras"), place), capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.stderr.splitlines()[-1] == f'{MESSAGE}add_1/add:0", shape=(?, 1), dtype=float32)'


@NIGHT
def test_a_correct_repair_holds_and_leaves_the_lost_mask_function(verdicts: dict[str, Any]) -> None:
    verdict = verdicts["mends.txt"]
    assert verdict["holds"]
    assert set(effects(verdict)) == {"mends", "leaves"}
    assert "mask=" in effects(verdict)["leaves"]["source"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tensors.txt", "object is not callable"),
        ("hollow.txt", "name 'tensors' is not defined"),
        ("shares.py", "the clone has layers or weights of the original"),
    ],
)
@NIGHT
def test_a_proposal_that_clones_nothing_breaks_a_plain_model(name: str, text: str, verdicts: dict[str, Any]) -> None:
    verdict = verdicts[name]
    assert not verdict["holds"]
    assert verdict["reported"] == "does not mend the reported model"
    assert "mends" not in effects(verdict)
    assert text in effects(verdict)["breaks"]["text"]
    assert len(body(effects(verdict)["breaks"]["source"])) == 3


@NIGHT
def test_a_proposal_that_mends_the_report_and_loses_masks_does_not_hold(verdicts: dict[str, Any]) -> None:
    verdict = verdicts["maskless.txt"]
    assert not verdict["holds"]
    assert verdict["reported"] == "mends the reported model"
    assert "mask" in "\n".join(body(effects(verdict)["breaks"]["source"])).lower()


@NIGHT
def test_a_child_that_hangs_costs_one_model(place: Place) -> None:
    with closing(ExhibitProcess(place, HANGS_ON_THREE_LAYERS, limit=4.0)) as keras:
        assert keras.try_source(REPORTED)["clones"]["proposal"] == [
            "process: timed out",
            "it loses its process: timed out: no answer in 4 s",
        ]
        assert keras.try_source(ONE_OUTPUT)["clones"]["proposal"][0] == "weights: shared"


@NIGHT
def test_a_child_that_dies_costs_one_model(keras: ExhibitProcess) -> None:
    dead = keras.try_source("import os\nos._exit(3)\n")
    assert dead["clones"]["upstream"][0] == "process: exit code 3"
    assert keras.try_source(ONE_OUTPUT)["clones"] == {"upstream": None, "repaired": None}


@NIGHT
def test_the_command_says_what_a_proposal_lacks_and_gives_a_terminal_no_command(place: Place, tmp_path: Path) -> None:
    (tmp_path / "1.py").write_text(CLEARS_THE_TERMINAL)
    (tmp_path / "2.txt").write_text("It cannot be mended.")
    paths = map(str, sorted(tmp_path.iterdir()))
    result = CliRunner().invoke(judge_command, [*paths, "--subject", RELEASE, "--trials", "2"])
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\\x1b[2J" in result.output
    assert "ValueError: no code in it: no code block, no diff, no definition" in result.output
