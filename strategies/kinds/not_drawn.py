"""The layers that are no kind of their own, with reasons."""

from __future__ import annotations

from collections.abc import Mapping

ONLY_WITHIN = frozenset(("Sequential",))
"""What is drawn as an argument of layers, and is no layer of Keras' alone."""

NOT_DRAWN: Mapping[str, str] = {
    "Layer": "it is there to be derived from",
    "Wrapper": "it is there to be derived from",
    "AbstractRNNCell": "it is there to be derived from",
    "CuDNNGRU": "it runs on a GPU only, which shows when the model is run",
    "CuDNNLSTM": "it runs on a GPU only, which shows when the model is run",
    "InputLayer": "each input of a graph is one",
    "TFSMLayer": "it reads a model from a folder",
    "TorchModuleWrapper": "it wraps a module of PyTorch, which no graph holds",
    "JaxLayer": "it wraps a function of JAX, which no graph holds",
    "FlaxLayer": "it wraps a module of Flax, which no graph holds",
}
"""Why each of these layers is not drawn."""
