"""The graphs that are tried first: the one from the bug report, plain ones of each common sort, and what is known.

Graphs as data, in words that every generation has.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.strategies.graph import (
    Call,
    Function,
    Graph,
    Input,
    Layer,
    Made,
    Ref,
    Seq,
    Value,
)
from clonediff.strategies.kinds import Generation

"""Graphs that once showed something, a file each."""


def _layer(kind: str, *marks: str, **args: Value) -> Layer:
    return Layer(kind, tuple(args.items()), marks=marks)


def _list(*items: Value) -> Seq:
    return Seq(items)


def _chain(given: Input, *layers: Layer) -> Graph:
    """One layer after the other."""
    calls = tuple(Call(number, (Ref(number),)) for number in range(len(layers)))
    return Graph((given,), layers, calls, Ref(0), Ref(len(layers)))


def _dense(units: int = 3) -> Layer:
    return _layer("Dense", units=units)


_MASKED_STEPS = Input((3, 4), fill="steps"), _layer("Masking")
_MASKED_FIRST = _layer(
    "Lambda",
    function=Function("lambda", ("x * 2.0",)),
    mask=Function("mask lambda", ("x[..., 0] > 0.0",)),
)

REPORTED = Graph(
    (Input((1,)),),
    (_layer("Lambda", function=Function("lambda", ("x", "x"), "list")), _layer("Add")),
    (Call(0, (Ref(0),), outputs=2), Call(1, (_list(Ref(1, 0), Ref(1, 1)),))),
    Ref(0),
    Ref(2),
)
"""The model of the bug report (keras#12202): a layer with two outputs and no mask, both of them used."""

_INNER = _chain(Input((4,)), _dense(4), _layer("Dense", units=2, activation="relu"))
_CHAIN = replace(_chain(Input((4,)), _dense(4), _dense(2)), sequential=True)

PLAIN: Mapping[str, Graph] = {
    "one Dense": _chain(Input((4,)), _dense()),
    "a stack of Dense": _chain(Input((4,)), _layer("Dense", units=8, activation="relu"), _dense(8), _dense(1)),
    "no layer": Graph((Input((4,)),), (), (), Ref(0), Ref(0)),
    "an image through a convolution": _chain(
        Input((4, 4, 2)), _layer("Conv2D", filters=2, kernel_size=3), _layer("Flatten"), _dense(1)
    ),
    "a Dropout": _chain(Input((4,)), _dense(), _layer("Dropout", rate=0.5), _dense(1)),
    "a frozen layer": _chain(Input((4,)), _layer("Dense", units=3, trainable=False), _dense(1)),
    "an image that is pooled": _chain(
        Input((4, 4, 2)),
        _layer("Conv2D", filters=2, kernel_size=3, padding="same"),
        _layer("MaxPooling2D"),
        _layer("GlobalAveragePooling2D"),
        _dense(1),
    ),
    "words through an Embedding": _chain(
        Input((3,), dtype="int32", fill="ids", high=6),
        _layer("Embedding", input_dim=6, output_dim=2),
        _layer("GRU", units=2),
    ),
    "batches normalized": _chain(Input((4,)), _dense(), _layer("BatchNormalization"), _dense(1)),
    "two inputs": Graph(
        (Input((4,)), Input((4,))),
        (_dense(), _dense(), _layer("Add")),
        (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (_list(Ref(2), Ref(3)),))),
        _list(Ref(0), Ref(1)),
        Ref(4),
    ),
    "two outputs": Graph(
        (Input((4,)),),
        (_dense(), _dense(1), _dense(2)),
        (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(1),))),
        Ref(0),
        _list(Ref(2), Ref(3)),
    ),
    "a shared layer": Graph(
        (Input((4,)), Input((4,))),
        (_dense(), _layer("Subtract")),
        (Call(0, (Ref(0),)), Call(0, (Ref(1),)), Call(1, (_list(Ref(2), Ref(3)),))),
        _list(Ref(0), Ref(1)),
        Ref(4),
    ),
    "concatenations": Graph(
        (Input((4,)),),
        (_dense(2), _dense(3), _layer("Concatenate"), _layer("Concatenate")),
        (
            Call(0, (Ref(0),)),
            Call(1, (Ref(0),)),
            Call(2, (_list(Ref(1), Ref(2)),)),
            Call(3, (_list(Ref(3), Ref(0)),)),
        ),
        Ref(0),
        Ref(4),
    ),
    "a nested model": _chain(Input((4,)), Layer("Model", graph=_INNER), _dense(1)),
    "a Sequential": _CHAIN,
    "a Sequential inside": _chain(Input((4,)), Layer("Model", graph=_CHAIN), _dense(1)),
    "Masking and LSTM": _chain(*_MASKED_STEPS, _layer("LSTM", units=2)),
    "a mask through Dense and TimeDistributed": _chain(
        *_MASKED_STEPS, _layer("TimeDistributed", layer=Made(_dense(2))), _layer("LSTM", units=2)
    ),
    "a Lambda with a mask function": _chain(Input((3, 4)), _MASKED_FIRST, _layer("LSTM", units=2)),
    "a Lambda with two outputs, one used": Graph(
        (Input((4,)),),
        (_layer("Lambda", function=Function("lambda", ("x * 2.0", "x + 1.0"), "list")), _dense(1)),
        (Call(0, (Ref(0),), outputs=2), Call(1, (Ref(1, 0),))),
        Ref(0),
        Ref(2),
    ),
    "Bidirectional": _chain(Input((3, 4)), _layer("Bidirectional", layer=Made(_layer("LSTM", units=2)))),
    "an initial state": Graph(
        (Input((3, 4)), Input((2,)), Input((2,))),
        (_layer("LSTM", units=2),),
        (Call(0, (Ref(0),), (("initial_state", _list(Ref(1), Ref(2))),)),),
        _list(Ref(0), Ref(1), Ref(2)),
        Ref(3),
    ),
    "states handed on": Graph(
        (Input((3, 4)),),
        (_layer("LSTM", units=2, return_state=True), _layer("Add")),
        (Call(0, (Ref(0),), outputs=3), Call(1, (_list(Ref(1, 0), Ref(1, 2)),))),
        Ref(0),
        Ref(2),
    ),
}
"""What a reader would try first, by what it is."""


def known_models(known: KnownIssues, generation: Generation, release: str) -> dict[str, Graph | KnownIssue]:
    """The models to try first, by what they are: plain ones, and those of the known issues that a trial shows."""
    issues = known.on(generation, release).issues
    return {**PLAIN, **{f"the known issue {issue.id}": issue for issue in issues if issue.fingerprint is not None}}
