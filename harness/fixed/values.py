"""Gives a clone's variables their initial values, or the original's."""

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

Place = tuple[Any, ...]  # attributes, keys and indices


def is_of_keras(layer: Any) -> bool:
    """Whether a layer is of Keras and not quantized: its settings determine its weights."""
    package = type(layer).__module__.partition(".")[0]
    return package in ("keras", "tf_keras") and getattr(layer, "quantization_mode", None) is None


class Values:
    """Gives values to the variables in the copier's latest copy."""

    def __init__(self, copier: Copier) -> None:
        self.copier = copier
        self.adapter = copier.adapter
        self.errors: dict[int, Exception] = {}
        pairs = copier.pairs(self.adapter.VARIABLE)
        self.empty_copies = {id(variable): (variable, new) for variable, new in pairs if self._has_value(variable)}
        """By `id`, variables whose copies have no value yet, with the copies."""
        random_sources = [key for key, obj in copier.objects.items() if isinstance(obj, self.adapter.RANDOM_SOURCES)]
        self.random_sources = {key: copier.memo[key] for key in random_sources}

    def run(self, weights: bool) -> None:
        """Give all variables values, without repeating Keras' warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            messages: list[str] = [] if weights else self._initialize()
            self._keep_values(variable for variable, _ in list(self.empty_copies.values()))
            self._apply_settings()
            self.adapter.update_dependents(self.copier)
        for message in messages:
            warnings.warn(message, stacklevel=4)

    def set_value(self, variable: Any, initial: Any) -> None:
        """Give the copy of `variable` the value of `initial`, perhaps `variable` itself."""
        _, new = self.empty_copies.pop(id(variable))
        self.adapter.set_value(self.copier, variable, new, initial)

    def _keep_values(self, variables: Any) -> None:
        for variable in variables:
            if id(variable) in self.empty_copies:
                self.set_value(variable, variable)

    def _initialize(self) -> list[str]:
        """Give each variable its initial value; return messages to warn with."""
        adapter = self.adapter
        adapter.reset_states(self)
        for metric, new in self.copier.pairs(adapter.METRIC):
            self._keep_values(self.variables_in(metric.variables).values())
            new.reset_state()
            with contextlib.suppress(Exception):  # a user's `get_config` may raise
                for variable in self.variables_in(metric.get_config()).values():  # arguments keep their values
                    adapter.set_value(self.copier, variable, self.copier.memo[id(variable)], variable)
        optimizers = [optimizer for optimizer, _ in self.copier.pairs(adapter.OPTIMIZER)]
        roots = (self.copier.root, *optimizers)
        reachable_ids = {id(variable) for root in roots for variable in self.variables_in(root).values()}
        # `set_weights` cannot reach a layer that only a function holds: it keeps its weights.
        pairs = [pair for key, pair in self.empty_copies.items() if key not in reachable_ids]
        self._keep_values(variable for variable, _ in pairs)
        self.random_sources.update((id(variable), new) for variable, new in pairs)  # an initializer may use them
        layers = [layer for layer, _ in self.copier.pairs(adapter.LAYER)]
        for layer in sorted(layers, key=lambda layer: layer is not self.copier.root):
            self._initialize_layer(layer)
        messages = [text for layer in layers for text in self._keep_rest(layer, adapter.variables_of(self, layer))]
        for optimizer in optimizers:  # counters and slots start again, not the learning rate
            variables = self.variables_in(optimizer)
            self.copy_initial_values(variables, adapter.fresh_optimizer(self, optimizer))
            messages += self._keep_rest(optimizer, variables.values())
        return messages

    def _apply_settings(self) -> None:
        """Apply regularizers and constraints that layers got after `build`."""
        for layer, _ in self.copier.pairs(self.adapter.LAYER):
            for name in [name for name in vars(layer) if name.endswith(("_regularizer", "_constraint"))]:
                weight = name.rpartition("_")[0]
                variable = getattr(layer, f"_{weight}", getattr(layer, weight, None)) if is_of_keras(layer) else None
                if isinstance(variable, self.adapter.VARIABLE):
                    self.adapter.apply_setting(self.copier, layer, variable, name)

    def _initialize_layer(self, layer: Any) -> None:
        """Initialize the weights of a layer and its sublayers as `build` does."""
        if self._has_empty_copies(layer) and type(layer).build not in self.adapter.COMMON_BUILDS:
            self._initialize_from(layer, lambda layer: self.adapter.build_like(layer, self.unbuilt_copy(layer)))
        if self._has_empty_copies(layer):
            for part in layer._flatten_layers(recursive=False, include_self=False):
                self._initialize_layer(part)
        if self._has_empty_copies(layer) and not isinstance(layer, (self.adapter.Functional, self.adapter.Sequential)):
            self._initialize_from(layer, self._rebuild_from_config)

    def _has_empty_copies(self, layer: Any) -> bool:
        weights = [weight for part in layer._flatten_layers() for weight in self.adapter.variables_of(self, part)]
        return any(id(weight) in self.empty_copies for weight in weights)

    def _keep_rest(self, owner: Any, variables: Iterable[Any]) -> Iterator[str]:
        """Keep values that neither `build` nor `from_config` creates; yield messages."""
        error = self.errors.get(id(owner))
        reason = f" ({type(error).__name__}: {textwrap.shorten(str(error), 150)})" if error else ""
        for variable in variables:
            path = getattr(variable, "path", f"/{variable.name}")
            if id(variable) in self.empty_copies and "/" in path:  # a variable that no layer created has no path
                self._keep_values([variable])
                yield (
                    f"clone_model: the variable '{path}' of '{owner.name}' (class `{type(owner).__name__}`) keeps its "
                    "value in the clone, as neither `build` nor `from_config` creates it"
                    f"{reason}. Create it in `build` to initialize it in clones."
                )

    def _initialize_from(self, layer: Any, create: Callable[[Any], Any]) -> None:
        """Initialize a layer's variables from a new layer, which `create` returns."""
        variables = self.variables_in(layer)
        try:
            new = create(layer)
        except Exception as error:
            self.errors[id(layer)] = error
            return
        if all(map(is_of_keras, layer._flatten_layers())):
            self._refuse_other_weights(layer, variables, new)
        self.copy_initial_values(variables, new)

    def _refuse_other_weights(self, layer: Any, variables: dict[Place, Any], new: Any) -> None:
        """Refuse a layer if a setting changed after `build` requires other weights."""
        for place, variable in self.variables_in(new).items():
            old = variables.get(place, _part_at(place, layer))
            is_part = any(place[:length] in variables for length in range(len(place)))  # of a distributed variable
            if (old is None and not is_part) or (place in variables and old.shape != variable.shape):
                shape = tuple(variable.shape)
                old_shape = "none" if old is None else tuple(old.shape)
                raise ValueError(
                    f"clone_model: '{layer.name}' was built before its settings were changed: with them, `{place[-1]}` "
                    f"would have the shape {shape}, but it has {old_shape}. Keep weights with `weights=True` "
                    "or settings with `clone_function=lambda layer: layer.from_config(layer.get_config())`."
                )

    def copy_initial_values(self, variables: dict[Place, Any], new: Any) -> None:
        """Give copies of variables the values at their places in a new object."""
        used_ids = set()
        for place, variable in variables.items():
            initial = _part_at(place, new)
            is_of_strategy = id(variable) in self.copier.strategy_variables
            has_value = isinstance(initial, self.adapter.VARIABLE) and (is_of_strategy or value_of(initial) is not None)
            is_usable = id(variable) in self.empty_copies and id(initial) not in used_ids
            if has_value and is_usable and initial.shape == variable.shape:
                used_ids.add(id(initial))
                self.set_value(variable, initial)

    def variables_in(self, obj: Any) -> dict[Place, Any]:
        """An object's variables, by their shortest and alphabetically first place."""
        places: dict[Place, Any] = {}
        walked_ids = {id(obj)}
        queue: collections.deque[tuple[Place, Any]] = collections.deque([((), obj)])
        classes = (self.adapter.VARIABLE, *self.adapter.SEARCHED_CLASSES)
        while queue:
            place, part = queue.popleft()
            parts = _parts_by_name(part)
            names = [name for name, value in parts.items() if isinstance(value, classes)]
            for name in sorted(names, key=lambda name: (name == "_layers", name)):  # it repeats layers that have names
                value = parts[name]
                if id(value) in walked_ids or name in self.adapter.SKIPPED_ATTRIBUTES:
                    continue
                walked_ids.add(id(value))
                if isinstance(value, self.adapter.VARIABLE) and self._has_value(value):
                    places[(*place, name)] = value
                elif isinstance(value, self.adapter.SEARCHED_CLASSES):
                    queue.append(((*place, name), value))
        return places

    def _has_value(self, variable: Any) -> bool:
        return id(variable) in self.copier.strategy_variables or value_of(variable) is not None

    def unbuilt_copy(self, obj: Any) -> Any:
        """Create an unbuilt layer or optimizer with the clone's random generators."""
        copier = Copier(self.adapter, obj, unbuilt=True)
        copier.memo = self.random_sources.copy()
        copier.copy()
        return copier.memo[id(obj)]

    def _rebuild_from_config(self, layer: Any) -> Any:
        """Create a layer from another's config, and build it in the same way."""
        recorded = getattr(layer, "_auto_config", None)  # Keras 3 records constructor arguments
        config = layer.get_config() if recorded is None else recorded.config
        self._keep_values(self.variables_in(config).values())  # variables may be constructor arguments
        if not self._has_empty_copies(layer):
            return None
        new = type(layer).from_config(config)
        return new if new.built else self.adapter.build_like(layer, new)


def value_of(variable: Any) -> Any:
    """A variable's tensor or handle; None for a wrapper of tf_keras."""
    return variable._value if hasattr(variable, "_value") else vars(variable).get("_handle")


def _part_at(place: Place, obj: Any) -> Any:
    """The object at a place inside another object, or None."""
    return functools.reduce(lambda part, name: _parts_by_name(part).get(name), place, obj)


def _parts_by_name(obj: Any) -> dict[str, Any]:
    if isinstance(obj, dict):
        return {str(key): value for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return {str(number): value for number, value in enumerate(obj)}
    return namespace(obj)
