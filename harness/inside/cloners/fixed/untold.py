"""Options that a config does not tell: found by what a layer holds, or refused.

A config need not tell all of them, and a layer need not hold them under their names. Whether a clone got them is seen
by what the two objects hold.
"""

from __future__ import annotations

import dis
import inspect
from functools import lru_cache, partial
from typing import Any, Callable, Collection, Iterator

from .comparison import OF_ONE_LAYER, PLAIN, Comparison, leads_to
from .held import refused
from .options import described

_NUMBERS = (bool, int, float)
_CALLED = ("build", "call", "compute_output_shape", "__call__")
"""Methods that Keras calls, whatever a constructor does with them."""


class Untold:
    """The options that no config told of one layer, and what became of its clone without them."""

    def __init__(self, layer: Any, clone: Any, options: dict[str, Collection[str] | None]) -> None:
        """`options` has for each the attributes that it decides; None where that cannot be told, and any may be it."""
        self._layer = layer
        self._clone = clone
        self._options = options

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._options)

    def refuse_if_lost(self, comparison: Comparison) -> None:
        """Raise if the clone, built by now as its original is, still differs from it."""
        lost = comparison.into_layers().differing(self._layer, self._clone) if self._options else []
        found = {option: _in_doubt(self._layer, lost, decided, comparison) for option, decided in self._options.items()}
        options = [option for option in found if found[option]]
        if options:
            raise refusal(self._layer, options, [name for name in lost if any(name in found[each] for each in options)])


def set_later(layer: Any, clone: Any, comparison: Comparison) -> None:
    """Give a clone the plain attributes that were set on its original from outside, after its constructor had ended."""
    differing = comparison.differing(layer, clone)
    set_by_calls = _set_by_calls(type(layer), comparison) if differing else ()
    for name in differing:
        values = vars(layer)[name], vars(clone)[name]
        if all(isinstance(value, PLAIN) for value in values) and name not in set_by_calls:
            setattr(clone, name, values[0])


def _in_doubt(layer: Any, lost: list[str], decided: Collection[str] | None, comparison: Comparison) -> list[str]:
    others = _set_by_calls(type(layer), comparison) if decided is None else ()
    return [name for name in lost if (name not in others if decided is None else name in decided)]


def _set_by_calls(kind: Any, comparison: Comparison) -> set[str]:
    """The attributes that a class sets not only while it is constructed: how often it was called, on what shape."""
    users = [each for each in kind.__mro__ if not comparison.is_own(each)]
    constructing: set[str] = set()
    waiting = ["__init__"]
    while waiting:
        name = waiting.pop()
        if name not in constructing and name not in _CALLED:
            constructing.add(name)
            waiting.extend(
                called for each in users for code in _methods(each).get(name, ()) for called in code.co_names
            )
    methods = [method for each in kind.__mro__ for method in _methods(each).items() if method[0] not in constructing]
    return {attribute for _, codes in methods for code in codes for attribute in _attributes_set_by(code)}


@lru_cache(maxsize=None)
def _methods(kind: Any) -> dict[str, list[Any]]:
    """The code of the methods and properties of a class itself."""
    found: dict[str, list[Any]] = {}
    for name, member in vars(kind).items():
        functions = [member] + [getattr(member, each, None) for each in ("fget", "fset", "__func__")]
        codes = [getattr(inspect.unwrap(each), "__code__", None) for each in functions if each is not None]
        found[name] = [code for code in codes if inspect.iscode(code)]
    return found


def _attributes_set_by(code: Any) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname == "STORE_ATTR":
            yield step.argval
    for each in code.co_consts:
        if inspect.iscode(each):
            yield from _attributes_set_by(each)


def with_untold_options(
    layer: Any,
    clone: Any,
    untold: dict[str, Any],
    make: Callable[[dict[str, Any]], Any],
    comparison: Comparison,
    given: dict[str, Any] | None = None,
    any_difference: bool = False,
) -> tuple[Any, Untold]:
    """A clone made with what the layer holds for the options that its config does not tell.

    `untold` has their defaults, and `make` makes a clone with further options. Those that the constructor is known to
    have been `given` are it, if the layer holds nothing else. For the options that are left, `any_difference` counts,
    or those they decide.
    """
    if not untold:
        return clone, Untold(layer, clone, {})
    search = _Search(layer, clone, untold, make, comparison.into_layers())
    search.by_name()
    search.by_record(given or {})
    search.by_trying()
    if any_difference:
        return search.clone, Untold(layer, search.clone, dict.fromkeys(search.doubtful))
    if not search.left:  # whatever their values were, they have made the same
        return search.clone, Untold(layer, search.clone, {})
    return search.clone, Untold(layer, search.clone, {option: search.decided_by(option) for option in search.doubtful})


class _Search:
    """For the options of one layer. Whether a value is an option's is tried: the clone has to be more like the layer.

    What differs anew each time that a clone is made, such as a seed that it draws, is evidence of nothing.
    """

    def __init__(
        self,
        layer: Any,
        clone: Any,
        untold: dict[str, Any],
        make: Callable[[dict[str, Any]], Any],
        comparison: Comparison,
    ) -> None:
        self.clone = clone
        self._layer = layer
        self._untold = untold
        self._make = make
        self._comparison = comparison
        again = _made(make, {}) if comparison.differing(layer, clone) else None
        self._unsteady = set() if again is None else set(comparison.differing(clone, again))
        self._traces = self._traces_of(clone)
        self._told: dict[str, Any] = {}
        self._guessed: set[str] = set()
        self._sure: set[str] = set()

    @property
    def left(self) -> list[str]:
        """The attributes that still differ."""
        return list(dict.fromkeys(trace[0] for trace in self._traces))

    @property
    def doubtful(self) -> list[str]:
        """The options that were not found, or only by the traces that they left."""
        return [option for option in self._untold if option not in self._sure]

    def by_name(self) -> None:
        """Take what the layer holds under the name of an option."""
        for name in self.left:
            option = name.lstrip("_")
            if option in self._untold and self._is_value(name) and self._tell(option, vars(self._layer)[name]):
                self._sure.add(option)

    def by_record(self, given: dict[str, Any]) -> None:
        """Take what the constructor was given."""
        for option in [each for each in self._untold if each in given and each not in self._told]:
            made = _made(self._make, dict(self._told, **{option: given[option]}))
            if made is not None:
                self._take(made, option, given[option])
                self._sure.add(option)

    def by_trying(self) -> None:
        """Take what makes an attribute that differs, whatever its name is."""
        while any(self._guess(name) for name in self.left):
            continue

    def _guess(self, name: str) -> bool:
        for option, value in self._guesses(name):
            if option not in self._guessed and self._tell(option, value):
                self._guessed.add(option)
                return True
        return False

    def _guesses(self, name: str) -> Iterator[tuple[str, Any]]:
        """Options and values for them: first those whose default is what the clone holds."""
        tries = [(name, vars(self.clone).get(name), vars(self._layer)[name])] if self._is_value(name) else []
        for one, other in _pairs(vars(self._layer)[name], vars(self.clone).get(name), self._comparison.is_layer):
            tries += _entries_that_differ(one, other, self._comparison)
        for key, now, value in tries:
            alike = partial(self._comparison.alike, now)
            ranked = sorted(self._untold, key=lambda option: (option != key, not alike(self._untold[option])))
            yield from ((option, value) for option in ranked)

    def decided_by(self, option: str) -> Collection[str] | None:
        """The attributes that an option decides, seen by giving it other values; None where none shows any."""
        default, tried = self._untold[option], False
        if not isinstance(default, _NUMBERS) and self._comparison.is_of_keras(type(self._layer), option):
            return ()  # what its own layers do not tell follows from what they do
        found: set[str] = set()
        for value in self._other_values(default):
            made = _made(self._make, dict(self._told, **{option: value}))
            if made is not None:
                tried = True
                found.update(self._differing(self.clone, made))
        return found if found or tried and isinstance(default, _NUMBERS) else None

    def _other_values(self, default: Any) -> list[Any]:
        if isinstance(default, bool):
            return [not default]
        if isinstance(default, int):
            return [default + 1, -default - 1]
        if isinstance(default, float):
            return [default + 1, -default - 1, default / 2 + 0.25]
        if isinstance(default, (list, tuple)) and default and all(isinstance(each, _NUMBERS) for each in default):
            return [type(default)(each + 1 for each in default)]
        held = [vars(self._layer)[name] for name in self.left if self._is_value(name)]
        words = [each if isinstance(each, str) else getattr(each, "__name__", None) for each in held]
        return [each for each in words if each is not None] + ([2, 0.5, True] if default is None else [])

    def _is_value(self, name: str) -> bool:
        """Whether a clone can be given an attribute of the layer as it is."""
        return not leads_to(vars(self._layer)[name], self._comparison.is_layer)

    def _tell(self, option: str, value: Any) -> bool:
        made = _made(self._make, dict(self._told, **{option: value}))
        if made is None or not set(self._traces_of(made)) < set(self._traces):
            return False
        self._take(made, option, value)
        return True

    def _take(self, made: Any, option: str, value: Any) -> None:
        self.clone, self._told[option] = made, value
        self._traces = self._traces_of(made)

    def _differing(self, one: Any, other: Any) -> list[str]:
        return [name for name in self._comparison.differing(one, other) if name not in self._unsteady]

    def _traces_of(self, made: Any) -> list[tuple[Any, ...]]:
        """What differs, and of layers that are held each entry of their configs."""
        found: list[tuple[Any, ...]] = []
        for name in self._differing(self._layer, made):
            pairs = _pairs(vars(self._layer)[name], vars(made)[name], self._comparison.is_layer)
            entries = [
                (name, place, entry)
                for place, (one, other) in enumerate(pairs)
                for entry, _, _ in _entries_that_differ(one, other, self._comparison)
            ]
            found += entries or [(name,)]
        return found


def _pairs(one: Any, other: Any, is_layer: Callable[[Any], bool]) -> Iterator[tuple[Any, Any]]:
    """The layers that two attributes hold, side by side."""
    if is_layer(one) and is_layer(other):
        yield one, other
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        for each, its in zip(one, other):
            yield from _pairs(each, its, is_layer)


def _entries_that_differ(one: Any, other: Any, comparison: Comparison) -> list[tuple[str, Any, Any]]:
    """What the configs of two layers tell otherwise: by name, what the second tells and what the first does."""
    try:
        told, others = one.get_config(), other.get_config()
    except Exception:
        return []
    names = [name for name in told if name in others and name not in OF_ONE_LAYER]
    names = [name for name in names if not comparison.alike(told[name], others[name])]
    return [(name, others[name], told[name]) for name in names if isinstance(told[name], (*PLAIN, list, tuple))]


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


def refuse_other_weights(layer: Any, clone: Any, shapes: list[Any], others: list[Any]) -> None:
    """Raise where a clone was built with other weights than its original, which nobody can give it."""
    if shapes == others:
        return
    has = "%d weights where it has %d" % (len(others), len(shapes))
    if len(shapes) == len(others):
        differing = next(pair for pair in zip(others, shapes) if pair[0] != pair[1])
        has = "a weight of the shape %s where it has one of %s" % differing
    raise refused(layer, ["what its config makes has " + has])
