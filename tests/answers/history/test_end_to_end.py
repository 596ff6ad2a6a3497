"""The command over real releases: what it says, what it leaves out, and what it does where it cannot."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.reports.known import load
from clonediff.reports.records import write
from tests.command_line import Command
from tests.interrupting import interrupt, under_way
from tests.reports.making import finding
from tests.waiting import until

HOLDING, BREAKING = "keras==3.10.0", "keras==3.12.3"
UNREACHED = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_EXTRA_INDEX_URL": "", "UV_INDEX_URL": "http://127.0.0.1:9/"}
LAMBDA = {
    "inputs": [{"shape": [1], "name": "x"}],
    "layers": [
        {
            "kind": "Lambda",
            "args": [
                [
                    "function",
                    {"is": "function", "form": "lambda", "gives": ["x", "x * 2.0"], "container": "list"},
                ]
            ],
        }
    ],
    "calls": [{"layer": 0, "args": [{"is": "ref", "node": 0}], "outputs": 2}],
    "takes": {"is": "ref", "node": 0},
    "gives": {"is": "seq", "items": [{"is": "ref", "node": 1}, {"is": "ref", "node": 1, "output": 1}]},
}

History = Callable[..., tuple[int, str, str]]


@pytest.fixture
def history(
    clonediff: Command, warm_commands: None, warm: Callable[[str], SubjectProcess], monkeypatch: pytest.MonkeyPatch
) -> History:
    """`clonediff history` in this process, on releases that are warm: their exit code, and what was printed."""
    for release in (HOLDING, BREAKING):
        warm(release).start()  # here, since a child ends with the thread that started it

    def run(*arguments: str, **variables: str) -> tuple[int, str, str]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return clonediff("history", *arguments)

    return run


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A `Lambda` with two outputs, on an input with a name: a model whose clone is faithful where there is one."""
    (tmp_path / "graph.json").write_text(json.dumps(LAMBDA))
    return "graph.json"


def test_a_release_that_breaks_stands_beside_one_that_holds(graph: str, tmp_path: Path, history: History) -> None:
    code, out, err = history(graph, "--releases", f"{HOLDING} {BREAKING}", "--out", "history.json")
    assert code == 0, err
    assert out.splitlines()[-1] in (
        "breaks in 3.12.3, holds in 3.10.0",
        "keras breaks in 3.12.3, holds in 3.10.0",
    )
    kept = json.loads((tmp_path / "history.json").read_text())
    holding, breaking = kept["rows"]
    assert (holding["version"], holding["verdict"], holding["causes"]) == ("3.10.0", "holds", [])
    assert (breaking["version"], breaking["verdict"]) == ("3.12.3", "breaks")
    assert "lambda_layer.py:from_config" in breaking["causes"][0]["title"]
    for row in kept["rows"]:
        assert row["how"] == "laid over"
        assert row["versions"]["keras"] == row["version"]
        assert row["versions"]["stack"] == "laid over"
        assert {"python", "tensorflow", "numpy"} <= set(row["versions"])
    assert "\x1b" not in out + err
    assert "keras==3.10.0: holds (" in err


def test_a_known_issue_is_looked_for_through_others_and_json_is_all_there_is(history: History) -> None:
    assert any(each.id == "lambda-refused" for each in load().issues)
    code, out, err = history("lambda-refused", "--releases", f"{HOLDING},{BREAKING}", "--json", "--no-install")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert [row["verdict"] for row in said["rows"]] == ["holds", "breaks"]
    assert said["rows"][0]["causes"][0]["known"] == "input-name", "another cause shows there, and is no news"
    assert said["by_cause"] == {}


def test_a_release_that_cannot_be_had_does_not_stop_the_others(graph: str, history: History) -> None:
    code, _, err = history(
        graph, "--releases", f"{BREAKING} keras==3.99.9 tensorflow==2.99.0", "--no-install", "--json"
    )
    assert code == 2
    assert "tensorflow" in err
    code, out, err = history(graph, "--releases", f"{BREAKING} keras==3.99.9", "--no-install", "--json")
    assert code == 0, err
    rows = {row["version"]: row for row in json.loads(out)["rows"]}
    assert rows["3.12.3"]["verdict"] == "breaks"
    assert rows["3.99.9"]["verdict"] == "not to be had"
    assert "not installed" in rows["3.99.9"]["reason"]


def test_where_nothing_can_be_tried_that_is_the_answer_and_exit_code_2(
    graph: str, tmp_path: Path, history: History
) -> None:
    empty = {**UNREACHED, "CLONEDIFF_CACHE": str(tmp_path / "cache")}
    code, out, _ = history(graph, "--releases", "keras==3.99.9", **empty)
    assert code == 2
    assert out.splitlines()[-1] == "not to be had: 3.99.9"


def test_the_release_beside_clonediff_needs_nothing_installed(
    graph: str, tmp_path: Path, history: History, keras: SubjectProcess
) -> None:
    keras.start()
    here = importlib.metadata.version("keras")
    empty = {**UNREACHED, "CLONEDIFF_CACHE": str(tmp_path / "cache")}
    code, out, err = history(graph, "--releases", "keras>=3", "--no-install", "--json", **empty)
    assert code == 0, err
    (row,) = json.loads(out)["rows"]
    assert (row["version"], row["how"], row["versions"]["keras"]) == (here, "beside", here)


def test_without_an_index_the_releases_of_this_machine_are_tried_and_no_range_is_claimed(
    graph: str, history: History
) -> None:
    code, out, err = history(graph, "--releases", f"{HOLDING} keras==3.12.3..3.12.3", "--json", **UNREACHED)
    assert code == 0, err
    said = json.loads(out)
    assert [row["version"] for row in said["rows"]] == ["3.10.0", "3.12.3"]
    assert [row["verdict"] for row in said["rows"]] == ["holds", "breaks"]
    assert any("only the releases on this machine are tried" in note for note in said["notes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("graph.json", "--releases", "kerras"), "unknown package 'kerras'", id="package"),
        pytest.param(("graph.json", "--releases", "keras==2.4.0"), "ask for tensorflow==2.4.x", id="version"),
        pytest.param(("grahp.json", "--releases", "keras"), "no such folder or file", id="graph"),
        pytest.param(("graph.json", "--cloner", "upstrem"), "'upstrem'", id="cloner"),
        pytest.param(("graph.json", "--jobs", "0"), "--jobs", id="jobs"),
    ],
)
def test_a_bad_argument_is_told_with_exit_code_2(
    arguments: tuple[str, ...], said: str, graph: str, clonediff: Command
) -> None:
    code, _, err = clonediff("history", *arguments)
    assert code == 2
    assert said in err


def test_an_interrupt_prints_what_is_known_so_far(
    graph: str, tmp_path: Path, release_place: Callable[[str], ReleasePlace]
) -> None:
    for release in (HOLDING, BREAKING):
        release_place(release)
    asked = ("--releases", f"{HOLDING} {BREAKING}", "--jobs", "1", "--no-install", "--json")
    with under_way("history", graph, *asked, cwd=tmp_path, **UNREACHED) as process:
        until(lambda: _has_a_subject(process.pid), process)
        stdout, stderr = interrupt(process)
    assert process.returncode == 130, stderr
    said = json.loads(stdout)
    assert said["interrupted"]
    assert {"not tried"} <= {row["verdict"] for row in said["rows"]} <= {"not tried", "holds", "breaks"}
    assert {row["reason"] for row in said["rows"] if row["verdict"] == "not tried"} == {"interrupted"}


def _has_a_subject(pid: int) -> bool:
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("inside.serve" in word for word in child.cmdline()):
                return True
    return False


EVIL = "\x1b[31mevil\x9b2J\x07\u202e"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param("finding.json", {"title": EVIL}, id="a title"),
        pytest.param(f"{EVIL}.json", {"title": "a title", "graph": msgspec.Raw(b"{}")}, id="a name"),
        pytest.param("finding.json", {"subject": EVIL}, id="a subject"),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("--json",)], ids=["text", "json"])
def test_no_control_character_of_a_file_reaches_the_terminal(
    arguments: tuple[str, ...], name: str, changes: dict[str, Any], tmp_path: Path, clonediff: Command
) -> None:
    write(tmp_path / name, finding(0, **changes))
    code, out, err = clonediff(
        "history", str(tmp_path / name), "--releases", "keras==3.99.9", "--no-install", *arguments
    )
    assert code == 2
    assert "evil" in out + err
    assert not set("\x1b\x9b\x07\u202e") & set(out + err)
