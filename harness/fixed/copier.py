"""Copies each object of a model once, so that the copies refer to each other."""

from __future__ import annotations

import copy
import itertools
import types
from typing import Any

from clonediff.harness.fixed import parts
from clonediff.harness.fixed.kinds import ATOMS, CONSTANTS, CONTAINERS, Marker, Plan, Way, way_of

PLANS: dict[tuple[Any, bool], dict[type, Plan]] = {}
"""Cached plans of library classes, by Keras module and by whether copies are unbuilt."""


class Copier:
    """Copies a model: walks over its objects, creates empty copies, and fills them."""

    def __init__(self, keras: Any, root: Any, unbuilt: bool = False) -> None:
        self.keras = keras
        self.root = root
        self.unbuilt = unbuilt  # whether copies have the state before `build`, without variables and calls
        self.cached_plans = PLANS.setdefault((keras, unbuilt), {})
        self.plans = self.cached_plans.copy()
        self.objects: dict[int, Any] = {}
        """The objects of the model by `id`."""
        self.functions: dict[int, Any] = {}
        """Functions that refer to the model, by `id`."""
        self.memo: dict[int, Any] = {}
        """The copy of each object by `id`; None if the clone does not have it."""
        self.strategy_variables: dict[int, Any] = {}
        """The variables that were created in the scope of another strategy, instead of copied."""
        self.latest: dict[type, list[Any]] = {}
        """The objects that the last `copy` copied, by class."""
        self.names: dict[str, str] = {}
        """For each text that contains the `id` of an object, the text for its copy."""
        self.references: list[Any] = []
        """Objects whose `id` is a key, so they must stay alive."""

    def plan(self, cls: type) -> Plan:
        plan = self.plans.get(cls)
        if plan is None:
            tables = [self.keras.COPY_RULES, *([self.keras.UNBUILT_COPY_RULES] if self.unbuilt else [])]
            found = [rules.items() for table in tables for base, rules in table.items() if issubclass(cls, base)]
            way = way_of(cls, self.keras.COPIED_MODULES, self.keras.VARIABLE)
            self.plans[cls] = plan = Plan(cls, way, dict(itertools.chain(*found)))
            plan.is_left_out = self.unbuilt and issubclass(cls, self.keras.VARIABLE)
            if cls.__module__.partition(".")[0] in parts.LIBRARIES:
                self.cached_plans[cls] = plan
        return plan

    def walk(self, *things: Any) -> None:
        """Find all objects of the model that can be reached from `things`."""
        waiting = list(things)
        objects, memo, plans = self.objects, self.memo, self.plans
        while waiting:
            thing = waiting.pop()
            cls = type(thing)
            if cls in ATOMS:
                continue
            plan, key = plans.get(cls) or self.plan(cls), id(thing)
            if plan.is_function:
                if cls is types.MethodType:
                    waiting.append(thing.__self__)
                if cls is not types.FunctionType or parts.contents(thing):
                    self.functions[key] = thing
            elif plan.is_left_out:
                memo.setdefault(key, None)
            elif plan.is_copied and key not in objects and key not in memo:
                objects[key] = thing
                waiting += self.referents_of(thing, plan)

    def referents_of(self, thing: Any, plan: Plan) -> list[Any]:
        """The objects that an object refers to, except those that the clone will not have."""
        if plan.is_plain:
            return parts.items(thing, plan.container)
        if plan.way is Way.TUPLE:
            return list(thing)
        if plan.way is Way.PROTOCOL:
            return parts.referents(thing)
        named, rules = parts.attributes(thing, plan), plan.rules
        values = [value for name, value in named.items() if name not in rules] if rules else list(named.values())
        for name, rule in rules.items():
            if rule is Marker.CALLS and name in named:
                calls = named[name]  # the calls themselves are found with their graphs
                self.objects[id(calls)] = calls
                values += parts.attributes(calls, self.plan(type(calls))).values()
        if rules and isinstance(thing, self.keras.TENSOR):
            values.append(parts.call_of(thing))
        if plan.proxy is not None:
            values.append(thing.__wrapped__)
        return values + parts.items(thing, plan.container) if plan.container else values

    def walk_functions(self) -> None:
        """Find the objects in functions that refer to the model, and forget other functions."""
        count, on_paths = -1, set()
        while len(self.objects) + len(self.functions) > count:  # functions may refer to new objects
            count = len(self.objects) + len(self.functions)
            on_paths = self._paths_to_model()
            functions = [function for key, function in self.functions.items() if key in on_paths]
            self.walk(*(part for f in functions for part in parts.contents(f) if id(part) in on_paths))
        self.functions = {key: function for key, function in self.functions.items() if key in on_paths}

    def _refuse_classes(self) -> None:
        """Refuse a class if the closure of a method has a part of the model."""
        for cls in {type(thing) for things in self.latest.values() for thing in things[:1]}:
            for method, part in parts.objects_closed_over(cls):
                if id(part) in self.objects and isinstance(part, self.keras.MODEL_PARTS):
                    raise ValueError(
                        f"clone_model: `{cls.__qualname__}.{method}` uses '{part.name}' of the model from an enclosing "
                        "function, so the clone would use it, too. Store it in an attribute of the layer."
                    )

    def _paths_to_model(self) -> set[int]:
        """The `id`s of all objects on paths from functions to the model, ends included.

        Any object of Keras counts as part of the model; so does a weak collection, which may refer to it.
        """
        holders: dict[int, list[int]] = {}
        seen: dict[int, Any] = {}
        waiting, found, on_paths = list(self.functions.values()), [], set()
        while waiting:
            thing = waiting.pop()
            key, plan = id(thing), self.plans.get(type(thing)) or self.plan(type(thing))
            if key in seen or plan.way in (Way.SHARED, Way.FRAMEWORK):
                continue
            seen[key] = thing
            is_part = key in self.objects and plan.way in (Way.OBJECT, Way.PROTOCOL)
            if is_part or isinstance(thing, (*self.keras.MODEL_PARTS, *parts.WEAK_COLLECTIONS)):
                found.append(key)
            if is_part:
                continue
            for part in parts.contents(thing) if plan.is_function else parts.referents(thing):
                holders.setdefault(id(part), []).append(key)
                waiting.append(part)
        while found:
            key = found.pop()
            if key not in on_paths:
                on_paths.add(key)
                found += holders.get(key, ())
        return on_paths

    def copy(self, *roots: Any) -> None:
        """Copy the objects that can be reached from `roots`, by default the model, once each."""
        count = len(self.objects)
        self.walk(*(roots or (self.root,)))
        self.walk_functions()
        self.latest.clear()
        memo = self.memo
        to_fill: dict[bool, list[Any]] = {False: [], True: []}  # by `Plan.fills_last`
        for key, thing in itertools.islice(self.objects.items(), count, None):
            plan = self.plans[type(thing)]
            self.latest.setdefault(type(thing), []).append(thing)
            if plan.way is Way.OBJECT and key not in memo:
                memo[key] = plan.new(type(thing))
                to_fill[plan.fills_last].append(thing)
        if not self.unbuilt:
            self._refuse_classes()
        self.keras.prepare_copies(self)
        for thing in [*to_fill[False], *to_fill[True]]:
            if id(thing) not in self.strategy_variables:
                self.fill(thing)
        self._update_histories()
        self.keras.complete_copies(self)

    def fill(self, thing: Any) -> None:
        """Give the empty copy of an object its items and attributes."""
        new, plan, copy_of = self.memo[id(thing)], self.plans[type(thing)], self.copy_of
        if plan.container:
            parts.fill_items(thing, new, plan.container, copy_of, self.is_left_out)
        if plan.is_plain:
            return
        if plan.proxy is not None:
            plan.proxy.__init__(new, copy_of(thing.__wrapped__))
        named, rules, calls = parts.namespace(new), plan.rules, Marker.CALLS
        for name, value in parts.attributes(thing, plan).items():
            rule = rules.get(name, calls)
            if rule is calls:  # no rule, or a list of calls, from which other graphs' calls are left out
                named[name] = value if type(value) in CONSTANTS else copy_of(value)
                continue
            rule = rule(value) if callable(rule) else rule
            if rule is not Marker.MISSING:
                named[name] = copy.copy(rule) if isinstance(rule, CONTAINERS) else rule
        for name in plan.slots:
            if name in named:
                object.__setattr__(new, name, named.pop(name))

    def is_left_out(self, item: Any) -> bool:
        """Whether the clone lacks an item: another graph's call, or a variable before `build`."""
        copied = self.memo.get(id(item), self)
        return copied is None or (copied is self and isinstance(item, self.keras.CALL))

    def _update_histories(self) -> None:
        """Renumber the call in each tensor's history, since calls of other graphs are left out."""
        for tensor, new in self.pairs(self.keras.TENSOR):
            history: Any = getattr(tensor, "_keras_history", None)
            call = self.memo.get(id(parts.call_of(tensor)))
            if call is not None:
                layer = parts.layer_of(call)
                new._keras_history = type(history)(layer, layer._inbound_nodes.index(call), history[2])
            elif history is not None:
                new._keras_history = type(history)(self.copy_of(history[0]), *history[1:])

    def copy_of(self, thing: Any) -> Any:
        """The copy of an object of the model; any other object itself."""
        new = self.memo.get(id(thing), self)
        if new is not self:
            return new
        cls = type(thing)
        if cls is str:
            return self.names.get(thing, thing) if self.names else thing
        way = Way.SHARED if cls in ATOMS else (self.plans.get(cls) or self.plan(cls)).way
        if way is Way.FRAMEWORK:
            new = self._copy_with(thing, parts.copy_of_resource)
        elif way is Way.FUNCTION:
            new = parts.copy_of_function(thing, self.copy_of, self.memo) if id(thing) in self.functions else thing
        elif way is Way.SHARED or id(thing) not in self.objects:
            return thing
        elif way is Way.TUPLE:
            copies = [self.copy_of(part) for part in thing]
            is_unchanged = all(copied is part for copied, part in zip(copies, thing, strict=True))
            new = thing if is_unchanged else cls(*copies) if hasattr(cls, "_fields") else cls(copies)
        else:
            for function in list(self.functions.values()):
                self.copy_of(function)
            new = self._copy_with(thing, copy.deepcopy)
        if new is not thing or way is Way.TUPLE:
            self.memo[id(thing)] = new
            self.references.append(thing)
        return new

    def _copy_with(self, thing: Any, copy_object: Any) -> Any:
        """Copy an object with a function; if that fails, the error names the object's holder."""
        try:
            return copy_object(thing, self.memo)
        except Exception as error:
            name = f"{type(thing).__module__}.{type(thing).__qualname__}"
            raise ValueError(
                f"clone_model: {self.holder_in_words(thing)} holds an object of the class `{name}`, "
                f"which cannot be copied ({type(error).__name__}: {error}). Remove it before cloning, or give its "
                "class a `__deepcopy__` method."
            ) from error

    def holder_in_words(self, thing: Any) -> str:
        """The attribute that holds an object, with its owner, as text for a message."""
        for owner in self.objects.values():
            if isinstance(owner, self.keras.MODEL_PARTS):
                for name, value in parts.attributes(owner, self.plan(type(owner))).items():
                    if value is thing or (isinstance(value, list | tuple) and any(part is thing for part in value)):
                        return f"`{name}` of '{getattr(owner, 'name', type(owner).__name__)}'"
        return f"the model '{getattr(self.root, 'name', '')}'"

    def pairs(self, cls: Any) -> list[tuple[Any, Any]]:
        """Each object of a class that the last `copy` copied, with its copy."""
        things = [thing for kind, things in self.latest.items() if issubclass(kind, cls) for thing in things]
        return [(thing, self.memo[id(thing)]) for thing in things if self.memo.get(id(thing)) is not None]
