"""What a release has of what a graph can ask for: which layers, with which arguments, and what it can build.

Said once, when the child is ready, so that no graph is drawn that the release is too old for. Nothing here goes by a
version: arguments are read from signatures, abilities are tried.
"""

from __future__ import annotations

import inspect
from typing import Any

from .frameworks.interface import Framework

# The smallest text that needs it, by the name that `strategies.graphs` or `harness.subjects.offers` has for it.
_TRIED = {
    "optional inputs": "keras.Input((2,), optional=True)",
    "nested ends": """
a, b = keras.Input((2,)), keras.Input((2,))
keras.Model([a, (b,)], [keras.layers.Dense(2)(a), (keras.layers.Dense(2)(b),)])
""",
    "partial masks": """
a = keras.Input((3, 4))
keras.layers.Lambda(lambda x: x[0] + x[1])([a, keras.layers.Masking()(a)])
""",
    "dtypes": "keras.layers.Dense(2, dtype='mixed_bfloat16')",
    "regularizers": "keras.layers.ReLU(activity_regularizer='l2')(keras.Input((2,)))",
    "registered classes": "keras.utils.register_keras_serializable('tried')(type('Tried', (keras.layers.Layer,), {}))",
    "policies": "keras.dtype_policies.DTypePolicyMap(default_policy='mixed_bfloat16')",
    "multi_gpu_model": "keras.utils.multi_gpu_model",
    "strings": """
import numpy
a = keras.Input((1,), dtype="string")
keras.Model(a, keras.layers.StringLookup(vocabulary=["b"])(a))(numpy.array([["b"]], dtype=object))
""",
    "idle inputs": """
a, b = keras.Input((2,)), keras.Input((2,))
keras.Model([a, b], [keras.layers.Dense(2)(a), b])
""",
}

_NAMED = ("activations", "constraints", "dtype_policies", "initializers", "regularizers")
"""The modules whose classes and functions a graph can name."""


def offers(framework: Framework) -> dict[str, Any]:
    """What `Offers` declares on the wire."""
    keras = framework.keras
    layers: dict[str, Any] = {}
    for name in dir(keras.layers):
        layer: Any = getattr(keras.layers, name, None)
        is_class = isinstance(layer, type)
        if is_class and issubclass(layer, keras.layers.Layer) and not _other_name(name, layer, keras):
            layers[name] = [_of_constructor(layer, keras.layers.Layer), _arguments(layer.call)]
    names = [
        "%s.%s" % (module, name)
        for module in _NAMED
        for name in dir(getattr(keras, module, None))
        if not name.startswith("_")
    ]
    lacks = [name for name, source in _TRIED.items() if not _builds(source, keras)]
    framework.forget()
    return {"layers": layers, "names": names, "lacks": lacks}


def _other_name(name: str, layer: Any, keras: Any) -> bool:
    """Whether a layer is there under the name of its class too, as AvgPool1D is AveragePooling1D."""
    own = layer.__name__
    return bool(own != name and getattr(keras.layers, own, None) is layer)


def _of_constructor(layer: Any, last: Any) -> list[str] | None:
    """The arguments of a layer's constructor: those it names, and where it hands others on, those of its base."""
    names: list[str] = []
    for base in layer.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = _parameters(base.__init__)
        if parameters is None:
            return None
        names.extend(name for name, kind in parameters if kind is not _OTHERS and name not in names)
        if base is last or not any(kind is _OTHERS for _, kind in parameters):
            break
    return names


def _arguments(function: Any) -> list[str] | None:
    """The names of a function's arguments, None where it takes others too."""
    parameters = _parameters(function)
    if parameters is None or any(kind is _OTHERS for _, kind in parameters):
        return None
    return [name for name, _ in parameters]


_OTHERS = inspect.Parameter.VAR_KEYWORD


def _parameters(function: Any) -> list[tuple[str, Any]] | None:
    """The parameters of a method but `self`, with their kinds; None where they cannot be told."""
    # Keras 2 wraps its constructors to take the arguments of Keras 1 as well.
    function = getattr(function, "_original_function", function)
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return [(parameter.name, parameter.kind) for parameter in parameters]


def _builds(source: str, keras: Any) -> bool:
    try:
        exec(source, {"keras": keras, "__name__": "__main__"})  # noqa: S102 - a text of this module
    except Exception:  # whatever the release says to it
        return False
    return True
