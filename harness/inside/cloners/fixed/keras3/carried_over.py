"""What a clone takes from its original because no config has it: flags, names, what is frozen, what is built."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import keras

from ....structure import map_leaves
from .adapter import ADAPTER
from .release import has_policy, policy_of, set_policy

# Set by users or by layers after construction, or taken by a constructor that does not give them back in a config.
FLAGS = (
    "_supports_masking",
    "autocast",
    "supports_jit",
    "use_cudnn",
    "lora_alpha",
    "_convert_input_args",
    "_allow_non_tensor_positional_args",
    "_call_context_args",
    "_call_has_context_arg",
    "_remat_mode",
    "_flash_attention",
)


def sublayer_pairs(original: Any, clone: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """An original and its clone, then whatever each holds, side by side."""
    if id(clone) in seen or original is clone:
        return
    seen.add(id(clone))
    yield original, clone
    for held, cloned in zip(getattr(original, "_layers", ()), getattr(clone, "_layers", ())):
        if type(held) is type(cloned):
            yield from sublayer_pairs(held, cloned, seen)


def take_over_flags(original: Any, clone: Any) -> None:
    held, taken = vars(original), vars(clone)
    for flag in FLAGS:
        if flag in held and (flag not in taken or taken[flag] is not held[flag]):
            value = held[flag]
            setattr(clone, flag, copy.copy(value) if isinstance(value, (set, dict)) else value)
    if held.get("_auto_config") is not None and taken.get("_auto_config", 0) is None:
        # Keras keeps what a constructor was given only if all of it was plain; a config gives a policy as an object.
        taken["_auto_config"] = copy.copy(held["_auto_config"])


def regularize_alike(original: Any, clone: Any, own: Callable[[Any], Any]) -> None:
    """Give the clone an activity regularizer of its `own` where no config tells that of the original.

    That is so until 3.4, and for each class without a `get_config` that hands the regularizer on to its base class.
    """
    regularizer = getattr(original, "activity_regularizer", None)
    if regularizer is not None and clone.activity_regularizer is None:
        clone.activity_regularizer = own(regularizer)


def name_alike(original: Any, clone: Any) -> None:
    """Names, and paths of variables, that a constructor or a build numbers anew each time it runs."""
    if clone.name != original.name:
        clone.name = original.name
    if getattr(clone, "_path", None) != getattr(original, "_path", None):  # since 3.4
        clone._path = original._path
    for held, cloned in zip(_all_variables(original), _all_variables(clone)):
        _name_variable_alike(held, cloned)
    for held, cloned in zip(original._seed_generators, clone._seed_generators):
        if hasattr(held, "name"):  # since 3.3
            cloned.name = held.name
        _name_variable_alike(held.state, cloned.state)


def _name_variable_alike(original: Any, clone: Any) -> None:
    if clone.name != original.name:
        if not (_is_numbered(original) and _is_numbered(clone)):
            return  # a name that somebody chose: it is for the layer to give it again
        _set(clone, "name", original.name)
    if clone.path != original.path:
        _set(clone, "path", original.path)


def _is_numbered(variable: Any) -> bool:
    """Whether a variable was given no name, and so took the next one that was free for its class."""
    named_after = re.sub("([a-z])([A-Z])", r"\1_\2", type(variable).__name__).lower()
    return re.fullmatch(rf"{named_after}(_\d+)?", variable.name) is not None


def _set(variable: Any, attribute: str, value: str) -> None:
    """Plain attributes in earlier releases, properties now."""
    setattr(variable, attribute if attribute in vars(variable) else f"_{attribute}", value)


def operations_alike(original: Any, clone: Any) -> None:
    """What a Sequential model calls while it builds its graph: the names of the graph and of the operations in it.

    From 3.3 to 3.10 an operation has the dtype policy that was the global one when it was made.
    """
    if original is None or clone is None:
        return
    clone.name = original.name
    for held, cloned in zip(original.operations, clone.operations):
        if not isinstance(held, keras.Layer) and type(held) is type(cloned):
            cloned.name = held.name
            if has_policy(held):
                set_policy(cloned, policy_of(held))


def order_alike(original: Any, clone: Any) -> None:
    """The order of a layer's own variables: one that was quantized after it was built has them in another."""
    for store in ("_trainable_variables", "_non_trainable_variables"):
        names = [variable.name for variable in getattr(original, store)]
        variables = getattr(clone, store)
        by_name = {variable.name: variable for variable in variables}
        if len(by_name) == len(variables) and sorted(by_name) == sorted(names):
            variables[:] = [by_name[name] for name in names]


def quantize_alike(original: Any, clone: Any) -> None:
    """Quantizes what a layer makes for itself, where that was quantized since: no config tells."""
    mode = getattr(original, "quantization_mode", None)
    if mode is not None and clone.built and getattr(clone, "quantization_mode", None) is None:
        more = {"config": original.quantization_config} if hasattr(original, "quantization_config") else {}
        clone.quantize(mode, type_check=False, **more)
    if getattr(clone, "quantization_config", 0) is None:  # it was made for a map of policies, which has the mode alone
        clone.quantization_config = original.quantization_config


def kernel_shape_alike(original: Any, clone: Any) -> None:
    """The shape that a quantized layer keeps of its kernel: that of a tensor, where it was built before."""
    kept = getattr(original, "original_kernel_shape", None)
    if kept is not None and type(kept) is not type(clone.original_kernel_shape):
        clone.original_kernel_shape = type(kept)(clone.original_kernel_shape)


def build_alike(original: Any, clone: Any) -> None:
    """Builds what the original has built otherwise than by a call of this graph."""
    if not original.built or clone.built:
        return
    config = original.get_build_config()
    if config:
        clone.build_from_config(config)


def build_before_call(original: Any, clone: Any, first_argument: Any, its: Any) -> None:
    """Builds a layer for the shape that its original was built for, where the first call of this graph has another one.

    That happens when the original was called, or built, elsewhere before. A class of the user's that says itself how it
    is built from a config is built so, as when it is loaded: a call may build it otherwise. No shape is recorded of one
    that was. `its` is what the clone is called on.
    """
    recorded = getattr(original, "_build_shapes_dict", None)
    shapes = _shapes_of(first_argument)
    if getattr(clone, "built", True) or shapes is None or getattr(type(original).build, "_is_default", False):
        return
    if _builds_itself(type(original)) and (not recorded or shapes == _shapes_of(its)):
        build_alike(original, clone)
        return
    if not recorded:
        return
    shape = _as_tuples(next(iter(recorded.values())))
    if isinstance(shape, tuple) and shape != shapes:
        build_alike(original, clone)


def _shapes_of(argument: Any) -> tuple[Any, ...] | None:
    """The shape of a tensor, or the shapes of several in a list, as a layer is built for them; None for all else."""
    if isinstance(argument, keras.KerasTensor):
        return tuple(argument.shape)
    if not isinstance(argument, (list, tuple)):
        return None
    shapes = tuple(_shapes_of(each) for each in argument)
    return None if None in shapes else shapes


def _as_tuples(shape: Any) -> Any:
    return tuple(_as_tuples(each) for each in shape) if isinstance(shape, (list, tuple)) else shape


def _builds_itself(cls: Any) -> bool:
    own: bool = cls.build_from_config is not keras.Layer.build_from_config and not ADAPTER.comes_with_keras(cls)
    return own


def own_variables(layer: Any) -> list[Any]:
    return list(layer._trainable_variables) + list(layer._non_trainable_variables)


def _all_variables(layer: Any) -> list[Any]:
    """Its own variables, and what a stateful recurrent layer carries over, of which Keras keeps no list."""
    states: list[Any] = []
    if isinstance(layer, keras.layers.RNN):
        map_leaves(states.append, getattr(layer, "states", None))
    return own_variables(layer) + [each for each in states if each is not None]


def freeze_alike(original: Any, clone: Any) -> None:
    """`trainable` of this layer alone and of each of its own variables.

    The public setter would hand the value down to every sublayer.
    """
    if clone._trainable != original._trainable:
        clone._trainable = original._trainable
    for held, cloned in zip(own_variables(original), own_variables(clone)):
        if cloned.trainable != held.trainable:
            cloned.trainable = held.trainable


def learn_alike(original: Any, clone: Any) -> None:
    """What `adapt` has made of data where neither a config nor a weight has it."""
    if isinstance(original, keras.layers.Normalization):
        if original.input_mean is None and original.built and clone.built:
            # Made of the weights when these are learned, and not again when weights are set.
            clone.mean, clone.variance = original.mean, original.variance
        return
    lookup = getattr(original, "_lookup_layer", original)
    if getattr(lookup, "input_vocabulary", 0) is None and type(original) is type(clone):
        weights = getattr(lookup, "idf_weights_const", None) if lookup.output_mode == "tf_idf" else None
        # The weights are those of the special tokens, too, and of the padding.
        words = original.get_vocabulary(include_special_tokens=weights is not None)
        if len(words) > (0 if weights is None else lookup._token_start_index()):
            clone.set_vocabulary(words, None if weights is None else weights[: len(words)])


def fresh_variable(variable: Any) -> Any:
    """A variable that belongs to no layer is a constant of the graph: its clone starts with the same value."""
    return keras.Variable(
        keras.ops.convert_to_numpy(variable.value),
        dtype=variable.dtype,
        trainable=variable.trainable,
        autocast=getattr(variable, "_autocast", True),
        name=variable.name,
    )
