"""Copies each object of a model once, so that the copies refer to each other."""

from __future__ import annotations

import copy
import itertools
import types
from typing import Any

from clonediff.harness.fixed import parts
from clonediff.harness.fixed.kinds import ATOMS, CONSTANTS, CONTAINERS, Marker, Plan, Way, way_of

PLANS: dict[tuple[Any, bool], dict[type, Plan]] = {}
"""Cached plans of library classes, by the module of Keras and whether copies are unbuilt."""


class Copier:
    """Copies a model: walks over its objects, creates empty copies, and fills them."""

    def __init__(self, keras: Any, root: Any, unbuilt: bool = False) -> None:
        self.keras = keras
        self.root = root
        self.unbuilt = unbuilt  # copies are in the state before `build`, without variables and calls
        self.known = PLANS.setdefault((keras, unbuilt), {})
        self.plans = self.known.copy()
        self.owned: dict[int, Any] = {}
        """The objects of the model by `id`."""
        self.functions: dict[int, Any] = {}
        """Functions that refer to the model."""
        self.memo: dict[int, Any] = {}
        """The copy of each object by `id`; None if the clone does not have it."""
        self.made: dict[int, Any] = {}
        """Copies that are not filled: variables created in the scope of another strategy."""
        self.fresh: dict[type, list[Any]] = {}
        """The objects that were copied last, by class."""
        self.names: dict[str, str] = {}
        """Texts with the `id` of an object, and the text for its copy."""
        self.alive: list[Any] = []
        """Objects to keep alive, since their `id` is a key."""

    def plan(self, cls: type) -> Plan:
        plan = self.plans.get(cls)
        if plan is None:
            tables = [self.keras.LEFT_BY_RUNS, self.keras.NOT_BUILT] if self.unbuilt else [self.keras.LEFT_BY_RUNS]
            found = [own.items() for table in tables for base, own in table.items() if issubclass(cls, base)]
            rules = dict(itertools.chain(*found))
            self.plans[cls] = plan = Plan(cls, way_of(cls, self.keras.MODULES, self.keras.VARIABLE), rules)
            plan.is_left_out = self.unbuilt and issubclass(cls, self.keras.VARIABLE)
            if cls.__module__.partition(".")[0] in parts.LIBRARIES:
                self.known[cls] = plan
        return plan

    def walk(self, *things: Any) -> None:
        """Walk over every object that these refer to."""
        waiting = list(things)
        owned, memo, plans = self.owned, self.memo, self.plans
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
            elif plan.is_copied and key not in owned and key not in memo:
                owned[key] = thing
                waiting += self.leads_to(thing, plan)

    def leads_to(self, thing: Any, plan: Plan) -> list[Any]:
        """The objects that an object refers to, without those that the clone lacks."""
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
                calls = named[name]  # its items are walked over with their graphs
                self.owned[id(calls)] = calls
                values += parts.attributes(calls, self.plan(type(calls))).values()
        if rules and isinstance(thing, self.keras.TENSOR):
            values.append(parts.call_of(thing))
        if plan.proxy is not None:
            values.append(thing.__wrapped__)
        return values + parts.items(thing, plan.container) if plan.container else values

    def walk_functions(self) -> None:
        """Walk over functions that refer to the model, and forget all other functions."""
        known, leading = -1, set()
        while len(self.owned) + len(self.functions) > known:  # the new objects may be referred to by other functions
            known = len(self.owned) + len(self.functions)
            leading = self._leading()
            functions = [function for key, function in self.functions.items() if key in leading]
            self.walk(*(part for one in functions for part in parts.contents(one) if id(part) in leading))
        self.functions = {key: function for key, function in self.functions.items() if key in leading}

    def _refuse_classes(self) -> None:
        """Refuse a class whose methods close over a part of the model."""
        for cls in {type(thing) for things in self.fresh.values() for thing in things[:1]}:
            for method, part in parts.closed_over(cls):
                if id(part) in self.owned and isinstance(part, self.keras.OWNING):
                    raise ValueError(
                        f"clone_model: `{cls.__qualname__}.{method}` uses '{part.name}' of the model from an enclosing "
                        "function, so the clone would use it, too. Store it in an attribute of the layer."
                    )

    def _leading(self) -> set[int]:
        """The `id`s of objects on the paths from functions to the model, with both ends.

        Every object of Keras is taken for a part of the model, and every weak collection to refer to one.
        """
        holders: dict[int, list[int]] = {}
        seen: dict[int, Any] = {}
        waiting, found, leading = list(self.functions.values()), [], set()
        while waiting:
            thing = waiting.pop()
            key, plan = id(thing), self.plans.get(type(thing)) or self.plan(type(thing))
            if key in seen or plan.way in (Way.SHARED, Way.FRAMEWORK):
                continue
            seen[key] = thing
            is_part = key in self.owned and plan.way in (Way.OBJECT, Way.PROTOCOL)
            if is_part or isinstance(thing, (*self.keras.OWNING, *parts.WEAK_COLLECTIONS)):
                found.append(key)
            if is_part:
                continue
            for part in parts.contents(thing) if plan.is_function else parts.referents(thing):
                holders.setdefault(id(part), []).append(key)
                waiting.append(part)
        while found:
            key = found.pop()
            if key not in leading:
                leading.add(key)
                found += holders.get(key, ())
        return leading

    def copy(self, *roots: Any) -> None:
        """Copy the objects that these, or else the root, refer to, unless already copied."""
        known = len(self.owned)
        self.walk(*(roots or (self.root,)))
        self.walk_functions()
        self.fresh.clear()
        memo = self.memo
        to_fill: dict[bool, list[Any]] = {False: [], True: []}  # by `Plan.fills_last`
        for key, thing in itertools.islice(self.owned.items(), known, None):
            plan = self.plans[type(thing)]
            self.fresh.setdefault(type(thing), []).append(thing)
            if plan.way is Way.OBJECT and key not in memo:
                memo[key] = plan.new(type(thing))
                to_fill[plan.fills_last].append(thing)
        if not self.unbuilt:
            self._refuse_classes()
        self.keras.before_filling(self)
        for thing in [*to_fill[False], *to_fill[True]]:
            if id(thing) not in self.made:
                self.fill(thing)
        self._number_calls()
        self.keras.complete(self)

    def fill(self, thing: Any) -> None:
        """Copy the items and attributes of an object into its copy."""
        new, plan, of = self.memo[id(thing)], self.plans[type(thing)], self.of
        if plan.container:
            parts.fill_items(thing, new, plan.container, of, self.is_left_out)
        if plan.is_plain:
            return
        if plan.proxy is not None:
            plan.proxy.__init__(new, of(thing.__wrapped__))
        own, rules, calls = parts.namespace(new), plan.rules, Marker.CALLS
        for name, value in parts.attributes(thing, plan).items():
            rule = rules.get(name, calls)
            if rule is calls:  # no rule, or a list of calls, copied without calls of other graphs
                own[name] = value if type(value) in CONSTANTS else of(value)
                continue
            rule = rule(value) if callable(rule) else rule
            if rule is not Marker.MISSING:
                own[name] = copy.copy(rule) if isinstance(rule, CONTAINERS) else rule
        for name in plan.slots:
            if name in own:
                object.__setattr__(new, name, own.pop(name))

    def is_left_out(self, item: Any) -> bool:
        """Whether the clone lacks an item: another graph's call, or a variable before `build`."""
        copied = self.memo.get(id(item), self)
        return copied is None or (copied is self and isinstance(item, self.keras.CALL))

    def _number_calls(self) -> None:
        """Update the history of each tensor, since calls of other graphs are left out."""
        for tensor, new in self.pairs(self.keras.TENSOR):
            history: Any = getattr(tensor, "_keras_history", None)
            call = self.memo.get(id(parts.call_of(tensor)))
            if call is not None:
                layer = parts.layer_of(call)
                new._keras_history = type(history)(layer, layer._inbound_nodes.index(call), history[2])
            elif history is not None:
                new._keras_history = type(history)(self.of(history[0]), *history[1:])

    def of(self, thing: Any) -> Any:
        """The object of the clone for an object of the model."""
        new = self.memo.get(id(thing), self)
        if new is not self:
            return new
        cls = type(thing)
        if cls is str:
            return self.names.get(thing, thing) if self.names else thing
        way = Way.SHARED if cls in ATOMS else (self.plans.get(cls) or self.plan(cls)).way
        if way is Way.FRAMEWORK:
            new = self._made(thing, parts.copy_of_resource)
        elif way is Way.FUNCTION:
            new = parts.copy_of_function(thing, self.of, self.memo) if id(thing) in self.functions else thing
        elif way is Way.SHARED or id(thing) not in self.owned:
            return thing
        elif way is Way.TUPLE:
            copies = [self.of(part) for part in thing]
            is_unchanged = all(copied is part for copied, part in zip(copies, thing, strict=True))
            new = thing if is_unchanged else cls(*copies) if hasattr(cls, "_fields") else cls(copies)
        else:
            for function in list(self.functions.values()):
                self.of(function)
            new = self._made(thing, copy.deepcopy)
        if new is not thing or way is Way.TUPLE:
            self.memo[id(thing)] = new
            self.alive.append(thing)
        return new

    def _made(self, thing: Any, make: Any) -> Any:
        """Copy an object with a function, with an error that names its place."""
        try:
            return make(thing, self.memo)
        except Exception as error:
            cls = type(thing)
            raise ValueError(
                f"clone_model: {self.place(thing)} holds an object of the class `{cls.__module__}.{cls.__qualname__}`, "
                f"which cannot be copied ({type(error).__name__}: {error}). Remove it before cloning, or give its "
                "class a `__deepcopy__` method."
            ) from error

    def place(self, thing: Any) -> str:
        """The attribute that holds an object, in words."""
        for owner in self.owned.values():
            if isinstance(owner, self.keras.OWNING):
                for name, value in parts.attributes(owner, self.plan(type(owner))).items():
                    if value is thing or (isinstance(value, list | tuple) and any(part is thing for part in value)):
                        return f"`{name}` of '{getattr(owner, 'name', type(owner).__name__)}'"
        return f"the model '{getattr(self.root, 'name', '')}'"

    def pairs(self, cls: Any) -> list[tuple[Any, Any]]:
        """The objects of a class that were copied last, with their copies."""
        things = [thing for kind, things in self.fresh.items() if issubclass(kind, cls) for thing in things]
        return [(thing, self.memo[id(thing)]) for thing in things if self.memo.get(id(thing)) is not None]
