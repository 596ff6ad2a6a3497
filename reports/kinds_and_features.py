"""Which kinds of layer met which features in the graphs of a run, which followed which, and how large the graphs were.

Owns the features: what can be true of a layer as it stands in a graph. Whoever runs trials adds each graph to a
`Counting`, and keeps what it comes to with the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from clonediff.reports.records import Coverage
from clonediff.strategies.asking import NoKeras, infer
from clonediff.strategies.clone_arguments import CALL, CLONE, INPUTS, LATER, RECURSIVE, SPARSE, features_of
from clonediff.strategies.graph import (
    Array,
    Call,
    Graph,
    Input,
    Layer,
    MalformedGraph,
    Preparation,
    Ref,
    call_refs,
    leaves,
    levels,
    made_layers,
    refs,
)
from clonediff.strategies.preparations import PREPARATIONS
from clonediff.strategies.pruning import ends_of, reached

REFUSED = "in a graph that cannot be built"
"""A column where there are such graphs."""

Pair = tuple[str, str]


class _Level:
    """A model of a graph, with what is asked of it for each of its layers.

    `around` has what is true of all that is in it; of a layer within another one, nothing is called.
    """

    def __init__(self, graph: Graph, around: tuple[str, ...] = (), preparations: tuple[Preparation, ...] = ()) -> None:
        own = "in a model of one's own class"
        self.graph = graph
        self.outermost = not around
        self.around = (*around, own) if graph.custom_class is not None and own not in around else around
        self.preparations = preparations or graph.preparations
        given = graph.clone_arguments
        self.argument_features = frozenset(features_of(given)) if given is not None else frozenset[str]()
        self.carried = masked(graph)
        self.depths = _depths(graph)
        self.given = {ref.node for ref in refs(graph.gives)}
        used = {ref.node for call in graph.calls for ref in call_refs(call)}
        self.led_to = used.union(ref.node for ref in ends_of(graph))
        self.cut_out = frozenset(reached(graph)[0]) if graph.base is not None else frozenset[int]()
        self.taken = Counter(refs(graph.takes))


@dataclass(frozen=True)
class _Standing:
    """A layer as it stands in a graph: its calls, and the nodes that these are."""

    layer: Layer
    level: _Level
    nodes: tuple[int, ...] = ()
    within: bool = False

    @cached_property
    def calls(self) -> list[Call]:
        return [self.level.graph.calls[node - len(self.level.graph.inputs)] for node in self.nodes]

    @cached_property
    def tensors(self) -> list[list[Ref]]:
        """What each call is on."""
        return [list(call_refs(call)) for call in self.calls]

    @cached_property
    def inputs(self) -> list[tuple[Ref, Input]]:
        """The inputs of the model among them."""
        given = self.level.graph.inputs
        return [(ref, given[ref.node]) for tensors in self.tensors for ref in tensors if ref.node < len(given)]

    @cached_property
    def options(self) -> set[str]:
        """The arguments of its calls by name."""
        return {key for call in self.calls for key, _ in call.kwargs}

    def does(self, sort: str) -> bool:
        """Whether a preparation of this sort is done to it."""
        return any(each.does == sort and each.kind in (None, self.layer.kind) for each in self.level.preparations)

    def cloned(self, *features: str) -> bool:
        """Whether the model is cloned with arguments of one of these features."""
        return not self.within and not self.level.argument_features.isdisjoint(features)


def _done(sort: str) -> Callable[[_Standing], bool]:
    return lambda its: its.does(sort)


_TRUE_OF: Mapping[str, Callable[[_Standing], bool]] = {
    "called again": lambda its: len(its.nodes) > 1,
    "at several depths": lambda its: len({its.level.depths[node] for node in its.nodes}) > 1,
    "on several tensors": lambda its: any(len(each) > 1 for each in its.tensors),
    "on one tensor twice": lambda its: any(len(set(each)) < len(each) for each in its.tensors),
    "on a masked tensor": lambda its: any(ref in its.level.carried for each in its.tensors for ref in each),
    "on an input of the model": lambda its: its.level.outermost and bool(its.inputs),
    "on an optional input": lambda its: any(given.optional for _, given in its.inputs),
    "on an input that is None": lambda its: any(given.fill == "nothing" for _, given in its.inputs),
    "on an input around a tensor": lambda its: any(given.around is not None for _, given in its.inputs),
    "on an input taken twice": lambda its: any(its.level.taken[ref] > 1 for ref, _ in its.inputs),
    "on a sparse input": lambda its: any(given.sparse for _, given in its.inputs),
    "on a ragged input": lambda its: any(given.ragged for _, given in its.inputs),
    "several outputs": lambda its: any(call.outputs > 1 for call in its.calls),
    "is an output": lambda its: not its.level.given.isdisjoint(its.nodes),
    "leads nowhere": lambda its: not its.level.led_to.issuperset(its.nodes),
    "in a model cut out": lambda its: not its.level.cut_out.isdisjoint(its.nodes),
    "mask given": lambda its: "mask" in its.options,
    "training given": lambda its: "training" in its.options,
    "initial state given": lambda its: "initial_state" in its.options,
    "other arguments given": lambda its: not its.options <= {"mask", "training", "initial_state"},
    "called in another structure": lambda its: any(call.packing for call in its.calls),
    "called with another axis": lambda its: any(call.axis for call in its.calls),
    "an array as argument": lambda its: any(
        isinstance(each, Array) for call in its.calls for _, value in call.kwargs for each in leaves(value)
    ),
    "frozen": lambda its: (
        not its.layer.trainable
        or "frozen after" in its.layer.marks
        or (its.layer.graph is not None and not its.layer.graph.trainable)
    ),
    "dtype of its own": lambda its: its.layer.dtype is not None,
    "name of its own": lambda its: its.layer.name is not None,
    "regularizer": lambda its: any(key.endswith("regularizer") and value is not None for key, value in its.layer.args),
    "in a model": lambda its: "in a model" in its.level.around,
    "in a Sequential": lambda its: "in a Sequential" in its.level.around,
    "in a model of one's own class": lambda its: "in a model of one's own class" in its.level.around,
    "in a wrapper": lambda its: its.within,
    "cloned on other inputs": lambda its: its.cloned(INPUTS, SPARSE, LATER),
    "a clone function given": lambda its: its.cloned(CLONE),
    "a call function given": lambda its: its.cloned(CALL),
    "cloned recursively": lambda its: its.cloned(RECURSIVE),
    **{sort.happened: _done(name) for name, sort in PREPARATIONS.items()},
}
FEATURES = tuple(_TRUE_OF)
"""What a layer can meet, in the order of the matrix's columns."""


class Counting:
    """Graphs counted so far."""

    def __init__(self) -> None:
        self._graphs = 0
        self._kinds: Counter[str] = Counter()
        self._met: Counter[Pair] = Counter()
        self._calls: Counter[int] = Counter()
        self._after: Counter[Pair] = Counter()

    def add(self, graph: Graph, *, refused: bool = False) -> None:
        """Count a graph: each kind, feature and succession once, however often it occurs."""
        met = set(features(graph))
        if refused:
            met |= {(kind, REFUSED) for kind, _ in met}
        self._graphs += 1
        self._kinds.update({kind for kind, _ in met})
        self._met.update(each for each in met if each[1])
        self._calls[sum(len(level.calls) for level in levels(graph))] += 1
        self._after.update(set(successions(graph)))

    def include(self, other: Coverage) -> None:
        """Add what was counted elsewhere."""
        self._graphs += other.graphs
        self._kinds.update(other.kinds)
        self._calls.update(other.calls)
        for counts, more in ((self._met, other.met), (self._after, other.after)):
            for kind, its in more.items():
                counts.update({(kind, name): count for name, count in its.items()})

    def coverage(self) -> Coverage:
        """What was counted, for the record."""
        kinds, calls = dict(sorted(self._kinds.items())), dict(sorted(self._calls.items()))
        return Coverage(self._graphs, kinds, _by_kind(self._met, kinds), calls, _by_kind(self._after))


def _by_kind(counts: Counter[Pair], kinds: Collection[str] = ()) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
    for (kind, name), count in sorted(counts.items()):
        found.setdefault(kind, {})[name] = count
    return found


def successions(graph: Graph) -> Iterator[Pair]:
    """Pairs of kinds, the second of which is called on an output of the first."""
    for level in levels(graph):
        kinds = [level.layers[call.layer].kind for call in level.calls]
        for kind, call in zip(kinds, level.calls, strict=True):
            for ref in call_refs(call):
                if ref.node >= len(level.inputs):
                    yield kinds[ref.node - len(level.inputs)], kind


def features(graph: Graph) -> Iterator[Pair]:
    """Each kind with each feature that a layer of it has; with "" for the kind alone."""
    for its in _standing(_Level(graph)):
        yield its.layer.kind, ""
        yield from ((its.layer.kind, feature) for feature, is_true in _TRUE_OF.items() if is_true(its))


def _standing(level: _Level) -> Iterator[_Standing]:
    graph = level.graph
    nodes: dict[int, list[int]] = {}
    for node, call in enumerate(graph.calls, len(graph.inputs)):
        nodes.setdefault(call.layer, []).append(node)
    for number, layer in enumerate(graph.layers):
        yield _Standing(layer, level, tuple(nodes.get(number, ())))
        if layer.graph is not None:
            inside = "in a Sequential" if layer.graph.sequential else "in a model"
            around = (*(each for each in level.around if each != inside), inside)
            yield from _standing(_Level(layer.graph, around, level.preparations))
        for inner in made_layers(layer):
            yield _Standing(inner, level, within=True)


def masked(graph: Graph) -> Collection[Ref]:
    """The tensors that may carry a mask; none if Keras refuses the graph, or if there is no Keras to ask."""
    try:
        specs = infer(graph)
    except (MalformedGraph, NoKeras):
        return ()
    return {Ref(node, output) for node, each in enumerate(specs) for output, spec in enumerate(each) if spec.mask}


def _depths(graph: Graph) -> list[int]:
    found = [0] * len(graph.inputs)
    for call in graph.calls:
        found.append(1 + max(found[ref.node] for ref in call_refs(call)))
    return found
