"""Operations of Keras in a model: what they give, and how often they run."""

from __future__ import annotations

from msgspec import structs

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import run
from clonediff.strategies.graph import Call, Graph, Input, Layer, Preparation, Ref
from tests.waiting import PATIENCE


def test_an_operation_that_gives_a_number_runs_no_less_than_one_that_gives_a_tensor(keras: SubjectProcess) -> None:
    graph = Graph((Input((2,)),), (Layer("ops.ndim"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    graph = structs.replace(graph, preparations=(Preparation("clone remat", None, (("mode", "full"),)),))
    found = run(case_of(graph, "keras"), keras, ("upstream",), timeout=PATIENCE).clones["upstream"].differences
    assert [one.aspect for one in found if one.check == "outputs"] == []
