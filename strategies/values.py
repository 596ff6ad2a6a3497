"""Values to try for arguments, by name, suffix, prefix or default.

The values of a row are separated by ` | `, the simplest first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def split_row(row: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in row.split(" | ")) if row else ()


def parse_table(text: str) -> dict[str, str]:
    """Parse lines `NAME NAME ...: ROW`; a line that starts with `|` continues a row."""
    lines = re.sub(r"\n\s*\|", " |", text).strip().splitlines()
    pairs = (line.strip().split(":", 1) for line in lines)
    return {name: row.strip() for names, row in pairs for name in names.split()}


# A moving variance starts as a constant: a negative one has no square root.
ROWS_BY_NAME: Mapping[str, str] = parse_table("""
    activation: "relu" | "tanh" | "softmax" | "elu" | keras.activations.softsign | layers.ELU() | None
    recurrent_activation: "hard_sigmoid" | keras.activations.softsign
    moving_variance_initializer: keras.initializers.Constant(2.0)
    units: 4 | 1 | 2
    rate: 0.5 | 0.25
    seed: 7
    axis: -1 | 1 | [-1] | (-1,)
    axes: -1 | 1
    layer: layers.Dense(3) | layers.LSTM(2) | layers.Dense(2, trainable=False) | <Scale>()
        | layers.Dense(2, activation=<double>) | layers.Dense(2, dtype="float64")
    layers: [layers.Dense(3), layers.Activation("relu")] | [layers.Rescaling(2.0)] | [layers.Dense(2)]
        | [layers.Rescaling(2.0), layers.RandomFlip()] | [<Scale>(), layers.Dropout(0.5)]
        | [layers.Dense(2, trainable=False)]
    cell: layers.SimpleRNNCell(2) | layers.GRUCell(2) | layers.LSTMCell(2) | [layers.LSTMCell(3), layers.GRUCell(2)]
        | layers.StackedRNNCells([layers.GRUCell(3), layers.SimpleRNNCell(2)])
    cells: [layers.GRUCell(3), layers.SimpleRNNCell(2)]
    dilation_rate: 2 | (2,) | (2, 2) | (2, 2, 2)
    strides: 2 | (2,) | 1 | (2, 2)
    padding: "same" | "causal"
    data_format: "channels_last" | "channels_first"
    mode: "horizontal"
    merge_mode: "sum" | None
    bounding_box_format: "xyxy"
    interpolation: "nearest" | "bilinear"
    fill_mode: "constant"
    value_range: (0, 1)
    score_mode: "concat"
    negative_slope weight_decay threshold label_smoothing mean factor min_value: 0.25
    max_value clipnorm global_clipnorm: 1.0
    noise_shape: (None, 1) | [None, 1] | (None, 1, None)
    shared_axes: [1] | (1,)
    scale: 2.0 | 0.5 | 0.25
    sigma clipvalue recall precision sensitivity specificity initial_learning_rate stddev gain l2: 0.5
    logit_soft_cap loss_scale_factor: 2.0
    max_tokens: 8
    height: 2 | 5
    width: 3 | 4
    groups: 1 | 2
    output_padding ema_overwrite_frequency: 1
    use_cudnn flash_attention: False
    lora_rank gradient_accumulation_steps: 2
    lora_alpha: 3
    filters: 2 | 3
    keepdims mask_zero: True
    output_mode: "multi_hot" | "count" | "one_hot" | "tf_idf"
    name: "mine"
    reduction: "sum" | "mean" | None
    inner_optimizer: keras.optimizers.SGD(momentum=0.5)
    learning_rate: 0.5 | keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5)
    decay_steps first_decay_steps num_thresholds num_labels: 4
    values: [0.5, 0.25, 0.125]
    thresholds: 0.25 | [0.25, 0.75]
    average: "macro" | "weighted"
    target_class_ids: [0] | (0, 1)
    class_id: 0
    ignore_class: -1 | 0
    fn: <error_named> | keras.losses.mean_absolute_error
    value: 0.5 | 2 | np.arange(1, 2) / 2
    minval: -0.5 | 0.0
    maxval: 0.5 | 2
    distribution: "uniform" | "untruncated_normal"
    window: "hamming" | None
    l1: 0.25 | 2
""")
"""The values of each argument, as a row."""

ROWS_BY_ENDING: Mapping[str, str] = parse_table("""
    _initializer: "he_normal" | keras.initializers.RandomNormal(stddev=0.5, seed=3)
        | keras.initializers.Constant(0.5) | keras.initializers.RandomUniform
        | {"class_name": "VarianceScaling", "config": {"scale": 2.0, "mode": "fan_avg", "seed": 5}}
    _regularizer: "l2" | keras.regularizers.L1L2(l1=0.25, l2=0.5)
        | {"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}}
    _constraint: "non_neg" | keras.constraints.MaxNorm(1.0, axis=0)
        | keras.constraints.MinMaxNorm(0.25, 0.5, rate=0.5, axis=0)
        | {"class_name": "UnitNorm", "config": {"axis": 0}}
    activation: "relu" | "tanh" | "elu"
    units _dim: 4 | 2
    _size: 2 | 4
    _length: 4 | 8
    _heads: 2 | 1
    factor: 0.5 | (0.25, 0.5)
    rate: 0.5 | 0.25
""")
ROWS_BY_BEGINNING: Mapping[str, str] = {"num_": "2 | 1", "max_": "4 | 2", "return_": "True", "use_": "True"}

EXCLUDED_ARGUMENTS = frozenset(
    (
        *("name", "trainable", "dtype", "autocast", "activity_regularizer"),  # `draw` draws them for all layers
        *("stateful", "sparse", "ragged", "dynamic", "weights"),  # stateful, or no dense output
    )
)
"""Optional arguments that no kind gets from the signature of its layer."""

COMPANIONS: Mapping[str, tuple[str, str]] = {
    "lora_alpha": ("lora_rank", "2"),
    "renorm_momentum": ("renorm", "True"),
}
"""By argument: the argument without which it has no effect, and its value."""
OPTIONAL_COMPANIONS = ("lora_alpha",)
"""The keys of `COMPANIONS` that are also passed alone."""

_ANY_VALUES = '2 | 4 | 0.5 | "relu" | (2, 2) | layers.Dense(3)'


def values(name: str, default: Any = None, *, required: bool = False) -> tuple[str, ...]:
    """The values to try for an argument, except its default."""
    if isinstance(default, bool):
        return (repr(not default),)
    row = _row_for(name)
    texts = split_row(row) if row is not None else split_row(_ANY_VALUES) if required else _values_of_type(default)
    return tuple(value for value in texts if required or value not in (repr(default), f'"{default}"'))


def _row_for(name: str) -> str | None:
    if name in ROWS_BY_NAME:
        return ROWS_BY_NAME[name]
    for table, matches in ((ROWS_BY_ENDING, name.endswith), (ROWS_BY_BEGINNING, name.startswith)):
        for affix in sorted(table, key=len, reverse=True):
            if matches(affix):
                return table[affix]
    return None


def _values_of_type(default: Any) -> tuple[str, ...]:
    match default:
        case int():
            return (repr(default + 1), "2")
        case float():
            return ("0.5", "0.25")
        case None:
            return ("2", "0.5", "True", "-1")
    return ()


DTYPES = ('"float64"', '"mixed_bfloat16"', '"float16"')
LAYER_ARGUMENTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "dtype": ("dtype", DTYPES),
    "policy": (
        "dtype",
        (
            *(f"keras.dtype_policies.DTypePolicy({dtype})" for dtype in DTYPES),
            '{"class_name": "DTypePolicy", "config": {"name": "mixed_bfloat16"}}',
            "<Precise>(2.0)",
        ),
    ),
    "policy map": ("dtype", tuple(f"keras.dtype_policies.DTypePolicyMap(default_policy={dtype})" for dtype in DTYPES)),
    "autocast": ("autocast", ("False",)),
    "regularized": ("activity_regularizer", ('"l2"', "keras.regularizers.L2()")),
}
"""Arguments of all layers, and their values, by setting."""
