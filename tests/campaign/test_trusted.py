"""A run of somebody else that is gone on with: the code that it names runs only if the user names it, too."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from clonediff.harness.campaign.done_log import DoneLog
from clonediff.harness.campaign.session import MistakenError, go_on
from clonediff.harness.campaign.shards import Plan, Setup
from clonediff.harness.source import other_layers
from clonediff.reports.records import Budget, RecordError


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLONEDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(other_layers, "_ALLOWED", set())
    setup = Setup("c", ("upstream", "/a/mine:clone[outputs]"), 8, layers=("layers_of_mine",))
    folder = tmp_path / "a run"
    folder.mkdir()
    DoneLog(folder).begin(Plan("", ("keras",), setup, 7, Budget(trials=1), clonediff=version("clonediff")))
    return folder


def test_code_that_nobody_named_here_is_not_run(run: Path) -> None:
    with pytest.raises(RecordError, match=f"--resume '{run}' --cloner /a/mine:clone$"):
        go_on(run)
    with pytest.raises(RecordError, match=f"--resume '{run}' --layers layers_of_mine$"):
        go_on(run, cloners=("/a/mine:clone",))
    assert {"/a/mine:clone"} == other_layers._ALLOWED
    assert sorted(each.name for each in run.iterdir()) == ["plan.json"], "nothing was begun"


def test_code_that_was_named_here_runs_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on(run, cloners=("/a/mine:clone[outputs]",), layers=("layers_of_mine",)).folder.close()
    monkeypatch.setattr(other_layers, "_ALLOWED", set())
    go_on(run).folder.close()
    assert {"/a/mine:clone", "layers_of_mine"} == other_layers._ALLOWED


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"cloners": ("/another/mine:clone",)}, "--cloner /another/mine:clone is not in the run"),
        ({"cloners": ("fixed",)}, "--cloner fixed is not in the run"),
        ({"layers": ("more_layers",)}, "--layers more_layers is not in the run"),
    ],
)
def test_no_other_code_can_be_named(named: dict[str, tuple[str, ...]], said: str, run: Path) -> None:
    with pytest.raises(MistakenError, match=said):
        go_on(run, **named)
    assert not other_layers._ALLOWED
