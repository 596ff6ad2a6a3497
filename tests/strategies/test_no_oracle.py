"""The rules for models of which nobody says what their clone is: a graph for each, and one like it that has no rule."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneArguments,
    CloneFunction,
    CustomClass,
    Graph,
    Input,
    Layer,
    Made,
    Preparation,
    Ref,
    Seq,
)
from clonediff.strategies.kinds.recurrent import chained
from clonediff.strategies.no_oracle import RULES, unsaid
from tests.strategies.test_clone_arguments import GRAPH, INNER, PAIR
from tests.strategies.test_preparations import OBJECTS


def of(*layers: Layer, generation: str = "keras", preparations: tuple[Preparation, ...]) -> Graph:
    calls = tuple(Call(number, (Ref(number),)) for number in range(len(layers)))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(len(layers)), preparations=preparations)
    return structs.replace(graph, generation=generation)


DROPS = Layer("GRUCell", (("units", 4), ("recurrent_dropout", 0.5)))
IN_RNN = Layer("RNN", (("cell", Made(DROPS)),))
DENSE, DROPOUT = Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),))
SET_RATE = Preparation("set", "Dropout", (("rate", 0.25),))
SPECTRAL = Layer("SpectralNormalization", (("layer", Made(DENSE)),))
LOOKUP = Layer("IntegerLookup", (("vocabulary", Seq((1,))), ("output_mode", "multi_hot")))
ADAPT = Preparation("adapt", "IntegerLookup", (("data", Seq((1,))),))
COSTS = Layer("ActivityRegularization", (("l2", 0.5),))
PARTS = structs.replace(of(DENSE, preparations=(Preparation("call"),)), custom_class=CustomClass("parts"))
ON_OTHERS = structs.replace(
    of(DENSE, preparations=(Preparation("compile"),)), clone_arguments=CloneArguments(clone_function=CloneFunction())
)
NO_ORACLE = {
    "cloned into another": (ON_OTHERS, structs.replace(ON_OTHERS, clone_arguments=CloneArguments("fresh"))),
    "a constructor": (PARTS, structs.replace(PARTS, preparations=(Preparation("run"),))),
    "which gradient": (
        of(DROPOUT, preparations=(Preparation("clone remat"),)),
        of(DROPOUT, preparations=(Preparation("call"),)),
    ),
    "without a rate": (
        of(Layer("Dropout", (("rate", 0.0),)), preparations=(SET_RATE,)),
        of(DROPOUT, preparations=(SET_RATE,)),
    ),
    "a lookup": (
        of(LOOKUP, preparations=(ADAPT,)),
        of(structs.replace(LOOKUP, args=LOOKUP.args[:1]), preparations=(ADAPT,)),
    ),
    "SpectralNormalization": (
        of(SPECTRAL, preparations=(Preparation("quantize"),)),
        of(DENSE, preparations=(Preparation("quantize"),)),
    ),
    "a cell": (of(DROPS, preparations=(Preparation("train"),)), of(IN_RNN, preparations=(Preparation("train"),))),
    "hung on it": (
        of(DENSE, preparations=(Preparation("add_loss"), Preparation("hang"))),
        of(DENSE, preparations=(Preparation("hang"),)),
    ),
    "is loaded": (of(DENSE, preparations=(OBJECTS, Preparation("load"))), of(DENSE, preparations=(OBJECTS,))),
}
"""By a part of its reason: a graph that the rule is for, and one like it that somebody says something of."""


SEQUENTIAL = structs.replace(INNER, sequential=True)
_CHAIN = chained(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),)))
_RESIZED = structs.replace(
    INNER,
    inputs=(Input((3, 3, 2)),),
    layers=(Layer("Resizing", (("height", 2), ("width", 2))),),
    calls=(Call(0, (Ref(0),), (("training", True),)),),
)
_DROPPED = structs.replace(
    INNER,
    layers=(Layer("Dropout", (("rate", 0.5),)),),
    calls=(Call(0, (Ref(0),), (("training", False),)),),
)
_AROUND_A_CHAIN = structs.replace(
    INNER, layers=(Layer("Sequential", graph=structs.replace(SEQUENTIAL, built="later")),)
)
UNSAID = {
    "frozen": (structs.replace(GRAPH, trainable=False), CloneArguments(clone_function=CloneFunction())),
    "operation of one's own": (
        structs.replace(INNER, layers=(Layer("Amplify"),)),
        CloneArguments(call_function=CallFunction()),
    ),
    "nothing is asked of": (structs.replace(INNER, gives=Ref(0)), CloneArguments(wrong="call")),
    "calls of a Sequential": (SEQUENTIAL, CloneArguments(call_function=CallFunction())),
    "on tensors of another dtype": (_DROPPED, CloneArguments(inputs="half")),
    "of another layer, or on tensors of another dtype": (_RESIZED, CloneArguments(inputs="double")),
    "made of another layer": (_DROPPED, CloneArguments(clone_function=CloneFunction("replaced", "Dropout"))),
    "computed from a shape": (
        structs.replace(INNER, layers=(Layer("ops.cholesky"),)),
        CloneArguments(inputs="made"),
    ),
    "in the place of one that does otherwise": (PAIR, CloneArguments(clone_function=CloneFunction("replaced", "Add"))),
    "renamed to": (
        structs.replace(GRAPH, generation="tf_keras"),
        CloneArguments(clone_function=CloneFunction("renamed")),
    ),
    "where a Sequential begins": (SEQUENTIAL, CloneArguments(inputs="made")),
    "which batch": (
        structs.replace(INNER, layers=(Layer("TimeDistributed", (("layer", _CHAIN),)),)),
        CloneArguments(inputs="batch"),
    ),
    "or shape": (_AROUND_A_CHAIN, CloneArguments(inputs="transposed")),
    "that the model's inputs build": (
        structs.replace(_AROUND_A_CHAIN, inputs=(Input((None, 4)),)),
        CloneArguments(inputs="closed"),
    ),
    "nested before": (structs.replace(INNER, generation="tf_keras"), CloneArguments(inputs="listed")),
    "numbers": (structs.replace(INNER, generation="tf_keras"), CloneArguments(wrong="numbers")),
    "cloned into another": (
        structs.replace(INNER, preparations=(Preparation("trainable", None, (("trainable", False),)),)),
        CloneArguments(inputs="inner"),
    ),
}


WITH_ARGUMENTS = {
    reason: structs.replace(graph, generation=graph.generation or "keras", clone_arguments=clone_arguments)
    for reason, (graph, clone_arguments) in UNSAID.items()
}


@pytest.mark.parametrize("reason", NO_ORACLE)
def test_what_nobody_says_anything_of(reason: str) -> None:
    graph, other = NO_ORACLE[reason]
    assert reason in unsaid(graph)
    assert unsaid(other) == ""
    assert unsaid(structs.replace(graph, preparations=())) == ""


@pytest.mark.parametrize("reason", WITH_ARGUMENTS)
def test_nobody_says_what_the_clone_is(reason: str) -> None:
    graph = WITH_ARGUMENTS[reason]
    assert reason in unsaid(graph)
    assert unsaid(structs.replace(graph, clone_arguments=None)) == ""


@pytest.mark.parametrize(("kind", "unknown"), [("Remember", True), ("Late", True), ("Scale", False)])
def test_nobody_says_what_a_layer_knows_that_was_called_beside_the_model(kind: str, unknown: bool) -> None:
    inputs, layers = (Input((1,)), Input((2,))), (Layer(kind),)
    beside, inside = Call(0, (Ref(1),)), Call(0, (Ref(0),))
    takes = Seq((Ref(0), Ref(1)))
    first = Graph(inputs, layers, (beside, inside), takes, Ref(3), generation="tf_keras")
    later = Graph(inputs, layers, (inside, beside), takes, Ref(2), generation="tf_keras")
    assert ("has noted it" in unsaid(first)) is unknown
    assert unsaid(later) == ""


def test_rules_are_few_and_each_is_tried() -> None:
    tried = {unsaid(graph) for graph in (*(graph for graph, _ in NO_ORACLE.values()), *WITH_ARGUMENTS.values())}
    left = {rule.reason for rule in RULES} - tried
    assert left == {"which masks a model has in a RematScope"}, "the masks are for a Keras to tell"
    assert len(RULES) <= 30
