"""Gives the variables of a clone initial values, or those of the original."""

from __future__ import annotations

import collections
import contextlib
import functools
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from clonediff.harness.fixed.copier import Copier
from clonediff.harness.fixed.parts import namespace

Place = tuple[Any, ...]


def is_of_keras(layer: Any) -> bool:
    """Whether settings determine the weights of a layer: one of Keras, and not quantized."""
    package = type(layer).__module__.partition(".")[0]
    return package in ("keras", "tf_keras") and getattr(layer, "quantization_mode", None) is None


class Values:
    """Gives the latest copied variables their values."""

    def __init__(self, copier: Copier) -> None:
        self.copier = copier
        self.keras = copier.keras
        self.errors: dict[int, Exception] = {}
        pairs = copier.pairs(self.keras.VARIABLE)
        self.waiting = {id(variable): (variable, new) for variable, new in pairs if self._has_value(variable)}
        """The variables whose copies have no value yet, with the copies."""
        drawing = [key for key, thing in copier.owned.items() if isinstance(thing, self.keras.DRAWING)]
        self.drawing = {key: copier.memo[key] for key in drawing}

    def run(self, weights: bool) -> None:
        """Give all variables their values, without the warnings that Keras gave for the original."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept: list[str] = [] if weights else self._begin()
            self._keep(variable for variable, _ in list(self.waiting.values()))
            self._apply_edits()
            self.keras.after_values(self.copier)
        for message in kept:
            warnings.warn(message, stacklevel=4)

    def give(self, variable: Any, initial: Any) -> None:
        """Give the copy of a variable the value of `initial`, or its own."""
        _, new = self.waiting.pop(id(variable))
        self.keras.give(self.copier, variable, new, initial)

    def _keep(self, variables: Any) -> None:
        for variable in variables:
            if id(variable) in self.waiting:
                self.give(variable, variable)

    def _begin(self) -> list[str]:
        """Give each variable its initial value, and return warnings."""
        keras = self.keras
        keras.begin_generators(self)
        for metric, new in self.copier.pairs(keras.METRIC):
            self._keep(self.places(metric.variables).values())
            new.reset_state()
            with contextlib.suppress(Exception):  # `get_config` of a user may raise
                for variable in self.places(metric.get_config()).values():  # arguments, which keep their values
                    keras.give(self.copier, variable, self.copier.memo[id(variable)], variable)
        optimizers = [optimizer for optimizer, _ in self.copier.pairs(keras.OPTIMIZER)]
        reached = {id(one) for thing in (self.copier.root, *optimizers) for one in self.places(thing).values()}
        # A layer that only a function holds keeps its weights, since `set_weights` cannot reach them.
        others = [(variable, new) for key, (variable, new) in self.waiting.items() if key not in reached]
        self._keep(variable for variable, _ in others)
        self.drawing.update((id(variable), new) for variable, new in others)  # an initializer may use them
        layers = [layer for layer, _ in self.copier.pairs(keras.LAYER)]
        for layer in sorted(layers, key=lambda layer: layer is not self.copier.root):
            self._begin_layer(layer)
        kept = [message for layer in layers for message in self._unknown(layer, keras.variables_of(self, layer))]
        for optimizer in optimizers:  # counters and slots are initialized, the learning rate is kept
            variables = self.places(optimizer)
            self.take_over(variables, keras.begun_optimizer(self, optimizer))
            kept += self._unknown(optimizer, variables.values())
        return kept

    def _apply_edits(self) -> None:
        """Apply regularizers and constraints that were set on layers after they were built."""
        for layer, _ in self.copier.pairs(self.keras.LAYER):
            for name in [name for name in vars(layer) if name.endswith(("_regularizer", "_constraint"))]:
                weight = name.rpartition("_")[0]
                variable = getattr(layer, f"_{weight}", getattr(layer, weight, None)) if is_of_keras(layer) else None
                if isinstance(variable, self.keras.VARIABLE):
                    self.keras.apply_edit(self.copier, layer, variable, name)

    def _begin_layer(self, layer: Any) -> None:
        """Initialize the weights of a layer and its sublayers as `build` does."""
        if self._waits(layer) and type(layer).build not in self.keras.COMMON_BUILDS:
            self._try(layer, lambda layer: self.keras.built(layer, self.unbuilt(layer)))
        if self._waits(layer):
            for part in layer._flatten_layers(recursive=False, include_self=False):
                self._begin_layer(part)
        if self._waits(layer) and not isinstance(layer, (self.keras.Functional, self.keras.Sequential)):
            self._try(layer, self._from_config)

    def _waits(self, layer: Any) -> bool:
        """Whether a weight of a layer or sublayer has no value yet."""
        parts = layer._flatten_layers()
        return any(id(variable) in self.waiting for part in parts for variable in self.keras.variables_of(self, part))

    def _unknown(self, owner: Any, variables: Iterable[Any]) -> Iterator[str]:
        """Keep the values of variables that neither `build` nor a config creates, and yield warnings."""
        error = self.errors.get(id(owner))
        reason = f" ({type(error).__name__}: {textwrap.shorten(str(error), 150)})" if error else ""
        for variable in variables:
            path = getattr(variable, "path", f"/{variable.name}")
            if id(variable) in self.waiting and "/" in path:  # a variable from outside has no path
                self._keep([variable])
                yield (
                    f"clone_model: the variable '{path}' of '{owner.name}' (class `{type(owner).__name__}`) keeps its "
                    "value in the clone, as neither `build` nor the config of its owner creates it"
                    f"{reason}. Create it in `build` to initialize it in clones."
                )

    def _try(self, layer: Any, make: Callable[[Any], Any]) -> None:
        """Initialize the variables of a layer from a new layer that `make` creates."""
        variables = self.places(layer)
        try:
            twin = make(layer)
        except Exception as error:
            self.errors[id(layer)] = error
            return
        if all(map(is_of_keras, layer._flatten_layers())):
            self._refuse_other_weights(layer, variables, twin)
        self.take_over(variables, twin)

    def _refuse_other_weights(self, layer: Any, built: dict[Place, Any], twin: Any) -> None:
        """Refuse a layer with a setting changed after `build` that requires other weights."""
        for place, variable in self.places(twin).items():
            own = built.get(place, _at(place, layer))
            is_part = any(place[:length] in built for length in range(len(place)))  # of a variable of a strategy
            if (own is None and not is_part) or (place in built and own.shape != variable.shape):
                has = "none" if own is None else tuple(own.shape)
                raise ValueError(
                    f"clone_model: '{layer.name}' was built with other settings than it has now: `{place[-1]}` would "
                    f"have the shape {tuple(variable.shape)}, and has {has}. Keep the weights with `weights=True`, or "
                    "the settings with `clone_function=lambda layer: layer.from_config(layer.get_config())`."
                )

    def take_over(self, variables: dict[Place, Any], twin: Any) -> None:
        """Give variables the values of their counterparts in a twin."""
        taken = set()
        for place, variable in variables.items():
            initial = _at(place, twin)
            is_made = id(variable) in self.copier.made
            has_value = isinstance(initial, self.keras.VARIABLE) and (is_made or value_of(initial) is not None)
            is_new = id(variable) in self.waiting and id(initial) not in taken
            if has_value and is_new and initial.shape == variable.shape:
                taken.add(id(initial))
                self.give(variable, initial)

    def places(self, thing: Any) -> dict[Place, Any]:
        """The variables under an object by place: the shortest, then the alphabetically first."""
        places: dict[Place, Any] = {}
        walked = {id(thing)}
        waiting: collections.deque[tuple[Place, Any]] = collections.deque([((), thing)])
        kinds = (self.keras.VARIABLE, *self.keras.LEADING)
        while waiting:
            place, part = waiting.popleft()
            named = _named(part)
            names = [name for name, value in named.items() if isinstance(value, kinds)]
            for name in sorted(names, key=lambda name: (name == "_layers", name)):  # it repeats layers with names
                value = named[name]
                if id(value) in walked or name in self.keras.NOT_LEADING:
                    continue
                walked.add(id(value))
                if isinstance(value, self.keras.VARIABLE) and self._has_value(value):
                    places[(*place, name)] = value
                elif isinstance(value, self.keras.LEADING):
                    waiting.append(((*place, name), value))
        return places

    def _has_value(self, variable: Any) -> bool:
        return id(variable) in self.copier.made or value_of(variable) is not None

    def unbuilt(self, thing: Any) -> Any:
        """An unbuilt copy of a layer or optimizer, with the random generators of the clone."""
        copier = Copier(self.keras, thing, unbuilt=True)
        copier.memo = self.drawing.copy()
        copier.copy()
        return copier.memo[id(thing)]

    def _from_config(self, layer: Any) -> Any:
        """A layer from the config of a layer, built like it."""
        recorded = getattr(layer, "_auto_config", None)  # the constructor arguments, in Keras 3
        config = layer.get_config() if recorded is None else recorded.config
        self._keep(self.places(config).values())  # variables among its arguments
        if not self._waits(layer):
            return None
        twin = type(layer).from_config(config)
        return twin if twin.built else self.keras.built(layer, twin)


def value_of(variable: Any) -> Any:
    """The tensor or handle with the value of a variable; None for tf_keras wrappers."""
    return variable._value if hasattr(variable, "_value") else vars(variable).get("_handle")


def _at(place: Place, thing: Any) -> Any:
    """The object at a place, or None."""
    return functools.reduce(lambda part, name: _named(part).get(name), place, thing)


def _named(thing: Any) -> dict[str, Any]:
    """The items or attributes of an object by name."""
    if isinstance(thing, dict):
        return {str(key): value for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return {str(number): value for number, value in enumerate(thing)}
    return namespace(thing)
