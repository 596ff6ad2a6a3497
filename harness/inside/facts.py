"""All that a model holds, in one walk: every public attribute and property of the model and its layers, at any depth.

A fact goes by its path from the layer that holds it, as Python writes it: ".kernel_initializer.seed",
".arguments['by'][0]". Nobody lists what is compared, so nothing is left out because nobody thought of it. An object
that can change is looked into where it is met first; elsewhere, the fact is where that was.
"""

from __future__ import annotations

import functools
import re
import types
from typing import Any

import numpy as np

from ..observation import NAMED, SAME, SHARED, same_fact
from .by_class import once_a_class
from .canonical import contents, entry, text
from .layers import Layers
from .observer import Observer

_DEEPEST = 6
_MANY = 1000
"""So many items are told as one value."""
_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), type(Ellipsis)])
_CONTAINERS = (list, tuple, dict, set, frozenset)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)
_TOLD_WHOLE = frozenset(["tensorflow", "jax", "jaxlib", "torch", "numpy", "builtins", "threading", "wrapt", "google"])
"""Packages whose objects are one value: their attributes are those of a machine."""
_OF_LAYERS = frozenset(
    ["name", "trainable", "input_mask", "output_mask", "_name", "_trainable", "_path", "_parent_path"]
)
"""What is told of each layer by itself, and of each of its calls: a tensor may have the mask of a later call."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_NUMBER = re.compile(r"[-+.0-9a-f]*[0-9][-+.0-9a-f]*")
"""In hexadecimal digits, too: a digest of numbers is drawn as they are."""
_COUNTED = re.compile(r"(_\d+)+$")


class Facts:
    """The facts of a model: `of[0]` has those of the model itself, `of[1 + n]` those of the layer in its place n.

    Holds on to whatever it has read: a property may make a new list each time, and Python gives the number of an object
    that is gone to another.
    """

    def __init__(self, layers: Layers, variables: list[Any], observer: Observer, original: Facts | None = None) -> None:
        self.of: list[dict[str, str]] = []
        self.read: list[Any] = []
        """Whatever was looked at."""
        self.other_variables: list[Any] = []
        """Those of an optimizer, say, whose values are facts."""
        self._changing: dict[int, Any] = {}
        self._of_original = {} if original is None else original._changing
        self._first: dict[int, tuple[int, str]] = {}
        self._in_values = 0
        self._framework, self._digests, self._private = observer.framework, observer.digests, observer.private
        self._layers = layers.index
        self._variables = {id(variable) for variable in variables}
        owners = layers.objects()
        self._names = {_COUNTED.sub("", str(getattr(owner, "name", ""))) for owner in owners}
        self._calls = {type(node) for owner in owners[1:] for node in self._framework.layer_nodes(owner)}
        self._texts: dict[str, str] = {}
        for number, owner in enumerate(owners, -1):
            self._number = number
            self._facts: dict[str, str] = {}
            self.of.append(self._facts)
            if number < 0 or (owner is not layers.model and self._layers[id(owner)] == number):
                self._attributes("", owner, 0)

    def _attributes(self, path: str, owner: Any, depth: int) -> bool:
        """Tell the attributes of an object; whether anything in them can change by itself."""
        changes, kind = False, type(owner)
        names = {name for name in getattr(owner, "__dict__", ()) if type(name) is str and name[:1] != "_"}
        if self._private is not None:
            names.update(name for name in getattr(owner, "__dict__", ()) if self._private.match(str(name)))
        for name in sorted(names.union(_properties(kind)) - (frozenset() if path else _OF_LAYERS)):
            here = "%s.%s" % (path, name)
            try:
                value = getattr(owner, name)
                if callable(value) and self._is_made_for(owner, name, value):
                    continue
                if name == "name" and type(value) is str and _counts(value, kind.__name__):
                    value = _COUNTED.sub("", value)
                if name == "seed" and type(value) is int and owner.get_config().get("seed", value) is None:
                    value = None  # nobody gave it
            except Exception as error:  # an attribute that it does not have yet
                self._facts[here] = "raises %s" % type(error).__name__
                continue
            changes = self._tell(here, value, depth + 1) or changes
        return changes

    def _is_made_for(self, owner: Any, name: str, value: Any) -> bool:
        """Whether it is a method that Keras has wrapped for this object, or a function that closes over a layer.

        No config can have that, and the original's is of no use to a clone.
        """
        if hasattr(value, "__wrapped__") and callable(getattr(type(owner), name, None)):
            return True
        cells = value.__closure__ or () if type(value) is types.FunctionType else ()
        return any(id(content) in self._layers for content in contents(cells))

    def _tell(self, path: str, value: Any, depth: int) -> bool:
        """Tell a value; whether it, or anything in it, can change by itself."""
        kind = type(value)
        if kind in _PLAIN:
            self._facts[path] = self._text(value) if kind is str else repr(value)
            return False
        self.read.append(value)
        if id(value) in self._variables:
            self._facts[path] = "a variable"
            return False
        if isinstance(value, self._framework.variable_class):
            self.other_variables.append(value)
            self._facts[path] = self._array(self._framework.read(value))
            return True
        whole = self._whole(value, kind)
        if whole or depth > _DEEPEST:
            self._facts[path] = whole or kind.__name__
            return False
        if self._in_values:
            return self._look_into(path, value, depth)
        if id(value) in self._changing:
            self._facts[path] = "%s%d%s" % ((SAME,) + self._first[id(value)])
            return True
        self._first[id(value)] = self._number, path
        self._changing[id(value)] = value  # until it is known: it may hold itself
        changes = self._look_into(path, value, depth)
        if not changes:
            del self._changing[id(value)]
        elif id(value) in self._of_original and not isinstance(value, np.ndarray):
            self._facts[path] = SHARED + self._facts[path]
        return changes

    def _whole(self, value: Any, kind: Any) -> str:
        """The fact of what is not looked into; "" of anything else. Layers and calls have facts of their own."""
        if id(value) in self._layers:
            return "a layer"
        if isinstance(value, self._framework.tensor_class):
            return "a tensor of %s" % (getattr(value, "shape", ""),)  # its dtype is told of the call
        if isinstance(value, _FUNCTIONS):
            return _function(value)
        if isinstance(value, (np.ndarray, *_CONTAINERS)) or kind.__module__.split(".")[0] not in _TOLD_WHOLE:
            return ""
        if _is_tensor(value):
            return "a tensor of %s" % (value.shape,)  # what a call has given
        return entry(value)

    def _look_into(self, path: str, value: Any, depth: int) -> bool:
        """Tell what is in something."""
        if isinstance(value, np.ndarray):
            self._facts[path] = self._array(value)
            return True
        if isinstance(value, _CONTAINERS):
            return self._items(path, value, depth)
        self._facts[path] = type(value).__name__
        is_value = _is_value(type(value))
        self._in_values += is_value
        changes = self._attributes(path, value, depth)
        self._in_values -= is_value
        return changes and not is_value

    def _items(self, path: str, value: Any, depth: int) -> bool:
        changes = not isinstance(value, (tuple, frozenset))
        if isinstance(value, (set, frozenset)) or len(value) > _MANY:
            self._facts[path] = entry(value)
            return changes
        name = _name_of_a_container(value)
        self._facts[path] = "%s of %d" % (name, len(value))
        if isinstance(value, dict):
            items = [("[%r]" % (key,), item) for key, item in value.items()]
            items = [(where, item) for where, item in items if not _ADDRESS.search(where)]
        elif all(map(self._is_told_apart, value)):
            self._facts[path] = name
            return changes and not value
        else:
            items = [("[%d]" % place, item) for place, item in enumerate(value)]
        for where, item in items:
            changes = self._tell(path + where, item, depth + 1) or changes
        return changes

    def _is_told_apart(self, item: Any) -> bool:
        """Whether it is a layer, a weight or a call, which are told of the model, or what a call has given."""
        return id(item) in self._variables or id(item) in self._layers or type(item) in self._calls or _is_tensor(item)

    def _array(self, value: Any) -> str:
        value = np.asarray(value)
        return "array of %s, %s: %s" % (value.shape, value.dtype, self._digests.digest(value))

    def _text(self, text: str) -> str:
        """A text, and where there are names of layers in it, which are told by themselves, the same without them."""
        if text not in self._texts:
            parts = text.split("/")
            unnamed = "/".join("a name" if _COUNTED.sub("", part) in self._names else part for part in parts)
            self._texts[text] = repr(text) if unnamed == text else repr(text) + NAMED + unnamed
        return self._texts[text]


def may_vary(fact: str, of_clone: str) -> bool:
    """Whether a fact is another in a clone because of chance, which draws numbers and counts names."""
    return not same_fact(fact, of_clone) and _NUMBER.sub("", fact) == _NUMBER.sub("", of_clone)


def _function(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return "module %s" % value.__name__
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__  # TensorFlow has a function by several names, in several wrappers
    return text(value)


def _name_of_a_container(value: Any) -> str:
    """What a list, a tuple or a dict is; where Keras or TensorFlow has wrapped it to track it, that says nothing."""
    kind = type(value)
    if kind.__module__.split(".")[0] not in ("keras", "tf_keras", "tensorflow"):
        return kind.__name__
    return next(container.__name__ for container in _CONTAINERS if isinstance(value, container))


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.split(".")[0] in _TOLD_WHOLE and hasattr(value, "shape") and hasattr(value, "dtype")


@functools.lru_cache(maxsize=4096)
def _counts(name: str, kind: str) -> bool:
    """Whether Keras may have counted a name itself: "seed_generator_3" of a `SeedGenerator`."""
    spelled = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
    return _COUNTED.sub("", name) == spelled


@once_a_class
def _is_value(kind: Any) -> bool:
    """Whether objects of a class only hold what their config says, and do nothing, as an `InputSpec` does."""
    methods = {name for base in kind.__mro__[:-1] for name, item in vars(base).items() if callable(item)}
    public = {name for name in methods if name[0] != "_"}
    return "get_config" in methods and "__call__" not in methods and public <= {"get_config", "from_config"}


@once_a_class
def _properties(kind: type) -> tuple[str, ...]:
    """The public properties of its objects. What the class itself answers, as a registry of presets, is not theirs."""
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.split(".")[0] not in _TOLD_WHOLE:  # `submodules` of TensorFlow is all once more
            members.update((name, value) for name, value in vars(base).items() if name[:1] != "_")
    properties = {name for name, value in members.items() if isinstance(value, property)}
    return tuple(name for name in properties if getattr(kind, name, None) is members[name])
