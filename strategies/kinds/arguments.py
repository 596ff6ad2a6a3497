"""Further arguments of layers: the values to try belong to an argument's name, once for all kinds that have it.

A kind says which of these names it has; an instruction sets at most two of them. None changes the shape that a layer
gives, unless the kind's rule reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from strategies.graph import Items, Layer, Made, Named, Seq, Value, leaves
from strategies.kinds.kind import TOO_FEW_STEPS, Generation, Specs

Table = Mapping[str, tuple[Value, ...]]


def _dict(name: str, **config: Value) -> Items:
    """What `get_config` of such an object would be, as people write it in a file."""
    return Items((("class_name", name), ("config", Items(tuple(config.items())))))


def made(path: str, **args: Value) -> Named:
    """Something of Keras that is made with arguments."""
    return Named(path, tuple(args.items()))


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
}

_BY_NAME: Table = {
    "activation": ("elu", Named("activations.softsign"), Made(Layer("ELU")), None),
    "recurrent_activation": ("hard_sigmoid", Named("activations.softsign")),
    # What starts below zero has no root.
    "moving_variance_initializer": (
        made("initializers.Constant", value=2.0),
        _dict("Constant", value=3.0),
    ),
    "use_bias": (False,),
    "center": (False,),
    "scale": (False,),
    "unit_forget_bias": (False,),
    "go_backwards": (True,),
    "unroll": (True,),
    "zero_output_for_mask": (True,),
    "use_cudnn": (False,),
    "renorm": (True,),
    "renorm_momentum": (0.5,),
    "renorm_clipping": (Items((("rmax", 3.0), ("rmin", 0.5), ("dmax", 5.0))),),
    "use_scale": (True,),
    "use_gate": (True,),
    "flash_attention": (False,),
    "antialias": (True,),
    "pad_to_aspect_ratio": (True,),
    "all_ops": (False,),
    "periodic": (True,),
    "dropout": (0.5,),
    "recurrent_dropout": (0.25,),
    "seed": (7,),
    "dilation_rate": (2, Seq((2,), "tuple")),
    "strides": (2, Seq((2,), "tuple"), 1),
    "depth_multiplier": (2,),
    "lora_rank": (1, 2),
    "lora_alpha": (3,),
    "data_format": ("channels_last",),
    "bounding_box_format": ("xyxy",),
    "interpolation": ("nearest", "bilinear"),
    "fill_mode": ("constant",),
    "fill_value": (1.0,),
    "value_range": (Seq((0, 1), "tuple"),),
    "score_mode": ("concat",),
    "negative_slope": (0.25,),
    "threshold": (0.5,),
    "l1": (0.25,),
    "axis": (-1,),
    "epsilon": (0.25,),
    "noise_shape": (Seq((None, 1), "tuple"), Seq((None, 1))),
    "shared_axes": (Seq((1,)), Seq((1,), "tuple")),
    "value_dim": (3,),
    "sliding_window": (2,),
    "chain_depth": (2,),
    "alpha": (0.5,),
    "brightness_factor": (0.5,),
    "contrast_factor": (0.5, Seq((0.25, 0.5), "tuple")),
    "saturation_factor": (0.5,),
    "min_freq": (10.0,),
    "max_freq": (40.0,),
    "top_db": (40.0,),
    "mag_exp": (1.0,),
    "min_power": (1e-6,),
    "ref_power": (2.0,),
    "scaling": ("density", "spectrum"),
    "reverse_dtype": ("float32",),
    "logit_soft_cap": (2.0,),
    "encoding": ("ascii",),
    "max_tokens": (8,),
    "oov_method": ("farmhash",),
    "sequence_length": (3,),
    "moving_mean_initializer": _BY_ENDING["_initializer"],
}


def values(name: str) -> tuple[Value, ...]:
    """What to try for an argument of this name; never what it is without being given."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next(tried for ending, tried in _BY_ENDING.items() if name.endswith(ending))


def more(*names: str) -> dict[str, tuple[Value, ...]]:
    """These arguments, with the values of their names."""
    return {name: values(name) for name in names}


def weights(*stems: str) -> dict[str, tuple[Value, ...]]:
    """How weights start, what they cost and what they may be: "kernel" has three arguments."""
    return more(*(f"{stem}_{what}" for stem in stems for what in ("initializer", "regularizer", "constraint")))


POLICIES: Mapping[str, Callable[[str], Named]] = {
    "policy": lambda dtype: made("dtype_policies.DTypePolicy", name=dtype),
    "policy map": lambda dtype: made("dtype_policies.DTypePolicyMap", default_policy=dtype),
}
"""The dtypes of a layer as objects, by what is drawn for them."""


NEEDS: Mapping[str, tuple[str, Value]] = {
    "lora_alpha": ("lora_rank", 2),
    "renorm_momentum": ("renorm", True),
    "renorm_clipping": ("renorm", True),
}
"""Arguments that mean nothing without another one."""
REFUSES: Mapping[str, tuple[str, ...]] = {"lora_rank": ("kernel_constraint", "embeddings_constraint")}
"""Arguments with which a layer refuses others."""
_NOT_BESIDE: Mapping[str, tuple[str, ...]] = {**REFUSES, "unroll": ("zero_output_for_mask",)}
"""Arguments that are not drawn beside others: where there is a mask, tf_keras fails on these two (backend.py:4934)."""


def further(drawn: Iterable[tuple[str, Value]], specs: Specs) -> dict[str, Value]:
    """What is drawn as far as it suits the tensors, with what it needs and without what that refuses."""
    said = {name: value for name, value in drawn if suits(name, value, specs)}
    needed = dict(NEEDS[name] for name in said if name in NEEDS)
    refused = {other for name in (*needed, *said) for other in _NOT_BESIDE.get(name, ())}
    return {name: value for name, value in {**needed, **said}.items() if name not in refused}


def suits(name: str, value: Value, specs: Specs) -> bool:
    """Whether a further argument can be said of a layer on these tensors."""
    match name:
        case "unroll":
            return specs[0].shape[:1] not in TOO_FEW_STEPS
        case "noise_shape":
            return isinstance(value, Seq) and len(value.items) == specs[0].rank + 1
    return True


UNDOCUMENTED: Mapping[Generation | None, tuple[str, ...]] = {
    "tf_keras": tuple(
        f"{kind}.{name}"
        for name, kinds in (
            ("seed", ("LSTM", "GRU", "SimpleRNN", "Attention", "AdditiveAttention")),
            ("use_cudnn", ("LSTM", "GRU")),
            ("noise_shape", ("AlphaDropout",)),
        )
        for kind in kinds
    ),
    "keras2": ("ZeroPadding1D.data_format", "AlphaDropout.noise_shape"),
}
"""Arguments that a constructor takes among its others, though nobody says so; or takes and cannot use as others do, as
an AlphaDropout that fails where a dimension of its noise is None.
"""


def _paths() -> Iterator[str]:
    for value in (value for table in (_BY_ENDING, _BY_NAME) for tried in table.values() for value in tried):
        for leaf in leaves(value):
            if isinstance(leaf, Named):
                yield leaf.path


PATHS = frozenset((*_paths(), *(policy("float32").path for policy in POLICIES.values())))
"""The classes and functions of Keras that a graph can name."""

OF_NUMPY = frozenset(("np.dtype",))
"""What of NumPy a call may be given."""
