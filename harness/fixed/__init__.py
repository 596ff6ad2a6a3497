"""`clone_model` that copies: a clone is the objects of a model copied, with variables of its own.

`walk` finds what belongs to a model, `copier` copies it, each object once, and `keras3` and `tf_keras` say what the
objects of each Keras are, and with which values its variables begin.
"""

from __future__ import annotations

from typing import Any


def clone_model(model: Any, *args: Any, weights: bool = False, **kwargs: Any) -> Any:
    """Makes a copy of a model."""
    if type(model).__module__.startswith("tf_keras") or any(
        base.__module__.startswith("tf_keras.") for base in type(model).__mro__
    ):
        from . import tf_keras

        return tf_keras.clone(model, weights)
    from . import keras3

    return keras3.clone(model, weights)
