"""What must be equal between a Keras 2.2 model and its clone. Runs beside the release, in the syntax of Python 3.7."""

# ruff: noqa: UP008, UP031, UP032, B905

from __future__ import annotations

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.engine.base_layer import Layer


def assert_faithful(build, clone_model, again=True):
    model = build()
    before = card(model)
    clone = clone_model(model)
    same(card(model), before, "the original was changed")
    clones = [clone] + ([clone_model(clone), clone_model(model)] if again else [])
    for each in clones:
        compare(model, each)
        each.set_weights(model.get_weights())
    inputs = arrays(model)
    for learning in (0, 1):
        expected, *found = run([model] + clones, inputs, learning)
        for each in found:
            same(each, expected, "learning phase %d" % learning)


def compare(model, clone):
    assert clone is not model
    same(card(clone), card(model), "the clone is another model")
    theirs = {id(each) for each in every_layer(model)}
    assert not [each.name for each in every_layer(clone) if id(each) in theirs]


def same(found, expected, said):
    assert len(found) == len(expected), "%s: %r is not %r" % (said, found, expected)
    for one, other in zip(map(repr, found), map(repr, expected)):
        at = max(0, next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), 0) - 60)
        assert one == other, "%s: %s is not %s" % (said, one[at : at + 200], other[at : at + 200])


def every_layer(model):
    """The layers of a model and of what they hold, in a fixed order, each at its first place."""
    found, waiting = [], [model]
    while waiting:
        each = waiting.pop(0)
        if any(each is one for one in found):
            continue
        found.append(each)
        if getattr(each, "_is_graph_network", False):
            waiting.extend(each._layers)
        else:
            for key, value in sorted(vars(each).items()):
                if key not in ("_inbound_nodes", "_outbound_nodes", "_layers"):
                    waiting.extend(one for one in flat(value) if isinstance(one, Layer))
    return found


def card(model):
    """Everything about a model at rest, as data; layers and tensors by their numbers, so that sharing shows."""
    layers = every_layer(model)
    nodes = [node for each in layers for node in own_nodes(each, layers)]
    tensors = {}
    for number, node in enumerate(nodes):
        for place, tensor in enumerate(node.output_tensors):
            tensors[id(tensor)] = "tensor %d.%d" % (number, place)
    lines = []
    for each in layers:
        lines.append(
            (each.name, type(each).__name__, [plain(getattr(each, key, "-"), layers, tensors) for key in KEPT])
        )
        lines.append([(w.dtype, K.int_shape(w)) for w in each.trainable_weights + each.non_trainable_weights])
        lines.append(plain(settings(each), layers, tensors))
        for node in own_nodes(each, layers):
            lines.append([(one.name, at) for one, at in zip(node.inbound_layers, node.tensor_indices)])
            lines.append([place_of(one, at, layers) for one, at in zip(node.inbound_layers, node.node_indices)])
            lines.append([plain(mask is None, layers, tensors) for mask in node.input_masks + node.output_masks])
            lines.append([K.int_shape(tensor) for tensor in node.output_tensors])
            lines.append(plain(node.arguments or {}, layers, tensors))
        if getattr(each, "_is_graph_network", False):
            lines.append([each.input_names, each.output_names, [one.name for one in each.layers]])
            lines.append([tensors.get(id(one), "not ours") for one in each.inputs + each.outputs])
            lines.append([place_of(one, at, layers) for one, at, _ in each._output_coordinates])
            lines.append(len(each.losses))
    return lines


KEPT = ("trainable", "supports_masking", "stateful", "batch_input_shape", "dtype", "sparse", "activity_regularizer")


def settings(layer):
    """A layer's config, without what graphs say of their own layers."""
    if getattr(layer, "_is_graph_network", False):
        return {}
    kept = {key: value for key, value in vars(layer).items() if key in ("function", "mask", "_output_shape", "cell")}
    try:
        return dict(layer.get_config() or {}, **kept)
    except (NotImplementedError, AttributeError):  # a layer as an activation has no name
        return kept


def own_nodes(layer, layers):
    """The calls of a layer on tensors of these layers, without a model's own node."""
    return [
        node
        for node in layer._inbound_nodes
        if all(any(one is each for each in layers) for one in node.inbound_layers)
        and (node.inbound_layers or not getattr(layer, "_is_graph_network", False))
        and node_is_used(node, layers)
    ]


def node_is_used(node, layers):
    return any(
        any(node is one for nodes in each._nodes_by_depth.values() for one in nodes)
        for each in layers
        if getattr(each, "_is_graph_network", False)
    )


def place_of(layer, index, layers):
    node = layer._inbound_nodes[index]
    own = own_nodes(layer, layers)
    return next((place for place, each in enumerate(own) if each is node), "elsewhere")


def plain(value, layers, tensors):
    if isinstance(value, dict):
        return sorted((str(key), plain(item, layers, tensors)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item, layers, tensors) for item in value)
    if isinstance(value, Layer):
        return value.name
    if hasattr(value, "graph") and hasattr(value, "op"):
        return tensors.get(id(value), "a tensor")
    if hasattr(value, "get_config"):
        return type(value).__name__, plain(value.get_config(), layers, tensors)
    return value


def flat(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat(item)]
    return [] if value is None else [value]


def arrays(model):
    random = np.random.RandomState(0)
    made = []
    for tensor in model.inputs:
        shape = [2 if size is None else size for size in K.int_shape(tensor)]
        array = random.randint(0, 3, size=shape).astype("float32") - 1.0
        array[:, -1:] = 0.0
        dtype = K.dtype(tensor)
        if isinstance(model.layers[0].get_config().get("input_dim"), int):
            array = abs(array)
        made.append(array.astype(bool if dtype == "bool" else dtype))
    return made


def run(models, inputs, learning):
    """The outputs of each model, their masks and its losses, as data."""
    wanted, fed, given = [], [K.learning_phase()], [learning]
    for model in models:
        masks = [mask_of(tensor) for tensor in model.outputs]
        masks = [K.ones(()) if mask is None else mask for mask in masks]
        wanted.append([K.identity(one) for one in list(model.outputs) + masks + list(model.losses)])
        fed += list(model.inputs)
        given += list(feeds(model, inputs))
        if model.stateful:
            model.reset_states()
    session = K.get_session()  # it gives new variables their first values
    results = session.run([one for each in wanted for one in each], dict(zip(fed, given)))
    answers = []
    for model, each in zip(models, wanted):
        mine, results = results[: len(each)], results[len(each) :]
        values = [(np.asarray(one).dtype.name, np.asarray(one).tolist()) for one in mine]
        last = 2 * len(model.outputs)
        # The losses of a model come from a set, in no order of their own.
        answers.append(values[:last] + sorted(values[last:]))
    return answers


def mask_of(tensor):
    layer, node, place = tensor._keras_history
    return layer._inbound_nodes[node].output_masks[place]


def feeds(model, inputs):
    for tensor, array in zip(model.inputs, inputs):
        if K.is_sparse(tensor):
            places = np.argwhere(array)
            array = tf.SparseTensorValue(places, array[tuple(places.T)], array.shape)
        yield array
