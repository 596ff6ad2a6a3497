"""`assert_faithful`: everything that must be equal between a `tf_keras` model and its clone, in one strict check."""

from __future__ import annotations

import re
import types

import numpy as np
import tensorflow as tf
import tf_keras as keras

from tests import effort


def floats_of(seed):
    """A function from a shape to floats, the next of a sequence of its own."""
    random = np.random.RandomState(seed)

    def floats(*shape):
        return random.standard_normal(shape).astype("float32")

    return floats


def assert_faithful(model, clone_model, inputs, again=False):
    """Clone `model` and compare; `inputs` is what both are called on.

    A second clone, and one of the clone, are compared where that is asked for: each doubles what it takes.
    """
    before = _footprint(model)
    clone = clone_model(model)
    assert _footprint(model) == before, "the original was changed"
    assert clone is not model
    assert_same_structure(model, clone)
    assert_own_weights(model, clone)
    clone.set_weights(model.get_weights())
    assert_same_results(model, clone, inputs)
    if again or effort.everything():
        second = clone_model(model)
        assert_same_structure(clone, second)
        third = clone_model(clone)
        assert_same_structure(model, third)
        third.set_weights(model.get_weights())
        assert_same_results(model, third, inputs)
    return clone


def assert_same_structure(model, clone):
    assert clone.name == model.name
    assert type(clone).__name__ == type(model).__name__
    assert spec(model._nested_inputs if hasattr(model, "_nested_inputs") else None) == spec(
        clone._nested_inputs if hasattr(clone, "_nested_inputs") else None
    )
    assert spec(getattr(model, "_nested_outputs", None)) == spec(getattr(clone, "_nested_outputs", None))
    assert getattr(clone, "output_names", None) == getattr(model, "output_names", None)
    assert getattr(clone, "input_names", None) == getattr(model, "input_names", None)
    ours, theirs = everything(model), everything(clone)
    assert [layer_card(each) for each in theirs] == [layer_card(each) for each in ours]
    assert _sharing(theirs) == _sharing(ours)
    assert not {id(each) for each in ours} & {id(each) for each in theirs}
    counted = {id(each) for each in graph_nodes(model)}
    counted_again = {id(each) for each in graph_nodes(clone)}
    assert [calls(each, counted_again) for each in theirs] == [calls(each, counted) for each in ours]
    assert weight_cards(clone) == weight_cards(model)
    assert [w.name for w in clone.trainable_weights] == [w.name for w in model.trainable_weights]


def assert_own_weights(model, clone):
    ours = {id(v) for v in [*model.variables, *states(model)]}
    assert not ours & {id(v) for v in [*clone.variables, *states(clone)]}


def assert_same_results(model, clone, inputs):
    for training in (False, True):
        results = []
        for each in (model, clone):
            reset(each)
            keras.utils.set_random_seed(3)
            outputs = each(copied(inputs), training=training)
            masks = tf.nest.map_structure(lambda t: digest(getattr(t, "_keras_mask", None)), outputs)
            losses = [digest(loss) for loss in each.losses]
            metrics = [digest(metric.result()) for metric in each.metrics]
            results.append((tf.nest.map_structure(digest, outputs), masks, losses, metrics))
        assert results[0] == results[1], f"training={training}"


def reset(model):
    for metric in model.metrics:
        metric.reset_state()
    for layer in model._flatten_layers():
        if getattr(layer, "stateful", False) and hasattr(layer, "reset_states") and hasattr(layer, "cell"):
            layer.reset_states()


def copied(inputs):
    return tf.nest.map_structure(lambda t: tf.identity(t) if tf.is_tensor(t) else tf.constant(t), inputs)


def digest(value):
    if value is None:
        return None
    if isinstance(value, tf.RaggedTensor):
        return ("ragged", value.flat_values.numpy().tobytes(), tuple(map(str, value.nested_row_splits)))
    if isinstance(value, tf.SparseTensor):
        return ("sparse", value.values.numpy().tobytes(), value.indices.numpy().tobytes())
    value = np.asarray(value)
    return (str(value.dtype), value.shape, value.tobytes())


def everything(model):
    return list(model._flatten_layers(include_self=True, recursive=True))


def layer_card(layer):
    card = {
        "class": type(layer),
        "name": layer.name,
        "trainable": layer.trainable,
        "supports_masking": layer.supports_masking,
        "policy": layer._dtype_policy.name,
        "regularizer": described(vars(layer).get("_activity_regularizer")),
        "autocast": layer._autocast,
        "stateful": layer.stateful,
    }
    if isinstance(layer, keras.layers.Lambda):
        card["lambda"] = (layer.function, layer._output_shape, described(layer.arguments), described(layer.mask))
    elif not isinstance(layer, keras.Model):
        try:
            card["config"] = described(layer.get_config())
        except Exception as error:
            card["config"] = type(error)
    return card


def described(value):
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__.replace("ListWrapper", "list"), *map(described, value)]
    if isinstance(value, np.ndarray) or (tf.is_tensor(value) and hasattr(value, "numpy")):
        return digest(value)
    if isinstance(value, types.FunctionType) or callable(value):
        return value if not hasattr(value, "get_config") else (type(value), described(value.get_config()))
    if hasattr(value, "get_config"):
        return (type(value), described(value.get_config()))
    return value


def spec(structure):
    if structure is None:
        return None
    if isinstance(structure, dict):
        return (type(structure).__name__, [(key, spec(item)) for key, item in structure.items()])
    if isinstance(structure, (list, tuple)):
        return (type(structure).__name__, [spec(item) for item in structure])
    return tensor_card(structure)


def tensor_card(tensor):
    history = tensor._keras_history
    return (history.layer.name, history.tensor_index, re.sub(r"name=[^)]*", "", str(tensor.type_spec)))


def graph_nodes(model):
    graphs = [each for each in everything(model) if getattr(each, "_is_graph_network", False)]
    return [node for graph in graphs for nodes in graph._nodes_by_depth.values() for node in nodes]


def calls(layer, counted):
    """Each call of `layer` that belongs to the model, as plain data: where its arguments came from."""

    def leaf(value):
        if hasattr(value, "_keras_history"):
            history = value._keras_history
            order = [id(node) for node in history.layer._inbound_nodes if id(node) in counted]
            node = next(n for n in history.layer._inbound_nodes if any(t is value for t in tf.nest.flatten(n.outputs)))
            return (history.layer.name, order.index(id(node)), history.tensor_index)
        if isinstance(value, tf.Variable):
            return ("variable", value.name, value.shape)
        return described(value)

    return [
        (
            described(tf.nest.map_structure(leaf, node.call_args)),
            described(tf.nest.map_structure(leaf, node.call_kwargs)),
            [
                str(t.type_spec.shape) + str(t.type_spec.dtype) if hasattr(t.type_spec, "shape") else ""
                for t in tf.nest.flatten(node.outputs)
            ],
            [getattr(t, "_keras_mask", None) is None for t in tf.nest.flatten(node.outputs)],
        )
        for node in layer._inbound_nodes
        if id(node) in counted
    ]


def weight_cards(model):
    return [
        (w.name, tuple(w.shape), str(w.dtype), w.trainable) if hasattr(w, "shape") else type(w) for w in model.weights
    ]


def states(model):
    return [s for layer in everything(model) for s in tf.nest.flatten(getattr(layer, "_states", None)) if s is not None]


def _sharing(layers):
    """For every layer, which layers it is held by, by position."""
    place = {id(each): index for index, each in enumerate(layers)}
    return [
        [place[id(inner)] for inner in each._flatten_layers(include_self=False, recursive=False)] for each in layers
    ]


def _footprint(model):
    layers = everything(model)
    return [
        (
            id(layer),
            str(layer_card(layer)),
            len(layer._inbound_nodes),
            len(layer._outbound_nodes),
            [
                [id(leaf) for leaf in tf.nest.flatten([node.call_args, list(node.call_kwargs.values()), node.outputs])]
                for node in layer._inbound_nodes
            ],
            [(id(w), digest(w)) for w in layer.weights],
            sorted(key for key in vars(layer) if not key.startswith("_tf_api")),
        )
        for layer in layers
    ]
