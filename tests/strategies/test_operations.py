"""Operations whose result is not what one would think."""

from __future__ import annotations

import pytest

from strategies import Graph, MalformedGraph, infer
from strategies.graph import Call, Input, Layer, Ref, Seq


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
