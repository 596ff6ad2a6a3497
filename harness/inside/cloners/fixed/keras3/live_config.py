"""The live config of a layer of Keras 3."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
from keras.src.backend.common import global_state
from keras.src.saving import object_registration

from ..live_config import FUNCTION, LiveConfig
from .adapter import ADAPTER
from .release import POLICY_MAP


class Keras3Config(LiveConfig):
    """A config that Keras 3 reads."""

    adapter = ADAPTER

    def __init__(self, layer: Any, clone_of: Callable[[Any], Any], clone_leaf: Callable[[Any], Any]) -> None:
        super().__init__(layer, clone_of, clone_leaf)
        self._read_back: dict[int, Any] = {}

    def _is_whole(self, layer: Any) -> bool:
        return hasattr(layer, "_functional") or hasattr(layer, "_nodes_by_depth")

    def _is_hidden(self, value: Any) -> bool:
        return super()._is_hidden(value) or _leaves_out_an_option(value)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, POLICY_MAP):
            return copy.deepcopy(value)  # its `get_config` renames the policies in it
        return super()._masked(value)

    def _text(self, value: str) -> Any:
        # Who describes a function by its name alone looks it up by himself.
        return getattr(self.names.get(value), "__name__", value) if value.startswith(FUNCTION) else value

    def _function(self, described: dict[str, Any]) -> Any:
        return described

    def _passed(self, sublayer: Any) -> Any:
        """What the constructor gets for a sublayer, which a `Bidirectional` serializes and reads back.

        It does so to have layers of its own. Before 3.3 it kept the one it was given as well, beside the forward layer,
        and its config told of the latter only.
        """
        clone = super()._passed(sublayer)
        if not isinstance(self.layer, keras.layers.Bidirectional):
            return clone
        given = vars(self.layer).get("layer")
        is_other = given is not None and given is not sublayer and sublayer is self.layer.forward_layer
        passed = super()._passed(given) if is_other else clone
        self._read_back[id(passed)] = clone
        return passed

    def _reference(self, described: dict[str, Any], name: str, clone: Any) -> dict[str, Any]:
        kept = {key: each for key, each in described.items() if key not in ("build_config", "compile_config")}
        return {**kept, "config": self.resolved(described["config"]), "registered_name": name}

    def _name_of(self, thing: Any) -> str:
        return str(object_registration.get_registered_name(thing)) if isinstance(thing, type) else ""

    @contextmanager
    def _scope(self) -> Iterator[None]:
        known = _KnownObjects({key: {} for key in self._read_back}) if self._read_back else None
        sharing = {"shared_objects/id_to_config_map": known, "shared_objects/id_to_obj_map": dict(self._read_back)}
        with super()._scope(), _global_attributes(sharing):
            yield


def _leaves_out_an_option(value: Any) -> bool:
    """Whether it is an initializer of Keras whose config does not tell all that it was given, as that of an Identity.

    It does not change, so a clone can have the same one.
    """
    kind = type(value)
    if not isinstance(value, keras.initializers.Initializer) or not ADAPTER.comes_with_keras(kind):
        return False
    return not set(inspect.signature(kind).parameters).issubset(value.get_config())


class _KnownObjects(dict[int, Any]):
    """Keras's record of the objects serialized so far, kept to those known beforehand.

    Keras marks the configuration of an object that it finds here; nothing else is to be marked.
    """

    def __setitem__(self, key: int, value: Any) -> None:
        pass


@contextmanager
def _global_attributes(values: dict[str, Any]) -> Iterator[None]:
    """Other values in Keras's global state, for as long as the scope lasts."""
    before = {name: global_state.get_global_attribute(name) for name in values}
    for name, value in values.items():
        global_state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            global_state.set_global_attribute(name, value)
