"""How each kind of thing is cloned in `tf_keras`.

One clone is one schedule over the calls of the model and of every model inside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cloning import Cloning, NotUnderstood
from ..graph_match import GraphMatch
from ..options import Refused
from ..schedule import Schedule, in_order
from . import carried_over
from .layers import rebuild_input, rebuild_layer
from .release import (
    RELEASE,
    ancillary_nodes,
    begins_with_input,
    building_policy,
    is_op_layer,
    keras,
    links,
    tf,
)


class TfKerasCloning(Cloning):
    """One clone in the making: which layer, tensor, call and variable became which."""

    adapter = RELEASE

    def __init__(self, model: Any, clone_function: Callable[[Any], Any] | None) -> None:
        super().__init__()
        self.model = model
        self.clone_function = clone_function
        self._tensors: dict[int, Any] = {}
        self._nodes: dict[int, Any] = {}
        self._variables: dict[int, Any] = {}
        self._given: set[int] = set()
        self._start: Any = None
        self._survey()

    # What there is to clone.

    def _survey(self) -> None:
        self._builders: dict[int, Any] = {}
        self._owners: dict[int, tuple[Any, int]] = {}
        graphs = [self.model]
        if self.clone_function is None:
            graphs = [each for each in RELEASE.nested_layers(self.model) if self._is_cloned_by_graph(each)]
        graphs = [each for each in graphs if RELEASE.is_graph(each)]
        nodes = [node for graph in graphs for node in RELEASE.graph_nodes(graph)]
        self._schedule = Schedule(RELEASE, nodes)
        self._makers = self._schedule.makers
        for graph in filter(RELEASE.is_sequential, graphs):
            self._builders.update((id(node), graph) for node in _chain(graph, self._makers))
        for layer in map(RELEASE.operation, nodes):
            for index, variable in enumerate(layer.weights if layer.built else []):
                self._owners.setdefault(id(variable), (layer, index))

    # The schedule.

    def _run(self, *goals: Any) -> None:
        """Make every call and model that the goals, calls or models themselves, need, and then the goals."""
        for task in in_order(goals, self._needs):
            if self._is_done(task):
                continue
            if isinstance(task, keras.Model):
                self._clone_model(task)
            else:
                self._call_again(task)

    def _is_done(self, task: Any) -> bool:
        return id(task) in (self._layers if isinstance(task, keras.Model) else self._nodes)

    def _needs(self, task: Any) -> list[Any]:
        return [need for need in self._all_needs(task) if need is not None and not self._is_done(need)]

    def _all_needs(self, task: Any) -> list[Any]:
        if self._is_done(task):
            return []
        if RELEASE.is_sequential(task):
            needs = [layer for layer in RELEASE.sublayers(task) if self._is_cloned_by_graph(layer)]
            if RELEASE.is_graph(task):
                own = {id(node) for node in _chain(task, self._makers)}
                earlier = map(self._schedule.previous_call, _chain(task, self._makers))
                needs += [node for node in earlier if id(node) not in own]
            return needs
        if RELEASE.is_functional(task):
            return RELEASE.graph_nodes(task)
        builder = self._builders.get(id(task))
        if builder is not None and id(builder) not in self._layers:
            return [builder]
        needs = [self._schedule.previous_call(task)]
        if self._is_cloned_by_graph(RELEASE.operation(task)):
            needs.append(RELEASE.operation(task))
        for tensor in RELEASE.inputs(task):
            if id(tensor) not in self._tensors:
                needs.append(self._makers.get(id(tensor)))
        for leaf in _arguments(task):
            if isinstance(leaf, tf.Variable) and id(leaf) in self._owners:
                needs.append(self._schedule.first_call(self._owners[id(leaf)][0]))
        return needs

    def _is_cloned_by_graph(self, layer: Any) -> bool:
        """Whether the clone of a model is made of its graph, as it is unless its class makes the same of its config."""
        if layer is self.model or self.clone_function is not None:
            return layer is self.model
        if not (RELEASE.is_sequential(layer) or RELEASE.is_functional(layer)):
            return False
        return id(layer) not in self._layers or id(layer) in self._reasons or _is_structural(layer)

    def _make_from_configs(self) -> None:
        """Clone the models whose class makes them otherwise than from a graph, if their config is enough for that."""
        if self.is_changed():
            return
        for model in RELEASE.nested_layers(self.model)[::-1]:
            if (RELEASE.is_sequential(model) or RELEASE.is_functional(model)) and not _is_structural(model):
                if id(model) not in self._layers and id(model) not in self._reasons:
                    self.made_of_config(model)

    def rebuilt(self, model: Any) -> Any:
        return rebuild_layer(model, self.clone_of, [])

    def adopt(self, model: Any, clone: Any, match: GraphMatch) -> None:
        for layer, its in match.layers:
            carried_over.build_uncalled(layer, its)  # beside the graph, by a call of the model
        carried_over.name_layers_alike(match.layers)
        for node, again in match.calls:
            self._remember_call(node, again)

    def part_of_clone(self, model: Any, part: Any) -> Any:
        if RELEASE.is_layer(part):
            clone = self.clone_of(part)
            if self.clone_function is None:
                carried_over.build_uncalled(part, clone)
            elif part.built and not clone.built and part._build_input_shape is not None:
                clone.build(part._build_input_shape)
            return clone
        if isinstance(part, tf.Variable):
            return self._variable(part)
        if id(part) not in self._tensors:
            raise NotUnderstood(str(part.name))
        return self._tensors[id(part)]

    # Layers.

    def clone_of(self, layer: Any) -> Any:
        """The clone of `layer`: the same one however often, and wherever, the layer is used."""
        if id(layer) not in self._layers:
            if RELEASE.is_input(layer):
                clone = rebuild_input(layer)
                self.remember(layer, clone)
                self._remember_call(layer._inbound_nodes[0], clone._inbound_nodes[0])
            elif self.clone_function is not None:
                self.remember(layer, self.checked(layer, self.clone_function(layer)))
            elif self._is_cloned_by_graph(layer):
                self._run(layer)
            else:
                clone = rebuild_layer(layer, self.clone_of, self._user_layers)
                # Before the first call, because it names the weights.
                carried_over.restore(layer, clone)
                self._share_alike(layer, clone)
                carried_over.build_held_first(layer, clone)
                self.remember(layer, clone)
        return self.clone_at(id(layer))

    def _share_alike(self, layer: Any, clone: Any) -> None:
        for one, other, _ in carried_over.side_by_side(layer, clone, into_graphs=True):
            self._shared.share_alike(one, other)

    def replace_tensor(self, layer: Any, tensor: Any) -> None:
        """Let `tensor`, which any layer may have made, stand for what the input layer `layer` gives."""
        history = tensor._keras_history
        node = layer._inbound_nodes[0]
        self._given.add(id(layer))
        self.remember(layer, history.layer)
        self._nodes[id(node)] = history.layer._inbound_nodes[history.node_index]
        self._tensors[id(RELEASE.outputs(node)[0])] = tensor

    def start_from(self, layer: Any) -> None:
        """Let a Sequential model begin with `layer`, in place of its own input layer if it has one."""
        self._start = layer

    # Calls.

    def _call_again(self, node: Any) -> None:
        clone = self.clone_of(RELEASE.operation(node))
        if id(node) in self._nodes:
            return  # An input layer, or a call that its Sequential model has made.
        became = {}
        if is_op_layer(clone, "TFOpLambda"):
            became = {tensor.dtype: self._tensors[id(tensor)].dtype for tensor in RELEASE.inputs(node)}

        def argument(leaf: Any) -> Any:
            return _of_dtype(self._argument(leaf), became)

        args, kwargs = RELEASE.arguments(node)
        args = tf.nest.map_structure(argument, args)
        kwargs = {key: tf.nest.map_structure(argument, value) for key, value in kwargs.items()}
        carried_over.build_before_call(RELEASE.operation(node), clone, node)
        history = tf.nest.flatten(clone(*args, **kwargs))[0]._keras_history
        self._remember_call(node, history.layer._inbound_nodes[history.node_index])

    def _remember_call(self, node: Any, again: Any) -> None:
        self._nodes[id(node)] = again
        outputs, made = RELEASE.outputs(node), RELEASE.outputs(again)
        if len(outputs) != len(made):
            raise ValueError(
                f"The clone of layer {RELEASE.operation(node).name!r} returns {len(made)} tensors where the layer "
                f"returns {len(outputs)}; a `clone_function` must keep their number."
            )
        for tensor, new in zip(outputs, made):
            self._tensors[id(tensor)] = new

    def _argument(self, leaf: Any) -> Any:
        if RELEASE.is_symbolic(leaf):
            return self._tensors[id(leaf)]
        if isinstance(leaf, tf.Variable):
            return self._variable(leaf)
        return leaf

    def _variable(self, variable: Any) -> Any:
        """A weight of a layer stays that weight; a variable from outside the model gets its own copy."""
        if id(variable) not in self._variables:
            owner, index = self._owners.get(id(variable), (None, 0))
            clone = self.clone_at(id(owner))
            if clone is not None and index < len(clone.weights):
                self._variables[id(variable)] = clone.weights[index]
            else:
                name = variable.name.split(":")[0]
                self._variables[id(variable)] = tf.Variable(
                    variable, trainable=variable.trainable, name=name, dtype=variable.dtype
                )
        return self._variables[id(variable)]

    # Models.

    def clone(self) -> Any:
        """The clone of the model, with everything restored that a config does not carry."""
        if self.clone_function is not None:
            # In the order in which upstream calls it, whatever the order of the calls.
            for layer in RELEASE.sublayers(self.model):
                self.clone_of(layer)
        with building_policy(self.model):
            self._make_from_configs()
            self._run(self.model)
        self.finish_user_layers()
        for layer, clone in list(self._layers.values()):
            if RELEASE.is_input(layer) or self._is_cloned_by_graph(layer):
                if id(layer) not in self._given and clone is not self._start:
                    carried_over.restore(layer, clone, inside=False)
            elif self.clone_function is None:
                carried_over.restore(layer, clone)
                carried_over.restore_names(layer, clone)
                self.refuse_unlike(layer, clone)
        return self.clone_at(id(self.model))

    def clone_layer(self) -> Any:
        """The clone of a layer, or of a model that has no graph."""
        clone = rebuild_layer(self.model, self.clone_of, self._user_layers)
        carried_over.restore(self.model, clone)
        if self.model.built and not clone.built and not RELEASE.is_model(self.model):
            carried_over.build_alike(self.model, clone)
            carried_over.build_inside(self.model, clone)
            carried_over.restore(self.model, clone)
            carried_over.restore_names(self.model, clone)
        self.finish_user_layers()
        return clone

    def _clone_model(self, model: Any) -> None:
        make = self._clone_sequential if RELEASE.is_sequential(model) else self._clone_functional
        own = RELEASE.has_custom_constructor(model)
        clone = make(model, own)
        self.remember(model, clone)
        try:
            (self.copy_all_attributes if own else self.copy_set_attributes)(model, clone)
        except Refused:
            if not self.is_changed() or not RELEASE.has_default_call(model):
                raise
            clone = make(model, False)
            self.remember(model, clone)
        if RELEASE.is_graph(model) and RELEASE.is_graph(clone):
            self._insert_ancillary(model, clone)
        if hasattr(model, "_manual_input_spec"):
            clone.input_spec = model._manual_input_spec

    def is_changed(self) -> bool:
        return self.clone_function is not None or bool(self._given) or self._start is not None

    def _clone_functional(self, model: Any, own: bool) -> Any:
        inputs = tf.nest.map_structure(lambda tensor: self._tensors[id(tensor)], model._nested_inputs)
        outputs = tf.nest.map_structure(lambda tensor: self._tensors[id(tensor)], model._nested_outputs)
        if own:
            return RELEASE.put_together(model, inputs, outputs)
        return RELEASE.functional_class(model)(inputs, outputs, name=model.name)

    def _clone_sequential(self, model: Any, own: bool) -> Any:
        clone = RELEASE.put_together(model) if own else RELEASE.sequential_class(model)(name=model.name)
        chain = _chain(model, self._makers) if RELEASE.is_graph(model) else []
        layers = [RELEASE.operation(node) for node in chain] or links(model)
        replaced = self._start if model is self.model else None
        deferred = not begins_with_input(model)
        if replaced is not None:
            clone.add(replaced)
        if chain and (replaced is not None or deferred):
            layers = layers[1:]
        calls = {id(RELEASE.operation(node)): node for node in chain[::-1]}
        for layer in layers:
            part = self.clone_of(layer)
            if id(layer) in calls:
                carried_over.build_before_call(layer, part, calls[id(layer)])
            clone.add(part)
        if replaced is None and deferred and (model is self.model or not self._given):
            self._build_deferred(model, clone)  # others are built by their first call, which may be on another shape
        if chain and RELEASE.is_graph(clone):
            self._remember_chain(chain, clone)
        return clone

    def _remember_chain(self, chain: list[Any], clone: Any) -> None:
        made = {id(tensor): node for node in RELEASE.graph_nodes(clone) for tensor in RELEASE.outputs(node)}
        for node, again in zip(chain, _chain(clone, made)):
            self.remember(RELEASE.operation(node), RELEASE.operation(again))
            self._remember_call(node, again)

    def _build_deferred(self, model: Any, clone: Any) -> None:
        """Build a model that was built by its first input, as that input built it; it still takes other shapes."""
        shape = getattr(model, "_inferred_input_shape", None)
        if RELEASE.is_graph(model) and shape is not None:
            clone._build_graph_network_for_inferred_shape(shape, model.inputs[0].dtype)
            clone.built = model.built
        elif model.built and model.layers and model._build_input_shape is not None:
            clone.build(model._build_input_shape)

    def _insert_ancillary(self, model: Any, clone: Any) -> None:
        """Add what no output depends on: losses, metrics, and layers that the model holds without calling them."""
        nodes = ancillary_nodes(model)
        self._run(*nodes)
        layers, present = RELEASE.sublayers(model), {id(layer) for layer in RELEASE.sublayers(clone)}
        if not nodes and len(present) >= len(layers):
            return
        missing = [(layer, self.clone_of(layer)) for layer in layers if id(layer) not in self._given]
        missing = [(layer, copy) for layer, copy in missing if id(copy) not in present]
        called = {id(RELEASE.operation(node)) for node in nodes}
        for layer, copy in missing:
            if id(layer) not in called and self.clone_function is None:
                carried_over.build_uncalled(layer, copy)
        if nodes or missing:
            again = [self._nodes[id(node)] for node in nodes]
            clone._insert_layers([copy for _, copy in missing], relevant_nodes=again)


def _is_structural(model: Any) -> bool:
    """Whether the graph, or the list of layers, is all that the class of a model makes it from."""
    return RELEASE.is_structural(model) and RELEASE.keeps_its_class(model)


def _of_dtype(value: Any, became: dict[Any, Any]) -> Any:
    """A constant of an operation on tensors that `became` others: of `2.0 - inputs` it has the dtype of the inputs.

    A number that the other dtype could not hold stays as it is, for TensorFlow to refuse.
    """
    if not isinstance(value, tf.Tensor) or RELEASE.is_symbolic(value):
        return value
    dtype = became.get(value.dtype, value.dtype)
    alike = (dtype.is_floating and value.dtype.is_floating) or (dtype.is_integer and value.dtype.is_integer)
    return tf.cast(value, dtype) if alike and dtype != value.dtype else value


def _arguments(node: Any) -> list[Any]:
    args, kwargs = RELEASE.arguments(node)
    return list(tf.nest.flatten([args, list(kwargs.values())]))


def _chain(model: Any, makers: dict[int, Any]) -> list[Any]:
    """The calls of a Sequential model's graph, its input first."""
    found = []
    node = makers[id(model.outputs[0])]
    while node is not None:
        found.append(node)
        inputs = RELEASE.inputs(node)
        node = makers.get(id(inputs[0])) if inputs else None
    return found[::-1]
