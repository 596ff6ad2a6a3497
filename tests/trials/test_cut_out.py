"""Models cut out of others: the fixed cloners clone them, and Keras is blamed for no more than it does to any model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials, new_hits
from clonediff.reports.known import load
from clonediff.strategies import infer
from clonediff.strategies.graph import Base, Call, Graph, Input, Layer, Ref, Seq

DENSE = Layer("Dense", (("units", 4),))
WORDS = (Input((3,), "int32", fill="ids", high=6),)
EMBEDDING = Layer("Embedding", (("input_dim", 6), ("output_dim", 4), ("mask_zero", True)))
LSTM = Layer("LSTM", (("units", 2),))
MASKED = (Call(0, (Ref(0),)), Call(1, (Ref(1),)), Call(2, (Ref(2),)))
BATCH = (Input((3, 4), batch=2),)
AGAIN = (Call(0, (Ref(0),)), Call(1, (Ref(2),)), Call(0, (Ref(1),)), Call(1, (Ref(4),)))

GRAPHS = {
    "a layer that another model called first": Graph(
        (Input((4,)), Input((4,))), (DENSE, Layer("ReLU")), AGAIN, Ref(1), Ref(5), base=Base(Ref(0), Ref(3))
    ),
    "features from masked layers": Graph(
        WORDS, (EMBEDDING, Layer("Dropout", (("rate", 0.5),)), LSTM), MASKED, Ref(0), Ref(2), base=Base(Ref(0), Ref(3))
    ),
    "the middle of a Sequential": Graph(
        (Input((3, 4)),),
        (DENSE, Layer("LayerNormalization"), Layer("ReLU")),
        MASKED,
        Ref(1),
        Ref(2),
        sequential=True,
        base=Base(Ref(0), Ref(3)),
    ),
    "masks made after it begins": Graph(
        BATCH, (DENSE, Layer("Masking"), LSTM), MASKED, Ref(1), Ref(3), base=Base(Ref(0), Ref(3))
    ),
    "an input and what is made of it": Graph(
        BATCH,
        (DENSE, Layer("Masking"), Layer("Add")),
        (*MASKED[:2], Call(2, (Seq((Ref(2), Ref(0))),))),
        Seq((Ref(1), Ref(0))),
        Ref(3),
        base=Base(Ref(0), Seq((Ref(3), Ref(1)))),
    ),
}
CASES = [
    *(("keras", name, graph) for name, graph in GRAPHS.items()),
    *(("tf_keras", name, graph) for name, graph in GRAPHS.items()),
    (
        "tf_keras",
        "a mask that it loses",
        Graph(WORDS, (EMBEDDING, LSTM), MASKED[:2], Ref(1), Ref(2), generation="tf_keras", base=Base(Ref(0), Ref(2))),
    ),
]


@pytest.mark.parametrize(
    ("subject", "graph"), [pytest.param(subject, graph, id=f"{subject}-{name}") for subject, name, graph in CASES]
)
def test_it_is_cloned(subject: str, graph: Graph, warm: Callable[[str], SubjectProcess]) -> None:
    infer(graph)
    everything = subject == "keras" or graph == GRAPHS["a layer that another model called first"]
    trials = GraphTrials(warm(subject), load(), rate=int(everything))
    assert new_hits(trials.try_graph(graph).hits) == []
    assert trials.tally.refused == 0
    assert not [verdict for verdict in trials.tally.verdicts if verdict[0] == "fixed" and verdict[1] != "faithful"]
