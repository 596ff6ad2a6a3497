"""Ways to clone: which suit a graph, and what each asks for.

Owns what `strategies.graph.Way` means for the tensors of a model. What a way asks for is the same model with a change
in it: a layer replaced, a call inserted, an input exchanged. Here it is known which of these can be built; the text of
such a model is written by `harness.source`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from strategies.graph import (
    Array,
    Graph,
    Input,
    Items,
    MalformedGraph,
    Ref,
    Way,
    all_layers,
    call_refs,
    from_json,
    leaves,
    refs,
)
from strategies.kinds import Specs, catalogue
from strategies.kinds.kind import TAKES_SPARSE
from strategies.kinds.lambdas import BATCH
from strategies.pruning import idle
from strategies.states import unsuited_state
from strategies.typing import infer
from strategies.way_functions import calls_seen, typed, unsuited_call, unsuited_clone

INPUTS, CLONE, CALL, RECURSIVE = "new inputs", "clone functions", "call functions", "recursive cloning"
"""What `clone_model` can be given, as features."""

SPARSE = "sparse inputs"
"""That a release has such inputs, as a feature."""

DTYPES = {"half": {"float32": "float16"}, "double": {"float32": "float64", "int32": "int64"}}
"""What takes the place of an input's dtype: layers cast floats to the dtype that they compute in, and ids to theirs."""

OPEN = 3
"""What a dimension that was left open becomes where it is closed."""

_OF_ANY_WIDTH = (
    "Dense",
    "Activation",
    "ReLU",
    "Dropout",
    "LayerNormalization",
    "BatchNormalization",
    "Flatten",
    "LSTM",
    "GRU",
    "SimpleRNN",
    "GlobalAveragePooling1D",
    "GlobalMaxPooling1D",
    "Masking",
    "Add",
    "Concatenate",
)
"""Kinds that are made without a word of how wide their tensors are, and built by the first."""


def inputs_of(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the model that is asked for."""
    how = graph.way.inputs if graph.way is not None else ""
    if how in ("", "own"):
        return graph.inputs
    named = graph.generation == "keras2"  # which calls the original's inputs as well, and takes no name twice
    given = tuple(_given(each, how, number, named) for number, each in enumerate(graph.inputs, start=1))
    for node, each in enumerate(given if how in (*DTYPES, "sparse") else ()):
        if how == "sparse":
            other = structs.replace(each, sparse=not each.sparse and _may_be_sparse(graph, node))
        else:
            other = structs.replace(each, dtype=DTYPES[how].get(each.dtype, each.dtype))
        changed = (*given[:node], other, *given[node + 1 :])
        if other != each and _is_typed(structs.replace(graph, inputs=changed, way=None)):
            given = changed
    return given


def _is_typed(graph: Graph) -> bool:
    try:
        typed(graph)
    except MalformedGraph:
        return False
    return True


def _may_be_sparse(graph: Graph, node: int) -> bool:
    """Whether an input is one row of floats, and all that is done with it is to call layers that take sparse ones."""
    given = graph.inputs[node]
    given_back = any(ref.node == node for ref in refs(graph.gives))
    if given.dtype != "float32" or len(given.shape) != 1 or given.optional or given_back:
        return False
    uses = [call for call in graph.calls if any(ref.node == node for ref in call_refs(call))]
    return bool(uses) and all(graph.layers[call.layer].kind in TAKES_SPARSE and not call.kwargs for call in uses)


def _given(each: Input, how: str, number: int, named: bool) -> Input:
    # One without a name has the same number as the one that it stands for, once names are counted anew.
    new = each if each.around is None else structs.replace(each, around=None)
    new = new if each.name is None and not named else structs.replace(new, name=f"given_{number}")
    if how == "batch":
        return structs.replace(new, batch=BATCH)
    if how == "wider":
        return structs.replace(new, shape=(*each.shape[:-1], *(_wider(size, each) for size in each.shape[-1:])))
    if how == "closed":
        return structs.replace(new, shape=tuple(OPEN if size is None else size for size in each.shape))
    return new


def _wider(size: int | None, each: Input) -> int | None:
    return size if size is None or each.dtype != "float32" else size + 1


def makes_none(way: Way) -> bool:
    """Whether there is to be no clone, so that no model is asked for."""
    return bool(way.wrong) or (way.clone_function is not None and way.clone_function.change == "raises")


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
    plain = all(
        given.dtype == "float32" and not given.optional and not given.sparse and given.shape for given in graph.inputs
    )
    listed = all(isinstance(each, Ref) for each in getattr(graph.takes, "items", (graph.takes,)))
    given = list(refs(graph.gives))
    return plain and listed and len(set(given)) == len(given) and not graph.sequential and not _idle_inputs(graph)


_WRONG: dict[str, str] = {
    "function": CLONE,
    "call": CALL,
    "nothing": CLONE,
    "text": INPUTS,
    "numbers": INPUTS,
    "more": INPUTS,
    "no model": INPUTS,
    "models": INPUTS,
    "subclass": CLONE,
}
"""What each thing that is plainly wrong is an argument for; where it is the model, what every release takes."""

_NO_MODELS = ("no model", "models")


def features_of(way: Way) -> Iterator[str]:
    """What a clone_model must be able to take for it."""
    if way.wrong:
        yield _WRONG[way.wrong]
    if way.inputs:
        yield INPUTS
    if way.inputs == "sparse":
        yield SPARSE
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


def repeats(way: Way) -> bool:
    """Whether a clone that is cloned in this way once more is asked to be what it is, with layers of its own."""
    clone, call = way.clone_function, way.call_function
    once = clone is not None and clone.change in ("renamed", "nested", "model")
    return not (makes_none(way) or keeps_layers(way) or once or (call is not None and call.change in _IN_CALLS))


_IN_CALLS = ("after", "before")


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


def read_example(text: str | bytes, where: str) -> Graph:
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
    if way.wrong:
        return _unsuited_wrong(graph, way)
    try:
        typed(structs.replace(graph, inputs=inputs_of(graph), way=None))
    except MalformedGraph as error:
        return f".inputs: {error}"
    if way.inputs == "wider" and (wrong := _unsuited_wider(graph)):
        return f".inputs: {wrong}"
    if way.inputs in (*DTYPES, "sparse") and (wrong := _unsuited_sort(graph, way.inputs)):
        return f".inputs: {wrong}"
    if way.inputs == "turned" and not (isinstance(graph.takes, Items) and len(graph.takes.items) > 1):
        return ".inputs: there is no dict to put in another order"
    if way.inputs == "turned" and graph.generation != "keras":
        return ".inputs: before Keras 3 a list is documented, and no dict"
    if way.inputs == "closed" and not any(None in each.shape for each in graph.inputs):
        return ".inputs: there is no open dimension to close"
    if way.inputs == "listed" and (not isinstance(graph.takes, Ref) or graph.generation != "keras"):
        return ".inputs: in a list anyway"
    if way.inputs == "made" and not _begins_anywhere(graph):
        return ".inputs: no model begins with such tensors"
    if way.inputs == "batch" and any(each.batch is not None for each in graph.inputs):
        return ".inputs: there is a batch already"
    plain = (Way(inputs="fresh"), Way(inputs="own"), Way(inputs="batch"), Way(inputs="sparse"))
    if any(each.sparse for each in graph.inputs) and way not in plain:
        return ": what stands in the place of a layer, or is made, takes dense tensors"
    nested = any(layer.graph is not None for layer in graph.layers)
    if way.recursive and not nested:
        return ".recursive: there is no model within the model"
    if graph.generation == "keras2" and (nested or _has_constants(graph)):
        return ": inputs and constants would have other numbers than in a model made by hand"
    seen = list(calls_seen(graph, way.recursive))
    if way.clone_function is not None and (wrong := unsuited_clone(graph, way.clone_function, seen)):
        return f".clone_function: {wrong}"
    if way.call_function is not None and (wrong := unsuited_call(graph, way.call_function)):
        return f".call_function: {wrong}"
    return ""


def _unsuited_wrong(graph: Graph, way: Way) -> str:
    if way != Way(wrong=way.wrong):
        return ".wrong: expected nothing beside it"
    if graph.generation == "keras2" and way.wrong not in _NO_MODELS:
        return ".wrong: Keras 2.2 looks at nothing but the model"
    if _WRONG[way.wrong] != INPUTS and not list(calls_seen(graph, False)):
        return ".wrong: there is no layer to ask for"
    if way.wrong == "numbers" and graph.generation != "keras":
        return ".wrong: before Keras 3, numbers are wrapped in an input"
    return ""


def _unsuited_sort(graph: Graph, how: str) -> str:
    """What is wrong with inputs of another dtype, or sparse ones."""
    if graph.generation == "keras2":
        return "Keras 2.2 casts nothing, and its inputs are not sparse"
    both = zip(inputs_of(graph), graph.inputs, strict=True)
    if all((new.dtype, new.sparse) == (old.dtype, old.sparse) for new, old in both):
        return "there is none of another sort to give"
    if any(layer.graph is not None for layer in graph.layers):
        return "a model within the model has inputs of its own"
    return "a Sequential begins with a dense input" if graph.sequential and how == "sparse" else ""


def _unsuited_wider(graph: Graph) -> str:
    if inputs_of(graph) == graph.inputs or all(
        one.shape == other.shape for one, other in zip(inputs_of(graph), graph.inputs, strict=True)
    ):
        return "there is no width to add to"
    if any(layer.graph is not None for layer in graph.layers) or _has_constants(graph):
        return "a model within the model has a width of its own, and so have numbers"
    kinds = catalogue(graph.generation)
    for layer in all_layers(graph):
        kind = kinds.get(layer.kind)
        if kind is None or kind.family in ("custom", "operations") or kind.name not in _OF_ANY_WIDTH:
            return f"{layer.kind} may be made for one width"
    return ""
