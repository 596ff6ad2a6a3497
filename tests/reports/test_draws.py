"""What of the graphs of a run cannot be built: the reasons, how much of it is fine, and which kinds are named."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.shards import RefusedGraph, ShardDone, SubjectStarted, count_refused
from clonediff.harness.campaign.totals import SubjectTotals
from clonediff.reports.draws import frequencies, never_accepted, reason
from clonediff.reports.kinds_and_features import Counting
from clonediff.reports.page import page
from clonediff.reports.reading import read_run
from clonediff.reports.records import Draws
from clonediff.reports.summary import summary
from clonediff.reports.verdict import verdict
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref
from tests.reports.making import nightly, run_folder


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Received: units=-1.5e3 for 'dense_3' (a \"b\")", "Received: units=N for … (a …)"),
        ("Exception encountered when calling Dense.call().\n\n\x1b[1mno (None, 3) <T shape=(2,)>\x1b[0m", "no (…) …"),
        ("layer dense_12 isn't 'x' and doesn't fit float32", "layer … isn't … and doesn't fit float32"),
        ("", ""),
    ],
)
def test_a_reason_has_neither_names_nor_numbers(message: str, told: str) -> None:
    assert reason("ValueError", message) == f"ValueError: {told}".rstrip()
    assert len(reason("ValueError", 1000 * "no ")) <= 200


def test_reasons_beyond_the_first_are_one() -> None:
    found: dict[str, RefusedGraph] = {}
    for number in range(30):
        count_refused(found, RefusedGraph(f"E: {number}", msgspec.Raw(b"{}")))
    assert len(found) == 21
    assert found["other reasons"].graphs == 10


@pytest.mark.parametrize(
    ("refused", "graphs", "fine"),
    [(3, 100, True), (4, 100, False), (2, 20, True), (3, 9, True), (3, 10, False), (0, 100, True)],
)
def test_a_few_refused_graphs_are_fine_and_more_are_told_wherever_a_run_is(
    refused: int, graphs: int, fine: bool, tmp_path: Path
) -> None:
    draws = Draws(graphs, refused, {"ValueError: no <b>": refused} if refused else {}, {"Dense": (5, 6)})
    run = msgspec.structs.replace(nightly(), draws={"keras": draws})
    read = read_run(run_folder(tmp_path, [], run=run))
    assert verdict(read).exit_code == (0 if fine else 1)
    for text in (summary(read), page(read)):
        assert ("a fault of the generator" in text) is not fine
        assert ("ValueError: no" in text) is bool(refused)
        assert not refused or "Dense (5 of 6)" in text


def test_kinds_that_are_mostly_refused_are_named_and_classes_are_counted() -> None:
    counting = Counting()
    for number in range(6):
        for kind in ("Dense", "ReLU"):
            graph = Graph((Input((3,)),), (Layer(kind),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
            counting.add(graph, refused=kind == "Dense" and number > 1)
    totals = SubjectTotals(SubjectStarted("keras", layers=("Dense", "Flatten", "ReLU")))
    totals.add(ShardDone("keras", 0, trials=12, coverage=counting.coverage()))
    draws = totals.draws()
    assert (draws.kinds, draws.often, draws.never) == ({"Dense": (4, 6)}, (6, 6, 6), ("Flatten",))
    assert frequencies(draws).endswith("1 never drawn: Flatten")


def test_a_layer_of_the_users_that_was_never_accepted_has_a_line() -> None:
    never = {"LSTMCell": "a", "ops.arange": "b", "own.py:Scale": "ValueError: not\nthat", "hub.layers.Mask": "c"}
    assert list(never_accepted(Draws(not_accepted=never))) == [
        "Keras accepted no call of own.py:Scale: ValueError: not that",
        "Keras accepted no call of hub.layers.Mask: c",
        "Keras accepted no call of 2 of its own kinds: LSTMCell, ops.arange",
    ]
