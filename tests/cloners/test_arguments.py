"""What `clone_model` is given beside the model: the clone is held against the model that was asked for."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from clonediff import clone_model
from clonediff.harness.inside.frameworks import framework
from tests.cloners.generations import KERAS, each_generation, each_of
from tests.cloners.loading import load
from tests.cloners.oracle import unlike_calls, unlike_clone


def clear_session(generation):
    """Have names begin anew. Keras 3 looks for garbage then, unless it is told not to, which takes half a second."""
    KERAS[generation].backend.clear_session(**{"free_memory": False} if generation == "keras" else {})


def asked_for(generation):
    """The module of models for this, of a generation whose names begin anew."""
    clear_session(generation)
    return load(generation).arguments


def remade(layer):
    return layer.__class__.from_config(layer.get_config())


def unlike_by_hand(by_hand, clone, inputs=None):
    """The differences between a clone and the model that was asked for; generators of seeds are numbered as made."""
    lines = unlike_clone(by_hand, clone) + unlike_calls(by_hand, [clone], inputs)
    return [line for line in lines if "seed_generator" not in line]


@each_of("ASKED")
def test_a_clone_is_the_model_that_was_asked_for(generation, builder):
    clear_session(generation)  # what makes masks is named by a count
    clone = clone_model(builder.build(), **builder.arguments())
    clear_session(generation)
    assert unlike_by_hand(builder.by_hand(), clone, builder.inputs) == []


@each_of("MISUSED")
def test_what_cannot_be_done_is_said(generation, builder):
    model = builder.build()
    with pytest.raises(ValueError, match=builder.message):
        clone_model(model, **builder.arguments())
    if not builder.message:
        with pytest.raises(ValueError, match=""):
            KERAS[generation].models.clone_model(model, **builder.arguments())


@each_generation
def test_what_is_no_model_is_refused(generation):
    with pytest.raises(ValueError, match="model or layer of Keras"):
        framework(generation).fixed()("model")


# clone_function


def noted(asked):
    return lambda layer: asked.append(layer.name) or remade(layer)


@each_generation
def test_clone_function_is_asked_for_each_layer_but_inputs(generation):
    model, asked = load(generation).flags.nested(), []
    clone_model(model, clone_function=noted(asked))
    assert asked == [layer.name for layer in model.layers[1:]]
    if generation == "keras":
        asked.clear()
        clone_model(model, clone_function=noted(asked), recursive=True)
        inner = [*model.get_layer("inner").layers[1:], *model.get_layer("body").layers]
        assert sorted(asked) == sorted(["last", *(layer.name for layer in inner)])


def test_clone_function_is_asked_once_for_a_shared_layer():
    asked = []
    model = load("keras").graphs.a_layer_shared_with_a_nested_model()
    clone = clone_model(model, clone_function=noted(asked), recursive=True)
    assert asked == ["shared"]
    assert len(clone.weights) == 2


@each_generation
def test_clone_function_may_reuse_the_layers(generation):
    model = load(generation).arguments.single()
    clone = clone_model(model, clone_function=lambda layer: layer)
    assert clone.get_layer("dense") is model.get_layer("dense")
    assert unlike_calls(model, [clone]) == []


@each_generation
def test_one_layer_may_take_the_place_of_two(generation):
    one = KERAS[generation].layers.Dense(3)
    model = load(generation).arguments.through(KERAS[generation].layers.Dense(3))
    batch = np.ones((2, 3), "float32")
    assert np.array_equal(clone_model(model, clone_function=lambda _: one)(batch), one(one(batch)))


@each_generation
def test_clone_function_of_a_sequential_model(generation):
    model, new = load(generation).arguments.sequential(), KERAS[generation].layers.Dense(7)
    assert clone_model(model, clone_function=lambda layer: new).output_shape == (None, 7)


def test_operations_that_make_masks_keep_their_names_and_share_none():
    clear_session("keras")
    x = keras.Input((5,), dtype="int32")
    y = [layers.Embedding(9, 3, mask_zero=mask)(x) for mask in (False, True)]
    model = keras.Model(x, [layers.LSTM(2)(each) for each in y])
    clear_session("keras")
    clone = clone_model(model, **load("keras").arguments.MASK_ON())
    assert sorted(each.name for each in clone.operations if "equal" in each.name) == ["not_equal", "not_equal_1"]


@each_generation
def test_a_failure_leaves_layers_that_are_used_again_as_they_were(generation):
    package = KERAS[generation]
    model = load(generation).arguments.through(package.layers.Dense(3, name="first"))
    middle = package.layers.Dense(3, name="elsewhere")(package.Input((3,)))

    def calls():
        operations = [*model.layers, middle._keras_history[0]]
        return [(each.name, list(each._inbound_nodes), list(each._outbound_nodes)) for each in operations]

    def fails(layer, *_, **__):
        if layer.name == "last":
            raise KeyError("mine")
        return layer

    before = calls()
    ways = [{"clone_function": fails}]
    if generation == "keras":
        ways.append(
            {"clone_function": lambda it: it, "call_function": lambda it, *args, **kwargs: fails(it)(*args, **kwargs)}
        )
    for way in ways:
        with pytest.raises(KeyError, match="mine"):
            clone_model(model, input_tensors=middle, **way)
        assert calls() == before


# call_function


def noting(called, after=lambda layer, outputs: outputs):
    def function(layer, *args, **kwargs):
        called[layer.name] = kwargs
        return after(layer, layer(*args, **kwargs))

    return function


@pytest.mark.parametrize(
    "new",
    [lambda: layers.Masking(9.0, name="new"), lambda: layers.Conv1D(3, 1, name="new"), lambda: layers.ReLU(name="new")],
    ids=["another mask", "no mask", "mask handed on"],
)
def test_a_call_is_inserted(new):
    def after(layer, outputs):
        return new()(outputs) if isinstance(layer, layers.Embedding) else outputs

    clone = clone_model(asked_for("keras").embedded(), call_function=noting({}, after))
    by_hand = asked_for("keras").embedded(after=new())
    for model in (clone, by_hand):  # by hand, one that nothing uses has taken a number
        for operation in model.operations:
            if not isinstance(operation, layers.Layer):
                operation.name = type(operation).__name__
    assert unlike_by_hand(by_hand, clone) == []


def test_call_function_gets_the_arguments_that_were_given():
    called = {}
    clone_model(asked_for("keras").embedded(), call_function=noting(called))
    assert called == {"embedding": {}, "lstm": {}}
    clone_model(asked_for("keras").with_a_mask_given(), call_function=noting(called))
    assert list(called["lstm"]) == ["mask"]


@pytest.mark.parametrize(("recursive", "more"), [(False, set()), (True, {"dense", "batch_normalization"})])
def test_call_function_reaches_nested_models_only_when_recursive(recursive, more):
    called = {}
    clear_session("keras")
    clone_model(load("keras").flags.nested(), call_function=noting(called), recursive=recursive)
    assert set(called) == {"body", "inner", "last"} | more


def test_call_function_stops_at_wrappers_and_sequential_models():
    def inner(*shape):
        i = keras.Input(shape, name="i")
        return keras.Model(i, layers.Dense(3, name="dense")(i), name="inner")

    called = {}
    x = keras.Input((5, 3))
    wrapped = layers.TimeDistributed(inner(3), name="wrapper")(x)
    chain = keras.Sequential([keras.Input((5, 3)), inner(5, 3)], name="chain")
    clone_model(keras.Model(x, chain(wrapped)), call_function=noting(called), recursive=True)
    assert list(called) == ["wrapper", "chain"]


# input_tensors


@each_generation
def test_the_tensors_that_are_given_are_the_inputs(generation):
    arguments, given = load(generation).arguments, KERAS[generation].Input((3,), name="given")
    assert clone_model(arguments.single(), input_tensors=given).inputs[0] is given
    assert clone_model(arguments.sequential(), input_tensors=[given]).inputs[0] is given


@each_generation
@pytest.mark.parametrize("place", [0, 1])
def test_a_tensor_of_another_model_is_built_upon_and_stays_as_it_is(generation, place):
    package, arguments = KERAS[generation], load(generation).arguments
    x = package.Input((6,), name="far")
    middle = package.layers.Lambda(lambda t: [t[:, :3], t[:, 3:] * 2.0], name="split")(x)[place]
    elsewhere, history = package.Model(x, middle), middle._keras_history
    before = elsewhere.count_params(), [layer.name for layer in elsewhere.layers]
    for model in [arguments.single(), *([arguments.sequential()] if generation == "keras" else [])]:
        clone = clone_model(model, input_tensors=middle)
        assert clone.layers[-1].name == "dense"
        assert clone(np.ones((2, 3), "float32")).shape == (2, 2)
    assert middle._keras_history is history
    assert (elsewhere.count_params(), [layer.name for layer in elsewhere.layers]) == before


def test_an_eager_tensor_is_given_to_tf_keras():
    model = load("tf_keras").arguments.single()
    clone = clone_model(model, input_tensors=tf.ones((2, 3)))
    assert clone.input_names == ["input_wrapper_for_" + model.input_names[0]]


def test_a_number_that_the_inputs_that_are_given_cannot_hold_is_refused():
    arguments = load("tf_keras").arguments
    model = arguments.operated(arguments.NUMBERS_FIRST["less"], arguments.given())
    with pytest.raises(TypeError, match="int32 that does not match type float32"):
        clone_model(model, input_tensors=[arguments.given(dtype="int32")])
