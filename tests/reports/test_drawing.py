"""Drawings: no box on another, each line downwards, what differs marked where it is, well formed whatever is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonediff.reports.layout import Edge, place
from clonediff.reports.svg import Drawing, DrawingTooLarge
from clonediff.strategies import Graph
from clonediff.strategies.graph import Call, Input, Layer, Ref
from tests.reports.making import HOSTILE, TWO, difference, drawn

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def _boxes(draw_: st.DrawFn) -> tuple[list[tuple[float, float]], list[Edge]]:
    """Boxes of many sizes, and edges from earlier ones to later ones; shrinks to one box."""
    sizes = draw_(st.lists(st.tuples(st.integers(10, 300), st.integers(10, 200)), min_size=1, max_size=14))
    pairs = draw_(st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=24))
    edges = [Edge(one, other) for one, other in pairs if one < other < len(sizes)]
    return [(float(width), float(height)) for width, height in sizes], edges


@given(_boxes())
def test_no_box_is_on_another_and_lines_go_down(case: tuple[list[tuple[float, float]], list[Edge]]) -> None:
    sizes, edges = case
    placed = place(sizes, edges)
    corners = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(placed.boxes, sizes, strict=True)]
    for number, one in enumerate(corners):
        assert one[0] >= -1e-6 and one[2] <= placed.width + 1e-6
        assert one[1] >= -1e-6 and one[3] <= placed.height + 1e-6
        for other in corners[:number]:
            apart = one[2] <= other[0] + 1e-6 or other[2] <= one[0] + 1e-6 or one[3] <= other[1] or other[3] <= one[1]
            assert apart
    for points in placed.edges:
        assert all(one[1] <= other[1] for one, other in zip(points, points[1:], strict=False))
        _assert_beside(points, corners)


def _assert_beside(points: Sequence[tuple[float, float]], corners: list[tuple[float, float, float, float]]) -> None:
    """The straight parts of a line, which pass a row of boxes, touch none of them."""
    for (x, top), (_, bottom) in list(zip(points, points[1:], strict=False))[1::2]:
        for left, upper, right, lower in corners:
            assert not (left < x < right and upper < bottom and lower > top)


def test_every_drawn_graph_can_be_drawn_twice() -> None:
    for number, graph in enumerate(drawn()):
        root = ElementTree.fromstring(Drawing(graph, [difference(number)]).pair())
        assert root.tag == f"{SVG}svg"
        assert not any("NaN" in value or value == "inf" for each in root.iter() for value in each.attrib.values())


def test_a_shared_layer_has_a_letter_at_each_call_and_a_model_is_drawn_inside() -> None:
    texts = _texts(drawn_of())
    assert {"A1", "A2", "B1", "B2"} <= set(texts)
    assert "the same model as B1" in texts
    assert texts.count("Input") == 2
    assert texts.count("Dense") == 3


def test_a_line_that_may_carry_a_mask_is_dashed() -> None:
    classes = [each.get("class", "") for each in ElementTree.fromstring(drawn_of()).iter("path")]
    # Masking hands one on to Dense, and that to the Lambda.
    assert sum("g-masked" in each for each in classes) == 2


def test_the_first_layer_where_they_part_is_framed_at_the_call_that_it_is() -> None:
    # The second use of the shared Dense.
    root = ElementTree.fromstring(Drawing(TWO, [difference(2)]).one("clone"))
    first = [each for each in root.iter("g") if "g-first" in each.get("class", "")]
    assert len(first) == 1
    assert [each.text for each in first[0].iter("text")] == ["Dense", "units=4", "trainable: true", "A2"]


def test_a_layer_in_a_model_is_framed_there() -> None:
    root = ElementTree.fromstring(Drawing(TWO, [difference(3)]).one("original"))
    holder = next(each for each in root.iter("g") if "g-holds" in each.get("class", ""))
    assert [each for each in holder.iter("g") if "g-first" in each.get("class", "")]


def test_a_clone_that_was_not_made_is_drawn_as_none() -> None:
    drawing = Drawing(TWO, [difference(1)])
    assert drawing.sides == (("original", "original"), ("clone", "clone: none was made"))
    assert "g-none" in drawing.one("clone")
    assert "g-none" not in drawing.one("original")


def test_without_differences_there_is_the_original_alone() -> None:
    drawing = Drawing(TWO, [])
    assert [side for side, _ in drawing.sides] == ["original"]
    assert _texts(drawing.pair())[0] == "original"


def test_what_is_said_of_a_box_is_said_once() -> None:
    aspects = ("trainable", "trainable", "other", "third")
    found = [difference(2, path=f"place {number}", aspect=aspect) for number, aspect in enumerate(aspects)]
    said = [each for each in _texts(Drawing(TWO, found).one("clone")) if "true" in each or "more" in each]
    assert said == ["trainable: true", "other: true", "and 1 more"]


def test_hostile_names_are_text() -> None:
    layer = Layer(HOSTILE, (("units", HOSTILE),), name=HOSTILE)
    graph = Graph((Input((4,)),), (layer,), (Call(0, (Ref(0),)),), Ref(0), Ref(1), name=HOSTILE)
    root = ElementTree.fromstring(Drawing(graph, [difference(0)]).pair())
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg", "title", "style", "g", "rect", "text", "path", "circle"
    }  # fmt: skip
    assert not [key for each in root.iter() for key in each.attrib if key.startswith("on") or "href" in key]


@pytest.mark.parametrize("inner", [False, True], ids=["wide", "inside"])
def test_a_graph_with_too_many_boxes_is_told(inner: bool) -> None:
    calls = tuple(Call(0, (Ref(0),)) for _ in range(300))
    graph = Graph((Input((4,)),), (Layer("Dense"),), calls, Ref(0), Ref(1))
    if inner:
        graph = Graph((Input((4,)),), (Layer("Model", graph=graph),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    with pytest.raises(DrawingTooLarge, match="are too many to draw"):
        Drawing(graph, [])


def drawn_of() -> str:
    return Drawing(TWO, []).one("original")


def _texts(text: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(text).iter() if each.tag.endswith("text")]
