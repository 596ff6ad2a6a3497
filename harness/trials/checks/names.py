"""Names that nobody chose: Keras makes one of the class, and counts.

A clone of a model that is made by hand beside it was made by other calls in another order, so its numbers are others.
"""

from __future__ import annotations

import functools
import re

from clonediff.harness.subjects.observation import LayerSeen, Shape

_COUNT = re.compile(r"(_\d+)+$")
_OF_CALLS = ("TFOpLambda", "SlicingOpLambda", "ClassMethod", "InstanceMethod", "InstanceProperty", "TensorFlowOpLayer")
"""The layers that tf_keras makes of operations: their names begin with those of TensorFlow's functions."""
_INPUT = re.compile(r"(input_layer|input|keras_tensor)(_\d+)*(CLONE)?")
_MODELS = {"Functional": ("functional", "model")}
"""A model has the name of its class, or of the one that somebody called."""
_UNSEEN = ("seed_generator", "variable")
"""What is in the paths of variables beside layers, and has a name of its class."""


def is_operation(layer: LayerSeen) -> bool:
    """Whether it is no layer that somebody made: Keras makes it where a function is called."""
    return "trainable" not in layer.config or layer.kind in _OF_CALLS


def uncounted(name: str, kind: str) -> str:
    """A name that nobody chose without its number; any other one as it is."""
    return _stem(name, kind) or name


def uncounted_path(path: str, shape: Shape) -> str:
    """The path of a variable, without the numbers in the names that nobody chose of the layers in the model."""
    stems = {_stem(shape.name, shape.kind), *(_stem(layer.name, layer.kind) for layer in shape.layers), *_UNSEEN}
    parts = ((part, _COUNT.sub("", part)) for part in path.split("/"))
    return "/".join(stem if stem in stems else part for part, stem in parts)


@functools.lru_cache(maxsize=4096)
def _stem(name: str, kind: str) -> str:
    """What Keras has made of the class for a name, "" where somebody chose another."""
    if kind == "InputLayer":
        match = _INPUT.fullmatch(name)
        return "" if match is None else match[1]
    stem = _COUNT.sub("", name)
    # Each generation puts the underscores in other places of a class such as ConvLSTM2D.
    of_the_class = stem.replace("_", "") in _MODELS.get(kind, (re.sub(r"\W|_", "", kind).lower(),))
    return stem if of_the_class or kind in _OF_CALLS else ""
