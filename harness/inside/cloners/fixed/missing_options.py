"""Constructor options that the config of a layer leaves out: taken from what the layer holds, or refused.

Keras itself records what a constructor was given, where all of that was plain data; whoever reads a config adds the
record to it. For other layers, an option is what the layer holds under its name.
"""

from __future__ import annotations

from typing import Any, Callable, Collection

from ...structure import leaves, map_leaves
from .adapter import Adapter
from .comparison import PLAIN, Comparison, leads_to
from .options import described

_OF_ONE_LAYER = ("name", "trainable", "dtype")


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
) -> Any:
    """A clone made again with the options that nothing else tells, as far as the layer holds them.

    Of the options of the class these are missing from the config, and `record` has what the constructor was given. A
    layer of a user's class is added to `user_layers`.
    """
    comparison = adapter.comparison()
    own = adapter.comes_with_keras(type(layer))
    clone, held = _with_held_options(layer, clone, missing if own else options, make, comparison)
    if not own:
        unknown = [name for name in missing if name not in held] if record is None else []
        user_layers.append(UserLayer(layer, clone, unknown, comparison))
    return clone


def _same_config(layer: Any, other: Any, comparison: Comparison) -> bool:
    try:
        return comparison.alike(layer.get_config(), other.get_config())
    except Exception:
        return True


class UserLayer:
    """A layer of a user's class and its clone, compared again once the clone is built and called.

    `unknown` are the options that nothing tells.
    """

    def __init__(self, layer: Any, clone: Any, unknown: list[str], comparison: Comparison) -> None:
        self._layer = layer
        self._clone = clone
        self._unknown = unknown
        self._comparison = comparison
        self._at_first = map_leaves(lambda leaf: leaf, {name: vars(clone)[name] for name in self._lost()})

    def copy_set_attributes(self) -> None:
        """Give the clone the plain attributes that were set on its original after that was made."""
        for name in [] if self._unknown else self._lost():
            if isinstance(vars(self._layer)[name], PLAIN) and self._is_as_at_first(name):
                setattr(self._clone, name, vars(self._layer)[name])

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

    def _is_as_at_first(self, name: str) -> bool:
        return name in self._at_first and self._comparison.alike(self._at_first[name], vars(self._clone)[name])

    def _lost(self) -> list[str]:
        """The attributes that differ; where an option is unknown, so do layers with other configs."""
        names = self._comparison.differing(self._layer, self._clone)
        if self._unknown:
            both = [name for name in vars(self._layer) if name in vars(self._clone) and not name.startswith("_")]
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
        return _without_names(layer.get_config())
    except Exception:
        return None


def _without_names(config: Any) -> Any:
    if isinstance(config, dict):
        return {
            key: _without_names(value) for key, value in config.items() if key not in ("name", "trainable", "dtype")
        }
    return [_without_names(each) for each in config] if isinstance(config, (list, tuple)) else config
