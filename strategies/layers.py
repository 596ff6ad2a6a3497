"""The catalogue of Keras' layers: facts that their signatures do not show.

A row has the names of similar layers, their weight (`*4`), inputs to try (`@image`), how many tensors they take and how
(`[2-3 list]`), and alternative constructor arguments.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from clonediff.strategies.kind import Kind, PackingRule, parse_calls

_FAMILIES: Mapping[str, str] = {
    "lambda": """
        Lambda *24 [1-2 one or list]:
    """,
    "core": """
        Dense *4: units=4 | units=1 | units=3 | units=4, use_bias=False
            | units=4, dtype=keras.dtype_policies.QuantizedDTypePolicy("int8", "float32")
        Activation *4: activation="relu" | activation="tanh" | activation="softplus"
        ReLU LeakyReLU ELU ThresholdedReLU PReLU Identity Softmax Flatten UnitNormalization RMSNormalization:
        Reshape: target_shape=(-1,) | target_shape=(-1, 1) | target_shape=(4, 3) | target_shape=(2, -1)
        Permute @sequence @image: dims=(2, 1) | dims=(3, 2, 1) | dims=(2, 1, 3)
        RepeatVector @vector: n=3 | n=2
        Masking *6 @steps @sequence @open-steps: | mask_value=1.0
        Embedding *6 @ids @open-ids @id: input_dim=6, output_dim=4 | input_dim=6, output_dim=4, mask_zero=True
            | input_dim=6, output_dim=1
        ReversibleEmbedding @ids @open-ids: input_dim=6, output_dim=4 | input_dim=6, output_dim=4, mask_zero=True
        EinsumDense: equation="...x,xy->...y", output_shape=3 | equation="ab,by->ay", output_shape=(1,)
            | equation="...x,xy->...y", output_shape=3, bias_axes="y"
        ActivityRegularization: l2=0.5
        LayerNormalization: | epsilon=0.5 | scale=False
        BatchNormalization: | momentum=0.5 | center=False
        GroupNormalization: groups=1 | groups=2
    """,
    "merging": """
        Add *6 [2-3 list]:
        Multiply Average Maximum Minimum [2-3 list]:
        Subtract [2-2 list]:
        Concatenate *4 [2-3 list]: | axis=1
        Dot [2-2 list]: axes=-1 | axes=1 | axes=-1, normalize=True
    """,
    "custom": """
        Scale Shift *4:
        Offset MakeMask DropMask Adjust:
        UseMask *4 @steps @sequence:
        SumAll [1-3 each]:
        SumList [1-3 list]:
        Span: | low=0.25 | high=3.0
        Stack: widths=[4, 3] | widths=(2,)
        Branches: units=4 | units=2
        Louder: | depth=2
        Bare ExtraKey Renamed: | by=3.0
        WrapLayer: by=layers.Dense(3) | by=layers.Activation("tanh")
        ScaleByLength: by={1: 2.0} | by=(1, 2) | by=np.arange(3) | by=[(1, 2)]
    """,
    "recurrent": """
        LSTM *4 @time: units=3 | units=2, return_sequences=True | units=3, go_backwards=True
            | units=2, return_state=True
        GRU *4 @time: units=3 | units=2, return_sequences=True | units=3, reset_after=False | units=2, return_state=True
        SimpleRNN *4 @time: units=3 | units=2, return_sequences=True | units=3, activation="relu"
        SimpleRNNCell GRUCell LSTMCell @vector [2-2 each]: units=4
        RNN *8 @time:
        Bidirectional *4 @time: layer=layers.LSTM(2) | layer=layers.GRU(2, return_sequences=True)
            | layer=layers.LSTM(2), merge_mode=None | layer=layers.LSTM(2, trainable=False)
            | layer=layers.SimpleRNN(2, return_sequences=True), merge_mode="sum"
        TimeDistributed *4 @time: layer=layers.Dense(3) | layer=layers.Activation("tanh") | layer=<Scale>()
            | layer=layers.LayerNormalization(trainable=False)
            | layer=keras.Sequential([layers.Dense(3), layers.Dropout(0.5)])
    """,
    "noise": """
        Dropout *4: rate=0.5 | rate=0.25, seed=7
        GaussianDropout AlphaDropout: rate=0.5 | rate=0.5, seed=7
        GaussianNoise: stddev=0.5 | stddev=0.5, seed=7
    """,
    "attention": """
        Attention @time [2-2 list]: | use_scale=True
        AdditiveAttention @time [2-2 list]: | use_scale=False
        MultiHeadAttention @time [2-2 each]: num_heads=1, key_dim=2 | num_heads=2, key_dim=2
        GroupQueryAttention @time [2-2 each]: head_dim=2, num_query_heads=2, num_key_value_heads=1
    """,
    "convolution": """
        Conv?D Conv?DTranspose SeparableConv?D *1: filters=2, kernel_size=2 | filters=3, kernel_size=2, padding="same"
        LocallyConnected?D *1: filters=2, kernel_size=2
        DepthwiseConv?D *1: kernel_size=2 | kernel_size=2, padding="same"
        MaxPooling?D AveragePooling?D *1: pool_size=2 | pool_size=2, padding="same"
        GlobalMaxPooling?D GlobalAveragePooling?D *1: | keepdims=True
        Cropping?D *1: cropping=1
        ZeroPadding?D *1: padding=1
        UpSampling?D *1: size=2
        SpatialDropout?D *1: rate=0.5
        AdaptiveMaxPooling?D AdaptiveAveragePooling?D *1: output_size=2
        ConvLSTM1D *1 @image: filters=2, kernel_size=2 | filters=3, kernel_size=2, return_sequences=True
        ConvLSTM2D @volume: filters=2, kernel_size=2 | filters=2, kernel_size=2, padding="same"
        ConvLSTM3D @rank-6: filters=2, kernel_size=2 | filters=2, kernel_size=2, return_state=True
    """,
    "wrappers": """
        SpectralNormalization: layer=layers.Dense(3) | layer=layers.Dense(2, trainable=False)
        Pipeline:
    """,
    "encoding": """
        Normalization *1 @vector @sequence @one @open: mean=0.5, variance=2.0
            | mean=np.arange(1, <0>.shape[-1] + 1) / 2, variance=np.arange(1, <0>.shape[-1] + 1) / 2
            | axis=None, mean=0.5, variance=2.0, invert=True
        Discretization *1 @vector @sequence @one @open: bin_boundaries=[-0.5, 0.0, 0.5]
            | bin_boundaries=[0.0], output_mode="multi_hot"
        CategoryEncoding @ids @id: num_tokens=6 | num_tokens=6, output_mode="count"
            | num_tokens=6, output_mode="one_hot"
        Hashing @ids @words: num_bins=3 | num_bins=6, salt=7 | num_bins=6, output_mode="multi_hot"
            | num_bins=3, mask_value=0 | num_bins=3, mask_value=""
        HashedCrossing *3 @id @word [2-2 list]: num_bins=3 | num_bins=6, output_mode="one_hot"
        IntegerLookup @ids: vocabulary=[1, 2, 4] | vocabulary=[1, 2, 4], num_oov_indices=2
            | vocabulary=[1, 2, 4], mask_token=0 | vocabulary=[1, 2, 4], invert=True, oov_token=5
            | vocabulary=[1, 2, 4], output_mode="tf_idf", idf_weights=np.arange(1, 4) / 2
        StringLookup @words: vocabulary=["red", "green"] | vocabulary=["red", "green"], num_oov_indices=2
            | vocabulary=["red", "green"], output_mode="tf_idf", idf_weights=np.arange(1, 3) / 2
        TextVectorization @word: vocabulary=["red", "green", "a"], output_sequence_length=3
            | vocabulary=["red", "green", "a"], output_sequence_length=4, standardize="lower", split="character"
            | vocabulary=["red", "green", "a"], output_sequence_length=3, ngrams=2
    """,
    # The window is an array: Keras needs SciPy to make one from a name.
    "signals": """
        MelSpectrogram *1 @vector: fft_length=4, sequence_stride=2, num_mel_bins=2, sampling_rate=100
        STFTSpectrogram *1 @time: frame_length=2, frame_step=1, window=np.arange(1, 3, dtype="float32") / 2
            | frame_length=2, frame_step=1, window=np.arange(1, 3, dtype="float32") / 2, mode="real"
    """,
    "images": """
        Rescaling *1: scale=2.0 | scale=0.5, offset=1.0
        Resizing CenterCrop RandomCrop RandomFlip RandomRotation RandomTranslation RandomZoom *1 @rgb @image:
        RandomContrast RandomBrightness RandomErasing RandomElasticTransform RandomGaussianBlur *1 @rgb @image:
        RandomInvert RandomPerspective RandomSharpness RandomShear RandomColorDegeneration RandomHue *1 @rgb @image:
        RandomSaturation AugMix RandAugment CutMix MixUp AutoContrast Equalization *1 @rgb @image:
        MaxNumBoundingBoxes RandomHeight RandomWidth *1 @image:
        RandomPosterization *1 @rgb: factor=4
        RandomColorJitter *1 @rgb: hue_factor=0.5 | brightness_factor=0.5
        RandomGrayscale *1 @rgb: | factor=0.25 | seed=7
        Solarization *1 @rgb: addition_factor=0.5 | addition_factor=0.5, threshold_factor=0.5
        ContrastLimitedAdaptiveHistogramEqualization *1 @rgb: tile_grid_size=(2, 2)
    """,
}
"""The rows by family, the simplest first. `?` stands for 1, 2 and 3 dimensions."""

_TRAINING_VALUES = ("", "True", "False", "None")
_CALL_VALUES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "BatchNormalization": {"training": ("", "True", "False")},
    **{key: {"training": _TRAINING_VALUES} for key in ("Dropout", "GaussianDropout", "AlphaDropout", "GaussianNoise")},
    "ReversibleEmbedding": {"reverse": ("",)},
    "Shift": {"by": ("1.0", "", "None", "(1.0, 2.0)", "[1.0, 2.0]", "np.arange(1, 2) / 2")},
    "Louder": {"gain": ("", "2.0", "None")},
    "Adjust": {  # its call takes constants of all types
        "how": (
            *("2", '"double"', "True", "0.5", '{"factor": 2.0, "terms": (1.0, 2)}', '((2.0, 1), "halved")'),
            *("[None, 3.0]", 'np.arange(1, dtype="int32") % 2', 'np.dtype("float16")'),
        )
    },
}
_RNN_TENSORS = ("mask", "initial_state")
_TENSOR_ARGUMENTS = {"UseMask": ("mask",), **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), _RNN_TENSORS)}
_TIME_INPUTS = ("sequence", "steps", "open", "open-steps")
_INPUTS_BY_DIMENSIONS = {1: _TIME_INPUTS, 2: ("image", "rgb"), 3: ("volume",)}
_ROW = re.compile(
    r"(?P<names>[\w? ]+?)(?: \*(?P<weight>\d+))?(?P<inputs>(?: @[\w-]+)*)(?: \[(?P<counts>.*?)\])?:(?P<arguments>.*)"
)


def _kinds(family: str, table: str) -> Iterator[Kind]:
    for line in re.sub(r"\n\s*\|", " |", table).strip().splitlines():
        row = _ROW.fullmatch(line.strip())
        assert row is not None, line
        min_count, max_count, packing = re.split("[- ]", row["counts"] or "1-1 one", maxsplit=2)
        input_names = (_TIME_INPUTS if name == "@time" else (name[1:],) for name in row["inputs"].split())
        kind = Kind(
            "",
            parse_calls(row["arguments"]),
            counts=(int(min_count), int(max_count)),
            packing=cast("PackingRule", packing),
            inputs=tuple(itertools.chain.from_iterable(input_names)),
            family=family,
        )
        for pattern in row["names"].split():
            for dims in (1, 2, 3) if "?" in pattern else (0,):
                name, weight = pattern.replace("?", str(dims)), int(row["weight"] or 2) + (dims == 3)
                inputs = _INPUTS_BY_DIMENSIONS.get(dims, kind.inputs)
                new_kind = replace(kind, name=name, inputs=inputs, call=_CALL_VALUES.get(name, {}))
                yield replace(new_kind, tensor_arguments=_TENSOR_ARGUMENTS.get(name, ()), weight=weight)


CATALOGUE: Mapping[str, Kind] = {
    kind.name: kind for family, table in _FAMILIES.items() for kind in _kinds(family, table)
}
"""All kinds by name, the simplest family first."""

EXCLUDED_LAYERS = frozenset(
    (
        *("Layer", "Wrapper", "AbstractRNNCell"),  # base classes
        "StackedRNNCells",  # drawn as the cell of an RNN
        *("CuDNNGRU", "CuDNNLSTM"),  # run on a GPU only
        *("InputLayer", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"),  # no script makes what they wrap
    )
)
"""Layers that are not drawn."""
