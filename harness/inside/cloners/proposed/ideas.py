"""The ideas themselves: each a cloning by the graph that makes one choice of its own. Imports the Keras under test."""

from __future__ import annotations

from typing import Any

from ..fixed.keras2.cloning import Keras2Cloning
from ..fixed.keras2.release import RELEASE, givers


class InputsByShape(Keras2Cloning):
    """Proposal 000: gives masks no thought, and makes each input anew from its shape without the batch.

    An input is more than that: its dtype, its fixed batch size and whether it is sparse are lost, so the clone takes
    other arrays than the original does.
    """

    def input_of(self, layer: Any) -> Any:
        return RELEASE.keras.layers.InputLayer(input_shape=layer.batch_input_shape[1:], name=layer.name)


class AlwaysLists(Keras2Cloning):
    """Proposal 001: treats one input as it treats several, and calls every layer on a list.

    Keras 2.2 takes a list of one tensor for what it is: most layers cannot compute with a list, and the function of a
    `Lambda` gets another argument than it was written for.
    """

    def call(self, layer: Any, inputs: list[Any], arguments: dict[str, Any], node: Any) -> None:
        layer(inputs, **arguments)


class MasksDropped(Keras2Cloning):
    """Proposal 002: enters None as the mask of every tensor, so that no number of masks can be wrong.

    Upstream hands the masks that it keeps to the layers, so those get None where the original had a mask: a recurrent
    layer behind a `Masking` computes with the steps that it should skip.
    """

    def call(self, layer: Any, inputs: list[Any], arguments: dict[str, Any], node: Any) -> None:
        masked = any(mask is not None for mask in node.input_masks)
        if masked and RELEASE.takes(layer.call, "mask"):
            arguments.setdefault("mask", None)
        super(MasksDropped, self).call(layer, inputs, arguments, node)


class _Losing(Keras2Cloning):
    """A cloning in which a call may never get its inputs, and is then left out without a word."""

    exception: Any = KeyError

    def call_again(self, node: Any) -> None:
        if all(self.has(giver, place) for giver, place in zip(givers(node), node.tensor_indices)):
            super(_Losing, self).call_again(node)

    def has(self, node: Any, place: int) -> bool:
        """Whether there is anything in the clone for an output of a call of the original."""
        return id(node) in self._nodes

    def output_of(self, node: Any, place: int) -> Any:
        if not self.has(node, place):
            raise self.exception("output %d of layer %r" % (place, node.outbound_layer.name))
        return super(_Losing, self).output_of(node, place)


class LayerByLayer(_Losing):
    """Proposal 003: makes all layers first, then goes through them once and makes all the calls of each.

    A layer that is called again on what came of its first call has to wait for layers after it: that call never gets
    its input, is left out, and whatever needs it is lost.
    """

    def schedule(self) -> list[Any]:
        tasks = super(LayerByLayer, self).schedule()
        there = {id(task) for task in tasks}
        order: dict[int, Any] = {}

        def take(model: Any) -> None:
            nodes = RELEASE.graph_nodes(model)
            own = {id(node) for node in nodes} & there
            order.update((id(node), node) for node in nodes if not node.inbound_layers)
            for layer in model._layers:
                for held in RELEASE.nested_layers(layer):
                    if RELEASE.is_model(held) and id(held) in there - set(order):
                        take(held)
                order.update((id(node), node) for node in layer._inbound_nodes if id(node) in own)
            order[id(model)] = model

        for task in tasks[::-1]:  # the outermost comes last of all
            if RELEASE.is_model(task) and id(task) not in order:
                take(task)
        return list(order.values())


class FinalCheck(_Losing):
    """Proposal 004: leaves the code of Keras 2.2.4 as it is, and checks at the end that every output is there.

    A None from `compute_mask` still counts as the mask of one output, so a layer with several outputs keeps the first
    alone; the check only says so with another exception.
    """

    exception = ValueError

    def __init__(self, layers: list[Any]) -> None:
        super(FinalCheck, self).__init__(layers)
        self._kept: dict[int, int] = {}

    def call(self, layer: Any, inputs: list[Any], arguments: dict[str, Any], node: Any) -> None:
        super(FinalCheck, self).call(layer, inputs, arguments, node)
        again = layer._inbound_nodes[-1]
        tensors, masks = again.input_tensors, again.input_masks
        found = layer.compute_mask(*([each[0] if len(each) == 1 else each for each in (tensors, masks)]))
        self._kept[id(node)] = len(found) if isinstance(found, list) else 1

    def has(self, node: Any, place: int) -> bool:
        return super(FinalCheck, self).has(node, place) and place < self._kept.get(id(node), place + 1)


def clone_by(kind: Any, model: Any) -> Any:
    """Clone a model by one of the ideas; they are about models that are graphs."""
    if not RELEASE.is_graph(model):
        return RELEASE.keras.models.clone_model(model)
    cloning = kind([model])
    cloning.run()
    cloning.restore()
    return cloning.clone_of(model)
