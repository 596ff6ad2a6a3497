"""`clonediff real` on the command line: what it refuses, lists, keeps and goes on with."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonediff.harness.answers.checked_model.record import CheckedModel, Status
from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import RealModel, RealResults
from clonediff.harness.cli.real import _code, _Run
from clonediff.harness.cli.terminal import StatusLine
from clonediff.reports.records import read
from tests.command_line import Command

ONE = "tf_keras_tests:test_utils.get_small_sequential_mlp*"
RECIPES = [Recipe(f"a:{name}", "keras", f"model = {number}\n") for number, name in enumerate(("x", "y", "z"))]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--only", "Bert*"), "expected SUITE:MODEL", id="suite"),
        pytest.param(("--jobs", "0"), "--jobs", id="jobs"),
        pytest.param(("--resume", "none.json"), "none.json", id="resume"),
        pytest.param(("--resume", "a.json", "--out", "b.json"), "--resume or --out", id="both"),
    ],
)
def test_mistakes_are_exit_code_2(arguments: tuple[str, ...], said: str, clonediff: Command) -> None:
    code, out, err = clonediff("real", *arguments)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.skipif(importlib.util.find_spec("keras_hub") is not None, reason="the extra is installed")
def test_a_missing_extra_is_told_with_what_installs_it(clonediff: Command) -> None:
    code, _, err = clonediff("real", "--only", "keras_hub:*")
    assert code == 2
    assert "pip install 'clonediff[real]'" in err


def test_one_real_model(clonediff: Command, warm_commands: None, tmp_path: Path) -> None:
    out, table = tmp_path / "out.json", tmp_path / "TABLE.md"
    arguments = ("real", "--only", ONE, "--no-costly", "--out", str(out), "--table", str(table))
    code, printed, err = clonediff(*arguments)
    assert code == 0, err
    assert "get_small_sequential_mlp(4, 3, input_dim=5)" in printed
    assert "tf_keras_tests: 1 models, 1 tried; upstream is faithful on 1, fixed on 1 (100%)" in printed
    assert "| test\\_utils.get\\_small\\_sequential\\_mlp(4, 3, input\\_dim=5) | 3 | faithful | faithful |" in (
        table.read_text()
    )
    (kept,) = read(out, RealResults).models
    assert kept.source.endswith("model = test_utils.get_small_sequential_mlp(4, 3, input_dim=5)\n")

    code, printed, _ = clonediff("real", "--only", ONE, "--resume", str(out), "--json")
    assert code == 0
    again = json.loads(printed)
    assert again["models"][0]["checked"]["seconds"] == kept.checked.seconds  # it was not tried again


@pytest.mark.slow(reason="models of packages whose import alone takes seconds, one of them of 250 layers")
@pytest.mark.skipif(importlib.util.find_spec("keras_hub") is None, reason="needs the extra: clonediff[real]")
@pytest.mark.skipif(importlib.util.find_spec("tensorflow_model_optimization") is None, reason="needs clonediff[real]")
def test_models_of_other_packages(clonediff: Command, tmp_path: Path) -> None:
    names = (
        "keras_hub:BertBackbone",
        "keras_hub:GemmaCausalLM",
        "tfmot:layers pruned",
        "applications:MobileNetV3Small",
    )
    chosen = [argument for name in names for argument in ("--only", name)]
    code, printed, err = clonediff("real", *chosen, "--jobs", "2", "--out", str(tmp_path / "out.json"))
    assert code == 0, printed + err
    assert "all: 4 models, 4 tried; upstream is faithful on" in printed
    assert "fixed on 4 (100%)" in printed


def test_list_names_models_and_tries_none(clonediff: Command, warm_commands: None) -> None:
    code, printed, _ = clonediff("real", "--only", "tf_keras_tests:*lstm*", "--list")
    assert (code, printed) == (0, "tf_keras_tests:model_architectures.lstm().model\n")


def _model(recipe: Recipe, status: Status = Status.CHECKED) -> RealModel:
    return RealModel(recipe.name, recipe.source, CheckedModel(recipe.name, "keras", status))


def _run(file: Path, *before: RealModel) -> _Run:
    return _Run(RECIPES, RealResults("2026-11-22T11:00:00", before), file, StatusLine(quiet=True), quiet=True)


def test_what_came_before_an_interrupt_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "runs" / "real.json"

    def interrupted() -> Iterator[RealModel]:
        yield _model(RECIPES[2])
        yield _model(RECIPES[0])
        raise KeyboardInterrupt

    run = _run(file)
    with pytest.raises(KeyboardInterrupt):
        run.take(interrupted())
    run.interrupt()
    kept = read(file, RealResults)
    assert [each.name for each in kept.models] == ["a:x", "a:z"]  # in the order of the recipes
    assert (kept.interrupted, _code(kept)) == (True, 130)
    assert [each.name for each in _run(file, *kept.models).left] == ["a:y"]


def test_a_model_whose_lines_have_changed_is_tried_again(tmp_path: Path) -> None:
    old = RealModel("a:x", "model = 100\n", CheckedModel("a:x", "keras", Status.CHECKED))
    gone = RealModel("a:gone", "", CheckedModel("a:gone", "keras", Status.CHECKED))
    run = _run(tmp_path / "real.json", old, gone)
    assert [each.name for each in run.left] == ["a:x", "a:y", "a:z"]
    assert [each.name for each in run.results.models] == ["a:gone"]


def test_where_nothing_could_be_tried_nothing_has_been_shown() -> None:
    lost = _model(RECIPES[0], Status.LOST)
    assert _code(RealResults("", (lost,))) == 2
    assert _code(RealResults("", (lost, _model(RECIPES[1])))) == 0
