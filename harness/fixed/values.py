"""Gives the variables of a clone their values: those with which a new model begins, or those of the original."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from .copier import Copier
from .parts import namespace

Place = tuple[Any, ...]
COMPOSED = ("keras.src.", "keras_hub.src.")
"""Packages in which `build` of a layer without weights of its own builds the layers within it, and changes no weight.

Those within are built at once: to build the layer would make them once more.
"""


class Values:
    """Gives the variables that were copied last their values."""

    def __init__(self, copier: Copier) -> None:
        self.copier = copier
        self.keras = copier.keras
        self.unbuilt_plans: dict[type, Any] = {}
        self.errors: dict[int, Exception] = {}
        pairs = copier.pairs(self.keras.VARIABLE)
        self.waiting = {id(variable): (variable, new) for variable, new in pairs if value_of(variable) is not None}
        """The variables that have no value yet, each with its copy."""
        drawing = [key for key, thing in copier.owned.items() if isinstance(thing, self.keras.DRAWING)]
        self.drawing = {key: copier.memo[key] for key in drawing}

    def run(self, weights: bool) -> None:
        """Give all variables their values, without a word: what Keras has to say, it said where the model was made."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not weights:
                self._begin()
            self._keep(variable for variable, _ in list(self.waiting.values()))
            for function in self.keras.AFTER_VALUES:
                function(self.copier)

    def give(self, variable: Any, initial: Any) -> None:
        """Give the copy of a variable the value of another variable, which is not used any more, or its own value."""
        _, new = self.waiting.pop(id(variable))
        self.keras.give(self.copier, variable, new, initial)

    def _keep(self, variables: Any) -> None:
        for variable in variables:
            if id(variable) in self.waiting:
                self.give(variable, variable)

    def _begin(self) -> None:
        """Give each variable the value with which it begins, but for those that belong to no layer."""
        keras = self.keras
        keras.begin_generators(self)
        for metric, new in self.copier.pairs(keras.METRIC):
            self._keep(self.places(metric.variables).values())
            new.reset_state()
        layers = [layer for layer, _ in self.copier.pairs(keras.LAYER)]
        for layer in sorted(layers, key=lambda layer: layer is not self.copier.root):
            self._begin_layer(layer)
        for layer in layers:
            self._refuse_weights(layer)
        for optimizer, _ in self.copier.pairs(keras.OPTIMIZER):
            self._begin_optimizer(optimizer)

    def _begin_layer(self, layer: Any) -> None:
        """Give the weights of a layer, and of those within it, the values that they have when it is built anew."""
        if self._waits(layer) and not self._is_composed(layer):
            self._try(layer, self._built)
        if self._waits(layer):
            for part in layer._flatten_layers(recursive=False, include_self=False):
                self._begin_layer(part)
        if self._waits(layer) and not isinstance(layer, (self.keras.Functional, self.keras.Sequential)):
            self._try(layer, self._from_config)

    def _waits(self, layer: Any) -> bool:
        """Whether a weight of a layer, or of one within it, has no value yet."""
        parts = layer._flatten_layers()
        return any(id(variable) in self.waiting for part in parts for variable in self.keras.variables_of(self, part))

    def _refuse_weights(self, layer: Any) -> None:
        error = self.errors.get(id(layer))
        for variable in self.keras.variables_of(self, layer):
            path = getattr(variable, "path", f"/{variable.name}")
            if id(variable) in self.waiting and "/" in path:  # one that the layer was given has none
                raise ValueError(
                    f"clone_model: nobody knows how the weight '{path}' of the layer '{layer.name}' (class "
                    f"`{type(layer).__name__}`) begins{f' ({type(error).__name__}: {error})' if error else ''}. Make "
                    "it in `build`, or copy its value with `weights=True`."
                ) from error

    def _is_composed(self, layer: Any) -> bool:
        """Whether building the layers within a layer is all that its `build` does."""
        build, keras = type(layer).build, self.keras
        if build in (cls.build for cls in (keras.Layer, keras.Model, keras.Functional, keras.Sequential)):
            return True
        if not build.__module__.startswith(COMPOSED) or "assign" in inspect.unwrap(build).__code__.co_names:
            return False
        parts = [part for part in layer._flatten_layers() if self.keras.variables_of(self, part)]
        makes_states = getattr(layer, "stateful", False)  # which are no weights
        return not makes_states and layer not in parts and all(part._build_shapes_dict for part in parts)

    def _try(self, layer: Any, make: Callable[[Any], Any]) -> None:
        """Take over the values of the variables of a layer that `make` makes anew."""
        variables = self._waiting_under(layer)
        with scope_of(variables):
            try:
                twin = make(layer)
            except Exception as error:
                self.errors[id(layer)] = error
                return
        self.take_over(variables, twin)

    def _waiting_under(self, thing: Any) -> dict[Place, Any]:
        return {place: variable for place, variable in self.places(thing).items() if id(variable) in self.waiting}

    def take_over(self, variables: dict[Place, Any], twin: Any) -> int:
        """Give variables the values of those that answer to them in a twin; how many do."""
        taken = set()
        for place, variable in variables.items():
            initial = functools.reduce(lambda thing, name: _named(thing).get(name), place, twin)
            has_value = isinstance(initial, self.keras.VARIABLE) and value_of(initial) is not None
            is_new = id(variable) in self.waiting and id(initial) not in taken
            if has_value and is_new and initial.shape == variable.shape:
                taken.add(id(initial))
                self.give(variable, initial)
        return len(taken)

    def places(self, thing: Any) -> dict[Place, Any]:
        """The variables under an object, each by its shortest place, then by the first in alphabetical order."""
        places: dict[Place, Any] = {}
        walked = {id(thing)}
        waiting: collections.deque[tuple[Place, Any]] = collections.deque([((), thing)])
        kinds = (self.keras.VARIABLE, *self.keras.LEADING)
        while waiting:
            place, part = waiting.popleft()
            named = _named(part)
            for name in sorted(name for name, value in named.items() if isinstance(value, kinds)):
                value = named[name]
                if id(value) in walked or name in self.keras.NOT_LEADING:
                    continue
                walked.add(id(value))
                if isinstance(value, self.keras.VARIABLE) and value_of(value) is not None:
                    places[(*place, name)] = value
                elif isinstance(value, self.keras.LEADING):
                    waiting.append(((*place, name), value))
        return places

    def unbuilt(self, thing: Any) -> Any:
        """A copy of a layer, or of an optimizer, as it is before it is built, which draws what the clone draws."""
        copier = Copier(self.keras, thing, unbuilt=True)
        copier.plans = self.unbuilt_plans
        copier.memo = self.drawing.copy()
        copier.copy()
        return copier.memo[id(thing)]

    def _built(self, layer: Any) -> Any:
        twin = self.unbuilt(layer)
        self.keras.build(layer, twin)
        return twin

    def _from_config(self, layer: Any) -> Any:
        """The layer that its config makes, built as the layer was."""
        recorded = getattr(layer, "_auto_config", None)  # what its constructor was given, in Keras 3
        config = layer.get_config() if recorded is None else recorded.config
        self._keep(self.places(config).values())  # variables that it was given
        if not self._waits(layer):
            return None
        twin = type(layer).from_config(config)
        if not twin.built:
            self.keras.build(layer, twin)
        return twin

    def _begin_optimizer(self, optimizer: Any) -> None:
        """Give an optimizer counts and slots that are new; its learning rate is as it is."""
        variables = self._waiting_under(optimizer)
        with scope_of(variables):
            known = self.take_over(variables, self.keras.begun_optimizer(self, optimizer))
        if known != len(variables):
            raise ValueError(
                f"clone_model: nobody knows how {len(variables) - known} variables of the optimizer "
                f"`{type(optimizer).__name__}` begin. Make them in its `build`, or copy them with `weights=True`."
            )


def scope_of(variables: dict[Place, Any]) -> Any:
    """A scope in which variables like these are made: that of a strategy of TensorFlow."""
    strategy = getattr(next(iter(variables.values()), None), "_distribute_strategy", None)
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def value_of(variable: Any) -> Any:
    """What the value of a variable is kept in: a tensor in Keras 3, a handle in tf_keras.

    A variable of tf_keras that holds another one, for mixed precision or for replicas, has none of its own.
    """
    return variable._value if hasattr(variable, "_value") else vars(variable).get("_handle")


def _named(thing: Any) -> dict[str, Any]:
    """What a container or an object holds, by name."""
    if isinstance(thing, dict):
        return {str(key): value for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return {str(number): value for number, value in enumerate(thing)}
    return namespace(thing)
