"""Recurrent layers, their cells and the wrappers around layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strategies.graph import Layer, Made, Seq, Value
from strategies.kinds.arguments import more, weights
from strategies.kinds.kind import LEFT_OUT, Fits, Kind, Spec, Specs, computed, floats, plain

SEQUENCE: Fits = plain(floats(2))


def _width(value: Value) -> int | None:
    """The units of a recurrent layer, of a cell, or of the last of several cells."""
    if isinstance(value, Seq):
        return _width(value.items[-1]) if value.items else None
    if isinstance(value, Made):
        if value.layer.kind == "StackedRNNCells":
            return _width(value.layer.arg("cells"))
        units = value.layer.arg("units")
        return units if isinstance(units, int) else None
    return value if isinstance(value, int) else None


def states(layer: Layer) -> tuple[int, ...]:
    """How wide each state of a recurrent layer is, which is what its `initial_state` needs."""
    if layer.kind == "RNN":
        cells = layer.arg("cell")
        if isinstance(cells, Made) and cells.layer.kind == "StackedRNNCells":
            cells = cells.layer.arg("cells")
        widths: list[int] = []
        for cell in cells.items if isinstance(cells, Seq) else (cells,):
            width = _width(cell)
            assert width is not None and isinstance(cell, Made)
            widths += [width] * (2 if cell.layer.kind == "LSTMCell" else 1)
        return tuple(widths)
    width = _width(layer.arg("units"))
    assert width is not None
    return (width, width) if layer.kind == "LSTM" else (width,)


def _recurrent(specs: Specs, layer: Layer) -> Specs | None:
    width = _width(layer.arg("cell") if layer.kind == "RNN" else layer.arg("units"))
    if width is None or (layer.kind == "RNN" and not isinstance(layer.arg("cell"), Made | Seq)):
        return None
    whole = layer.arg("return_sequences") is True
    shape = (specs[0].shape[0], width) if whole else (width,)
    first = Spec(shape, computed(layer), whole and specs[0].mask)
    if layer.arg("return_state") is not True:
        return (first,)
    return (first, *(Spec((size,), computed(layer)) for size in states(layer)))


def _both_ways(specs: Specs, layer: Layer) -> Specs | None:
    inner = layer.arg("layer")
    if not isinstance(inner, Made):
        return None
    given = _recurrent(specs, inner.layer)
    if given is None:
        return None
    apart = layer.arg("merge_mode", "concat") is None
    size = given[0].shape[-1]
    assert size is not None
    wide = size * 2 if layer.arg("merge_mode", "concat") == "concat" else size
    first = Spec((*given[0].shape[:-1], wide), given[0].dtype, given[0].mask)
    return (first, first) if apart else (first,)


def _over_time(specs: Specs, layer: Layer) -> Specs | None:
    inner = layer.arg("layer")
    if not isinstance(inner, Made):
        return None
    chained = inner.layer.arg("layers")
    shape = specs[0].shape
    for each in chained.items if isinstance(chained, Seq) else (inner,):
        units = each.layer.arg("units") if isinstance(each, Made) else None
        shape = (*shape[:-1], units) if isinstance(units, int) else shape
    return (Spec(shape, computed(layer), specs[0].mask),)


def cell(kind: str, units: int) -> Made:
    """A cell of so many units."""
    return Made(Layer(kind, (("units", units),)))


def chained(*layers: Layer) -> Made:
    """A Sequential without an input of its own."""
    return Made(Layer("Sequential", (("layers", Seq(tuple(Made(each) for each in layers))),)))


def _stacked(*cells: Made) -> Made:
    return Made(Layer("StackedRNNCells", (("cells", Seq(cells)),)))


def _sequence_of(kind: str, *, frozen: bool = False, **more: Value) -> Made:
    args = (("units", 2), *more.items())
    return Made(Layer(kind, tuple(args), trainable=not frozen))


def _layer(name: str, **options: tuple[Value, ...]) -> Kind:
    return Kind(
        name,
        options={
            "units": (3, 2),
            "return_sequences": (LEFT_OUT, True),
            "return_state": (LEFT_OUT, LEFT_OUT, True),
            **options,
        },
        more={key: tried for key, tried in _further(name).items() if key not in options},
        calls=("mask", "initial_state"),
        fits=SEQUENCE,
        gives=_recurrent,
        masks=True,
        weight=2,
    )


def _further(name: str) -> dict[str, tuple[Value, ...]]:
    gates = () if name == "SimpleRNN" else ("recurrent_activation", "use_cudnn")
    return {
        **weights("kernel", "recurrent", "bias"),
        **more("activation", "use_bias", "dropout", "recurrent_dropout", "seed"),
        **more("go_backwards", "unroll", "zero_output_for_mask", *gates),
        **(more("unit_forget_bias") if name == "LSTM" else {}),
    }


def _wrap(name: str, choices: Mapping[str, tuple[Value, ...]], gives: Callable[[Specs, Layer], Specs | None]) -> Kind:
    return Kind(name, options=choices, calls=("mask",), fits=SEQUENCE, gives=gives, masks=True, weight=2)


KINDS = (
    _layer("LSTM", go_backwards=(LEFT_OUT, True)),
    _layer("GRU", reset_after=(LEFT_OUT, False)),
    _layer("SimpleRNN", activation=(LEFT_OUT, "relu")),
    Kind(
        "RNN",
        options={
            "cell": (
                cell("SimpleRNNCell", 2),
                cell("GRUCell", 2),
                cell("LSTMCell", 2),
                Seq((cell("LSTMCell", 3), cell("GRUCell", 2))),
                cell("LeakyCell", 2),
                _stacked(cell("GRUCell", 3), cell("SimpleRNNCell", 2)),
            ),
            "return_sequences": (LEFT_OUT, True),
        },
        more=more("go_backwards", "unroll", "zero_output_for_mask"),
        calls=("mask",),
        fits=SEQUENCE,
        gives=_recurrent,
        masks=True,
        weight=5,
    ),
    _wrap(
        "Bidirectional",
        {
            "layer": (
                _sequence_of("LSTM"),
                _sequence_of("GRU", return_sequences=True),
                _sequence_of("LSTM", frozen=True),
                _sequence_of("SimpleRNN", return_sequences=True),
            ),
            "merge_mode": (LEFT_OUT, "sum", None),
        },
        _both_ways,
    ),
    _wrap(
        "TimeDistributed",
        {
            "layer": (
                Made(Layer("Dense", (("units", 3),))),
                Made(Layer("Activation", (("activation", "tanh"),))),
                Made(Layer("LayerNormalization", trainable=False)),
                Made(Layer("Scale")),
                chained(Layer("Dense", (("units", 3),)), Layer("Dropout", (("rate", 0.5),))),
            )
        },
        _over_time,
    ),
)
