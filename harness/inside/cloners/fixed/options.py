"""The options of a layer: which its constructor has, and whether a clone was made with the ones that its original has.

A config need not tell all of them, and a layer need not hold them under their names. Whether a clone got them is seen
by what the two objects hold.
"""

from __future__ import annotations

import inspect
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Collection

import numpy as np

REQUIRED = inspect.Parameter.empty
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DEEP = 4
_FAR = 10000


def described(layer: Any) -> str:
    """A layer by its name and its class, for a message."""
    sort = "Model" if hasattr(layer, "fit") else "Layer"
    return "%s %r (class `%s`)" % (sort, str(getattr(layer, "name", "?")), type(layer).__qualname__)


def as_config(layer: Any, told: Any) -> dict[str, Any]:
    """What a layer's `get_config` gave, which has to be a dictionary."""
    if not isinstance(told, dict):
        raise TypeError(
            "%s cannot be cloned: its `get_config()` gave %s instead of a dictionary. Let it return one with "
            "everything that its constructor needs." % (described(layer), told)
        )
    return told


def constructor_options(kind: Any, base: Any) -> dict[str, Any]:
    """The options that a class has beside those of its base class, and their defaults, or `REQUIRED`.

    A constructor that hands others on as `**kwargs` has the options of the next class as well.
    """
    found: dict[str, Any] = {}
    for each in kind.__mro__:
        if each is base:
            break
        if "__init__" not in vars(each) or not issubclass(each, base):
            continue
        parameters = list(inspect.signature(each.__init__).parameters.values())[1:]
        named = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
        found.update((one.name, one.default) for one in named if one.name not in found)
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    return {name: default for name, default in found.items() if name not in ("name", "trainable", "dtype")}


class Comparison:
    """Whether an original and its clone hold the same, apart from state and layers, which are compared elsewhere."""

    def __init__(self, is_state: Callable[[Any], bool], left_out: Any) -> None:
        self._is_state = is_state
        self._left_out = left_out

    def differing(self, one: Any, other: Any) -> list[str]:
        """The attributes of two objects of one class that differ; one that only the clone lacks is not told."""
        held, others = vars(one), vars(other)
        names = [name for name in held if name in others and name not in self._left_out]
        names = [name for name in names if not name.startswith("_self_")]  # TensorFlow's own record of what is held
        return [name for name in names if not self.alike(held[name], others[name])]

    def alike(self, one: Any, other: Any, depth: int = 0) -> bool:
        """Whether two values are the same as far as they can be compared."""
        if one is other or self._is_state(one) or self._is_state(other) or depth > _DEEP:
            return True
        deeper = partial(self._all_alike, depth=depth + 1)
        if isinstance(one, _PLAIN) or isinstance(other, _PLAIN):
            return type(one) is type(other) and (one == other or one != one)
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return deeper(one, other)
        if isinstance(one, dict) and isinstance(other, dict):
            return list(map(str, one)) == list(map(str, other)) and deeper(list(one.values()), list(other.values()))
        if type(one) is not type(other):
            return False
        if isinstance(one, (set, frozenset)):  # of numbers, they may be those of objects
            return len(one) == len(other) and (one == other or not all(isinstance(each, str) for each in one))
        if isinstance(one, MethodType):
            return one.__func__ is other.__func__
        if isinstance(one, FunctionType):
            return one.__code__ is other.__code__ and deeper(_captured(one), _captured(other))
        if isinstance(one, partial):
            return deeper([one.func, one.args, one.keywords], [other.func, other.args, other.keywords])
        if isinstance(one, (type, BuiltinFunctionType)):
            return False
        if isinstance(one, np.ndarray):
            return one.shape == other.shape and bool(np.array_equal(one, other))
        return self._objects_alike(one, other, depth)

    def _all_alike(self, ones: Any, others: Any, depth: int) -> bool:
        return len(ones) == len(others) and all(self.alike(a, b, depth) for a, b in zip(ones, others))

    def _objects_alike(self, one: Any, other: Any, depth: int) -> bool:
        if hasattr(one, "get_config") and hasattr(type(one), "from_config"):
            try:
                return self.alike(one.get_config(), other.get_config(), depth + 1)
            except Exception:
                return True
        try:
            if bool(one == other):
                return True
        except Exception:
            return True
        if not hasattr(one, "__dict__"):
            return _compares_by_identity(one)
        held, others = vars(one), vars(other)
        return list(held) == list(others) and self._all_alike(list(held.values()), list(others.values()), depth + 1)


def _compares_by_identity(value: Any) -> bool:
    return bool(getattr(type(value), "__eq__", None) is getattr(object, "__eq__", None))


def _captured(function: Any) -> list[Any]:
    values = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    return values + list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True


def leads_to(value: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether a value is of a sort, or leads to one: by a container, what a function captured, or an attribute."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting and len(seen) < _FAR:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, _PLAIN + (type, BuiltinFunctionType, np.ndarray)):
            continue
        seen[id(each)] = each
        if wanted(each):
            return True
        if isinstance(each, (list, tuple, set, frozenset)):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, MethodType):
            waiting.extend([each.__self__, each.__func__])
        elif isinstance(each, FunctionType):
            waiting.extend(_captured(each))
        elif isinstance(each, partial):
            waiting.extend([each.func, each.args, each.keywords])
        elif not isinstance(each, ModuleType) and hasattr(each, "__dict__"):
            waiting.extend(vars(each).values())
    return False


class Untold:
    """The options that no config told of one layer, and what became of its clone with their defaults."""

    def __init__(self, layer: Any, clone: Any, options: list[str], attributes: list[str] | None) -> None:
        """Only `attributes` matter: None for all, where the defaults were taken for want of anything else."""
        self.layer = layer
        self.clone = clone
        self.options = options
        self.attributes = attributes

    def refuse_if_lost(self, comparison: Comparison) -> None:
        """Raise if the clone, built by now as its original is, still differs from it."""
        lost = comparison.differing(self.layer, self.clone)
        lost = [name for name in lost if self.attributes is None or name in self.attributes]
        if self.options and lost:
            raise refusal(self.layer, self.options, lost)


def with_untold_options(
    layer: Any,
    clone: Any,
    untold: dict[str, Any],
    make: Callable[[dict[str, Any]], Any],
    comparison: Comparison,
    any_difference: bool = False,
) -> tuple[Any, Untold]:
    """A clone made with what the layer holds for the options that its config does not tell.

    `make` makes a clone with further options. Whether an attribute is an option's is tried: the constructor, given its
    value, has to make that attribute. For the options that are left, `any_difference` counts, or those they decide.
    """
    told: dict[str, Any] = {}
    for name in comparison.differing(layer, clone):
        value = vars(layer)[name]
        for option in sorted(untold, key=lambda option: option != name.lstrip("_")):
            is_likely = option == name.lstrip("_") or comparison.alike(untold[option], vars(clone).get(name))
            if option in told or not is_likely:
                continue
            made = _made(make, dict(told, **{option: value}))
            if made is not None and name in vars(made) and comparison.alike(vars(made)[name], value):
                clone, told[option] = made, value
                break
    left = [option for option in untold if option not in told]
    if any_difference:
        return clone, Untold(layer, clone, left, None)
    lost = {option: _decided_by(option, untold[option], told, clone, make, comparison) for option in left}
    differing = comparison.differing(layer, clone)
    options = [option for option in left if set(lost[option]) & set(differing)]
    return clone, Untold(layer, clone, options, [name for names in lost.values() for name in names])


def with_held_options(
    layer: Any, clone: Any, options: Collection[str], make: Callable[[dict[str, Any]], Any], comparison: Comparison
) -> tuple[Any, dict[str, Any]]:
    """A clone made with what the layer holds for the options of which its config tells something else, and those.

    What is taken makes the attribute, and leaves the config as the layer tells it, wrong as that is: otherwise the
    attribute is another thing than the option.
    """
    held: dict[str, Any] = {}
    for name in comparison.differing(layer, clone):
        option, value = name.lstrip("_"), vars(layer)[name]
        if option not in options:
            continue
        made = _made(make, dict(held, **{option: value}))
        if made is None or name not in vars(made) or not comparison.alike(vars(made)[name], value):
            continue
        if _tell_the_same(layer, made, comparison):
            clone, held[option] = made, value
    return clone, held


def _tell_the_same(layer: Any, other: Any, comparison: Comparison) -> bool:
    try:
        return comparison.alike(layer.get_config(), other.get_config())
    except Exception:
        return False


def _made(make: Callable[[dict[str, Any]], Any], further: dict[str, Any]) -> Any:
    try:
        return make(further)
    except Exception:
        return None


def _decided_by(
    option: str, default: Any, told: dict[str, Any], clone: Any, make: Callable[..., Any], comparison: Comparison
) -> list[str]:
    """The attributes that an option decides, seen by giving it another value."""
    if not isinstance(default, (bool, int, float)):
        return []
    other = not default if isinstance(default, bool) else default + 1
    made = _made(make, dict(told, **{option: other}))
    return [] if made is None else comparison.differing(clone, made)


def said(failure: Exception) -> str:
    """An error by its type and the first line of what it says."""
    lines = str(failure).strip().splitlines()
    return "%s: %s" % (type(failure).__name__, lines[0] if lines else "no message")


def failure_alike(failure: Exception, message: str) -> Exception:
    """An error of the same sort that says more."""
    kind = type(failure)
    return kind(message) if kind in (AttributeError, NotImplementedError, TypeError, ValueError) else TypeError(message)


def refusal(layer: Any, options: list[str], attributes: list[str]) -> ValueError:
    """The error where an option of a layer is told by nobody."""
    several = "options %s" if len(options) > 1 else "option %s"
    seen = ", ".join("`%s`" % name for name in attributes) or "what it holds"
    return ValueError(
        "%s cannot be cloned faithfully: its `get_config()` does not tell the %s of its constructor, and a clone made "
        "with the default differs in %s. Add %s to what `get_config()` returns."
        % (described(layer), several % ", ".join("`%s`" % name for name in options), seen,
           "them" if len(options) > 1 else "it")
    )  # fmt: skip
