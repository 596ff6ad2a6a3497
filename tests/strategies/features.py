"""What a graph can have, each as a question to a graph. A test asks all of them of what is drawn."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any

from clonediff.strategies import Graph, infer, to_json
from clonediff.strategies.cutting import later_inputs
from clonediff.strategies.graph import (
    Call,
    Form,
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
    levels,
    made_layers,
    refs,
)
from clonediff.strategies.kinds.arguments import PATHS
from clonediff.strategies.kinds.forms import OF_LAYERS
from clonediff.strategies.kinds.lambdas import FORMS, SHAPE_FORMS
from clonediff.strategies.kinds.objects import MODULES
from clonediff.strategies.kinds.operations import is_operation
from clonediff.strategies.pruning import idle, reached

Question = Callable[[Graph], bool]


def lambdas(graph: Graph) -> Iterator[Layer]:
    for each in levels(graph):
        yield from (layer for layer in each.layers if layer.kind == "Lambda")


def made_of(graph: Graph) -> Iterator[str]:
    for each in levels(graph):
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


def masked_call(graph: Graph, kinds: Collection[str]) -> bool:
    """Whether a layer of these kinds is called on a tensor that may carry a mask."""
    specs = infer(graph)
    return any(
        graph.layers[call.layer].kind in kinds and any(specs[ref.node][ref.output].mask for ref in call_refs(call))
        for call in graph.calls
    )


def after_lambda(graph: Graph, kinds: Collection[str]) -> bool:
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
        for each in levels(graph)
        for layer in each.layers
    )


def any_call(test: Callable[[Layer, Call], bool]) -> Question:
    return lambda graph: any(test(each.layers[call.layer], call) for each in levels(graph) for call in each.calls)


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


def is_nested(end: Value) -> bool:
    return isinstance(end, Seq) and any(isinstance(item, Seq) for item in end.items)


def is_input(graph: Graph, ref: Ref) -> bool:
    return ref.node < len(graph.inputs)


def a_ragged_end(graph: Graph) -> bool:
    given = infer(graph)
    ragged = [any(given[ref.node][ref.output].ragged for ref in fed_refs(call)) for call in graph.calls]
    made = given[len(graph.inputs) :]
    return any(before and not specs[0].ragged for before, specs in zip(ragged, made, strict=True))


@lru_cache(maxsize=4096)
def said(graph: Graph) -> frozenset[str]:
    """What a graph says of itself, as "calls axis=less"; of a model inside, as "inner calls axis=less"."""
    return frozenset(_said(json.loads(to_json(graph)), ""))


def _said(value: Any, path: str) -> Iterator[str]:
    match value:
        case {**fields}:
            if not fields:
                yield path
            for key, item in fields.items():
                yield from _said(item, "inner" if key == "graph" else f"{path} {key}".strip())
        case [str(name), item] if path.endswith("args"):
            yield from _said(item, f"{path} {name}")
        case [*items]:
            for item in items:
                yield from _said(item, path)
        case _:
            yield f"{path}={value}"


def says(pattern: str) -> Question:
    return lambda graph: any(re.fullmatch(pattern, each) for each in said(graph))


SAID = {
    "a model cut out": "base .*",
    "a model inside that is cut out": "inner base .*",
    "a Sequential that is built by its call": "inner built=later",
    "a Sequential that is built once it is made": "built=later",
    "a Sequential that is not built": "built=not yet",
    "a model that is given a list of one": "(inner )?calls packing=list",
    "a model that is given a tuple": "(inner )?calls packing=tuple",
    "a model that is given its inputs by keyword": "(inner )?calls packing=keyword",
    "a model that is given tensors by their names": "(inner )?calls packing=names",
    "a model that is given tensors by their names in another order": "(inner )?calls packing=turned",
    "a model that is given a tensor that it does not take": "(inner )?calls packing=further",
    "a model that is given an axis less": "(inner )?calls axis=less",
    "a model that is given an axis more": "(inner )?calls axis=more",
    "a model inside that takes a dict": "inner takes is=dict",
    "a model of a class with a call of its own": "(inner )?own calls=True",
    "a model of a registered class": "(inner )?own registered=True",
    "a model inside of a class of one's own": "inner own\\b.*",
    "inputs in a tuple": "takes form=tuple",
    "inputs in a dict": "takes is=dict",
    "outputs in a tuple": "gives form=tuple",
    "outputs in a dict": "gives is=dict",
    "a nested functional model": "layers kind=Model",
    "a nested sequential model": "layers kind=Sequential",
    "training given": "(inner )?calls kwargs training=True",
    "training given as None": "(inner )?calls kwargs training=None",
    "mask given as a tensor": "(inner )?calls kwargs mask is=ref",
    "initial_state given": "(inner )?calls kwargs initial_state .*",
    "states in a list": "(inner )?calls kwargs initial_state is=seq",
    "a number as argument": r"(inner )?calls kwargs by=\d.*",
    "None as argument": "(inner )?calls kwargs by=None",
    "a tuple as argument": "(inner )?calls kwargs by form=tuple",
    "an array as argument": "(inner )?calls kwargs by is=array",
    "a text as argument": "(inner )?calls kwargs how=double",
    "a dict as argument": "(inner )?calls kwargs how is=dict",
    "a whole number as argument": "(inner )?calls kwargs how=2",
    "a truth value as argument": "(inner )?calls kwargs how=True",
    "a tuple in a tuple as argument": "(inner )?calls kwargs how items=halved",
    "a dtype as argument": "(inner )?calls kwargs how is=named",
    "None among the tensors of a list": "(inner )?calls args items=None",
    "None between tensors": "(inner )?calls args=None",
    "tensors in a dict and a tuple": "(inner )?calls args is=dict",
    "a model named": "name=.*",
    "an input named": "inputs name=.*",
    "a dtype": "layers dtype=float64",
    "a policy": "layers dtype=mixed_bfloat16",
    "an input of float64": "inputs dtype=float64",
    "a frozen layer": "layers trainable=False",
    "a layer frozen later": "layers marks=frozen after",
    "a frozen inner model": "inner trainable=False",
    "a frozen model": "trainable=False",
    "a frozen layer in a wrapper": "layers args .* layer trainable=False",
    "supports_masking set by hand": "layers marks=supports_masking",
    "an activity regularizer": "layers args activity_regularizer.*",
    "an optional input": "inputs optional=True",
    "an optional input that the model is run without": "inputs fill=nothing",
    "an input around a tensor": "inputs around=.*",
    "a sparse input": "inputs sparse=True",
    "a ragged input": "inputs ragged=True",
    "a ragged input of a model inside": "inner inputs ragged=True",
    "a batch size": "inputs batch=.*",
    "an open dimension": "inputs shape=None",
    "a Lambda on two tensors": "(inner )?layers args function takes=2",
    "a Lambda with arguments=": "(inner )?layers args arguments .*",
    "a Lambda with output_shape": "(inner )?layers args output_shape is=seq",
    **{f"a Lambda with a {form}": f"(inner )?layers args output_shape form={form}" for form in SHAPE_FORMS},
    **{
        f"a Lambda that gives a {kind}": f"(inner )?layers args function container={kind}"
        for kind in ("list", "tuple", "dict", "nested")
    },
}
"""What a graph says in one place."""

FEATURES: dict[str, Question] = {
    **{name: says(pattern) for name, pattern in SAID.items()},
    "a Sequential and nothing around it": lambda graph: graph.sequential and graph.base is None,
    "a model cut out of a Sequential": lambda graph: graph.base is not None and graph.sequential,
    "a model that begins inside another": lambda graph: bool(later_inputs(graph)),
    "a layer that another model called first": called_elsewhere_first,
    "a layer twice in a Sequential": lambda graph: any(
        each.sequential and len(each.layers) < len(each.calls) for each in levels(graph)
    ),
    "a Sequential whose input has a name": lambda graph: any(
        each.sequential and each.inputs[0].name is not None for each in levels(graph)
    ),
    **{
        f"a model that is given {name}": any_call(
            lambda layer, call, name=name: layer.graph is not None and name in dict(call.kwargs)  # type: ignore[misc]  # bound early
        )
        for name in ("training", "mask")
    },
    "a model inside that casts": lambda graph: any(
        level.layers[call.layer].graph is not None and casts(level, call)
        for level in levels(graph)
        for call in level.calls
    ),
    **{
        f"a {model} of a class that {how}": lambda graph, chain=model == "Sequential", makes=makes: any(  # type: ignore[misc]  # bound early
            each.custom_class is not None and each.custom_class.makes == makes and each.sequential is chain
            for each in levels(graph)
        )
        for model, makes, how in (
            ("model", "", "inherits its constructor"),
            ("model", "option", "takes an option"),
            ("model", "parts", "makes its layers"),
            ("Sequential", "", "inherits its constructor"),
            ("Sequential", "parts", "makes its layers"),
        )
    },
    "several inputs": lambda graph: len(graph.inputs) > 1,
    "several outputs": lambda graph: len(list(refs(graph.gives))) > 1,
    "outputs in a list of one": lambda graph: isinstance(graph.gives, Seq) and len(graph.gives.items) == 1,
    "outputs nested": lambda graph: is_nested(graph.gives),
    "a shared layer": lambda graph: bool(shared(graph)),
    "shared at several depths": shared_at_depths,
    "shared on several shapes": shared_on_shapes,
    "calls in an order that is not their depth's": shallower_later,
    "models two deep": lambda graph: any(
        layer.graph is not None for each in [*levels(graph)][1:] for layer in each.layers
    ),
    "a shared model": lambda graph: any(graph.layers[layer].graph for layer in shared(graph)),
    "a tensor twice in a call": lambda graph: any(max(Counter(call_refs(call)).values()) > 1 for call in graph.calls),
    "an input that is an output": lambda graph: any(is_input(graph, ref) for ref in refs(graph.gives)),
    "an input twice": lambda graph: max(Counter(refs(graph.takes)).values()) > 1,
    "an output twice": lambda graph: max(Counter(refs(graph.gives)).values()) > 1,
    "calls that lead nowhere": lambda graph: any(node >= len(graph.inputs) for node in idle(graph)),
    **{
        f"{sort} in a form": lambda graph, sort=sort: any(  # type: ignore[misc]  # bound early
            isinstance(value, Form) and value.sort == sort for layer in graph.layers for _, value in layer.args
        )
        for sort in OF_LAYERS
    },
    "a policy in a form": lambda graph: any(isinstance(layer.dtype, Form) for layer in graph.layers),
    "a policy as a config": lambda graph: any(isinstance(layer.dtype, Items) for layer in graph.layers),
    "an activity regularizer in a form": lambda graph: any(
        isinstance(layer.arg("activity_regularizer"), Form) for layer in graph.layers
    ),
    "a form in a layer within another": lambda graph: any(
        isinstance(value, Form) for layer in graph.layers for inner in made_layers(layer) for _, value in inner.args
    ),
    **{
        f"{sort} of the release": lambda graph, sort=sort: any(  # type: ignore[misc]  # bound early
            isinstance(value, Named) and value.path.startswith(MODULES[sort]) and value.path not in PATHS
            for layer in graph.layers
            for _, value in layer.args
        )
        for sort in OF_LAYERS
        if sort in MODULES
    },
    "an operation": lambda graph: any(layer.graph is None and is_operation(layer.kind) for layer in graph.layers),
    "a layer named": lambda graph: any(layer.name for layer in graph.layers if layer.graph is None),
    "ragged ids": lambda graph: any(given.ragged and given.dtype == "int32" for given in graph.inputs),
    "a ragged output": lambda graph: any(infer(graph)[ref.node][ref.output].ragged for ref in refs(graph.gives)),
    "a ragged tensor into a layer that gives a dense one": a_ragged_end,
    "a mask into a layer that uses it": lambda graph: masked_call(graph, {"LSTM", "GRU", "UseMask"}),
    "a mask into a layer that drops it": lambda graph: masked_call(graph, {"Flatten", "DropMask", "Permute"}),
    "a mask into a layer that changes it": lambda graph: masked_call(graph, {"ChangeMask"}),
    "a mask into a Lambda": lambda graph: masked_call(graph, {"Lambda"}),
    "a masked Lambda before a layer that uses masks": lambda graph: after_lambda(
        graph, {"LSTM", "GRU", "SimpleRNN", "UseMask", "Attention", "Bidirectional", "RNN"}
    ),
    "a masked Lambda before one that hands masks on": lambda graph: after_lambda(
        graph, {"Dense", "Activation", "Add", "Dropout", "Scale", "Concatenate"}
    ),
    "a Lambda whose outputs are swapped": any_lambda(lambda layer: function(layer).gives == ("x * 2.0", "x")),
    "a Lambda that gives one tensor twice": any_lambda(lambda layer: function(layer).gives == ("x", "x")),
    **{
        f"a Lambda of the form {form!r}": any_lambda(lambda layer, form=form: function(layer).form == form)  # type: ignore[misc]  # bound early
        for form in FORMS
    },
    "a Lambda that gives a one": any_lambda(lambda layer: function(layer).container == "one"),
    **{
        f"a Lambda with {count} outputs": any_lambda(lambda layer, n=count: len(function(layer).gives) == n)  # type: ignore[misc]  # bound early
        for count in (1, 2, 3, 4)
    },
    **{
        f"a {mask or 'mask-less'} Lambda with {'one output' if one else 'several outputs'}": any_lambda(
            lambda layer, mask=mask, one=one: mask_form(layer) == mask and (len(function(layer).gives) == 1) == one  # type: ignore[misc]  # bound early
        )
        for mask in ("", "mask lambda", "mask named", "mask registered", "fixed")
        for one in (True, False)
    },
}
