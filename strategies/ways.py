"""Ways to clone: which suit a graph, and what each asks for.

Owns what `strategies.graph.Way` means for the tensors of a model. What a way asks for is the same model with a change
in it: a layer replaced, a call inserted, an input exchanged. Here it is known which of these can be built; the text of
such a model is written by `harness.source`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from strategies.graph import (
    Array,
    Call,
    CallFunction,
    CloneFunction,
    Graph,
    Input,
    Layer,
    MalformedGraph,
    Ref,
    Value,
    Way,
    all_layers,
    call_refs,
    from_json,
    leaves,
    levels,
    made_layers,
    refs,
)
from strategies.kinds import CATALOGUE, Generation, Spec, Specs, catalogue
from strategies.kinds.lambdas import BATCH
from strategies.kinds.operations import Operation
from strategies.pruning import idle
from strategies.states import unsuited_state
from strategies.typing import fed, infer

INPUTS, CLONE, CALL, RECURSIVE = "new inputs", "clone functions", "call functions", "recursive cloning"
"""What `clone_model` can be given, as features."""

OPEN = 3
"""What a dimension that was left open becomes where it is closed."""

SETTINGS: tuple[tuple[str, Value], ...] = (
    ("activation", "tanh"),
    ("activation", "relu"),
    ("recurrent_activation", "tanh"),
    ("use_bias", False),
    ("mask_zero", False),
    ("mask_zero", True),
    ("mask_value", 1.0),
    ("rate", 0.25),
    ("center", False),
    ("scale", False),
    ("epsilon", 0.01),
    ("go_backwards", True),
    ("trainable", False),
)
"""What a clone function sets in the config of a layer: entries that say what an argument of the constructor says."""

_SEVERAL = ("RNN", "Bidirectional", "TimeDistributed")
"""Kinds that other kinds inherit from, or that have what they hold in their config."""


class Seen(NamedTuple):
    """A call of a layer that a function of `clone_model` is asked about."""

    layer: Layer
    call: Call
    takes: Specs
    gives: Specs


def inputs_of(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the model that is asked for."""
    how = graph.way.inputs if graph.way is not None else ""
    if how in ("", "own"):
        return graph.inputs
    named = graph.generation == "keras2"  # which calls the original's inputs as well, and takes no name twice
    return tuple(_given(each, how, number, named) for number, each in enumerate(graph.inputs, start=1))


def _given(each: Input, how: str, number: int, named: bool) -> Input:
    # One without a name has the same number as the one that it stands for, once names are counted anew.
    new = each if each.name is None and not named else structs.replace(each, name=f"given_{number}")
    if how == "batch":
        return structs.replace(new, batch=BATCH)
    if how == "closed":
        return structs.replace(new, shape=tuple(OPEN if size is None else size for size in each.shape))
    return new


def _idle_inputs(graph: Graph) -> bool:
    """Whether an input is used by no call, or is given back."""
    inputs = range(len(graph.inputs))
    return any(ref.node in inputs for ref in refs(graph.gives)) or not idle(graph).isdisjoint(inputs)


def _has_constants(graph: Graph) -> bool:
    """Whether a tensor stands among its arguments; in Keras 2.2 such a tensor has a name, with a number in it."""
    values = [value for layer in all_layers(graph) for _, value in layer.args]
    values += [value for call in graph.calls for _, value in call.kwargs]
    return any(isinstance(each, Array) and each.tensor for value in values for each in leaves(value))


def _begins_anywhere(graph: Graph) -> bool:
    """Whether Keras makes a model of tensors that layers gave: of floats, in a list, used; and no output twice."""
    plain = all(given.dtype == "float32" and not given.optional and given.shape for given in graph.inputs)
    listed = all(isinstance(each, Ref) for each in getattr(graph.takes, "items", (graph.takes,)))
    given = list(refs(graph.gives))
    return plain and listed and len(set(given)) == len(given) and not graph.sequential and not _idle_inputs(graph)


def features_of(way: Way) -> Iterator[str]:
    """What a clone_model must be able to take for it."""
    if way.inputs:
        yield INPUTS
    if way.clone_function is not None:
        yield CLONE
    if way.call_function is not None:
        yield CALL
    if way.recursive:
        yield RECURSIVE


def keeps_layers(way: Way) -> bool:
    """Whether layers of the model itself stand in the clone, since this is what is asked for."""
    function = way.clone_function
    return function is not None and "kept" in (function.change, function.others)


def well_typed(graph: Graph, where: str = "graph") -> tuple[Specs, ...]:
    """What each node gives. Raises `MalformedGraph` where the graph, its way or its state makes no sense."""
    specs = infer(graph, where)
    wrong = unsuited(graph)
    if wrong:
        raise MalformedGraph(f"{where}.way{wrong}")
    wrong = unsuited_state(graph)
    if wrong:
        raise MalformedGraph(f"{where}.state{wrong}")
    return specs


def read_example(text: str, where: str) -> Graph:
    """A graph from text that may come from anywhere: read, and held against the catalogue."""
    graph = from_json(text, where)
    well_typed(graph, where)
    return graph


def unsuited(graph: Graph) -> str:
    """What is wrong with a graph's way, "" where nothing is. The graph without it is well typed."""
    way = graph.way
    if way is None:
        return ""
    if way == Way():
        return ": expected an argument"
    if graph.base is not None:
        return ": expected none for a model that is cut out of another"
    try:
        infer(structs.replace(graph, inputs=inputs_of(graph)))
    except MalformedGraph as error:
        return f".inputs: {error}"
    if way.inputs == "closed" and not any(None in each.shape for each in graph.inputs):
        return ".inputs: there is no open dimension to close"
    if way.inputs == "listed" and (not isinstance(graph.takes, Ref) or graph.generation != "keras"):
        return ".inputs: in a list anyway"
    if way.inputs == "made" and not _begins_anywhere(graph):
        return ".inputs: no model begins with such tensors"
    if way.inputs == "batch" and any(each.batch is not None for each in graph.inputs):
        return ".inputs: there is a batch already"
    nested = any(layer.graph is not None for layer in graph.layers)
    if way.recursive and not nested:
        return ".recursive: there is no model within the model"
    if graph.generation == "keras2" and (nested or _has_constants(graph)):
        return ": inputs and constants would have other numbers than in a model made by hand"
    seen = list(_seen(graph, way.recursive))
    if way.clone_function is not None and (wrong := _unsuited_clone(graph, way.clone_function, seen)):
        return f".clone_function: {wrong}"
    if way.call_function is not None and (wrong := _unsuited_call(graph, way.call_function)):
        return f".call_function: {wrong}"
    return ""


def _unsuited_clone(graph: Graph, function: CloneFunction, seen: Sequence[Seen]) -> str:
    kind, change = function.kind, function.change
    if _frozen(graph):
        return "whether what it gives is frozen with the model is not said anywhere"
    for layer, *_ in seen:
        does = change if kind in (None, layer.kind) else function.others
        if does != "kept" and not _in_its_config(layer, graph.generation):
            return f"{layer.kind} cannot be made again from its config"
    if kind is None and change == "renamed" and graph.generation != "keras" and _has_operations(graph):
        return "in Keras 2 operations are layers, which are renamed, too"
    if kind is None:
        return "" if change in ("remade", "kept", "renamed") else f"expected a kind for {change!r}"
    hit = [each for each in seen if each.layer.kind == kind and each.layer.graph is None]
    if not hit:
        return f"there is no layer of the kind {kind!r}"
    if kind in _SEVERAL:
        return f"{kind} is more than one kind"
    way = graph.way or Way()
    if change == "nested" and (way.recursive or way.inputs in ("", "own")):
        return "the input of the Sequential would be numbered otherwise than in a model made by hand"
    for each in hit:
        if change == "replaced" and not (_of_one(each) and each.takes[0].shape == each.gives[0].shape):
            return f"an Activation is nothing like {kind} here"
        if change == "wrapped" and not _distributed(each, graph.generation):
            return f"{kind} cannot be distributed over time here"
        if change == "nested" and not _of_one(each):
            return f"{kind} cannot stand in a Sequential here"
        if change == "nested" and any(each.layer is other.layer and each.takes != other.takes for other in hit):
            return f"a Sequential around a {kind} that is called on two shapes is made for the first"
    return _unsuited_setting(graph, function) if change == "set" else ""


def _unsuited_setting(graph: Graph, function: CloneFunction) -> str:
    key, value, kind = function.key, function.value, function.kind
    if not any(key == name and type(value) is type(known) and value == known for name, known in SETTINGS):
        return f"nothing is known of {key!r} set to {value!r}"
    if key == "trainable":
        return ""
    known = catalogue(graph.generation).get(kind or "")
    if known is None or key not in {**known.options, **known.more}:
        return f"{kind} has no {key!r}"
    before = infer(graph)
    try:
        after = infer(_with_setting(graph, function, graph.way is not None and graph.way.recursive))
    except MalformedGraph as error:
        return str(error)
    alike = [[(spec.shape, spec.dtype) for node in each for spec in node] for each in (before, after)]
    return "" if alike[0] == alike[1] else f"with {key} set to {value!r} its tensors are others"


def _with_setting(graph: Graph, function: CloneFunction, recursive: bool) -> Graph:
    layers = []
    for layer in graph.layers:
        if layer.graph is not None and recursive:
            layer = structs.replace(layer, graph=_with_setting(layer.graph, function, recursive))
        elif layer.kind == function.kind:
            others = tuple((key, value) for key, value in layer.args if key != function.key)
            layer = structs.replace(layer, args=(*others, (function.key, function.value)))
        layers.append(layer)
    return structs.replace(graph, layers=tuple(layers))


def _unsuited_call(graph: Graph, function: CallFunction) -> str:
    kind = function.kind
    if graph.sequential:
        return "a Sequential is not called layer by layer"
    if (kind is None) != (function.change == "plain"):
        return f"expected a kind for all but 'plain', found {kind!r} for {function.change!r}"
    if kind is None:
        return ""
    recursive = graph.way is not None and graph.way.recursive
    seen = [each for each in _seen(graph, recursive, chains=False) if each.layer.kind == kind]
    if not seen:
        return f"no layer of the kind {kind!r} is called"
    if kind in _SEVERAL:
        return f"{kind} is more than one kind"
    if function.change == "training":
        known = catalogue(graph.generation).get(kind)
        return "" if known is not None and "training" in known.call_options else f"{kind} takes no `training`"
    if _frozen(graph):
        return "whether the new layer is frozen with the model is not said anywhere"
    if any(len(calls) > 1 for calls in _calls_of(graph, kind)):
        return f"a layer of the kind {kind} is called twice, and what is inserted has one name"
    return "" if all(map(_of_one, seen)) else f"{kind} takes or gives several tensors here"


def _frozen(graph: Graph) -> bool:
    return not all(level.trainable for level in levels(graph)) or not all(
        layer.trainable for layer in all_layers(graph) if layer.graph is not None
    )


def _calls_of(graph: Graph, kind: str) -> Iterator[list[Call]]:
    """The calls of each layer of a kind, at each level."""
    for level in levels(graph):
        for number, layer in enumerate(level.layers):
            if layer.kind == kind:
                yield [call for call in level.calls if call.layer == number]


def _seen(graph: Graph, recursive: bool, chains: bool = True, generation: Generation | None = None) -> Iterator[Seen]:
    """The calls that are made of layers; with `chains`, those in Sequentials too."""
    generation = graph.generation or generation
    kinds = catalogue(generation)
    given = infer(graph, generation=generation)
    for number, call in enumerate(graph.calls if chains or not graph.sequential else ()):
        layer = graph.layers[call.layer]
        if layer.graph is not None and recursive:
            yield from _seen(layer.graph, recursive, chains, generation)
        elif layer.graph is not None or not isinstance(kinds.get(layer.kind), Operation):
            yield Seen(layer, call, fed(call, given), given[len(graph.inputs) + number])


def _in_its_config(layer: Layer, generation: Generation | None) -> bool:
    """Whether `from_config(get_config())` makes it again: nothing in it is a function, or was changed since.

    In Keras 2 a config is read back by the names of classes, and those of a script are not among them.
    """
    inside = [*made_layers(layer), *(all_layers(layer.graph) if layer.graph is not None else ())]
    if generation != "keras" and any(_family(each) == "custom" for each in inside):
        return False
    return not any(each.kind in _NOT_IN_CONFIG or each.marks for each in (layer, *inside))


_NOT_IN_CONFIG = ("Lambda", "RandomShear")
"""Kinds that `from_config` refuses what `get_config` says of."""


def _family(layer: Layer) -> str:
    return CATALOGUE[layer.kind].family if layer.kind in CATALOGUE else ""


def _has_operations(graph: Graph) -> bool:
    return any(_family(layer) == "operations" for layer in all_layers(graph))


def _of_one(seen: Seen) -> bool:
    """Whether it makes one tensor of floats of another, and nothing else is said of the call."""
    layer, call, takes, gives = seen
    plain = all(spec.dtype == "float32" and spec.rank > 0 for spec in (*takes, *gives))
    one = len(takes) == len(gives) == len(list(call_refs(call))) == 1 and not call.listed
    return plain and one and not call.kwargs and layer.dtype is None


def _distributed(seen: Seen, generation: Generation | None) -> bool:
    """Whether the layer does with each step alone what it does with all of them."""
    layer, _, takes, gives = seen
    kind = catalogue(generation).get(layer.kind)
    if kind is None or not _of_one(seen) or takes[0].rank < 2 or None in takes[0].shape:
        return False
    if "axis" in {**kind.options, **kind.more} or kind.family == "custom":
        return False  # A layer that is built has the number of its axis in its config; ours may not tell their shapes.
    step = (Spec(takes[0].shape[1:], takes[0].dtype),)
    made = kind.gives(step, layer) if kind.fits(step) else None
    return made is not None and len(made) == 1 and (takes[0].shape[0], *made[0].shape) == gives[0].shape
