"""`assert_faithful`: everything that must be equal between a Keras 3 model and its clone, in one strict check."""

from __future__ import annotations

import keras
import numpy as np

from clonediff.harness.inside.cloners.fixed.keras3 import clone_model
from tests import effort

VECTORS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
SEQUENCES = np.random.default_rng(1).normal(size=(2, 5, 3)).astype("float32")
SEQUENCES[:, 3:] = 0.0
"""The last two steps are zeros, which a mask leaves out."""


class Models(dict):
    """What builds a model and what that is called on, by the name of the function that it decorates."""

    def __call__(self, *inputs):
        def register(build):
            self[build.__name__.replace("_", "-")] = (build, inputs[0] if len(inputs) == 1 else list(inputs))
            return build

        return register


def assert_faithful(model, inputs=None, clone=clone_model, again=False):
    """Clones `model`, compares the clone in every respect and gives it back; both are called on `inputs`.

    A second clone, and one of the clone, are compared where that is asked for: each doubles what it takes.
    """
    before = footprint(model)
    made = clone(model)
    assert footprint(model) == before, "the original was changed"
    assert_alike(model, made, inputs)
    assert footprint(model) == before, "the original was changed"
    if again or effort.everything():
        assert_alike(model, clone(model), inputs)
        assert_alike(model, clone(made), inputs)
    return made


def assert_alike(model, clone, inputs):
    assert clone is not model
    found = differences(described_model(model), described_model(clone))
    assert not found, "\n".join(found)
    shared = {id(each) for each in states(model)} & {id(each) for each in states(clone)}
    assert not shared, "state is shared"
    layers = {id(layer) for layer in model._flatten_layers()} & {id(layer) for layer in clone._flatten_layers()}
    assert not layers, "layers are shared"
    operations = {id(each) for each in operations_of(model)} & {id(each) for each in operations_of(clone)}
    assert not operations, "operations are shared"
    if inputs is not None:
        for training in (False, True):
            copy_states(model, clone)
            assert observed(clone, inputs, training) == observed(model, inputs, training), f"training={training}"


def copy_states(model, clone):
    sources, targets = states(model), states(clone)
    assert len(sources) == len(targets)
    for source, target in zip(sources, targets, strict=True):
        target.assign(source.value)


def observed(model, inputs, training):
    before = [keras.ops.convert_to_numpy(state.value) for state in states(model)]
    outputs = model(inputs, training=training)
    masks = [described(getattr(x, "_keras_mask", None)) for x in keras.tree.flatten(outputs)]
    losses = [described(loss) for loss in model.losses]
    after = [described(state.value) for state in states(model)]
    for state, value in zip(states(model), before, strict=True):
        state.assign(value)
    return {"outputs": described(outputs), "masks": masks, "losses": losses, "states": after}


def states(model):
    """Every variable, with the states of recurrent layers, which Keras does not track."""
    held = [getattr(layer, "states", None) for layer in model._flatten_layers()]
    recurrent = [state for state in keras.tree.flatten(held) if isinstance(state, keras.Variable)]
    found = [*model.variables, *model.metrics_variables, *recurrent]
    return list({id(state): state for state in found}.values())


def described(value):
    """Plain data, equal only for what is the same: arrays by their bytes, functions by identity."""
    if isinstance(value, dict):
        kind = type(value).__name__.replace("Tracked", "").lower()
        return (kind, [(key, described(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__.replace("Tracked", "").lower(), [described(item) for item in value])
    if isinstance(value, keras.Variable):
        return ("variable", value.path, tuple(value.shape), str(value.dtype), value.trainable)
    if keras.ops.is_tensor(value) and not isinstance(value, keras.KerasTensor):
        if hasattr(value, "flat_values") or hasattr(value, "indices"):
            return ("sparse or ragged", str(value))
        return ("tensor", described(keras.ops.convert_to_numpy(value)))
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, (keras.Layer, keras.Operation)):
        return ("layer", type(value), value.name)
    if callable(value) and not hasattr(value, "get_config"):
        return value
    if hasattr(value, "get_config"):
        return (type(value), described(value.get_config()))
    return value


def described_model(model):
    return {
        "class": type(model),
        "layers": [described_layer(layer) for layer in held_layers(model)],
        "sharing": sharing(model),
        "weights": [described_weight(weight) for weight in model.weights],
        "trainable_weights": [weight.path for weight in model.trainable_weights],
        "variables": len(model.variables),
        "graphs": [described_graph(graph) for graph in graphs_of(model)],
        "optimizer": described(model.optimizer) if model.compiled else None,
        "optimizer variables": [(each.name, tuple(each.shape)) for each in model.optimizer.variables]
        if model.compiled
        else None,
        "loss": described(model._compile_loss._user_loss) if model.compiled and model._compile_loss else None,
        "jit_compile": model.jit_compile if model.compiled else None,
    }


def held_layers(model):
    """Every layer at every level, input layers of Sequential models too."""
    found, seen = [], set()
    for layer in model._flatten_layers():
        for each in [layer, *getattr(layer, "_layers", ())]:
            if id(each) not in seen:
                seen.add(id(each))
                found.append(each)
    return found


def described_weight(weight):
    return (weight.path, tuple(weight.shape), str(weight.dtype), weight.trainable)


def described_layer(layer):
    description = {
        "class": type(layer),
        "name": layer.name,
        "trainable": layer.trainable,
        "built": layer.built,
        "supports_masking": layer.supports_masking,
        "autocast": layer.autocast,
        "policy": described(layer.dtype_policy),
        "compute_dtype": layer.compute_dtype,
        "activity_regularizer": described(layer.activity_regularizer),
        "own weights": [described_weight(each) for each in layer._trainable_variables]
        + [described_weight(each) for each in layer._non_trainable_variables],
        "use_cudnn": getattr(layer, "use_cudnn", None),
    }
    if type(layer) is keras.layers.Lambda:
        description["lambda"] = (
            layer.function,
            described(layer._output_shape),
            described(layer.mask),
            described(dict(layer.arguments)),
        )
    elif not hasattr(layer, "_nodes_by_depth") and not isinstance(layer, keras.Sequential):
        try:
            description["config"] = described(layer.get_config())
        except Exception as error:
            description["config"] = type(error)
    for name in ("activation", "kernel_initializer", "kernel_regularizer"):
        if hasattr(layer, name):
            description[name] = described(getattr(layer, name))
    return description


def sharing(model):
    """For every layer, the places of the layers it holds."""
    layers = held_layers(model)
    place = {id(layer): index for index, layer in enumerate(layers)}
    return [[place[id(inner)] for inner in layer._layers] for layer in layers]


def graphs_of(model):
    found = []
    for layer in model._flatten_layers():
        if isinstance(layer, keras.Sequential):
            if layer._functional is not None:
                found.append(layer._functional)
        elif hasattr(layer, "_nodes_by_depth"):
            found.append(layer)
    functions = [operation for graph in found for operation in graph.operations if type(operation) is keras.Function]
    return found + functions


def operations_of(model):
    return [operation for graph in graphs_of(model) for operation in graph.operations]


def described_graph(graph):
    nodes = [node for depth in sorted(graph._nodes_by_depth) for node in graph._nodes_by_depth[depth]]
    members = {id(node) for node in nodes}

    def own_index(operation, node):
        own = [id(each) for each in operation._inbound_nodes if id(each) in members]
        return own.index(id(node)) if id(node) in own else None

    def tensor(value):
        if not isinstance(value, keras.KerasTensor):
            return described(value)
        operation, node_index, tensor_index = value._keras_history
        where = None
        if operation is not None:
            where = (operation.name, own_index(operation, operation._inbound_nodes[node_index]), tensor_index)
        return ("tensor", where, value.shape, str(value.dtype), value.sparse, getattr(value, "ragged", None))

    def nested(structure):
        if isinstance(structure, dict):
            return (type(structure).__name__, [(key, nested(item)) for key, item in structure.items()])
        if isinstance(structure, (list, tuple)):
            return (type(structure).__name__, [nested(item) for item in structure])
        return tensor(structure)

    return {
        "inputs": nested(graph._inputs_struct),
        "input names": [each.name for each in graph.inputs],
        "outputs": nested(graph._outputs_struct),
        "operations": [(type(each), each.name) for each in graph.operations],
        "calls": [
            (
                operation.name,
                [
                    (
                        nested(node.arguments.args),
                        nested(node.arguments.kwargs),
                        [tensor(output) for output in node.outputs],
                        [getattr(output, "_keras_mask", None) is None for output in node.outputs],
                    )
                    for node in operation._inbound_nodes
                    if id(node) in members
                ],
            )
            for operation in graph.operations
        ],
    }


def footprint(model):
    """What cloning must leave as it is: every node that a layer has, those outside the model too, flags and values."""
    operations = {id(each): each for each in [*held_layers(model), *operations_of(model)]}
    return [
        (
            key,
            operation.name,
            [
                (id(node), [id(x) for x in keras.tree.flatten((node.arguments.args, node.arguments.kwargs))])
                for node in operation._inbound_nodes
            ],
            [id(node) for node in operation._outbound_nodes],
            [
                (id(x), x.name, x._keras_history, id(getattr(x, "_keras_mask", None)))
                for node in operation._inbound_nodes
                for x in node.outputs
            ],
        )
        for key, operation in operations.items()
    ] + [described_model(model), [described(state.value) for state in states(model)]]


def differences(expected, found, path=""):
    """The places where two descriptions differ, each with both values."""
    if type(expected) is type(found) and isinstance(expected, dict) and list(expected) == list(found):
        return [line for key in expected for line in differences(expected[key], found[key], f"{path}/{key}")]
    if type(expected) is type(found) and isinstance(expected, (list, tuple)) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for index, (left, right) in pairs for line in differences(left, right, f"{path}/{index}")]
    return [] if expected == found else [f"{path}: {expected!r} != {found!r}"]
