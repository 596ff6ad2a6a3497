"""What is drawn: the same for a seed, built at once, small, and of everything that there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from clonediff.harness.search.hunt import draws
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from clonediff.strategies.digits import Digits
from clonediff.strategies.draw import MOST_CALLS
from clonediff.strategies.program import (
    GENERATIONS,
    Again,
    Apply,
    Generation,
    Graph,
    MalformedGraph,
    Nest,
    from_json,
    instructions,
    kinds,
    to_json,
)
from clonediff.strategies.undefined import why_undefined
from tests.example_counts import examples
from tests.warm_keras import drawn, process_of

Warm = Callable[[str], SubjectProcess]
SIMPLEST = {"parts": ["00", "00"]}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_each_graph_is_small_can_be_built_and_comes_back_from_json(generation: Generation) -> None:
    for graph in drawn(generation, examples(60, 400)):
        calls = [each for each in instructions(graph.program.body) if not isinstance(each, Nest)]
        assert 1 <= len(calls) <= MOST_CALLS
        assert not why_undefined(graph.program)
        assert from_json(to_json(graph)) == graph
        trial = run(case_of(graph), process_of(generation), ())
        assert trial.built, (trial.refused, graph)


def test_a_seed_draws_the_same_whatever_was_drawn_before(keras: SubjectProcess) -> None:
    first = list(draws(keras, 5, 12))
    keras.draw({"seed": 99})
    assert list(draws(keras, 5, 12)) == first
    assert len({graph for graph in first if graph is not None}) > 8


def test_a_program_is_built_again_as_it_was(keras: SubjectProcess) -> None:
    for graph in drawn("keras", 60):
        assert keras.draw({"program": msgspec.to_builtins(graph.program)}) == graph


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_simplest_bytes_are_the_simplest_model(generation: Generation, warm: Warm) -> None:
    graph = warm(generation).draw(SIMPLEST)
    assert graph is not None
    assert [type(each) for each in graph.program.body] == [Apply]
    assert kinds(graph.program) == {"Lambda"}
    assert graph.program.preparations == ()


def _features(graph: Graph) -> set[str]:
    """What a graph has of that which bugs were in."""
    program, found = graph.program, set[str]()
    for each in instructions(program.body):
        found.add(type(each).__name__)
        if isinstance(each, Nest):
            found.add("inner Sequential" if each.sequential else "inner model")
        if isinstance(each, Apply):
            found |= {f"call {name}" for name, _ in each.call} | {"list"} & {each.packed}
            found |= {"after"} if each.after else set()
            if each.kind == "Lambda":
                found |= {f"Lambda {name}" for name, _ in each.arguments}
                found |= {"Lambda of outputs"} if "[0]" in graph.source else {"Lambda of one"}
    found |= {each.does for each in program.preparations}
    flags = ("sequential", "own", "name", "frozen", "clone_arguments", "scope")
    found |= {name for name in flags if getattr(program, name)}
    return found | {program.takes, program.gives, "inputs" if len(program.inputs) > 1 else "input"}


EXPECTED = """
    Apply Again Nest after list sequential own name frozen clone_arguments scope inputs input dict tuple nested
    compile trainable session policy quantize hang
"""


def test_everything_is_drawn() -> None:
    met = Counter(name for graph in drawn("keras", 400) for name in _features(graph))
    missing = {*EXPECTED.split(), "call mask", "call training", "inner model", "inner Sequential"} - met.keys()
    assert not missing
    assert {"Lambda function", "Lambda mask", "Lambda output_shape", "Lambda of outputs", "Lambda of one"} <= met.keys()
    assert met["Nest"] >= 20, "models in models are in one bug of nine"
    assert met["Again"] >= 15, "a layer that is called twice is in one bug of twenty"


def test_no_kind_is_left_out_and_layers_are_drawn_more_often_than_operations() -> None:
    met = Counter(kind for graph in drawn("keras", 400) for kind in kinds(graph.program))
    operations = sum(count for kind, count in met.items() if kind.startswith(("ops.", "operator.")))
    assert len(met) > 200
    assert operations < sum(met.values()) / 2


FADE = """
import sys

import keras

assert not {"fixed", "inside", "strategies"} & set(sys.modules), "names that a user's own modules may have"


@keras.saving.register_keras_serializable()
class Fade(keras.layers.Layer):
    def __init__(self, rate, floor=0.0, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.floor = floor

    def call(self, x):
        return keras.ops.maximum(x * self.rate, self.floor)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}
"""


def test_a_layer_of_a_file_is_drawn_with_its_arguments(
    keras: SubjectProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("layers") / "fade.py"
    path.write_text(FADE)
    keras.layers = (f"{path}:Fade",)
    try:
        graphs = list(draws(keras, 0, 60, values={"rate": ["0.125"]}))
    finally:
        keras.layers = ()
    sources = [graph.source for graph in graphs if graph is not None and "fade.Fade(" in graph.source]
    assert len(sources) > 10
    assert any("floor=" in source for source in sources)
    assert all("spec.loader.exec_module(fade)" in source for source in sources)


def test_kinds_that_a_release_lacks_are_named(keras: SubjectProcess) -> None:
    with pytest.raises(Exception, match="'Dens' is no layer or operation"):
        keras.draw({"seed": 0, "kinds": ["Dens"]})


def test_where_the_bytes_end_choices_are_the_first_ones() -> None:
    digits = Digits(b"\xff")
    assert [digits.number(8), digits.number(8), digits.pick("ab"), digits.chance(2)] == [7, 0, "a", False]


@pytest.mark.parametrize(("text", "says"), [(b"{}", "missing required field"), (b"[", "`object`")])
def test_what_is_no_graph_is_named(text: bytes, says: str) -> None:
    with pytest.raises(MalformedGraph, match=f"(?i)my.json: .*{says}"):
        from_json(text, "my.json")


def test_again_calls_a_layer_of_an_earlier_instruction() -> None:
    for graph in drawn("keras", 200):
        for at, each in enumerate(graph.program.body):
            assert not isinstance(each, Again) or each.layer < at
