"""Which kinds are called on ragged tensors, in each generation: those that all of its releases take them in.

Before Keras 3 a function of TensorFlow has to have a word for ragged tensors: `tf.nn.relu` has none before 2.8, and a
layer of random numbers asks for a shape; and to add two ragged tensors takes a second, for all that it does about rows
of one. In Keras 3 a symbolic ragged tensor is a dense one to whatever is called on
it, and most of what takes its numbers one by one takes ragged ones.

None is called on a ragged tensor that has a mask: Keras 3 computes nothing on one, be it `Masking` or what uses the
mask of an `Embedding`, and the recurrent layers of `tf_keras` refuse one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from strategies.kinds.kind import Generation, Kind

_IN_BOTH: Mapping[str, tuple[str, ...]] = {
    "Embedding": (),
    "GlobalAveragePooling1D": ("keepdims", "data_format"),
    "Concatenate": (),
    "operator.half": (),
}
_RECURRENT = ("activation", "recurrent_activation", "unroll")
_ONLY_IN: Mapping[Generation, Mapping[str, tuple[str, ...]]] = {
    "keras": {
        **dict.fromkeys(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"), ()),
        **dict.fromkeys(("Activation", "ReLU", "LeakyReLU", "ELU", "Identity", "Rescaling"), ()),
        **dict.fromkeys(("LayerNormalization", "BatchNormalization", "UnitNormalization"), ("axis",)),
    },
    "tf_keras": {
        **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional"), _RECURRENT),
        **dict.fromkeys(("TimeDistributed", "Dropout"), ()),
    },
}
"""The arguments that each of them cannot have on ragged tensors."""


def on_ragged(kinds: Mapping[str, Kind], generation: Generation) -> Mapping[str, Kind]:
    """The kinds as a generation has them: each with the arguments that it cannot have on ragged tensors."""
    taken = {**_IN_BOTH, **_ONLY_IN[generation]}
    return {name: replace(kind, on_ragged=taken.get(name)) for name, kind in kinds.items()}
