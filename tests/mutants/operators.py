"""The mutation operators: each makes one change to a clone or to the original."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.mutants.walk import CONTAINERS, KERAS, SCRIPTS, TRAINING_CLASSES, Place, has_base, package, walk

Changes = Iterator[tuple[str, Callable[[], object]]]
"""Pairs: the description of a change, and a function that makes it."""

PLAIN = (bool, int, float, str)
_VALUE_CLASSES = (*PLAIN, bytes, type(None), type, tuple, frozenset, types.FunctionType, types.ModuleType, tf.Tensor)
_VALUE_SUFFIXES = ("Policy", "TensorShape", "DType")
_OTHER_CLASSES: dict[Any, Any] = {list: tuple, tuple: list, set: frozenset, frozenset: set}
_OTHER_CLASSES |= {collections.OrderedDict: dict, dict: collections.OrderedDict}


class Scene:
    """The model to change, a clone or an original, and its counterpart."""

    def __init__(self, model: Any, other: Any, *, is_clone: bool) -> None:
        self.model, self.other, self.is_clone = model, other, is_clone
        self.other_values = {place.path: place.value for place in walk(other)}
        shared = {id(value) for value in self.other_values.values()} if is_clone else set()
        places = [place for place in walk(model) if id(place.changed_object) not in shared and not place.has_no_effect]
        places = [place for place in places if place.is_reachable or has_base(place.value, TRAINING_CLASSES)]
        # In Keras classes, one place of each kind is enough.
        firsts = {place.kind + place.step: place for place in reversed(places)}
        self.places = [place for place in places if is_user_defined(place) or firsts[place.kind + place.step] is place]
        self.objects = list({id(place.value): place.value for place in places}.values())

    def other_value(self, value: Any) -> Any:
        """Another value of the same class, or None."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, PLAIN):
            return value + "x" if isinstance(value, str) else value + 1
        if isinstance(value, list):
            return [*value, *value[-1:]]
        if isinstance(value, dict):
            return {key: self.other_value(item) for key, item in value.items()}
        similar = [item for item in self.objects if type(item) is type(value) and _shape(item) == _shape(value)]
        return next((item for item in reversed(similar) if item is not value and _text(item) != _text(value)), None)


def _shape(item: Any) -> str:
    return str(getattr(item, "shape", ""))


def _text(item: Any) -> str:
    """Return the contents of an object as text; objects with equal texts are interchangeable."""
    return repr(getattr(item, "__dict__", id(item)))


def is_user_defined(place: Place) -> bool:
    """Whether the value is user code."""
    function = getattr(place.value, "func", place.value)
    is_function = isinstance(function, types.FunctionType) and function.__module__ in SCRIPTS
    return place.is_user_defined or is_function or isinstance(place.value, np.ndarray) or _is_constant(place.value)


def is_for_training(place: Place) -> bool:
    """Whether a place is, or belongs to, a loss, metric, optimizer or schedule."""
    return has_base(place.value, TRAINING_CLASSES) or has_base(place.attribute.holder, TRAINING_CLASSES)


def is_mutable(value: Any) -> bool:
    """Whether a value is mutable, so that two models must not share it."""
    if isinstance(value, _VALUE_CLASSES) or type(value).__name__.endswith(_VALUE_SUFFIXES):
        return False
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    return is_array or isinstance(value, CONTAINERS) or hasattr(value, "__dict__")


def _is_constant(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and hasattr(value, "numpy")


def _are_exchangeable(first: Any, second: Any) -> bool:
    """Whether two values of the same type differ, so that each can replace the other."""
    kinds = [[type(item), *(map(type, item) if isinstance(item, (list, tuple)) else ())] for item in (first, second)]
    if kinds[0] != kinds[1] or isinstance(first, bool):
        return False
    return first != second if isinstance(first, PLAIN) else first is not second


# -- changes of one place


def _new_values(scene: Scene, place: Place) -> Iterator[tuple[str, str, Any]]:
    """Yield values that can replace the value of a place, each with its operator and a description."""
    value, kind, other = place.value, type(place.value), scene.other_values.get(place.path)
    is_object = is_mutable(value) and not isinstance(value, (*CONTAINERS, np.ndarray))
    if type(other) is kind and other is not value and is_mutable(other):
        yield "alias", "the very object of the other model", other
    if is_object or _is_constant(value) or isinstance(value, types.FunctionType):
        yield "reference", "another of its class", scene.other_value(value)
    if isinstance(value, PLAIN):
        yield "value", repr(scene.other_value(value)), scene.other_value(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        yield "array", "other numbers", value + value.dtype.type(1)
        yield "dtype", "float16", value.astype("float16")
    elif _is_constant(value) and value.dtype.is_floating:
        yield "array", "other numbers", value + tf.ones_like(value)
        yield "dtype", "float16", tf.cast(value, "float16")
    elif kind.__name__ in ("DTypePolicy", "Policy"):
        yield "dtype", "float64", kind("float64")
    elif isinstance(value, str) and value in ("float32", "int32", "bfloat16", "string"):
        yield "dtype", "float64", "float64"
    if not place.is_private:
        yield "dropped", "None", None
        yield from _other_containers(value)
    for text, function in _other_functions(scene, value):
        yield "function", text, function


def _other_containers(value: Any) -> Iterator[tuple[str, str, Any]]:
    for kind, other in _OTHER_CLASSES.items():
        if type(value) is kind or (package(value) in KERAS and kind in type(value).__mro__):
            yield "class", other.__name__, other(value)
    if isinstance(value, (list, tuple)) and value and _are_exchangeable(value[0], value[-1]):
        make = getattr(type(value), "_make", list)
        yield "swapped", "its first and last item", make([value[-1], *value[1:-1], value[0]])
    if isinstance(value, dict) and len(value) > 1:
        first, *_, last = value
        if _are_exchangeable(value[first], value[last]):
            yield "swapped", "the values of two keys", {**value, first: value[last], last: value[first]}


def _other_functions(scene: Scene, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, partial):
        yield "arguments", partial(value.func, *value.args, **scene.other_value(value.keywords))
    if not isinstance(value, types.FunctionType) or value.__module__ not in SCRIPTS:
        return
    code, cells, names = value.__code__, value.__closure__ or (), value.__globals__
    constants = tuple(constant + 1 if type(constant) in (int, float) else constant for constant in code.co_consts)
    if constants != code.co_consts:
        yield "code", _copy_function(value, code=code.replace(co_consts=constants))
    if cells:
        cell = types.CellType(scene.other_value(cells[0].cell_contents))
        yield "closure", _copy_function(value, closure=(cell, *cells[1:]))
    if value.__defaults__:
        yield "default", _copy_function(value, defaults=tuple(map(scene.other_value, value.__defaults__)))
    used = {name: names.get(name) for name in code.co_names if isinstance(names.get(name), (int, float, dict))}
    if used:
        yield "global", _copy_function(value, names={**names, **scene.other_value(used)})


def _copy_function(function: Any, **parts: Any) -> Any:
    """Return a copy of a function with other code, closure, defaults or globals."""
    arguments = [parts.get("code", function.__code__), parts.get("names", function.__globals__), function.__name__]
    arguments += [parts.get("defaults", function.__defaults__), parts.get("closure", function.__closure__)]
    copy = types.FunctionType(*arguments)
    copy.__module__, copy.__qualname__, copy.__kwdefaults__ = SCRIPTS[0], function.__qualname__, function.__kwdefaults__
    return copy


def _changes(scene: Scene, place: Place) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield the changes of a place, each with its operator and a description."""
    value, kind = place.value, type(place.value)
    for operator, text, other in _new_values(scene, place) if place.step else ():
        if other is not value and not (operator == "reference" and other is None):
            yield operator, text, partial(place.put, other)
    if place.is_private or not place.step:
        return
    yield "dropped", "dropped", place.drop
    is_object = package(value) in (*KERAS, *SCRIPTS) and not isinstance(value, CONTAINERS)
    if is_object and is_mutable(value) and not hasattr(value, "shape"):
        names = {"__module__": "elsewhere", "__qualname__": kind.__qualname__, "__slots__": ()}
        namesake = partial(type(kind), kind.__name__, (kind,), names)
        yield "class", "one of the same name", lambda: setattr(value, "__class__", namesake())
    for peer in scene.places if place.step == "attribute" else ():
        if peer.holder is place.holder and str(peer.key) > place.key and _are_exchangeable(value, peer.value):
            yield "swapped", f"with {peer.key}", lambda peer=peer: (place.put(peer.value), peer.put(value))
            return


def _change_places(*operators: str, training: bool = False) -> Callable[[Scene], Changes]:
    """Return an operator that makes the changes with these names (default: all) at each place."""

    def operator(scene: Scene) -> Changes:
        for place in scene.places:
            if is_for_training(place) == training:
                for name, text, change in _changes(scene, place):
                    if name in operators or not operators:
                        yield f"{place.path}: {text}", change

    return operator


# -- changes of the graph and of weights


def _graph_changes(scene: Scene) -> Changes:
    for number, model in enumerate(part for part in (scene.model, *scene.objects) if hasattr(part, "_nodes_by_depth")):
        yield from _end_changes(number, model)
        nodes = [node for depth in sorted(model._nodes_by_depth, reverse=True) for node in model._nodes_by_depth[depth]]
        previous: list[Any] = []
        for place, node in enumerate(nodes):
            flat = tf.nest.flatten(_arguments(node))
            changed = {f"argument {n}": {n: scene.other_value(x)} for n, x in enumerate(flat) if type(x) in PLAIN}
            tensors = [index for index, leaf in enumerate(flat) if hasattr(leaf, "_keras_history")]
            for first, last in zip(tensors[:1], tensors[-1:], strict=True):
                if flat[first] is not flat[last]:
                    changed["two tensors swapped"] = {first: flat[last], last: flat[first]}
                similar = [x for x in previous if x is not flat[first] and _shape(x) == _shape(flat[first])]
                if similar:
                    changed["another tensor"] = {first: similar[-1]}
            for text, leaves in changed.items():
                yield f"graph {number}, call {place}: {text}", partial(_set_arguments, model, node, flat, leaves)
            previous += tf.nest.flatten(node.outputs)


def _arguments(node: Any) -> tuple[Any, Any]:
    arguments = getattr(node, "arguments", None)
    return (arguments.args, arguments.kwargs) if arguments else (node.call_args, [*node.call_kwargs.values()])


def _set_arguments(model: Any, node: Any, flat: list[Any], changed: dict[int, Any]) -> None:
    """Change the arguments of a call."""
    leaves = [changed.get(index, leaf) for index, leaf in enumerate(flat)]
    args, kwargs = tf.nest.pack_sequence_as(_arguments(node), leaves)
    if hasattr(node, "arguments"):
        node.arguments = type(node.arguments)(*args, **kwargs)
        return
    node.call_args, node.call_kwargs = args, dict(zip(node.call_kwargs, kwargs, strict=True))
    node._flat_arguments = leaves
    indices = [index for index, leaf in enumerate(leaves) if hasattr(leaf, "_keras_history")]
    node._keras_inputs = [leaves[index] for index in indices]
    node.flat_input_ids = [str(id(tensor)) for tensor in node._keras_inputs]
    node._keras_inputs_ids_and_indices = [*zip(node.flat_input_ids, indices, strict=True)]
    for key in node.flat_input_ids:
        model._tensor_usage_count[key] += 1


def _end_changes(number: int, model: Any) -> Changes:
    for end in ("inputs", "outputs"):
        name = f"_{end}_struct" if hasattr(model, "_outputs_struct") else f"_nested_{end}"
        tensors = list(getattr(model, end) or ())[::-1]
        if len(tensors) > 1:
            structure = tf.nest.pack_sequence_as(getattr(model, name), tensors)
            attributes = {f"_{end}" if hasattr(model, f"_{end}") else end: tensors, name: structure}
            yield f"graph {number}: the order of {end}", partial(vars(model).update, attributes)


def _weight_changes(scene: Scene) -> Changes:
    for number, (weight, other) in enumerate(zip(scene.model.weights, scene.other.weights, strict=True)):
        if not hasattr(weight, "assign"):  # the vocabulary of a lookup in tf_keras cannot be assigned
            continue
        value, others = np.array(weight), np.array(other)
        changes: dict[str, Callable[[], object]] = {}
        is_random = scene.is_clone and len(np.unique(value)) > 1
        if value.dtype.kind == "f" and not is_random:
            changes["another value"] = partial(weight.assign, value + 1)
        elif value.shape == others.shape and is_random:
            changes["the value of the original"] = partial(weight.assign, others)
        is_keras_3, constraint = hasattr(weight, "path"), None if weight.constraint else tf.nn.relu
        names = {"_name": "other", "_path": "other"} if is_keras_3 else {"_handle_name": "other:0"}
        changes["name"] = partial(vars(weight).update, names)
        changes["constraint"] = partial(setattr, weight, "_constraint", constraint)
        trainable = "trainable" if is_keras_3 else "_trainable"
        changes["trainable"] = partial(setattr, weight, trainable, not weight.trainable)
        if is_keras_3:
            regularizer = None if weight.regularizer else tf.nn.l2_loss
            changes["regularizer"] = partial(setattr, weight, "_regularizer", regularizer)
        yield from ((f"weights[{number}]: {text}", change) for text, change in changes.items())
    for item in scene.objects:
        for name in (
            "_trainable_variables",
            "_trainable_weights",
            "_non_trainable_variables",
            "_non_trainable_weights",
        ):
            values = getattr(item, "__dict__", {}).get(name) or []
            if len(values) > 1 and hasattr(item, "call"):
                yield f"{item.name}.{name}: reversed", partial(list.reverse, values)


_CLONE_OPERATORS = ("alias", "reference", "dropped", "swapped", "value", "array", "dtype", "class", "function")
OPERATORS: dict[str, Callable[[Scene], Changes]] = {
    **{name: _change_places(name) for name in _CLONE_OPERATORS},
    "graph": _graph_changes,
    "weight": _weight_changes,
    "compiled": _change_places(training=True),
    # These change the original.
    "original alias": _change_places("alias", "reference"),
    "original dropped": _change_places("dropped", "swapped", "class"),
    "original value": _change_places("value", "array", "dtype"),
    "original function": _change_places("function"),
    "original weight": _weight_changes,
    "original compiled": _change_places(training=True),
}


def scenes(original: Any, clone: Any) -> dict[bool, Scene]:
    """Return the scenes of the clone (False) and of the original (True)."""
    return {False: Scene(clone, original, is_clone=True), True: Scene(original, clone, is_clone=False)}


def changes(operator: str, scene: Scene) -> dict[str, Callable[[], object]]:
    """Return the changes that an operator makes, by description."""
    if operator == "compiled" and package(scene.model) == "tf_keras":
        return {}  # `clone_model` of tf_keras does not compile the clone
    return dict(OPERATORS[operator](scene))
