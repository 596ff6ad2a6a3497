"""How one layer or operation is cloned where no `clone_function` is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras

from ....structure import leaves, map_leaves, replace_leaves
from ..missing_options import UserLayer, record_of_constructor, with_all_options
from ..options import (
    REQUIRED,
    as_config,
    constructor_options,
    described,
    failure_alike,
    said,
)
from .adapter import ADAPTER
from .carried_over import own_variables
from .live_config import Keras3Config
from .release import is_read_as_another

_FROM_CONFIG = keras.layers.Layer.from_config.__func__


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
        is_of_graph = name in ("_inbound_nodes", "_outbound_nodes")
        vars(clone)[name] = [] if is_of_graph else _with_own_containers(replace_leaves(clone_leaf, value))
    return clone


def _with_own_containers(value: Any) -> Any:
    """The same value in lists, tuples and dictionaries of its own; another sort of container stays itself."""
    return map_leaves(lambda leaf: leaf, value, is_leaf=lambda each: type(each) not in (list, tuple, dict))


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
        activity_regularizer=own_regularizer(layer.activity_regularizer, clone_leaf),
        trainable=layer.trainable,
        dtype=policy,
        name=layer.name,
    )


def own_regularizer(regularizer: Any, clone_leaf: Callable[[Any], Any]) -> Any:
    """A regularizer like another, which may keep what can change; what no config can make again is passed on.

    That is a function, or an object whose class has no `get_config` of its own, or one that does not work.
    """
    if not hasattr(regularizer, "get_config"):
        return regularizer
    try:
        return made_again(regularizer, clone_leaf, clone_leaf)
    except Exception:  # noqa: BLE001 - whatever the user's own methods raise
        return regularizer


def made_again(value: Any, clone_of: Callable[[Any], Any], clone_leaf: Callable[[Any], Any]) -> Any:
    """An object that is no layer (a metric, an optimizer) made again from its config, with live functions in it."""
    live = Keras3Config(value, clone_of, clone_leaf)
    return live.read(live.resolved(live.told()))


def clone_from_config(
    layer: Any,
    clone_of: Callable[[Any], Any],
    clone_leaf: Callable[[Any], Any],
    policy_of: Callable[[Any], Any],
    user_layers: list[UserLayer],
) -> Any:
    """A layer made again by its own `get_config` and `from_config`, around clones of the sublayers it mentions.

    One of a user's class is added to `user_layers`.
    """
    live = Keras3Config(layer, clone_of, clone_leaf)
    try:
        told = live.told()
    except Exception as failure:  # noqa: BLE001 - whatever the user's own method raises
        return _from_attributes(layer, {}, clone_leaf, policy_of, failure, user_layers)
    told = as_config(layer, told)
    options = {} if "kwargs" in told else constructor_options(type(layer), keras.Layer)
    missing = {name: default for name, default in options.items() if name not in told and default is not REQUIRED}
    own_variable_ids = {id(variable) for variable in own_variables(layer)}
    replaced = [name for name in told if any(id(leaf) in own_variable_ids for leaf in leaves(told[name]))]
    recorded = {name: value for name, value in (_record(layer) or {}).items() if name in {*missing, *replaced}}
    recorded = {name: value for name, value in recorded.items() if not _is(value, missing.get(name, REQUIRED))}
    config = live.resolved({**told, **_of_a_cell(layer, told), **recorded})
    if type(layer).__name__ == "AugMix" and ADAPTER.comes_with_keras(type(layer)):
        # Early releases that have it tell the one as the other.
        config.update(num_chains=layer.num_chains, chain_depth=layer.chain_depth)
    if type(layer).__name__ == "RandomShear" and ADAPTER.comes_with_keras(type(layer)):
        # It tells a factor as a range around 0, which its constructor refuses.
        ranges = {name: config.get(name) for name in ("x_factor", "y_factor")}
        config.update(
            (name, each[1]) for name, each in ranges.items() if isinstance(each, (list, tuple)) and each[0] < 0
        )
    if _takes_what_it_serializes(layer):
        config["layers"] = [clone_of(each) for each in layer.layers]
    if isinstance(config.get("dtype"), dict) and is_read_as_another(layer.dtype_policy):
        config["dtype"] = policy_of(layer.dtype_policy)
    try:
        clone = live.read(config)
    except Exception as failure:  # noqa: BLE001 - whatever the user's own method raises
        return _from_attributes(layer, config, clone_leaf, policy_of, failure, user_layers)

    def make(further: dict[str, Any]) -> Any:
        return live.read(config, further)

    return with_all_options(layer, clone, options, missing, _record(layer), make, ADAPTER, user_layers)


def _takes_what_it_serializes(layer: Any) -> bool:
    """Whether it is a `Pipeline` whose class cannot read its own config back, as in the first releases that have it."""
    kind = getattr(keras.layers, "Pipeline", None)
    return kind is not None and isinstance(layer, kind) and type(layer).from_config.__func__ is _FROM_CONFIG


def _record(layer: Any) -> dict[str, Any] | None:
    """What the constructor of a layer was given, if Keras has recorded it; of a model it records something else."""
    return None if isinstance(layer, keras.Model) else record_of_constructor(layer)


def _of_a_cell(layer: Any, config: dict[str, Any]) -> dict[str, Any]:
    """The options that a recurrent layer of Keras has handed to its cell and leaves out: the seed of a SimpleRNN."""
    if not isinstance(layer, keras.layers.RNN) or not ADAPTER.comes_with_keras(type(layer)):
        return {}
    parameters = inspect.signature(type(layer).__init__).parameters.values()
    missing = {one.name: one.default for one in parameters if one.name not in config and one.default is not REQUIRED}
    held = {name: getattr(layer.cell, name, default) for name, default in missing.items()}
    return {name: value for name, value in held.items() if not _is(value, missing[name])}


def _is(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _from_attributes(
    layer: Any,
    config: dict[str, Any],
    clone_leaf: Callable[[Any], Any],
    policy_of: Callable[[Any], Any],
    failure: Exception,
    user_layers: list[UserLayer],
) -> Any:
    """A layer without a config, or with one that its constructor refuses: made with what it holds under its options."""
    arguments, missing = _held_arguments(layer, config, clone_leaf, policy_of)
    required = ", ".join(f"`{name}`" for name, default in missing.items() if default is REQUIRED)
    if required:
        raise failure_alike(
            failure,
            f"{described(layer)} cannot be cloned: neither its config nor an attribute tells what its constructor is "
            f"to get as {required}. Let its `get_config()` return it. ({said(failure)})",
        ) from failure
    try:
        clone, in_another_form = _constructed(layer, arguments)
    except Exception:  # noqa: BLE001 - the first failure is the one that tells
        raise failure_alike(
            failure,
            f"{described(layer)} cannot be cloned: its constructor refuses what its config tells "
            f"({said(failure)}). Let its `get_config()` return what the constructor takes.",
        ) from failure

    def make(further: dict[str, Any]) -> Any:
        return _constructed(layer, dict(arguments, **map_leaves(ADAPTER.drawing_anew, further)))[0]

    return with_all_options(layer, clone, missing, missing, None, make, ADAPTER, user_layers, in_another_form)


def _constructed(layer: Any, arguments: dict[str, Any]) -> tuple[Any, list[str]]:
    """A layer with these arguments, and those of them that its constructor refuses in the form in which it holds them.

    These are optional, and are set afterwards on a layer of a user's class, which is compared again.
    """
    parameters = inspect.signature(type(layer).__init__).parameters
    try:
        return type(layer)(**arguments), []
    except Exception:
        if ADAPTER.comes_with_keras(type(layer)):
            raise
    optional = [name for name in arguments if name in parameters and parameters[name].default is not REQUIRED]
    optional = [name for name in optional if name in vars(layer)]
    taken = {name: value for name, value in arguments.items() if name not in optional}
    for name in optional:
        try:
            type(layer)(**taken, **{name: arguments[name]})
        except Exception:  # noqa: BLE001 - this is the one
            continue
        taken[name] = arguments[name]
    clone = type(layer)(**taken)
    in_another_form = [name for name in optional if name not in taken]
    for name in in_another_form:
        setattr(clone, name, arguments[name])
    return clone, in_another_form


def _held_arguments(
    layer: Any, config: dict[str, Any], clone_leaf: Callable[[Any], Any], policy_of: Callable[[Any], Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments for a layer's constructor: those that Keras has recorded, or else what the layer holds or tells.

    The second dictionary has the options for which there is nothing, with their defaults.
    """
    parameters = list(inspect.signature(type(layer).__init__).parameters.values())[1:]
    takes_more = any(each.kind is each.VAR_KEYWORD for each in parameters)
    arguments = {"name": layer.name, "trainable": layer.trainable, "dtype": policy_of(layer.dtype_policy)}
    if not takes_more:
        arguments = {each.name: arguments[each.name] for each in parameters if each.name in arguments}
    record = _record(layer)
    if record is not None:
        return {**_with_own_containers(record), **arguments}, {}
    if takes_more:
        arguments.update(_of_a_base(layer, config))
    own = {id(variable) for variable in own_variables(layer)}
    missing: dict[str, Any] = {}
    for each in parameters:
        name, value = each.name, getattr(layer, each.name, REQUIRED)
        is_replaced = any(id(leaf) in own for leaf in leaves(value))  # by a variable of the layer
        if each.kind in (each.VAR_POSITIONAL, each.POSITIONAL_ONLY) or is_replaced:
            missing[name] = REQUIRED
        elif name in arguments or each.kind is each.VAR_KEYWORD:
            continue
        elif value is not REQUIRED:
            arguments[name] = map_leaves(clone_leaf, value)
        elif name in config:
            arguments[name] = config[name]
        else:
            missing[name] = each.default
    return arguments, missing


def _of_a_base(layer: Any, config: dict[str, Any]) -> dict[str, Any]:
    """What a config tells of the options that a constructor hands on, as far as they are not the defaults."""
    own = inspect.signature(type(layer).__init__).parameters
    options = constructor_options(type(layer), keras.Layer)
    return {
        name: config[name]
        for name, default in options.items()
        if name in config and name not in own and default is not REQUIRED and not _is(config[name], default)
    }
