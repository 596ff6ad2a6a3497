"""One clone in the making: what the cloners of all generations do alike.

1. A model whose class has a constructor or a config of its own is made of its config, if that gives the same graph.
2. Every other model is made of its graph: its calls are made again, in an order that the original allows, on layers
   that are made when a call first needs them; then the model is put together of what the calls gave.
3. A model is given the attributes that were set on its original.
4. At the end, each layer is given what neither its config nor a call tells.

Each generation has a subclass that makes its layers and calls, and an `Adapter` that names the parts of its Keras.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from ...structure import replace_leaves
from .adapter import Adapter
from .comparison import leads_to
from .graph_match import GraphMatch
from .missing_options import UserLayer
from .options import described, refused, said
from .shared_objects import SharedObjects


class NotUnderstood(Exception):
    """What a model holds leads to parts of the original in a way that cannot be followed."""


class Cloning:
    """Which layer of an original became which, each layer once, wherever it is used."""

    adapter: Adapter

    def __init__(self) -> None:
        self._layers: dict[int, tuple[Any, Any]] = {}
        self._user_layers: list[UserLayer] = []
        self._shared = SharedObjects(self.adapter)
        self._reasons: dict[int, list[str]] = {}
        """Why a model could not be made of its config."""

    # What each generation does in its own way.

    def rebuilt(self, model: Any) -> Any:
        """What the class of a model makes of the model's config."""
        raise NotImplementedError

    def adopt(self, model: Any, clone: Any, match: GraphMatch) -> None:
        """Take the parts of a model that was made of its config for the clones of the parts of the original."""
        raise NotImplementedError

    def part_of_clone(self, model: Any, part: Any) -> Any:
        """What the clone of a model has for a layer, tensor or variable; `NotUnderstood` where it has nothing."""
        raise NotImplementedError

    def is_changed(self) -> bool:
        """Whether the user has a say in what the clone is made of."""
        raise NotImplementedError

    # Layers.

    def remember(self, layer: Any, clone: Any) -> Any:
        self._layers[id(layer)] = (layer, clone)
        return clone

    def clone_at(self, number: int) -> Any:
        """The clone of the layer with this `id`, if there is one yet."""
        return self._layers.get(number, (None, None))[1]

    def checked(self, layer: Any, answer: Any) -> Any:
        """What a `clone_function` answered for a layer, if that can take its place."""
        if self.adapter.is_layer(answer) and not self.adapter.is_input(answer):
            return answer
        raise ValueError(
            "`clone_function` gave %r for the layer %r (of type '%s'). It must give the layer to use in its place: a "
            "layer or model, and no InputLayer." % (answer, str(layer.name), type(layer).__name__)
        )

    # Models whose class makes them of a config.

    def made_of_config(self, model: Any) -> Any:
        """What the class of a model makes of its config, if it is the same graph; otherwise None, and why is noted."""
        reasons = self._reasons[id(model)] = []
        try:
            clone = self.rebuilt(model)
        except Exception as failure:
            reasons.append("its config cannot be read back (%s)" % said(failure))
            return None
        match = GraphMatch(model, clone, self.adapter)
        if match.difference is not None:
            reasons.append("what its config makes is another model: it %s" % match.difference)
            return None
        for layer, its in match.layers:
            if its is layer:  # in Keras 3.8 such a config may have the very tensors that the model was made of
                reasons.append("what its config makes has %r of the model itself" % str(layer.name))
                return None
            if id(layer) in self._layers and self.clone_at(id(layer)) is not its:
                reasons.append("its config makes anew %r, which is used elsewhere too" % str(layer.name))
                return None
        del self._reasons[id(model)]
        for layer, its in match.layers:
            self.remember(layer, its)
        self.adopt(model, clone, match)
        self.copy_set_attributes(model, clone)
        return clone

    # What models hold beside their graphs.

    def is_set_later(self, value: Any) -> bool:
        """Whether such an attribute is copied, although it cannot be compared."""
        return False

    def copy_set_attributes(self, model: Any, clone: Any) -> None:
        """Give a clone the attributes that were set on the original after its constructor had ended."""
        differing = self.adapter.comparison().differing(model, clone)
        for name, value in list(vars(model).items()):
            is_set = name in differing or name not in vars(clone) or self.is_set_later(value)
            if is_set and not self.adapter.is_of_keras(name):
                try:
                    setattr(clone, name, self.copied(model, clone, value))
                except NotUnderstood:
                    continue  # Not of the model's making: its owner sets it again.

    def copy_all_attributes(self, model: Any, clone: Any) -> None:
        """Give a clone that did not run its constructor every attribute that its original has."""
        for name, value in list(vars(model).items()):
            if name not in vars(clone) and not self.adapter.is_of_keras(name):
                try:
                    setattr(clone, name, self.copied(model, clone, value))
                except NotUnderstood as failure:
                    why = "its `%s` leads to parts of it and cannot be made again" % name
                    changed = self.is_changed() and id(model) not in self._reasons
                    raise refused(model, self._reasons.get(id(model), []) + [why], changed) from failure

    def copied(self, model: Any, clone: Any, value: Any) -> Any:
        """What a clone holds where its original holds `value`: its own parts, and everything else as it is."""
        is_part = self.adapter.is_part

        def member(each: Any) -> Any:
            other = self.clone_at(each) if type(each) is int else None
            return change(each) if other is None else id(other)

        def change(each: Any) -> Any:
            if is_part(each):
                return self.part_of_clone(model, each)
            if isinstance(each, (set, frozenset)):
                return type(each)(map(member, each))
            if isinstance(each, MethodType) and each.__self__ is model:
                return MethodType(each.__func__, clone)
            if leads_to(each, is_part):
                raise NotUnderstood(described(model))
            return each

        if any(leads_to(key, is_part) for key in _keys(value)):
            raise NotUnderstood(described(model))
        return replace_leaves(change, value)

    # The end.

    def finish_user_layers(self) -> None:
        """Refuse what lost an option, and copy what was set on layers of users' classes."""
        for each in self._user_layers:
            each.refuse_if_lost()
            each.copy_set_attributes()

    def refuse_unlike(self, layer: Any, clone: Any) -> None:
        """Raise where a layer of a user's class was made around other layers, or built with other weights."""
        if self.adapter.comes_with_keras(type(layer)):
            return
        held = set(map(id, self.adapter.nested_layers(clone)))
        for each in () if self.is_changed() else self.adapter.nested_layers(layer):
            if self.clone_at(id(each)) is not None and id(self.clone_at(id(each))) not in held:
                raise refused(layer, ["its config makes anew %r, which is used elsewhere too" % str(each.name)])
        if not (layer.built and clone.built):
            return
        shapes, others = self.adapter.weight_shapes(layer), self.adapter.weight_shapes(clone)
        if shapes == others or (self.is_changed() and len(shapes) == len(others)):  # other inputs: other shapes
            return
        has = "%d weights where it has %d" % (len(others), len(shapes))
        if len(shapes) == len(others):
            differing = next(pair for pair in zip(others, shapes) if pair[0] != pair[1])
            has = "a weight of the shape %s where it has one of %s" % differing
        raise refused(layer, ["what its config makes has " + has])


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value) + [key for each in value.values() for key in _keys(each)]
    return [key for each in value for key in _keys(each)] if isinstance(value, (list, tuple)) else []
