"""A clone with its calls made once more, one of them otherwise: what the planted faults of a graph stand on."""

from __future__ import annotations

from typing import Any, Callable

from ...structure import leaves, map_leaves
from .. import TrialContext

Call = Callable[..., Any]
"""Called with (layer, use, args, kwargs): the layer to call instead, and the arguments to call it with."""


def layers_of(model: Any, context: TrialContext) -> list[Any]:
    """Every layer of a model, those of nested models and wrappers too, in order."""
    framework, found, seen = context.framework, [], set()
    waiting = [model]
    while waiting:
        holder = waiting.pop(0)
        members = framework.members(holder) if framework.is_graph(holder) else []
        for layer in list(members) + framework.held(holder):
            if id(layer) not in seen:
                seen.add(id(layer))
                found.append(layer)
                waiting.append(layer)
    return found


def nodes_of(model: Any, context: TrialContext) -> dict[int, list[Any]]:
    """The nodes of a graph by the id of their layer, each layer's in its own order."""
    framework = context.framework
    mine = {id(node) for node in framework.graph_nodes(model)}
    return {
        id(layer): [node for node in framework.layer_nodes(layer) if id(node) in mine]
        for layer in framework.members(model)
    }


def mentioned(value: Any, context: TrialContext) -> list[Any]:
    """The symbolic tensors in nested arguments."""
    return [leaf for leaf in leaves(value) if context.framework.is_symbolic(leaf)]


def rewired(
    model: Any,
    context: TrialContext,
    call: Call | None = None,
    ends: Callable[[Any], Any] | None = None,
    backwards: bool = False,
) -> Any:
    """The graph with its calls made again. `ends` changes the structure of outputs.

    With `backwards`, a layer's later calls come before its earlier ones wherever they do not depend on them.
    """
    framework = context.framework
    inputs, outputs = framework.structures(model)
    tensors = {id(tensor): tensor for tensor in framework.ends(model)[0]}
    waiting = [
        (layer, use, node)
        for layer in framework.members(model)
        for use, node in enumerate(nodes_of(model, context)[id(layer)])
        if any(framework.arguments(node)) and any(id(output) not in tensors for output in framework.outputs(node))
    ]
    last = {id(layer): use for layer, use, _ in waiting}
    done: dict[int, set[int]] = {}

    def in_turn(entry: tuple[Any, int, Any]) -> bool:
        layer, use, _ = entry
        made = done.get(id(layer), set())
        return all(other in made for other in (range(use + 1, last[id(layer)] + 1) if backwards else range(use)))

    while waiting:
        ready = [
            entry
            for entry in waiting
            if all(id(tensor) in tensors for tensor in mentioned(framework.arguments(entry[2]), context))
        ]
        entry = next((entry for entry in ready if in_turn(entry)), ready[0])
        waiting.remove(entry)
        layer, use, node = entry
        done.setdefault(id(layer), set()).add(use)
        args, kwargs = (
            map_leaves(lambda leaf: tensors[id(leaf)] if framework.is_symbolic(leaf) else leaf, part)
            for part in framework.arguments(node)
        )
        called = layer
        if call is not None:
            called, args, kwargs = call(layer, use, args, kwargs)
        called(*args, **kwargs)
        made = framework.layer_nodes(called)[-1]
        tensors.update(zip(map(id, framework.outputs(node)), framework.outputs(made)))
    new_outputs = map_leaves(lambda tensor: tensors[id(tensor)], outputs)
    result = framework.model(inputs, ends(new_outputs) if ends else new_outputs, model.name)
    flag = "_trainable" if hasattr(model, "_trainable") else "trainable"
    setattr(result, flag, getattr(model, flag))
    return result
