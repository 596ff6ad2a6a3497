"""The values worth trying for an argument: by its name, its ending, or the type of its default.

Keras says which of them a layer takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clonediff.strategies.graph import Form, Items, Layer, Made, Named, Seq, Value, leaves
from clonediff.strategies.kinds.kind import DTYPES, tupled

Table = Mapping[str, tuple[Value, ...]]


def _dict(name: str, /, **config: Value) -> Items:
    """What `get_config` of such an object would be, as people write it in a file."""
    return Items((("class_name", name), ("config", Items(tuple(config.items())))))


def made(path: str, **args: Value) -> Named:
    """Something of Keras that is made with arguments."""
    return Named(path, tuple(args.items()))


def layer(kind: str, *, frozen: bool = False, **args: Value) -> Made:
    """A layer within another."""
    return Made(Layer(kind, tuple(args.items()), trainable=not frozen))


_BY_ENDING: Table = {
    "_initializer": (
        "he_normal",
        made("initializers.RandomNormal", stddev=0.5, seed=3),
        made("initializers.Constant", value=0.5),
        _dict("VarianceScaling", scale=2.0, mode="fan_avg", distribution="uniform", seed=5),
        Named("initializers.RandomUniform"),
    ),
    "_regularizer": (
        "l1",
        made("regularizers.L1L2", l1=0.25, l2=0.5),
        _dict("L1L2", l1=0.5, l2=0.25),
    ),
    "_constraint": (
        "non_neg",
        made("constraints.MaxNorm", max_value=1.0, axis=0),
        made("constraints.MinMaxNorm", min_value=0.25, max_value=0.5, rate=0.5, axis=0),
        _dict("UnitNorm", axis=0),
    ),
    "activation": ("elu", Named("activations.softsign"), Made(Layer("ELU")), None),
    "units": (4, 2),
    "filters": (2, 3),
    "_dim": (4, 2),
    "_size": (2, 4),
    "_length": (4, 8),
    "_heads": (2, 1),
    "factor": (0.5, tupled(0.25, 0.5)),
    "rate": (0.5, 0.25),
    "layer": (layer("Dense", units=3), layer("LSTM", units=2), layer("Dense", units=2, frozen=True)),
    "layers": (
        Seq((layer("Dense", units=3), layer("Activation", activation="relu"))),
        Seq((layer("Rescaling", scale=2.0), layer("RandomFlip"))),
        Seq((layer("Scale"), layer("Dropout", rate=0.5))),
        Seq((layer("Dense", units=2, frozen=True),)),
    ),
    "cell": (layer("GRUCell", units=2), layer("LSTMCell", units=2)),
    "cells": (Seq((layer("GRUCell", units=3), layer("SimpleRNNCell", units=2))),),
}
_BY_BEGINNING: Table = {"num_": (2, 1), "max_": (4, 2), "return_": (True,), "use_": (True,)}

_BY_NAME: Table = {
    "recurrent_activation": ("hard_sigmoid", Named("activations.softsign")),
    # What starts below zero has no root.
    "moving_variance_initializer": (
        made("initializers.Constant", value=2.0),
        _dict("Constant", value=3.0),
    ),
    "renorm_clipping": (Items((("rmax", 3.0), ("rmin", 0.5), ("dmax", 5.0))),),
    "seed": (7,),
    "dilation_rate": (2, tupled(2)),
    "strides": (2, tupled(2), 1),
    "lora_alpha": (3,),
    "data_format": ("channels_last", "channels_first"),
    "padding": ("same", "causal"),
    "mode": ("horizontal",),
    "merge_mode": ("sum", None),
    "bounding_box_format": ("xyxy",),
    "interpolation": ("nearest", "bilinear"),
    "fill_mode": ("constant",),
    "value_range": (tupled(0, 1),),
    "score_mode": ("concat",),
    "negative_slope": (0.25,),
    "max_value": (1.0,),
    "axis": (-1, 1, Seq((-1,)), tupled(-1)),
    "noise_shape": (tupled(None, 1), Seq((None, 1)), tupled(None, 1, None)),
    "shared_axes": (Seq((1,)), tupled(1)),
    "attention_axes": (1, tupled(1)),
    "scale": (2.0, 0.5, 0.25),
    "sigma": (0.5,),
    "scaling": ("spectrum",),
    "reverse_dtype": ("float32",),
    "logit_soft_cap": (2.0,),
    "encoding": ("ascii",),
    "max_tokens": (8,),
    "rng_type": ("stateful", "legacy_stateful"),
    "oov_method": ("farmhash",),
    "height": (2, 5),
    "width": (3, 4),
    "groups": (1, 2),
    "output_padding": (1,),
    "use_cudnn": (False,),
    "flash_attention": (False,),
    "backward_layer": (layer("LSTM", units=2, go_backwards=True),),
}

_GENERAL: tuple[Value, ...] = (2, 4, 0.5, "relu", tupled(2, 2), layer("Dense", units=3))
"""What to try for an argument that is needed, and of which nothing is known."""

SAID_OTHERWISE = frozenset(("name", "trainable", "dtype", "autocast", "activity_regularizer"))
"""Arguments that every layer has, which an instruction sets by its `touch`."""
NOT_GIVEN: Mapping[str, str] = {
    "stateful": "what is done to a model before it is cloned says so",
    "sparse": "what it gives is no array",
    "ragged": "what it gives is no array",
    "dynamic": "such a layer has no graph",
    "weights": "they are arrays, of sizes that the layer knows once it is built",
}
"""Why an argument is given to no layer."""


def values(name: str, default: Any = None, *, needed: bool = False) -> tuple[Value, ...]:
    """What to try for an argument of this name; not what it is without being given.

    `default` is what it is then, None where that is no plain value.
    """
    if name in SAID_OTHERWISE or name in NOT_GIVEN:
        return ()
    if isinstance(default, bool):
        return (not default,)
    tried = of_name(name)
    if tried is None:
        tried = _GENERAL if needed else _of_type(default)
    return tuple(value for value in tried if needed or value != default or type(value) is not type(default))


def of_name(name: str) -> tuple[Value, ...] | None:
    """What to try for an argument by its name alone, None where that says nothing."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    for table, matches in ((_BY_ENDING, name.endswith), (_BY_BEGINNING, name.startswith)):
        # The longest first, as "layers" ends in no "layer".
        for each in sorted(table, key=len, reverse=True):
            if matches(each):
                return table[each]
    return None


def _of_type(default: Any) -> tuple[Value, ...]:
    match default:
        case int():
            return (default + 1, 2)
        case float():
            return (0.5, 0.25)
        case None:
            return (2, 0.5, True, -1)
    return ()


TOUCHED: Mapping[str, tuple[str, tuple[Value, ...]]] = {
    "dtype": ("dtype", DTYPES),
    "policy": (
        "dtype",
        (
            *(made("dtype_policies.DTypePolicy", name=each) for each in DTYPES),
            _dict("DTypePolicy", name="mixed_bfloat16"),
            Form("policy", "shared"),
        ),
    ),
    "policy map": (
        "dtype",
        (
            *(made("dtype_policies.DTypePolicyMap", default_policy=each) for each in DTYPES),
            made("dtype_policies.QuantizedDTypePolicy", mode="int8", source_name="float32"),
        ),
    ),
    "autocast": ("autocast", (False,)),
    "regularized": ("activity_regularizer", ("l2",)),
}
"""The argument of every layer that a touch sets, with its plain values."""


def touched(touch: str, number: int) -> dict[str, Value]:
    """What a touch gives a layer of which nothing more is said, by its number in a model."""
    key, values = TOUCHED.get(touch, ("", ()))
    return {key: values[number % len(values)]} if values else {}


NEEDS: Mapping[str, tuple[str, Value]] = {
    "lora_alpha": ("lora_rank", 2),
    "renorm_momentum": ("renorm", True),
    "renorm_clipping": ("renorm", True),
}
"""Arguments that mean nothing without another one."""


def together(drawn: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """What is drawn of further arguments, with what it means nothing without."""
    said = dict(drawn)
    return {**dict(NEEDS[name] for name in said if name in NEEDS), **said}


def _paths() -> Iterator[str]:
    tables = (*_BY_ENDING.values(), *_BY_NAME.values(), *(values for _, values in TOUCHED.values()))
    for tried in tables:
        for leaf in (leaf for value in tried for leaf in leaves(value)):
            if isinstance(leaf, Named):
                yield leaf.path


PATHS = frozenset(_paths())
"""The classes and functions of Keras that a graph can name."""

OF_NUMPY = frozenset(("np.dtype",))
"""What of NumPy a call may be given."""
