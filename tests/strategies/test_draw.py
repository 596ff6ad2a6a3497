"""Drawn graphs: determined by the seed, small, built while they are drawn, and of all kinds."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, get_args

import pytest

from clonediff.harness.search.search import draw_graphs, rebuild
from clonediff.harness.subjects import SubjectError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from clonediff.strategies.build import Builder, Output
from clonediff.strategies.choices import from_seed
from clonediff.strategies.draw import Catalogue, draw
from clonediff.strategies.kind import Kind
from clonediff.strategies.layers import CATALOGUE
from clonediff.strategies.program import Again, Apply, Arrangement, Graph, Nest, Preparation, Program, instructions
from clonediff.strategies.undefined import why_undefined
from tests.helpers.drawn_graphs import drawn_graphs, graph_of, process_of
from tests.helpers.example_counts import example_count

Warm = Callable[[str], SubjectProcess]
SIMPLEST_CHOICES = {"numbers": [[], []]}


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_each_graph_is_small_and_can_be_built(generation: Any) -> None:
    for graph in drawn_graphs(generation, example_count(25, 400)):
        calls = [step for step in instructions(graph.program.body) if not isinstance(step, Nest)]
        assert 1 <= len(calls) <= 5
        assert not why_undefined(graph.program)
        assert generation == "keras" or "factor=2.0" not in graph.source
        trial = run(case_of(graph), process_of(generation), ())
        assert trial.is_built, (trial.refusal, graph)


def test_a_seed_draws_the_same_graphs_whatever_was_drawn_before(keras: SubjectProcess) -> None:
    first = list(draw_graphs(keras, 5, 12))
    graph_of(Apply("ReLU"), preparations=(Preparation("session", ('keras.config.set_floatx("float64")',)),))
    assert list(draw_graphs(keras, 5, 12)) == first
    assert len({graph for graph in first if graph is not None}) > 8


def test_a_rebuilt_program_gives_the_same_graph(keras: SubjectProcess) -> None:
    for graph in drawn_graphs("keras", 25):
        assert rebuild(keras, graph.program) == graph


@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_the_simplest_choices_draw_the_simplest_model(generation: Any, warm: Warm) -> None:
    graph = warm(generation).draw(SIMPLEST_CHOICES)
    assert graph is not None
    assert [type(step) for step in graph.program.body] == [Apply]
    assert _kinds(graph) == {"Lambda"}
    assert graph.program.preparations == ()


def _kinds(graph: Graph) -> set[str]:
    return {step.kind for step in instructions(graph.program.body) if isinstance(step, Apply)}


def test_every_part_of_a_program_is_drawn() -> None:
    programs = [graph.program for graph in drawn_graphs("keras", 400)]
    steps = [step for program in programs for step in instructions(program.body)]
    assert sum(isinstance(step, Nest) for step in steps) >= 20, "one bug in nine needs a nested model"
    assert sum(isinstance(step, Again) for step in steps) >= 15, "one bug in twenty needs a layer that is called twice"
    assert {step.sequential for step in steps if isinstance(step, Nest)} == {True, False}
    for name in ("sequential", "own", "name", "frozen", "clone_arguments", "scope"):
        assert any(getattr(program, name) for program in programs), name
    for field in ("takes", "gives"):
        assert {getattr(program, field) for program in programs} == {*get_args(Arrangement)}
    kinds = {preparation.does for program in programs for preparation in program.preparations}
    assert kinds >= {"compile", "trainable", "session", "policy", "quantize", "hang"}


ALL_PATTERNS = r"""
    keras\.initializers\.\w+\(\w+= keras\.regularizers\.\w+\(\w+= keras\.constraints\.\w+\(\w+=
    keras\.losses\.\w+\(\w+= keras\.optimizers\.\w+\(\w+= keras\.metrics\.\w+\(\w+=
    loss=\[ loss_weights= weighted_metrics= steps_per_execution= _constraint=(?:"non_neg"|keras\.constraints\.M)
    ops\.\w+\(\w+,\saxis= ops\.\w+\(\w+,\s\w+\) ops\.\w+\([^\n]*(?:dtype|keepdims)= ops\.image\. bitwise_|_shift
    functools\.partial\( keras\.Variable\( training=None how= layers\.InputLayer\( class\sOwnSequential\(
    with\skeras\.utils\.custom_object_scope\( name="my_ trainable=False autocast=False dtype="float64" dtype=keras
    \.trainable\s=\sFalse mask=\w training=True activity_regularizer= lambda\w*\[1\]
"""
LAMBDA_PATTERNS = r"""
    x\[0\]\s\+\sx\[1\] def\stransform def\soutput_mask def\soutput_shape output_shape=lambda mask=lambda
    mask=.*np\.arange\( if\smask\sis\sNone\selse \*\s3\.0\sif\straining arguments=\{"by" FACTOR\s=\s2\.0 "out_0":\sx
"""
ADAPT_PATTERNS = r"\.adapt\(np\.arange \.adapt\(np\.array\(\[.red lora_rank= enable_lora\( kernel\.trainable\s="
OBJECT_PATTERNS = r"_layer\.(?:activation|kernel_\w+|bias_\w+)\s=\s"
STATE_PATTERNS = r"initial_state=\[(.+),\s\1\]"


@pytest.mark.parametrize(
    ("generation", "kinds", "count", "patterns"),
    [
        ("keras", "", 400, ALL_PATTERNS),
        ("keras", "Lambda", 180, LAMBDA_PATTERNS),
        ("keras", "Dense Normalization StringLookup", 100, ADAPT_PATTERNS),
        ("keras", "Dense", 100, OBJECT_PATTERNS),
        pytest.param("tf_keras", "LSTM", 30, STATE_PATTERNS, marks=pytest.mark.slow(reason="it draws slow layers")),
    ],
    ids=["all", "Lambda", "adapt", "objects", "states"],
)
def test_every_form_of_source_is_drawn(generation: Any, kinds: str, count: int, patterns: str) -> None:
    drawn = draw_graphs(process_of(generation), 0, count, kinds=kinds.split(), cloners=("fixed",))
    sources = [graph.source for graph in (drawn if kinds else drawn_graphs(generation, count))]
    assert [pattern for pattern in patterns.split() if not re.search(pattern, "\n".join(sources))] == []
    for source in sources:
        layers = re.findall(r"(?m)^ *(\w+_layer) = ", source)
        assert all(len(re.findall(rf"\b{layer}\b", source)) > 1 for layer in layers), source


def test_all_kinds_are_drawn_and_layers_more_often_than_operations() -> None:
    kinds = [kind for graph in drawn_graphs("keras", 400) for kind in _kinds(graph)]
    assert len({*kinds}) > 200
    assert sum(kind.startswith(("ops.", "operator.")) for kind in kinds) < len(kinds) / 2


PROGRAM = {"generation": "keras", "inputs": [{"shape": [4]}], "body": [{"do": "apply", "kind": "ReLU"}]}
USER_LAYERS = """
import sys

import keras

assert not {"fixed", "inside", "strategies"} & set(sys.modules), "names that a user's own modules may have"


@keras.saving.register_keras_serializable()
class Fade(keras.layers.Layer):
    def __init__(self, rate, max_things=3, never_heard_of=3, use_it=False, share=0.125, word="a", **kwargs):
        super().__init__(**kwargs)
        self.options = {
            "rate": rate, "max_things": max_things, "never_heard_of": never_heard_of, "use_it": use_it,
            "share": share, "word": word,
        }

    def call(self, x):
        return x * 1.0

    def get_config(self):
        return {**super().get_config(), **self.options}


@keras.saving.register_keras_serializable()
class Pair(keras.layers.Layer):
    def call(self, query, value):
        return query + value
"""


def test_layers_of_a_file_are_drawn_with_arguments_that_suit_their_names(
    keras: SubjectProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("layers") / "user_layers.py"
    path.write_text(USER_LAYERS)
    keras.layers = (f"{path}:Fade", f"{path}:Pair")
    try:
        graphs = list(draw_graphs(keras, 0, 60, values={"rate": ["0.0625"]}))
    finally:
        keras.layers = ()
    sources = [graph.source for graph in graphs if "user_layers." in graph.source]
    assert 12 < len(sources) < 48, "a third of all layers come from the file"
    assert all("spec.loader.exec_module(user_layers)" in source for source in sources)
    calls = "\n".join(sources)
    assert "0.0625" in calls and "use_it=True" in calls
    assert {*re.findall(r"max_things=(\w+)", calls)} <= {"2", "4"} >= {*re.findall(r"never_heard_of=(\w+)", calls)}
    assert {*re.findall(r"share=([\d.]+)", calls)} <= {"0.5", "0.25"}
    assert "word=" not in calls, "`word` has no other value"
    assert re.search(r"pair\w*\(\w+, \w+\)", calls), "a call with two tensors, which are not in a list"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kinds": ["Dens"]}, "'Dens' is not a layer or operation"),
        ({"layers": ["json"]}, "json: expected a layer of keras, or a module or file with layers"),
        ({"layers": ["nowhere"]}, "No module named 'nowhere'"),
        ({"kinds": ["Rescaling"], "values": {"scale": ["2.0 +"]}}, "SyntaxError: .*drawing.py:"),
        ({"kinds": ["Rescaling"], "values": {"scale": ["<missing>"]}}, "UndefinedName: <missing> has no definition"),
        ({"program": {**PROGRAM, "preparations": [{"does": "lora", "lines": ["<it>.no()"], "on": 7}]}}, "IndexError: "),
    ],
)
def test_the_error_names_what_cannot_be_drawn(fields: dict[str, Any], message: str, keras: SubjectProcess) -> None:
    graphs = (keras.draw({"seed": seed, **fields}) for seed in range(20))
    with pytest.raises(SubjectError, match=message):
        list(graphs)


OBJECT_CLASSES = "initializers.Ones regularizers.L2 constraints.NonNeg losses.Huber metrics.Mean optimizers.SGD"


class AcceptingRunner:
    """A line runner that accepts all lines."""

    def run(self, text: str) -> None:
        pass

    def enter(self, scope: str) -> None:
        pass

    def add_input(self, name: str, spec: Any, tensor: str = "") -> Output:
        return Output(name, spec.shape, spec.dtype)

    def evaluate(self, text: str) -> None:
        pass

    def call(self, name: str, text: str) -> list[Output]:
        return [Output(name, (3, 4), "float32")]


@pytest.mark.no_keras
@pytest.mark.parametrize("method", ["add_input", "add_instruction", "open_nest", "close_nest", "make_model", "prepare"])
def test_an_error_in_the_builder_is_not_counted_as_a_refusal(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise TypeError("a fault of ours")

    catalogue = Catalogue("keras", {"Dense": CATALOGUE["Dense"]}, dict.fromkeys(OBJECT_CLASSES.split(), ()))
    monkeypatch.setattr(Builder, method, fail)
    graphs = (draw(from_seed(seed), catalogue, AcceptingRunner()) for seed in range(20))
    with pytest.raises(TypeError, match="a fault of ours"):
        list(graphs)


@pytest.mark.no_keras
def test_the_choices_of_an_instruction_are_independent() -> None:
    bases = tuple((("units", str(units)),) for units in range(1, 5))
    optional = dict.fromkeys("abc", ("1", "2"))
    catalogue = Catalogue("keras", {name: Kind(name, bases, optional) for name in ("Dense", "Other")}, {}, False)
    counts: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    count = 2000
    for seed in range(count):
        graph = draw(from_seed(seed), catalogue, AcceptingRunner())
        assert graph is not None
        features = _choices_of(graph.program)
        for pair in itertools.combinations(features, 2):
            counts[pair][features[pair[0]], features[pair[1]]] += 1
    for pair, pair_counts in counts.items():
        first, second = (Counter[str]() for _ in pair)
        for (value, other), times in pair_counts.items():
            first[value] += times
            second[other] += times
        for value, other in itertools.product(first, second):
            expected = first[value] * second[other] / count
            assert abs(pair_counts[value, other] - expected) < 5 * expected**0.5 + 5, (pair, value, other)


def _choices_of(program: Program) -> dict[str, str]:
    """Return the choices that are drawn independently for the first instruction."""
    first = next(step for step in instructions(program.body) if isinstance(step, Apply))
    arguments = dict(first.arguments)
    return {
        "kind": first.kind,
        "input": f"{program.inputs[0].shape} {program.inputs[0].fill}",
        "units": arguments.get("units", ""),
        "arguments": " ".join(sorted(arguments.keys() & {*"abc"})),
        "settings": " ".join(sorted({"name", "trainable", "dtype"} & arguments.keys())),
        "named": str(program.name),
    }
