"""Layers around other layers, whatever these do; those over time are with the recurrent ones."""

from __future__ import annotations

from dataclasses import replace

from strategies.graph import Layer, Made, Seq
from strategies.kinds.convolution import IMAGE
from strategies.kinds.kind import Kind, Spec, Specs, computed, floats, none_told_sparse, plain


def _dense(units: int, *, frozen: bool = False) -> Made:
    return Made(Layer("Dense", (("units", units),), trainable=not frozen))


def _of_a_kernel(specs: Specs, layer: Layer) -> Specs | None:
    inner = layer.arg("layer")
    units = inner.layer.arg("units") if isinstance(inner, Made) else None
    return (replace(specs[0], shape=(*specs[0].shape[:-1], units)),) if isinstance(units, int) else None


def _one_by_one(specs: Specs, layer: Layer) -> Specs | None:
    layers = layer.arg("layers")
    if not isinstance(layers, Seq):
        return None
    shape = specs[0].shape
    for each in layers.items:
        units = each.layer.arg("units") if isinstance(each, Made) else None
        shape = (*shape[:-1], units) if isinstance(units, int) else shape
    return (Spec(shape, computed(layer)),)


KINDS = (
    # In `tf_keras` its input specification is one of another Keras, which it then refuses.
    Kind(
        "SpectralNormalization",
        options={"layer": (_dense(3), _dense(2, frozen=True)), "power_iterations": (1, 2)},
        fits=plain(floats(1, 3, masked=False)),
        gives=_of_a_kernel,
        only="keras",
    ),
    Kind(
        "Pipeline",
        options={
            "layers": (
                Seq((_dense(3), Made(Layer("Activation", (("activation", "relu"),))))),
                Seq((Made(Layer("Rescaling", (("scale", 2.0),))), Made(Layer("RandomFlip")))),
                Seq((Made(Layer("Scale")), Made(Layer("Dropout", (("rate", 0.5),))))),
                Seq((_dense(2, frozen=True),)),
            )
        },
        fits=none_told_sparse(IMAGE),
        gives=_one_by_one,
        takes_trainable=False,
        only="keras",
    ),
)
