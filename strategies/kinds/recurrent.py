"""Recurrent layers, their cells and the wrappers around layers."""

from __future__ import annotations

from clonediff.strategies.graph import Layer, Made, Seq, Value
from clonediff.strategies.kinds.arguments import layer
from clonediff.strategies.kinds.kind import LEFT_OUT, Kind


def cell(kind: str, units: int) -> Made:
    """A cell of so many units."""
    return layer(kind, units=units)


def chained(*layers: Layer) -> Made:
    """A Sequential without an input of its own."""
    return Made(Layer("Sequential", (("layers", Seq(tuple(Made(each) for each in layers))),)))


def _layer(name: str, **options: tuple[Value, ...]) -> Kind:
    return Kind(
        name,
        options={
            "units": (3, 2),
            "return_sequences": (LEFT_OUT, True),
            "return_state": (LEFT_OUT, LEFT_OUT, True),
            **options,
        },
        calls=("mask", "initial_state"),
        weight=2,
    )


KINDS = (
    _layer("LSTM", go_backwards=(LEFT_OUT, True)),
    _layer("GRU", reset_after=(LEFT_OUT, False, True)),
    _layer("SimpleRNN", activation=(LEFT_OUT, "relu")),
    Kind(
        "RNN",
        options={
            "cell": (
                cell("SimpleRNNCell", 2),
                cell("GRUCell", 2),
                cell("LSTMCell", 2),
                Seq((cell("LSTMCell", 3), cell("GRUCell", 2))),
                layer("StackedRNNCells", cells=Seq((cell("GRUCell", 3), cell("SimpleRNNCell", 2)))),
            ),
            "return_sequences": (LEFT_OUT, True),
        },
        weight=5,
    ),
    Kind(
        "Bidirectional",
        options={
            "layer": (
                layer("LSTM", units=2),
                layer("GRU", units=2, return_sequences=True),
                layer("LSTM", units=2, frozen=True),
                layer("SimpleRNN", units=2, return_sequences=True),
            ),
            "merge_mode": (LEFT_OUT, "sum", None),
        },
        weight=2,
    ),
    Kind(
        "TimeDistributed",
        options={
            "layer": (
                layer("Dense", units=3),
                layer("Activation", activation="tanh"),
                layer("LayerNormalization", frozen=True),
                layer("Scale"),
                chained(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),))),
            )
        },
        weight=2,
    ),
)
