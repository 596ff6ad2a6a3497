"""The inputs that `clone_model` is given: what they are, and which suit a graph, so that the model can be built."""

from __future__ import annotations

from msgspec import structs

from strategies.chains import builds_within
from strategies.graph import (
    Array,
    Graph,
    Input,
    Items,
    MalformedGraph,
    NewInputs,
    Ref,
    all_layers,
    call_refs,
    leaves,
    levels,
    refs,
)
from strategies.kinds import CATALOGUE, Spec, Specs, catalogue
from strategies.kinds.lambdas import BATCH
from strategies.pruning import idle, pruned
from strategies.way_functions import UNKNOWN_WHOSE, says_a_default, typed

DTYPES = {
    "half": {"float32": "float16"},
    "double": {"float32": "float64", "int32": "int64"},
    "whole": {"float32": "int32"},
    "float": {"int32": "float32"},
}
"""What takes the place of an input's dtype: layers cast floats to the dtype that they compute in, and ids to theirs."""

_FLOATS_OF_ANYTHING = ("Dense", "LayerNormalization", "BatchNormalization", "LeakyReLU", "Rescaling")
"""Kinds that give floats for whole numbers as well."""
_IDS_OF_ANYTHING = ("Embedding",)
"""Kinds that make whole numbers of floats."""

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
    return _inputs(graph, graph.way.inputs) if graph.way is not None else graph.inputs


def inner_layer(graph: Graph) -> int | None:
    """The number of a layer that gives what is as the model's one input is: it is called once, and makes no mask.

    None where there is none, or where the input is taken twice.
    """
    if len(list(refs(graph.takes))) != 1:
        return None
    wanted = Spec(graph.inputs[0].shape, graph.inputs[0].dtype)
    uses = [call.layer for call in graph.calls]
    specs = typed(graph)
    for number, call in enumerate(graph.calls, start=1):
        kind = CATALOGUE.get(graph.layers[call.layer].kind)
        plain = kind is not None and kind.family not in ("custom", "operations", "lambdas")
        if plain and uses.count(call.layer) == 1 and call.outputs == 1 and specs[number][0] == wanted:
            return call.layer
    return None


def _inputs(graph: Graph, how: NewInputs) -> tuple[Input, ...]:
    if how in ("", "own"):
        return graph.inputs
    given = tuple(_given(each, how, number) for number, each in enumerate(graph.inputs, start=1))
    for node, each in enumerate(given if how in (*DTYPES, "sparse") else ()):
        other = _of_another_sort(graph, node, each, how)
        changed = (*given[:node], other, *given[node + 1 :])
        if other != each and _is_typed(_seen(graph, changed)):
            given = changed
    return given


def _of_another_sort(graph: Graph, node: int, given: Input, how: str) -> Input:
    if how == "sparse":
        return structs.replace(given, sparse=not given.sparse and _may_be_sparse(graph, node))
    other = structs.replace(given, dtype=DTYPES[how].get(given.dtype, given.dtype))
    return structs.replace(other, fill="ids", high=_IDS) if how == "whole" and other != given else other


_IDS = 6
"""Whole numbers that take the place of floats are below."""


def _seen(graph: Graph, inputs: tuple[Input, ...]) -> Graph:
    """The graph without its way, on these inputs as what they are used for sees them.

    Where each layer that is called on an input casts it, it is what it was.
    """
    seen = tuple(
        structs.replace(new, dtype=old.dtype) if new.dtype != old.dtype and _is_cast(graph, node, new) else new
        for node, (new, old) in enumerate(zip(inputs, graph.inputs, strict=True))
    )
    return graph if graph.way is None and seen == graph.inputs else structs.replace(graph, inputs=seen, way=None)


def _is_cast(graph: Graph, node: int, new: Input) -> bool:
    """Whether whole numbers come in the place of floats, or the other way round, and all that is done casts them."""
    kinds = {"int32": _FLOATS_OF_ANYTHING, "float32": _IDS_OF_ANYTHING}.get(new.dtype, ())
    return _only_used_by(graph, node, kinds)


def _only_used_by(graph: Graph, node: int, kinds: tuple[str, ...]) -> bool:
    """Whether an input is used, and only by plain calls of layers of these kinds, which have no dtype of their own."""
    if graph.inputs[node].optional or any(ref.node == node for ref in refs(graph.gives)):
        return False
    uses = [call for call in graph.calls if any(ref.node == node for ref in call_refs(call))]
    used_by = [graph.layers[call.layer] for call in uses if not call.kwargs]
    return (
        bool(uses)
        and len(used_by) == len(uses)
        and all(layer.kind in kinds and layer.dtype is None for layer in used_by)
    )


def _is_typed(graph: Graph) -> bool:
    try:
        typed(graph)
    except MalformedGraph:
        return False
    return True


def _may_be_sparse(graph: Graph, node: int) -> bool:
    """Whether an input is one row of floats, and all that is done with it is to call layers that take sparse ones."""
    given = graph.inputs[node]
    plain = given.dtype == "float32" and len(given.shape) == 1 and not given.ragged
    return plain and _only_used_by(graph, node, ("Dense",))


def _given(each: Input, how: str, number: int) -> Input:
    new = each if each.around is None else structs.replace(each, around=None)
    new = new if each.name is None else structs.replace(new, name=f"given_{number}")
    if how == "batch":
        return structs.replace(new, batch=BATCH)
    if how == "wider":
        return structs.replace(new, shape=(*each.shape[:-1], *(_wider(size, each) for size in each.shape[-1:])))
    if how == "closed":
        return structs.replace(new, shape=tuple(OPEN if size is None else size for size in each.shape))
    return new


def _wider(size: int | None, each: Input) -> int | None:
    return size if size is None or each.dtype != "float32" else size + 1


def unsuited_inputs(graph: Graph, how: NewInputs) -> str:
    """What is wrong with such inputs for a graph that has no way, "" where nothing is."""
    inputs = _inputs(graph, how)
    try:
        given = typed(_seen(graph, inputs))
    except MalformedGraph as error:
        return str(error)
    if how in (*DTYPES, "sparse"):
        return _unsuited_sort(graph, inputs, how)
    match how:
        case "wider":
            return _unsuited_wider(graph, inputs, given)
        case "turned" if not (isinstance(graph.takes, Items) and len(graph.takes.items) > 1):
            return "there is no dict to put in another order"
        case "turned" if graph.generation != "keras":
            return "before Keras 3 a list is documented, and no dict"
        case "closed" if not any(None in each.shape for each in graph.inputs):
            return "there is no open dimension to close"
        case "listed" if not isinstance(graph.takes, Ref) or graph.generation != "keras":
            return "in a list anyway"
        case "made" | "inner" if graph.generation == "keras2":
            return "Keras 2.2 follows such a tensor back to the input that it is made of"
        case "inner" if graph.state or inner_layer(graph) is None:
            return "no tensor that a layer gives is as the input is, or something is done to the model that calls it"
        case "made" | "inner" if not _begins_anywhere(graph):
            return "no model begins with such tensors"
        case "made" | "inner" if any(_idle_inputs(inner) for inner in levels(graph)):
            return "an input leads nowhere, in the model or in one within it"
        case "made" | "inner" if any(call.axis for level in levels(graph) for call in level.calls):
            return "what a model gives on a tensor of another rank is connected to no such input"
        case "batch" if any(each.batch is not None for each in graph.inputs):
            return "there is a batch already"
        case "batch" if builds_within(graph):
            return "a Sequential in the model is built by what comes of them, with that batch"
    return ""


def _has_models(graph: Graph) -> bool:
    return any(layer.graph is not None for layer in graph.layers)


def _idle_inputs(graph: Graph) -> bool:
    """Whether nothing that the model gives comes of an input, or it is given back."""
    inputs = range(len(graph.inputs))
    used = pruned(graph, keep_inputs=True)
    return any(ref.node in inputs for ref in refs(graph.gives)) or not idle(used).isdisjoint(inputs)


def _begins_anywhere(graph: Graph) -> bool:
    """Whether Keras makes a model of tensors that layers gave: of floats, in a list, used; and no output twice."""
    plain = all(
        given.dtype == "float32" and not given.optional and not given.sparse and given.shape for given in graph.inputs
    )
    listed = all(isinstance(each, Ref) for each in getattr(graph.takes, "items", (graph.takes,)))
    given = list(refs(graph.gives))
    return plain and listed and len(set(given)) == len(given) and not graph.sequential


def _has_constants(graph: Graph) -> bool:
    """Whether a tensor stands among its arguments."""
    values = [value for layer in all_layers(graph) for _, value in layer.args]
    values += [value for call in graph.calls for _, value in call.kwargs]
    return any(isinstance(each, Array) and each.tensor for value in values for each in leaves(value))


def _unsuited_sort(graph: Graph, inputs: tuple[Input, ...], how: str) -> str:
    """What is wrong with inputs of another dtype, or sparse ones."""
    if graph.generation == "keras2":
        return "Keras 2.2 casts nothing, and its inputs are not sparse"
    both = zip(inputs, graph.inputs, strict=True)
    if all((new.dtype, new.sparse) == (old.dtype, old.sparse) for new, old in both):
        return "there is none of another sort to give"
    if how in DTYPES and says_a_default(graph):
        return UNKNOWN_WHOSE
    if how in DTYPES and _beside_the_first(graph, inputs):
        return "a layer casts its first argument, and not what it is given beside it"
    if _has_models(graph):
        return "a model within the model has inputs of its own"
    return "a Sequential begins with a dense input" if graph.sequential and how == "sparse" else ""


def _beside_the_first(graph: Graph, inputs: tuple[Input, ...]) -> bool:
    """Whether an input that has another dtype stands in the keywords of a call, such as an initial state."""
    changed = {node for node, new in enumerate(inputs) if new.dtype != graph.inputs[node].dtype}
    keywords = (value for call in graph.calls for _, value in call.kwargs)
    return any(ref.node in changed for value in keywords for ref in refs(value))


def _unsuited_wider(graph: Graph, inputs: tuple[Input, ...], given: tuple[Specs, ...]) -> str:
    """What is wrong with wider inputs, on which the nodes give what is `given`."""
    if all(one.shape == other.shape for one, other in zip(inputs, graph.inputs, strict=True)):
        return "there is no width to add to"
    if _has_models(graph) or _has_constants(graph):
        return "a model within the model has a width of its own, and so have numbers"
    if any(True for call in graph.calls for _, value in call.kwargs for _ in refs(value)):
        return "an initial state has a width of its own"
    kinds = catalogue(graph.generation)
    for layer in all_layers(graph):
        kind = kinds.get(layer.kind)
        if kind is None or kind.family in ("custom", "operations") or kind.name not in _OF_ANY_WIDTH:
            return f"{layer.kind} may be made for one width"
    return ""
