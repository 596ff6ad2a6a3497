"""At which box of a drawing a difference is marked."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from clonediff.reports.marks import marks
from clonediff.reports.records import Place
from clonediff.strategies.graph import Call
from tests.reports.making import TWO, difference


class Calls(tuple[Call, ...]):
    """Calls that count how often all of them are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[Call]:
        Calls.looks += 1
        return super().__iter__()


def test_the_calls_are_looked_at_once_however_many_layers_there_are() -> None:
    graph = msgspec.structs.replace(TWO, calls=Calls(TWO.calls))
    Calls.looks = 0
    marks(graph, [difference(2)])
    assert Calls.looks == 1


@pytest.mark.parametrize(
    ("place", "use"),
    [
        (Place("functional", "Functional", -1), ((), 0)),
        (Place("dense_7", "Dense", 5, use=1, at=(1,)), ((1,), 1)),
        (Place("dense_7", "Dense", 5, use=9, at=(3, 0)), ((3, 0), 0)),
        (Place("dense_7", "Dense", 5, at=(3, 9)), None),
        (Place("inner/add_4", "Other", 5), ((3,), 0)),
        (Place("dense_7", "LSTM", 5), ((4,), 0)),
        (Place("dense_7", "Dense", 5), None),
        (None, None),
    ],
    ids=["model", "call", "inner", "gone", "name", "only of its kind", "one of several", "nowhere"],
)
def test_a_difference_is_marked_at_the_layer_of_its_place(place: Place | None, use: object) -> None:
    found = marks(TWO, [difference(2, first=place)])
    assert found.first == use
    assert list(found.at) == ([] if use is None else [use])
