"""A model's layers in depth-first order, each with its calls.

The arguments of a call are a skeleton, in which a tensor is {"tensor": [layer, call, output]}. An argument that equals
its default is left out, or is {"value": "default"} if positional arguments follow.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from clonediff.harness.inside.canonical import class_digest, short_text
from clonediff.harness.inside.configs import config_texts
from clonediff.harness.inside.context import Context
from clonediff.harness.inside.packages import cached_per_class
from clonediff.harness.inside.structure import items_of, leaves, skeleton
from clonediff.harness.observation import CallRecord, LayerRecord

_PLAIN_TYPES = (type(None), bool, int, float, str)
_DEFAULT = inspect.Parameter.empty
"""Marks an argument that equals its default."""
_TRACKING_LISTS = ("_layers", "_self_tracked", "_obj_reference", "_self_unconditional")


class LayerPlace(NamedTuple):
    """A layer in a holder: the holder's index and attribute; the layer's first place."""

    layer: Any
    holder: int
    role: str
    first_number: int


class Layers:
    """The places of a model's layers; `first_numbers` has each first place, by `id`."""

    def __init__(self, model: Any, context: Context) -> None:
        self.model = model
        self.places: list[LayerPlace] = []
        self.first_numbers: dict[int, int] = {}
        self.variables: dict[int, Any] = {}
        self._context = context
        self._framework = context.framework
        self._members: dict[int, dict[int, int]] = {}
        """For each holder, the places of its layers by `id`."""
        self._visit(model, -1)
        self._nodes: dict[int, list[Any]] = {}
        """The nodes of the layer at each place, in the graph of its holder."""
        self._call_numbers: dict[tuple[int, int], int] = {}
        """The number of each node among the calls of its layer, by holder and `id`."""
        self._holders: dict[int, int] = {}
        """The holder whose graph has a node, by `id` of the node."""
        for holder, members in self._members.items():
            if self._framework.is_graph(self._layer_at(holder)):
                self._number_nodes(holder, members)

    def model_and_layers(self) -> list[Any]:
        return [self.model, *(place.layer for place in self.places)]

    def _layer_at(self, number: int) -> Any:
        return self.model if number < 0 else self.places[number].layer

    def _visit(self, holder: Any, number: int) -> None:
        members: dict[int, int] = {}
        is_graph = self._framework.is_graph(holder)
        for layer in self._framework.members(holder) if is_graph else ():
            self._add_place(layer, number, "layers", members)
        for layer in self._framework.sublayers(holder):
            if id(layer) not in members:
                self._add_place(layer, number, _role(holder, layer), members)
        if members or is_graph:
            self._members[number] = members

    def _add_place(self, layer: Any, holder: int, role: str, members: dict[int, int]) -> None:
        number = len(self.places)
        first = self.first_numbers.setdefault(id(layer), number)
        members[id(layer)] = number
        self.places.append(LayerPlace(layer, holder, role, first))
        if first == number and layer is not self.model:
            self._visit(layer, number)

    def _number_nodes(self, holder: int, members: dict[int, int]) -> None:
        graph_nodes = {id(node) for node in self._framework.graph_nodes(self._layer_at(holder))}
        for number in members.values():
            nodes = self._framework.layer_nodes(self.places[number].layer)
            nodes = [node for node in nodes if id(node) in graph_nodes]
            self._nodes[number] = nodes
            self._call_numbers.update(((holder, id(node)), call) for call, node in enumerate(nodes))
            self._holders.update((id(node), holder) for node in nodes)

    def describe(self) -> list[LayerRecord]:
        framework = self._framework
        records: list[LayerRecord] = []
        for number, (layer, holder, role, first) in enumerate(self.places):
            nodes = self._nodes.get(number, ())
            record = LayerRecord(
                name=str(getattr(layer, "name", "")),
                kind=type(layer).__name__,
                ident=self._context.ident(layer),
                holder=holder,
                role=role,
                config=config_texts(layer, framework) if first == number else records[first].config,
                trainable=bool(getattr(layer, "trainable", False)),
                calls=tuple(self._describe_call(node, layer, holder) for node in nodes),
                node_counts=framework.node_counts(layer),
                is_custom=is_custom_class(type(layer)),
                code=class_digest(type(layer)),
                is_model=framework.is_graph(layer),
            )
            records.append(record)
        return records

    def tensor_place(self, tensor: Any, holder: int = -1) -> tuple[int, int, int] | None:
        """A symbolic tensor's [layer, call, output] in a holder's graph, or None."""
        layer, node, output = self._framework.origin(tensor)
        place = self._members.get(holder, {}).get(id(layer))
        if place is None:
            return None
        call = self._call_numbers.get((holder, id(node)))
        return None if call is None else (place, call, output)

    def tensor_place_in_any_graph(self, tensor: Any) -> tuple[int, int, int] | None:
        _, node, _ = self._framework.origin(tensor)
        holder = self._holders.get(id(node))
        return None if holder is None else self.tensor_place(tensor, holder)

    def _describe_call(self, node: Any, layer: Any, holder: int) -> CallRecord:
        leaf = functools.partial(self._describe_leaf, holder)
        args, kwargs = self._without_defaults(layer, *self._framework.arguments(node))
        return CallRecord(
            skeleton(args, leaf)["tuple"] if args else [],
            {str(name): skeleton(value, leaf) for name, value in kwargs.items()},
            len(self._framework.outputs(node)),
        )

    def _without_defaults(self, layer: Any, args: Any, kwargs: Any) -> tuple[Any, dict[Any, Any]]:
        args = tuple(args)
        if len(args) < 2 and not kwargs:
            return args, kwargs
        parameters = {parameter.name: parameter for parameter in _parameters_of_call(type(layer))}
        positional = [item for item in parameters.values() if item.kind <= item.POSITIONAL_OR_KEYWORD]
        has_mask = any(
            isinstance(leaf, self._framework.tensor_class) and self._framework.has_mask(leaf) for leaf in leaves(args)
        )
        other_args = [
            _DEFAULT if _is_default(parameter, value, has_mask) else value
            for parameter, value in itertools.zip_longest(positional[1 : len(args)], args[1:])
        ]
        while other_args and other_args[-1] is _DEFAULT:
            other_args.pop()
        kwargs = {
            name: value for name, value in kwargs.items() if not _is_default(parameters.get(name), value, has_mask)
        }
        return (*args[:1], *other_args), kwargs

    def _describe_leaf(self, holder: int, value: Any) -> Any:
        framework = self._framework
        if isinstance(value, framework.tensor_class):
            place = self.tensor_place(value, holder)
            return {"tensor": list(place)} if place else {"outside": f"{framework.dtype(value)} {value.shape}"}
        if value is None or isinstance(value, (bool, str, int)):
            return value
        if value is _DEFAULT:
            return {"value": "default"}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"value": repr(value)}
        if isinstance(value, framework.variable_class):
            self.variables.setdefault(id(value), value)
            return {"variable": list(self.variables).index(id(value))}
        if isinstance(value, np.ndarray):
            return {"array": self._context.digests.leaf(value)}
        if framework.tensors.is_concrete(value):
            return {"constant": self._context.digests.leaf(framework.tensors.array(value))}
        return {"value": short_text(value)}


@cached_per_class
def _parameters_of_call(cls: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(cls.call).parameters.values())[1:]


def _is_default(parameter: inspect.Parameter | None, value: Any, has_mask: bool) -> bool:
    """Whether a call does the same without this argument.

    Keras sets `training` itself if it is missing or None. If an input `has_mask`, some releases pass its mask on,
    unless the call has a mask argument, even if that is None.
    """
    if parameter is None or type(value) is not type(parameter.default):
        return False
    if not isinstance(value, _PLAIN_TYPES) or value != parameter.default:
        return False
    if parameter.name == "training":
        return value is None
    return not (has_mask and parameter.name.endswith("mask"))


def is_custom_class(cls: type) -> bool:
    return cls.__module__.partition(".")[0] not in ("keras", "tf_keras")


def _role(holder: Any, layer: Any) -> str:
    """The holder's attribute that has the layer, such as "layers[1]", or ""."""
    private_role = ""
    for name, value in vars(holder).items():
        role = name if value is layer else ""
        if isinstance(value, (list, tuple, dict)):
            role = next((f"{name}[{key!r}]" for key, item in items_of(value) if item is layer), "")
        if role and not role.startswith("_"):
            return role
        if role and not role.startswith(_TRACKING_LISTS):
            private_role = private_role or role
    return private_role
