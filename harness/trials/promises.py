"""What a cloner that is not `clone_model` is held to: what its way of copying a model documents, and no more."""

from __future__ import annotations

from msgspec.structs import replace

from harness.subjects.observation import Observation
from reports.records import Cause, Cost

_BY_CONFIG = ("roundtrip", "from_config", "saved", "saved/h5", "saved/tf", "deepcopy", "pickled")
_NEVER_IN_A_CONFIG = ("supports_masking", "attribute.", "weight scope", "weight path alone", "state scope")
"""What somebody sets on a layer once it is made, and within what it was built: a config has what the constructor takes
(`get_config`)."""
_OF_A_NEW_MODEL = ("compiled", "trainable")
"""What `keras.Model(inputs, outputs)` does not take from another model of its layers."""

_NOT_ASKED = {"turned": ("input structure order",)}
"""What is asked for where a dict of inputs is given in another order than the model's: its keys, in whatever order."""


def held_to(cloner: str, original: Observation) -> Observation:
    """The original as a cloner's model is held against it: one is to have the very layers."""
    return replace(original, keeps="layers") if cloner == "same_layers" else original


def promised(cloner: str, cause: Cause) -> bool:
    """Whether what is broken is anything that the cloner's way of copying promises; to compute the same, all do."""
    root = cause.root
    if root.aspect in _NOT_ASKED.get(cloner, ()):
        return False
    if cloner in _BY_CONFIG:
        return cause.rank < Cost.PROPERTY or not root.aspect.startswith(_NEVER_IN_A_CONFIG)
    if cloner == "same_layers":
        return not (root.path.startswith("model.") and root.aspect in _OF_A_NEW_MODEL)
    return True
