"""What to draw for one subject: graphs that its release has the layers and the arguments for.

Owns how a release's offers become arguments of `functional_graphs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from hypothesis.strategies import SearchStrategy

from harness.subjects.case import takes_arguments
from harness.subjects.outcomes import Offers
from harness.subjects.process import SubjectProcess
from harness.trials.asking import asked
from strategies import FEATURES, functional_graphs
from strategies.graph import Graph
from strategies.graphs import PIECES, STATES, WAYS, Feature
from strategies.kinds import Generation, Kind, catalogue
from strategies.kinds.arguments import PATHS
from strategies.kinds.not_drawn import INSIDE, NO_OPERATION, NOT_DRAWN
from strategies.kinds.operations import Operation

_OF_OUR_OWN = ("custom", "operations")
"""The families that are no classes of `keras.layers`."""
_WANTED = {
    "automatic configs": ("Branches",),
    "None among tensors": ("Gather", "Join"),
    "sequentials in layers": ("Sequential",),
    "calls apart": ("RandomHeight", "RandomWidth"),
}
"""The layers that want an ability of a release: custom ones, and one that stands in others."""
_OF_LAMBDAS = (
    *("Lambda.form=registered", "Lambda.form=namesake", "Lambda.mask=registered", "Lambda.output_shape=registered"),
    "Lambda.form=training",
)
"""What TensorFlow 2.0 has no decorator for; and there a Lambda writes down `training` as it was in its last call."""
_OF_TEXTS = ("StringLookup", "TextVectorization")
"""The layers that need texts, which only TensorFlow has."""


def graphs_on(
    process: SubjectProcess,
    *,
    without: Collection[str] = (),
    features: Collection[Feature] = FEATURES | PIECES,
    cloners: Collection[str] = (),
    **options: Any,
) -> SearchStrategy[Graph]:
    """The graphs that the release of a subject can build; starts the process where it does not run.

    Takes the options of `functional_graphs`, and draws and shrinks as that does, with pieces of real architectures
    among what it draws. Where all `cloners` take what `clone_model` takes, and there are some, ways to clone are drawn
    as well, and what is done to a model before.
    """
    offers, generation = process.ready.offers, process.subject.generation
    if cloners and all(map(takes_arguments, cloners)):
        features = WAYS.union(STATES, features)
    return functional_graphs(
        keras=asked(process),
        generation=generation,
        without=(*without, *lacking(offers, generation)),
        features=frozenset(features).difference(offers.lacks, _needing(offers)),
        **options,
    )


def _needing(offers: Offers) -> tuple[Feature, ...]:
    """What a model cannot have where there is no decorator for classes, or where tensors keep a mask of a call."""
    needing: dict[str, Feature] = {"registered classes": "own classes", "own tensors": "masks of models"}
    return tuple(feature for ability, feature in needing.items() if ability in offers.lacks)


def lacking(offers: Offers, generation: Generation) -> tuple[str, ...]:
    """What a release does not have: kinds, their arguments as "GRU.reset_after", names as "initializers.HeNormal"."""
    if not offers.layers:
        return ()
    kinds = [kind for kind in catalogue(generation).values() if kind.only in (None, generation)]
    names = [name for kind in kinds if kind.family not in _OF_OUR_OWN for name in _lacking(kind, offers)]
    names += [name for kind in kinds if isinstance(kind, Operation) for name in _lacking_operation(kind, offers)]
    if generation == "tf_keras" and "registered classes" in offers.lacks:
        # TensorFlow 2.0 has no decorator for them, nor for functions.
        names += [kind.name for kind in kinds if kind.family == "custom"]
        names += ("LeakyCell", *_OF_LAMBDAS)
    names += [kind for ability, wanting in _WANTED.items() if ability in offers.lacks for kind in wanting]
    if offers.names:
        names += sorted(PATHS.difference(offers.names))
    names += [kind.name for kind in kinds if kind.name in offers.lacks]
    names += [name for name in offers.lacks if name.rpartition(".")[0] in offers.layers]
    if "strings" in offers.lacks:
        names += [name for name in _OF_TEXTS if name in offers.layers]
    return tuple(names)


def classes(offers: Offers, generation: Generation) -> tuple[str, ...]:
    """The layer classes of a release that a graph may hold."""
    return tuple(sorted(set(offers.layers).difference(NOT_DRAWN[generation])))


def not_drawn_yet(offers: Offers, generation: Generation) -> tuple[str, ...]:
    """The layers and the operations of a release that no graph holds, and for which there is no reason.

    What TensorFlow has beside those that Keras has names for, nobody has counted.
    """
    kinds = [kind.name for kind in catalogue(generation).values() if kind.only in (None, generation)]
    layers = set(offers.layers).difference(kinds, INSIDE, NOT_DRAWN[generation])
    operations = {name for name in offers.operations if name.startswith("ops.")}.difference(kinds, NO_OPERATION)
    return tuple(sorted(layers)) + tuple(sorted(operations))


def _lacking(kind: Kind, offers: Offers) -> Iterator[str]:
    if kind.name not in offers.layers:
        yield kind.name
        return
    constructor, call = offers.layers[kind.name]
    if constructor is not None:
        options = [key for key in (*kind.options, *kind.more) if key not in kind.parts]
        yield from (f"{kind.name}.{key}" for key in options if key not in constructor)
        yield from (f"{kind.name}.{value}" for value, needed in kind.needs.items() if needed not in constructor)
    if call is not None:
        yield from (f"{kind.name}.{key}" for key in kind.call_options if key not in call)


def _lacking_operation(kind: Operation, offers: Offers) -> Iterator[str]:
    """Most operators are there wherever tensors are; where a child does not tell its functions, none is drawn."""
    if kind.only is None:
        return
    if kind.name not in offers.operations:
        yield kind.name
        return
    arguments = offers.operations[kind.name]
    if arguments is not None:
        yield from (f"{kind.name}.{key}" for key in kind.options if key not in arguments)
