"""Input layers are cloned through configs, and models keep their settings.

Input layers are cloned through their configs, a repeated input stays one input,
and a `Sequential` keeps its class. `input_tensors` keep their history. Nested
models are cloned as models. Calls are repeated in their order.
"""

# /// clonediff
# releases = "keras>=3.15"
# fixes = [
#     "call-order-outputs", "compile-lambda", "dtype-argument", "given-input-rewired", "given-list", "input-name",
#     "input-options", "lambda-refused", "lambda-refused-inside", "layer-in-two-models", "layer-twice",
#     "model-trainable", "own-sequential", "repeated-input", "sequential-trainable", "stft-window"
# ]
# [definitions]
# "keras/src/models/cloning.py" = [
#     "_clone_layer", "_clone_by_config", "_clone_sequential_model", "_clone_functional_model", "_clone_operation",
#     "_call_again", "_calls_in_order", "_finish_clone", "_scope", "_remade", "_copy_settings", "_copy_own_settings",
# ]
# ///

import functools

from keras.src import backend
from keras.src import tree
from keras.src.layers import Input
from keras.src.layers import InputLayer
from keras.src.models.cloning import _given_inputs
from keras.src.models.cloning import clone_model
from keras.src.models.functional import Functional
from keras.src.models.functional import functional_like_constructor
from keras.src.models.sequential import Sequential
from keras.src.saving import serialization_lib


def _clone_layer(layer, cache):
    if type(layer).get_config in (Sequential.get_config, Functional.get_config):
        return clone_model(layer, cache=cache)
    clone = _clone_by_config(layer)
    cache.setdefault("unfinished", []).append((layer, clone))
    return clone


def _clone_by_config(layer):
    """The clone of a layer that is not a model."""
    with _scope():
        clone = _remade(layer)
    _copy_settings(layer, clone)
    return clone


def _clone_sequential_model(model, clone_function, input_tensors=None):
    layers = [clone_function(layer) for layer in model.layers]
    first = model._layers[:1]
    if input_tensors is not None:
        tensor = _given_inputs(input_tensors, backend.KerasTensor((1,)))
        if not isinstance(tensor._keras_history.operation, InputLayer):
            # An `InputLayer` with this tensor would overwrite its history.
            shape, dtype = tensor.shape, tensor.dtype
            tensor = Input(batch_shape=shape, dtype=dtype, name=tensor.name)
        layers.insert(0, tensor)
    elif first and isinstance(first[0], InputLayer):
        layers.insert(0, _clone_by_config(first[0]))
    is_plain = type(model).__init__ is Sequential.__init__
    cls = type(model) if is_plain else Sequential
    clone = cls(layers, name=model.name, trainable=model.trainable)
    _finish_clone(model, clone, clone_function.cache)
    return clone


def _clone_functional_model(
    model, clone_function, input_tensors=None, call_function=None
):
    copies = {}

    def clone_tensor(x):
        if id(x) not in copies:
            copies[id(x)] = _clone_by_config(x._keras_history.operation).output
        return copies[id(x)]

    if input_tensors is None:
        inputs = tree.map_structure(clone_tensor, model.input)
    else:
        inputs = _given_inputs(input_tensors, model.input)
    outputs = _call_again(
        model,
        inputs,
        lambda operation: _clone_operation(operation, clone_function, copies),
        call_function,
    )
    is_plain = functional_like_constructor(type(model))
    cls = type(model) if is_plain else Functional
    clone = cls(inputs, outputs, name=model.name)
    _finish_clone(model, clone, clone_function.cache)
    return clone


def _clone_operation(operation, clone_function, copies):
    return clone_function(operation)


def _call_again(model, inputs, operation_fn, call_fn):
    """Repeats the calls of a model on `inputs`, and returns the outputs."""
    tensors = {id(x): y for x, y in zip(model.inputs, tree.flatten(inputs))}
    for node in _calls_in_order(model):
        args, kwargs = node.arguments.fill_in(tensors)
        operation = operation_fn(node.operation)
        if call_fn is not None:
            operation = functools.partial(call_fn, operation)
        outputs = tree.flatten(operation(*args, **kwargs))
        tensors.update(zip(map(id, node.outputs), outputs))
    return tree.map_structure(lambda x: tensors[id(x)], model._outputs_struct)


def _calls_in_order(model):
    """The calls of a model in order: each follows the calls it depends on."""
    depths = model._nodes_by_depth
    waiting = [node for depth in sorted(depths)[::-1] for node in depths[depth]]
    in_order = []

    def visit(node):
        if node not in waiting:
            return
        waiting.remove(node)
        calls = node.operation._inbound_nodes
        for earlier in (*calls[: calls.index(node)], *node.parent_nodes):
            visit(earlier)
        in_order.append(node)

    while waiting:
        visit(waiting[0])
    return [node for node in in_order if not node.is_input]


def _finish_clone(model, clone, cache):
    """Gives a clone the settings and the compile arguments of its model."""
    _copy_own_settings(model, clone)
    # Copy settings again: `build()` has created more layers and weights.
    unfinished = cache.get("unfinished", [])
    for old, new in unfinished:
        _copy_settings(old, new)
    cache["unfinished"] = [pair for pair in unfinished if not pair[1].built]
    if model.compiled:
        with _scope():
            clone.compile_from_config(model.get_compile_config())


def _scope():
    """The scope in which `clone_model` writes and reads configs."""
    return serialization_lib.SafeModeScope(False)


def _remade(layer):
    return type(layer).from_config(layer.get_config())


def _copy_settings(layer, clone):
    """Copies the settings of a layer and of the layers inside it."""
    _copy_own_settings(layer, clone)


def _copy_own_settings(old, new):
    """Copies the settings of one layer, but not through its setters."""
    new._trainable = old._trainable
