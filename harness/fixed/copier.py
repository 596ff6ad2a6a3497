"""Copies what belongs to a model, each object once, into objects that lead to each other as the originals do."""

from __future__ import annotations

import collections
import functools
import itertools
import types
import weakref
from typing import Any

from .walk import (
    ATOMS,
    CONTAINERS,
    LOCKS,
    MISSING,
    OF_GRAPHS,
    Kind,
    Plan,
    Walk,
    attributes,
    call_of,
    cell_contents,
    deep_copy,
    layer_of,
)


class Copier(Walk):
    """Copies a model. A subclass knows one Keras: what its classes are, and how a variable is made anew."""

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self.fresh: dict[int, Any] = {}
        """What was copied last."""
        self.names: dict[str, str] = {}
        """Texts that name an object by its `id`, and that of its copy."""
        self.alive: list[Any] = []
        """Objects that must live for as long as their `id` is a key."""

    def new(self, thing: Any) -> Any:
        """What the clone has for an object before its attributes are copied; None where the clone does not have it."""
        cls = type(thing)
        return self.plan(cls).new(cls)

    def copy(self, *roots: Any) -> None:
        """Copy everything that these lead to, and is not copied yet; without any, what the root leads to."""
        known = len(self.owned)
        self.walk(*(roots or (self.root,)))
        self.walk_functions()
        self.fresh = dict(itertools.islice(self.owned.items(), known, None))
        filled: list[Any] = []
        hashed: list[Any] = []
        lists: list[Any] = []
        memo = self.memo
        for key, thing in self.fresh.items():
            plan = self.plans[type(thing)]
            kind = plan.kind
            if kind is Kind.LIST:
                memo[key] = []
                lists.append(thing)
            elif kind is Kind.DICT:
                memo[key] = {}
                hashed.append(thing)
            elif kind is Kind.OBJECT and key not in memo:
                memo[key] = self.new(thing)
                if memo[key] is not None:
                    (hashed if plan.is_container else filled).append(thing)
        of = self.of
        for thing in lists:
            memo[id(thing)].extend([of(part) for part in thing if self.stays(part)])
        for thing in filled:
            self.fill(thing)
        for thing in hashed:  # last what asks for hashes
            if type(thing) is dict:
                memo[id(thing)].update([(of(key), of(value)) for key, value in thing.items()])
            else:
                self.fill(thing)
        self._number_calls()

    def _number_calls(self) -> None:
        """Let each tensor know the call that gave it: calls of other graphs are left out, so their numbers change."""
        numbers: dict[int, int] = {}
        for _, call in self.pairs(self.CALL):
            if id(call) not in numbers:
                numbers.update((id(other), number) for number, other in enumerate(layer_of(call)._inbound_nodes))
        for tensor, new in self.pairs(self.TENSOR):
            history: Any = getattr(tensor, "_keras_history", None)
            call = call_of(tensor)
            if call is not None:
                call = self.memo[id(call)]
                new._keras_history = type(history)(layer_of(call), numbers[id(call)], history[2])
            elif history is not None:
                new._keras_history = type(history)(self.of(history[0]), *history[1:])

    def of(self, thing: Any) -> Any:
        """What the clone has in the place of something."""
        cls = type(thing)
        if cls is str:
            return self.names.get(thing, thing) if self.names else thing
        if cls in ATOMS:
            return thing
        if id(thing) in self.memo:
            return self.memo[id(thing)]
        kind = (self.plans.get(cls) or self.plan(cls)).kind
        if kind is Kind.SHARED:
            return thing
        if kind is Kind.FRAMEWORK:
            new = copied_resource(thing, self.memo)
            if new is thing:
                return new
        elif kind is Kind.FUNCTION:
            return self._function(thing) if id(thing) in self.functions else thing
        elif kind is Kind.LOCK:
            new = LOCKS[cls]()
        elif id(thing) not in self.owned:
            return thing
        elif kind is Kind.WRAPPER:
            return self._wrapper(thing)
        elif kind is Kind.TUPLE:
            parts = [self.of(part) for part in thing]
            same = all(new is part for new, part in zip(parts, thing, strict=True))
            new = thing if same else cls(*parts) if hasattr(cls, "_fields") else cls(parts)
        else:
            new = self._by_protocol(thing)
        self.memo[id(thing)] = new
        self.alive.append(thing)
        return new

    def fill(self, thing: Any) -> None:
        """Copy the items and attributes of an object into its copy."""
        new, plan = self.memo[id(thing)], self.plan(type(thing))
        if plan.is_container:
            self._fill_items(thing, new)
        self._fill_attributes(thing, new, plan)

    def _fill_attributes(self, thing: Any, new: Any, plan: Plan) -> None:
        of, skipped = self.of, plan.skipped
        try:
            own = object.__getattribute__(new, "__dict__")
        except AttributeError:
            own = {}
        for name, value in attributes(thing, plan).items():
            if skipped and name in skipped:
                value = self._skipped(value, skipped[name])
                if value is MISSING:
                    continue
            else:
                value = of(value)
            own[name] = value
        for name in plan.slots:
            if name in own:
                object.__setattr__(new, name, own.pop(name))

    def _fill_items(self, thing: Any, new: Any) -> None:
        if isinstance(thing, dict):
            add = collections.OrderedDict if isinstance(thing, collections.OrderedDict) else dict
            for key, value in add.items(thing):
                add.__setitem__(new, self.of(key), self.of(value))
            if isinstance(thing, collections.defaultdict):
                new.default_factory = self.of(thing.default_factory)
        elif isinstance(thing, list):
            list.extend(new, [self.of(part) for part in list.__iter__(thing) if self.stays(part)])
        elif isinstance(thing, set):
            set.update(new, [self.of(part) for part in set.__iter__(thing)])
        elif isinstance(thing, collections.deque):
            collections.deque.extend(new, [self.of(part) for part in thing])

    def _skipped(self, value: Any, instead: Any) -> Any:
        if callable(instead):
            return instead(value)
        if instead is not OF_GRAPHS:
            return type(instead)() if isinstance(instead, CONTAINERS) else instead
        if id(value) not in self.memo:
            self.memo[id(value)] = new = self.new(value)
            if type(value) is not list:
                self._fill_attributes(value, new, self.plan(type(value)))
            list.extend(new, [self.of(call) for call in value if id(call) in self.memo])
            self.alive.append(value)
        return self.memo[id(value)]

    def stays(self, thing: Any) -> bool:
        """Whether an item of a list is in the clone: calls that are of no graph of the model are not."""
        return id(thing) in self.memo or not (self.CALL and isinstance(thing, self.CALL))

    def _wrapper(self, thing: Any) -> Any:
        cls: Any = type(thing)
        if cls.__name__ == "_TupleWrapper":
            new = self.memo[id(thing)] = cls(self.of(thing.__wrapped__))
            return new
        new = self.memo[id(thing)] = cls.__new__(cls)
        proxy = next(base for base in cls.__mro__ if base.__module__.partition(".")[0] == "wrapt")
        proxy.__init__(new, self.of(thing.__wrapped__))
        own = object.__getattribute__(new, "__dict__")
        own.update((name, self.of(value)) for name, value in object.__getattribute__(thing, "__dict__").items())
        return new

    def _by_protocol(self, thing: Any) -> Any:
        for key, function in self.functions.items():
            if key not in self.memo:
                self.of(function)
        try:
            return deep_copy(thing, self.memo)
        except Exception as error:
            cls = type(thing)
            raise ValueError(
                f"clone_model: {self.place(thing)} holds an object of the class `{cls.__module__}.{cls.__qualname__}`, "
                f"which cannot be copied ({type(error).__name__}: {error}). Take it from the model before it is "
                "cloned, or give its class a `__deepcopy__` method."
            ) from error

    def place(self, thing: Any) -> str:
        """Which object of the model holds something, in words."""
        for owner in self.owned.values():
            if isinstance(owner, self.OWNING):
                for name, value in attributes(owner, self.plan(type(owner))).items():
                    if value is thing or (isinstance(value, list | tuple) and any(part is thing for part in value)):
                        return f"`{name}` of '{getattr(owner, 'name', type(owner).__name__)}'"
        return f"the model '{getattr(self.root, 'name', '')}'"

    def _function(self, function: Any) -> Any:
        """A function that leads to the clone where the original leads to the model."""
        memo = self.memo
        self.alive.append(function)
        if isinstance(function, types.FunctionType):
            return self._closure(function)
        if isinstance(function, types.MethodType):
            new: Any = types.MethodType(self.of(function.__func__), self.of(function.__self__))
        elif isinstance(function, types.BuiltinMethodType):
            new = getattr(self.of(function.__self__), function.__name__)
        elif isinstance(function, functools.partial):
            arguments = [self.of(argument) for argument in function.args]
            keywords = {key: self.of(value) for key, value in function.keywords.items()}
            new = type(function)(self.of(function.func), *arguments, **keywords)
        elif isinstance(function, functools._lru_cache_wrapper):
            new = functools.lru_cache(**function.cache_parameters())(self.of(function.__wrapped__))
        elif isinstance(function, weakref.ref):
            new = weakref.ref(self.of(function()))
        elif isinstance(function, weakref.WeakSet):
            new = weakref.WeakSet([self.of(part) for part in function])
        elif isinstance(function, weakref.WeakKeyDictionary | weakref.WeakValueDictionary):
            new = type(function)()
            new.update((self.of(key), self.of(value)) for key, value in function.items())
        else:  # of `tf.function`: traced anew
            new = function._clone(self.of(function.python_function))
        memo[id(function)] = new
        return new

    def _closure(self, function: types.FunctionType) -> types.FunctionType:
        closure = function.__closure__
        cells = None if closure is None else tuple(types.CellType() for _ in closure)
        new = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells)
        self.memo[id(function)] = new
        for cell, original in zip(cells or (), closure or (), strict=True):
            value = cell_contents(original)
            if value is not MISSING:
                cell.cell_contents = self.of(value)
        defaults, keywords = function.__defaults__, function.__kwdefaults__
        new.__defaults__ = defaults and tuple(self.of(value) for value in defaults)
        new.__kwdefaults__ = keywords and {name: self.of(value) for name, value in keywords.items()}
        new.__qualname__, new.__doc__, new.__module__ = function.__qualname__, function.__doc__, function.__module__
        new.__annotations__ = function.__annotations__
        vars(new).update((name, self.of(value)) for name, value in vars(function).items())
        return new

    def pairs(self, cls: Any) -> list[tuple[Any, Any]]:
        """The objects of a class that were copied last, each with its copy."""
        found = [thing for thing in self.fresh.values() if isinstance(thing, cls)]
        return [(thing, self.memo[id(thing)]) for thing in found if self.memo.get(id(thing)) is not None]


def copied_resource(thing: Any, memo: dict[int, Any]) -> Any:
    """The copy of an object of TensorFlow or torch that has a state of its own: a table, a variable, a module."""
    if hasattr(thing, "_copy_trackable_to_cpu") and hasattr(thing, "_resource_handle"):
        copies: dict[Any, Any] = {}
        try:
            thing._copy_trackable_to_cpu(copies)
        except (NotImplementedError, AttributeError):  # a table that cannot change
            return thing
        return copies.get(thing, thing)
    is_module = hasattr(thing, "named_parameters") and type(thing).__name__ != "ParameterDict"
    return deep_copy(thing, memo) if is_module or hasattr(thing, "assign_add") else thing
