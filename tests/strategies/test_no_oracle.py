"""The rules for models of which nobody says what their clone is: a graph for each, and one like it that has no rule."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.strategies.graph import (
    Call,
    CallFunction,
    CloneFunction,
    Graph,
    Input,
    Layer,
    Made,
    OwnClass,
    Ref,
    Seq,
    Step,
    Way,
)
from clonediff.strategies.kinds.recurrent import chained
from clonediff.strategies.no_oracle import RULES, unsaid
from tests.strategies.test_states import OBJECTS
from tests.strategies.test_ways import GRAPH, INNER, PAIR


def of(*layers: Layer, generation: str = "keras", state: tuple[Step, ...]) -> Graph:
    calls = tuple(Call(number, (Ref(number),)) for number in range(len(layers)))
    graph = Graph((Input((3, 4)),), layers, calls, Ref(0), Ref(len(layers)), state=state)
    return structs.replace(graph, generation=generation)


DENSE, DROPOUT = Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),))
SET_RATE = Step("set", "Dropout", (("rate", 0.25),))
SPECTRAL = Layer("SpectralNormalization", (("layer", Made(DENSE)),))
LOOKUP = Layer("IntegerLookup", (("vocabulary", Seq((1,))), ("output_mode", "multi_hot")))
ADAPT = Step("adapt", "IntegerLookup", (("data", Seq((1,))),))
COSTS = Layer("ActivityRegularization", (("l2", 0.5),))
PARTS = structs.replace(of(DENSE, state=(Step("call"),)), own=OwnClass("parts"))
ON_OTHERS = structs.replace(of(DENSE, state=(Step("compile"),)), way=Way(clone_function=CloneFunction()))
NO_ORACLE = {
    "cloned into another": (ON_OTHERS, structs.replace(ON_OTHERS, way=Way("fresh"))),
    "a constructor": (PARTS, structs.replace(PARTS, state=(Step("run"),))),
    "which gradient": (of(DROPOUT, state=(Step("clone remat"),)), of(DROPOUT, state=(Step("call"),))),
    "without a rate": (of(Layer("Dropout", (("rate", 0.0),)), state=(SET_RATE,)), of(DROPOUT, state=(SET_RATE,))),
    "a lookup": (of(LOOKUP, state=(ADAPT,)), of(structs.replace(LOOKUP, args=LOOKUP.args[:1]), state=(ADAPT,))),
    "SpectralNormalization": (of(SPECTRAL, state=(Step("quantize"),)), of(DENSE, state=(Step("quantize"),))),
    "hung on it": (of(DENSE, state=(Step("add_loss"), Step("hang"))), of(DENSE, state=(Step("hang"),))),
    "is loaded": (of(DENSE, state=(OBJECTS, Step("load"))), of(DENSE, state=(OBJECTS,))),
    "something was set": (of(DROPOUT, generation="keras2", state=(SET_RATE,)), of(DROPOUT, state=(SET_RATE,))),
    "Keras 2.2 finds": (of(DENSE, generation="keras2", state=(OBJECTS,)), of(DENSE, state=(OBJECTS,))),
    "the losses": (of(COSTS, generation="keras2", state=(Step("call"),)), of(COSTS, state=(Step("call"),))),
    "averages": (
        of(Layer("BatchNormalization"), generation="keras2", state=(Step("train"),)),
        of(Layer("LayerNormalization"), generation="keras2", state=(Step("train"),)),
    ),
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
UNSAID = {
    "frozen": (structs.replace(GRAPH, trainable=False), Way(clone_function=CloneFunction())),
    "operation of one's own": (structs.replace(INNER, layers=(Layer("Amplify"),)), Way(call_function=CallFunction())),
    "nothing is asked of": (structs.replace(INNER, gives=Ref(0)), Way(wrong="call")),
    "calls of a Sequential": (SEQUENTIAL, Way(call_function=CallFunction())),
    "on tensors of another dtype": (_DROPPED, Way(inputs="half")),
    "of another layer, or on tensors of another dtype": (_RESIZED, Way(inputs="double")),
    "made of another layer": (_DROPPED, Way(clone_function=CloneFunction("replaced", "Dropout"))),
    "in the place of one that does otherwise": (PAIR, Way(clone_function=CloneFunction("replaced", "Add"))),
    "renamed to": (
        structs.replace(GRAPH, generation="tf_keras"),
        Way(clone_function=CloneFunction("renamed")),
    ),
    "where a Sequential begins": (SEQUENTIAL, Way(inputs="made")),
    "Keras 2.2 begins": (structs.replace(INNER, generation="keras2"), Way(inputs="made")),
    "which batch": (
        structs.replace(INNER, layers=(Layer("TimeDistributed", (("layer", _CHAIN),)),)),
        Way(inputs="batch"),
    ),
    "nested before": (structs.replace(INNER, generation="tf_keras"), Way(inputs="listed")),
    "Keras 2.2 says": (structs.replace(INNER, generation="keras2"), Way(wrong="text")),
    "numbers": (structs.replace(INNER, generation="tf_keras"), Way(wrong="numbers")),
    "cloned into another": (
        structs.replace(INNER, state=(Step("trainable", None, (("trainable", False),)),)),
        Way(inputs="inner"),
    ),
}


IN_A_WAY = {
    reason: structs.replace(graph, generation=graph.generation or "keras", way=way)
    for reason, (graph, way) in UNSAID.items()
}


@pytest.mark.parametrize("reason", NO_ORACLE)
def test_what_nobody_says_anything_of(reason: str) -> None:
    graph, other = NO_ORACLE[reason]
    assert reason in unsaid(graph)
    assert unsaid(other) == ""
    assert unsaid(structs.replace(graph, state=())) == ""


@pytest.mark.parametrize("reason", IN_A_WAY)
def test_nobody_says_what_the_clone_is(reason: str) -> None:
    graph = IN_A_WAY[reason]
    assert reason in unsaid(graph)
    assert unsaid(structs.replace(graph, way=None)) == ""


def test_rules_are_few_and_each_is_tried() -> None:
    tried = {unsaid(graph) for graph in (*(graph for graph, _ in NO_ORACLE.values()), *IN_A_WAY.values())}
    left = {rule.reason for rule in RULES} - tried
    assert left == {"which masks a model has in a RematScope"}, "the masks are for a Keras to tell"
    assert len(RULES) <= 30
