"""What is counted over the shards of a campaign."""

from __future__ import annotations

from clonediff.harness.campaign.shards import ShardDone, SubjectStarted
from clonediff.harness.campaign.totals import SubjectTotals, compared


def test_a_subject_that_no_graph_could_be_compared_with_is_told() -> None:
    totals = SubjectTotals(SubjectStarted("keras"))
    for turn in range(2):
        why = {"keras/jax": {"it has no jax": 3}, "keras/torch": {"it crashed": 1}}
        totals.add(ShardDone("keras", turn, compared={"keras/jax": 0, "keras/torch": turn}, not_compared=why))
    lines = compared(totals)
    assert len(lines) == 2
    assert lines[0].startswith("compared with keras/jax: 0 graphs; not compared: ")
    assert lines[1].startswith("compared with keras/torch: 1 graphs; not compared: ")
