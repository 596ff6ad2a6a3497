"""The classes of `keras.layers` that are no kind of their own, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from strategies.kinds.kind import Generation

INSIDE: frozenset[str] = frozenset(("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"))
"""Layers that are drawn as arguments of others."""

_EVERYWHERE: Mapping[str, str] = {
    "Layer": "it is there to be derived from",
    "Wrapper": "it is there to be derived from",
    "InputLayer": "each input of a graph is one",
}

NOT_DRAWN: Mapping[Generation, Mapping[str, str]] = {
    "keras": {
        **_EVERYWHERE,
        "Equalization": "it says that it gives back its own input, so that no model can be made of it",
        "TFSMLayer": "it reads a model from a folder",
        "TorchModuleWrapper": "it wraps a module of PyTorch, which no graph holds",
        "JaxLayer": "it wraps a function of JAX, which no graph holds",
        "FlaxLayer": "it wraps a module of Flax, which no graph holds",
    },
    "tf_keras": {
        **_EVERYWHERE,
        "AbstractRNNCell": "it is there to be derived from",
        "DenseFeatures": "its columns are objects of TensorFlow, which no graph holds",
        "SpectralNormalization": "it refuses an input specification that it makes with another Keras",
    },
    "keras2": _EVERYWHERE,
}
"""Why each of the others is not drawn."""
