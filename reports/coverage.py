"""Which kinds of layer met which features in the graphs of a run, which followed which, and how large the graphs were.

Owns the features: what can be true of a layer as it stands in a graph. Whoever runs trials adds each graph to a
`Counting`, and keeps what it comes to with the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from clonediff.reports.records import Coverage
from clonediff.strategies.asking import NoKeras, infer
from clonediff.strategies.graph import (
    Array,
    Call,
    Graph,
    Layer,
    MalformedGraph,
    Ref,
    Step,
    Way,
    call_refs,
    leaves,
    levels,
    made_layers,
    refs,
)
from clonediff.strategies.pruning import ends_of, reached
from clonediff.strategies.states import STEPS
from clonediff.strategies.ways import CALL, CLONE, INPUTS, LATER, RECURSIVE, SPARSE, features_of

FEATURES = (
    "called again",
    "at several depths",
    "on several tensors",
    "on one tensor twice",
    "on a masked tensor",
    "on an input of the model",
    "on an optional input",
    "on an input that is None",
    "on an input around a tensor",
    "on an input taken twice",
    "on a sparse input",
    "on a ragged input",
    "several outputs",
    "is an output",
    "leads nowhere",
    "in a model cut out",
    "mask given",
    "training given",
    "initial state given",
    "other arguments given",
    "called in another structure",
    "called with another axis",
    "an array as argument",
    "frozen",
    "dtype of its own",
    "name of its own",
    "regularizer",
    "in a model",
    "in a Sequential",
    "in a model of one's own class",
    "in a wrapper",
    "cloned on other inputs",
    "a clone function given",
    "a call function given",
    "cloned recursively",
    *(sort.happened for sort in STEPS.values()),
)
"""What a layer can meet, in the order of the matrix's columns."""
REFUSED = "in a graph that cannot be built"
"""A column where there are such graphs."""

Pair = tuple[str, str]
_STATES = {"mask": "mask given", "training": "training given", "initial_state": "initial state given"}


class Counting:
    """Graphs counted so far."""

    def __init__(self) -> None:
        self._graphs = 0
        self._kinds: Counter[str] = Counter()
        self._met: Counter[Pair] = Counter()
        self._calls: Counter[int] = Counter()
        self._after: Counter[Pair] = Counter()

    def add(self, graph: Graph, *, refused: bool = False) -> None:
        """Count a graph: each kind, each feature and each succession once, however often it is in it."""
        met = set(features(graph))
        if refused:
            met |= {(kind, REFUSED) for kind, _ in met}
        self._graphs += 1
        self._kinds.update({kind for kind, _ in met})
        self._met.update(each for each in met if each[1])
        self._calls[sum(len(level.calls) for level in levels(graph))] += 1
        self._after.update(set(successions(graph)))

    def include(self, other: Coverage) -> None:
        """Count what somebody else counted as well."""
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
    """Each kind with each kind that is called on what it gives."""
    for level in levels(graph):
        kinds = [level.layers[call.layer].kind for call in level.calls]
        for kind, call in zip(kinds, level.calls, strict=True):
            for ref in call_refs(call):
                if ref.node >= len(level.inputs):
                    yield kinds[ref.node - len(level.inputs)], kind


def features(graph: Graph, around: tuple[str, ...] = (), state: tuple[Step, ...] = ()) -> Iterator[Pair]:
    """Each kind with each feature that a layer of it has; with "" for the kind alone."""
    state = state or graph.state
    carried = masked(graph)
    depths = _depths(graph)
    used = {ref.node for call in graph.calls for ref in call_refs(call)}
    given = {ref.node for ref in refs(graph.gives)}
    led_to = used.union(ref.node for ref in ends_of(graph))
    outermost = not around
    around = (*around, *_of_class(graph, around))
    cut_out = reached(graph)[0] if graph.base is not None else ()
    calls: dict[int, list[int]] = {}
    for number, call in enumerate(graph.calls):
        calls.setdefault(call.layer, []).append(number)
    for number, layer in enumerate(graph.layers):
        nodes = [len(graph.inputs) + call for call in calls.get(number, [])]
        found = {"", *around, *_of_layer(layer), *_of_way(graph.way), *_of_state(state, layer)}
        if len(nodes) > 1:
            found.add("called again")
        if len({depths[node] for node in nodes}) > 1:
            found.add("at several depths")
        if given.intersection(nodes):
            found.add("is an output")
        if not led_to.issuperset(nodes):
            found.add("leads nowhere")
        if not set(nodes).isdisjoint(cut_out):
            found.add("in a model cut out")
        for node in nodes:
            call = graph.calls[node - len(graph.inputs)]
            found.update(_of_call(call))
            if any(ref in carried for ref in call_refs(call)):
                found.add("on a masked tensor")
            if outermost and any(ref.node < len(graph.inputs) for ref in call_refs(call)):
                found.add("on an input of the model")
            found.update(_of_inputs(graph, call))
        yield from ((layer.kind, feature) for feature in found)
        if layer.graph is not None:
            inside = "in a Sequential" if layer.graph.sequential else "in a model"
            yield from features(layer.graph, (*(each for each in around if each != inside), inside), state)
        for inner in made_layers(layer):
            found_inside = ("", "in a wrapper", *around, *_of_layer(inner), *_of_state(state, inner))
            yield from ((inner.kind, feature) for feature in found_inside)


_WAYS = {
    INPUTS: "cloned on other inputs",
    SPARSE: "cloned on other inputs",
    LATER: "cloned on other inputs",
    CLONE: "a clone function given",
    CALL: "a call function given",
    RECURSIVE: "cloned recursively",
}


def _of_class(graph: Graph, around: tuple[str, ...]) -> Iterator[str]:
    name = "in a model of one's own class"
    if graph.own is not None and name not in around:
        yield name


def _of_way(way: Way | None) -> Iterator[str]:
    if way is not None:
        yield from (_WAYS[name] for name in features_of(way))


def _of_state(state: tuple[Step, ...], layer: Layer) -> Iterator[str]:
    for step in state:
        if step.does in STEPS and step.kind in (None, layer.kind):
            yield STEPS[step.does].happened


def _of_layer(layer: Layer) -> Iterator[str]:
    if not layer.trainable or "frozen after" in layer.marks or (layer.graph is not None and not layer.graph.trainable):
        yield "frozen"
    if layer.dtype is not None:
        yield "dtype of its own"
    if layer.name is not None:
        yield "name of its own"
    if any(key.endswith("regularizer") and value is not None for key, value in layer.args):
        yield "regularizer"


def _of_inputs(graph: Graph, call: Call) -> Iterator[str]:
    taken = list(refs(graph.takes))
    for ref in call_refs(call):
        if ref.node < len(graph.inputs):
            given = graph.inputs[ref.node]
            yield from ("on an optional input",) if given.optional else ()
            yield from ("on an input that is None",) if given.fill == "nothing" else ()
            yield from ("on an input around a tensor",) if given.around is not None else ()
            yield from ("on a sparse input",) if given.sparse else ()
            yield from ("on a ragged input",) if given.ragged else ()
            yield from ("on an input taken twice",) if taken.count(ref) > 1 else ()


def _of_call(call: Call) -> Iterator[str]:
    tensors = list(call_refs(call))
    if len(tensors) > 1:
        yield "on several tensors"
    if len(set(tensors)) < len(tensors):
        yield "on one tensor twice"
    if call.outputs > 1:
        yield "several outputs"
    if call.packing:
        yield "called in another structure"
    if call.axis:
        yield "called with another axis"
    for key, value in call.kwargs:
        yield _STATES.get(key, "other arguments given")
        if any(isinstance(each, Array) for each in leaves(value)):
            yield "an array as argument"


def masked(graph: Graph) -> Collection[Ref]:
    """The tensors that may carry a mask; none where Keras refuses the graph, or there is none to ask."""
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
