"""Constructor options that the config of a layer leaves out: taken from what the layer holds, or refused.

Keras itself records what a constructor was given, where all of that was plain data; whoever reads a config adds the
record to it. For other layers, an option is what the layer holds under its name.
"""

from __future__ import annotations

import dis
import inspect
from typing import Any, Callable, Collection, Sequence

import numpy as np

from ...by_class import once_a_class
from ...structure import leaves, map_leaves
from .adapter import Adapter
from .comparison import PLAIN, Comparison, leads_to
from .options import config_of, described

_OF_ONE_LAYER = ("name", "trainable", "dtype")
_CALLED = frozenset(
    ("__call__", "build", "build_from_config", "call", "compute_mask", "compute_output_shape", "compute_output_spec")
)
"""The methods by which Keras builds and calls a layer."""


def record_of_constructor(layer: Any) -> dict[str, Any] | None:
    """What the constructor of a layer was given, if Keras has recorded it."""
    return getattr(getattr(layer, "_auto_config", None), "config", None)


def _with_held_options(
    layer: Any, clone: Any, options: Collection[str], make: Callable[[dict[str, Any]], Any], comparison: Comparison
) -> tuple[Any, dict[str, Any]]:
    """A clone made with what the layer holds under the names of these options, and those that were taken.

    `make` makes a clone with further options. A value is taken only if the clone then holds it too, and has the same
    config as the layer: otherwise the attribute is something else than the option of its name.
    """
    held: dict[str, Any] = {}
    for name in comparison.differing(layer, clone):
        option, value = name.lstrip("_"), vars(layer)[name]
        if option not in options or leads_to(value, comparison.is_layer):
            continue
        try:
            made = make(dict(held, **{option: value}))
        except Exception:
            continue
        if comparison.alike(vars(made).get(name), value) and _same_config(layer, made, comparison):
            clone, held[option] = made, value
    return clone, held


def with_all_options(
    layer: Any,
    clone: Any,
    options: Collection[str],
    missing: Collection[str],
    record: dict[str, Any] | None,
    make: Callable[[dict[str, Any]], Any],
    adapter: Adapter,
    user_layers: list[UserLayer],
    set_later: Sequence[str] = (),
) -> Any:
    """A clone made again with the options that nothing else tells, as far as the layer holds them.

    Of the options of the class these are missing from the config, and `record` has what the constructor was given. A
    layer of a user's class is added to `user_layers`. `set_later` are options that its constructor refuses in the form
    in which the layer holds them.
    """
    comparison = adapter.comparison()
    of_keras = adapter.comes_with_keras(type(layer))
    clone, held = _with_held_options(layer, clone, missing if of_keras else options, make, comparison)
    if not of_keras:
        unknown = [name for name in missing if name not in held] if record is None else []
        user_layers.append(UserLayer(layer, clone, [*unknown, *set_later], comparison))
    _keep_arrays(layer, clone)
    return clone


def _keep_arrays(layer: Any, clone: Any) -> None:
    """Give a clone those arrays of its original that its config has told as lists, or has not told."""
    for name, value in vars(layer).items():
        if isinstance(value, np.ndarray) and name[0] != "_":
            told = vars(clone).get(name)
            told_as_list = isinstance(told, (list, tuple)) and list(told) == value.tolist()
            if told_as_list or (isinstance(told, np.ndarray) and not np.array_equal(told, value)):
                setattr(clone, name, value.copy())


def _same_config(layer: Any, other: Any, comparison: Comparison) -> bool:
    try:
        return comparison.alike(config_of(layer), config_of(other))
    except Exception:
        return True


class UserLayer:
    """A layer of a user's class and its clone, compared when the clone is made, and again once it is built and called.

    `unknown` are the options that nothing tells. What was set on the layer after it was made is given to the clone at
    once, because building and calling may depend on it.
    """

    def __init__(self, layer: Any, clone: Any, unknown: list[str], comparison: Comparison) -> None:
        self._layer = layer
        self._clone = clone
        self._unknown = unknown
        self._comparison = comparison
        kind: Any = type(layer)
        self._set_at_once = [name for name in self._plain_attributes() if name not in _set_by_calls(kind)]
        self._copy(self._set_at_once)
        self._at_first = map_leaves(lambda leaf: leaf, {name: vars(clone)[name] for name in self._lost()})

    def copy_set_attributes(self) -> None:
        """Give the clone what was set on its original too, and what a call of the clone has not set itself."""
        lost = [name for name in self._plain_attributes() if name in self._set_at_once or self._is_as_at_first(name)]
        self._copy(lost)

    def refuse_if_lost(self) -> None:
        """Raise if an option is unknown and the clone differs from its original.

        An attribute that building or calling the clone has changed, such as a count, is no sign of that.
        """
        lost = [name for name in self._lost() if self._is_as_at_first(name)] if self._unknown else []
        if lost:
            options, attributes = (", ".join("`%s`" % name for name in names) for names in (self._unknown, lost))
            raise ValueError(
                "%s cannot be cloned faithfully: its `get_config()` leaves out options of its constructor (%s), and a "
                "clone made without them differs in %s. Let `get_config()` return them."
                % (described(self._layer), options, attributes)
            )

    def _plain_attributes(self) -> list[str]:
        """Those that the clone lacks; none where an option is unknown, which they may come of."""
        lost = [] if self._unknown else self._lost()
        return [name for name in lost if isinstance(vars(self._layer)[name], PLAIN)]

    def _copy(self, names: list[str]) -> None:
        for name in names:
            setattr(self._clone, name, vars(self._layer)[name])

    def _is_as_at_first(self, name: str) -> bool:
        return name in self._at_first and self._comparison.alike(self._at_first[name], vars(self._clone)[name])

    def _lost(self) -> list[str]:
        """The attributes that differ; where an option is unknown, so do layers with other configs."""
        names = self._comparison.differing(self._layer, self._clone)
        if self._unknown:
            both = [name for name in vars(self._layer) if name in vars(self._clone)]
            both = [name for name in both if not self._comparison.is_of_keras(name)]
            names += [name for name in both if name not in names and self._has_other_layers(name)]
        return names

    def _has_other_layers(self, name: str) -> bool:
        pairs = zip(leaves(vars(self._layer)[name]), leaves(vars(self._clone)[name]))
        layers = [pair for pair in pairs if all(map(self._comparison.is_layer, pair))]
        return any(not self._comparison.alike(_options_told(one), _options_told(other)) for one, other in layers)


def _options_told(layer: Any) -> Any:
    """The config of a layer without what it tells of that one layer; nothing of a model, whose graph goes by names."""
    if hasattr(layer, "fit"):
        return None
    try:
        return _without_names(config_of(layer))
    except Exception:
        return None


def _without_names(config: Any) -> Any:
    if isinstance(config, dict):
        return {key: _without_names(value) for key, value in config.items() if key not in _OF_ONE_LAYER}
    return [_without_names(each) for each in config] if isinstance(config, (list, tuple)) else config


@once_a_class
def _set_by_calls(kind: Any) -> frozenset[str]:
    """The attributes that a layer of this class may set while it is built or called, by what its methods say."""
    found: set[str] = set()
    seen = {"__init__", "__new__"}
    waiting = list(_CALLED)
    while waiting:
        name = waiting.pop()
        codes = [] if name in seen else _codes([vars(each)[name] for each in kind.__mro__ if name in vars(each)])
        seen.add(name)
        for code in codes:
            found.update(step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR")
            waiting.extend(code.co_names)
    return frozenset(found)


def _codes(members: list[Any]) -> list[Any]:
    """The code of these methods and properties, and of the functions in them."""
    functions = [getattr(one, each, None) for one in members for each in ("fget", "fset", "__func__")] + members
    waiting = [getattr(inspect.unwrap(each), "__code__", None) for each in functions if each is not None]
    found = []
    while waiting:
        code = waiting.pop()
        if inspect.iscode(code):
            found.append(code)
            waiting.extend(code.co_consts)
    return found
