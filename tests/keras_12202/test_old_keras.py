"""keras#12202 in the real Keras 2.2.4: it is found and reduced, and proposed fixes are judged."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clonediff.harness.keras_12202.child import REPAIRS
from clonediff.harness.keras_12202.old_keras import install
from tests.helpers.command_line import run_clonediff
from tests.helpers.required_releases import skip_or_fail
from tests.helpers.waiting import PATIENCE
from tests.keras_12202 import proposals

MESSAGE = 'AssertionError: Could not compute output Tensor("'
OLD = ("--subject", "keras==2.2.4")
PROPOSALS = {
    "fixes.txt": proposals.ANSWER.format(proposals.CORRECT_FIX),
    "tensors.txt": proposals.ANSWER.format(proposals.CONFUSED_TENSORS),
    "hollow.txt": proposals.ANSWER.format(proposals.UNDEFINED_NAMES),
    "maskless.txt": proposals.ANSWER.format(proposals.NO_MASK_FIX),
    "shares.py": proposals.SHARED_MODEL,
    "ends.py": proposals.ENDS_ON_THREE_LAYERS,
    "nothing.txt": "It cannot be fixed.",
}
SLOW = pytest.mark.slow(reason="it installs Keras 2.2.4")


@pytest.fixture(scope="module")
def search_result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run a search. If the release cannot be installed, skip the tests."""
    result = run_clonediff("fuzz", *OLD, "--trials", "80", "--seed", "1", "--json", cwd=tmp_path_factory.mktemp("run"))
    if result.returncode == 2 and "Traceback" not in result.stderr:
        skip_or_fail(result.stderr)
    assert result.returncode == 1, result.stderr
    return json.loads(result.stdout)


def judge_proposals(folder: Path, texts: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    for name, text in texts.items():
        (folder / name).write_text(text)
    result = run_clonediff("judge", *texts, *OLD, *options, cwd=folder)
    assert result.returncode == 1, result.stderr
    return result


@pytest.fixture(scope="module")
def verdicts(search_result: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    texts = {**PROPOSALS, "fixes.diff": _diff("# Update tensor_map."), "unfit.diff": _diff("").replace("\n-", "\n- no")}
    result = judge_proposals(tmp_path_factory.mktemp("judged"), texts, "--trials", "60", "--json")
    record = json.loads(result.stdout)
    assert record["repaired"] == record["built"] > record["upstream"] > 0
    return dict(zip(texts, record["verdicts"], strict=True))


def _diff(line: str) -> str:
    """Return a diff of the release in which a line is replaced by its repair."""
    models = Path(install()[0], "keras", "models.py").read_text(encoding="utf-8")
    repaired = models.replace(line or "import", REPAIRS.get(line, "import os, "), 1)
    lines = (text.splitlines(keepends=True) for text in (models, repaired))
    return "".join(difflib.unified_diff(*lines, "a/keras/models.py", "b/keras/models.py"))


def body(source: str) -> list[str]:
    """Return the lines of a model, without its imports."""
    return source.partition("\n\n")[2].splitlines()


@SLOW
def test_the_reported_bug_is_reduced_to_a_lambda_and_repaired(search_result: Any) -> None:
    assert search_result["models"] == search_result["built"] == search_result["repaired"] >= 80
    (finding,) = [finding for finding in search_result["findings"] if finding["text"].startswith(MESSAGE)]
    assert body(finding["source"])[:2] == ["x0 = Input(shape=(3, 4))", "x1, x2 = Lambda(lambda x: [x, x])(x0)"]
    assert finding["fails_alone"]
    (mask,) = [finding for finding in search_result["findings"] if "mask" in finding["effect"]]
    assert len(body(mask["source"])) == 3
    assert mask["fails_alone"]


@SLOW
@pytest.mark.usefixtures("search_result")
def test_the_script_with_two_gpus_fails_as_reported(tmp_path: Path) -> None:
    printed = run_clonediff("fuzz", *OLD, "--trials", "2", cwd=tmp_path).stdout
    (path, file) = re.search(r"Set PYTHONPATH=(\S+) to run a script or (\S+)", printed).groups()  # type: ignore[union-attr]
    ended = subprocess.run(
        [sys.executable, file], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert ended.stderr.splitlines()[-1] == f'{MESSAGE}add_1/add:0", shape=(?, 1), dtype=float32)'


VERDICTS = {
    "fixes.txt": (True, True, "mask="),
    "fixes.diff": (True, True, "mask="),
    "maskless.txt": (False, True, "mask"),
    "tensors.txt": (False, False, "object is not callable"),
    "hollow.txt": (False, False, "name 'tensors' is not defined"),
    "shares.py": (False, False, "the clone has layers or weights of the original"),
    "ends.py": (False, False, "its process was lost: exit code 3"),
    "unfit.diff": (False, False, "make the diff against this release"),
    "nothing.txt": (False, False, "ValueError: no code in it: expected a diff, or a function that"),
}
"""By proposal: whether it is accepted, whether it fixes the reported bug, and a text of its effects."""


@SLOW
def test_each_proposal_has_its_verdict_and_its_effects(verdicts: dict[str, Any]) -> None:
    assert verdicts.keys() == VERDICTS.keys()
    for name, (accepted, fixes, text) in VERDICTS.items():
        verdict = verdicts[name]
        effects = {effect.pop("effect"): f"{effect['text']}\n{effect['source']}" for effect in verdict["effects"]}
        assert verdict["accepted"] is (fixes and "breaks" not in effects) is accepted, name
        assert verdict["reported"].startswith("fixes") is ("fixes" in effects) is fixes, name
        assert text in "".join(effects.values()), name


@SLOW
@pytest.mark.usefixtures("search_result")
def test_a_hanging_proposal_is_reported_and_output_is_escaped(tmp_path: Path) -> None:
    texts = {"hangs.py": proposals.HANGS_ON_THREE_LAYERS, "clears.py": proposals.CLEARS_THE_TERMINAL}
    printed = judge_proposals(tmp_path, texts, "--trials", "2").stdout
    assert "its process was lost: timed out" in printed
    assert "\x1b" not in printed
    assert "\\x1b[2J" in printed
