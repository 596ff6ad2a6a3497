"""What differs between the releases of Keras 3: the place to change for another release.

Everything that moved, came or went is reached from here.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

import keras
from keras.src.models.functional import Functional, functional_like_constructor
from keras.src.ops.function import Function

__all__ = [
    "POLICY_MAP",
    "Function",
    "Functional",
    "copied_policy",
    "functional_like_constructor",
    "is_quantized",
    "policy_of",
    "set_policy",
    "tree",
    "unquantized",
    "written_by_keras",
]

tree: Any = keras.tree

# A class since 3.4: before, a layer had one policy for all it holds. Nothing is an instance of ().
POLICY_MAP: Any = getattr(getattr(keras, "dtype_policies", None), "DTypePolicyMap", ())


class _Called(keras.layers.Layer):  # type: ignore[misc]  # it comes without types
    def call(self, x: Any, mask: Any = None, training: bool = True) -> Any:
        return x

    def compute_output_spec(self, x: Any, mask: Any = None, training: bool = True) -> Any:
        return keras.KerasTensor(x.shape, x.dtype, name="given back")

    def compute_mask(self, x: Any, previous_mask: Any) -> Any:
        return None


@lru_cache(maxsize=1)
def written_by_keras() -> frozenset[str]:
    """What Keras may write into the arguments of a call that a node then has: "training", "mask", or nothing.

    It is asked with a dtype that nothing is cast to, whatever the session is set to: of what it casts it writes a copy.
    """
    layer, tensor = _Called(name="called", dtype="float32"), keras.KerasTensor((1, 1), "float32", name="given")
    tensor._keras_mask = keras.KerasTensor((1, 1), "bool", name="mask")
    layer(tensor)
    return frozenset(layer._inbound_nodes[0].arguments.kwargs)


# The setter of the property may quantize the layer.
_POLICY = "_dtype_policy"


def policy_of(layer: Any) -> Any:
    """The dtype policy that a layer holds."""
    return getattr(layer, _POLICY)


def has_policy(thing: Any) -> bool:
    """Whether a layer, or an operation of some releases, holds a dtype policy."""
    return hasattr(thing, _POLICY)


def is_read_as_another(policy: Any) -> bool:
    """Whether a policy is another once Keras has read its config.

    The `get_config` of a map changes the policies in it; of one that is not of a class of Keras the name is left.
    """
    return isinstance(policy, POLICY_MAP) or not type(policy).__module__.startswith("keras.")


def copied_policy(policy: Any) -> Any:
    """A policy for a clone: one of Keras' own for a single dtype never changes."""
    return copy.deepcopy(policy) if is_read_as_another(policy) else policy


def is_quantized(policy: Any) -> bool:
    """Whether it is the policy of a layer that was quantized."""
    return getattr(policy, "quantization_mode", None) is not None


def unquantized(policy: Any) -> Any:
    """The policy that a layer had before it was quantized; a map tells none."""
    source = policy.name.partition("_from_")[2] if is_quantized(policy) else ""
    return keras.dtype_policies.get(source) if source else policy


def set_policy(layer: Any, policy: Any) -> None:
    """Lets a layer hold a policy, and does nothing else to it."""
    setattr(layer, _POLICY, policy)
