"""`clone_model` with arguments: the clone equals the model that was asked for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from keras import layers

from clonediff import assert_clones_faithfully, clone_model
from tests.fixed.generations import KERAS, clear_session, for_builders, for_generations, load
from tests.helpers.example_counts import example_count
from tests.helpers.waiting import PATIENCE

BATCH = np.ones((2, 3), "float32")


def assert_equal(clone, by_hand):
    """Assert that a clone equals the model that was built by hand."""
    assert_clones_faithfully(by_hand, clone=lambda _: clone, costly=False)


@for_builders("EXPECTATIONS")
def test_a_clone_with_arguments_equals_the_model_built_by_hand(generation, builder):
    clear_session(generation)  # names of mask operations contain numbers
    clone = clone_model(builder.build(), **builder.arguments())
    clear_session(generation)
    assert_equal(clone, builder.by_hand())


@for_builders("REFUSALS")
def test_wrong_arguments_are_refused_and_change_nothing(generation, builder):
    model = builder.build()
    before = attributes_of(model)
    with pytest.raises((TypeError, ValueError), match=f"(?s){builder.message}"):
        clone_model(model, **builder.arguments())
    assert attributes_of(model) == before


def attributes_of(model, *others):
    """Return the attributes of models and layers, with copies of lists."""
    dicts = [vars(holder) for holder in (model, *getattr(model, "layers", ()), *others) if hasattr(holder, "__dict__")]
    return [{name: value[:] if type(value) is list else value for name, value in names.items()} for names in dicts]


# clone_function


def log_layers(names):
    return lambda layer: names.append(layer.name) or layer.from_config(layer.get_config())


@for_generations
def test_clone_function_is_called_for_all_layers_except_inputs(generation):
    model, names = load(generation).graphs.nested(), []
    clone_model(model, clone_function=log_layers(names))
    assert names == [layer.name for layer in model.layers[1:]]
    if generation == "keras":
        names.clear()
        clone_model(load("keras").graphs.a_layer_shared_with_nested_models(), None, log_layers(names), recursive=True)
        assert names.count("shared") == 1, "once, although several models have the layer"


@for_generations
def test_clone_function_may_reuse_a_layer(generation):
    model = load(generation).arguments.dense_model()
    clone = clone_model(model, clone_function=lambda layer: layer)
    assert clone.get_layer("dense") is model.get_layer("dense")
    assert np.array_equal(clone(BATCH), model(BATCH))
    dense = KERAS[generation].layers.Dense
    model, one = KERAS[generation].Sequential([KERAS[generation].Input((3,)), dense(3), dense(3)]), dense(3)
    assert np.array_equal(clone_model(model, clone_function=lambda _: one)(BATCH), one(one(BATCH)))


@for_generations
def test_clone_function_works_on_sequential_and_custom_models(generation):
    models, dense = load(generation), KERAS[generation].layers.Dense
    assert clone_model(models.arguments.sequential(), clone_function=lambda _: dense(7)).output_shape == (None, 7)
    backbone = models.single_layers.Backbone(5, 2.0)
    clone = clone_model(backbone, clone_function=lambda layer: dense(layer.units, use_bias=False))
    assert (type(clone), len(clone.weights), clone.scale) == (type(backbone), 2, 2.0)
    assert clone.last is clone.layers[-1]


@for_generations
def test_a_failed_clone_does_not_change_reused_layers(generation):
    package = KERAS[generation]
    x, dense = package.Input((3,)), package.layers.Dense
    model = package.Model(x, dense(3, name="last")(dense(3, name="first")(x)))
    middle = package.layers.Dense(3, name="elsewhere")(package.Input((3,)))

    def failing(layer, *_, **__):
        if layer.name == "last":
            raise KeyError("mine")
        return layer

    before = attributes_of(model, middle._keras_history[0])
    arguments = [{"clone_function": failing}]
    if generation == "keras":
        call = {"call_function": lambda layer, *args, **kwargs: failing(layer)(*args, **kwargs)}
        arguments.append({"clone_function": lambda layer: layer, **call})
    for functions in arguments:
        with pytest.raises(KeyError, match="mine"):
            clone_model(model, input_tensors=middle, **functions)
        assert attributes_of(model, middle._keras_history[0]) == before


# call_function


def log_calls(calls, after=lambda layer, outputs: outputs):
    def function(layer, *args, **kwargs):
        calls[layer.name] = kwargs
        return after(layer, layer(*args, **kwargs))

    return function


@pytest.mark.parametrize("kind", ["Masking", "Conv1D", "ReLU"])  # another mask, no mask, the same mask
def test_call_function_may_insert_a_call(kind):
    arguments = {"Masking": (9.0,), "Conv1D": (3, 1), "ReLU": ()}[kind]
    inserted = [getattr(layers, kind)(*arguments, name="new") for _ in range(2)]

    def after(layer, outputs):
        return inserted[0](outputs) if isinstance(layer, layers.Embedding) else outputs

    clear_session("keras")
    clone = clone_model(load("keras").arguments.embedding_model(), call_function=log_calls({}, after))
    by_hand = load("keras").arguments.embedding_model(after=inserted[1])
    for model in (clone, by_hand):  # building by hand used up a number for an unused operation
        for operation in model.operations:
            if not isinstance(operation, layers.Layer):
                operation.name = type(operation).__name__
    assert_equal(clone, by_hand)


def test_call_function_gets_call_arguments_in_nested_models_too():
    calls, models = {}, load("keras")
    clone_model(models.arguments.model_with_mask_input(), call_function=log_calls(calls))
    assert [*map(list, calls.values())] == [[], *[["mask"]] * 3], "calls of an embedding and three recurrent layers"
    calls.clear()
    clone_model(models.arguments.model_with_training_argument(), call_function=log_calls(calls))
    assert calls == {"boxes": {"training": True}}, "also an argument with its default value"
    for recursive, names in ((False, {"inner", "dense"}), (True, {"inner", "dense", "embedding", "lstm"})):
        calls.clear()
        clone_model(models.arguments.nested(), call_function=log_calls(calls), recursive=recursive)
        assert set(calls) == names


# input_tensors


@for_generations
def test_input_tensors_become_the_inputs_of_the_clone(generation):
    arguments, tensor = load(generation).arguments, KERAS[generation].Input((3,), name="given")
    assert clone_model(arguments.dense_model(), input_tensors=tensor).inputs[0] is tensor
    assert clone_model(arguments.sequential(), input_tensors=[tensor]).inputs[0] is tensor
    x, i = arguments.ids(), KERAS[generation].Input((5, 3))
    model = KERAS[generation].Model(x, KERAS[generation].Model(i, i)(arguments.embedding(True)(x)))
    configs = model.get_config(), clone_model(model, input_tensors=x).get_config()
    assert len({tuple(layer["name"] for layer in config["layers"]) for config in configs}) == 1  # with mask operations


@for_generations
def test_input_tensors_of_another_model_are_not_changed(generation):
    package, arguments = KERAS[generation], load(generation).arguments
    x = package.Input((6,), name="far")
    middle = package.layers.Lambda(lambda t: [t[:, :3], t[:, 3:] * 2.0], name="split")(x)[1]
    elsewhere, history = package.Model(x, middle), middle._keras_history
    before = elsewhere.count_params(), [layer.name for layer in elsewhere.layers]
    for model in [arguments.dense_model(), *([arguments.sequential()] if generation == "keras" else [])]:
        clone = clone_model(model, input_tensors=middle)
        assert clone.layers[-1].name == "dense"
        assert clone(BATCH).shape == (2, 2)
    assert middle._keras_history is history
    assert (elsewhere.count_params(), [layer.name for layer in elsewhere.layers]) == before


# clone_function and input_tensors


@for_generations
@pytest.mark.parametrize("argument", ["clone_function", "input_tensors", "name"])
def test_a_clone_with_weights_keeps_the_state_of_its_optimizer(generation, argument):
    package, models = KERAS[generation], load(generation).arguments
    model, given = models.dense_model(), package.Input((3,), name="given")
    model.compile(package.optimizers.Adam(0.25), "mse")
    targets = np.zeros((2, 2), "float32")
    model.fit(BATCH, targets, verbose=0)
    arguments = {"clone_function": models.remake, "input_tensors": given, "name": "copy"}
    clone = clone_model(model, weights=True, **{"name": "copy", argument: arguments[argument]})
    assert clone.name == "copy"
    losses = [net.train_on_batch(BATCH, targets) for net in (model, clone, clone_model(model)) for _ in range(2)]
    assert losses[:2] == losses[2:4]


@for_generations
def test_a_clone_applies_a_regularizer_set_after_construction(generation):
    package, model = KERAS[generation], load(generation).arguments.dense_model()
    model.get_layer("dense").kernel_regularizer = package.regularizers.L2(0.5)
    clone = clone_model(model)
    counts = [len(net.losses) for net in (model, clone, clone_model(clone), clone_model(model, weights=True))]
    assert counts == [0, 1, 1, 1]
    clone.get_layer("dense").kernel_regularizer = None
    assert len(clone_model(clone).losses) == 0


@pytest.mark.parametrize("kind", ["BatchNormalization", "TimeDistributed", "Bidirectional"])
def test_a_layer_with_a_mask_may_be_replaced_by_one_without(kind):
    arguments = {"TimeDistributed": (layers.Dense(3),), "Bidirectional": (layers.LSTM(3, return_sequences=True),)}
    model = load("keras").model_with(getattr(layers, kind)(*arguments.get(kind, ())), (4, 3))
    clone = clone_model(model, clone_function=lambda _: layers.LayerNormalization())
    assert clone(np.ones((2, 4, 3), "float32")).shape[1] == 4


NIGHTLY = pytest.mark.slow(reason="half a minute; by day, the same scopes of Keras 3 are tried")


@pytest.mark.parametrize("generation", ["keras", pytest.param("tf_keras", marks=NIGHTLY)])
def test_models_are_cloned_into_and_out_of_a_strategy_scope(generation):
    command = [sys.executable, "-m", "tests.fixed.strategy_scopes", generation]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, example_count(4, 18)), done.stderr[-3000:]
