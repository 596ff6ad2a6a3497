"""A clone that is saved, loaded and cloned once more: what its file has lost is no fault of the cloner."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from clonediff.harness.subjects import SubjectProcess
from clonediff.strategies.graph import Call, CloneArguments, Form, Graph, Input, Layer, Ref, Seq
from tests.strategies.test_clone_arguments import PAIR
from tests.warm_keras import well_typed

from .trying import tried

LOADED = ("again", "saving", "reloading")


def test_a_tuple_for_inputs_that_a_file_made_a_list_is_no_fault(keras: SubjectProcess) -> None:
    takes = Seq((Ref(0), Ref(1)), "tuple")
    graph = structs.replace(PAIR, takes=takes, clone_arguments=CloneArguments(inputs="fresh"))
    well_typed(graph)
    clones = tried(graph, keras, "upstream", "fixed", checks=LOADED)
    assert [each.differences for each in clones.values()] == [(), ()]


def test_a_layer_whose_file_cannot_be_cloned_is_no_fault(warm: Callable[[str], SubjectProcess]) -> None:
    """tf_keras loads a function that is not registered as its name, of which no constraint can be made."""
    shape = Seq((1,), "tuple")
    arguments = (("equation", "ab,by->ay"), ("output_shape", shape), ("bias_constraint", Form("constraint", "of ops")))
    layer = Layer("EinsumDense", arguments)
    graph = Graph((Input((1,)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="tf_keras")
    assert tried(graph, warm("tf_keras"), "fixed", checks=LOADED)["fixed"].differences == ()
