"""Planted faults in what `clone_model` does with its other arguments."""

from __future__ import annotations

from typing import Any, Callable

from .. import TrialContext


def argument_input_tensors(model: Any, context: TrialContext) -> Any:
    """structure: the clone is built upon inputs of its own, whatever tensors it is given."""
    return _without(model, context, "input_tensors")


def argument_clone_function(model: Any, context: TrialContext) -> Any:
    """structure: layers are made from their configs, whatever the clone function would give."""
    return _without(model, context, "clone_function")


def argument_call_function(model: Any, context: TrialContext) -> Any:
    """structure: layers are called plainly, whatever the call function would do."""
    return _without(model, context, "call_function")


def argument_recursive(model: Any, context: TrialContext) -> Any:
    """structure: a model within the model is asked for as one layer."""
    return _without(model, context, "recursive")


def argument_not_compiled(model: Any, context: TrialContext) -> Any:
    """structure: the clone on other inputs is not compiled."""
    clone = context.framework.fixed()(model, **context.arguments())
    clone.compiled = False
    return clone


def argument_recursive_once(model: Any, context: TrialContext) -> Any:
    """structure: a model within a model within the model is asked for as one layer."""
    given = context.arguments()
    return _with_models(model, context, {name: each for name, each in given.items() if name != "recursive"})


def argument_call_function_kept_back(model: Any, context: TrialContext) -> Any:
    """structure: the layers of a model within the model are called plainly."""
    return _with_models(model, context, {"clone_function": context.arguments()["clone_function"], "recursive": True})


def argument_stale_mask(model: Any, context: TrialContext) -> Any:
    """structure: a call has the mask that the layer before it gave in the original, though that layer is another."""
    clone = context.framework.fixed()(model, **context.arguments())
    for layer, new in zip(model.layers, clone.layers):
        for node, its in zip(layer._inbound_nodes, new._inbound_nodes):
            if node.arguments.kwargs.get("mask") is not None:
                its.arguments.kwargs["mask"] = node.arguments.kwargs["mask"]
    return clone


def argument_rewired(model: Any, context: TrialContext) -> Any:
    """untouched: the tensors that are given come from new input layers afterwards."""
    clone = context.framework.fixed()(model, **context.arguments())
    for number, tensor in enumerate(model.inputs):
        context.framework.keras.layers.InputLayer(input_tensor=tensor, name="rewired_%d" % number)
    return clone


def argument_asked_again(model: Any, context: TrialContext) -> Any:
    """functions: the clone function is asked for each layer once more."""
    return _asking(model, context, lambda layer: isinstance(layer, context.framework.keras.layers.InputLayer))


def argument_asked_of_inputs(model: Any, context: TrialContext) -> Any:
    """functions: the clone function is asked for the input layers."""
    return _asking(model, context, lambda layer: not isinstance(layer, context.framework.keras.layers.InputLayer))


def argument_copied_again(model: Any, context: TrialContext) -> Any:
    """functions: what the clone function gives is made once more, from its config."""
    given = context.arguments()
    function = given["clone_function"]

    def clone_function(layer: Any) -> Any:
        new = function(layer)
        return new.__class__.from_config(new.get_config())

    return context.framework.fixed()(model, **dict(given, clone_function=clone_function))


def argument_answers_kept(model: Any, context: TrialContext) -> Any:
    """again: a layer for which the clone function gave one before is not asked for again."""
    given = context.arguments()
    function = given["clone_function"]
    answers = context.__dict__.setdefault("answers", {})

    def clone_function(layer: Any) -> Any:
        if id(layer) not in answers:
            answers[id(layer)] = function(layer)
        return answers[id(layer)]

    return context.framework.fixed()(model, **dict(given, clone_function=clone_function))


def argument_error_swallowed(model: Any, context: TrialContext) -> Any:
    """functions: where a function raises, the model is cloned without it."""
    try:
        return context.framework.fixed()(model, **context.arguments())
    except Exception:  # the fault that is planted
        return context.framework.fixed()(model)


def argument_named_alike(model: Any, context: TrialContext) -> Any:
    """structure: a layer that the clone function gives has the name of the layer that it was asked for."""
    given = context.arguments()
    function = given["clone_function"]

    def clone_function(layer: Any) -> Any:
        new = function(layer)
        new.name = layer.name
        return new

    return context.framework.fixed()(model, **dict(given, clone_function=clone_function))


def argument_built_as_before(model: Any, context: TrialContext) -> Any:
    """made: a layer that the clone function gives is built on the shape that the layer before was built on."""
    given = context.arguments()
    function = given["clone_function"]

    def clone_function(layer: Any) -> Any:
        new = function(layer)
        new.build(layer.input.shape)
        return new

    return context.framework.fixed()(model, **dict(given, clone_function=clone_function))


def argument_one_at_a_time(model: Any, context: TrialContext) -> Any:
    """structure: a model that is cloned while another is being cloned is cloned without a function."""
    others = _AT_WORK[:]
    _AT_WORK.append(model)
    try:
        return context.framework.fixed()(model, **({} if others else context.arguments()))
    finally:
        _AT_WORK.pop()


_AT_WORK: list[Any] = []


def _with_models(model: Any, context: TrialContext, inside: dict[str, Any]) -> Any:
    """A clone in which models within the model are clones with these arguments."""
    given, fixed = context.arguments(), context.framework.fixed()
    function = given["clone_function"]

    def clone_function(layer: Any) -> Any:
        return fixed(layer, **inside) if context.framework.is_graph(layer) else function(layer)

    return fixed(model, **dict(given, clone_function=clone_function, recursive=False))


def _asking(model: Any, context: TrialContext, but_for: Callable[[Any], bool]) -> Any:
    given = context.arguments()
    for layer in context.framework.members(model):
        if context.framework.is_layer(layer) and not but_for(layer):
            given["clone_function"](layer)
    return context.framework.fixed()(model, **given)


def _without(model: Any, context: TrialContext, name: str) -> Any:
    given = context.arguments()
    given.pop(name, None)
    return context.framework.fixed()(model, **given)
