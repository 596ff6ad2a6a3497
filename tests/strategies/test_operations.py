"""Operations whose result is not what one would think."""

from __future__ import annotations

import pytest

from strategies import Graph, MalformedGraph, infer
from strategies.graph import Array, Call, Input, Layer, Made, Ref, Seq


@pytest.mark.parametrize(("turns", "shape"), [(3, (4, 3)), (2, None)])
def test_a_grid_that_is_turned_twice_is_a_square(turns: int, shape: tuple[int, ...] | None) -> None:
    """`Rot90.compute_output_spec` lets the sides of any grid change places, and the result has them where they were."""
    turned = Layer("ops.rot90", (("k", turns), ("axes", Seq((1, 2), "tuple"))))
    graph = Graph((Input((3, 4)),), (turned,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), generation="keras")
    if shape is None:
        with pytest.raises(MalformedGraph, match="rot90"):
            infer(graph)
    else:
        assert infer(graph)[-1][0].shape == shape


@pytest.mark.parametrize(
    ("times", "taken", "suits"),
    [
        (Layer("ops.multiply", (("x2", 0.5),)), "SumAll", False),
        (Layer("operator.multiply", (("other", Array((1,))),)), "SumAll", False),
        (Layer("ops.multiply", (("x2", 0.5),)), "LeakyReLU", True),
        (Layer("ops.add", (("x2", 0.5),)), "SumAll", True),
    ],
)
def test_what_a_number_multiplies_is_no_tensor_for_a_layer_of_ones_own(times: Layer, taken: str, suits: bool) -> None:
    """`Multiply.compute_output_spec` takes what has no `sparse` for sparse; the shape that is traced has no sizes."""
    layers, calls = (times, Layer(taken)), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(2), generation="keras")
    if suits:
        infer(graph)
    else:
        with pytest.raises(MalformedGraph, match="SumAll"):
            infer(graph)


@pytest.mark.parametrize(("times", "suits"), [("ops.multiply", False), ("ops.add", True)])
@pytest.mark.parametrize("taken", ["SumAll", "Model"])
def test_so_is_what_layers_make_of_it_for_those_and_for_models(times: str, taken: str, suits: bool) -> None:
    inner = Graph((Input((4,)),), (Layer("SumAll"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    layers = (Layer(times, (("x2", 0.5),)), Layer("Subtract"), Layer(taken, graph=inner if taken == "Model" else None))
    calls = (Call(0, (Ref(0),)), Call(1, (Seq((Ref(1), Ref(1))),)), Call(2, (Ref(2),)))
    graph = Graph((Input((4,)),), layers, calls, Ref(0), Ref(3), generation="keras")
    if suits:
        infer(graph)
    else:
        with pytest.raises(MalformedGraph, match=r"SumAll|dense"):
            infer(graph)


@pytest.mark.parametrize(("times", "suits"), [("ops.multiply", False), ("ops.add", True)])
def test_so_it_is_for_a_pipeline(times: str, suits: bool) -> None:
    pipeline = Layer("Pipeline", (("layers", Seq((Made(Layer("Dense", (("units", 1),))),))),))
    layers, calls = (Layer(times, (("x2", 0.5),)), pipeline), (Call(0, (Ref(0),)), Call(1, (Ref(1),)))
    graph = Graph((Input((2, 2, 1)),), layers, calls, Ref(0), Ref(2), generation="keras")
    if suits:
        infer(graph)
    else:
        with pytest.raises(MalformedGraph, match="Pipeline"):
            infer(graph)
