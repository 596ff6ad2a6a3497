"""Models called otherwise than they take their inputs, and Sequentials without one: cloned, and faults caught."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from clonediff.harness.scripts.reproducer import reproducer
from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.graph_trials import GraphTrials, new_hits
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import run
from clonediff.reports.known import load
from clonediff.strategies import infer
from clonediff.strategies.graph import Call, Graph, Input, Items, Layer, Made, Ref, Seq
from clonediff.strategies.kinds.recurrent import chained
from tests.planted import planted
from tests.waiting import PATIENCE

DENSE = Layer("Dense", (("units", 4),))
RELU = Layer("ReLU")
TWO = Graph(
    inputs=(Input((4,), name="in_0"), Input((4,), name="in_1")),
    layers=(DENSE, Layer("Subtract")),
    calls=(Call(0, (Ref(0),)), Call(1, (Seq((Ref(2), Ref(1))),))),
    takes=Seq((Ref(0), Ref(1))),
    gives=Ref(3),
)
CHAIN = Graph((Input((4,)),), (DENSE, RELU), (Call(0, (Ref(0),)), Call(1, (Ref(1),))), Ref(0), Ref(2), sequential=True)
TWICE = Graph((Input((4,)),), (DENSE,), (Call(0, (Ref(0),)), Call(0, (Ref(1),))), Ref(0), Ref(2), sequential=True)
PLAIN = Graph((Input((4,)),), (DENSE, RELU), (Call(0, (Ref(0),)), Call(1, (Ref(1),))), Ref(0), Ref(2))
OF_MODELS = structs.replace(CHAIN, layers=(Layer("Model", graph=PLAIN), Layer("Sequential", graph=CHAIN)))
OVER_TIME = Graph(
    (Input((3, 4)),),
    (Layer("TimeDistributed", (("layer", chained(Layer("Dense", (("units", 3),)), RELU)),), marks=("frozen after",)),),
    (Call(0, (Ref(0),)),),
    Ref(0),
    Ref(1),
)
ONE = Graph((Input((4, 1)),), (DENSE,), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
IN_A_DICT = structs.replace(TWO, takes=Items((("in_0", Ref(0)), ("in_1", Ref(1)))))

AROUND = Layer("TimeDistributed", (("layer", Made(Layer("Sequential", (("layers", Seq((Made(DENSE),))),)))),))


def within(inner: Graph, **call: object) -> Graph:
    """A model of that one alone, called on an input and on what a layer makes of it."""
    given = Seq((Ref(0), Ref(1))) if len(inner.inputs) > 1 else Ref(0)
    calls = (Call(0, (Ref(0),)), Call(1, (given,), **call))  # type: ignore[arg-type]  # by name
    return Graph((Input((4,)),), (RELU, Layer("Model", graph=inner)), calls, Ref(0), Seq((Ref(2), Ref(1))))


GRAPHS = {
    "by names": within(TWO, packing="turned"),
    "a tensor more": within(TWO, packing="further"),
    "by keyword": within(TWO, packing="keyword"),
    "a dict in a tuple": within(IN_A_DICT),
    "an axis less": within(ONE, axis="less"),
    "cast": within(structs.replace(ONE, inputs=(Input((4,), "float64"),))),
    "built by its call": within(structs.replace(CHAIN, built="later")),
    "built once it is made": structs.replace(CHAIN, built="later"),
    "not built": structs.replace(CHAIN, built="not yet"),
    "not built, around one that is not": Graph(
        (Input((3, 4)),), (AROUND,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), sequential=True, built="not yet"
    ),
    "by the shape of its first layer": structs.replace(CHAIN, built="by its first layer"),
    "by the shape of a model": structs.replace(OF_MODELS, built="by its first layer"),
    "of models": within(OF_MODELS),
    "frozen over time": OVER_TIME,
    "a layer twice": TWICE,
    "a layer twice inside": within(TWICE),
}
CASES = [(subject, name) for subject in ("keras", "tf_keras") for name in GRAPHS]


@pytest.mark.parametrize(("subject", "name"), CASES, ids=[f"{subject}-{name}" for subject, name in CASES])
def test_it_is_cloned(subject: str, name: str, warm: Callable[[str], SubjectProcess]) -> None:
    graph = structs.replace(GRAPHS[name], generation=subject)  # type: ignore[arg-type]  # its own name
    infer(graph)
    tried = GraphTrials(warm(subject), load()).try_graph(graph)
    assert tried.built, tried.refused
    assert tried.clones["fixed"].verdict is Verdict.FAITHFUL, tried.clones["fixed"].differences
    assert not new_hits(tried.hits)


PADDED = """
import tensorflow as tf
import tf_keras as keras

x = keras.Input((2, 2))
model = keras.Model(x, tf.pad(x, paddings=((0, 0), (0, 0), (1, 1)), constant_values=2.0))
"""


def test_an_operation_that_calls_another_with_its_defaults_is_called_alike(
    warm: Callable[[str], SubjectProcess],
) -> None:
    trial = run(Case(PADDED, ({"shape": [2, 2]},)), warm("tf_keras"), ["upstream"], timeout=PATIENCE)
    assert trial.clones["upstream"].verdict is Verdict.FAITHFUL, trial


@pytest.mark.parametrize("subject", ["keras", "tf_keras"])
def test_what_is_wrong_about_the_clone_of_a_model_that_is_not_built_is_seen(
    subject: str, warm: Callable[[str], SubjectProcess]
) -> None:
    case = case_of(GRAPHS["not built"], subject)
    trial = run(case, warm(subject), [planted("layer_renamed")], timeout=PATIENCE)
    (found,) = trial.clones.values()
    assert {each.check for each in found.differences} & {"structure"}
    script = reproducer(case.source, subject, found.causes[0].root, "upstream", case).text
    assert "clone = keras.models.clone_model(model)\nclone.build((None, 4))\n" in script
    assert script.count("model.build((None, 4))") == 1


def test_a_cloner_that_needs_a_built_model_says_so(warm: Callable[[str], SubjectProcess]) -> None:
    trials = GraphTrials(warm("keras"), load(), cloners=["same_layers"])
    answer = trials.try_or_say_why_not(GRAPHS["not built"])
    assert "built" in answer.not_tried
