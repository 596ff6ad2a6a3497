"""The rules for models whose correct clone is undefined: a graph for each, and one like it that has no rule."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.strategies.graph import Call, CloneArguments, Graph, Input, Layer, Made, Preparation, Ref, Seq
from clonediff.strategies.no_oracle import RULES, unsaid
from tests.strategies.models import CHAIN, INNER


def of(layer: Layer, preparation: Preparation) -> Graph:
    graph = Graph((Input((3, 4)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    return structs.replace(graph, preparations=(preparation,))


LOOKUP = Layer("IntegerLookup", (("vocabulary", Seq((1,))), ("output_mode", "multi_hot")))
ADAPT = Preparation("adapt", "IntegerLookup", (("data", Seq((1,))),))
DENSE = Layer("Dense", (("units", 4),))
SPECTRAL = Layer("SpectralNormalization", (("layer", Made(DENSE)),))
NO_ORACLE = {
    "a lookup": (of(LOOKUP, ADAPT), of(structs.replace(LOOKUP, args=LOOKUP.args[:1]), ADAPT)),
    "SpectralNormalization": (of(SPECTRAL, Preparation("quantize")), of(DENSE, Preparation("quantize"))),
    "calls of a Sequential": (
        structs.replace(CHAIN, clone_arguments=CloneArguments(call_function=True)),
        structs.replace(INNER, clone_arguments=CloneArguments(call_function=True)),
    ),
    "nested before": (
        structs.replace(INNER, generation="tf_keras", clone_arguments=CloneArguments("listed")),
        structs.replace(INNER, generation="keras", clone_arguments=CloneArguments("listed")),
    ),
}
"""By a part of its reason: a graph that the rule is for, and one like it."""


@pytest.mark.parametrize("reason", NO_ORACLE)
def test_a_rule_holds_for_its_graph_alone(reason: str) -> None:
    graph, other = NO_ORACLE[reason]
    assert reason in unsaid(graph)
    assert unsaid(other) == ""


def test_each_rule_has_a_graph() -> None:
    assert {unsaid(graph) for graph, _ in NO_ORACLE.values()} == {rule.reason for rule in RULES}
