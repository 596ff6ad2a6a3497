"""How each kind of thing is cloned in Keras 3. A graph is cloned whole, when a call first needs it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import keras

from ....structure import map_leaves
from ..cloning import Cloning, NotUnderstood
from ..graph_match import GraphMatch
from ..options import Refused
from ..rolled_back import calls_rolled_back_on_failure
from . import carried_over
from .adapter import ADAPTER
from .changed import make_changed_calls, may_be_called, refuse_masks_from_outside
from .compiled import compile_alike
from .custom_classes import has_custom_constructor, made_of_graph, put_together
from .graphs import repeat_calls
from .layers import (
    clone_from_config,
    clone_input_layer,
    clone_lambda,
    clone_operation,
    input_layer_of,
    is_plain_lambda,
    made_again,
    own_regularizer,
    placeholder_like,
)
from .release import (
    Function,
    Functional,
    copied_policy,
    is_quantized,
    policy_of,
    set_policy,
    tree,
    unquantized,
)
from .session import compiled_as, floats_as_in, made_as, scopes_of


class Keras3Cloning(Cloning):
    """Clones everything that is reached from one model, each object once."""

    adapter = ADAPTER

    def __init__(
        self,
        root: Any,
        clone_function: Callable[[Any], Any] | None = None,
        call_function: Callable[..., Any] | None = None,
        recursive: bool = False,
        clones: dict[int, Any] | None = None,
    ) -> None:
        super().__init__()
        self._root = root
        self._clone_function = clone_function
        self._call_function = call_function
        self._recursive = recursive
        self._clones = {} if clones is None else clones  # of other models, too, if the user keeps them
        self._layers.update((number, (None, clone)) for number, clone in self._clones.items())
        self._tensors: dict[int, Any] = {}  # of input layers
        self._in_graphs: dict[int, Any] = {}  # tensors, of input layers and others
        self._others: dict[int, Any] = {}  # variables, seeds, policies
        self._being_made: set[int] = set()
        self._kept: list[Any] = []  # alive for as long as their ids are keys
        self._pairs: list[tuple[Any, Any]] = []
        self._models: list[tuple[Any, Any]] = []
        self._owners: dict[int, tuple[Any, int]] | None = None
        self._changed = False

    def clone_root(self, input_tensors: Any = None) -> Any:
        root = self._root
        if not isinstance(root, (keras.Sequential, Functional)):
            clone = self._layer_of_its_own(root)
            self._finish()
            return clone
        self._changed = bool(self._clone_function or self._call_function) or input_tensors is not None
        with calls_rolled_back_on_failure(may_be_called(root, input_tensors)) if self._changed else nullcontext():
            clone = self._graph(root, input_tensors, self._call_function)
            self._finish()
        return clone

    def remember(self, layer: Any, clone: Any) -> Any:
        self._clones[id(layer)] = clone
        return super().remember(layer, clone)

    # What a call refers to.

    def operation(self, operation: Any, call: Callable[..., Any] | None = None) -> Any:
        """The clone of a layer, a nested model or another operation of a graph whose layers are called by `call`."""
        if id(operation) in self._layers:
            return self.clone_at(id(operation))
        if isinstance(operation, keras.layers.InputLayer):
            clone = self._tensor_of_input(operation)._keras_history.operation
        elif not isinstance(operation, keras.Layer):
            clone = (
                self._function(operation) if isinstance(operation, Function) else clone_operation(operation, self.leaf)
            )
        elif self._recursive and isinstance(operation, (keras.Sequential, Functional)):
            clone = self._graph(operation, call=call)
        elif self._clone_function is None:
            clone = self._default(operation)
        else:
            clone = self.checked(operation, self._clone_function(operation))
        return self.remember(operation, clone)

    def leaf(self, value: Any) -> Any:
        """An argument that is no tensor of the graph: state is made anew, everything else is passed on as it is."""
        if isinstance(value, keras.Layer):
            return self._sublayer(value)
        if isinstance(value, keras.Variable):
            return self._variable(value)
        if isinstance(value, (keras.random.SeedGenerator, keras.metrics.Metric, keras.optimizers.Optimizer)):
            return self._other(value, lambda: made_again(value, self._sublayer, self.leaf))
        if isinstance(value, keras.initializers.Initializer):
            return self._other(value, lambda: ADAPTER.drawing_anew(value))
        return value

    # Kinds of layers.

    def _sublayer(self, layer: Any) -> Any:
        """A layer that another one holds, which no `clone_function` is asked about."""
        if id(layer) in self._layers:
            return self.clone_at(id(layer))
        return self.remember(layer, self._default(layer))

    def _default(self, layer: Any) -> Any:
        if isinstance(layer, keras.layers.InputLayer):
            return self._tensor_of_input(layer)._keras_history.operation
        if isinstance(layer, (keras.Sequential, Functional)):
            return self._graph(layer)
        return self._layer_of_its_own(layer)

    def _layer_of_its_own(self, layer: Any) -> Any:
        self._being_made.add(id(layer))
        if is_plain_lambda(layer):
            clone = clone_lambda(layer, self.leaf, self._policy(policy_of(layer)))
        else:
            with made_as(layer):
                clone = clone_from_config(layer, self._sublayer, self.leaf, self._policy, self._user_layers)
        for held, cloned in carried_over.sublayer_pairs(layer, clone, set()):
            cloned.name = held.name  # before it is built, so that its variables are named after it
            if not (cloned.built and carried_over.own_variables(cloned)) and not is_quantized(policy_of(cloned)):
                # Likewise, so that they have its dtypes, and before it is called; it is quantized at the end.
                self._take_over_policy(cloned, unquantized(policy_of(held)))
            carried_over.take_over_flags(held, cloned)
            carried_over.regularize_alike(held, cloned, self._regularizer)
            self._shared.share_alike(held, cloned)
        self._pairs.append((layer, clone))
        if isinstance(layer, keras.Model):
            self._models.append((layer, clone))
        return clone

    def _graph(self, model: Any, input_tensors: Any = None, call: Callable[..., Any] | None = None) -> Any:
        if isinstance(model, keras.Sequential):
            with floats_as_in(ADAPTER.graph_nodes(model._functional) if model._functional else ()):
                clone = self._sequential(model, input_tensors)
        else:
            clone = self._functional(model, input_tensors, call)
            if self._is_plain(call, input_tensors):  # they go by the names that layers had when the model was made
                clone.output_names = list(model.output_names)
        set_policy(clone, self._policy(policy_of(model)))
        self._models.append((model, clone))
        return clone

    def _is_plain(self, call: Any, input_tensors: Any) -> bool:
        return self._clone_function is None and call is None and input_tensors is None

    def _functional(self, model: Any, input_tensors: Any, call: Callable[..., Any] | None) -> Any:
        faithful = self._is_plain(call, input_tensors)
        if has_custom_constructor(model) and faithful:
            made = self.made_of_config(model)
            if made is not None:
                return made
        inputs, outputs = self._calls_again(model, input_tensors, call, faithful)
        if not has_custom_constructor(model):
            reasons = self._reasons.setdefault(id(model), [])
            made = made_of_graph(model, inputs, outputs, faithful, reasons)
            if made is not None:
                return self._with_set_attributes(model, made)
        try:
            return self._of_its_class(model, Functional, (inputs, outputs), faithful)
        except ValueError as failure:
            refuse_masks_from_outside(inputs, failure)
            raise

    def _of_its_class(self, model: Any, base: Any, parts: tuple[Any, ...], faithful: bool) -> Any:
        """A model of the class of another, made of parts of its own and holding what the other holds."""
        with scopes_of(model) if base is keras.Sequential else nullcontext():
            made = put_together(model, base, *parts)
        clone = self.remember(model, made)
        try:
            self.copy_all_attributes(model, clone)
        except Refused:
            if faithful or type(model).call is not base.call:
                raise
            return self._with_set_attributes(model, base(*parts, name=model.name))
        if not isinstance(model, keras.Sequential):
            self._order_layers(model, clone)
        return clone

    def _calls_again(self, model: Any, input_tensors: Any, call: Any, faithful: bool) -> tuple[Any, Any]:
        """The inputs and outputs of the graph of a model, every call in it made again."""
        inputs = map_leaves(self._input, model._inputs_struct) if input_tensors is None else input_tensors
        tensors = dict(zip(map(id, model.inputs), tree.flatten(inputs)))
        if faithful:
            repeat_calls(model, tensors, self.operation, self.leaf)
        else:
            make_changed_calls(model, tensors, lambda each: self.operation(each, call), self.leaf, call)
        self._in_graphs.update(tensors)
        return inputs, map_leaves(lambda tensor: _connected(tensors, tensor, model), model._outputs_struct)

    def rebuilt(self, model: Any) -> Any:
        return clone_from_config(model, self._sublayer, self.leaf, self._policy, [])

    def adopt(self, model: Any, clone: Any, match: GraphMatch) -> None:
        for operation, its in match.others:
            its.name = operation.name  # it was numbered anew
        for tensor, its in match.tensors:
            self._in_graphs[id(tensor)] = its
            if isinstance(tensor._keras_history.operation, keras.layers.InputLayer):
                self._tensors[id(tensor)] = its
                its.name = tensor.name
        for layer, its in match.layers:
            if hasattr(layer, "output_names"):
                its.output_names = list(layer.output_names)
        self._pairs.append((model, clone))

    # What models hold beside their graphs.

    def _with_set_attributes(self, model: Any, clone: Any) -> Any:
        self.copy_set_attributes(model, self.remember(model, clone))
        return clone

    def _order_layers(self, model: Any, clone: Any) -> None:
        order = {id(self.clone_at(id(layer))): place for place, layer in enumerate(model._layers)}
        layers = sorted(clone._layers, key=lambda layer: order.get(id(layer), len(order)))
        if any(one is not other for one, other in zip(layers, clone._layers)):
            clone._layers[:] = layers  # until 3.14 it is a list of TensorFlow, which takes no key

    def is_set_later(self, value: Any) -> bool:
        # Optimizers are not compared: what a `compile` has set, the constructor may have set as well.
        return isinstance(value, keras.optimizers.Optimizer)

    def part_of_clone(self, model: Any, part: Any) -> Any:
        if isinstance(part, keras.KerasTensor):
            if id(part) not in self._in_graphs:
                raise NotUnderstood(str(part.name))
            return self._in_graphs[id(part)]
        if any(part is variable for variable in carried_over.own_variables(model)):
            return self._other(part, lambda: carried_over.fresh_variable(part))
        return self.leaf(part)

    def is_changed(self) -> bool:
        return self._changed

    def _function(self, function: Any) -> Any:
        inputs = map_leaves(self._input, function._inputs_struct)
        tensors = dict(zip(map(id, function.inputs), tree.flatten(inputs)))
        if self._clone_function is None:
            repeat_calls(function, tensors, self.operation, self.leaf)
        else:
            make_changed_calls(function, tensors, self.operation, self.leaf, None)
        self._in_graphs.update(tensors)
        outputs = map_leaves(lambda tensor: _connected(tensors, tensor, function), function._outputs_struct)
        return type(function)(inputs, outputs, name=function.name)

    def _sequential(self, model: Any, input_tensors: Any) -> Any:
        faithful = self._clone_function is None and input_tensors is None
        own = not _takes(type(model), keras.Sequential)
        clone = self.made_of_config(model) if own and faithful else None
        if clone is None:
            clones = self._layers_of(model, input_tensors)
            if own:
                clone = self._of_its_class(model, keras.Sequential, (clones,), faithful)
            else:
                with scopes_of(model):
                    clone = type(model)(clones, name=model.name)
                clone = self._with_set_attributes(model, clone)
        carried_over.take_over_flags(model, clone)
        carried_over.operations_alike(model._functional, clone._functional)
        return clone

    def _layers_of(self, model: Any, input_tensors: Any) -> list[Any]:
        """Clones of the layers of a Sequential model, its input layer among them."""
        layers = list(model._layers)
        first: list[Any] = []
        if layers and isinstance(layers[0], keras.layers.InputLayer):
            own = layers.pop(0)
            first = [] if input_tensors is not None else [self.operation(own)]
        if input_tensors is not None:
            first = [_input_layer_on(input_tensors)]
        return first + [self.operation(layer) for layer in layers]

    # Inputs and state.

    def _input(self, tensor: Any) -> Any:
        if id(tensor) not in self._tensors:
            self._kept.append(tensor)
            history = getattr(tensor, "_keras_history", None)
            layer = history.operation if history else None
            if isinstance(layer, keras.layers.InputLayer):
                if id(layer) not in self._layers:
                    self._pairs.append((layer, self.remember(layer, clone_input_layer(layer))))
                    set_policy(self.clone_at(id(layer)), self._policy(policy_of(layer)))
                self._tensors[id(tensor)] = self.clone_at(id(layer)).output
            else:
                self._tensors[id(tensor)] = placeholder_like(tensor)
        return self._tensors[id(tensor)]

    def _tensor_of_input(self, layer: Any) -> Any:
        return self._input(layer.output)

    def _policy(self, policy: Any) -> Any:
        return self._other(policy, lambda: copied_policy(policy))

    def _take_over_policy(self, clone: Any, policy: Any) -> None:
        """That of a layer that another makes for itself, which no config tells."""
        held = policy_of(clone)
        if (type(held), held.name) != (type(policy), policy.name):
            set_policy(clone, self._policy(policy))

    def _regularizer(self, regularizer: Any) -> Any:
        return self._other(regularizer, lambda: own_regularizer(regularizer, self.leaf))

    def _variable(self, variable: Any) -> Any:
        """The variable that the owner's clone has in this place, or a copy where no layer owns it."""
        if self._owners is None:
            self._owners = {}
            for layer in self._root._flatten_layers():
                for index, owned in enumerate(carried_over.own_variables(layer)):
                    self._owners.setdefault(id(owned), (layer, index))
        layer, index = self._owners.get(id(variable), (None, 0))
        if layer is None or (id(layer) in self._being_made and id(layer) not in self._layers):
            return self._other(variable, lambda: carried_over.fresh_variable(variable))
        clone = self.operation(layer)
        carried_over.build_alike(layer, clone)
        variables = carried_over.own_variables(clone)
        if index >= len(variables):
            raise ValueError(
                f"A call of the model takes the variable '{variable.path}' of the layer '{layer.name}', which what "
                f"`clone_function` gave for it, {clone}, does not have."
            )
        return variables[index]

    def _other(self, value: Any, clone: Callable[[], Any]) -> Any:
        if id(value) not in self._others:
            self._kept.append(value)
            self._others[id(value)] = clone()
        return self._others[id(value)]

    def _finish(self) -> None:
        """Flags last: until here they decide how a layer is built, and building or nesting changes them again."""
        seen: Any = set()
        pairs = []
        for original, clone in self._pairs:
            for pair in carried_over.sublayer_pairs(original, clone, seen):
                carried_over.build_alike(*pair)  # before what it holds is asked for: building may make it
                pairs.append(pair)
        pairs += self._models
        for original, clone in self._models:
            carried_over.build_alike(original, clone)
        self.finish_user_layers()
        for original, clone in pairs:
            carried_over.quantize_alike(original, clone)
            self._take_over_policy(clone, policy_of(original))
            carried_over.take_over_flags(original, clone)
            carried_over.regularize_alike(original, clone, self._regularizer)
            carried_over.order_alike(original, clone)
            carried_over.kernel_shape_alike(original, clone)
            carried_over.name_alike(original, clone)
            carried_over.freeze_alike(original, clone)
            carried_over.learn_alike(original, clone)
        for original, clone in self._pairs:
            self.refuse_unlike(original, clone)
        for original, clone in self._models:
            with compiled_as(original):
                compile_alike(original, clone, lambda value: made_again(value, self._sublayer, self.leaf))


def _connected(tensors: dict[int, Any], tensor: Any, graph: Any) -> Any:
    if id(tensor) not in tensors:
        raise ValueError(f"Output {tensor.name} of '{graph.name}' is not connected to its inputs.")
    return tensors[id(tensor)]


def _input_layer_on(tensor: Any) -> Any:
    """The input layer of a given tensor, or a new one like it: taking the tensor over would cut it off its past."""
    layer = tensor._keras_history.operation if getattr(tensor, "_keras_history", None) else None
    if isinstance(layer, keras.layers.InputLayer):
        return layer
    return input_layer_of(placeholder_like(tensor), tensor.name)


def _takes(kind: Any, base: Any) -> bool:
    """Whether a class is constructed the way its base class is."""
    spec = inspect.getfullargspec(kind.__init__)
    return spec.args == inspect.getfullargspec(base.__init__).args or bool(spec.varargs and spec.varkw)
