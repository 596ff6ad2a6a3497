"""Clones with arguments, in a real process: the fixed cloner takes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.subjects import SubjectProcess
from clonediff.strategies.clone_arguments import RECIPES
from clonediff.strategies.graph import Call, CloneArguments, Form, Function, Graph, Input, Layer, Ref
from clonediff.strategies.kinds import Generation
from clonediff.strategies.no_oracle import unsaid
from tests.strategies.models import CHAIN, GRAPH

from .trying import fixed_is_faithful

_CONDITION = (
    ("true_fn", Function("body", ("lambda: ops.ones((1,))",))),
    ("false_fn", Function("body", ("lambda: ops.zeros((1,))",))),
)
_ONE = Graph((Input((1,)),), (Layer("ops.cond", _CONDITION),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
COMPILED_TWICE = Graph(
    (Input((1,)),), (Layer("Model", graph=_ONE),), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras"
)
CHANGED_LATER = Layer("Dense", (("units", 4), ("activation", Form("activation", "empties a list"))))
REGISTERED = Layer("Lambda", (("function", Function("registered", ("x * 2.0",))),))
MODELS = {
    "a functional model": GRAPH,
    "a value that is changed later": structs.replace(GRAPH, layers=(CHANGED_LATER, *GRAPH.layers[1:])),
    "a registered function": structs.replace(GRAPH, layers=(GRAPH.layers[0], REGISTERED, *GRAPH.layers[2:])),
    "an input with a name": structs.replace(GRAPH, inputs=(Input((3, 4), name="x"),)),
    "a Sequential": CHAIN,
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("generation", ["keras", "tf_keras"])
def test_fixed_takes_the_arguments(generation: Generation, model: str, warm: Callable[[str], SubjectProcess]) -> None:
    for arguments in RECIPES:
        graph = structs.replace(MODELS[model], generation=generation, clone_arguments=arguments)
        of_keras3 = arguments.call_function or arguments.recursive
        if not unsaid(graph) and (generation == "keras" or not of_keras3):
            fixed_is_faithful(graph, warm(generation))


def test_a_function_that_is_compiled_twice_is_no_fault(keras: SubjectProcess) -> None:
    fixed_is_faithful(structs.replace(COMPILED_TWICE, clone_arguments=CloneArguments(recursive=True)), keras)
