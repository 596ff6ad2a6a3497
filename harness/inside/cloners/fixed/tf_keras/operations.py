"""What an operation, and the constants it has, becomes on tensors of another dtype than those of the original."""

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
    """Let a `TensorFlowOpLayer`, which has its dtypes written down, take tensors that `became` others."""
    for attribute in layer.node_def.attr.values():
        dtype = tf.as_dtype(attribute.type) if attribute.WhichOneof("value") == "type" else None
        if became.get(dtype, dtype) != dtype:
            attribute.type = became[dtype].as_datatype_enum
    constants = {}
    for index, constant in layer.constants.items():
        dtype = tf.as_dtype(constant.dtype)
        constants[index] = constant.astype(became.get(dtype, dtype).as_numpy_dtype)
    layer.constants = constants
