"""Copies each object of a model once, so that the copies refer to each other."""

from __future__ import annotations

import copy
import itertools
import types
from typing import Any

from clonediff.harness.fixed import parts
from clonediff.harness.fixed.plans import ATOMS, CONTAINERS, KEPT_CLASSES, Marker, Plan, Way, way_of

PLANS: dict[tuple[Any, bool], dict[type, Plan]] = {}
"""Cached plans of library classes, by adapter and by whether copies are unbuilt."""


class Copier:
    """Copies a model: walks over its objects, creates empty copies, and fills them."""

    def __init__(self, adapter: Any, root: Any, unbuilt: bool = False) -> None:
        self.adapter = adapter  # our module `keras3` or `tf_keras`
        self.root = root
        self.unbuilt = unbuilt  # whether copies are as before `build`: no variables, no calls
        self.cached_plans = PLANS.setdefault((adapter, unbuilt), {})
        self.plans = self.cached_plans.copy()
        self.objects: dict[int, Any] = {}
        """The objects of the model by `id`."""
        self.functions: dict[int, Any] = {}
        """Functions that refer to the model, by `id`."""
        self.memo: dict[int, Any] = {}
        """The copy of each object by `id`; None if the clone does not have it."""
        self.strategy_variables: dict[int, Any] = {}
        """Copies that are created in the current strategy, by `id`."""
        self.latest_objects: dict[type, list[Any]] = {}
        """The objects that the last `copy` copied, by class."""
        self.new_names: dict[str, str] = {}
        """The new name for each name that contains the `id` of an object."""
        self.kept_objects: list[Any] = []
        """Objects whose `id` is a key, so they must stay alive."""

    def plan(self, cls: type) -> Plan:
        plan = self.plans.get(cls)
        if plan is None:
            tables = [self.adapter.COPY_RULES, *([self.adapter.UNBUILT_COPY_RULES] if self.unbuilt else [])]
            rules = [rules.items() for table in tables for base, rules in table.items() if issubclass(cls, base)]
            way = way_of(cls, self.adapter.COPIED_MODULES, self.adapter.VARIABLE)
            self.plans[cls] = plan = Plan(cls, way, dict(itertools.chain(*rules)))
            plan.leaves_out_variables = self.unbuilt and issubclass(cls, self.adapter.VARIABLE)
            if cls.__module__.partition(".")[0] in parts.LIBRARIES:
                self.cached_plans[cls] = plan
        return plan

    def walk(self, *roots: Any) -> None:
        """Find all objects of the model that `roots` reach."""
        queue = list(roots)
        objects, memo, plans = self.objects, self.memo, self.plans
        while queue:
            obj = queue.pop()
            cls = type(obj)
            if cls in ATOMS:
                continue
            plan, key = plans.get(cls) or self.plan(cls), id(obj)
            if plan.is_function:
                if cls is types.MethodType:
                    queue.append(obj.__self__)
                if cls is not types.FunctionType or parts.contents(obj):
                    self.functions[key] = obj
            elif plan.leaves_out_variables:
                memo.setdefault(key, None)
            elif plan.is_copied and key not in objects and key not in memo:
                objects[key] = obj
                queue += self.referents_to_copy(obj, plan)

    def referents_to_copy(self, obj: Any, plan: Plan) -> list[Any]:
        """An object's referents, without those that the clone lacks."""
        if plan.is_list_or_dict:
            return parts.items(obj, plan.container)
        if plan.way is Way.TUPLE:
            return list(obj)
        if plan.way is Way.PROTOCOL:
            return parts.referents(obj)
        attributes, rules = parts.attributes(obj, plan), plan.rules
        values = [value for name, value in attributes.items() if name not in rules]
        for name, rule in rules.items():
            if rule is Marker.CALLS and name in attributes:
                calls = attributes[name]  # `walk` finds each call with its graph
                self.objects[id(calls)] = calls
                values += parts.attributes(calls, self.plan(type(calls))).values()
        if rules and isinstance(obj, self.adapter.TENSOR):
            values.append(parts.call_of(obj))
        if plan.proxy_class is not None:
            values.append(obj.__wrapped__)
        return values + parts.items(obj, plan.container) if plan.container else values

    def walk_functions(self) -> None:
        """Find the objects in functions that refer to the model; forget other functions."""
        count, path_ids = -1, set()
        while len(self.objects) + len(self.functions) > count:  # functions may refer to new objects
            count = len(self.objects) + len(self.functions)
            path_ids = self._paths_to_model()
            functions = [function for key, function in self.functions.items() if key in path_ids]
            self.walk(*(part for f in functions for part in parts.contents(f) if id(part) in path_ids))
        self.functions = {key: function for key, function in self.functions.items() if key in path_ids}

    def _refuse_classes(self) -> None:
        """Refuse a class if the closure of a method has a part of the model."""
        for cls in {type(obj) for group in self.latest_objects.values() for obj in group[:1]}:
            for method, part in parts.objects_in_closures(cls):
                if id(part) in self.objects and isinstance(part, self.adapter.MODEL_PARTS):
                    raise ValueError(
                        f"clone_model: `{cls.__qualname__}.{method}` uses the layer '{part.name}' of the model through "
                        "a variable of an enclosing function, so the clone would use it, too. Store it in an attribute."
                    )

    def _paths_to_model(self) -> set[int]:
        """The `id`s of all objects on paths from functions to the model, ends included.

        Any object of Keras counts as part of the model; so does a weak collection, which may refer to it.
        """
        holders: dict[int, list[int]] = {}
        seen: dict[int, Any] = {}
        queue, ids, path_ids = list(self.functions.values()), [], set()
        while queue:
            obj = queue.pop()
            key, plan = id(obj), self.plans.get(type(obj)) or self.plan(type(obj))
            if key in seen or plan.way in (Way.SHARED, Way.FRAMEWORK):
                continue
            seen[key] = obj
            is_part = key in self.objects and plan.way in (Way.OBJECT, Way.PROTOCOL)
            if is_part or isinstance(obj, (*self.adapter.MODEL_PARTS, *parts.WEAK_COLLECTIONS)):
                ids.append(key)
            if is_part:
                continue
            for part in parts.contents(obj) if plan.is_function else parts.referents(obj):
                holders.setdefault(id(part), []).append(key)
                queue.append(part)
        while ids:
            key = ids.pop()
            if key not in path_ids:
                path_ids.add(key)
                ids += holders.get(key, ())
        return path_ids

    def copy(self, *roots: Any) -> None:
        """Copy once each object that `roots`, by default the model, reach."""
        count = len(self.objects)
        self.walk(*(roots or (self.root,)))
        self.walk_functions()
        self.latest_objects.clear()
        memo = self.memo
        to_fill: dict[bool, list[Any]] = {False: [], True: []}  # by `Plan.fills_last`
        for key, obj in itertools.islice(self.objects.items(), count, None):
            plan = self.plans[type(obj)]
            self.latest_objects.setdefault(type(obj), []).append(obj)
            if plan.way is Way.OBJECT and key not in memo:
                memo[key] = plan.create(type(obj))
                to_fill[plan.fills_last].append(obj)
        if not self.unbuilt:
            self._refuse_classes()
        self.adapter.prepare_copies(self)
        for obj in [*to_fill[False], *to_fill[True]]:
            if id(obj) not in self.strategy_variables:
                self.fill(obj)
        self._update_histories()
        self.adapter.complete_copies(self)

    def fill(self, obj: Any) -> None:
        """Give the empty copy of an object its items and attributes."""
        new, plan, copy_of = self.memo[id(obj)], self.plans[type(obj)], self.copy_of
        if plan.container:
            parts.fill_items(obj, new, plan.container, copy_of, self.is_left_out)
        if plan.is_list_or_dict:
            return
        if plan.proxy_class is not None:
            plan.proxy_class.__init__(new, copy_of(obj.__wrapped__))
        namespace, rules, calls = parts.namespace(new), plan.rules, Marker.CALLS
        for name, value in parts.attributes(obj, plan).items():
            rule = rules.get(name, calls)
            if rule is calls:  # no rule, or a list of calls: `fill_items` leaves out calls of other graphs
                namespace[name] = value if type(value) in KEPT_CLASSES else copy_of(value)
                continue
            rule = rule(value) if callable(rule) else rule
            if rule is not Marker.MISSING:
                namespace[name] = copy.copy(rule) if isinstance(rule, CONTAINERS) else rule
        for name in plan.slots:
            if name in namespace:
                object.__setattr__(new, name, namespace.pop(name))

    def is_left_out(self, item: Any) -> bool:
        """Whether the clone lacks an item: another graph's call, or a variable before `build`."""
        new = self.memo.get(id(item), self)
        return new is None or (new is self and isinstance(item, self.adapter.CALL))

    def _update_histories(self) -> None:
        """Renumber the call in each tensor's history: other graphs' calls are left out."""
        for tensor, new in self.pairs(self.adapter.TENSOR):
            history: Any = getattr(tensor, "_keras_history", None)
            call = self.memo.get(id(parts.call_of(tensor)))
            if call is not None:
                layer = parts.layer_of(call)
                new._keras_history = type(history)(layer, layer._inbound_nodes.index(call), history[2])
            elif history is not None:
                new._keras_history = type(history)(self.copy_of(history[0]), *history[1:])

    def copy_of(self, obj: Any) -> Any:
        """The copy of a model's object; any other object itself."""
        new = self.memo.get(id(obj), self)
        if new is not self:
            return new
        cls = type(obj)
        if cls is str:
            return self.new_names.get(obj, obj) if self.new_names else obj
        way = Way.SHARED if cls in ATOMS else (self.plans.get(cls) or self.plan(cls)).way
        if way is Way.FRAMEWORK:
            new = self._copy_with(obj, parts.copy_of_resource)
        elif way is Way.FUNCTION:
            new = parts.copy_of_function(obj, self.copy_of, self.memo) if id(obj) in self.functions else obj
        elif way is Way.SHARED or id(obj) not in self.objects:
            return obj
        elif way is Way.TUPLE:
            copies = [self.copy_of(part) for part in obj]
            is_unchanged = all(new_part is part for new_part, part in zip(copies, obj, strict=True))
            new = obj if is_unchanged else cls(*copies) if hasattr(cls, "_fields") else cls(copies)
        else:
            for function in list(self.functions.values()):
                self.copy_of(function)
            new = self._copy_with(obj, copy.deepcopy)
        if new is not obj or way is Way.TUPLE:
            self.memo[id(obj)] = new
            self.kept_objects.append(obj)
        return new

    def _copy_with(self, obj: Any, copy_object: Any) -> Any:
        """Copy an object with a function; an error names its holder."""
        try:
            return copy_object(obj, self.memo)
        except Exception as error:
            name = f"{type(obj).__module__}.{type(obj).__qualname__}"
            raise ValueError(
                f"clone_model: {self.describe_holder(obj)} holds an object of the class `{name}`, "
                f"which cannot be copied ({type(error).__name__}: {error}). Remove it before cloning, or give its "
                "class a `__deepcopy__` method."
            ) from error

    def describe_holder(self, obj: Any) -> str:
        """Describe the attribute that holds an object, and its owner."""
        for owner in self.objects.values():
            if isinstance(owner, self.adapter.MODEL_PARTS):
                for name, value in parts.attributes(owner, self.plan(type(owner))).items():
                    if value is obj or (isinstance(value, list | tuple) and any(part is obj for part in value)):
                        return f"`{name}` of '{getattr(owner, 'name', type(owner).__name__)}'"
        return f"the model '{getattr(self.root, 'name', '')}'"

    def pairs(self, cls: Any) -> list[tuple[Any, Any]]:
        """Each object of a class that `copy` last copied, with its copy."""
        objects = [obj for base, group in self.latest_objects.items() if issubclass(base, cls) for obj in group]
        return [(obj, self.memo[id(obj)]) for obj in objects if self.memo.get(id(obj)) is not None]
