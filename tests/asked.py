"""The Keras that tests draw for: a warm process of each generation, asked as a campaign asks its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy, deferred

from harness.subjects.process import SubjectProcess
from harness.trials.asking import asked
from harness.trials.offers import graphs_on
from strategies import FEATURES
from strategies.asking import Keras, Question
from strategies.graph import Graph
from strategies.graphs import Feature
from strategies.kinds import Generation, Specs

SUBJECTS: dict[Generation, str] = {"keras": "keras", "tf_keras": "tf_keras", "keras2": "keras==2.2.4"}
_processes: list[Callable[[str], SubjectProcess]] = []


def processes(warm: Callable[[str], SubjectProcess]) -> None:
    """Take the processes of a session from here."""
    _processes[:] = [warm]


def process_of(generation: Generation) -> SubjectProcess:
    """The warm process of a generation."""
    return _processes[0](SUBJECTS[generation])


def graphs_of(generation: Generation = "keras", **options: Any) -> SearchStrategy[Graph]:
    """What is drawn for a generation; the features are those of `functional_graphs` unless given."""
    features: Collection[Feature] = options.pop("features", FEATURES)
    return deferred(lambda: graphs_on(process_of(generation), features=features, **options))


class KerasAtHand:
    """Keras 3, which is started when it is asked first."""

    @property
    def _keras(self) -> Keras:
        return asked(process_of("keras"))

    def first(self, questions: Sequence[Question]) -> tuple[int, Specs] | None:
        """What it answers."""
        return self._keras.first(questions)

    def refuses(self, graph: Graph) -> str:
        """What it answers."""
        return self._keras.refuses(graph)
