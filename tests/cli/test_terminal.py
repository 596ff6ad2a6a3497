"""The terminal: progress, colours, interrupts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clonediff.harness.subjects import SubjectProcess
from clonediff.strategies.program import to_json
from tests.cli.finding_folders import DENSE
from tests.helpers.command_line import Command, imported_modules, interrupt, run_clonediff, start_clonediff
from tests.helpers.example_graphs import graph_of_issue


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize("pause", [0.0, 1000.0])
def test_progress_is_printed_in_plain_lines_without_a_terminal(
    pause: float, keras: SubjectProcess, clonediff: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clonediff.harness.cli.terminal._FIRST_PAUSE", 0.0)
    monkeypatch.setattr("clonediff.harness.cli.terminal._NEXT_PAUSE", pause)
    for name in "abc":
        (tmp_path / f"{name}.json").write_bytes(to_json(DENSE))
    _, out, err = clonediff("replay", str(tmp_path))
    expected = "starting keras\n"
    if not pause:
        expected += r"(replayed [12] of 3, about \d+ s left\n){2}replayed 3 of 3\n"
    assert re.fullmatch(expected, err)
    assert "replayed 1 of 3" not in out
    assert clonediff("replay", str(tmp_path), "--json")[2] == ""


@pytest.mark.no_keras
@pytest.mark.parametrize(("variables", "colours"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_shows_colours_unless_no_color_is_set(variables: dict[str, str], colours: bool) -> None:
    result = run_clonediff("replay", "nothing-here", **{"FORCE_COLOR": "1", "TERM": "xterm-256color", **variables})
    assert ("\x1b[35mcannot tell\x1b[0m" in result.stdout) is colours
    assert "cannot tell" in result.stdout


def test_an_interrupted_replay_prints_its_answers_so_far(tmp_path: Path) -> None:
    graph = json.loads(to_json(graph_of_issue("input-name")))
    for number in range(2000):
        (tmp_path / f"{number:04}.json").write_text(json.dumps({**graph, "source": f"{graph['source']}# {number}\n"}))
    with start_clonediff("replay", str(tmp_path), cwd=tmp_path, PYTHONUNBUFFERED="1") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("breaks       keras  0000.json")
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    assert stdout.splitlines()[-1].startswith("interrupted; ")
    assert " of 2000 replayed" in stdout
    assert "Traceback" not in stderr


@pytest.mark.no_keras
@pytest.mark.parametrize("arguments", [("--help",), ("repro", "lambda-refused"), ()], ids=["help", "repro", "import"])
def test_help_and_repro_import_neither_keras_nor_hypothesis(arguments: tuple[str, ...]) -> None:
    imported = imported_modules(*arguments) if arguments else imported_modules(code="import clonediff")
    assert "clonediff" in imported
    assert not imported & {"keras", "tensorflow", "tf_keras", "hypothesis"}
