"""The layers that most models are made of, and those that change a shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from strategies.graph import Layer, Seq, Value
from strategies.kinds.arguments import more, weights
from strategies.kinds.kind import (
    FLOATS,
    IDS,
    LEFT_OUT,
    Dims,
    Kind,
    Spec,
    Specs,
    computed,
    floats,
    last,
    number,
    plain,
    same,
    shaped,
    tupled,
)

ACTIVATIONS: tuple[Value, ...] = (LEFT_OUT, "relu", "tanh", "softmax")
PLAIN_DTYPES = ("float64", "mixed_bfloat16", "float16")


def _flattened(shape: Dims, layer: Layer) -> Dims | None:
    sizes = [size for size in shape if size is not None]
    return (math.prod(sizes),) if len(sizes) == len(shape) else None


def _reshape_target(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """`swap` turns the dimensions round, `split` adds one of size 1, `flat` leaves one dimension."""
    shape = specs[0].shape
    if None in shape:
        return None
    targets = {"swap": shape[::-1], "split": (*shape, 1), "flat": (-1,)}
    return {"target_shape": tupled(*targets[str(drawn["target_shape"])])}


def _reshaped(shape: Dims, layer: Layer) -> Dims | None:
    target = layer.arg("target_shape")
    sizes = [size for size in shape if size is not None]
    if not isinstance(target, Seq) or len(sizes) != len(shape):
        return None
    dims = [item for item in target.items if isinstance(item, int)]
    if -1 in dims:
        rest = math.prod(dim for dim in dims if dim != -1)
        if math.prod(sizes) % rest:
            return None
        dims[dims.index(-1)] = math.prod(sizes) // rest
    return tuple(dims) if math.prod(dims) == math.prod(sizes) else None


def _turned(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    return {"dims": tupled(*range(specs[0].rank, 0, -1))}


def _permuted(shape: Dims, layer: Layer) -> Dims | None:
    dims = layer.arg("dims")
    if not isinstance(dims, Seq) or len(dims.items) != len(shape):
        return None
    turned = tuple(shape[item - 1] for item in dims.items if isinstance(item, int))
    return turned if turned[-1] is not None else None


def _repeated(shape: Dims, layer: Layer) -> Dims | None:
    count = layer.arg("n")
    return (count, *shape) if isinstance(count, int) else None


def _embedded(specs: Specs, layer: Layer) -> Specs:
    return (Spec((*specs[0].shape, number(layer, "output_dim")), computed(layer), layer.arg("mask_zero") is True),)


def _ids(specs: Specs) -> bool:
    return specs[0].dtype in IDS and specs[0].rank == 1 and not specs[0].large


def _unchanged(specs: Specs, layer: Layer) -> Specs:
    """As it was; what is a float becomes one of the layer's own."""
    (given,) = specs
    return (replace(given, dtype=computed(layer)) if given.dtype in FLOATS else given,)


def _equation(specs: Specs, drawn: Mapping[str, Value]) -> dict[str, Value] | None:
    """A `Dense` on the last dimension, written with a letter for each dimension or with dots for most."""
    shape, asked = specs[0].shape, drawn["output_shape"]
    units = asked.items[-1] if isinstance(asked, Seq) else asked
    # With dots for several dimensions Keras 3 tells these in the wrong order (layers/core/einsum_dense.py:1722).
    if "..." in str(drawn["equation"]) and len(set(shape[:-1])) < 2:
        args: dict[str, Value] = {"equation": "...x,xy->...y", "output_shape": units}
    elif None in shape:
        return None
    else:
        letters = "abcd"[: len(shape) + 1]
        args = {
            "equation": f"{letters},{letters[-1]}y->{letters[:-1]}y",
            "output_shape": tupled(*shape[:-1], *((units,) if isinstance(units, int) else ())),
        }
    return {**drawn, **args}


def _multiplied(specs: Specs, layer: Layer) -> Specs | None:
    asked, shape = layer.arg("output_shape"), specs[0].shape
    equation = str(layer.arg("equation"))
    units = asked.items[-1] if isinstance(asked, Seq) else asked
    if not isinstance(units, int):
        return None
    if not equation.startswith("...") and (
        equation.index(",") != len(shape) + 1 or not isinstance(asked, Seq) or asked.items[:-1] != shape[:-1]
    ):
        return None
    return (Spec((*shape[:-1], units), computed(layer)),)


KINDS = (
    Kind(
        "Dense",
        options={
            "units": (4, 1, 3),
            "activation": ACTIVATIONS,
            "use_bias": (LEFT_OUT, False),
            "kernel_regularizer": (LEFT_OUT, "l2"),
        },
        more={
            **more("kernel_initializer", "kernel_constraint", "lora_rank", "lora_alpha"),
            **weights("bias"),
        },
        fits=floats(1, 3),
        gives=last("units"),
        masks=True,
        dtypes=PLAIN_DTYPES,
    ),
    Kind(
        "Activation",
        options={"activation": ("relu", "tanh", "sigmoid", "softplus")},
        fits=floats(1, 3),
        gives=same,
        masks=True,
        dtypes=PLAIN_DTYPES,
    ),
    Kind(
        "ReLU",
        options={"max_value": (LEFT_OUT, 1.0)},
        more=more("negative_slope", "threshold"),
        fits=floats(1, 3),
        gives=same,
        masks=True,
    ),
    Kind("LeakyReLU", more=more("negative_slope", "alpha"), fits=floats(1, 3), gives=same, masks=True),
    Kind("ELU", options={"alpha": (LEFT_OUT, 0.5)}, fits=floats(1, 3), gives=same, masks=True),
    Kind(
        "ThresholdedReLU",
        options={"theta": (LEFT_OUT, 0.5)},
        fits=floats(1, 3),
        gives=same,
        masks=True,
        only="tf_keras",
    ),
    Kind(
        "PReLU",
        more={**weights("alpha"), **more("shared_axes")},
        fits=floats(1, 3, known=True),
        gives=same,
        masks=True,
    ),
    Kind("Identity", fits=lambda specs: True, gives=_unchanged, masks=True),
    Kind("Softmax", more={"axis": (1,)}, fits=floats(1, 2, masked=False), gives=same),
    Kind("Flatten", more=more("data_format"), fits=floats(1, 3), gives=shaped(_flattened)),
    Kind(
        "Reshape",
        options={"target_shape": ("swap", "split", "flat")},
        fits=floats(1, 2, known=True),
        arrange=_reshape_target,
        gives=shaped(_reshaped),
    ),
    Kind("Permute", fits=floats(2, 3), arrange=_turned, gives=shaped(_permuted)),
    Kind("RepeatVector", options={"n": (3, 2)}, fits=floats(1), gives=shaped(_repeated)),
    Kind(
        "Masking",
        options={"mask_value": (LEFT_OUT, 1.0)},
        fits=floats(2),
        gives=lambda specs, layer: (Spec(specs[0].shape, computed(layer), True),),
        masks=True,
        weight=3,
    ),
    Kind(
        "Embedding",
        options={"input_dim": (6,), "output_dim": (4, 3), "mask_zero": (LEFT_OUT, True)},
        more={**weights("embeddings"), **more("lora_rank", "lora_alpha")},
        fits=_ids,
        gives=_embedded,
        masks=True,
        weight=3,
    ),
    Kind(
        "ReversibleEmbedding",
        options={
            "input_dim": (6,),
            "output_dim": (4, 3),
            "mask_zero": (LEFT_OUT, True),
            "tie_weights": (LEFT_OUT, False),
        },
        more={**weights("embeddings"), **more("reverse_dtype", "logit_soft_cap")},
        fits=_ids,
        gives=_embedded,
        masks=True,
        only="keras",
    ),
    Kind(
        "EinsumDense",
        options={
            "equation": ("...x,xy->...y", "ab,bc->ac"),
            "output_shape": (3, 1),
            "bias_axes": (LEFT_OUT, "y"),
            "activation": ACTIVATIONS,
        },
        more={**weights("kernel", "bias"), **more("lora_rank", "lora_alpha")},
        fits=plain(floats(1, 3, masked=False)),
        arrange=_equation,
        gives=_multiplied,
    ),
    Kind("ActivityRegularization", options={"l2": (0.5,)}, more=more("l1"), fits=floats(1, 3), gives=same, masks=True),
    Kind("UnitNormalization", more={"axis": (1, Seq((-1,)))}, fits=floats(1, 2), gives=same, masks=True),
    Kind(
        "LayerNormalization",
        options={"epsilon": (LEFT_OUT, 0.5), "scale": (LEFT_OUT, False)},
        more={**weights("beta", "gamma"), **more("center"), "axis": (Seq((-1,)), Seq((-1,), "tuple"))},
        fits=floats(1, 3),
        gives=same,
        masks=True,
        dtypes=("mixed_bfloat16",),
    ),
    Kind(
        "BatchNormalization",
        options={"momentum": (LEFT_OUT, 0.5), "center": (LEFT_OUT, False)},
        more={
            **weights("beta", "gamma"),
            **more("moving_mean_initializer", "moving_variance_initializer", "scale", "epsilon", "renorm"),
            **more("renorm_momentum", "renorm_clipping"),
        },
        call_options={"training": (LEFT_OUT, True, False)},
        fits=floats(1, 3, masked=False),
        gives=same,
        masks=True,
    ),
    Kind(
        "RMSNormalization",
        options={"axis": (LEFT_OUT, -1)},
        more=more("epsilon"),
        fits=floats(1, 3),
        gives=same,
        masks=True,
        only="keras",
    ),
    Kind(
        "GroupNormalization",
        options={"groups": (1,)},
        more={**weights("beta", "gamma"), **more("center", "scale", "epsilon")},
        fits=floats(2, 3, masked=False, known=True),
        gives=same,
    ),
)
