"""What is less severe than was asked for: no hit, not counted as unfaithful; what is left is counted by its worst."""

from __future__ import annotations

import pytest

from clonediff.harness.subjects.observation import Answer, Clone
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import LEFT_OUT, Severity
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref

from .checks.making import altered
from .test_trial import BAD, GOOD, ORIGINAL, REFUSED, Played

GRAPH = Graph((Input((3,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
RENAMED = altered(GOOD, ("observation.shape.layers.1.name", "other"))
FROZEN = altered(
    GOOD, ("observation.shape.layers.2.trainable", False), ("observation.shape.weights.0.trainable", False)
)
UNITS = altered(GOOD, ("observation.shape.layers.2.config.units", "4"))
CLONES = {
    "crashes": REFUSED,
    "computes": BAD,
    "trains": FROZEN,
    "property": UNITS,
    "name": RENAMED,
    "faithful": GOOD,
}


def trials(at_least: Severity, clones: dict[str, Clone]) -> GraphTrials:
    process = Played(lambda cloners: Answer(original=ORIGINAL, clones={name: clones[name] for name in cloners}))
    return GraphTrials(process, KnownIssues(), cloners=tuple(clones), at_least=at_least)  # type: ignore[arg-type]  # it plays one


@pytest.mark.parametrize("at_least", Severity)
def test_a_cause_that_costs_less_is_left_out(at_least: Severity) -> None:
    its = trials(at_least, CLONES)
    hits = its.try_graph(GRAPH).hits
    names = [severity.name.lower() for severity in Severity]
    kept, less = names[: at_least + 1], names[at_least + 1 :]
    assert {each.cloner for each in hits} == set(kept)
    assert {name: severity.name.lower() for name, severity in its.tally.worst} == dict(zip(kept, kept, strict=True))
    assert {name for name, verdict in its.tally.verdicts if verdict == LEFT_OUT} == set(less)
    assert its.tally.verdicts["faithful", "faithful"] == 1


def test_a_graph_is_counted_by_the_worst_that_happens_to_it() -> None:
    both = altered(FROZEN, ("observation.shape.layers.1.name", "other"))
    for at_least, hits in ((Severity.NAME, 2), (Severity.TRAINS, 1)):
        its = trials(at_least, {"upstream": both})
        assert len(its.try_graph(GRAPH).hits) == hits
        assert its.tally.worst == {("upstream", Severity.TRAINS): 1}
        assert its.tally.verdicts == {("upstream", "diverged"): 1}
