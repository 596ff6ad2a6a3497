"""Adapts an operation and its constants to tensors of another dtype than those of the original."""

from __future__ import annotations

from typing import Any

from .release import RELEASE, tf


def of_dtype(value: Any, became: dict[Any, Any]) -> Any:
    """A constant of an operation on tensors that `became` others: of `2.0 - inputs` it has the dtype of the inputs.

    A number that the other dtype could not hold stays as it is, for TensorFlow to refuse.
    """
    if not isinstance(value, tf.Tensor) or RELEASE.is_symbolic(value):
        return value
    dtype = became.get(value.dtype, value.dtype)
    alike = (dtype.is_floating and value.dtype.is_floating) or (dtype.is_integer and value.dtype.is_integer)
    return tf.cast(value, dtype) if alike and dtype != value.dtype else value


def make_of_dtypes(layer: Any, became: dict[Any, Any]) -> None:
    """Let a `TensorFlowOpLayer`, which has its dtypes written down, take tensors that `became` others.

    Only what has to be of the dtype of a tensor changes with it: the depth of a `tf.one_hot` stays an int32.
    """
    attributes = layer.node_def.attr
    of_inputs = _dtype_attributes(layer.node_def)
    changed = {name for place, name in enumerate(of_inputs) if place not in layer.constants}
    for name in changed & set(attributes):
        dtype = tf.as_dtype(attributes[name].type)
        if became.get(dtype, dtype) != dtype:
            attributes[name].type = became[dtype].as_datatype_enum
    constants = dict(layer.constants)
    for place, constant in constants.items():
        if of_inputs[place] in changed:
            constants[place] = constant.astype(tf.as_dtype(attributes[of_inputs[place]].type).as_numpy_dtype)
    layer.constants = constants


def _dtype_attributes(node_def: Any) -> list[str]:
    """For each input of an operation the attribute that has its dtype; "" where it can have only one."""
    from tensorflow.python.framework import op_def_registry  # noqa: PLC0415 - private, for TensorFlow before 2.4 alone

    registry: Any = op_def_registry
    definition = registry.get(node_def.op) if hasattr(registry, "get") else registry.get_registered_ops()[node_def.op]
    names: list[str] = []
    for argument in definition.input_arg:
        count = node_def.attr[argument.number_attr].i if argument.number_attr else 1
        if argument.type_list_attr:
            count = len(node_def.attr[argument.type_list_attr].list.type)
        names += [argument.type_attr] * count
    return names
