"""A functional model of tf_keras is cloned by repeating its calls.

Before, constants became float32 in a config and arrays became lists. Now layers
are cloned one by one, nested models as models, and both keep their settings.
"""

# /// clonediff
# releases = "tf_keras>=2.21"
# fixes = [
#     "tf-activity-regularizer", "tf-array-argument", "tf-backward-layer", "tf-constant-dtype", "tf-ellipsis",
#     "tf-equal", "tf-frozen-own-layer", "tf-given-input-layer", "tf-given-made", "tf-given-more", "tf-lambda-nested",
#     "tf-layer-autocast", "tf-list-of-one", "tf-model-for-a-layer", "tf-model-trainable", "tf-nested-weight-name",
#     "tf-own-sequential", "tf-sequential-input-spec", "tf-thawed-own-layer", "tf-varargs"
# ]
# [definitions]
# "tf_keras/src/models/cloning.py" = [
#     "_clone_layer", "_clone_functional_model", "_clone_sequential_model", "_inputs_for", "_copy_settings",
# ]
# ///

import tensorflow.compat.v2 as tf

from tf_keras.src.engine import functional
from tf_keras.src.engine.input_layer import Input
from tf_keras.src.engine.input_layer import InputLayer
from tf_keras.src.engine.sequential import Sequential
from tf_keras.src.engine.training import Model
from tf_keras.src.models.cloning import clone_model
from tf_keras.src.saving import serialization_lib


def _clone_layer(layer):
    methods = (Sequential.get_config, functional.Functional.get_config)
    if type(layer).get_config in methods:
        return clone_model(layer)
    with serialization_lib.SafeModeScope(False):
        clone = type(layer).from_config(layer.get_config())
    _copy_settings((layer, clone))
    return clone


def _clone_functional_model(model, input_tensors=None, layer_fn=None):
    new_inputs = _inputs_for(model, input_tensors)
    got = dict(zip(map(id, model.inputs), new_inputs))
    inputs = tf.nest.map_structure(lambda x: got[id(x)], model._nested_inputs)
    clones = {}
    depths = model._nodes_by_depth
    for node in [x for depth in sorted(depths)[::-1] for x in depths[depth]]:
        layer = node.outbound_layer
        is_of_model = all(id(x) in got for x in node.keras_inputs)
        if node.is_input or not is_of_model:
            continue
        if id(layer) not in clones:
            clones[id(layer)] = layer, (layer_fn or _clone_layer)(layer)
        args, kwargs = tf.nest.map_structure(
            lambda x: got.get(id(x), x), (node.call_args, node.call_kwargs)
        )
        outputs = clones[id(layer)][1](*args, **kwargs)
        keys = map(id, tf.nest.flatten(node.outputs))
        got.update(zip(keys, tf.nest.flatten(outputs)))
    outputs = tf.nest.map_structure(lambda x: got[id(x)], model._nested_outputs)
    is_plain = functional.has_functional_like_constructor(type(model))
    cls = type(model) if is_plain else Model
    clone = cls(inputs, outputs, name=model.name)
    unlisted = [new for _, new in clones.values() if new not in clone.layers]
    if unlisted:
        nodes = [new._inbound_nodes[-1] for new in unlisted]
        clone._insert_layers(unlisted, relevant_nodes=nodes)
    if layer_fn is None:
        _copy_settings(*clones.values())
    _copy_settings((model, clone))
    return clone


def _clone_sequential_model(model, input_tensors=None, layer_fn=None):
    if any(depth < 0 for depth in model._nodes_by_depth or ()):
        raise ValueError("`add_loss` and `add_metric` are of no Sequential")
    layers = [(layer_fn or _clone_layer)(layer) for layer in model.layers]
    pairs = list(zip(model.layers, layers))
    if input_tensors is not None or model._has_explicit_input_shape:
        (first,) = _inputs_for(model, input_tensors)
        layers.insert(0, first._keras_history.layer)
    is_plain = type(model).__init__ is Sequential.__init__
    clone = (type(model) if is_plain else Sequential)(layers, model.name)
    if layer_fn is None:
        _copy_settings(*pairs)
    _copy_settings((model, clone))
    return clone


def _inputs_for(model, input_tensors):
    """A symbolic tensor for each input of the clone."""
    if input_tensors is None:
        layers = [x._keras_history.layer for x in model.inputs]
        return [type(x).from_config(x.get_config()).output for x in layers]
    given = tf.nest.flatten(input_tensors)
    if len(given) != len(model.inputs):
        raise ValueError(
            f"`input_tensors` has {len(given)} tensors, and the model "
            f"'{model.name}' {len(model.inputs)} inputs"
        )
    given = [x.output if isinstance(x, InputLayer) else x for x in given]
    return [
        x if hasattr(x, "_keras_history") else Input(tensor=x) for x in given
    ]


def _copy_settings(*pairs):
    """Copies the settings of layers and of the layers inside them."""
    names = ("_trainable", "_name", "_dtype_policy", "_compute_dtype_object")
    names += ("_autocast", "_supports_masking", "_activity_regularizer")
    for pair in pairs:
        layers = [list(layer._flatten_layers()) for layer in pair]
        if [type(x) for x in layers[0]] != [type(x) for x in layers[1]]:
            layers = [[layer] for layer in pair]  # not built yet
        for old, new in zip(*layers):
            has = [name for name in names if name in vars(old)]
            vars(new).update({name: vars(old)[name] for name in has})
