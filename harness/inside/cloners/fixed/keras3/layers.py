"""How one layer or operation is cloned when the user says nothing about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras

from ....structure import map_leaves, replace_leaves
from .release import POLICY_MAP
from .stand_ins import StandIns, live_references


def clone_input_layer(layer: Any) -> Any:
    """A new `InputLayer`, with the name of the original's tensor besides its own: a dictionary of inputs goes by it."""
    tensor = layer.output
    if type(layer) is keras.layers.InputLayer:
        options = {"optional": True} if getattr(layer, "optional", False) else {}
        placeholder = placeholder_like(tensor, dtype_before_calls(layer))
        return input_layer_of(placeholder, layer.name, layer.dtype, **options)
    clone = type(layer).from_config(layer.get_config())
    clone.output.name = tensor.name
    return clone


def dtype_before_calls(layer: Any) -> Any:
    """The dtype of an input before a layer was called on it: until 3.4 a float layer wrote its own into the tensor."""
    declared, found = layer.dtype, layer.output.dtype
    return declared if keras.backend.is_float_dtype(declared) and keras.backend.is_float_dtype(found) else found


def input_layer_of(tensor: Any, name: str, dtype: Any = None, **options: Any) -> Any:
    """An input layer around a tensor without a history; some releases ask for what the tensor tells already."""
    if getattr(tensor, "ragged", False):
        options["ragged"] = True
    return keras.layers.InputLayer(
        input_tensor=tensor,
        batch_shape=tensor.shape,
        dtype=dtype or tensor.dtype,
        sparse=tensor.sparse,
        name=name,
        **options,
    )


def placeholder_like(tensor: Any, dtype: Any = None) -> Any:
    """A tensor without a history, of the same shape, type (unless another is given) and name."""
    options = {}
    for option in ("ragged", "ragged_rank", "row_splits_dtype"):
        value = getattr(tensor, "_" + option, None)
        if value:
            options[option] = value
    return keras.KerasTensor(
        tensor.shape, dtype=dtype or tensor.dtype, sparse=tensor.sparse, name=tensor.name, **options
    )


def clone_operation(operation: Any, clone_leaf: Callable[[Any], Any]) -> Any:
    """A new instance of an operation that is no layer.

    It is copied, not read back from its config: an operation has no state but its attributes, of which many a config
    knows nothing (a function, an array), and the copy keeps its name.
    """
    clone = object.__new__(type(operation))
    for name, value in vars(operation).items():
        vars(clone)[name] = [] if name in ("_inbound_nodes", "_outbound_nodes") else replace_leaves(clone_leaf, value)
    return clone


def is_plain_lambda(layer: Any) -> bool:
    """Whether a layer is a `Lambda` in everything that decides how it is constructed."""
    kind = type(layer)
    return isinstance(layer, keras.layers.Lambda) and all(
        inspect.getattr_static(kind, name) is inspect.getattr_static(keras.layers.Lambda, name)
        for name in ("__init__", "get_config", "from_config")
    )


def clone_lambda(layer: Any, clone_leaf: Callable[[Any], Any], policy: Any) -> Any:
    """A `Lambda` of the same function objects: a config can hold no closure, and drops or flattens the rest."""
    return type(layer)(
        layer.function,
        output_shape=layer._output_shape,
        mask=clone_leaf(layer.mask),
        arguments=map_leaves(clone_leaf, layer.arguments),
        activity_regularizer=layer.activity_regularizer,
        trainable=layer.trainable,
        dtype=policy,
        name=layer.name,
    )


def made_again(value: Any, clone_of: Callable[[Any], Any], clone_leaf: Callable[[Any], Any]) -> Any:
    """An object that is no layer (a metric, an optimizer) made again from its config, with live functions in it."""
    stand_ins = StandIns()
    config = stand_ins.revive(stand_ins.config_of(value), clone_leaf)
    clones = {key: clone_of(sublayer) for key, sublayer in stand_ins.referred().items()}
    with live_references(stand_ins, clones):
        return type(value).from_config(config)


def clone_from_config(
    layer: Any, clone_of: Callable[[Any], Any], clone_leaf: Callable[[Any], Any], policy_of: Callable[[Any], Any]
) -> Any:
    """A layer made again by its own `get_config` and `from_config`, around clones of the sublayers it mentions."""
    stand_ins = StandIns()
    try:
        config = stand_ins.revive(stand_ins.config_of(layer), clone_leaf)
    except Exception as failure:  # noqa: BLE001 - whatever the user's own method raises
        return _from_parameters(layer, _held_parameters(layer, {}, clone_leaf, policy_of), failure)
    clones = {key: clone_of(sublayer) for key, sublayer in stand_ins.referred().items()}
    if isinstance(config.get("dtype"), dict) and isinstance(layer.dtype_policy, POLICY_MAP):
        config["dtype"] = policy_of(layer.dtype_policy)
    read_back = _read_back(layer, stand_ins.referred(), clones, clone_of)
    # Some `from_config` take their entries out of the dictionary.
    given = dict(config)
    with live_references(stand_ins, clones, read_back):
        try:
            return type(layer).from_config(config)
        except Exception as failure:  # noqa: BLE001 - whatever the user's own method raises
            return _from_parameters(layer, _held_parameters(layer, given, clone_leaf, policy_of), failure)


def _read_back(
    layer: Any, referred: dict[int, Any], clones: dict[int, Any], clone_of: Callable[[Any], Any]
) -> dict[int, Any]:
    """What the constructor is to get for each layer that it serializes and reads back, by the id of that.

    `Bidirectional` does so with the layers it is given, to have layers of its own. Before 3.3 it kept the one it was
    given as well, beside the forward layer, and its config told of the latter only.
    """
    if not isinstance(layer, keras.layers.Bidirectional):
        return {}
    own = {id(clone): clone for clone in clones.values()}
    given = vars(layer).get("layer")
    for key, sublayer in referred.items():
        if given is not None and given is not sublayer and sublayer is layer.forward_layer:
            forward, clones[key] = clones[key], clone_of(given)
            own[id(clones[key])] = forward
    return own


def _held_parameters(
    layer: Any, config: dict[str, Any], clone_leaf: Callable[[Any], Any], policy_of: Callable[[Any], Any]
) -> dict[str, Any] | None:
    """A value for each parameter of a layer's constructor, as far as the layer holds or tells one of that name."""
    base = {"name": layer.name, "trainable": layer.trainable, "dtype": policy_of(layer.dtype_policy)}
    arguments: dict[str, Any] = {}
    for parameter in list(inspect.signature(type(layer).__init__).parameters.values())[1:]:
        name = parameter.name
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments.update({key: value for key, value in base.items() if key not in arguments})
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            return None
        elif name in base:
            arguments[name] = base[name]
        elif hasattr(layer, name):
            arguments[name] = map_leaves(clone_leaf, getattr(layer, name))
        elif name in config:
            arguments[name] = config[name]
        elif parameter.default is parameter.empty:
            return None
    return arguments


def _from_parameters(layer: Any, arguments: dict[str, Any] | None, failure: Exception) -> Any:
    """For a layer that its config does not describe, or describes in a way that its own constructor refuses.

    An optional argument that the constructor does not take in the form in which the layer holds it is set afterwards.
    """
    if arguments is None:
        raise failure
    try:
        return type(layer)(**arguments)
    except Exception:  # noqa: BLE001 - some argument is refused: below, one after the other
        pass
    parameters = inspect.signature(type(layer).__init__).parameters
    optional = [
        name
        for name in arguments
        if name in parameters and parameters[name].default is not inspect.Parameter.empty and hasattr(layer, name)
    ]
    taken = {name: value for name, value in arguments.items() if name not in optional}
    try:
        clone = type(layer)(**taken)
        for name in optional:
            try:
                clone = type(layer)(**dict(taken, **{name: arguments[name]}))
                taken[name] = arguments[name]
            except Exception:  # noqa: BLE001 - this is the refused one
                continue
    except Exception:  # noqa: BLE001 - the first failure is the one that tells
        raise failure from None
    for name in optional:
        if name not in taken:
            setattr(clone, name, arguments[name])
    return clone
