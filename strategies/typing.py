"""The shape, dtype and mask of every tensor in a graph, or where the graph makes no sense.

Owns what the rules of `strategies.graph` cannot say, because it takes the catalogue: that each layer is a known kind
and accepts what it is called on. Drawn graphs have it by construction; a graph from a file is held against it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strategies.calling import packings, taken_dtype, taken_shapes, unsuited_axis
from strategies.chains import can_be_built
from strategies.cutting import apart, as_input, check_cut, later_inputs
from strategies.graph import (
    Call,
    Function,
    Graph,
    Input,
    Items,
    Layer,
    Made,
    MalformedGraph,
    Named,
    Ref,
    Seq,
    Value,
    call_refs,
    fed_refs,
    refs,
)
from strategies.kinds import LEFT_OUT, NO_SENSE, Generation, Kind, Spec, Specs, catalogue, fill, masked_by_call
from strategies.kinds.arguments import NEEDS, PATHS, REFUSES
from strategies.own_models import check_own
from strategies.pruning import ends_of

DEEPEST = 8
"""How many models may be nested in one another: more is a file made to hurt."""


def infer(
    graph: Graph, where: str = "graph", depth: int = 0, generation: Generation | None = None
) -> tuple[Specs, ...]:
    """What each node gives. Raises `MalformedGraph`, with the call that is wrong.

    `generation` is the one that the graph around this one was drawn for.
    """
    generation = graph.generation or generation
    kinds = catalogue(generation)
    if depth > DEEPEST:
        raise MalformedGraph(f"{where}: expected at most {DEEPEST} models inside one another")
    given: list[Specs] = [(spec_of(each),) for each in graph.inputs]
    if wrong := next(filter(None, map(_unsuited_input, graph.inputs)), ""):
        raise MalformedGraph(f"{where}.inputs: {wrong}")
    models: dict[int, Specs] = {}
    for number, call in enumerate(graph.calls):
        layer = graph.layers[call.layer]
        place = f"{where}.calls[{number}]"
        specs = fed(call, given)
        _check_kwargs(call, specs, given, place)
        if layer.graph is None:
            if call.packing or call.axis:
                raise MalformedGraph(f"{place}.packing: expected none, and no axis, of a call of {layer.kind}")
            outputs = _layer(kinds, layer, call, specs, place)
        else:
            _check_takes(layer.graph, call, specs, place, generation)
            if call.layer not in models:
                models[call.layer] = _model(layer, place, depth, generation)
            outputs = models[call.layer]
        if len(outputs) != call.outputs:
            raise MalformedGraph(f"{place}.outputs: expected {len(outputs)} from {layer.kind}, found {call.outputs}")
        given.append(outputs)
    if any(not _can_be_given(graph, ref, given[ref.node][ref.output]) for ref in ends_of(graph)):
        raise MalformedGraph(
            f"{where}.gives: expected no sparse or ragged input, and none that the model is run without"
        )
    if unsuited_axis(graph, generation, depth):
        raise MalformedGraph(f"{where}.axis: expected layers of any rank, and nothing called on what they give")
    if graph.sequential:
        _check_chain(graph, where, generation)
        if graph.built and not can_be_built(graph, graph.built):
            raise MalformedGraph(f"{where}.built: expected an input of the dtype that its first layer gives one")
    check_own(graph, tuple(given[ref.node][ref.output] for ref in refs(graph.gives)), where, generation)
    if graph.base is not None:
        check_cut(graph, given, where, generation)
        alone = apart(graph, given)
        assert alone is not None
        infer(alone, f"{where}, without its base", depth, generation)  # where it begins there are no masks
        if depth and later_inputs(graph):
            raise MalformedGraph(f"{where}.takes: expected inputs of the base, where it is called in another model")
    return tuple(given)


def taken(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the graph's model, in its order; what a call gave is taken as an input like it."""
    specs = infer(graph) if graph.base is not None else ()
    given = [
        graph.inputs[ref.node] if ref.node < len(graph.inputs) else as_input(specs[ref.node][ref.output])
        for ref in refs(graph.takes)
    ]
    return tuple(each for each in given if each is not None)


def fed(call: Call, specs: Sequence[Specs]) -> Specs:
    """The tensors that a call is fed, where `specs` has what each node gives, with the mask that the call gives."""
    return masked_by_call(tuple(specs[ref.node][ref.output] for ref in fed_refs(call)), dict(call.kwargs))


def _can_be_given(graph: Graph, ref: Ref, spec: Spec) -> bool:
    return spec.usual or (spec.ragged and ref.node >= len(graph.inputs) and graph.base is None)


def _unsuited_input(given: Input) -> str:
    """What is wrong with an input by itself, "" where nothing is."""
    if given.fill == "nothing" and not given.optional:
        return "expected an optional one, where the model is run without it"
    if given.ragged and (given.shape[:1] != (None,) or given.sparse or given.optional or given.around is not None):
        return "expected a ragged one to have an open dimension first, and to be nothing else"
    return ""


def spec_of(given: Input) -> Spec:
    """An input as the catalogue sees it."""
    return Spec(given.shape, given.dtype, absent=given.fill == "nothing", sparse=given.sparse, ragged=given.ragged)


def _check_kwargs(call: Call, specs: Specs, given: Sequence[Specs], place: str) -> None:
    """A further tensor is like the first, and no other keyword takes what the model is run without."""
    for key, value in call.kwargs:
        for ref in refs(value):
            spec = given[ref.node][ref.output]
            if key == "other" and (spec.shape, spec.dtype) != (specs[0].shape, specs[0].dtype):
                raise MalformedGraph(f"{place}.kwargs: expected a tensor like the first as {key!r}")
            if any(each.ragged for each in (*specs, spec)) or spec.sparse or (key != "other" and spec.absent):
                raise MalformedGraph(f"{place}.kwargs: expected a dense tensor that the model is run with as {key!r}")


def _layer(kinds: Mapping[str, Kind], layer: Layer, call: Call, specs: Specs, place: str) -> Specs:
    kind = kinds.get(layer.kind)
    if kind is None:
        raise MalformedGraph(f"{place}: expected a kind of the catalogue, found {layer.kind!r}")
    if call.listed != kind.listed(len(specs)):
        raise MalformedGraph(f"{place}.args: expected {'no' if call.listed else 'one'} list for {layer.kind}")
    if kind.pass_as in ("nested", "gapped", "apart") and call.args != kind.packed(tuple(fed_refs(call))):
        raise MalformedGraph(f"{place}.args: expected tensors as {layer.kind} takes them")
    for key, value in layer.args:
        _check_inner(kinds, value, f"{place}, argument {key!r} of {layer.kind}")
    _check_options(layer, kind, place)
    for key, _ in call.kwargs:
        if key not in (*kind.calls, *kind.call_options):
            raise MalformedGraph(f"{place}.kwargs: {layer.kind} takes no {key!r} here")
    try:
        outputs = fill(specs, layer, kind)
    except NO_SENSE as error:
        raise MalformedGraph(f"{place}: the arguments of {layer.kind} make no sense: {error!r}") from None
    if outputs is None:
        shapes = ", ".join(f"{spec.dtype}{list(spec.shape)}" for spec in specs)
        raise MalformedGraph(f"{place}: {layer.kind} cannot be called on {shapes}")
    return outputs


def _check_options(layer: Layer, kind: Kind, place: str) -> None:
    """Arguments are those that the kind has, each once; one that it always gives is there.

    One is a whole number where all that the kind gives are.
    """
    given = dict(layer.args)
    known = {*kind.options, *kind.more, "activity_regularizer", "autocast", *_ARRANGED.get(kind.name, ())}
    for key, _ in layer.args:
        if key not in known:
            raise MalformedGraph(f"{place}: {layer.kind} takes no argument {key!r} here")
    if len(given) < len(layer.args):
        raise MalformedGraph(f"{place}: expected each argument of {layer.kind} once")
    for key, (needed, _) in NEEDS.items():
        if key in given and needed not in given:
            raise MalformedGraph(f"{place}: expected {needed!r} of {layer.kind}, which {key!r} needs")
    for key, others in REFUSES.items():
        if key in given and not given.keys().isdisjoint(others):
            raise MalformedGraph(f"{place}: expected no {' and no '.join(others)} of {layer.kind} beside {key!r}")
    if kind.arrange is not None:
        return
    for key, values in kind.options.items():
        if key not in given:
            if LEFT_OUT not in values:
                raise MalformedGraph(f"{place}: expected the argument {key!r} of {layer.kind}")
        elif all(type(value) is int for value in values) and type(given[key]) is not int:
            raise MalformedGraph(f"{place}: expected a whole number as {key!r} of {layer.kind}, found {given[key]!r}")


_ARRANGED = {
    "Lambda": ("function", "arguments"),
    "Permute": ("dims",),
    "IntegerLookup": ("idf_weights", "oov_token"),
    "StringLookup": ("idf_weights", "invert"),
}
"""Arguments that follow from the tensors, and are no options."""

_CELLS = frozenset(("SimpleRNNCell", "GRUCell", "LSTMCell", "LeakyCell"))


def _check_inner(kinds: Mapping[str, Kind], value: Value, place: str) -> None:
    """Layers within arguments are of the catalogue too, or cells; functions are for `Lambda` to check."""
    match value:
        case Made(layer=inner):
            kind = kinds.get(inner.kind)
            if inner.kind == "StackedRNNCells":
                if [key for key, _ in inner.args] != ["cells"]:
                    raise MalformedGraph(f"{place}: expected `cells` of {inner.kind}, and nothing else")
            elif inner.kind in _CELLS:
                if [key for key, _ in inner.args] != ["units"] or type(inner.arg("units")) is not int:
                    raise MalformedGraph(f"{place}: expected `units` of {inner.kind}, a whole number, and nothing else")
            elif inner.kind == "Sequential":
                if [key for key, _ in inner.args] != ["layers"] or not isinstance(inner.arg("layers"), Seq):
                    raise MalformedGraph(f"{place}: expected `layers` of {inner.kind}, a list, and nothing else")
            elif kind is None or kind.family == "operations":
                raise MalformedGraph(f"{place}: expected a kind of the catalogue or a cell, found {inner.kind!r}")
            else:
                _check_options(inner, kind, place)
            for _, item in inner.args:
                _check_inner(kinds, item, place)
        case Seq(items=items):
            for item in items:
                _check_inner(kinds, item, place)
        case Items(items=pairs):
            for _, item in pairs:
                _check_inner(kinds, item, place)
        case Named(path=path) if path not in PATHS:
            raise MalformedGraph(f"{place}: expected one of {', '.join(sorted(PATHS))}, found {path!r}")
        case Named(args=args):
            for _, item in args or ():
                _check_inner(kinds, item, place)
        case Ref():
            raise MalformedGraph(f"{place}: expected no tensor in a constructor")
        case Function() if not value.gives:
            raise MalformedGraph(f"{place}: expected at least one expression")


def _check_takes(graph: Graph, call: Call, specs: Specs, place: str, generation: Generation | None) -> None:
    if not all(spec.suits_models for spec in specs):
        raise MalformedGraph(f"{place}: expected dense tensors that the model is run with")
    if call.packing and call.packing not in packings(graph, generation):
        raise MalformedGraph(f"{place}.packing: the model does not take its tensors as {call.packing!r}")
    if not {name for name, _ in call.kwargs} <= (set() if generation == "keras2" else {"training", "mask"}):
        raise MalformedGraph(f"{place}.kwargs: a model takes nothing else but `training` and `mask`")
    shapes = taken_shapes(call, specs)
    if shapes is None:
        raise MalformedGraph(f"{place}.axis: expected tensors with an axis of 1 at their end, and another")
    inputs = graph.inputs if graph.base is None else tuple(graph.inputs[ref.node] for ref in refs(graph.takes))
    wanted = [(each.shape, each.dtype) for each in inputs]
    dtypes = [taken_dtype(each, spec.dtype) for each, spec in zip(inputs, specs, strict=False)]
    found = list(zip(shapes, dtypes, strict=False))
    if wanted != found or len(specs) != len(found):
        raise MalformedGraph(f"{place}: expected tensors of {wanted}, found {found}")
    if [each.ragged for each in inputs] != [spec.ragged for spec in specs]:
        raise MalformedGraph(f"{place}: expected a ragged tensor for each ragged input, and for no other")
    if any(each.ragged for each in inputs) and (call.axis or call.kwargs):
        raise MalformedGraph(f"{place}: expected nothing beside the tensors of a model that takes a ragged one")


def _model(layer: Layer, place: str, depth: int, generation: Generation | None) -> Specs:
    assert layer.graph is not None
    given = infer(layer.graph, f"{place}.{layer.kind}", depth + 1, generation)
    return tuple(given[ref.node][ref.output] for ref in refs(layer.graph.gives))


def _check_chain(graph: Graph, where: str, generation: Generation | None) -> None:
    """A Sequential: each layer on what the one before it gave; some Keras have a layer in it more than once."""
    for number, call in enumerate(graph.calls):
        if list(call_refs(call)) != [Ref(number)] or call.kwargs or call.outputs != 1:
            raise MalformedGraph(f"{where}.calls[{number}]: expected a chain, since the model is sequential")
    if len(graph.layers) < len(graph.calls) and (graph.base is not None or generation == "keras2"):
        raise MalformedGraph(f"{where}: expected each layer once, since the model is sequential")
    gives = graph.gives if graph.base is None else graph.base.gives
    if len(graph.inputs) != 1 or list(refs(gives)) != [Ref(len(graph.calls))]:
        raise MalformedGraph(f"{where}: expected one input and the last output, since the model is sequential")
