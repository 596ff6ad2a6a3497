"""Graphs that tests of several rooms begin with."""

from __future__ import annotations

from msgspec import structs

from clonediff.strategies.graph import Call, Graph, Input, Items, Layer, Made, Ref, Seq

INNER = Graph((Input((3, 4)),), (Layer("Dense", (("units", 4),)),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))

GRAPH = Graph(
    (Input((3, 4)),),
    (
        Layer("Dense", (("units", 4), ("activation", "relu"))),
        Layer("Dropout", (("rate", 0.5),)),
        Layer("Model", graph=INNER),
        Layer("operator.half"),
    ),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(2),)), Call(3, (Ref(3),))),
    Ref(0),
    Ref(4),
    generation="keras",
)
"""A layer with a setting, one that takes `training`, a model within the model, an operation."""

PAIR = Graph(
    (Input((4,), name="a"), Input((4,), name="b")),
    (Layer("Add"),),
    (Call(0, (Seq((Ref(0), Ref(1))),)),),
    Items((("a", Ref(0)), ("b", Ref(1)))),
    Ref(2),
    generation="keras",
)
"""Two inputs with names."""

CHAIN = Graph(
    (Input((3, 4)),),
    (Layer("Dense", (("units", 4),)), Layer("Dropout", (("rate", 0.5),))),
    (Call(0, (Ref(0),)), Call(1, (Ref(1),))),
    Ref(0),
    Ref(2),
    sequential=True,
    generation="keras",
)
"""A Sequential."""

WRAPPED = structs.replace(
    INNER, layers=(Layer("TimeDistributed", (("layer", Made(Layer("Dense", (("units", 4),)))),)),), generation="keras"
)
"""A layer in a wrapper."""
