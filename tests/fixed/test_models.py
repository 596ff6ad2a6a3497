"""`clone_model` on small models that are hard to clone, and on graphs that are drawn, as the harness compares them."""

from __future__ import annotations

import warnings

import pytest

from clonediff import clone_model
from clonediff.harness.inside.frameworks import framework, generation_of
from clonediff.harness.inside.values import input_arrays
from clonediff.harness.trials.cases import case_of
from tests.example_counts import examples
from tests.fixed.comparison import unlike, unlike_calls
from tests.fixed.generations import for_builders, for_generations, load
from tests.warm_keras import drawn


@for_builders("MODELS")
def test_a_clone_is_faithful(generation, builder):
    assert unlike(builder.build(), quietly, builder.inputs and builder.inputs(), builder.again) == []


def quietly(model):
    """The clone of a model, which is made without a warning of what cannot be serialized."""
    with warnings.catch_warnings(record=True, action="always") as recorded:
        clone = clone_model(model)
    assert [warning for warning in recorded if "serializ" in str(warning.message)] == []
    return clone


@for_generations
def test_a_clone_of_a_drawn_graph_is_faithful(generation):
    for graph in drawn(generation, examples(30, 300)):
        if graph.program.scope is not None:  # it is cloned within a scope
            continue
        with framework(generation).scratch():
            assert unlike_its_clone(case_of(graph)) == [], graph.source


def unlike_its_clone(case):
    model, arrays = model_of(case.source), input_arrays(case.inputs, case.batch, case.seed)
    inputs = framework(generation_of(model)).feed(model, arrays)
    try:
        return unlike(model, clone_model, inputs)
    except Exception as error:  # the model fails itself
        original = model_of(case.source)
        with pytest.raises(type(error)):
            unlike_calls(original, [original], inputs)
        return unlike(model_of(case.source), clone_model, False)


def model_of(source):
    names = {"__name__": "drawn"}
    exec(source, names)
    return names["model"]


FAULTS = {
    "a name": lambda model, clone: setattr(clone, "_name" if hasattr(clone, "_name") else "name", "other"),
    "a flag": lambda model, clone: setattr(clone.layers[1], "trainable", False),
    "an activation": lambda model, clone: setattr(clone.layers[-1], "activation", model.layers[-1].call),
    "an object of the original": lambda model, clone: setattr(clone, "callback", [lambda: model.layers[1]]),
}


@for_generations
@pytest.mark.parametrize("fault", FAULTS)
def test_the_comparison_sees_a_fault(generation, fault):
    def faulty(model):
        clone = clone_model(model)
        FAULTS[fault](model, clone)
        return clone

    assert unlike(load(generation).graphs.nested(), faulty) != []
