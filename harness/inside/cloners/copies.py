"""Other ways by which people copy models, each held to what it documents.

A config makes a new model: "It does not handle layer connectivity (handled by Network), nor weights (handled by
`set_weights`)" (`from_config`). A file, a pickle and a deep copy keep the weights: "models can be reinstantiated in the
exact same state" (`Model.save`); Keras 3 and `tf_keras` pickle and copy a model by way of such a file
(`keras/src/saving/keras_saveable.py`, `tf_keras/src/engine/training.py`).
"""

from __future__ import annotations

import copy
import os
import pickle
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import TrialContext

KEEP_VALUES = frozenset(("saved", "saved/h5", "saved/tf", "deepcopy", "pickled"))
"""Those that are to give a model with the values that the weights have."""

SAME_LAYERS = "same_layers"
"""The one that is to give a model of the very layers."""


def roundtrip(model: Any, context: TrialContext) -> Any:
    """Through the config: `from_config(get_config())` with the custom objects of the source."""
    with context.framework.objects(context.known):
        return type(model).from_config(model.get_config())


def from_config(model: Any, context: TrialContext) -> Any:
    """Through the config as anybody would type it: with no custom objects, and in safe mode."""
    return model.__class__.from_config(model.get_config())


def saved(model: Any, context: TrialContext) -> Any:
    """Through a file: saved, then loaded; in the format of Keras 3, or where a release has none such, as HDF5."""
    return _through("model.keras", model, context)


def saved_h5(model: Any, context: TrialContext) -> Any:
    """Through an HDF5 file."""
    return _through("model.h5", model, context)


def saved_tf(model: Any, context: TrialContext) -> Any:
    """Through a SavedModel, which Keras 3 exports, and does not load."""
    return _through("model", model, context, save_format="tf")


def _through(name: str, model: Any, context: TrialContext, **options: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="clonediff-") as folder:
        path = os.path.join(folder, name)
        model.save(path, **options)
        return context.framework.load(path, context.known)


def deepcopy(model: Any, context: TrialContext) -> Any:
    """`copy.deepcopy`, with the custom objects of the source."""
    with context.framework.objects(context.known):
        return copy.deepcopy(model)


def pickled(model: Any, context: TrialContext) -> Any:
    """Pickled and read back, with the custom objects of the source."""
    with context.framework.objects(context.known):
        return pickle.loads(pickle.dumps(model))  # noqa: S301 - what was pickled the line before


def same_layers(model: Any, context: TrialContext) -> Any:
    """`model.__class__` called with what the model is made of: another model of the same layers."""
    if isinstance(model, context.framework.keras.Sequential):
        return model.__class__([*model.inputs, *model.layers], name=model.name)
    return model.__class__(inputs=model.input, outputs=model.output, name=model.name)


COPIES = {
    "roundtrip": roundtrip,
    "from_config": from_config,
    "saved": saved,
    "saved/h5": saved_h5,
    "saved/tf": saved_tf,
    "deepcopy": deepcopy,
    "pickled": pickled,
    SAME_LAYERS: same_layers,
}
