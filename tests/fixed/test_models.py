"""`clone_model` on small models that are hard to clone, and on graphs that are drawn, under the oracle."""

from __future__ import annotations

import warnings

import pytest
import tensorflow as tf

from clonediff import clone_model
from clonediff.harness.inside.values import input_arrays
from clonediff.harness.trials.cases import case_of
from tests.fixed.generations import KERAS, for_builders, for_generations, load
from tests.fixed.oracle import ends_of, unlike, unlike_calls
from tests.warm_keras import at_hand, hold


@for_builders("MODELS", one_in=3)
def test_a_clone_is_faithful(generation, builder):
    assert unlike(builder.build(), quietly, builder.arrays(), builder.again, builder.first_values) == []


def quietly(model):
    """The clone of a model, which is made without a warning of what cannot be serialized."""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        clone = clone_model(model)
    assert [warning for warning in recorded if "serializ" in str(warning.message)] == []
    return clone


@for_generations
def test_a_clone_of_a_drawn_graph_is_faithful(generation):
    def holds(graph):
        with at_hand(generation):
            case = case_of(graph, generation)
        model, arrays = model_of(case.source), input_arrays(case.inputs, case.batch, case.seed)
        inputs = tf.nest.pack_sequence_as(ends_of(getattr(model, "_functional", None) or model, "inputs"), arrays)
        try:
            lines = unlike(model, clone_model, inputs)
        except tf.errors.InvalidArgumentError:  # such as an Embedding of numbers that it does not have
            original = model_of(case.source)
            with pytest.raises(tf.errors.InvalidArgumentError):
                unlike_calls(original, [original], inputs)
            lines = unlike(model_of(case.source), clone_model, False)
        assert lines == [], case.source

    hold(holds, generation, few=30, many=300)


def model_of(source):
    names = {"__name__": "drawn"}
    exec(source, names)
    return names["model"]


def unlike_of_keras(generation, builder):
    """What the oracle says of the clone that Keras itself makes, whose inputs have other names."""
    clone = KERAS[generation].models.clone_model
    try:
        return unlike(builder.build(), clone, builder.arrays(), builder.again, builder.first_values, names=False)
    except Exception as error:  # whatever Keras raises
        return [repr(error)]


@for_generations
def test_the_oracle_sees_what_keras_breaks(generation):
    builders = list(load(generation).MODELS.values())[::6]
    assert sum(bool(unlike_of_keras(generation, builder)) for builder in builders) > len(builders) / 4
