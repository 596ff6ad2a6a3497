"""Faults in the graph of a clone: its calls, their arguments and order, what is shared, what goes in and out.

A Sequential has no calls of its own to make again: it is left as it is.
"""

from __future__ import annotations

from typing import Any, Callable

from .. import TrialContext
from .rewiring import layers_of, mentioned, nodes_of, rewired


def crash_on_outputs(model: Any, clone: Any, context: TrialContext) -> None:
    """made: raises on a layer that gives several tensors, as Keras 2.2.4 did."""
    framework = context.framework
    for layer in layers_of(model, context):
        for node in framework.layer_nodes(layer):
            if type(layer).__name__ == "Lambda" and len(framework.outputs(node)) > 1:
                raise AssertionError("Could not compute output %s" % type(layer).__name__)


def layer_shared_with_original(model: Any, clone: Any, context: TrialContext) -> Any:
    """own: uses the original's last layer with weights instead of a clone of it."""
    theirs = {layer.name: layer for layer in context.framework.members(model) if getattr(layer, "weights", None)}
    if not theirs:
        return None
    last = list(theirs)[-1]
    return rewired(
        clone, context, lambda layer, use, args, kwargs: (theirs[last] if layer.name == last else layer, args, kwargs)
    )


def layer_shared_between_clones(model: Any, clone: Any, context: TrialContext) -> Any:
    """again: uses, from the second clone on, the first one's last layer with weights."""
    first = vars(context).setdefault("first_clone", clone)
    return None if first is clone else layer_shared_with_original(first, clone, context)


def layer_unshared(model: Any, clone: Any, context: TrialContext) -> Any:
    """weights: a second call of a layer becomes the call of a layer of its own."""
    calls = nodes_of(clone, context)
    shared = [layer for layer in context.framework.members(clone) if len(calls[id(layer)]) > 1]
    shared = [layer for layer in shared if hasattr(layer, "weights") and not context.framework.is_graph(layer)]
    if not shared:
        return None
    with context.framework.objects(context.known):
        config = dict(shared[0].get_config(), name=shared[0].name + "_again")
        twin = type(shared[0]).from_config(config)
    return rewired(
        clone, context, lambda layer, use, args, kwargs: (twin if layer is shared[0] and use else layer, args, kwargs)
    )


def layer_unshared_across_models(model: Any, clone: Any, context: TrialContext) -> Any:
    """sharing: a layer of the graph that a nested model has too becomes a layer of its own."""
    framework = context.framework
    members = framework.members(clone)
    inner = {id(layer) for each in members if framework.is_graph(each) for layer in framework.members(each)}
    shared = [layer for layer in members if id(layer) in inner and getattr(layer, "weights", None)]
    if not shared:
        return None
    with framework.objects(context.known):
        twin = type(shared[0]).from_config(shared[0].get_config())
    return rewired(
        clone, context, lambda layer, use, args, kwargs: (twin if layer is shared[0] else layer, args, kwargs)
    )


def calls_in_another_order(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: makes the calls of a shared layer in another order."""
    if all(len(nodes) < 2 for nodes in nodes_of(clone, context).values()):
        return None
    return rewired(clone, context, backwards=True)


def mask_argument_dropped(model: Any, clone: Any, context: TrialContext) -> Any:
    """outputs: drops a mask that was given to a call by keyword."""

    def is_mask(name: str, value: Any) -> bool:
        return name.endswith("mask") and value is not None and not isinstance(value, bool)

    return _without_keywords(clone, context, is_mask)


def initial_state_dropped(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: calls a recurrent layer without its initial state."""

    def call(layer: Any, use: int, args: Any, kwargs: Any) -> Any:
        if hasattr(layer, "return_sequences") and args and isinstance(args[0], (list, tuple)):
            args = (args[0][0], *args[1:])  # where Keras puts it beside the sequence
        return layer, args, {name: value for name, value in kwargs.items() if name != "initial_state"}

    recurrent = [layer for layer in layers_of(clone, context) if hasattr(layer, "return_sequences")]
    return rewired(clone, context, call) if recurrent else None


def mask_of_another_call(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: calls each layer with the mask that the first call by such a keyword had."""
    masks: list[Any] = []

    def call(layer: Any, use: int, args: Any, kwargs: Any) -> Any:
        if kwargs.get("mask") is not None:
            masks.append(kwargs["mask"])
            kwargs = dict(kwargs, mask=masks[0])
        return layer, args, kwargs

    calls = [context.framework.arguments(node)[1] for node in context.framework.graph_nodes(clone)]
    return rewired(clone, context, call) if sum(kwargs.get("mask") is not None for kwargs in calls) > 1 else None


def keyword_dropped(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: drops the plain keyword arguments of every call."""
    return _without_keywords(clone, context, lambda name, value: not mentioned(value, context))


def tuple_becomes_list(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: turns the tuples in a call's arguments into lists."""

    def listed(value: Any) -> Any:
        return [listed(item) for item in value] if isinstance(value, (list, tuple)) else value

    def call(layer: Any, use: int, args: Any, kwargs: Any) -> Any:
        return layer, tuple(listed(each) for each in args), {name: listed(each) for name, each in kwargs.items()}

    calls = [context.framework.arguments(node) for node in context.framework.graph_nodes(clone)]
    if not any(isinstance(each, tuple) for args, kwargs in calls for each in [*args, *kwargs.values()]):
        return None
    return rewired(clone, context, call)


def names_of_tensors_lost(model: Any, clone: Any, context: TrialContext) -> Any:
    """structure: calls a model on a list of the tensors that the original gives it by their names."""
    is_graph = context.framework.is_graph

    def call(layer: Any, use: int, args: Any, kwargs: Any) -> Any:
        if is_graph(layer) and args and isinstance(args[0], dict):
            args = (list(args[0].values()), *args[1:])
        return layer, args, kwargs

    nodes = nodes_of(clone, context)
    inner = [layer for layer in context.framework.members(clone) if is_graph(layer)]
    first = [args[0] for layer in inner for node in nodes[id(layer)] for args in context.framework.arguments(node)[:1]]
    return rewired(clone, context, call) if any(isinstance(each, dict) for each in first) else None


def repetition_lost(model: Any, clone: Any, context: TrialContext) -> Any:
    """outputs: gives an output once that the original gives twice."""

    def once(outputs: Any) -> Any:
        kept = {id(tensor): tensor for tensor in outputs}.values()
        return tuple(kept) if isinstance(outputs, tuple) else list(kept)

    outputs = context.framework.structures(clone)[1]
    if not isinstance(outputs, (list, tuple)) or len(once(outputs)) == len(outputs):
        return None
    return rewired(clone, context, ends=once)


def names_of_outputs_lost(model: Any, clone: Any, context: TrialContext) -> Any:
    """outputs: gives a list where the original gives a dict."""
    if not isinstance(context.framework.structures(clone)[1], dict):
        return None
    return rewired(clone, context, ends=lambda outputs: list(outputs.values()))


def outputs_reversed(model: Any, clone: Any, context: TrialContext) -> Any:
    """outputs: gives the model's outputs in the other order."""
    outputs = context.framework.structures(clone)[1]
    if not isinstance(outputs, (list, tuple)) or len(outputs) < 2:
        return None
    return rewired(clone, context, ends=lambda tensors: list(tensors)[::-1])


def _without_keywords(clone: Any, context: TrialContext, goes: Callable[[str, Any], bool]) -> Any:
    def call(layer: Any, use: int, args: Any, kwargs: Any) -> Any:
        return layer, args, {name: value for name, value in kwargs.items() if not goes(name, value)}

    keywords = [context.framework.arguments(node)[1] for node in context.framework.graph_nodes(clone)]
    found = any(goes(name, value) for each in keywords for name, value in each.items())
    return rewired(clone, context, call) if found else None
