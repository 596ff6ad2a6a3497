"""How each kind of thing is cloned in Keras 2.2 and 2.3.

One clone is one schedule over the calls of the model and of every model inside it: a call also comes after the models
that its layer is or holds. Where that leaves a choice, the call that was made first comes first.
"""

from __future__ import annotations

from typing import Any

from ....left_masks import was_left
from ....structure import leaves, map_leaves
from ..before_keras3.carried_over import side_by_side
from ..cloning import Cloning, NotUnderstood
from ..graph_match import GraphMatch
from ..schedule import Schedule, in_order
from . import carried_over
from .layers import rebuild_layer
from .release import RELEASE, ends, givers, made_at, maker
from .session import floats_as_in

# The arguments of a recurrent layer whose tensors become inputs of the call as well.
_INPUTS_BY_KEYWORD = ("initial_state", "constants")


class Keras2Cloning(Cloning):
    """One clone in the making: which layer, call, mask and weight became which."""

    adapter = RELEASE

    def __init__(self, layers: list[Any]) -> None:
        super(Keras2Cloning, self).__init__()
        self._nodes: dict[int, Any] = {}
        self._given: set[int] = set()
        self._held: list[Any] = []  # by models, beside their graphs
        self.masks: dict[int, tuple[Any, int]] = {}
        self.owners: dict[int, tuple[Any, int]] = {}
        self._make_from_configs(layers)
        self._calls, self._models = self._survey(layers)

    def replace_input(self, layer: Any, tensor: Any) -> None:
        """Let `tensor`, which any layer may have made, stand for what the input layer `layer` gives."""
        self.remember(layer, tensor._keras_history[0])
        self._nodes[id(layer._inbound_nodes[0])] = _Given(tensor)
        self._given.add(id(layer))

    def run(self) -> None:
        """Make every call again, and put every model together."""
        for task in self.schedule():
            if RELEASE.is_model(task):
                self._assemble(task)
            else:
                self.call_again(task)

    def restore(self) -> None:
        """Give the clones what no config carries, and no call may have changed."""
        for layer in self._held:  # now that all calls are made: some may have built what a model holds
            with floats_as_in([layer]):
                carried_over.build_uncalled(layer, self.clone_of(layer))
        self.finish_user_layers()
        for layer, clone in list(self._layers.values()):
            if id(layer) not in self._given:
                carried_over.restore(layer, clone)
                carried_over.restore_seeds(layer, clone)
        for layer, clone in list(self._layers.values()):  # once all are restored: what is frozen decides their order
            if id(layer) not in self._given and not self._is_cloned_by_graph(layer):
                self.refuse_unlike(layer, clone)

    def _is_cloned_by_graph(self, thing: Any) -> bool:
        """Whether the clone of a model is made of its graph, as it is unless its class makes the same of its config."""
        return RELEASE.is_cloned_by_graph(thing) or id(thing) in self._reasons

    def _make_from_configs(self, layers: list[Any]) -> None:
        """Clone the models whose class has a config of its own, if that is enough."""
        found: dict[int, Any] = {}
        waiting = list(layers)
        while waiting:
            each = waiting.pop()
            if id(each) not in found:
                found[id(each)] = each
                waiting.extend(each.layers if RELEASE.is_graph(each) else RELEASE.nested_layers(each))
        for model in list(found.values())[::-1]:
            if RELEASE.is_graph(model) and not RELEASE.is_cloned_by_graph(model) and id(model) not in self._layers:
                self.made_of_config(model)

    def rebuilt(self, model: Any) -> Any:
        return rebuild_layer(model, self.clone_of, [])

    def adopt(self, model: Any, clone: Any, match: GraphMatch) -> None:
        self._nodes.update((id(node), again) for node, again in match.calls)

    def is_changed(self) -> bool:
        return bool(self._given)

    def part_of_clone(self, model: Any, part: Any) -> Any:
        if RELEASE.is_layer(part):
            self._held.append(part)
            with floats_as_in([part]):
                return self.clone_of(part)
        if RELEASE.is_symbolic(part) and id(maker(part)) not in self._nodes:
            raise NotUnderstood(str(part))
        if RELEASE.is_variable(part) and id(part) not in self.owners:
            raise NotUnderstood(str(part))
        return self._argument(part)

    # What there is to do, and when.

    def _survey(self, layers: list[Any]) -> tuple[list[Any], list[Any]]:
        """Every call that is to be made again, those of one layer in their order, and every model to be put together.

        Tensors among the arguments of a call may lead to calls that belong to no graph.
        """
        models: dict[int, Any] = {}
        nodes: dict[int, Any] = {}
        callees: dict[int, Any] = {}
        waiting: list[Any] = [each for layer in layers for each in RELEASE.nested_layers(layer)]
        while waiting:
            each = waiting.pop()
            if self._is_cloned_by_graph(each):
                if id(each) not in models:
                    models[id(each)] = each
                    waiting.extend(RELEASE.graph_nodes(each))
            elif hasattr(each, "outbound_layer") and id(each) not in nodes:
                nodes[id(each)] = each
                if id(each.outbound_layer) not in callees:
                    callees[id(each.outbound_layer)] = each.outbound_layer
                    waiting.extend(RELEASE.nested_layers(each.outbound_layer))
                waiting.extend(givers(each))
                waiting.extend(maker(leaf) for leaf in _leaves(_arguments(each)) if RELEASE.is_symbolic(leaf))
        for node in sorted(nodes.values(), key=made_at):  # the first to have a mask made it, others hand it on
            for index, mask in enumerate(node.output_masks):
                if mask is not None:
                    self.masks.setdefault(id(mask), (node, index))
        for layer in callees.values():
            for index, weight in enumerate(layer.weights if not RELEASE.is_graph(layer) else []):
                self.owners.setdefault(id(weight), (layer, index))
        calls = [node for layer in callees.values() for node in layer._inbound_nodes if id(node) in nodes]
        self._order = Schedule(RELEASE, calls)
        return calls, list(models.values())

    def schedule(self) -> list[Any]:
        """The calls and models, each after all that it needs; where that leaves a choice, the one made first."""
        tasks: dict[int, Any] = {id(task): task for task in self._calls + self._models}
        needs = {key: set(self._needs(task)) & set(tasks) for key, task in tasks.items()}
        _let_users_come_first(self._calls, needs)
        turn = {key: (_made_at(task), place) for place, (key, task) in enumerate(tasks.items())}

        def needed(task: Any) -> list[Any]:
            return [tasks[key] for key in sorted(needs[id(task)], key=turn.__getitem__)]

        def name(task: Any) -> str:
            return str((task if RELEASE.is_model(task) else task.outbound_layer).name)

        return in_order(sorted(tasks.values(), key=lambda task: turn[id(task)]), needed, name)

    def _needs(self, task: Any) -> list[int]:
        """The calls and models, by their ids, that come before a call or a model."""
        if RELEASE.is_model(task):
            return [id(node) for node in RELEASE.graph_nodes(task)]
        layer = task.outbound_layer
        needs = [id(each) for each in RELEASE.nested_layers(layer)] + [id(each) for each in givers(task)]
        needs.append(id(self._order.previous_call(task)))
        for leaf in _leaves(_arguments(task)):
            if RELEASE.is_symbolic(leaf):
                needs.append(id(maker(leaf)))
            elif id(leaf) in self.masks:
                needs.append(id(self.masks[id(leaf)][0]))
            elif id(leaf) in self.owners:
                needs.append(id(self._order.first_call(self.owners[id(leaf)][0])))
        return [need for need in needs if need != id(task)]

    # Layers.

    def clone_of(self, layer: Any) -> Any:
        """The clone of `layer`: the same one however often, and wherever, the layer is used."""
        if id(layer) not in self._layers:
            if RELEASE.is_input(layer):
                clone = self.input_of(layer)
                self._nodes[id(layer._inbound_nodes[0])] = clone._inbound_nodes[0]
            else:
                if self._is_cloned_by_graph(layer):
                    raise NotUnderstood(layer.name)  # asked for by a config, before it is its turn
                clone = rebuild_layer(layer, self.clone_of, self._user_layers)
            # Before the first call, which asks whether the layer supports masks, and names weights.
            carried_over.restore(layer, clone)
            for one, other, _ in side_by_side(layer, clone, RELEASE, into_graphs=False):
                self._shared.share_alike(one, other)
            self.remember(layer, clone)
        return self.clone_at(id(layer))

    def input_of(self, layer: Any) -> Any:
        """A fresh input layer, a placeholder whatever the original is."""
        return type(layer).from_config(layer.get_config())

    # Calls.

    def call_again(self, node: Any) -> None:
        clone = self.clone_of(node.outbound_layer)
        if id(node) in self._nodes:
            return  # What an input layer gives is there with it.
        inputs = [self.output_of(giver, place) for giver, place in zip(givers(node), node.tensor_indices)]
        by_keyword = _given_by_keyword(node)
        if by_keyword:
            inputs = inputs[:-by_keyword]
        arguments = map_leaves(self._argument, _arguments(node))
        carried_over.align_inputs_alike(node.outbound_layer, clone, node.input_shapes)
        self.call(clone, inputs, arguments, node)
        self._nodes[id(node)] = clone._inbound_nodes[-1]

    def call(self, layer: Any, inputs: list[Any], arguments: dict[str, Any], node: Any) -> None:
        """Call a fresh layer as `node` says its original was called."""
        if len(inputs) > 1:
            layer(inputs, **arguments)
        else:
            self._call_on_one(layer, inputs[0], arguments, node)

    def output_of(self, node: Any, place: int) -> Any:
        """What the clone has for an output of a call of the original."""
        return self._nodes[id(node)].output_tensors[place]

    def _argument(self, value: Any) -> Any:
        if RELEASE.is_symbolic(value):
            node = self._nodes.get(id(maker(value)))
            return value if node is None else self.output_of(maker(value), value._keras_history[2])
        if id(value) in self.masks:
            node, index = self.masks[id(value)]
            return self._nodes[id(node)].output_masks[index]
        if id(value) in self.owners:
            layer, index = self.owners[id(value)]
            return self.clone_of(layer).weights[index]
        return value

    def _call_on_one(self, layer: Any, tensor: Any, arguments: dict[str, Any], node: Any) -> None:
        """Call a layer on one tensor, or on a list of one: a node does not say which, but one of them may not fit."""
        try:
            layer(tensor, **arguments)
        except Exception:
            try:
                layer([tensor], **arguments)
            except Exception:
                pass
            else:
                if self._given or _shapes(layer._inbound_nodes[-1]) == _shapes(node):
                    return
            raise
        first = layer._inbound_nodes[-1]
        if self._given or _shapes(first) == _shapes(node):
            return
        try:
            layer([tensor], **arguments)
        except Exception:
            return
        second = layer._inbound_nodes[-1]
        _forget(second if _shapes(second) != _shapes(node) else first)

    # Models.

    def _assemble(self, model: Any) -> None:
        inputs, outputs = (
            [self.output_of(node, place) for node, place in ends(model, side)] for side in ("inputs", "outputs")
        )
        own = RELEASE.has_custom_constructor(model)
        if own:
            clone = RELEASE.put_together(model, inputs, outputs)
        elif RELEASE.is_sequential(model):
            clone = type(model)(name=model.name)
        else:
            clone = type(model)(inputs, outputs, name=model.name)
        if RELEASE.is_sequential(model):
            clone.inputs, clone.outputs = inputs, outputs
            clone.build()  # Of layers that have been called already.
            clone._build_input_shape = model._build_input_shape
        self.remember(model, clone)
        if own:
            self.copy_all_attributes(model, clone)
        else:
            self.copy_set_attributes(model, clone)


class _Given:
    """The call of an input layer whose tensor was given by the user."""

    def __init__(self, tensor: Any) -> None:
        node = maker(tensor)
        self.output_tensors = [tensor]
        self.output_masks = [node.output_masks[tensor._keras_history[2]]]


def _made_at(task: Any) -> int:
    return max(made_at(node) for node, _ in ends(task, "outputs")) if RELEASE.is_model(task) else made_at(task)


def _let_users_come_first(calls: list[Any], needs: dict[int, set[int]]) -> None:
    """A model called again on the same tensors gives the same tensors again, which then belong to the later call.

    So whoever used them as those of an earlier call did so before the later one was made.
    """
    users: dict[tuple[int, int], list[int]] = {}
    for node in calls:
        for giver in givers(node):
            users.setdefault((id(giver.outbound_layer), id(giver)), []).append(id(node))
    for node in calls:
        layer = node.outbound_layer
        if not RELEASE.is_graph(layer) or node is layer._inbound_nodes[-1]:
            continue
        mine = {id(tensor) for tensor in node.output_tensors}
        for later in layer._inbound_nodes[layer._inbound_nodes.index(node) + 1 :]:
            if id(later) in needs and mine & {id(tensor) for tensor in later.output_tensors}:
                needs[id(later)].update(users.get((id(layer), id(node)), ()))


def _arguments(node: Any) -> dict[str, Any]:
    """The arguments that a call was given; a mask that Keras left among them when it ran the graph again is none."""
    arguments: dict[str, Any] = dict(node.arguments or {})
    if "mask" in arguments and was_left(arguments["mask"], node):
        del arguments["mask"]
    return arguments


def _given_by_keyword(node: Any) -> int:
    """How many of a call's inputs are there because an argument has them."""
    arguments = node.arguments or {}
    named = [id(leaf) for name in _INPUTS_BY_KEYWORD for leaf in _leaves(arguments.get(name))]
    last = [id(tensor) for tensor in node.input_tensors[-len(named) :]] if named else []
    return len(named) if last == named else 0


def _forget(node: Any) -> None:
    layer = node.outbound_layer
    layer._inbound_nodes.remove(node)
    for giver in node.inbound_layers:
        giver._outbound_nodes.remove(node)
    last = layer._inbound_nodes[-1]
    for place, tensor in enumerate(last.output_tensors):
        tensor._keras_history = (layer, len(layer._inbound_nodes) - 1, place)


def _shapes(node: Any) -> list[Any]:
    """The shapes that Keras and TensorFlow each hold the outputs of a call to have."""
    shape_of = RELEASE.keras.backend.int_shape
    return [(shape_of(tensor), str(tensor.get_shape())) for tensor in node.output_tensors]


def _leaves(value: Any) -> list[Any]:
    return [leaf for leaf in leaves(value) if leaf is not None]
