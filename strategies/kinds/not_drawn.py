"""The layers and operations that are no kind of their own, and the arguments that are not given, with reasons."""

from __future__ import annotations

from collections.abc import Mapping

from strategies.kinds.kind import Generation

INSIDE: frozenset[str] = frozenset(("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"))
"""Layers that are drawn as arguments of others."""

ONLY_WITHIN = frozenset(("LeakyCell", "Sequential"))
"""What is drawn as an argument of layers, and is no layer of Keras' alone."""

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

OF_A_BASE: frozenset[str] = frozenset(
    ("rank", "pool_dimensions", "pool_mode", "pool_function", "conv_op", "cell", "factor", "weights", "dynamic")
)
"""Arguments of base classes that a class sets itself, or that nothing reads where it has no use for them."""

SAID_OTHERWISE: frozenset[str] = frozenset(("name", "trainable", "dtype", "autocast", "activity_regularizer"))
"""Arguments that every layer has, which an instruction sets by its `touch`."""

NOT_SAID: Mapping[str, str] = {
    "sparse": "what it gives is no array",
    "ragged": "what it gives is no array",
    "stateful": "it needs a batch of a known size",
    "time_major": "it turns the dimensions of the input round",
    "quantization_config": "a layer is quantized once it is built",
    "gptq_unpacked_column_size": "a layer is quantized once it is built",
    "groups": "on a CPU no gradient goes through it",
    "output_padding": "it needs longer strides",
    "synchronized": "it needs several devices",
    "virtual_batch_size": "it needs a batch that it divides",
    "adjustment": "it needs a batch of a known size",
    "pad_to_max_tokens": "it needs a limit of tokens",
    "num_bins": "it stands in the place of the bounds",
    "vocabulary_dtype": "it has one value",
    "pad_to_aspect_ratio": "it does not go with crop_to_aspect_ratio",
    "backward_layer": "it has to mirror the layer",
    "function": "it follows from the tensors",
    "arguments": "it follows from the tensors",
    "dims": "it follows from the tensors",
    "idf_weights": "it follows from the tensors",
    "invert": "it follows from the tensors",
    "oov_token": "it follows from the tensors",
}
"""Why an argument is given to no layer, or not to all that have it."""

NO_OPERATION: Mapping[str, str] = {
    "ops.adaptive_average_pool": "it says another shape than it gives (keras/src/ops/nn.py:1375)",
    "ops.adaptive_max_pool": "it says another shape than it gives (keras/src/ops/nn.py:1199)",
    "ops.arange": "it counts its numbers with NumPy (keras/src/ops/numpy.py:708), which takes no tensor",
    "ops.conv_transpose": "it hands its padding on as its output padding (keras/src/ops/nn.py:1800), so that none runs",
    "ops.fold": "each call of it compiles for seconds (keras/src/backend/tensorflow/nn.py:1897)",
    "ops.get_item": "a slice is one",
    "ops.histogram": "it looks in the wrong module of TensorFlow's backend (keras/src/ops/numpy.py:9645)",
    "ops.slogdet": "it says that its sign has no batch (keras/src/ops/numpy.py:9543)",
    "ops.view_as_complex": "it multiplies a real tensor by 1j (keras/src/ops/math.py:1248), which TensorFlow refuses",
}
"""Why each of the functions of `keras.ops` that take a symbolic tensor, and are no kind, is none."""
