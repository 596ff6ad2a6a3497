"""Two other ways by which people copy models, each held to what it documents.

A config makes a new model: "It does not handle layer connectivity (handled by Network), nor weights (handled by
`set_weights`)" (`from_config`). A deep copy keeps the weights: Keras 3 and `tf_keras` copy a model by way of a file
(`keras/src/saving/keras_saveable.py`, `tf_keras/src/engine/training.py`).
"""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING, Any, Iterator

if TYPE_CHECKING:
    from . import TrialContext

KEEP_VALUES = frozenset(("deepcopy",))
"""Those that are to give a model with the values that the weights have."""


def roundtrip(model: Any, context: TrialContext) -> Any:
    """Through the config: `from_config(get_config())` with the custom objects of the source."""
    with _objects(context):
        return type(model).from_config(model.get_config())


def deepcopy(model: Any, context: TrialContext) -> Any:
    """`copy.deepcopy`, with the custom objects of the source."""
    with _objects(context):
        return copy.deepcopy(model)


@contextlib.contextmanager
def _objects(context: TrialContext) -> Iterator[None]:
    """A scope in which custom objects are known by name, and lambdas may be read back."""
    framework = context.framework
    with framework.keras.utils.custom_object_scope(context.known), framework.safe_mode(False):
        yield


COPIES = {
    "roundtrip": roundtrip,
    "deepcopy": deepcopy,
}
