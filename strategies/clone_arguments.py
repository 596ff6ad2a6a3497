"""Clone arguments: what `clonediff.strategies.graph.CloneArguments` asks for.

Owns the inputs of the model that is asked for, and what of the model that is cloned stands in it. Whether it can be
built is for Keras to say; what nobody says anything of is in `clonediff.strategies.no_oracle`; how they are
typed is known to `clonediff.harness.source`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from clonediff.strategies.asking import infer
from clonediff.strategies.graph import CloneArguments, Graph, Input, NewInputs, refs
from clonediff.strategies.kinds import Spec
from clonediff.strategies.kinds.lambdas import BATCH
from clonediff.strategies.targets import is_no_layer

INPUTS, CLONE, CALL, RECURSIVE = "new inputs", "clone functions", "call functions", "recursive cloning"
"""What `clone_model` can be given, as features."""

SPARSE, LATER = "sparse inputs", "later inputs"
"""That a release has such inputs, and that it makes inputs of what layers gave, as features."""

DTYPES = {
    "half": {"float32": "float16"},
    "double": {"float32": "float64", "int32": "int64"},
    "whole": {"float32": "int32"},
    "float": {"int32": "float32"},
}
"""What takes the place of an input's dtype."""

OTHER_SHAPES = ("batch", "wider", "transposed", "closed")
"""What takes the place of an input and is not of its shape."""

OPEN = 3
"""What a dimension that was left open becomes where it is closed."""
_IDS = 6
"""Whole numbers that take the place of floats are below."""


def makes_none(arguments: CloneArguments) -> bool:
    """Whether there is to be no clone, so that no model is asked for."""
    return bool(arguments.wrong) or (
        arguments.clone_function is not None and arguments.clone_function.change == "raises"
    )


_WRONG = {"function": CLONE, "nothing": CLONE, "subclass": CLONE, "call": CALL}
"""What each thing that is plainly wrong is an argument for, if not for the inputs or the model."""


def features_of(arguments: CloneArguments) -> Iterator[str]:
    """What a clone_model must be able to take for it."""
    asked = (
        (arguments.wrong, _WRONG.get(arguments.wrong, INPUTS)),
        (arguments.inputs, INPUTS),
        (arguments.inputs == "sparse", SPARSE),
        (arguments.inputs in ("made", "inner"), LATER),
        (arguments.clone_function, CLONE),
        (arguments.call_function, CALL),
        (arguments.recursive, RECURSIVE),
    )
    return (feature for asks, feature in asked if asks)


def keeps_layers(arguments: CloneArguments) -> bool:
    """Whether layers of the model itself stand in the clone, since this is what is asked for."""
    function = arguments.clone_function
    return function is not None and "kept" in (function.change, function.others)


def goes_inside(arguments: CloneArguments) -> bool:
    """Whether a clone function is asked about the layers of models within the model."""
    function = arguments.clone_function
    return arguments.recursive or (function is not None and function.recurses)


def within(arguments: CloneArguments) -> CloneArguments | None:
    """What a model within the model is cloned with; None where it is asked for as one layer.

    A function that clones it by itself hands on nothing but itself.
    """
    if arguments.recursive:
        return arguments
    return CloneArguments(clone_function=arguments.clone_function) if goes_inside(arguments) else None


def repeats(arguments: CloneArguments) -> bool:
    """Whether a clone that is cloned with these once more is asked to be what it is, with layers of its own."""
    clone, call = arguments.clone_function, arguments.call_function
    once = clone is not None and clone.change in ("renamed", "unwrapped", "nested", "model", "wrapped")
    return not (
        makes_none(arguments) or keeps_layers(arguments) or once or (call is not None and call.change in _IN_CALLS)
    )


_IN_CALLS = ("after", "before")


def inputs_of(graph: Graph) -> tuple[Input, ...]:
    """The inputs of the model that is asked for."""
    how: NewInputs = graph.clone_arguments.inputs if graph.clone_arguments is not None else ""
    if how in ("", "own"):
        return graph.inputs
    return tuple(_given(each, how, number) for number, each in enumerate(graph.inputs, start=1))


def _given(each: Input, how: NewInputs, number: int) -> Input:
    """What is given in the place of an input: another of its own, like it but for what is asked for."""
    new = structs.replace(each, around=None, name=None if each.name is None else f"given_{number}")
    match how:
        case "batch":
            return structs.replace(new, batch=BATCH)
        case "wider" if each.dtype == "float32":
            last = (size if size is None else size + 1 for size in each.shape[-1:])
            return structs.replace(new, shape=(*each.shape[:-1], *last))
        case "transposed":
            return structs.replace(new, shape=(*each.shape[-1:], *each.shape[:-1]))
        case "closed":
            return structs.replace(new, shape=tuple(OPEN if size is None else size for size in each.shape))
        case "sparse":
            return structs.replace(new, sparse=not each.sparse and _may_be_sparse(each))
        case "whole" if each.dtype in DTYPES[how]:
            return structs.replace(new, dtype=DTYPES[how][each.dtype], fill="ids", high=_IDS)
    return structs.replace(new, dtype=DTYPES.get(how, {}).get(each.dtype, each.dtype))


def _may_be_sparse(given: Input) -> bool:
    """Whether an input is a row of floats: more than that no layer takes sparse."""
    return given.dtype == "float32" and len(given.shape) == 1 and not (given.ragged or given.optional)


def inner_layer(graph: Graph) -> int | None:
    """The number of a layer that gives what is as the model's one input is: it is called once, and makes no mask.

    None where there is none, or where the input is taken twice.
    """
    if len(list(refs(graph.takes))) != 1:
        return None
    wanted = Spec(graph.inputs[0].shape, graph.inputs[0].dtype)
    uses = [call.layer for call in graph.calls]
    specs = infer(graph)
    for call, gives in zip(graph.calls, specs[1:], strict=True):
        layer = graph.layers[call.layer]
        plain = layer.graph is None and not is_no_layer(layer)
        if plain and uses.count(call.layer) == 1 and gives == (wanted,):
            return call.layer
    return None
