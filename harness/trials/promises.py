"""What a cloner that is not `clone_model` is held to: what its way of copying a model documents, and no more."""

from __future__ import annotations

from msgspec.structs import replace

from harness.subjects.observation import Observation
from reports.records import Cause, Cost
from strategies.way_inputs import DTYPES

_BY_CONFIG = ("roundtrip", "from_config", "saved", "saved/h5", "saved/tf", "deepcopy", "pickled")
_NEVER_IN_A_CONFIG = ("supports_masking", "attribute.", "weight scope", "weight path alone", "state scope")
"""What somebody sets on a layer once it is made, and within what it was built: a config has what the constructor takes
(`get_config`)."""
_OF_A_NEW_MODEL = ("compiled", "trainable")
"""What `keras.Model(inputs, outputs)` does not take from another model of its layers."""
_DTYPES_WRITTEN = "another float"
_VARIABLES_COUNTED, _OPERATIONS_COUNTED = "variables counted", "operations counted"
_FUNCTIONS_AGAIN = "functions called again"
_CELLS_COUNTED = "cells counted"
ON_LACKING = {
    "tensors that keep their dtype": (_DTYPES_WRITTEN,),
    "own tensors": (_VARIABLES_COUNTED, _OPERATIONS_COUNTED, _FUNCTIONS_AGAIN),
    "named cells": (_CELLS_COUNTED,),
}
"""What a case that asks for another model promises where a release lacks this."""

_NOT_ASKED = {
    "turned": ("input structure order",),
    "not compiled": ("compiled",),
    "another scope": ("weight scope", "state scope"),
    _DTYPES_WRITTEN: ("input dtype", "output dtype"),
    _VARIABLES_COUNTED: ("weight scope", "state scope", "config.node_def"),
    _OPERATIONS_COUNTED: ("name",),
    _FUNCTIONS_AGAIN: ("layer extra", "layer missing", "config.constants"),
    _CELLS_COUNTED: ("name", "weight scope", "state scope"),
    **dict.fromkeys(DTYPES, ("call.args tensor", "call.kwargs tensor", "layer order")),
}
"""What is not asked for: where a dict of inputs is given in another order than the model's, that of its keys; where
nobody says that the clone of a compiled model is compiled, that it is; where it is cloned in a name scope, or
a layer got another name once it was built, that variables are named within what they were; where layers write their
own float into the tensors that they are called on, whichever was last, that it is the same on other inputs; where
tensors are those of one TensorFlow graph, which has each name once, and counts on where a model is made by hand after
another, what variables and operations are called in it, nor that a function of TensorFlow, which such a model knows
only by the operations that it made, makes the same ones on other inputs; where a release, before 2.13, counts to name
the cell that a recurrent layer makes, that layers are made in the order of their calls, and not in that of
`model.layers`, in which upstream asks a `clone_function` for them; on inputs of another dtype, before Keras 3.10, that
the casts are numbered in the order in which somebody wrote the calls down.

`clone_model` of tf_keras promises "An instance of `Model` reproducing the behavior of the original model, on top of new
inputs tensors, using newly instantiated weights", and says nothing of what it was compiled with.
"""

_ONLY_OF = {
    _DTYPES_WRITTEN: "float",
    _OPERATIONS_COUNTED: "tf_op_layer_",
    _CELLS_COUNTED: "_cell",
    **dict.fromkeys(DTYPES, "cast"),
}
"""Of what is not asked for, what speaks of these alone, before and after."""
_ONLY_AT = {_FUNCTIONS_AGAIN: "layers['tf_op_layer_"}
"""Of what is not asked for, what is found there alone."""


def held_to(cloner: str, original: Observation) -> Observation:
    """The original as a cloner's model is held against it: one is to have the very layers."""
    return replace(original, keeps="layers") if cloner == "same_layers" else original


def promised(cloner: str, cause: Cause) -> bool:
    """Whether what is broken is anything that the cloner's way of copying promises; to compute the same, all do.

    In the place of a cloner there may be what a case promises.
    """
    root = cause.root
    if root.aspect in _NOT_ASKED.get(cloner, ()):
        word = _ONLY_OF.get(cloner)
        if cloner in _ONLY_AT:
            return not root.path.startswith(_ONLY_AT[cloner])
        return word is not None and not (word in root.expected and word in root.found)
    if cloner in _BY_CONFIG:
        return cause.rank < Cost.PROPERTY or not root.aspect.startswith(_NEVER_IN_A_CONFIG)
    if cloner == "same_layers":
        return not (root.path.startswith("model.") and root.aspect in _OF_A_NEW_MODEL)
    return True
