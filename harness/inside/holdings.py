"""All that a model holds: its public attributes and properties, those of its layers, and what these hold, at any depth.

Where it is asked for, private attributes as well: their names begin with one underscore. They are read when all that is
public has been, whose facts so stay the same.

A fact goes by its path from the layer that holds it, as Python writes it: ".kernel_initializer.seed",
".arguments['by'][0]". Nobody lists what is compared, so nothing is left out because nobody thought of it. What differs
between two builds of one source says nothing of a clone.
"""

from __future__ import annotations

import functools
import re
import types
from typing import Any, Callable

import numpy as np

from .by_class import once_a_class
from .canonical import entry, function
from .digests import short_hash
from .layers import Layers
from .observer import Observer

SAME = "="
"""How the fact begins of an object that was met before: the number of the layer follows, and the path there."""
SHARED = "!"
"""How the fact begins of an object that can change, and is the very one that the original has."""

NAMED = "\0"
"""What stands between a text and the same without the names of layers. Texts that are equal in either are the same."""

_DEEPEST = 6
_MOST = 20000
"""Facts of one model; of what is beyond, the class alone is told."""
_LONGEST = 200
_LARGE = 1 << 20
"""Bytes of an array that is not looked into again to see whether it has changed."""
_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), type(Ellipsis)])
_CONTAINERS = (list, tuple, dict, set, frozenset)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)
_TOLD_WHOLE = frozenset(["tensorflow", "jax", "jaxlib", "torch", "numpy", "builtins", "threading", "wrapt", "google"])
"""Packages whose objects are one value: their attributes are those of a machine."""
_NONE: frozenset[str] = frozenset()
_OF_LAYERS = frozenset(["name", "trainable", "input_mask", "output_mask"])
"""What is told of each layer by itself, and of each of its calls: a tensor may have the mask of a later call."""
_OF_LAYERS_PRIVATELY = frozenset(["_name", "_trainable", "_path", "_parent_path"])
"""The same as Keras keeps it, and what weights have in their paths."""
_ONE_UNDERSCORE = re.compile(r"_(?!.*__)[^_]")
_HOW_IT_CAME = re.compile(
    r"_(self_.*|tracke[dr]|auto_(get_)?config|call_has_context_arg|call_spec|saved_model_\w*_spec|init_\w+"
    r"|name_scope_on_declaration)$"
)
"""What Keras and TensorFlow note of how an object was made, is called and is followed: nothing of what it is."""
_ONCE_MORE = frozenset(
    ["_functional", "_output_coordinates", "_tensor_usage_count", "_network_nodes", "_feed_inputs", "_feed_input_names"]
    + ["_feed_input_shapes"]
)
"""The graph of a model, as it is told of its layers and their calls, once more."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_NUMBER = re.compile(r"(?<![A-Za-z])[0-9]")
"""A number, or a digest."""
_DTYPE = re.compile(r"\b(?:b?float|complex|u?q?u?int)[0-9]+")
_SIZE = re.compile(r"a tensor of |\w+ of \d+$")
"""How a fact begins that says how large something is."""
_COUNTED = re.compile(r"(_\d+)+$")


class Holdings:
    """The facts of a model: `facts[0]` has those of the model itself, `facts[1 + n]` those of the layer in its place n.

    Holds on to whatever it has read: a property may make a new list each time, and Python gives the number of an object
    that is gone to another.
    """

    def __init__(
        self, layers: Layers, variables: list[Any], observer: Observer, original: Holdings | None = None
    ) -> None:
        self.facts: list[dict[str, str]] = []
        self.objects: dict[tuple[int, str], Any] = {}
        """The objects that were looked into, by where they were first met."""
        self._changing: dict[int, Any] = {}
        self._of_original = {} if original is None else original._changing
        self._framework = observer.framework
        self._digests = observer.digests
        self._layers = layers.index
        self._variables = {id(variable) for variable in variables}
        owners = [layers.model] + [place.layer for place in layers.places]
        self._names = {_COUNTED.sub("", str(getattr(owner, "name", ""))) for owner in owners}
        self._calls = {type(node) for place in layers.places for node in self._framework.layer_nodes(place.layer)}
        self._first: dict[int, tuple[int, str]] = {}
        self.read: list[Any] = []
        """Whatever was looked at."""
        self._texts: dict[str, str] = {}
        self._left = _MOST
        self._in_values = 0
        self._private = False
        self._begin(layers.model)
        for number, place in enumerate(layers.places):
            self._begin(place.layer if place.first == number and place.layer is not layers.model else None)
        if observer.private:
            self._begin_private()

    def _begin(self, owner: Any) -> None:
        self._number = len(self.facts) - 1
        self._told: dict[str, str] = {}
        self.facts.append(self._told)
        if owner is not None:
            self.objects[self._number, ""] = owner
            self._attributes("", owner, 0)

    def _begin_private(self) -> None:
        """Tell the private attributes of what was looked into so far, and everything of what only these lead to."""
        self._private, self._left = True, _MOST
        for (number, path), owner in list(self.objects.items()):
            self._number, self._told = number, self.facts[1 + number]
            self._named(_private(owner, _OF_LAYERS_PRIVATELY if not path else _NONE), path, owner, path.count("."))

    def _attributes(self, path: str, owner: Any, depth: int) -> bool:
        """Tell the attributes of an object; whether anything in them can change by itself."""
        own = [name for name in getattr(owner, "__dict__", ()) if type(name) is str and name[:1] != "_"]
        kind: Any = type(owner)
        names = sorted({*own, *_properties(kind)} - (_OF_LAYERS if not path else _NONE))
        return self._named([*names, *(_private(owner) if self._private else ())], path, owner, depth)

    def _named(self, names: list[str], path: str, owner: Any, depth: int) -> bool:
        """Tell the attributes of an object that have these names; whether anything in them can change by itself."""
        changes = False
        kind: Any = type(owner)
        for name in names:
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
                self._told[here] = "raises %s" % type(error).__name__
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
        return any(id(_content(cell)) in self._layers for cell in cells)

    def _tell(self, path: str, value: Any, depth: int) -> bool:
        """Tell a value; whether it, or anything in it, can change by itself."""
        framework, kind = self._framework, type(value)
        self._left -= 1
        if kind in _PLAIN:
            self._told[path] = self._text(value) if kind is str else repr(value)
            return False
        self.read.append(value)
        if id(value) in self._layers:
            self._told[path] = "a layer"  # whose facts are its own
            return False
        if kind in self._calls:
            self._told[path] = "a call"  # which is told of the layers
            return False
        if framework.is_variable(value):
            known = id(value) in self._variables
            self._told[path] = "a variable" if known else self._array(framework.read(value))
            return not known
        if framework.is_symbolic(value):
            self._told[path] = "a tensor of %s" % (getattr(value, "shape", ""),)  # its dtype is told of the call
            return False
        if isinstance(value, _FUNCTIONS):
            self._told[path] = _function(value)
            return False
        if depth > _DEEPEST or self._left < 0:
            self._told[path] = kind.__name__
            return False
        if isinstance(value, np.ndarray):
            return self._once(self._array_at, path, value, depth)
        if isinstance(value, _CONTAINERS):
            return self._once(self._items, path, value, depth)
        if kind.__module__.split(".")[0] in _TOLD_WHOLE:
            if _is_tensor(value):
                self._told[path] = "a tensor of %s" % (value.shape,)  # what a call has given
                return False
            said = entry(value)
            long = len(said) > _LONGEST
            self._told[path] = kind.__name__ + " " + short_hash(said.encode("utf-8", "replace")) if long else said
            return False
        return self._once(self._object, path, value, depth)

    def _once(self, tell: Callable[[str, Any, int], bool], path: str, value: Any, depth: int) -> bool:
        """Tell what may be met again: of what can change, it is told then where it was met first."""
        if self._in_values:
            return tell(path, value, depth)
        if id(value) in self._changing:
            self._told[path] = "%s%d%s" % ((SAME,) + self._first[id(value)])
            return True
        self._first[id(value)] = self._number, path
        self._changing[id(value)] = value  # until it is known: it may hold itself
        changes = tell(path, value, depth)
        if not changes:
            del self._changing[id(value)]
        elif id(value) in self._of_original and not isinstance(value, np.ndarray):
            self._told[path] = SHARED + self._told[path]
        return changes

    def _items(self, path: str, value: Any, depth: int) -> bool:
        changes = not isinstance(value, (tuple, frozenset))
        if isinstance(value, (set, frozenset)):
            self._told[path] = entry(value)
            return changes
        name = _name_of_a_container(value)
        self._told[path] = "%s of %d" % (name, len(value))
        if isinstance(value, dict):
            items = [("[%r]" % (key,), item) for key, item in value.items()]
            items = [(where, item) for where, item in items if not _ADDRESS.search(where)]
        elif all(map(self._is_told_apart, value)):
            self._told[path] = name
            return False
        else:
            items = [("[%d]" % place, item) for place, item in enumerate(value)]
        for where, item in items:
            changes = self._tell(path + where, item, depth + 1) or changes
        return changes

    def _is_told_apart(self, item: Any) -> bool:
        """Whether it is a layer, a weight or a call, which are told of the model, or what a call has given."""
        return id(item) in self._variables or id(item) in self._layers or type(item) in self._calls or _is_tensor(item)

    def _object(self, path: str, value: Any, depth: int) -> bool:
        self._told[path] = type(value).__name__
        self.objects[self._number, path] = value
        kind: Any = type(value)
        if not _is_value(kind):
            return self._attributes(path, value, depth)
        self._in_values += 1
        self._attributes(path, value, depth)
        self._in_values -= 1
        return False

    def _array_at(self, path: str, value: Any, depth: int) -> bool:
        self._told[path] = self._array(value)
        return True

    def _array(self, value: Any) -> str:
        value = np.asarray(value)
        return "array of %s, %s: %s" % (value.shape, value.dtype, self._digests.digest(value))

    def _text(self, text: str) -> str:
        """A text, and where there are names of layers in it, which are told by themselves, the same without them."""
        told = self._texts.get(text)
        if told is None:
            parts = text.split("/")
            unnamed = "/".join("a name" if _COUNTED.sub("", part) in self._names else part for part in parts)
            told = self._texts[text] = repr(text) if unnamed == text else repr(text) + NAMED + unnamed
        return told


def may_vary(ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> bool:
    """Whether a fact is another that chance may have made: it draws numbers and counts names; no size."""
    for one, other in zip(ours, theirs):
        for path in {**one, **other} if one != other else ():
            fact, found = one.get(path, ""), other.get(path, "")
            if not same_fact(fact, found) and _NUMBER.search(_DTYPE.sub("", fact)) and not _SIZE.match(fact):
                return True
    return False


def same_fact(one: str | None, other: str | None) -> bool:
    """Whether two facts are the same, whatever layers are called."""
    if one is None or other is None or one == other or (NAMED not in one and NAMED not in other):
        return one == other
    texts, unnamed = zip(*(fact.partition(NAMED)[::2] for fact in (one, other)))
    return bool(texts[0] == texts[1] or unnamed[0] == unnamed[1] != "")


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _function(value: Any) -> str:
    if isinstance(value, type):
        return "class %s" % value.__name__
    if isinstance(value, types.ModuleType):
        return "module %s" % value.__name__
    if isinstance(value, types.MethodType):
        return "method %s" % _function(value.__func__)
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__  # TensorFlow has a function by several names, in several wrappers
    if isinstance(value, types.FunctionType):
        return function(value)
    return "function %s" % getattr(value, "__name__", "")


def _name_of_a_container(value: Any) -> str:
    """What a list, a tuple or a dict is; where Keras or TensorFlow has wrapped it to track it, that says nothing."""
    kind = type(value)
    if kind.__module__.split(".")[0] not in ("keras", "tf_keras", "tensorflow"):
        return kind.__name__
    return next(each.__name__ for each in _CONTAINERS if isinstance(value, each))


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.split(".")[0] in _TOLD_WHOLE and hasattr(value, "shape") and hasattr(value, "dtype")


def _private(owner: Any, but: frozenset[str] = _NONE) -> list[str]:
    """The attributes of an object whose names begin with one underscore, those that Python mangles left out."""
    own = {name for name in getattr(owner, "__dict__", ()) if type(name) is str and _ONE_UNDERSCORE.match(name)}
    return sorted(name for name in own - but - _ONCE_MORE if not _HOW_IT_CAME.match(name))


@functools.lru_cache(maxsize=4096)
def _counts(name: str, kind: str) -> bool:
    """Whether Keras may have counted a name itself: "seed_generator_3" of a `SeedGenerator`."""
    spelled = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
    return _COUNTED.sub("", name) == spelled


@once_a_class
def _is_value(kind: Any) -> bool:
    """Whether objects of a class only hold what their config says, and do nothing, as an `InputSpec` does."""
    methods = {name for each in kind.__mro__[:-1] for name, item in vars(each).items() if callable(item)}
    return (
        "get_config" in methods
        and "__call__" not in methods
        and {name for name in methods if name[0] != "_"} <= {"get_config", "from_config"}
    )


@once_a_class
def _properties(kind: type) -> tuple[str, ...]:
    """The public properties of its objects. What the class itself answers, as a registry of presets, is not theirs."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if (
            each.__module__.split(".")[0] not in _TOLD_WHOLE
        ):  # `submodules` of TensorFlow is all that there is, once more
            found.update((name, value) for name, value in vars(each).items() if name[:1] != "_")
    return tuple(
        name for name, value in found.items() if isinstance(value, property) and getattr(kind, name, None) is value
    )
