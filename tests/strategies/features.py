"""What a graph can have, each as a question to a graph. A test asks all of them of what is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

from clonediff.strategies import Graph, graphs, infer
from clonediff.strategies.cutting import later_inputs
from clonediff.strategies.graph import (
    Array,
    Call,
    Function,
    Items,
    Layer,
    Made,
    Named,
    Ref,
    Seq,
    Value,
    call_refs,
    fed_refs,
    refs,
)
from clonediff.strategies.kinds import Generation
from clonediff.strategies.kinds.lambdas import FORMS, SHAPE_FORMS
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.pieces import Piece, pieces_of
from clonediff.strategies.programs import Program
from clonediff.strategies.pruning import idle, reached
from tests.asked import kinds_of, lowered

Question = Callable[[Graph], bool]


def every(graph: Graph) -> Iterator[Graph]:
    """The graph and all graphs in it."""
    yield graph
    for layer in graph.layers:
        if layer.graph is not None:
            yield from every(layer.graph)


def lambdas(graph: Graph) -> Iterator[Layer]:
    for each in every(graph):
        yield from (layer for layer in each.layers if layer.kind == "Lambda")


def made_of(graph: Graph) -> Iterator[str]:
    for each in every(graph):
        for layer in each.layers:
            yield layer.kind
            for _, value in layer.args:
                if isinstance(value, Made):
                    yield value.layer.kind


def calls_of(graph: Graph, layer: int) -> list[Call]:
    return [call for call in graph.calls if call.layer == layer]


def shared(graph: Graph) -> list[int]:
    return [layer for layer in range(len(graph.layers)) if len(calls_of(graph, layer)) > 1]


def depths(graph: Graph) -> list[int]:
    found = [0] * len(graph.inputs)
    for call in graph.calls:
        found.append(1 + max(found[ref.node] for ref in call_refs(call)))
    return found


def shared_at_depths(graph: Graph) -> bool:
    found = depths(graph)[len(graph.inputs) :]
    of = {layer: {found[n] for n, call in enumerate(graph.calls) if call.layer == layer} for layer in shared(graph)}
    return any(len(each) > 1 for each in of.values())


def shallower_later(graph: Graph) -> bool:
    """Whether a layer is called deep in the graph first, and nearer to the inputs then."""
    found = depths(graph)[len(graph.inputs) :]
    of = [[found[n] for n, call in enumerate(graph.calls) if call.layer == layer] for layer in shared(graph)]
    return any(each != sorted(each) for each in of)


def shared_on_shapes(graph: Graph) -> bool:
    specs = infer(graph)
    for layer in shared(graph):
        shapes = {tuple(specs[ref.node][ref.output].shape for ref in call_refs(c)) for c in calls_of(graph, layer)}
        if len(shapes) > 1:
            return True
    return False


def called_elsewhere_first(graph: Graph) -> bool:
    """Whether the first call of a layer is another model's, and a later one is the model's own."""
    own = reached(graph)[0]
    return graph.base is not None and any(
        calls[0] not in own and not own.isdisjoint(calls)
        for calls in (
            [len(graph.inputs) + n for n, call in enumerate(graph.calls) if call.layer == layer]
            for layer in shared(graph)
        )
    )


def kwarg(graph: Graph, name: str, test: Callable[[Value], bool] = lambda value: True) -> bool:
    return any(
        key == name and test(value) for each in every(graph) for call in each.calls for key, value in call.kwargs
    )


def masked_call(graph: Graph, kinds: frozenset[str]) -> bool:
    """Whether a layer of these kinds is called on a tensor that may carry a mask."""
    specs = infer(graph)
    return any(
        graph.layers[call.layer].kind in kinds and any(specs[ref.node][ref.output].mask for ref in call_refs(call))
        for call in graph.calls
    )


def after_lambda(graph: Graph, kinds: frozenset[str]) -> bool:
    """Whether a layer of these kinds follows a Lambda that has a mask."""
    made = {
        len(graph.inputs) + n
        for n, call in enumerate(graph.calls)
        if graph.layers[call.layer].kind == "Lambda" and graph.layers[call.layer].arg("mask") is not None
    }
    return any(
        graph.layers[call.layer].kind in kinds and any(ref.node in made for ref in call_refs(call))
        for call in graph.calls
    )


def function(layer: Layer) -> Function:
    value = layer.arg("function")
    assert isinstance(value, Function)
    return value


def any_lambda(test: Callable[[Layer], bool]) -> Question:
    return lambda graph: any(test(layer) for layer in lambdas(graph))


def any_operation(test: Callable[[Layer], bool]) -> Question:
    return lambda graph: any(
        layer.graph is None and is_operation(layer.kind) and test(layer)
        for each in every(graph)
        for layer in each.layers
    )


def any_call(test: Callable[[Layer, Call], bool]) -> Question:
    return lambda graph: any(test(each.layers[call.layer], call) for each in every(graph) for call in each.calls)


def casts(graph: Graph, call: Call) -> bool:
    """Whether a model takes a tensor in another dtype than it is given it in, where that is an input's."""
    inner = graph.layers[call.layer].graph
    assert inner is not None
    fed = [graph.inputs[ref.node].dtype if is_input(graph, ref) else "" for ref in fed_refs(call)]
    inputs = inner.inputs if inner.base is None else [inner.inputs[ref.node] for ref in refs(inner.takes)]
    return any(dtype not in ("", given.dtype) for dtype, given in zip(fed, inputs, strict=True))


def mask_form(layer: Layer) -> str:
    mask = layer.arg("mask")
    if isinstance(mask, Function):
        return mask.form
    return "fixed" if mask is not None else ""


def is_input(graph: Graph, ref: Ref) -> bool:
    return ref.node < len(graph.inputs)


def a_ragged_output(graph: Graph) -> bool:
    return any(infer(graph)[ref.node][ref.output].ragged for ref in refs(graph.gives))


def a_ragged_end(graph: Graph) -> bool:
    given = infer(graph)
    ragged = [any(given[ref.node][ref.output].ragged for ref in fed_refs(call)) for call in graph.calls]
    made = given[len(graph.inputs) :]
    return any(before and not specs[0].ragged for before, specs in zip(ragged, made, strict=True))


FEATURES: dict[str, Question] = {
    "a Sequential and nothing around it": lambda graph: graph.sequential and graph.base is None,
    "a model cut out": lambda graph: graph.base is not None,
    "a model inside that is cut out": lambda graph: any(
        each.base is not None for each in every(graph) if each is not graph
    ),
    "a model cut out of a Sequential": lambda graph: graph.base is not None and graph.sequential,
    "a model that begins inside another": lambda graph: bool(later_inputs(graph)),
    "a layer that another model called first": called_elsewhere_first,
    "a layer twice in a Sequential": lambda graph: any(
        each.sequential and len(each.layers) < len(each.calls) for each in every(graph)
    ),
    "a Sequential that is built by its call": lambda graph: any(
        each.built == "later" for each in every(graph) if each is not graph
    ),
    "a Sequential that is built once it is made": lambda graph: graph.built == "later",
    "a Sequential whose input has a name": lambda graph: any(
        each.sequential and each.inputs[0].name is not None for each in every(graph)
    ),
    "a Sequential that is not built": lambda graph: graph.built == "not yet",
    **{
        f"a model that is given {said}": any_call(lambda _, call, packing=packing: call.packing == packing)  # type: ignore[misc]  # bound early
        for packing, said in {
            "list": "a list of one",
            "tuple": "a tuple",
            "keyword": "its inputs by keyword",
            "names": "tensors by their names",
            "turned": "tensors by their names in another order",
            "further": "a tensor that it does not take",
        }.items()
    },
    **{
        f"a model that is given {name}": any_call(
            lambda layer, call, name=name: layer.graph is not None and name in dict(call.kwargs)  # type: ignore[misc]  # bound early
        )
        for name in ("training", "mask")
    },
    "a model that is given an axis less": any_call(lambda _, call: call.axis == "less"),
    "a model that is given an axis more": any_call(lambda _, call: call.axis == "more"),
    "a model inside that takes a dict": lambda graph: any(
        isinstance(each.takes, Items) for each in every(graph) if each is not graph
    ),
    "a model inside that casts": lambda graph: any(
        level.layers[call.layer].graph is not None and casts(level, call)
        for level in every(graph)
        for call in level.calls
    ),
    **{
        f"a {model} of a class that {said}": lambda graph, chain=model == "Sequential", makes=makes: any(  # type: ignore[misc]  # bound early
            each.own is not None and each.own.makes == makes and each.sequential is chain for each in every(graph)
        )
        for model, makes, said in (
            ("model", "", "inherits its constructor"),
            ("model", "option", "takes an option"),
            ("model", "parts", "makes its layers"),
            ("Sequential", "", "inherits its constructor"),
            ("Sequential", "parts", "makes its layers"),
        )
    },
    "a model of a class with a call of its own": lambda graph: any(
        each.own and each.own.calls for each in every(graph)
    ),
    "a model of a registered class": lambda graph: any(each.own and each.own.registered for each in every(graph)),
    "a model inside of a class of one's own": lambda graph: any(
        each.own is not None for each in every(graph) if each is not graph
    ),
    "several inputs": lambda graph: len(graph.inputs) > 1,
    "several outputs": lambda graph: len(list(refs(graph.gives))) > 1,
    "inputs in a tuple": lambda graph: isinstance(graph.takes, Seq) and graph.takes.form == "tuple",
    "inputs in a dict": lambda graph: isinstance(graph.takes, Items),
    "outputs in a list of one": lambda graph: isinstance(graph.gives, Seq) and len(graph.gives.items) == 1,
    "outputs in a tuple": lambda graph: isinstance(graph.gives, Seq) and graph.gives.form == "tuple",
    "outputs in a dict": lambda graph: isinstance(graph.gives, Items),
    "outputs nested": lambda graph: (
        isinstance(graph.gives, Seq) and any(isinstance(item, Seq) for item in graph.gives.items)
    ),
    "a shared layer": lambda graph: bool(shared(graph)),
    "shared at several depths": shared_at_depths,
    "shared on several shapes": shared_on_shapes,
    "a nested functional model": lambda graph: any(layer.kind == "Model" for layer in graph.layers),
    "a nested sequential model": lambda graph: any(layer.kind == "Sequential" for layer in graph.layers),
    "models two deep": lambda graph: any(
        inner.graph is not None for layer in graph.layers if layer.graph for inner in layer.graph.layers
    ),
    "a shared model": lambda graph: any(graph.layers[layer].graph for layer in shared(graph)),
    "training given": lambda graph: kwarg(graph, "training", lambda value: value is True),
    "training given as None": lambda graph: kwarg(graph, "training", lambda value: value is None),
    "mask given as a tensor": lambda graph: kwarg(graph, "mask", lambda value: isinstance(value, Ref)),
    "initial_state given": lambda graph: kwarg(graph, "initial_state"),
    "a number as argument": lambda graph: kwarg(graph, "by", lambda value: isinstance(value, float)),
    "None as argument": lambda graph: kwarg(graph, "by", lambda value: value is None),
    "a tuple as argument": lambda graph: kwarg(graph, "by", lambda value: isinstance(value, Seq)),
    "an array as argument": lambda graph: kwarg(graph, "by", lambda value: isinstance(value, Array)),
    "a text as argument": lambda graph: kwarg(graph, "how", lambda value: isinstance(value, str)),
    "a dict as argument": lambda graph: kwarg(graph, "how", lambda value: isinstance(value, Items)),
    "a whole number as argument": lambda graph: kwarg(graph, "how", lambda value: type(value) is int),
    "a truth value as argument": lambda graph: kwarg(graph, "how", lambda value: value is True),
    "a tuple in a tuple as argument": lambda graph: kwarg(
        graph, "how", lambda value: isinstance(value, Seq) and isinstance(value.items[0], Seq)
    ),
    "a dtype as argument": lambda graph: kwarg(graph, "how", lambda value: isinstance(value, Named)),
    "states in a list": lambda graph: kwarg(graph, "initial_state", lambda value: isinstance(value, Seq)),
    "None among the tensors of a list": any_call(
        lambda _, call: isinstance(call.args[0], Seq) and None in call.args[0].items
    ),
    "None between tensors": any_call(lambda _, call: None in call.args),
    "tensors in a dict and a tuple": any_call(lambda _, call: isinstance(call.args[0], Items)),
    "calls in an order that is not their depth's": shallower_later,
    "a tensor twice in a call": lambda graph: any(max(Counter(call_refs(call)).values()) > 1 for call in graph.calls),
    "an input that is an output": lambda graph: any(is_input(graph, ref) for ref in refs(graph.gives)),
    "an output twice": lambda graph: max(Counter(refs(graph.gives)).values()) > 1,
    "calls that lead nowhere": lambda graph: any(node >= len(graph.inputs) for node in idle(graph)),
    "an operation": lambda graph: any(layer.graph is None and is_operation(layer.kind) for layer in graph.layers),
    "a layer named": lambda graph: any(layer.name for layer in graph.layers if layer.graph is None),
    "a model named": lambda graph: graph.name is not None,
    "an input named": lambda graph: any(given.name for given in graph.inputs),
    "a dtype": lambda graph: any(layer.dtype == "float64" for layer in graph.layers),
    "a policy": lambda graph: any(layer.dtype == "mixed_bfloat16" for layer in graph.layers),
    "an input of float64": lambda graph: any(given.dtype == "float64" for given in graph.inputs),
    "a frozen layer": lambda graph: any(not layer.trainable for layer in graph.layers),
    "a layer frozen later": lambda graph: any("frozen after" in layer.marks for layer in graph.layers),
    "a frozen inner model": lambda graph: any(layer.graph and not layer.graph.trainable for layer in graph.layers),
    "a frozen model": lambda graph: not graph.trainable,
    "a frozen layer in a wrapper": lambda graph: any(
        isinstance(value, Made) and not value.layer.trainable for layer in graph.layers for _, value in layer.args
    ),
    "supports_masking set by hand": lambda graph: any("supports_masking" in layer.marks for layer in graph.layers),
    "an activity regularizer": lambda graph: any(layer.arg("activity_regularizer") for layer in graph.layers),
    "an optional input": lambda graph: any(given.optional for given in graph.inputs),
    "an optional input that the model is run without": lambda graph: any(
        given.fill == "nothing" for given in graph.inputs
    ),
    "an input around a tensor": lambda graph: any(given.around for given in graph.inputs),
    "a sparse input": lambda graph: any(given.sparse for given in graph.inputs),
    "a ragged input": lambda graph: any(given.ragged for given in graph.inputs),
    "ragged ids": lambda graph: any(given.ragged and given.dtype == "int32" for given in graph.inputs),
    "a ragged output": lambda graph: a_ragged_output(graph),
    "a ragged input of a model inside": lambda graph: any(
        given.ragged for each in every(graph) if each is not graph for given in each.inputs
    ),
    "a ragged tensor into a layer that gives a dense one": lambda graph: a_ragged_end(graph),
    "an input twice": lambda graph: max(Counter(refs(graph.takes)).values()) > 1,
    "a batch size": lambda graph: any(given.batch for given in graph.inputs),
    "an open dimension": lambda graph: any(None in given.shape for given in graph.inputs),
    "a mask into a layer that uses it": lambda graph: masked_call(graph, frozenset({"LSTM", "GRU", "UseMask"})),
    "a mask into a layer that drops it": lambda graph: masked_call(
        graph, frozenset({"Flatten", "DropMask", "Permute"})
    ),
    "a mask into a layer that changes it": lambda graph: masked_call(graph, frozenset({"ChangeMask"})),
    "a mask into a Lambda": lambda graph: masked_call(graph, frozenset({"Lambda"})),
    "a masked Lambda before a layer that uses masks": lambda graph: after_lambda(
        graph, frozenset({"LSTM", "GRU", "SimpleRNN", "UseMask", "Attention", "Bidirectional", "RNN"})
    ),
    "a masked Lambda before one that hands masks on": lambda graph: after_lambda(
        graph, frozenset({"Dense", "Activation", "Add", "Dropout", "Scale", "Concatenate"})
    ),
    "a Lambda on two tensors": any_lambda(lambda layer: function(layer).takes == 2),
    "a Lambda whose outputs are swapped": any_lambda(lambda layer: function(layer).gives == ("x * 2.0", "x")),
    "a Lambda that gives one tensor twice": any_lambda(lambda layer: function(layer).gives == ("x", "x")),
    "a Lambda with arguments=": any_lambda(lambda layer: layer.arg("arguments") is not None),
    "a Lambda with output_shape": any_lambda(lambda layer: isinstance(layer.arg("output_shape"), Seq)),
    **{
        f"a Lambda with a {form}": any_lambda(
            lambda layer, form=form: getattr(layer.arg("output_shape"), "form", "") == form
        )  # type: ignore[misc]  # bound early
        for form in SHAPE_FORMS
    },
    **{
        f"a Lambda with {count} outputs": any_lambda(lambda layer, n=count: len(function(layer).gives) == n)  # type: ignore[misc]  # bound early
        for count in (1, 2, 3, 4)
    },
    **{
        f"a Lambda of the form {form!r}": any_lambda(lambda layer, form=form: function(layer).form == form)  # type: ignore[misc]  # bound early
        for form in FORMS
    },
    **{
        f"a Lambda that gives a {kind}": any_lambda(lambda layer, kind=kind: function(layer).container == kind)  # type: ignore[misc]  # bound early
        for kind in ("list", "tuple", "dict", "nested", "one")
    },
    **{
        f"a {mask or 'mask-less'} Lambda with {'one output' if one else 'several outputs'}": any_lambda(
            lambda layer, mask=mask, one=one: mask_form(layer) == mask and (len(function(layer).gives) == 1) == one  # type: ignore[misc]  # bound early
        )
        for mask in ("", "mask lambda", "mask named", "mask registered", "fixed")
        for one in (True, False)
    },
}


@cache
def offered(generation: Generation) -> tuple[Piece, ...]:
    """The pieces that a generation has all layers for."""
    return pieces_of(kinds_of(generation), graphs.FEATURES, (), 4, 24)


@cache
def kinds_called(piece: Piece, generation: Generation) -> list[str]:
    """The kinds of the layers that a piece calls, in order."""
    whole = lowered(Program(piece.inputs, piece.body, ends=3, generation=generation))
    return [whole.layers[call.layer].kind for call in whole.calls]


def begins_with(graph: Graph, generation: Generation) -> Iterator[str]:
    """The pieces whose calls, all of them and in their order, are the first of the graph's."""
    kinds = [graph.layers[call.layer].kind for call in graph.calls]
    for piece in offered(generation):
        its = kinds_called(piece, generation)
        if kinds[: len(its)] == its:
            yield piece.name
