"""Which models learn by a step of training: what they give has a gradient for a weight, and nothing is in its way."""

from __future__ import annotations

from collections.abc import Iterator

from strategies.graph import Graph, Layer, Made, Ref, all_layers, call_refs, levels, refs
from strategies.kinds import CATALOGUE, Generation
from strategies.kinds.operations import is_operation
from strategies.typing import fed, infer

_WITH_WEIGHTS = frozenset(
    (
        *("Dense", "EinsumDense", "Embedding", "PReLU", "LayerNormalization", "BatchNormalization"),
        *("Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"),
        *("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "MultiHeadAttention"),
    )
)
"""Kinds that learn whatever their arguments are, but for a normalization with neither scale nor center."""
_BARE = ("scale", "center")

_OPERATORS = "half negative add subtract multiply divide absolute slice of_batch first positive"
_FUNCTIONS = (
    "abs add subtract multiply maximum minimum exp tanh sigmoid relu elu gelu silu softplus softsign square sin cos "
    "softmax log_softmax sum mean max min reshape transpose expand_dims squeeze flip roll tile repeat pad concatenate "
    "stack split take where clip cast matmul dot einsum tensordot normalize average_pool max_pool cumsum copy negative"
)
_LET_THROUGH = frozenset(
    (*(f"operator.{name}" for name in _OPERATORS.split()), *(f"ops.{name}" for name in _FUNCTIONS.split()))
)
"""The operations of which TensorFlow always knows a gradient."""
_BLOCK = ("images", "signals", "lambdas")
"""Families of layers of which it does not; a Lambda may use only one of the tensors that it is called on."""
_OTHERWISE_IN_TRAINING = frozenset(("RandomCrop", "RandomHeight", "RandomWidth"))
"""Kinds that give another shape in training."""


def learns(graph: Graph) -> bool:
    """Whether a step of training changes a weight of a graph's model, and nothing is in the way of its gradient."""
    if any(layer.kind in _OTHERWISE_IN_TRAINING for layer in all_layers(graph)):
        return False
    if any(_computes_in_two_dtypes(level, graph.generation) for level in levels(graph)):
        return False
    if graph.generation == "keras2" and any(map(_leaves_an_output, levels(graph))):
        return False
    if any(_masks_another_axis(level, graph.generation) for level in levels(graph)):
        return False
    learned = _learned(graph, graph.generation)
    return graph.trainable and any(ref.node in learned for ref in refs(graph.gives))


def _leaves_an_output(graph: Graph) -> bool:
    """Whether nothing takes an output that has weights of its own: Keras 2 asks for the gradient of every weight."""
    taken = {ref for call in graph.calls for ref in call_refs(call)}.union(refs(graph.gives))
    return any(
        Ref(number, output) not in taken
        for number, call in enumerate(graph.calls, start=len(graph.inputs))
        if graph.layers[call.layer].graph is not None or graph.layers[call.layer].kind == "Bidirectional"
        for output in range(call.outputs)
    )


def _masks_another_axis(graph: Graph, generation: Generation | None) -> bool:
    """Whether a model is called with another axis on what has a mask, which a loss cannot weigh what it gives with."""
    called = [call for call in graph.calls if call.axis]
    specs = infer(graph) if called else ()
    return any(spec.mask for call in called for spec in fed(call, specs))


def _computes_in_two_dtypes(graph: Graph, generation: Generation | None) -> bool:
    """Whether a layer casts nothing of what it is given: its weights may be of another dtype, which kernels refuse."""
    uncast = [call for call in graph.calls if graph.layers[call.layer].arg("autocast") is False]
    specs = infer(graph) if uncast else ()
    return any(
        specs[ref.node][ref.output].dtype != (graph.layers[call.layer].dtype or "float32")
        for call in uncast
        for ref in call_refs(call)
    )


def _learned(graph: Graph, generation: Generation | None) -> set[int]:
    """The nodes that have a gradient for a weight; none where something is in the way of one."""
    specs = infer(graph)
    learned: set[int] = set()
    for number, call in enumerate(graph.calls, start=len(graph.inputs)):
        layer = graph.layers[call.layer]
        follows = any(ref.node in learned for ref in call_refs(call))
        if follows and not _lets_through(layer):
            return set()
        if (follows or _has_weights(layer, generation)) and any(
            spec.dtype.startswith("float") for spec in specs[number]
        ):
            learned.add(number)
    return learned


def of_numbers(graph: Graph) -> Iterator[str | None]:
    """Models whose weights are numbers, and no tables."""
    kinds = [CATALOGUE[layer.kind] for layer in all_layers(graph) if layer.kind in CATALOGUE]
    if graph.base is None and not any(kind.family == "encoding" for kind in kinds):
        yield None


def _lets_through(layer: Layer) -> bool:
    if layer.graph is not None:
        return _leads_everywhere(layer.graph) and all(_lets_through(each) for each in layer.graph.layers)
    if is_operation(layer.kind):
        return layer.kind in _LET_THROUGH
    return CATALOGUE[layer.kind].family not in _BLOCK


def _leads_everywhere(graph: Graph) -> bool:
    """Whether each input of a model is on the way to each of its outputs: one of them may be all that is used."""
    behind = [{node} for node in range(len(graph.inputs))]
    for call in graph.calls:
        behind.append(set().union(*(behind[ref.node] for ref in call_refs(call))))
    return all(len(behind[ref.node]) == len(graph.inputs) for ref in refs(graph.gives))


def _has_weights(layer: Layer, generation: Generation | None) -> bool:
    """Whether each tensor that a layer gives has a gradient for a weight of it."""
    if not layer.trainable or "frozen after" in layer.marks:
        return False
    if layer.graph is not None:
        learned = _learned(layer.graph, generation)
        return layer.graph.trainable and all(ref.node in learned for ref in refs(layer.graph.gives))
    held = next((value.layer for _, value in layer.args if isinstance(value, Made)), None)
    if held is not None:
        return _has_weights(held, generation)
    return layer.kind in _WITH_WEIGHTS and not any(layer.arg(name) is False for name in _BARE)
