"""The graphs of a run that cannot be built: the reasons, and how many are acceptable."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from clonediff.harness.campaign.record import SubjectTotals
from clonediff.harness.campaign.shards import RefusedGraphs, ShardResult, count_refused
from clonediff.reports.draws import never_accepted, reason
from clonediff.reports.page import page
from clonediff.reports.reading import read_run
from clonediff.reports.records import Draws
from clonediff.reports.summary import summary
from clonediff.reports.verdict import verdict
from tests.reports.making import nightly, run_folder


def test_a_reason_has_neither_names_nor_numbers() -> None:
    message = "Exception encountered when calling Dense.call().\n\nno units=-1.5e3 for 'dense_3', shape=(None, 3)"
    assert reason("ValueError", message) == "ValueError: no units=… for …, shape=…"
    assert reason("ValueError", "") == "ValueError:"
    assert len(reason("ValueError", 1000 * "no ")) <= 200


def test_reasons_beyond_the_first_are_one() -> None:
    found: dict[str, RefusedGraphs] = {}
    for number in range(30):
        count_refused(found, RefusedGraphs(f"E: {number}", msgspec.Raw(b"{}")))
    assert len(found) == 21
    assert found["other reasons"].graphs == 10


@pytest.mark.parametrize(
    ("refused", "graphs", "fine"),
    [(3, 100, True), (4, 100, False), (2, 20, True), (3, 9, True), (3, 10, False), (0, 100, True)],
)
def test_more_than_a_few_refused_graphs_are_a_fault_of_the_generator(
    refused: int, graphs: int, fine: bool, tmp_path: Path
) -> None:
    draws = Draws(graphs, refused, {"ValueError: no <b>": refused} if refused else {})
    run = msgspec.structs.replace(nightly(), draws={"keras": draws})
    read = read_run(run_folder(tmp_path, [], run=run))
    assert verdict(read).exit_code == (0 if fine else 1)
    for text in (summary(read), page(read)):
        assert ("a fault of the generator" in text) is not fine
        assert ("ValueError: no" in text) is bool(refused)


def test_a_layer_of_the_users_that_was_never_accepted_has_a_line() -> None:
    totals = SubjectTotals()
    never = {"LSTMCell": "a", "ops.arange": "b", "own.py:Scale": "ValueError: not\nthat", "hub.layers.Mask": "c"}
    totals.drawn = totals.drawn.plus(
        ShardResult("keras", 0, not_accepted={kind: (9, exception) for kind, exception in never.items()})
    )
    assert list(never_accepted(totals.draws())) == [
        "Keras accepted no call of hub.layers.Mask: c",
        "Keras accepted no call of own.py:Scale: ValueError: not that",
    ]
