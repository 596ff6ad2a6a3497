"""The fixed cloner of Keras 3 with each argument, held against the model that was asked for, built by hand."""

from __future__ import annotations

from collections import OrderedDict

import keras
import numpy as np
import pytest
from keras import layers, ops

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests.cloners.fixed.keras3_faithful import assert_alike

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(2, 3)).astype("float32")
TOKENS = np.array([[1, 2, 0, 0, 0], [3, 0, 4, 0, 0]], "int32")
SEQUENCES = RNG.normal(size=(2, 5, 3)).astype("float32")
SEQUENCES[:, 3:] = 0.0


def from_a_fresh_start(build):
    """Operations behind masks are named by a count."""
    keras.backend.clear_session()
    return build()


def changed(kind, **options):
    """A `clone_function` that gives layers of a kind another config."""

    def function(layer):
        more = options if isinstance(layer, kind) else {}
        return type(layer).from_config({**layer.get_config(), **more})

    return function


def replaced(kind, new):
    return lambda layer: new() if isinstance(layer, kind) else type(layer).from_config(layer.get_config())


def embedded(mask=True, after=None):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model(x, layers.LSTM(2, name="lstm")(y if after is None else after(y)), name="model")


def masked(layer, masking=None):
    x = keras.Input((5, 3), name="x")
    return keras.Model(x, layer((masking or layers.Masking(name="masking"))(x)), name="model")


def averaged(mask=True):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Activation("tanh", name="tanh")(layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x))
    return keras.Model(x, layers.GlobalAveragePooling1D(name="mean")(y), name="model")


def attending(mask=True):
    x = keras.Input((5,), name="x", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model(x, layers.Attention(name="attention")([y, y]), name="model")


def with_a_mask_given(mask=True):
    x, given = keras.Input((5,), name="x", dtype="int32"), keras.Input((5,), name="given", dtype="bool")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(x)
    return keras.Model([x, given], layers.LSTM(2, name="lstm")(y, mask=given), name="model")


def nested(mask=True):
    i = keras.Input((5,), name="i", dtype="int32")
    y = layers.Embedding(9, 3, mask_zero=mask, name="embedding")(i)
    inner = keras.Model(i, layers.LSTM(2, name="lstm")(y), name="inner")
    x = keras.Input((5,), name="x", dtype="int32")
    return keras.Model(x, layers.Dense(2, name="dense")(inner(x)), name="model")


class Quiet(layers.Layer):
    def call(self, x, training=False):
        return x


class Noisy(layers.Layer):
    def call(self, x, training=True):
        return x + 1.0 if training else x


def through(layer):
    x = keras.Input((3,), name="x")
    return keras.Model(x, layer(x), name="model")


def chain(layer):
    return keras.Sequential([keras.Input((5, 3), name="x"), layers.Dense(2, name="dense"), layer], name="model")


def lstm(**options):
    return layers.LSTM(2, name="lstm", **options)


REPLACED = {
    "mask off": (embedded, changed(layers.Embedding, mask_zero=False), lambda: embedded(False), TOKENS),
    "mask on": (lambda: embedded(False), changed(layers.Embedding, mask_zero=True), embedded, TOKENS),
    "mask off, further on": (averaged, changed(layers.Embedding, mask_zero=False), lambda: averaged(False), TOKENS),
    "mask on, in a list": (lambda: attending(False), changed(layers.Embedding, mask_zero=True), attending, TOKENS),
    "mask given": (
        with_a_mask_given,
        changed(layers.Embedding, mask_zero=False),
        lambda: with_a_mask_given(False),
        [TOKENS, TOKENS > 1],
    ),
    "no masking": (
        lambda: masked(lstm()),
        replaced(layers.Masking, lambda: layers.Activation("tanh", name="masking")),
        lambda: masked(lstm(), layers.Activation("tanh", name="masking")),
        SEQUENCES,
    ),
    "another mask": (
        lambda: masked(lstm()),
        changed(layers.Masking, mask_value=1.0),
        lambda: masked(lstm(), layers.Masking(1.0, name="masking")),
        np.where(SEQUENCES == 0.0, 1.0, SEQUENCES),
    ),
    "by one that takes no mask": (
        lambda: masked(lstm(return_sequences=True)),
        replaced(layers.LSTM, lambda: layers.Dense(2, name="lstm")),
        lambda: masked(layers.Dense(2, name="lstm")),
        SEQUENCES,
    ),
    "by one that takes masks": (
        lambda: masked(layers.Dense(2, name="lstm")),
        replaced(layers.Dense, lambda: lstm(return_sequences=True)),
        lambda: masked(lstm(return_sequences=True)),
        SEQUENCES,
    ),
    "wrapped": (
        lambda: masked(lstm()),
        replaced(layers.LSTM, lambda: layers.Bidirectional(lstm(), name="both")),
        lambda: masked(layers.Bidirectional(lstm(), name="both")),
        SEQUENCES,
    ),
    "in a Sequential, by one that tells no shape": (  # Keras leaves such a Sequential without a graph
        lambda: chain(Quiet(name="layer")),
        replaced(Quiet, lambda: layers.TimeDistributed(Quiet(name="within"), name="layer")),
        lambda: chain(layers.TimeDistributed(Quiet(name="within"), name="layer")),
        SEQUENCES,
    ),
    "by one with another default": (
        lambda: through(Quiet(name="layer")),
        replaced(Quiet, lambda: Noisy(name="layer")),
        lambda: through(Noisy(name="layer")),
        VECTORS,
    ),
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_layer_is_replaced(name):
    build, function, by_hand, data = REPLACED[name]
    clone = clone_model(from_a_fresh_start(build), clone_function=function)
    assert_alike(from_a_fresh_start(by_hand), clone, data)


def test_a_layer_in_a_nested_model_is_replaced():
    function = changed(layers.Embedding, mask_zero=False)
    clone = clone_model(from_a_fresh_start(nested), clone_function=function, recursive=True)
    assert_alike(nested(False), clone, TOKENS)


def after_embedding(new):
    def function(layer, *args, **kwargs):
        outputs = layer(*args, **kwargs)
        return new()(outputs) if isinstance(layer, layers.Embedding) else outputs

    return function


@pytest.mark.parametrize(
    "new",
    [lambda: layers.Masking(9.0, name="new"), lambda: layers.Conv1D(3, 1, name="new"), lambda: layers.ReLU(name="new")],
    ids=["another mask", "no mask", "mask handed on"],
)
def test_a_call_is_inserted(new):
    clone = clone_model(from_a_fresh_start(embedded), call_function=after_embedding(new))
    by_hand = from_a_fresh_start(lambda: embedded(after=new()))
    for model in (clone, by_hand):  # by hand, one that nothing uses has taken a number
        for operation in model.operations:
            if not isinstance(operation, layers.Layer):
                operation.name = type(operation).__name__
    assert_alike(by_hand, clone, TOKENS)


def test_call_function_gets_the_arguments_that_were_given():
    seen = {}

    def function(layer, *args, **kwargs):
        seen[layer.name] = kwargs
        return layer(*args, **kwargs)

    clone_model(embedded(), call_function=function)
    assert seen == {"embedding": {}, "lstm": {}}
    clone_model(with_a_mask_given(), call_function=function)
    assert list(seen["lstm"]) == ["mask"]


def test_call_function_stops_at_wrappers_and_sequential_models():
    called = []

    def function(layer, *args, **kwargs):
        called.append(layer.name)
        return layer(*args, **kwargs)

    def inner(*shape):
        i = keras.Input(shape, name="i")
        return keras.Model(i, layers.Dense(3, name="dense")(i), name="inner")

    x = keras.Input((5, 3))
    wrapped = layers.TimeDistributed(inner(3), name="wrapper")(x)
    chain = keras.Sequential([keras.Input((5, 3)), inner(5, 3)], name="chain")
    clone_model(keras.Model(x, chain(wrapped)), call_function=function, recursive=True)
    assert called == ["wrapper", "chain"]


def subtracting(a, b, nest=lambda a, b: [a, b]):
    return keras.Model(
        nest(a, b), layers.Subtract(name="s")([layers.Dense(2, name="on_a")(a), layers.Dense(2, name="on_b")(b)])
    )


NESTED = {
    "a tuple for a list": (lambda a, b: [a, b], lambda a, b: (a, b), [VECTORS, VECTORS[:, :2]]),
    "a dict": (
        lambda a, b: {"b": b, "a": a},
        lambda a, b: {"a": a, "b": b},
        {"a": VECTORS, "b": VECTORS[:, :2]},
    ),
    "an ordered dict": (
        lambda a, b: OrderedDict(b=b, a=a),
        lambda a, b: OrderedDict(a=a, b=b),
        OrderedDict(b=VECTORS[:, :2], a=VECTORS),
    ),
    "nested": (lambda a, b: [a, {"b": b}], lambda a, b: (a, {"b": b}), [VECTORS, {"b": VECTORS[:, :2]}]),
}


@pytest.mark.parametrize("name", NESTED)
def test_input_tensors_are_taken_by_their_place(name):
    own, given, data = NESTED[name]

    def inputs():
        return keras.Input((3,), name="a"), keras.Input((2,), name="b")

    clone = clone_model(subtracting(*inputs(), own), input_tensors=given(*inputs()))
    by_hand = subtracting(*inputs(), own)
    assert str(clone._inputs_struct) == str(by_hand._inputs_struct)
    clone.name = by_hand.name
    assert_alike(by_hand, clone, data)


@pytest.mark.parametrize("nest", [lambda x: x, lambda x: [x], lambda x: (x,)], ids=["a tensor", "a list", "a tuple"])
@pytest.mark.parametrize("own", [lambda x: x, lambda x: [x]], ids=["of a tensor", "of a list"])
def test_a_list_of_one_is_a_tensor(own, nest):
    x = keras.Input((3,))
    given = keras.Input((4,), name="given")
    clone = clone_model(keras.Model(own(x), layers.Dense(2)(x)), input_tensors=nest(given))
    assert clone._inputs_struct == own(given)


def test_a_failure_leaves_layers_that_are_used_again_as_they_were():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(2, name="second")(layers.Dense(2, name="first")(x)))
    middle = layers.Dense(3, name="elsewhere")(keras.Input((4,)))

    def calls():
        operations = [*model.operations, middle._keras_history.operation]
        return [(each.name, list(each._inbound_nodes), list(each._outbound_nodes)) for each in operations]

    def fails(layer, *_, **__):
        if layer.name == "second":
            raise KeyError("mine")
        return layer

    def fails_to_call(layer, *args, **kwargs):
        return fails(layer)(*args, **kwargs)

    before = calls()
    for way in ({"clone_function": fails}, {"clone_function": lambda layer: layer, "call_function": fails_to_call}):
        with pytest.raises(KeyError, match="mine"):
            clone_model(model, input_tensors=middle, **way)
        assert calls() == before


def test_operations_that_make_masks_keep_their_names_and_share_none():
    def build():
        x = keras.Input((5,), dtype="int32")
        y = [layers.Embedding(9, 3, mask_zero=mask)(x) for mask in (False, True)]
        return keras.Model(x, [layers.LSTM(2)(each) for each in y])

    model = from_a_fresh_start(build)
    keras.backend.clear_session()
    clone = clone_model(model, clone_function=changed(layers.Embedding, mask_zero=True))
    assert sorted(each.name for each in clone.operations if "equal" in each.name) == ["not_equal", "not_equal_1"]


class Both(layers.Layer):
    def call(self, x):
        return x, 2 * x


def twice():
    x = keras.Input((3,), name="x")
    return keras.Model([x, x], layers.Dense(2)(x), name="model")


def used_by_an_operation():
    x = keras.Input((3,))
    dense = layers.Dense(2, name="dense")
    y = dense(x)
    return keras.Model(x, ops.matmul(x, dense.kernel) + y)


def on_a_masked_tensor():
    return layers.Embedding(9, 3, mask_zero=True)(keras.Input((5,), dtype="int32"))


def simple():
    return through(layers.Dense(2, name="dense"))


MISUSES = {
    "no model": (lambda: "model", {}, "model or layer of Keras"),
    "call_function": (simple, {"call_function": 0}, "`call_function` argument to be a callable"),
    "None": (simple, {"clone_function": lambda _: None}, "gave None for the layer 'dense'"),
    "a class": (simple, {"clone_function": type}, "the layer to use in its place"),
    "a function": (simple, {"clone_function": lambda _: ops.relu}, "the layer to use in its place"),
    "an input layer": (simple, {"clone_function": lambda _: layers.InputLayer((3,))}, "no InputLayer"),
    "an input layer in a Sequential": (
        lambda: keras.Sequential([layers.Dense(2), layers.Dense(3)]),
        {"clone_function": replaced(layers.Dense, lambda: layers.InputLayer((3,)))},
        "no InputLayer",
    ),
    "two outputs for one": (simple, {"clone_function": lambda _: Both()}, "gave 2 tensors for the call of 'dense'"),
    "no outputs": (simple, {"call_function": lambda *_, **__: None}, "`call_function` gave None for the call of"),
    "an argument": (
        with_a_mask_given,
        {"clone_function": replaced(layers.LSTM, lambda: layers.Dense(2))},
        "call of 'lstm' cannot be made on .*Dense.*mask",
    ),
    "a variable": (
        used_by_an_operation,
        {"clone_function": replaced(layers.Dense, lambda: layers.Lambda(lambda t: t[:, :2]))},
        "takes the variable '.*' of the layer 'dense'",
    ),
    "another for the same": (
        twice,
        {"input_tensors": [keras.Input((3,)), keras.Input((3,))]},
        "the tensor 'x' for several of its inputs",
    ),
    "other keys": (lambda: subtracting(keras.Input((3,)), keras.Input((2,))), {"input_tensors": {}}, "same structure"),
    "no history": (simple, {"input_tensors": keras.KerasTensor((None, 3))}, "by no `Input` and by no layer"),
    "a mask from outside": (
        lambda: masked(lstm(), layers.Activation("tanh")),
        {"input_tensors": on_a_masked_tensor()},
        "has a mask, which is none of the inputs",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_what_cannot_be_done_is_said(name):
    build, way, message = MISUSES[name]
    with pytest.raises(ValueError, match=message):
        clone_model(build(), **way)
