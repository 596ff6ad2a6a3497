"""Each further argument of a layer, by day each second: it is built, runs and is cloned, with nothing new."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from msgspec import structs

from harness.search.even_draws import evenly
from harness.trials.offers import lacking
from harness.subjects.process import SubjectProcess
from harness.trials.graph_trials import GraphTrials, news
from reports.known import load
from strategies import Graph, MalformedGraph, functional_graphs, infer
from strategies.graph import Value
from strategies.kinds import NO_SENSE, Generation, Kind, catalogue, less
from strategies.kinds.arguments import UNDOCUMENTED, further, suits
from strategies.typing import fed
from tests.effort import examples

KNOWN = load()
DRAWS = 60
SUBJECTS: dict[str, Generation] = {"keras": "keras", "tf_keras": "tf_keras", "keras==2.2.4": "keras2"}
ALL = "a value of each second name is tried on Keras 3 without it; this tries each value on each layer"


@pytest.mark.parametrize(
    ("subject", "first"),
    [
        ("keras", True),
        *(pytest.param(subject, False, marks=pytest.mark.slow(reason=ALL)) for subject in SUBJECTS),
    ],
)
def test_a_layer_with_a_further_argument_is_built_and_runs_and_is_cloned(
    subject: str, first: bool, warm: Callable[[str], SubjectProcess]
) -> None:
    process, generation = warm(subject), SUBJECTS[subject]
    trials = GraphTrials(process, KNOWN, rate=0)
    without = (*lacking(process.ready.offers, generation), *UNDOCUMENTED.get(generation, ()))
    tried, by = 0, examples(2, 1)
    for kind, key, value in itertools.islice(given(generation, without, first=first), 0, None, by):
        graph = next(with_argument(kind, key, value, without, generation), None)
        assert graph is not None, (kind.name, key, value)
        answer = trials.try_graph(graph)
        assert answer.trial.built, (answer.trial.refused or answer.trial.lost, graph)
        assert answer.trial.original is not None
        for run in (answer.trial.original.inference, answer.trial.original.training):
            assert run is None or run.failure is None, (run and run.failure, graph)
        assert [hit.title for hit in news(answer.hits)] == [], graph
        tried += 1
    assert tried > (50 if first else 150) / by


def given(generation: Generation, without: tuple[str, ...], *, first: bool) -> Iterator[tuple[Kind, str, Value]]:
    """The further arguments of the kinds that a release has; of each name the first value on its first kind, or all."""
    seen: set[str] = set()
    for name, whole in catalogue(generation).items():
        kind = less(whole, without) if whole.only in (None, generation) and name not in without else None
        for key, values in kind.more.items() if kind is not None else ():
            if not first or key not in seen:
                yield from ((kind, key, value) for value in (values[:1] if first else values))  # type: ignore[misc]
            seen.add(key)


def with_argument(
    kind: Kind, key: str, value: Value, without: tuple[str, ...], generation: Generation
) -> Iterator[Graph]:
    """Graphs of this layer alone with the argument, where it can be called."""
    for graph in alone(kind.name, without, generation):
        specs = fed(graph.calls[0], infer(graph, generation=generation))
        (layer,) = graph.layers
        if suits(key, value, specs) and layer.arg(key) is None:
            args = (*layer.args, *further([(key, value)], specs).items())
            new = structs.replace(graph, layers=(structs.replace(layer, args=args),))
            try:
                infer(new, generation=generation)
            except (MalformedGraph, *NO_SENSE):
                continue
            yield new


def alone(name: str, without: tuple[str, ...], generation: Generation) -> Iterator[Graph]:
    graphs = functional_graphs(
        generation=generation,
        kinds=[name],
        without=without,
        features=("idle inputs", "strings"),
        min_instructions=1,
        max_instructions=1,
    )
    drawn = (each.graph for each in evenly(graphs, DRAWS, 1))
    return (graph for graph in drawn if [layer.kind for layer in graph.layers] == [name])
